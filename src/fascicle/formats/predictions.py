"""Prediction files: mentions per document with their source, without the text.

JSON Lines hold everything: id, SHA-256 of the text, mentions, events. TSV and CSV are for other
systems and hold only mentions, under the header ``document  type  start  end  score``; a
discontinuous mention lists its starts and its ends with ``;``. The score may be left out, in the
header too; the columns may be in any order, beside others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from fascicle.core.absent import decode_present
from fascicle.core.document import Document, Event, Mention, in_order, unique
from fascicle.core.files.atomic import open_output
from fascicle.core.files.source import (
    Line,
    Source,
    is_integer,
    line_text,
    read_lines_or_errors,
    suffix,
)
from fascicle.core.mention import Fragments
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, Place, explain_errors
from fascicle.formats.collect import group_by_key, raise_first_error
from fascicle.formats.handlers import FormatWriter
from fascicle.formats.losses import OF_LINKS, OF_TEXT, held_fields
from fascicle.formats.offset_tables import HEADER, spellings
from fascicle.formats.report import FailedDocuments, WriteReport
from fascicle.formats.tables import (
    ATTRIBUTES,
    CSV,
    LINKS,
    SOURCE,
    TEXT,
    TSV,
    cell_attributes,
    cell_links,
    our_names,
    split_cells,
    table_separator,
)

_SCHEMA: Final = 1
_KEY: Final = '"fascicle_predictions"'
_WHOLE: Final = "ids mentions discontinuous nested second-source sources scores"
_HOLDS: Final = held_fields("a prediction file", _WHOLE, also=OF_LINKS, by_reference=OF_TEXT)


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """Mentions predicted for one document.

    Attributes:
        id: of the document.
        sha256: of its text in UTF-8, in hexadecimal; ``None`` if the file has no hashes (TSV).
        mentions: in canonical order, without attributes, which may hold text.
        events: problems in the processing of the document.
    """

    id: str
    sha256: str | None = None
    mentions: tuple[Mention, ...] = ()
    events: tuple[Event, ...] = ()


class TablePrediction(Prediction, frozen=True, kw_only=True):
    """Prediction of a table.

    Attributes:
        told: the text of each mention for which the table has one, in its spellings; see
            `fascicle.formats.offset_tables`.
    """

    told: tuple[tuple[Mention, tuple[str, ...]], ...] = ()


class _Line(Prediction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prediction with the version of its schema, as it is stored in the file."""

    fascicle_predictions: int


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(_Line)


_Row = tuple[int, list[str]]  # number of the line, and its columns


def find_columns(line: str) -> tuple[int, ...]:
    """Returns the positions of the columns of `HEADER` in a TSV or CSV of predictions; empty if it
    is not one.

    The score may be left out; the order is free, and there may be other columns. A table of a
    shared task (see ``formats.tables``) is one too.
    """
    try:
        names = our_names(split_cells(line, table_separator(line)))
    except ValueError:
        return ()
    columns = HEADER if HEADER[-1] in names else HEADER[:-1]
    return (
        tuple(names.index(name) for name in columns)
        if all(names.count(name) == 1 for name in columns)
        else ()
    )


def text_hash(text: str) -> str:
    """Returns the SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def make_prediction(document: Document, *, source: str | None = None) -> Prediction:
    """Makes a prediction from the mentions of a document, without its text.

    Args:
        document: with mentions.
        source: only the mentions of this source; all by default.
    """
    mentions = document.mentions if source is None else document.layer(source)
    return Prediction(
        id=document.id,
        sha256=text_hash(document.text),
        mentions=tuple(msgspec.structs.replace(mention, attributes=()) for mention in mentions),
        events=document.events,
    )


def json_line(prediction: Prediction) -> bytes:
    """Encodes one prediction as one line; attributes of mentions are left out."""
    bare = tuple(
        msgspec.structs.replace(m, attributes=()) if m.attributes else m
        for m in prediction.mentions
    )
    line = _Line(
        id=prediction.id,
        sha256=prediction.sha256,
        mentions=bare,
        events=prediction.events,
        fascicle_predictions=_SCHEMA,
    )
    return _ENCODER.encode(line) + b"\n"


def write_tsv(predictions: Iterable[Prediction], stream: BinaryIO) -> None:
    """Writes one row for each mention; documents without mentions, hashes, sources and events are
    not written.

    Raises:
        InputError: an id or a type that a row cannot hold, or the same mention from two sources.
    """
    stream.write(TSV.header())
    for prediction in predictions:
        if len({(m.type, m.spans) for m in prediction.mentions}) < len(prediction.mentions):
            raise InputError(
                f"document {prediction.id!r} has the same mention from two sources, which TSV "
                "cannot tell apart; choose one source, or write JSON Lines"
            )
        stream.write(TSV.rows(prediction.id, prediction.mentions))


def write(path: str | Path, predictions: Iterable[Prediction], *, overwrite: bool = False) -> None:
    """Writes a prediction file: TSV or CSV if its name ends so (or with ``.gz`` behind), else JSON
    Lines.

    Args:
        path: of the file.
        predictions: may be a stream.
        overwrite: replace an existing file.

    Raises:
        OutputError: the file exists, or the place cannot be written.
        InputError: what a table cannot hold.
    """
    table = {".tsv": TSV, ".csv": CSV}.get(suffix(str(path)))
    with open_output(path, overwrite=overwrite) as stream:
        if table is not None:
            stream.write(table.header())
        for prediction in predictions:
            stream.write(
                json_line(prediction)
                if table is None
                else table.rows(prediction.id, prediction.mentions)
            )


def read(
    source: Source, *, mention_source: str = "", aside: FailedDocuments | None = None
) -> Iterator[Prediction]:
    """Streams the predictions of a file; the first line decides between JSON Lines and a table.

    Args:
        source: the file.
        mention_source: source of the mentions; by default that in the file, or ``"predictions"``
            for a table.
        aside: counts the documents whose predictions cannot be read, if it keeps going; by default
            the first error is raised.

    Raises:
        FormatError: a line that breaks the rules, a document whose lines are not together, or one
            that occurs twice.
    """
    aside = FailedDocuments() if aside is None else aside
    identifiers: set[str] = set()
    with aside.one():
        for make in _makers(source, mention_source):
            with aside.one():
                yield _new(make(), identifiers, source)


def _new(prediction: Prediction, identifiers: set[str], source: Source) -> Prediction:
    if prediction.id in identifiers:
        raise FormatError(
            f"document {prediction.id!r} occurs twice; put the rows of a document together, as "
            "sorting does, and give each document an id of its own",
            at=source.path,
        )
    identifiers.add(prediction.id)
    return prediction


def _makers(source: Source, mention_source: str) -> Iterator[Callable[[], Prediction]]:
    """Yields for each document a function that makes its prediction, or raises the error found
    in it.
    """
    numbered = read_lines_or_errors(source)
    begin, first = next(numbered, (0, ""))
    if not begin:
        message = f"{source.path} is empty; a prediction file has at least the header of a TSV"
        raise InputError(message, file=source.path, code="empty")
    if isinstance(first, str) and find_columns(first):
        for group in group_by_key(_rows(numbered, first, source), lambda row: row[1][0]):
            yield partial(_from_rows, group, source, mention_source or SOURCE)
        return
    if isinstance(first, str) and first.lstrip()[:1] != "{" and _KEY not in first:
        raise FormatError(
            f"not a prediction file; allowed are JSON Lines of predictions, or TSV or CSV "
            f"with the header {' '.join(HEADER)} (in any order; the score may be left out)",
            at=Place(source.path, begin),
        )
    for number, line in chain([(begin, first)], numbered):
        if isinstance(line, FormatError) or line.strip():
            yield partial(_from_json, line, Place(source.path, number), mention_source)


def _from_json(line: Line, place: str, mention_source: str) -> Prediction:
    text = line_text(line)
    with explain_errors("not a prediction", at=place):
        stored = decode_present(_DECODER, text)
        if stored.fascicle_predictions != _SCHEMA:
            message = (
                f"predictions of schema {stored.fascicle_predictions}; this release reads "
                f"schema {_SCHEMA}"
            )
            raise FormatError(message, at=place, code="version")
        mentions: Iterable[Mention] = stored.mentions
        if mention_source:
            mentions, _ = unique(
                msgspec.structs.replace(m, source=mention_source) for m in mentions
            )
        return Prediction(
            id=stored.id, sha256=stored.sha256, mentions=in_order(mentions), events=stored.events
        )


def _rows(
    numbered: Iterator[tuple[int, Line]], header: str, source: Source
) -> Iterator[_Row | InputError]:
    """Yields the columns of `HEADER` in its order, and those of links and texts, with the line
    number.
    """
    separator = table_separator(header)
    names = split_cells(header, separator)
    is_own = separator == "\t" and tuple(names) in (HEADER, HEADER[:-1])
    order: Sequence[int | None] = () if is_own else find_columns(header)
    names = our_names(names)
    if order and any(names.count(name) == 1 for name in (LINKS[0], TEXT)):
        order = _with_more(order, names)
    for number, line in numbered:
        if isinstance(line, FormatError):
            yield line
        elif line:
            yield _row(line, number, separator, names, order, source)


def _row(
    line: str,
    number: int,
    separator: str,
    names: Sequence[str],
    order: Sequence[int | None],
    source: Source,
) -> _Row | FormatError:
    place = Place(source.path, number)
    if not order:
        columns = line.split("\t")
        if len(columns) in (4, len(HEADER)):
            return number, columns
        message = (
            f"columns: {len(columns)}; allowed are {', '.join(HEADER)}, the score may be empty"
        )
        return FormatError(message, at=place)
    try:
        columns = split_cells(line, separator)
    except ValueError as error:
        return FormatError(f"{error}; write every row on one line", at=place)
    if len(columns) != len(names):
        return FormatError(f"columns: {len(columns)}; the header has {len(names)}", at=place)
    return number, [columns[column] if column is not None else "" for column in order]


def _with_more(order: Sequence[int | None], names: Sequence[str]) -> tuple[int | None, ...]:
    """Returns the columns followed by those of links, attributes and the text; ``None`` for a
    missing column.
    """
    score = order[4] if len(order) == len(HEADER) else None
    columns = (*LINKS, ATTRIBUTES, TEXT)
    more = (names.index(name) if names.count(name) == 1 else None for name in columns)
    return (*order[:4], score, *more)


def _from_rows(
    group: Sequence[_Row | InputError], source: Source, mention_source: str
) -> Prediction:
    """Makes a prediction from the rows of one document."""
    mentions, texts = [], []
    for number, columns in raise_first_error(group):
        try:
            mentions.append(_mention(columns, mention_source))
        except ValueError as error:
            raise FormatError(str(error), at=Place(source.path, number)) from None
        if len(columns) > len(HEADER) and columns[-1]:
            texts.append((mentions[-1], spellings(columns[-1])))
    try:
        in_document = in_order(mentions)
    except ValueError as error:
        raise FormatError(
            f"in document {columns[0]!r}, {error}", at=Place(source.path, number)
        ) from None
    if not texts:
        return Prediction(id=columns[0], mentions=in_document)
    return TablePrediction(id=columns[0], mentions=in_document, told=tuple(texts))


def _mention(columns: list[str], mention_source: str) -> Mention:
    if not columns[0]:
        raise ValueError("the document id is empty; give each document one")
    try:
        spans: Fragments = (
            ((_integer(columns[2]), _integer(columns[3])),)
            if ";" not in columns[2]
            else _spans(columns)
        )
        score = _score(columns[4]) if len(columns) > 4 and columns[4] else None
        if len(columns) <= len(HEADER):
            return Mention(spans, columns[1], score=score, source=mention_source)
        return Mention(
            spans,
            columns[1],
            score=score,
            source=mention_source,
            links=cell_links(*columns[5:7]),
            attributes=cell_attributes(columns[7]),
        )
    except ValueError as error:
        score_text = f" and score {columns[4]!r}" if len(columns) > 4 else ""
        raise ValueError(
            f"start {columns[2]!r}, end {columns[3]!r}{score_text} make no mention ({error})"
        ) from None


def _spans(columns: list[str]) -> Fragments:
    starts, ends = columns[2].split(";"), columns[3].split(";")
    if len(starts) != len(ends):
        raise ValueError(f"there are {plural(len(starts), 'start')} and {plural(len(ends), 'end')}")
    return tuple(sorted(zip(map(_integer, starts), map(_integer, ends), strict=True)))


def _integer(text: str) -> int:
    if not is_integer(text):
        raise ValueError(f"{text!r} is not an integer")
    return int(text)


def _score(text: str) -> float:
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def _encoded(content: Document | Prediction, part: WriteReport) -> bytes:
    return json_line(make_prediction(content) if isinstance(content, Document) else content)


WRITER: Final = FormatWriter(holds=_HOLDS, encoder=lambda _: _encoded, by_id=True)
