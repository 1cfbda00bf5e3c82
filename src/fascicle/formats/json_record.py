"""JSON record interpreted by its shape, and the document made from one or several records.

Articles have a title, an abstract and paragraphs, without annotation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any, Final, NamedTuple

import msgspec

from fascicle.core.absent import without_nulls
from fascicle.core.document import GOLD, Document, Event, Link, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.core.mention import Span, parse_link
from fascicle.core.tags import TagCensus
from fascicle.errors import FormatError
from fascicle.formats.collect import (
    MentionCollector,
    TokenMention,
    join_tokens,
    read_tags,
    short_facts,
)
from fascicle.formats.extraction import join_sections
from fascicle.formats.json_relations import (
    RELATIONS,
    StatedArgument,
    read_relations,
    structures_left_out,
)
from fascicle.formats.report import ReadReport
from fascicle.formats.shapes import JsonShape
from fascicle.formats.tag_names import add_io_prefixes, tags_by_number
from fascicle.formats.unread import field_options, fields_argument, objects_in, value_at

_STEP: Final = "jsonl"
# Fields with the id of a text, beside that of its shape; the first one counts.
IDS: Final = ("id", "_id", "pmid", "doc_id", "document_id", "doi", "pmcid")
_GROUP: Final = "sc"  # the group of spans that spaCy trains on, for gold
_NUMBERS: Final = (float, int, type(None))  # of scores
_NIL: Final = frozenset({"NIL", "CUI-less"})  # in place of an id: no entry fits


class _RawMention(NamedTuple):
    """Mention as a record contains it; its offsets, with exclusive ends, are not checked yet."""

    spans: tuple[Span, ...]
    type: str
    text: str | None
    facts: dict[str, Any]
    id: Any = None


class Record:
    """JSON object with its shape; the errors of all methods name the place in the file."""

    def __init__(
        self, value: dict[str, Any], shape: JsonShape, place: str, *, events: tuple[Event, ...] = ()
    ) -> None:
        """Stores the parsed object and the events about it."""
        self.value = value
        self.shape = shape
        self.place = place
        self.events = events

    @property
    def group(self) -> Any:
        """Value that records of one document share; ``None`` if the record is a document of its
        own.
        """
        return self.value.get(self.shape.group) if self.shape.group else None

    @property
    def identifier(self) -> str:
        """Id as in the source, or the empty string."""
        names = (self.shape.id, "id") if self.shape.tokens else (self.shape.id, *IDS)
        found = next((self.value[name] for name in names if self.value.get(name) is not None), None)
        return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""

    def field(self, name: str, kind: Any) -> Any:
        """Returns the value of a required field of this type."""
        value = value_at(self.value, name)
        if value is None:
            raise self.error(
                f"the record has no field {name!r}; it has "
                f"{', '.join(sorted(self.value)) or 'none'}"
            )
        if not isinstance(value, kind):
            named, found = getattr(kind, "__name__", "list"), type(value).__name__
            raise self.error(f"the field {name!r} must be a {named}, found {found}")
        return value

    def token_sentences(self) -> list[list[str]]:
        """Returns the tokens, sentence by sentence; a flat list is one sentence."""
        found = self.field(self.shape.tokens, list)
        nested = found if found and all(isinstance(part, list) for part in found) else [found]
        for sentence in nested:
            if not all(isinstance(token, str) and token for token in sentence):
                raise self.error(
                    f"the tokens in {self.shape.tokens!r} must be strings, none of them empty"
                )
        return nested

    def tags(self, length: int) -> list[str]:
        """Returns one tag for each token, with its prefix.

        Raises:
            ValueError: a number without a name, or a bare type with a prefix.
        """
        found: list[Any] = self.field(self.shape.tags, list)
        is_text = all(isinstance(tag, str) for tag in found)
        if len(found) != length:
            raise self.error(f"{len(found)} tags for {length} tokens; give one tag for each token")
        if not (is_text or self.shape.tag_names):
            raise self.error(
                "tags are strings, or numbers if their names are known from dataset_info.json or "
                'labels="O,B-PER,I-PER"'
            )
        if not is_text:
            return tags_by_number(found, self.shape.tag_names)
        return add_io_prefixes(found) if self.shape.bare else found

    def mentions(self) -> list[_RawMention]:
        """Returns the mentions, in order."""
        return list(chain.from_iterable(self.mention_lists()))

    def mention_lists(self) -> list[list[_RawMention]]:
        """Returns the mentions as the record lists them: one list per sentence, or all in one
        list.
        """
        name, groups = self.shape.entities, self.value.get(self.shape.groups)
        entities = (
            self.field(name, list | dict) if name and self.value.get(name, self) is not None else []
        )
        if isinstance(entities, dict):
            return [self._group(name, listed) for name, listed in entities.items()]
        if isinstance(groups, dict):
            grouped = [
                mention for name, listed in groups.items() for mention in self._group(name, listed)
            ]
            places = {(mention.spans, mention.type) for mention in grouped}
            return [
                [
                    one
                    for one in map(self._mention, entities)
                    if (one.spans, one.type) not in places
                ],
                grouped,
            ]
        nested = entities and all(
            isinstance(e, list) and (not e or isinstance(e[0], list)) for e in entities
        )
        return [
            [self._mention(entity) for entity in listed]
            for listed in (entities if nested else [entities])
        ]

    def _group(self, name: str, listed: Any) -> list[_RawMention]:
        """Returns the mentions of a group, as the span groups of spaCy have a name; ``sc`` is
        that of gold.
        """
        if isinstance(listed, dict):  # a mention with a number
            return [self._mention(listed)]
        if not isinstance(listed, list):
            raise self._mention_error(listed)
        source = {} if name == _GROUP else {"source": name}
        return [one._replace(facts=one.facts | source) for one in map(self._mention, listed)]

    def _mention(self, entity: Any) -> _RawMention:
        shape, more = self.shape, int(self.shape.inclusive)
        spans = text = identifier = None
        facts: dict[str, Any] = {}
        if isinstance(entity, list) and len(entity) >= 3:
            start, end, kind = (
                entity[:3] if not isinstance(entity[0], str) else (*entity[1:3], entity[0])
            )
            text = entity[3] if len(entity) > 3 else None
        elif isinstance(entity, dict):
            value_of = entity.get if shape.is_flat else partial(value_at, entity)
            start, end, kind, text, spans = map(value_of, shape.places)
            facts, identifier = self._facts(entity), entity.get("id")
        else:
            raise self._mention_error(entity)
        pairs = spans if isinstance(spans, list) and spans else [[start, end]]
        if not isinstance(kind, str) or not kind or not all(map(_is_pair, pairs)):
            raise self._mention_error(entity)
        text = text if isinstance(text, str) else None
        ranges = tuple([(first, last + more + first * shape.lengths) for first, last in pairs])
        return _RawMention(ranges, kind, text, facts, identifier)

    def _facts(self, entity: dict[str, Any]) -> dict[str, Any]:
        """Returns the score, the links and the attributes of a mention; texts, numbers and
        booleans are attributes.
        """
        shape = self.shape
        facts = _score(shape.score, value_at(entity, shape.score))
        if links := shape.links and self._links(entity):
            facts["links"] = links
        if entity.keys() <= shape.of_mention:
            return facts
        more = tuple(
            (name, value if isinstance(value, str) else msgspec.json.encode(value).decode())
            for name, value in entity.items()
            if isinstance(value, str | int | float) and value != "" and name not in shape.of_mention
        )
        return {**facts, "attributes": (*facts.get("attributes", ()), *more)} if more else facts

    def _links(self, entity: dict[str, Any]) -> tuple[Link, ...]:
        stated = value_at(entity, self.shape.links)
        if not stated:
            return ()
        listed = [stated] if isinstance(stated, str) else stated
        if (
            self.shape.links != "links"
            and isinstance(listed, list)
            and all(isinstance(one, str) for one in listed)
        ):
            return tuple(
                Link(id="", nil=True) if one in _NIL else parse_link(one) for one in listed if one
            )
        try:
            return msgspec.convert(without_nulls(stated), tuple[Link, ...])
        except msgspec.ValidationError as error:
            raise self.error(
                f"the links {str(stated)[:80]} of a mention cannot be read ({error}); allowed is "
                "a list of objects "
                "with an id and perhaps ontology, name, score, tier, curie or nil; where the "
                "field is something else, "
                "give another name, for example " + fields_argument(("links", "concepts"))
            ) from None

    def _mention_error(self, entity: Any) -> FormatError:
        shape = self.shape
        spelt = {"start": shape.start, "end": shape.end, "type": shape.type}
        _, *changes = field_options(shape.entities, [entity], spelt=spelt)
        advice = f"; name its fields with {fields_argument(*changes)}" if changes else ""
        return self.error(
            f"the mention {str(entity)[:80]} cannot be read; allowed is an object with "
            f"{shape.start!r}, {shape.end!r} "
            f"(integers) and {shape.type!r} (a string), or a list [start, end, type]{advice}"
        )

    def left_out(self) -> tuple[Event, ...]:
        """Returns events for what nobody reads: lists and objects in mentions, scores that are
        no number, events.
        """
        shape = self.shape
        if shape.reader:  # which reports what it does not read
            return ()
        listed = value_at(self.value, shape.entities) if shape.entities else None
        score, of_mention = shape.score, shape.of_mention
        names = {  # for most mentions all names are known at once
            name
            for entity in objects_in(listed)
            if not (
                entity.keys() <= of_mention
                and (score not in entity or type(entity[score]) in _NUMBERS)
            )
            for name, value in entity.items()
            if (name == score and isinstance(value, (bool, str, list, dict)))
            or (name not in of_mention and value and isinstance(value, (list, dict)))
        }
        message = f"these facts of mentions are not read: {', '.join(sorted(names))}"
        events = (make_event("attributes-left-out", step=_STEP, message=message),) if names else ()
        return (*events, *structures_left_out(self.value, step=_STEP, beside=RELATIONS))

    def meta(self) -> dict[str, str]:
        """Returns the other fields that are a short string or a number."""
        return short_facts(self.value, leave=self.shape.fields | {"text"})

    def error(self, message: str) -> FormatError:
        """Returns an error that names the file and the line."""
        return FormatError(message, at=self.place)


def from_records(
    records: Sequence[Record], source: Source, number: int, report: ReadReport
) -> Document:
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
            votes = report.offset_votes[source.path]
            made = (
                _of_tool(first, identifier, meta, votes=votes, source=source)
                if first.shape.reader
                else _of_text(first, identifier, meta, votes=votes)
            )
        events = tuple(
            event for record in records for event in (*record.events, *record.left_out())
        )
        return made.with_events(*events) if events else made
    except (ValueError, msgspec.ValidationError) as error:
        raise first.error(str(error)) from None


def _of_tokens(
    records: Sequence[Record],
    identifier: str,
    meta: dict[str, str],
    source: Source,
    report: ReadReport,
) -> Document:
    sentences: list[list[str]] = []
    mentions: list[TokenMention] = []
    stated: list[tuple[Record, list[tuple[_RawMention, TokenMention]]]] = []
    before = 0
    for record in records:
        added = record.token_sentences()
        length = sum(map(len, added))
        lists = record.mention_lists()
        placed = list(_counted(lists, added, before))
        stated.append((record, list(zip(chain.from_iterable(lists), placed, strict=True))))
        mentions += placed
        if record.shape.tags:
            mentions += read_tags(
                record.tags(length), before, report.tags.setdefault(source.path, TagCensus())
            )
        sentences += added
        before += length
    document = join_tokens(identifier, sentences, mentions, step=_STEP, meta=meta)
    relations: list[Relation] = []
    events: list[Event] = []
    for record, pairs in stated:
        if not record.value.get(RELATIONS):
            continue
        named = [
            StatedArgument(raw.id, raw.spans, _key_of(mention, document)) for raw, mention in pairs
        ]
        relations += read_relations(record.value, named, events, step=_STEP)
    if relations:
        document = document.having(relations=tuple(relations))
    return document.with_events(*events) if events else document


def _key_of(mention: TokenMention, document: Document) -> MentionKey | None:
    words = document.words or ()
    if not all(0 <= start < end <= len(words) for start, end in mention.ranges):
        return None
    return (
        GOLD,
        mention.type,
        tuple(sorted((words[start][0], words[end - 1][1]) for start, end in mention.ranges)),
    )


def _counted(
    lists: list[list[_RawMention]], sentences: list[list[str]], before: int
) -> Iterator[TokenMention]:
    """Yields the mentions of a record with token numbers of the document; one list per sentence
    limits them to it.
    """
    ends = list(accumulate(map(len, sentences), initial=before))
    limits = (
        list(pairwise(ends)) if len(lists) == len(sentences) else [(before, ends[-1])] * len(lists)
    )
    for listed, limit in zip(lists, limits, strict=True):
        for raw in listed:
            yield TokenMention(
                [(before + start, before + end) for start, end in raw.spans], raw.type, limit
            )


def _of_tool(
    record: Record, identifier: str, meta: dict[str, str], *, votes: Counter[str], source: Source
) -> Document:
    """Makes a document from a record of a tool or schema with its own reader."""
    from fascicle.formats import (  # late: most files are of no such tool
        bigbio,
        europepmc,
        gate,
        label_studio,
        pubannotation,
    )

    shape = record.shape
    if shape.reader == label_studio.STEP:
        return label_studio.from_task(
            record.value,
            identifier,
            field=shape.text,
            annotator=shape.annotator,
            part=shape.to_name,
        )
    if shape.reader == pubannotation.STEP:
        return pubannotation.from_record(
            record.value, identifier, meta=meta, unit=shape.offsets, votes=votes
        )
    if shape.reader == europepmc.STEP:
        return europepmc.from_record(record.value, identifier, meta=meta, source=source)
    if shape.reader == _TITLE:
        return _of_article({**record.value, "paragraphs": ()}, identifier, meta=meta)
    make = {_ARTICLE: _of_article, gate.STEP: gate.from_record, bigbio.STEP: bigbio.from_record}[
        shape.reader
    ]
    return make(record.value, identifier, meta=meta)


def _of_text(
    record: Record, identifier: str, meta: dict[str, str], *, votes: Counter[str]
) -> Document:
    text = record.field(record.shape.text, str)
    collector = MentionCollector(text, step=_STEP, unit=record.shape.offsets, votes=votes)
    stated = record.mentions()
    for raw in stated:
        collector.add(raw.spans, raw.type, expected=raw.text, **raw.facts)
    events: list[Event] = []
    relations: tuple[Relation, ...] = ()
    # else numbers and ids of mentions name nothing
    if record.shape.entities and record.value.get(RELATIONS):
        named = [
            StatedArgument(raw.id, raw.spans, key)
            for raw, key in zip(stated, collector.settle(), strict=True)
        ]
        relations = tuple(read_relations(record.value, named, events, step=_STEP))
    sentences = _sentences(record)
    return collector.document(
        identifier, sentences=sentences, meta=meta, relations=relations, events=events
    )


def _sentences(record: Record) -> tuple[Span, ...] | None:
    name = record.shape.sentences
    if not name or record.value.get(name) is None:
        return None
    found: list[Any] = [
        [one.get("start"), one.get("end")] if isinstance(one, dict) else one
        for one in record.field(name, list)
    ]
    if not all(_is_pair(pair) for pair in found):
        raise record.error(f"the field {name!r} must hold ranges [start, end] of characters")
    return tuple((start, end) for start, end in found)


def _score(name: str, value: Any) -> dict[str, Any]:
    """Returns a number as the score of a mention if it is a probability, and as an attribute
    otherwise.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return {}
    return {"score": float(value)} if 0 <= value <= 1 else {"attributes": ((name, str(value)),)}


def _is_pair(value: Any) -> bool:
    # bool is an int to Python, but not to JSON
    return isinstance(value, list) and len(value) == 2 and type(value[0]) is type(value[1]) is int


_ARTICLE: Final = "article"
_TITLE: Final = "title"


class _Article(msgspec.Struct):
    title: str
    paragraphs: tuple[str, ...]
    abstract: str | tuple[str, ...] | None = None


def _of_article(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document of a record: title, abstract and paragraphs, with an empty line between two
    of them.

    Each is a section, named ``title``, ``abstract`` or ``paragraph``; those that are empty are left
    out.

    Args:
        record: with ``title``, and perhaps with ``abstract``, a text or its sentences, and
            ``paragraphs``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a part has another form.
    """
    try:
        given = msgspec.convert(record, _Article)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"no article ({error}): an article has the fields title (a text) and paragraphs (a "
            "list of texts), and "
            "perhaps abstract (a text, or a list of sentences)"
        ) from None
    abstract = given.abstract or ""
    sentences = (abstract,) if isinstance(abstract, str) else map(str.strip, abstract)
    parts = [("title", given.title), ("abstract", " ".join(sentences))]
    text, sections = join_sections(
        [*parts, *(("paragraph", one) for one in given.paragraphs)], between="\n\n"
    )
    return Document(id=identifier, text=text, sections=sections, meta=meta)
