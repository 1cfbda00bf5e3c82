"""Texts of a few words, which may be names alone."""

from __future__ import annotations

import re
from typing import Final

from fascicle.core.document import Mention
from fascicle.settings.document import NameDecision

STOP: Final = " ."
_LEAST: Final = 3  # letters and digits: shorter ones are read once
_ENDS: Final = re.compile(r"[.!?;:]\s*\Z")


def may_be_name(text: str, rules: NameDecision) -> bool:
    """Whether a text is short enough to be a name, and no sentence."""
    return 0 < len(text.split()) <= rules.words and not _ENDS.search(text)


def may_be_read_again(text: str) -> bool:
    """Whether a text says enough for a second reading."""
    return sum(map(str.isalnum, text)) >= _LEAST


def is_all_of(text: str, mention: Mention) -> bool:
    """Whether a mention leaves nothing but blanks of a text."""
    before, after = text[: mention.start], text[mention.end :]
    return len(mention.spans) == 1 and not before.strip() and not after.strip()
