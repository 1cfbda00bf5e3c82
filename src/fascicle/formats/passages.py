"""Documents of the BigBIO ``kb`` schema: passages with offsets, entities with fragments and normalised ids.

Articles as JSON records: a title, an abstract and the paragraphs of the body, without annotation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Event, Link, Section
from fascicle.core.effects import event_of
from fascicle.core.mention import Span
from fascicle.core.wording import counted
from fascicle.formats.collect import MentionCollector
from fascicle.formats.extraction import join_sections

STEP: Final = "bigbio"
_GAP: Final = 1 << 16  # characters between two passages
_OTHER: Final = ("relations", "events", "coreferences")


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
    text: tuple[str, ...] = ()
    normalized: tuple[_Entry, ...] = ()


class _Record(msgspec.Struct):
    passages: tuple[_Passage, ...]
    entities: tuple[_Entity, ...]


def document_of(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document from a BigBIO record.

    The text is made of the passages at their offsets, with blanks between them.

    Args:
        record: of the schema ``bigbio_kb``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a part has another form, or passages do not fit to their offsets or to each other.
    """
    given = msgspec.convert(record, _Record)
    text = _text(given.passages)
    collector = MentionCollector(text, step=STEP)
    for entity in given.entities:
        links = tuple(Link(id=str(one.db_id), ontology=one.db_name or "") for one in entity.normalized if one.db_id)
        expected = " ".join(entity.text) if entity.text else None
        collector.add(entity.offsets, entity.type, expected=expected, links=links)
    sections = tuple(_section(passage) for passage in given.passages if passage.offsets)
    return collector.document(identifier, before=_left_out(record), sections=sections, meta=meta)


def _section(passage: _Passage) -> Section:
    starts, ends = zip(*passage.offsets, strict=True)
    return Section(min(starts), max(ends), passage.type or "")


def _text(passages: Sequence[_Passage]) -> str:
    parts: list[tuple[Span, str]] = []
    for passage in passages:
        if len(passage.text) != len(passage.offsets):
            raise ValueError(
                f"a passage has {counted(len(passage.text), 'text')} and {counted(len(passage.offsets), 'pair')} of "
                "offsets; allowed is one pair for each text"
            )
        parts += zip(passage.offsets, passage.text, strict=True)
    made, length = [], 0
    for (start, end), part in sorted(parts, key=lambda one: one[0]):
        if start < length or end - start != len(part) or start - length > _GAP:
            raise ValueError(
                f"the passage at {start} to {end} has {counted(len(part), 'character')}, and the one before it ends at "
                f"{length}; allowed are passages of the length of their offsets, one after the other, at most "
                f"{_GAP:,} characters apart"
            )
        made += [" " * (start - length), part]
        length = end
    return "".join(made)


def _left_out(record: Mapping[str, Any]) -> list[Event]:
    """Returns events that count what a record has beside its mentions (events, relations and similar lists)."""
    counts = {name: len(record[name]) for name in _OTHER if isinstance(record.get(name), list) and record[name]}
    return [
        event_of(f"{name}-left-out", step=STEP, message=f"{name} are not read ({count:,})")
        for name, count in counts.items()
    ]


ARTICLE: Final = "article"


class _Article(msgspec.Struct):
    title: str
    paragraphs: tuple[str, ...]
    abstract: str | None = None


def article_of(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document of a record: title, abstract and paragraphs, with an empty line between two of them.

    Each is a section, named ``title``, ``abstract`` or ``paragraph``; those that are empty are left out.

    Args:
        record: with ``title`` and ``paragraphs``, perhaps with ``abstract``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a part has another form.
    """
    try:
        given = msgspec.convert(record, _Article)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"no article ({error}): an article has the fields title (a text) and paragraphs (a list of texts), and "
            "perhaps abstract (a text)"
        ) from None
    parts = [("title", given.title), ("abstract", given.abstract or "")]
    text, sections = join_sections([*parts, *(("paragraph", one) for one in given.paragraphs)], between="\n\n")
    return Document(id=identifier, text=text, sections=sections, meta=meta)
