"""The shapes of JSON records that `fascicle.formats.jsonl` reads: a table, one row for each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from fascicle.errors import UsageError
from fascicle.formats.unread import fits

_Kind = type  # a shape has a part of this name


@dataclass(frozen=True, kw_only=True)
class JsonShape:
    """Which field of a record holds what; an empty name: the records have no such field.

    Attributes:
        tokens: list of tokens, or list of sentences that are lists of tokens.
        text: the text, for records with character offsets (code points).
        id: id of the document; records without it are numbered.
        group: consecutive records with the same value here are the sentences of one document.
        entities: list of mentions, or (as in DyGIE) one list for each sentence. A mention is an object, or a list
            ``[start, end, type]`` or ``[start, end, type, text]``.
        tags: one tag for each token: of any scheme, or the number of a name.
        sentences: ranges of sentences, for records with a text.
        start: first token or character, in a mention that is an object.
        end: one past the last, there.
        type: entity type, there.
        spans: list of ``[start, end]``, for a discontinuous mention, there.
        mention_text: text of the mention, there; checked against the offsets in records with a text.
        score: probability of the mention, there; another number is not read; only in records with a text.
        links: list of objects with the fields of `Link`, there; only in records with a text.
        inclusive: ends are the last token or character itself.
        bare: tags are types without a prefix, and O.
        annotator: whose annotation is gold in a Label Studio export, as number or address; ``all`` keeps each.
        ignored: names of fields, with commas between them, that look like annotation and are not to be read.
        tag_names: of tags that are numbers.
        reader: name of the tool or schema whose records have a reader of their own.
        needs: fields that tell its records, with the types of their values.
        also: further fields that it reads.
        movable: parts that it looks for under another name, if the user gives one, beside ``id``.
    """

    tokens: str = ""
    text: str = ""
    id: str = ""
    group: str = ""
    entities: str = ""
    tags: str = ""
    sentences: str = ""
    start: str = "start"
    end: str = "end"
    type: str = "type"
    spans: str = "spans"
    mention_text: str = "text"
    score: str = "score"
    links: str = ""
    inclusive: bool = False
    bare: bool = False
    annotator: str = ""
    ignored: str = ""
    tag_names: tuple[str, ...] = ()
    reader: str = ""
    needs: tuple[tuple[str, _Kind], ...] = ()
    also: tuple[str, ...] = ()
    movable: tuple[str, ...] = ()

    @cached_property
    def fields(self) -> frozenset[str]:
        """The fields of a record that are read, or left out on request."""
        of_record = (self.tokens, self.text, self.id, self.group, self.entities, self.tags, self.sentences)
        needed = [name for name, _ in self.needs]
        return frozenset((*of_record, *needed, *self.also)) | {name.strip() for name in self.ignored.split(",")}

    @cached_property
    def deciding(self) -> tuple[tuple[str, _Kind], ...]:
        """The fields by which records of this shape are told, with the types of their values."""
        if self.needs:
            return self.needs
        named = ((self.tokens, list), (self.text, str), (self.entities, list), (self.tags, list))
        return tuple((name, kind) for name, kind in named if name)


# In the order in which they are tried: the first one all of whose own fields are in the record.
SHAPES: Final[Mapping[str, JsonShape]] = MappingProxyType(
    {
        "label-studio": JsonShape(
            reader="label-studio",
            needs=(("data", dict), ("annotations", list)),
            also=("predictions",),
            movable=("text", "annotator"),
            id="id",
        ),
        "bigbio": JsonShape(reader="bigbio", needs=(("passages", list), ("entities", list)), id="document_id"),
        "gliner": JsonShape(tokens="tokenized_text", entities="ner", id="id", inclusive=True),
        "dygie": JsonShape(tokens="sentences", entities="ner", id="doc_key", inclusive=True),
        "tokens-entities": JsonShape(tokens="tokens", entities="entities", id="id"),
        "tokens-mentions": JsonShape(
            tokens="tokens", entities="entity_mentions", type="entity_type", id="doc_id", group="doc_id"
        ),
        "tokens-tags": JsonShape(tokens="tokens", tags="tags", id="orig_id"),
        "tokens-ner-tags": JsonShape(tokens="tokens", tags="ner_tags", id="id"),
        "text-entities": JsonShape(text="text", entities="entities", links="links", sentences="sentences", id="id"),
        "text-entity-labels": JsonShape(text="text", entities="entities", type="label", id="id"),
        "prodigy": JsonShape(text="text", entities="spans", type="label", id="id"),
        "spacy": JsonShape(text="text", entities="ents", type="label", id="id"),
        "doccano": JsonShape(text="text", entities="labels", id="id"),
        "doccano-relations": JsonShape(
            text="text", entities="entities", start="start_offset", end="end_offset", type="label", id="id"
        ),
        "text-labels": JsonShape(text="text", entities="label", id="id"),
        "text": JsonShape(text="text", id="id"),
        "article": JsonShape(
            reader="article", needs=(("title", str), ("paragraphs", list)), also=("abstract",), id="id"
        ),
    }
)
UNANNOTATED: Final = ("text", "article")
_SWITCHES: Final = ("inclusive", "bare")
_FIXED: Final = ("tag_names", "reader", "needs", "also", "movable")


def detect_shape(record: Mapping[str, Any]) -> str:
    """The name of the first shape whose fields a record has; the empty string if there is none.

    Where no shape fits in the types of the fields too, their names decide, so that the reader can say what is wrong.
    """
    for matches in (_fits, _has_fields):
        found = next((name for name, shape in SHAPES.items() if matches(record, shape)), "")
        if found:
            return found
    return ""


def _has_fields(record: Mapping[str, Any], shape: JsonShape) -> bool:
    return all(name in record for name, _ in shape.deciding)


def _fits(record: Mapping[str, Any], shape: JsonShape) -> bool:
    for name, kind in shape.deciding:
        if not isinstance(record.get(name), kind):
            return False
    if not shape.entities:
        return True
    found = record.get(shape.entities)
    return fits(found, start=shape.start, end=shape.end, kind=shape.type, spans=shape.spans)


def adjusted(shape: JsonShape, changes: Iterable[tuple[str, str]]) -> JsonShape:
    """A shape with some fields named otherwise.

    Args:
        shape: what to start from.
        changes: ``(attribute of JsonShape, value)``; ``inclusive`` and ``bare`` take ``true`` or ``false``.

    Raises:
        UsageError: no such attribute, another value for one of these two, or a field that the reader of a tool looks
            for under one name alone.
    """
    names = [field.name for field in fields(JsonShape) if field.name not in _FIXED]
    values: dict[str, Any] = {}
    for name, value in changes:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise UsageError(f"a JSON record has no part {name!r}{hint}; choose one of {', '.join(names)}")
        if name in _SWITCHES and value not in ("true", "false"):
            raise UsageError(f"{name} = {value!r} is not allowed; give true or false")
        allowed = ("id", "ignored", *shape.movable)
        if shape.reader and name not in allowed:
            raise UsageError(
                f"records of the shape {shape.reader!r} have their {name} under fixed names, so {name} = {value!r} is "
                f"not allowed; give another shape, or one of {', '.join(allowed)}"
            )
        values[name] = value == "true" if name in _SWITCHES else value
    return replace(shape, **values)
