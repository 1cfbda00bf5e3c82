"""JSON Lines (or one JSON array) of tokens or text with entities, in the record shapes of common
corpora.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.files.encodings import decode_head
from fascicle.core.files.pipes import is_pipe
from fascicle.core.files.source import STDIN, Source, line_text, open_bytes, read_lines_or_errors
from fascicle.core.wording import typo_hint
from fascicle.errors import BROKEN, FormatError, InputError, Place, UsageError, explain_errors
from fascicle.formats.collect import group_by_key, raise_first_error
from fascicle.formats.handlers import FormatReader, FormatWriter
from fascicle.formats.json_documents import from_records
from fascicle.formats.json_record import Record
from fascicle.formats.json_relations import RELATIONS, write_relations
from fascicle.formats.label_studio_rows import merge_records
from fascicle.formats.losses import OF_LINKS, held_fields
from fascicle.formats.report import ReadReport, WriteReport
from fascicle.formats.search_answers import papers_in
from fascicle.formats.shape_detection import Shapes
from fascicle.formats.shapes import SHAPES, JsonShape, adjust_shape
from fascicle.formats.tag_names import check_labels
from fascicle.formats.unread import find_unread_fields

_HOLDS: Final = held_fields(
    "JSON records",
    "text-between-words sentences mentions relations discontinuous nested scores",
    partly="ids",
    also=OF_LINKS,
)
_CONTAINERS: Final = ("projects", "documents", "examples")  # fields of objects around the records
_OUTSIDE, _UNKNOWN = "O", "-"  # tags; spaCy 2 writes the second where nobody annotated
_ANSWER: Final = "answer"
_ACCEPTED: Final = "accept"
_SUGGESTIONS: Final = "suggestions"  # of a model to the annotators, in Argilla
_RESPONSES: Final = ".responses"  # of the flat records there, behind a question
_DECODER: Final = msgspec.json.Decoder()
_ENCODER: Final = msgspec.json.Encoder()


@dataclass(frozen=True, kw_only=True)
class JsonlOptions:
    """Options for reading JSON records.

    Attributes:
        shape: a name of `SHAPES`, or ``"auto"``: told by the fields of each record.
        fields: changes to the shape, as ``(attribute of JsonShape, value)``.
        labels: names of tags that are numbers, in their order and with commas between them, or a
            ``.json`` file that tells them; by default the file ``dataset_info.json`` beside the
            records.
        where: ``(field, value)``; only records that have all these values are read.
    """

    shape: str = "auto"
    fields: tuple[tuple[str, str], ...] = ()
    where: tuple[tuple[str, str], ...] = ()
    labels: str = ""

    def __post_init__(self) -> None:
        """Checks the values of the options."""
        if self.shape != "auto" and self.shape not in SHAPES:
            hint = typo_hint(self.shape, SHAPES)
            message = (
                f"the shape {self.shape!r} is not known{hint}; choose auto or one of "
                f"{', '.join(SHAPES)}"
            )
            raise UsageError(message, code="unknown-name")
        adjust_shape(JsonShape(), self.fields)
        check_labels(self.labels)


def read(source: Source, options: JsonlOptions, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a JSON file.

    Text made of tokens is the tokens joined by one space. Ids come from the id field of the shape,
    or are numbered ``<name>:1`` and so on. Other fields that are a short string or a number go to
    ``meta``. A record with a field that looks like annotation and that the shape does not read is
    an error. A text without annotation among annotated ones is a document without mentions, with an
    event.

    Args:
        source: the file.
        options: shape, and which records.
        report: receives the name of the shape, and the census of the tags if the records have tags.
            A bad record sets its document aside.

    Raises:
        FormatError: not JSON, an unknown shape, a record that lacks a field of the shape, or
            annotation that would not be read.
    """
    return read_values(read_records(source), source, options, report)


def read_values(
    values: Iterable[tuple[str, Any]],
    source: Source,
    options: JsonlOptions,
    report: ReadReport,
    *,
    names: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Iterator[Document]:
    """Streams the documents of records, see `read`.

    Args:
        values: each with its place.
        source: see `read`.
        options: see `read`.
        report: see `read`.
        names: of tags that are numbers, by the fields of the records.

    Raises:
        FormatError: see `read`.
    """
    records = _records(values, source, options, report, names)
    for number, group in enumerate(group_by_key(records, lambda record: record.group), 1):
        with report.aside.one():
            yield from_records(raise_first_error(group), source, number, report)


def _encode(document: Document, report: WriteReport) -> bytes:
    """Encodes a document as one line: ``{id, text, sentences, entities: [{start, end, type,
    text}]}``.

    Offsets are code points, ends exclusive. A discontinuous mention has ``spans`` too, one with a
    score ``score``, and one with links ``links``. ``relations`` name mentions by their numbers.
    """
    if not document.id:
        report.lose("ids", document)  # a reader numbers documents without an id
    record: dict[str, Any] = {"id": document.id, "text": document.text}
    if document.sentences is not None:
        record["sentences"] = document.sentences
    record["entities"] = [_entity(mention, document.text) for mention in document.mentions]
    if document.relations:
        record[RELATIONS] = write_relations(document, report)
    return _ENCODER.encode(record) + b"\n"


def _entity(mention: Mention, text: str) -> dict[str, Any]:
    entity: dict[str, Any] = {"start": mention.start, "end": mention.end, "type": mention.type}
    entity["text"] = mention.text_in(text)
    if len(mention.spans) > 1:
        entity["spans"] = mention.spans
    if mention.score is not None:
        entity["score"] = mention.score
    if mention.links:
        entity["links"] = mention.links
    return entity


def _records(
    values: Iterable[tuple[str, Any]],
    source: Source,
    options: JsonlOptions,
    report: ReadReport,
    names: Mapping[str, Sequence[str]],
) -> Iterator[Record | InputError]:
    shapes = Shapes(
        options.shape,
        options.fields,
        report=report,
        path=source.path,
        labels=options.labels,
        names=names,
    )
    has_answers = any(field == _ANSWER for field, _ in options.where)
    for place, value in merge_records(_select(values, options)):
        if isinstance(value, FormatError):
            yield value
        elif not isinstance(value, dict):
            kind = type(value).__name__
            yield FormatError(f"a JSON object is expected for each record, found {kind}", at=place)
        else:
            yield _record(value, place, shapes, has_answers=has_answers)


def _select(values: Iterable[tuple[str, Any]], options: JsonlOptions) -> Iterator[tuple[str, Any]]:
    """Yields the records that match the conditions of the options, and all values that are not
    objects.
    """
    for place, value in values:
        if not isinstance(value, dict) or all(
            field in value and str(value[field]) == condition for field, condition in options.where
        ):
            yield place, value


def _record(
    value: dict[str, Any], place: str, shapes: Shapes, *, has_answers: bool
) -> Record | InputError:
    """Returns a record with its shape, or why it cannot be read; ``has_answers`` is true if the
    user names the answers of annotators to read.
    """
    try:
        shape, events = shapes.of(value, place)
        # Prodigy keeps what the annotator rejected or skipped beside what was accepted.
        if value.get(_ANSWER, _ACCEPTED) != _ACCEPTED and not has_answers and shape.entities:
            raise FormatError(
                f"the annotation of this record was not accepted ({_ANSWER} = {value[_ANSWER]!r}); "
                f"read only the records where {_ANSWER}={_ACCEPTED}",
                at=place,
            )
    except FormatError as error:
        return error
    return Record(value, shape, place, events=events)


def read_records(source: Source) -> Iterator[tuple[str, Any]]:
    """Yields each value of a file of JSON Lines, or of one JSON array, with its place; an
    unreadable one as error.
    """
    if source.path != STDIN and not is_pipe(source.path) and _is_one_value(source):
        value = _parse(source.text(), source.path)
        is_list = isinstance(value, list) and not isinstance(next(iter(value), None), str)
        records = chain.from_iterable(map(records_in, value if is_list else [value]))
        for number, record in enumerate(records, 1):
            yield Place(source.path, shown=f"{source.path}, record {number}"), record
        return
    for number, line in read_lines_or_errors(source):
        place = Place(source.path, number)
        if isinstance(line, FormatError):
            yield place, line
        elif line.strip():
            try:
                for record in records_in(_parse(line_text(line), place)):
                    yield place, record
            except FormatError as error:
                yield place, error


def records_in(value: Any) -> Iterator[Any]:
    """Yields the record of a value; of a pair ``["text", {"entities": ...}]``, and of the list
    that annotators keep.
    """
    match value:
        case [str(text), dict(annotation)] if "entities" in annotation:
            yield {**annotation, "text": text}
        case {"classes": _, "annotations": list(pairs)}:
            for pair in pairs:
                if pair is not None:
                    yield from records_in(pair)
        case {"paragraphs": [{"sentences": [{"tokens": [{"orth": _}, *_]}, *_]}, *_] as paragraphs}:
            yield from map(_of_spacy_2, paragraphs)
        case {"resultList": {"result": list(results)}}:  # a search of Europe PMC
            yield from results
        case {"fields": dict(), "responses": dict()}:
            yield _of_argilla(value)
        case dict() if question := next(filter(None, map(_question, value.items())), ""):
            yield _of_flat_argilla(value, question)
        case dict() if parts := _parts_of(value) or papers_in(value):
            for part in parts:
                yield from records_in(part)
        case _:
            yield value


def _of_argilla(record: dict[str, Any]) -> dict[str, Any]:
    """Returns a record of Argilla 2 as its one text with the spans of its one response; another
    record as it is, which no shape reads.

    Beside a response, of suggestions only the names stay, which are counted as left out.
    """
    more = {name: record[name] for name in record if name not in ("fields", "responses")}
    match [*record["fields"].values()], [*record["responses"].values()]:
        case [str(text)], []:
            return {**more, "text": text}
        case [str(text)], [[{"value": list(spans), **answer}]] if answer.get(
            "status", "submitted"
        ) == "submitted" and all(isinstance(span, dict) for span in spans):
            names = {_SUGGESTIONS: list(more.get(_SUGGESTIONS) or ())}
            return {**more, **names, "text": text, "entities": spans}
    return record


def _question(field: tuple[str, Any]) -> str:
    """Returns the question of which a field of a flat record of Argilla has spans; else empty."""
    match field:
        case name, [[dict(), *_], *_] if name.endswith(_RESPONSES):
            return name.removesuffix(_RESPONSES)
    return ""


def _of_flat_argilla(record: dict[str, Any], question: str) -> dict[str, Any]:
    """Returns a record of Argilla 2 in columns as `_of_argilla` does, for one response."""
    name = f"{question}{_RESPONSES}"
    more = {key: value for key, value in record.items() if not key.startswith(f"{question}.")}
    match record[name], record.get(f"{name}.status"):
        case [list(spans)], (None | [None] | ["submitted"]):
            names = [question] if record.get(f"{question}.suggestion") else []
            return {**more, _SUGGESTIONS: names, "entities": spans}
    return record


def _of_spacy_2(paragraph: Any) -> dict[str, Any]:
    """Returns a paragraph of the training data of spaCy 2 as a record of tokens and tags."""
    tokens: list[list[Any]] = []
    tags: list[Any] = []
    try:
        for sentence in paragraph["sentences"]:
            tokens.append([token["orth"] for token in sentence["tokens"]])
            tags += [token.get("ner") or _OUTSIDE for token in sentence["tokens"]]
    except (AttributeError, KeyError, TypeError):
        return {"paragraphs": paragraph}  # which no shape reads
    return {"tokens": tokens, "tags": [_OUTSIDE if tag == _UNKNOWN else tag for tag in tags]}


def _parts_of(value: dict[str, Any]) -> list[Any]:
    """Returns the records inside an object that holds nothing else with text or annotation; else
    an empty list.
    """
    for name in _CONTAINERS:
        parts = value.get(name)
        if isinstance(parts, list) and parts and all(isinstance(part, dict) for part in parts):
            is_record = any(
                isinstance(value.get(text), str | list) for text in ("text", "tokens", "title")
            )
            return [] if is_record or find_unread_fields(value, known=(name,)) else parts
    return []


def _parse(text: str, place: str) -> Any:
    with explain_errors("not JSON", at=place, advice="; JSON Lines has one object per line"):
        return _DECODER.decode(text)


def _is_one_value(source: Source) -> bool:
    """True if a file is one array, or one object over several lines, and not JSON Lines."""
    with open_bytes(source.path) as stream:
        head = decode_head(stream.read(256), codec=source.codec).lstrip()
    if head[:1] != "[":
        first, _, more = head.partition("\n")
        return first.rstrip() == "{" and more.lstrip()[:1] == '"'
    try:
        line, *following = islice((line for _, line in source.lines() if line.strip()), 2)
        _DECODER.decode(line)
    except (FormatError, *BROKEN):
        return True
    return not following


READER: Final = FormatReader(read=read, options=JsonlOptions)
WRITER: Final = FormatWriter(holds=_HOLDS, encoder=lambda _: _encode)
