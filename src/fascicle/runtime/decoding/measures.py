"""Measurements that networks take for genes or diseases: ``eGFR``, ``stroke volume``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from fascicle.core.lexicon import either, lexicon
from fascicle.core.mention import Mention, PlacedSpans, contains

_GENE: Final = "Gene"
_DISEASE: Final = "Disease"
# eGFR may be the gene
_OF_RECEPTORS: Final = re.compile("growth factor receptor", re.IGNORECASE)
_BEHIND_GENES: Final = (
    r"[\s-]*(?i:mut|exon|amplif|inhib|TKI|gene|express|signal|protein|mRNA|kinase|pathway|phosph)"
)


def without_measures(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Returns the mentions without genes and diseases that are measurements.

    Args:
        text: of the document.
        mentions: of all types.
    """
    wrong = [
        mention for mention in mentions if mention.type == _GENE and _is_measure(text, mention)
    ]
    if any(mention.type == _DISEASE for mention in mentions):
        phrases = PlacedSpans(match.span() for match in _phrases().finditer(text))
        wrong += [mention for mention in mentions if _is_in_phrase(mention, phrases)]
    return [mention for mention in mentions if mention not in wrong] if wrong else list(mentions)


def _is_measure(text: str, mention: Mention) -> bool:
    name = text[mention.start : mention.end]
    is_measure = name in lexicon("measures")["names"] and not _OF_RECEPTORS.search(text)
    return is_measure and not re.search(rf"\b{name}{_BEHIND_GENES}", text)


def _is_in_phrase(mention: Mention, phrases: PlacedSpans) -> bool:
    """True if a mention is a word of a phrase."""
    span = (mention.start, mention.end)
    wholes = phrases.overlapping(span) if mention.type == _DISEASE else ()
    return any(contains(whole, span) and whole != span for whole in wholes)


@cache
def _phrases() -> re.Pattern[str]:
    """Returns the pattern of phrases in which a word is no disease."""
    return re.compile(rf"\b(?:{either(lexicon('measures')['phrases'])})\b", re.IGNORECASE)
