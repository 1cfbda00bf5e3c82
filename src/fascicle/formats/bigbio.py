"""Records of the BigBIO ``kb`` schema: passages with offsets, and entities with fragments and
normalised ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Event, Link, Section
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.formats.collect import MentionCollector
from fascicle.formats.json_record import NIL
from fascicle.formats.json_relations import (
    RELATIONS,
    StatedArgument,
    read_relations,
    structures_left_out,
)
from fascicle.formats.offset_units import AUTO
from fascicle.formats.pubtator import NO_ID

STEP: Final = "bigbio"
_GAP: Final = 1 << 16  # characters between two passages


class _Passage(msgspec.Struct):
    text: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    type: str | None = None


class _Entry(msgspec.Struct):
    db_id: str | int | None = None
    db_name: str | None = None


class _Entity(msgspec.Struct):
    type: str
    offsets: tuple[tuple[int, int], ...]
    id: str | int | None = None
    text: tuple[str, ...] = ()
    normalized: tuple[_Entry, ...] = ()


class _BigBio(msgspec.Struct):
    passages: tuple[_Passage, ...]
    entities: tuple[_Entity, ...]


def from_record(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document from a BigBIO record.

    The text is made of the passages at their offsets, with blanks between them.

    Args:
        record: of the schema ``bigbio_kb``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a part has another form, or passages do not fit to their offsets or to each
            other.
    """
    content = msgspec.convert(record, _BigBio)
    text = _text_of_passages(content.passages)
    collector = MentionCollector(text, step=STEP, unit=AUTO)
    for entity in content.entities:
        links = tuple(_links(entity.normalized))
        expected = " ".join(entity.text) if entity.text else None
        collector.add(entity.offsets, entity.type, expected=expected, is_standoff=True, links=links)
    sections = tuple(_section(passage) for passage in content.passages if passage.offsets)
    events: list[Event] = []
    stated = _arguments(content.entities, collector)
    relations = tuple(read_relations(record, stated, events, step=STEP))
    return collector.document(
        identifier,
        before=(*events, *structures_left_out(record, step=STEP, beside=RELATIONS)),
        sections=sections,
        relations=relations,
        meta=meta,
    )


def _links(entries: Sequence[_Entry]) -> Iterator[Link]:
    for entry in entries:
        identifier = str(entry.db_id or "").strip()
        if identifier in NIL:
            yield Link(id="", nil=True)
        elif identifier not in NO_ID:
            yield Link(id=identifier, ontology=entry.db_name or "")


def _arguments(entities: Sequence[_Entity], collector: MentionCollector) -> list[StatedArgument]:
    return [
        StatedArgument(entity.id, entity.offsets, key)
        for entity, key in zip(entities, collector.settle(), strict=True)
    ]


def _section(passage: _Passage) -> Section:
    starts, ends = zip(*passage.offsets, strict=True)
    return Section(min(starts), max(ends), passage.type or "")


def _text_of_passages(passages: Sequence[_Passage]) -> str:
    parts: list[tuple[Span, str]] = []
    for passage in passages:
        if len(passage.text) != len(passage.offsets):
            raise ValueError(
                f"a passage has {plural(len(passage.text), 'text')} and "
                f"{plural(len(passage.offsets), 'pair')} of "
                "offsets; allowed is one pair for each text"
            )
        parts += zip(passage.offsets, passage.text, strict=True)
    pieces, length = [], 0
    for (start, end), part in sorted(parts, key=lambda placed: placed[0]):
        if start < length or end - start != len(part) or start - length > _GAP:
            raise ValueError(
                f"the passage at {start} to {end} has {plural(len(part), 'character')}, and the "
                f"one before it ends at {length}; allowed are passages of the length of their "
                f"offsets, one after the other, at most {_GAP:,} characters apart"
            )
        pieces += [" " * (start - length), part]
        length = end
    return "".join(pieces)
