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
    genes = {text[mention.start : mention.end] for mention in mentions if mention.type == _GENE}
    measures = {name for name in genes.intersection(_names()) if _is_measure(text, name)}
    diseases = {
        text[mention.start : mention.end] for mention in mentions if mention.type == _DISEASE
    }
    # few diseases are words of a phrase, and only then are phrases sought in the text
    may_be_in_phrase = any(disease.casefold() in _phrase_words() for disease in diseases)
    if not (measures or may_be_in_phrase):
        return list(mentions)
    phrases = PlacedSpans(
        match.span() for match in (_phrases().finditer(text) if may_be_in_phrase else ())
    )
    return [
        mention
        for mention in mentions
        if not (mention.type == _GENE and text[mention.start : mention.end] in measures)
        and not _is_in_phrase(mention, phrases)
    ]


def _is_measure(text: str, name: str) -> bool:
    """True if nothing in a text says that the name of a measurement is a gene there."""
    is_gene = _OF_RECEPTORS.search(text) or re.search(rf"\b{name}{_BEHIND_GENES}", text)
    return is_gene is None


def _is_in_phrase(mention: Mention, phrases: PlacedSpans) -> bool:
    """True if a mention is a word of a phrase."""
    span = (mention.start, mention.end)
    wholes = phrases.overlapping(span) if mention.type == _DISEASE else ()
    return any(contains(whole, span) and whole != span for whole in wholes)


@cache
def _names() -> frozenset[str]:
    return frozenset(lexicon("measures")["names"])


@cache
def _phrase_words() -> str:
    """Returns all phrases in small letters, one a line."""
    return "\n".join(lexicon("measures")["phrases"]).casefold()


@cache
def _phrases() -> re.Pattern[str]:
    """Returns the pattern of phrases in which a word is no disease."""
    return re.compile(rf"\b(?:{either(lexicon('measures')['phrases'])})\b", re.IGNORECASE)
