"""What the patterns of settings and requests allow, in words: an error never shows a regular expression."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Pattern -> what it allows. Every pattern of the package has its words here, which a test holds.
WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z": "of letters, digits, '.', '_' and '-', with a letter or digit first",
        r"^([A-Za-z0-9][A-Za-z0-9._-]*)?\Z": "of letters, digits, '.', '_' and '-', with a letter or digit first",
        r"^[A-Za-z0-9][A-Za-z0-9._@-]*\Z": "of letters, digits, '.', '_', '@' and '-', with a letter or digit first",
        r"^[A-Za-z0-9][A-Za-z0-9_-]*\Z": "of letters, digits, '_' and '-', with a letter or digit first",
        "^[A-Za-z0-9_-]+$": "of letters, digits, '_' and '-'",
        r"^[a-z0-9_]*\Z": "of small letters, digits and '_'",
        r"^[a-z]{2,3}\Z": "of two or three small letters, such as 'en'",
        r"^\S+\Z": "without white space, and not empty",
        r"^(\d{4}(-\d{2}(-\d{2})?)?)?\Z": "of a year, a month or a day, such as 2026, 2026-05 or 2026-05-31",
        r"^([0-9a-f]{64})?\Z": "of 64 digits of 0 to 9 and a to f",
        r"^[0-9a-f]{32}$": "of 32 digits of 0 to 9 and a to f",
        "^.+/[^/]+$": "of words, a '/' and a type, as in WORDS/TYPE",
        r"^[^\x00-\x1f\x7f]+(?![\s\S])": "on one line, without control characters",
    }
)


def in_words(message: str) -> str:
    """A message of a validation error with words in place of a pattern.

    Args:
        message: of msgspec.
    """
    before, found, after = message.partition(" matching regex ")
    if not found:
        return message
    for pattern, words in WORDS.items():
        shown = repr(pattern)
        if after.startswith(shown):
            return f"{before.replace('`str`', 'text')} {words}{after[len(shown) :]}"
    return message
