"""Small things that sentences for people are made of."""

from __future__ import annotations


def counted(count: int, one: str, several: str = "") -> str:
    """A number with its noun, in the plural where it must be; ``several`` where an s at the end is not enough."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def shortened(text: str, *, most: int = 60) -> str:
    """A name for a table or a sentence: what is longer than ``most`` characters ends with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def has_letters(text: str) -> bool:
    """Whether a text has a letter or a digit; signs alone are no words."""
    return any(map(str.isalnum, text))
