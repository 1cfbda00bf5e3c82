"""JSON record interpreted by its shape, and the document made from one or several records.

Two kinds of records have their own form. Documents of the BigBIO ``kb`` schema have passages with offsets, and entities
with fragments and normalised ids. Articles have a title, an abstract and paragraphs, without annotation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, Final, NamedTuple

import msgspec

from fascicle.core.document import Document, Event, Link, Section
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.core.mention import Span
from fascicle.core.tags import TagCensus
from fascicle.core.wording import plural
from fascicle.errors import FormatError
from fascicle.formats.collect import MentionCollector, TokenMention, join_tokens, read_tags, short_facts
from fascicle.formats.extraction import join_sections
from fascicle.formats.report import ReadReport
from fascicle.formats.shapes import JsonShape
from fascicle.formats.tag_names import add_io_prefixes, tags_by_number
from fascicle.formats.unread import fields_argument

_STEP: Final = "jsonl"


class _RawMention(NamedTuple):
    """Mention as a record contains it; its offsets, with exclusive ends, are not checked yet."""

    spans: tuple[Span, ...]
    type: str
    text: str | None
    facts: dict[str, Any]


class Record:
    """JSON object with its shape; the errors of all methods name the place in the file."""

    def __init__(self, value: dict[str, Any], shape: JsonShape, place: str, *, events: tuple[Event, ...] = ()) -> None:
        """Stores the parsed object and the events about it."""
        self.value = value
        self.shape = shape
        self.place = place
        self.events = events

    @property
    def group(self) -> Any:
        """Value that records of one document share; ``None`` if the record is a document of its own."""
        return self.value.get(self.shape.group) if self.shape.group else None

    @property
    def identifier(self) -> str:
        """Id as in the source, or the empty string."""
        found = self.value.get(self.shape.id, self.value.get("id"))
        return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""

    def field(self, name: str, kind: type) -> Any:
        """Returns the value of a required field of this type."""
        if name not in self.value:
            raise self.error(f"the record has no field {name!r}; it has {', '.join(sorted(self.value)) or 'none'}")
        if not isinstance(self.value[name], kind):
            found = type(self.value[name]).__name__
            raise self.error(f"the field {name!r} must be a {kind.__name__}, found {found}")
        return self.value[name]

    def token_sentences(self) -> list[list[str]]:
        """Returns the tokens, sentence by sentence; a flat list is one sentence."""
        found = self.field(self.shape.tokens, list)
        nested = found if found and all(isinstance(part, list) for part in found) else [found]
        for sentence in nested:
            if not all(isinstance(token, str) and token for token in sentence):
                raise self.error(f"the tokens in {self.shape.tokens!r} must be strings, none of them empty")
        return nested

    def tags(self, length: int) -> list[str]:
        """Returns one tag for each token, with its prefix.

        Raises:
            ValueError: a number without a name, or a bare type with a prefix.
        """
        found: list[Any] = self.field(self.shape.tags, list)
        is_text = all(isinstance(tag, str) for tag in found)
        if len(found) != length or not (is_text or self.shape.tag_names):
            raise self.error(
                f"{len(found)} tags for {length} tokens; allowed is one tag for each token: a string, or a number if "
                'its name is known from dataset_info.json or labels="O,B-PER,I-PER"'
            )
        if not is_text:
            return tags_by_number(found, self.shape.tag_names)
        return add_io_prefixes(found) if self.shape.bare else found

    def mentions(self) -> list[_RawMention]:
        """Returns the mentions, in order."""
        return list(chain.from_iterable(self.mention_lists()))

    def mention_lists(self) -> list[list[_RawMention]]:
        """Returns the mentions as the record lists them: one list per sentence, or all in one list."""
        found = self.field(self.shape.entities, list) if self.shape.entities else []
        nested = found and all(isinstance(e, list) and (not e or isinstance(e[0], list)) for e in found)
        return [[self._mention(entity) for entity in listed] for listed in (found if nested else [found])]

    def _mention(self, entity: Any) -> _RawMention:
        shape, more = self.shape, int(self.shape.inclusive)
        facts: dict[str, Any] = {}
        if isinstance(entity, list) and len(entity) >= 3:
            start, end, kind = entity[:3]
            expected, spans = entity[3] if len(entity) > 3 else None, None
        elif isinstance(entity, dict):
            start, end, kind = entity.get(shape.start), entity.get(shape.end), entity.get(shape.type)
            expected, spans = entity.get(shape.mention_text), entity.get(shape.spans)
            facts = {"links": self._links(entity), **_score(shape.score, entity.get(shape.score))}
        else:
            raise self._mention_error(entity)
        pairs = spans if isinstance(spans, list) and spans else [[start, end]]
        if not isinstance(kind, str) or not kind or not all(_is_pair(pair) for pair in pairs):
            raise self._mention_error(entity)
        text = expected if isinstance(expected, str) else None
        return _RawMention(tuple((first, last + more) for first, last in pairs), kind, text, facts)

    def _links(self, entity: dict[str, Any]) -> tuple[Link, ...]:
        found = entity.get(self.shape.links, ()) if self.shape.links else ()
        try:
            return msgspec.convert(found, tuple[Link, ...])
        except msgspec.ValidationError as error:
            raise self.error(
                f"the links {str(found)[:80]} of a mention cannot be read ({error}); allowed is a list of objects with "
                "an id and perhaps ontology, name, score, tier, curie or nil; where the field is something else, give "
                "another name, for example " + fields_argument(("links", "concepts"))
            ) from None

    def _mention_error(self, entity: Any) -> FormatError:
        shape = self.shape
        return self.error(
            f"the mention {str(entity)[:80]} cannot be read; allowed is an object with {shape.start!r}, {shape.end!r} "
            f"(integers) and {shape.type!r} (a string), or a list [start, end, type]; other names can be given, for "
            "example " + fields_argument(("type", "kind"))
        )

    def facts_left_out(self) -> tuple[Event, ...]:
        """Returns an event for what mentions have and nobody reads: texts, lists, scores that are no number."""
        shape = self.shape
        known = {shape.start, shape.end, shape.type, shape.mention_text, shape.spans, shape.links, "id"}
        listed = self.value.get(shape.entities) if shape.entities else None
        found = {
            name
            for entity in (listed if isinstance(listed, list) else ())
            if isinstance(entity, dict)
            for name, value in entity.items()
            if (name not in known and value and isinstance(value, str | list | dict))
            or (name == shape.score and isinstance(value, bool))
        }
        message = f"these facts of mentions are not read: {', '.join(sorted(found))}"
        return (make_event("attributes-left-out", step=_STEP, message=message),) if found else ()

    def meta(self) -> dict[str, str]:
        """Returns the other fields that are a short string or a number."""
        return short_facts(self.value, leave=self.shape.fields | {"text"})

    def error(self, message: str) -> FormatError:
        """Returns an error that names the file and the line."""
        return FormatError(message, at=self.place)


def from_records(records: Sequence[Record], source: Source, number: int, report: ReadReport) -> Document:
    """Makes one document from one record, or from the records of one group.

    Args:
        records: at least one.
        source: the file, which names documents without an id.
        number: of the document in the file, from 1.
        report: receives the census of tags.

    Raises:
        FormatError: a record that breaks the rules of its shape.
    """
    first = records[0]
    identifier = first.identifier or f"{source.name}:{number}"
    meta = first.meta() if len(records) == 1 else {}
    try:
        if first.shape.tokens:
            made = _of_tokens(records, identifier, meta, source, report)
        else:
            made = _of_text(first, identifier, meta) if not first.shape.reader else _of_tool(first, identifier, meta)
        events = tuple(event for record in records for event in (*record.events, *record.facts_left_out()))
        return made.with_events(*events) if events else made
    except (ValueError, msgspec.ValidationError) as error:
        raise first.error(str(error)) from None


def _of_tokens(
    records: Sequence[Record], identifier: str, meta: dict[str, str], source: Source, report: ReadReport
) -> Document:
    sentences: list[list[str]] = []
    mentions: list[TokenMention] = []
    before = 0
    for record in records:
        added = record.token_sentences()
        length = sum(map(len, added))
        mentions += _counted(record.mention_lists(), added, before)
        if record.shape.tags:
            mentions += read_tags(record.tags(length), before, report.tags.setdefault(source.path, TagCensus()))
        sentences += added
        before += length
    return join_tokens(identifier, sentences, mentions, step=_STEP, meta=meta)


def _counted(lists: list[list[_RawMention]], sentences: list[list[str]], before: int) -> Iterator[TokenMention]:
    """Yields the mentions of a record with token numbers of the document; one list per sentence limits them to it."""
    ends = list(accumulate(map(len, sentences), initial=before))
    limits = list(pairwise(ends)) if len(lists) == len(sentences) else [(before, ends[-1])] * len(lists)
    for listed, limit in zip(lists, limits, strict=True):
        for raw in listed:
            yield TokenMention([(before + start, before + end) for start, end in raw.spans], raw.type, limit)


def _of_tool(record: Record, identifier: str, meta: dict[str, str]) -> Document:
    """Makes a document from a record of a tool or schema with its own reader."""
    from fascicle.formats import label_studio  # late: most files are of no such tool

    if record.shape.reader == label_studio.STEP:
        shape = record.shape
        return label_studio.from_task(
            record.value, identifier, field=shape.text, annotator=shape.annotator, part=shape.to_name
        )
    if record.shape.reader == _ARTICLE:
        return _of_article(record.value, identifier, meta=meta)
    return _of_bigbio(record.value, identifier, meta=meta)


def _of_text(record: Record, identifier: str, meta: dict[str, str]) -> Document:
    text = record.field(record.shape.text, str)
    collector = MentionCollector(text, step=_STEP)
    for raw in record.mentions():
        collector.add(raw.spans, raw.type, expected=raw.text, **raw.facts)
    return collector.document(identifier, sentences=_sentences(record), meta=meta)


def _sentences(record: Record) -> tuple[Span, ...] | None:
    name = record.shape.sentences
    if not name or name not in record.value:
        return None
    found = record.field(name, list)
    if not all(_is_pair(pair) for pair in found):
        raise record.error(f"the field {name!r} must hold ranges [start, end] of characters")
    return tuple((start, end) for start, end in found)


def _score(name: str, value: Any) -> dict[str, Any]:
    """Returns a number as the score of a mention if it is a probability, and as an attribute otherwise."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return {}
    return {"score": float(value)} if 0 <= value <= 1 else {"attributes": ((name, str(value)),)}


def _is_pair(value: Any) -> bool:
    # bool is an int to Python, but not to JSON
    return isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value)


_BIGBIO: Final = "bigbio"
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


class _BigBio(msgspec.Struct):
    passages: tuple[_Passage, ...]
    entities: tuple[_Entity, ...]


def _of_bigbio(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document from a BigBIO record.

    The text is made of the passages at their offsets, with blanks between them.

    Args:
        record: of the schema ``bigbio_kb``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a part has another form, or passages do not fit to their offsets or to each other.
    """
    given = msgspec.convert(record, _BigBio)
    text = _text_of_passages(given.passages)
    collector = MentionCollector(text, step=_BIGBIO)
    for entity in given.entities:
        links = tuple(Link(id=str(one.db_id), ontology=one.db_name or "") for one in entity.normalized if one.db_id)
        expected = " ".join(entity.text) if entity.text else None
        collector.add(entity.offsets, entity.type, expected=expected, is_standoff=True, links=links)
    sections = tuple(_section(passage) for passage in given.passages if passage.offsets)
    return collector.document(identifier, before=_left_out(record), sections=sections, meta=meta)


def _section(passage: _Passage) -> Section:
    starts, ends = zip(*passage.offsets, strict=True)
    return Section(min(starts), max(ends), passage.type or "")


def _text_of_passages(passages: Sequence[_Passage]) -> str:
    parts: list[tuple[Span, str]] = []
    for passage in passages:
        if len(passage.text) != len(passage.offsets):
            raise ValueError(
                f"a passage has {plural(len(passage.text), 'text')} and {plural(len(passage.offsets), 'pair')} of "
                "offsets; allowed is one pair for each text"
            )
        parts += zip(passage.offsets, passage.text, strict=True)
    made, length = [], 0
    for (start, end), part in sorted(parts, key=lambda one: one[0]):
        if start < length or end - start != len(part) or start - length > _GAP:
            raise ValueError(
                f"the passage at {start} to {end} has {plural(len(part), 'character')}, and the one before it ends at "
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
        make_event(f"{name}-left-out", step=_BIGBIO, message=f"{name} are not read ({count:,})")
        for name, count in counts.items()
    ]


_ARTICLE: Final = "article"


class _Article(msgspec.Struct):
    title: str
    paragraphs: tuple[str, ...]
    abstract: str | None = None


def _of_article(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
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
