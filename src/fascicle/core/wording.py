"""Helpers for the wording of messages."""

from __future__ import annotations

import html
import re
from typing import Final

_ENDLESS: Final = re.compile(r"&#\d{4300,}")  # more digits than `int` takes


def counted(count: int, one: str, several: str = "") -> str:
    """Returns a number with its noun, in the plural if needed; ``several`` is the plural if it is not ``one`` + s."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def shortened(text: str, *, most: int = 60) -> str:
    """Returns a text of at most ``most`` characters; a longer one is cut and ends with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def unescaped(text: str) -> str:
    """Returns a text with the characters that references of HTML stand for, also where a number is too long to read."""
    return html.unescape(_ENDLESS.sub("&#1114112", text))  # behind the last character


def has_letters(text: str) -> bool:
    """True if a text has a letter or a digit."""
    return any(map(str.isalnum, text))
