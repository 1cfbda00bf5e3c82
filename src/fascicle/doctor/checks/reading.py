"""What the readers say about the documents that they gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from fascicle.core.effects import MEANING, effect_of
from fascicle.core.wording import counted
from fascicle.doctor.checks.contract import Corpus
from fascicle.doctor.checks.hits import Found, Hit
from fascicle.doctor.parts import Item

# Code of an event -> code of the finding that it belongs to; the others are found by their effect and kind.
FINDINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "offset-outside": "invalid-offsets",
        "duplicate-mention": "duplicate-mention",
        "text-mismatch": "text-mismatch",
        "duplicate-id": "duplicate-id",
        "malformed-line": "malformed-line",
        "dangling-reference": "malformed-line",
        "missing-token": "missing-token",
        "uneven-columns": "uneven-columns",
        "overlapping-fragments": "overlapping-fragments",
        "no-sentence-breaks": "no-sentence-breaks",
    }
)
_BY_KIND: Final[Mapping[str, str]] = MappingProxyType(
    {"loss": "left-out-in-reading", "repair": "repaired-in-reading", "note": "noted-in-reading"}
)


def finding_of(kind: str, code: str) -> str:
    """The finding that events of a kind and a code belong to."""
    return FINDINGS.get(code) or ("changed-in-reading" if effect_of(kind, code) == MEANING else _BY_KIND[kind])


def events(code: str) -> Callable[[Item], Iterator[Hit]]:
    """A finder of the events that belong to a finding.

    Args:
        code: of the finding.
    """

    def find(item: Item) -> Iterator[Hit]:
        for event in item.events:
            if finding_of(event.kind, event.code) == code:
                message = event.message if event.code in FINDINGS else f"{event.code}: {event.message}"
                yield Hit(item=item, spans=(event.span,) if event.span else (), message=message)

    return find


def unread(corpus: Corpus) -> Found:
    """Places that were not read to their end."""
    for place in corpus.unread:
        message = f"after {counted(place.documents, 'document')}: {place.message}"
        yield Hit(path=place.given.path, where=place.given.part.name, message=message)


def other_sources(item: Item) -> Iterator[Hit]:
    """Documents with mentions of sources that are not checked."""
    if item.others:
        yield Hit(item=item, message=counted(item.others, "mention"))
