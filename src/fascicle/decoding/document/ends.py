"""What some guidelines count to a name and others do not, and names without it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fascicle.core.spans import Span

_ANIMALS: Final = r"(?:human|mouse|murine|rat|bovine|porcine|rabbit|chicken|zebrafish|yeast)\s+"
_PRODUCTS: Final = r"\s+(?:genes?|proteins?|m?RNAs?|cDNAs?|transcripts?|polypeptides?|oncogenes?|proto-oncogenes?)"
_BEFORE: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType({"Gene": re.compile(_ANIMALS, re.IGNORECASE)})
_AFTER: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "Gene": re.compile(rf"(?:{_PRODUCTS})+\Z", re.IGNORECASE),
        "CellLine": re.compile(r"\s+cells?(?:\s+lines?)?\Z|\s+lines?\Z", re.IGNORECASE),
    }
)


def bare(text: str, span: Span, *, kind: str) -> Span:
    """A mention without the words that only some guidelines count to its name.

    Args:
        text: of the document.
        span: of the mention.
        kind: its type; only genes and cell lines have such words.

    Returns:
        The same span if nothing is to be cut, or if no letter would be left.
    """
    start, end = span
    if after := _AFTER.get(kind):
        found = after.search(text[start:end])
        end = start + found.start() if found else end
    if before := _BEFORE.get(kind):
        found = before.match(text, start, end)
        start = found.end() if found else start
    return (start, end) if any(map(str.isalpha, text[start:end])) else span
