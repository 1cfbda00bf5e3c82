"""Helpers for the wording of messages, and comparison of different names for the same thing."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_ENDLESS: Final = re.compile(r"&#\d{4300,}")  # more digits than `int` takes


def plural(count: int, singular: str, several: str = "") -> str:
    """Returns a number with its noun, in the plural if needed; ``several`` is the plural if it
    is not ``singular`` + s.
    """
    return f"{count:,} {singular if count == 1 else several or singular + 's'}"


def shorten(text: str, *, most: int = 60) -> str:
    """Returns a text of at most ``most`` characters; a longer one is cut and ends with an
    ellipsis.
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def unescape_html(text: str) -> str:
    """Returns a text with the characters that references of HTML stand for, also where a number
    is too long to read.
    """
    import html  # late: few texts have such references

    return html.unescape(_ENDLESS.sub("&#1114112", text))  # behind the last character


def has_letters(text: str) -> bool:
    """True if a text has a letter or a digit."""
    return any(map(str.isalnum, text))


_NEAR: Final = 0.6  # cutoff of difflib: it accepts chemicals and Chemical, GeneProduct and Gene
_ROOT: Final = 3  # least length of a name that may be the beginning of another


def fold_name(name: str) -> str:
    """Returns the letters and digits of a name, case-folded; or the case-folded name if it has
    neither.
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in plain if sign.isalnum()) or plain


def name_similarity(name: str, other: str) -> float:
    """Returns the similarity of two names, from 0 to 1; case and punctuation do not count."""
    return difflib.SequenceMatcher(None, fold_name(name), fold_name(other)).ratio()


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Returns those of other names that may mean the same as a name, the most similar first."""
    by_name = {other: fold_name(other) for other in sorted(names)}
    folded = fold_name(name)
    close = set(
        difflib.get_close_matches(folded, list(by_name.values()), n=len(by_name), cutoff=_NEAR)
        if by_name
        else ()
    )
    near = [
        o for o, f in by_name.items() if f in close or _goes_on(folded, f) or _goes_on(f, folded)
    ]
    return sorted(near, key=lambda other: (-name_similarity(name, other), other))


def near_hint(name: str, names: Iterable[str]) -> str:
    """Returns ``" (did you mean ...?)"`` with the nearest known name, or an empty text if none
    is near.
    """
    near = near_names(name, names)
    return f" (did you mean {near[0]!r}?)" if near else ""


def typo_hint(name: str, names: Iterable[str]) -> str:
    """Returns ``" (did you mean ...?)"`` with the known name of the most similar spelling, or an
    empty text.
    """
    near = difflib.get_close_matches(name, list(names), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _goes_on(name: str, longer: str) -> bool:
    return len(name) >= _ROOT and longer.startswith(name)
