"""Shapes of the JSON records that `fascicle.formats.records` reads, one row each, and their detection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.document import Event
from fascicle.core.lazy import cached_property
from fascicle.core.wording import typo_hint
from fascicle.errors import FormatError, UsageError
from fascicle.formats.offset_units import BY_WORDS, UNIT_NAMES
from fascicle.formats.report import ReadReport
from fascicle.formats.tag_names import label_names, names_beside
from fascicle.formats.unread import (
    PLACES,
    are_mentions,
    field_options,
    fields_argument,
    fields_fit,
    find_unread_fields,
    longest_text,
    looks_native,
    value_at,
)

_Kind = type  # a shape has a part of this name


@dataclass(frozen=True, kw_only=True)
class JsonShape:
    """Field names of a kind of record; an empty name means that the records have no such field.

    Attributes:
        tokens: list of tokens, or list of sentences that are lists of tokens.
        text: the text, for records with character offsets (code points).
        id: id of the document; records without it are numbered.
        group: consecutive records with the same value here are the sentences of one document.
        entities: list of mentions, or (as in DyGIE) one list for each sentence. A mention is an object, or a list
            ``[start, end, type]`` or ``[start, end, type, text]``.
        tags: one tag for each token: of any scheme, or the number of a name.
        sentences: ranges of sentences, for records with a text.
        start: of a mention object: its first token or character. A dot leads to a field inside: ``span.begin``.
        end: of a mention object: one past its last token or character.
        type: of a mention object: its entity type.
        spans: of a mention object: list of ``[start, end]``, for a discontinuous mention.
        mention_text: of a mention object: its text; checked against the offsets in records with a text.
        score: of a mention object: its probability; other numbers are not read; only in records with a text.
        links: of a mention object: list of objects with the fields of `Link`; only in records with a text.
        groups: object of lists of mentions beside them, as in spaCy; only in records with a text.
        offsets: unit of the offsets, one of `UNIT_NAMES`; ``"words"`` if it is what fits the texts of the mentions,
            or else where they begin and end; only in records with a text.
        inclusive: ``end`` is the last token or character itself.
        bare: tags are types without a prefix, and O.
        annotator: whose annotation is gold in a Label Studio export, as number or address; ``all`` keeps each.
        to_name: of the regions in a Label Studio export that are on the text.
        markup: ``html`` to read tags and character references in texts without mentions; see `fascicle.formats.inline`.
        ignored: names of fields, with commas between them, that look like annotation and are not to be read.
        tag_names: of tags that are numbers.
        reader: name of the tool or schema whose records have a reader of their own.
        needs: fields by which its records are detected, with the types of their values.
        also: further fields that it reads.
        movable: parts, beside ``id``, for which the user may give another field name.
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
    groups: str = ""
    offsets: str = BY_WORDS
    inclusive: bool = False
    bare: bool = False
    annotator: str = ""
    to_name: str = ""
    markup: str = ""
    ignored: str = ""
    tag_names: tuple[str, ...] = ()
    reader: str = ""
    needs: tuple[tuple[str, _Kind], ...] = ()
    also: tuple[str, ...] = ()
    movable: tuple[str, ...] = ()

    @cached_property
    def fields(self) -> frozenset[str]:
        """Names of the fields that are read, or ignored on request."""
        of_record = (self.tokens, self.text, self.id, self.group, self.entities, self.tags, self.groups)
        needed = [name for name, _ in self.needs]
        named = {name.partition(".")[0] for name in (*of_record, *needed, *self.also)}
        return frozenset(named) | {name.strip() for name in self.ignored.split(",")}

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Names of the fields of a mention with its start, end, type, text and spans."""
        return self.start, self.end, self.type, self.mention_text, self.spans

    @cached_property
    def is_flat(self) -> bool:
        """Whether none of these names leads to a field inside."""
        return not any("." in name for name in self.places)

    @cached_property
    def of_mention(self) -> frozenset[str]:
        """Names of the fields of a mention that are read, or that say once more where it is."""
        return frozenset(name.partition(".")[0] for name in (*self.places, self.score, self.links)) | PLACES

    @cached_property
    def deciding(self) -> tuple[tuple[str, _Kind], ...]:
        """Fields by which records of this shape are detected, with the types of their values."""
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
            movable=("text", "annotator", "to_name"),
            id="id",
        ),
        "bigbio": JsonShape(reader="bigbio", needs=(("passages", list), ("entities", list)), id="document_id"),
        "gliner": JsonShape(
            tokens="tokenized_text", entities="ner", id="id", inclusive=True, also=("ner_labels", "ner_negatives")
        ),
        "dygie": JsonShape(tokens="sentences", entities="ner", id="doc_key", inclusive=True),
        "tokens-entities": JsonShape(tokens="tokens", entities="entities", id="id"),
        "tokens-mentions": JsonShape(
            tokens="tokens", entities="entity_mentions", type="entity_type", id="doc_id", group="doc_id"
        ),
        "tokens-tags": JsonShape(tokens="tokens", tags="tags", id="orig_id"),
        "tokens-ner-tags": JsonShape(tokens="tokens", tags="ner_tags", id="id"),
        "text-entities": JsonShape(text="text", entities="entities", links="links", sentences="sentences", id="id"),
        "text-entity-labels": JsonShape(text="text", entities="entities", type="label", id="id"),
        "prodigy": JsonShape(text="text", entities="spans", type="label", links="kb_id", id="id"),
        "spacy": JsonShape(text="text", entities="ents", groups="spans", type="label", links="kb_id", id="id"),
        "spacy-groups": JsonShape(
            text="text", entities="spans", type="label", links="kb_id", needs=(("text", str), ("spans", dict)), id="id"
        ),
        "doccano": JsonShape(text="text", entities="labels", id="id"),
        "doccano-relations": JsonShape(
            text="text", entities="entities", start="start_offset", end="end_offset", type="label", id="id"
        ),
        "text-labels": JsonShape(text="text", entities="label", id="id"),
        "pubannotation": JsonShape(
            reader="pubannotation",
            needs=(("text", str), ("denotations", list)),
            also=("attributes", "tracks"),
            movable=("offsets",),
            id="sourceid",
        ),
        "gate": JsonShape(
            reader="gate", needs=(("text", str), ("annotation_sets", dict)), also=("offset_type",), id="name"
        ),
        "europepmc": JsonShape(reader="europepmc", needs=(("extId", str), ("annotations", list)), id="extId"),
        "bern2": JsonShape(
            text="text",
            entities="annotations",
            start="span.begin",
            end="span.end",
            type="obj",
            mention_text="mention",
            score="prob",
            links="id",
            id="pmid",
        ),
        "medcat": JsonShape(
            text="text",
            entities="entities",
            type="type_ids.0",
            mention_text="source_value",
            score="acc",
            links="cui",
            needs=(("text", str), ("entities", dict)),
            id="id",
        ),
        "text": JsonShape(text="text", id="id"),
        "article": JsonShape(
            reader="article", needs=(("title", str), ("paragraphs", list)), also=("abstract",), id="id"
        ),
    }
)
_UNANNOTATED: Final = ("text", "article")
_SWITCHES: Final = ("inclusive", "bare")
_FIXED: Final = ("tag_names", "reader", "needs", "also", "movable")


def _detect_shape(record: Mapping[str, Any]) -> str:
    """Returns the name of the first shape whose fields a record has; the empty string if there is none.

    If no shape fits the types of the fields, their names decide, so that the reader can report the error.
    """
    likely = {name: shape for name, shape in SHAPES.items() if shape.deciding[0][0] in record}
    for matches in (_fits, _has_fields):
        found = next((name for name, shape in likely.items() if matches(record, shape)), "")
        if found:
            break
    return found


def _has_fields(record: Mapping[str, Any], shape: JsonShape) -> bool:
    return all(name in record for name, _ in shape.deciding)


def _fits(record: Mapping[str, Any], shape: JsonShape) -> bool:
    for name, kind in shape.deciding:
        if not isinstance(record.get(name), kind):
            return False
    if not shape.entities:
        return True
    found = record.get(shape.entities)
    return fields_fit(found, start=shape.start, end=shape.end, kind=shape.type, spans=shape.spans)


def adjust_shape(shape: JsonShape, changes: Iterable[tuple[str, str]]) -> JsonShape:
    """Returns a shape with some field names changed.

    Args:
        shape: what to start from.
        changes: ``(attribute of JsonShape, value)``; ``inclusive`` and ``bare`` need ``true`` or ``false``.

    Raises:
        UsageError: no such attribute, another value for one of these two, or a field that the reader of a tool looks
            for under one name alone.
    """
    names = [field.name for field in fields(JsonShape) if field.name not in _FIXED]
    values: dict[str, Any] = {}
    for name, value in changes:
        if name not in names:
            message = f"a JSON record has no part {name!r}{typo_hint(name, names)}; choose one of {', '.join(names)}"
            raise UsageError(message)
        if name in _SWITCHES and value not in ("true", "false"):
            raise UsageError(f"{name} = {value!r} is not allowed; give true or false")
        if name == "markup" and value != "html":
            raise UsageError(f"markup = {value!r} is not allowed; give html")
        if name == "offsets" and value not in UNIT_NAMES:
            raise UsageError(f"offsets = {value!r} is not allowed; give one of {', '.join(UNIT_NAMES)}")
        allowed = ("id", "ignored", "markup", *shape.movable)
        if shape.reader and name not in allowed:
            raise UsageError(
                f"records of the shape {shape.reader!r} have their {name} under fixed names, so {name} = {value!r} is "
                f"not allowed; give another shape, or one of {', '.join(allowed)}"
            )
        values[name] = value == "true" if name in _SWITCHES else value
    return replace(shape, **values)


_STEP: Final = "jsonl"
_AS_GIVEN: Final = "as given"
_PARTS: Final = ("start", "end", "type")


class Shapes:
    """Detector of the shape of one record after another."""

    def __init__(
        self, name: str, changes: Sequence[tuple[str, str]], *, report: ReadReport, path: str, labels: str = ""
    ) -> None:
        """Creates a detector before the first record.

        Args:
            name: of a shape that all records have, or ``"auto"``.
            changes: to the shape, as ``(attribute of JsonShape, value)``.
            report: receives the names of the shapes.
            path: of the file.
            labels: names of tags that are numbers, or a file with these names.
        """
        self._labels = labels
        self._name, self._changes, self._report, self._path = name, changes, report, path
        self._adjusted: dict[str, JsonShape] = {}
        self._bare = 0  # records without annotation that are not reported yet
        self._annotated = ""

    def of(self, record: dict[str, Any], place: str) -> tuple[JsonShape, tuple[Event, ...]]:
        """Returns the shape of a record, and the events about it.

        Raises:
            FormatError: no known shape, or annotation that the shape does not read.
        """
        is_told = self._name != "auto" or bool(self._changes)
        if not is_told:
            _refuse_native(record, place)
        name = self._name if self._name != "auto" else self._detected(record)
        if not name and not self._changes:
            raise FormatError(_unknown(record, place))
        shape = self._adjusted.get(name)
        if shape is None:
            shape = self._adjusted[name] = adjust_shape(SHAPES.get(name, JsonShape()), self._changes)
            self._remember(name or _AS_GIVEN)
        if shape.tags and not shape.tag_names and _has_numbers(record.get(shape.tags)):
            names = (
                label_names(self._labels, field=shape.tags)
                if self._labels
                else names_beside(self._path, field=shape.tags)
            )
            shape = self._adjusted[name] = replace(shape, tag_names=names)
        if unread := find_unread_fields(record, known=shape.fields):
            raise FormatError(_refusal(record, unread, shape, name), at=place)
        return shape, () if is_told else self._noted(shape, name)

    def _detected(self, record: dict[str, Any]) -> str:
        name = _detect_shape(record)
        # A user who names the field of the text does not want the parts of an article.
        return "" if name in _UNANNOTATED and any(part == "text" for part, _ in self._changes) else name

    def _remember(self, name: str) -> None:
        before = self._report.shapes.get(self._path)
        self._report.shapes[self._path] = f"{before}, {name}" if before else name

    def _noted(self, shape: JsonShape, name: str) -> tuple[Event, ...]:
        """Returns events for texts without annotation, if other records of the file are annotated."""
        if name not in _UNANNOTATED:
            self._annotated = shape.entities or shape.tags
            count, self._bare = self._bare, 0
            return (_bare(f"{count:,} of the records before this one", self._annotated),) if count else ()
        if self._annotated:
            return (_bare("the record", self._annotated),)
        self._bare += 1
        return ()


def _has_numbers(tags: object) -> bool:
    return isinstance(tags, list) and any(type(tag) is int for tag in tags)


def _bare(which: str, field: str) -> Event:
    message = f"no field {field!r} as others of the file have it: {which}, read as text without mentions"
    return Event(step=_STEP, kind="note", code="unannotated-record", message=message)


def _refuse_native(record: dict[str, Any], place: str) -> None:
    if "fascicle" in record:
        # Detection sees only the beginning of a file or of standard input, so this may come later.
        raise FormatError("a document of Fascicle, not a record of another tool; read it with format=jsonl", at=place)
    if looks_native(record):
        raise FormatError(
            "this looks like a document of Fascicle without the version of its schema; add "
            '"fascicle": 1 to every record',
            at=place,
        )


def _unknown(record: dict[str, Any], place: str) -> str:
    shape = JsonShape()
    names = ", ".join(sorted(record)) or "(none)"
    message = f"{place}: no known shape has the fields {names}; known are {', '.join(SHAPES)}"
    text = longest_text(record)
    if not text:
        return f"{message}; none of the fields has a text, so mentions would have no place; give a file with the texts"
    named = adjust_shape(shape, [("text", text)])
    unread = find_unread_fields(record, known=named.fields)
    changes = _workable(record, named, unread)
    if changes is None:
        changes = (("ignored", ",".join(unread)),)
    return f"{message}; name the fields yourself with {fields_argument(('text', text), *changes)}"


def _refusal(record: dict[str, Any], unread: list[str], shape: JsonShape, name: str) -> str:
    nearest = f"the nearest known shape, {name}," if name in SHAPES else "the shape that was given"
    changes = _workable(record, shape, unread)
    read = f"name it with {fields_argument(*changes)}, or " if changes else ""
    ignored = ",".join(filter(None, (shape.ignored, *unread)))
    return (
        f"the field {unread[0]!r} looks like annotation, and {nearest} does not read it; {read}leave it out with "
        f"{fields_argument(('ignored', ignored))}"
    )


def _workable(record: dict[str, Any], shape: JsonShape, unread: list[str]) -> tuple[tuple[str, str], ...] | None:
    """Returns the changes to a shape with which a record is read; ``None`` if there are none."""
    if not unread:
        return ()
    if shape.reader or len(unread) > 1:
        return None
    spelt = {part: getattr(shape, part) for part in _PARTS}
    changes = tuple(field_options(unread[0], record[unread[0]], spelt=spelt))
    changed = adjust_shape(shape, changes)
    values = [value_at(record, name) for name in (changed.tokens, changed.text) if name]
    is_read = any(values) and not find_unread_fields(record, known=changed.fields)
    if changed.tags:
        tags = record[changed.tags]
        return changes if is_read and changed.tokens and len(tags) == len(record[changed.tokens]) else None
    entities = value_at(record, changed.entities)
    return changes if is_read and are_mentions(entities, changed.start, changed.end, changed.type) else None
