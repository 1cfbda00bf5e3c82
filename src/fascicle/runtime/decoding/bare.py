"""Words that only some guidelines count to a name, and names without them."""

from __future__ import annotations

import re
from functools import cache
from types import MappingProxyType
from typing import Final

from fascicle.core.lexicon import either, lexicon
from fascicle.core.mention import Span

_PRODUCTS: Final = (
    r"\s+(?:genes?|proteins?|m?RNAs?|cDNAs?|transcripts?|polypeptides?|oncogenes?|proto-oncogenes?)"
)
_AFTER: Final = MappingProxyType(
    {
        "Gene": re.compile(rf"(?:{_PRODUCTS})+\Z", re.IGNORECASE),
        "CellLine": re.compile(r"\s+cells?(?:\s+lines?)?\Z|\s+lines?\Z", re.IGNORECASE),
    }
)


def bare_span(text: str, span: Span, *, kind: str) -> Span:
    """Returns a mention without the words that only some guidelines count to its name.

    Args:
        text: of the document.
        span: of the mention.
        kind: its type; only genes and cell lines have such words.

    Returns:
        The same span if nothing is to be cut, or if no letter would be left.
    """
    start, end = span
    if after := _AFTER.get(kind):
        words = after.search(text[start:end])
        end = start + words.start() if words else end
    if kind == "Gene":
        words = _species_before().match(text, start, end)
        start = words.end() if words else start
    return (start, end) if any(map(str.isalpha, text[start:end])) else span


@cache
def _species_before() -> re.Pattern[str]:
    """Returns the pattern of a species before the name of a gene."""
    return re.compile(rf"(?:{either(lexicon('species')['genes']['apart'])})\s+", re.IGNORECASE)
