"""JSON record interpreted by its shape."""

from __future__ import annotations

from functools import partial
from itertools import chain, starmap
from typing import Any, Final, NamedTuple

import msgspec

from fascicle.core.absent import without_nulls
from fascicle.core.document import Event, Link
from fascicle.core.effects import make_event
from fascicle.core.mention import Span, parse_link
from fascicle.errors import FormatError
from fascicle.formats.collect import short_facts
from fascicle.formats.json_relations import RELATIONS, is_nested, structures_left_out
from fascicle.formats.shapes import JsonShape
from fascicle.formats.tag_names import add_io_prefixes, tags_by_number
from fascicle.formats.unread import field_options, fields_argument, objects_in, value_at

STEP: Final = "jsonl"
# Fields with the id of a text, beside that of its shape; the first one counts.
IDS: Final = (
    *("id", "_id", "pmid", "doc_id", "document_id", "doi", "pmcid"),
    *("corpusid", "paperId"),  # of Semantic Scholar
    *("PMID", "DOI"),
)
_GROUP: Final = "sc"  # the group of spans that spaCy trains on, for gold
_NUMBERS: Final = (float, int, type(None))  # of scores
NIL: Final = frozenset({"NIL", "CUI-less"})  # in place of an id: no entry fits


class RawMention(NamedTuple):
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
        self._ends = int(shape.inclusive), shape.lengths

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
        value = next((self.value[name] for name in names if self.value.get(name) is not None), None)
        if isinstance(value, dict) and len(value) == 1:  # as MongoDB exports its ids
            value = value.get("$oid")
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""

    def field(self, name: str, kind: Any) -> Any:
        """Returns the value of a required field of this type."""
        value = value_at(self.value, name)
        if value is None:
            raise self.error(
                f"the record has no field {name!r}; it has "
                f"{', '.join(sorted(self.value)) or 'none'}"
            )
        if not isinstance(value, kind):
            allowed, actual = getattr(kind, "__name__", "list"), type(value).__name__
            raise self.error(f"the field {name!r} must be a {allowed}, found {actual}")
        return value

    def token_sentences(self) -> list[list[str]]:
        """Returns the tokens, sentence by sentence; a flat list is one sentence."""
        tokens = self.field(self.shape.tokens, list)
        nested = tokens if tokens and all(isinstance(part, list) for part in tokens) else [tokens]
        for sentence in nested:
            if not (set(map(type, sentence)) <= {str} and all(sentence)):
                raise self.error(
                    f"the tokens in {self.shape.tokens!r} must be strings, none of them empty"
                )
        return nested

    def tags(self, length: int) -> list[str]:
        """Returns one tag for each token, with its prefix.

        Raises:
            ValueError: a number without a name, or a bare type with a prefix.
        """
        tags: list[Any] = self.field(self.shape.tags, list)
        is_text = set(map(type, tags)) <= {str}
        if len(tags) != length:
            raise self.error(f"{len(tags)} tags for {length} tokens; give one tag for each token")
        if not (is_text or self.shape.tag_names):
            raise self.error(
                "tags are strings, or numbers if their names are known from dataset_info.json or "
                'labels="O,B-PER,I-PER"'
            )
        if not is_text:
            return tags_by_number(tags, self.shape.tag_names)
        return add_io_prefixes(tags) if self.shape.bare else tags

    def mentions(self) -> list[RawMention]:
        """Returns the mentions, in order."""
        return list(chain.from_iterable(self.mention_lists()))

    def mention_lists(self) -> list[list[RawMention]]:
        """Returns the mentions as the record lists them: one list per sentence, or all in one
        list.
        """
        name, groups = self.shape.entities, self.value.get(self.shape.groups)
        entities = (
            self.field(name, list | dict) if name and self.value.get(name, self) is not None else []
        )
        if isinstance(entities, dict):
            return list(starmap(self._group, entities.items()))
        if isinstance(groups, dict):
            grouped = list(chain.from_iterable(starmap(self._group, groups.items())))
            places = {(mention.spans, mention.type) for mention in grouped}
            single = [
                mention
                for mention in map(self._mention, entities)
                if (mention.spans, mention.type) not in places
            ]
            return [single, grouped]
        lists = entities if is_nested(entities) else [entities]
        return [list(map(self._mention, members)) for members in lists]

    def _group(self, name: str, members: Any) -> list[RawMention]:
        """Returns the mentions of a group, as the span groups of spaCy have a name; ``sc`` is
        that of gold.
        """
        if isinstance(members, dict):  # a mention with a number
            return [self._mention(members)]
        if not isinstance(members, list):
            raise self._mention_error(members)
        source = {} if name == _GROUP else {"source": name}
        return [
            mention._replace(facts=mention.facts | source)
            for mention in map(self._mention, members)
        ]

    def _mention(self, entity: Any) -> RawMention:
        more, lengths = self._ends
        if _is_plain(entity) and entity[2]:  # sooner than what follows
            first, last, kind = entity
            return RawMention(((first, last + more + first * lengths),), kind, None, {}, None)
        pairs, kind, stated, facts, name = self._stated_mention(entity)
        if not isinstance(kind, str) or not kind or not all(map(_is_pair, pairs)):
            raise self._mention_error(entity)
        ranges = tuple([(first, last + more + first * lengths) for first, last in pairs])
        text = stated if isinstance(stated, str) else None
        return RawMention(ranges, kind, text, facts, name)

    def _stated_mention(self, entity: Any) -> tuple[Any, Any, Any, dict[str, Any], Any]:
        """Returns the parts of a `RawMention`, which may be of any type, and ends as the record
        counts them.
        """
        if isinstance(entity, list) and len(entity) >= 3:
            first = isinstance(entity[0], str)
            kind, pair = entity[2 - 2 * first], entity[first : 2 + first]
            return (pair,), kind, entity[3] if len(entity) > 3 else None, {}, None
        if isinstance(entity, dict):
            value_of = entity.get if self.shape.is_flat else partial(value_at, entity)
            start, end, kind, text, spans = map(value_of, self.shape.places)
            pairs = spans if isinstance(spans, list) and spans else ([start, end],)
            return pairs, kind, text, self._facts(entity), entity.get("id")
        raise self._mention_error(entity)

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
        links = [stated] if isinstance(stated, str) else stated
        is_text = isinstance(links, list) and all(isinstance(link, str) for link in links)
        if self.shape.links != "links" and is_text:
            return tuple(
                Link(id="", nil=True) if link in NIL else parse_link(link) for link in links if link
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
        if self.shape.reader:  # which reports what it does not read
            return ()
        names = ", ".join(sorted(self._unread_names()))
        message = f"these facts of mentions are not read: {names}"
        events = (make_event("attributes-left-out", step=STEP, message=message),) if names else ()
        if binary := sorted(name for name, cell in self.value.items() if isinstance(cell, bytes)):
            message = f"these bytes of a table are not read: {', '.join(binary)}"
            events = (*events, make_event("user-data-left-out", step=STEP, message=message))
        return (*events, *structures_left_out(self.value, step=STEP, beside=RELATIONS))

    def _unread_names(self) -> set[str]:
        shape, score, of_mention = self.shape, self.shape.score, self.shape.of_mention
        names: set[str] = set()
        for entity in objects_in(value_at(self.value, shape.entities) if shape.entities else None):
            is_score = score not in entity or type(entity[score]) in _NUMBERS
            if is_score and entity.keys() <= of_mention:  # of most mentions
                continue
            names.update(
                name
                for name, value in entity.items()
                if (name == score and isinstance(value, (bool, str, list, dict)))
                or (name not in of_mention and value and isinstance(value, (list, dict)))
            )
        return names

    def sentences(self) -> tuple[Span, ...] | None:
        """Returns the ranges of the sentences; ``None`` if the record has none."""
        name = self.shape.sentences
        if not name or self.value.get(name) is None:
            return None
        ranges: list[Any] = [
            [sentence.get("start"), sentence.get("end")] if isinstance(sentence, dict) else sentence
            for sentence in self.field(name, list)
        ]
        if not all(map(_is_pair, ranges)):
            raise self.error(f"the field {name!r} must hold ranges [start, end] of characters")
        return tuple((start, end) for start, end in ranges)

    def meta(self) -> dict[str, str]:
        """Returns the other fields that are a short string or a number."""
        return short_facts(self.value, leave=self.shape.fields | {"text"})

    def error(self, message: str) -> FormatError:
        """Returns an error that names the file and the line."""
        return FormatError(message, at=self.place)


def _score(name: str, value: Any) -> dict[str, Any]:
    """Returns a number as the score of a mention if it is a probability, and as an attribute
    otherwise.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return {}
    return {"score": float(value)} if 0 <= value <= 1 else {"attributes": ((name, str(value)),)}


def _is_plain(entity: Any) -> bool:
    return (
        type(entity) is list
        and len(entity) == 3
        and type(entity[0]) is type(entity[1]) is int
        and type(entity[2]) is str
    )


def _is_pair(value: Any) -> bool:
    # bool is an int to Python, but not to JSON
    return isinstance(value, list) and len(value) == 2 and type(value[0]) is type(value[1]) is int
