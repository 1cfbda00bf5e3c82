"""Prediction files: who said what about which document, and never its text.

JSON Lines hold everything: id, SHA-256 of the text, mentions, events. TSV is for other systems and holds only
mentions, under the header ``document  type  start  end  score``; a discontinuous mention lists its starts and its ends
with ``;``. The score may be left out, in the header too; the columns may stand in any order, beside others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from fascicle.core.document import Document, Event, Mention, canonical, unique
from fascicle.core.spans import Fragments
from fascicle.errors import FormatError, InputError
from fascicle.formats.atomic import output
from fascicle.formats.source import Source, is_integer, lines

HEADER: Final = ("document", "type", "start", "end", "score")
SCHEMA: Final = 1
_BREAKS: Final = "\t\n\r\0"


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """What was said about one document.

    Attributes:
        id: of the document.
        sha256: of its text in UTF-8, in hexadecimal; ``None`` if the file does not say (TSV).
        mentions: in canonical order, without attributes, which may hold text.
        events: what was not done.
    """

    id: str
    sha256: str | None = None
    mentions: tuple[Mention, ...] = ()
    events: tuple[Event, ...] = ()


class _Line(Prediction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prediction with the version of its schema, as it stands in a file."""

    fascicle_predictions: int


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(_Line)


def columns_of(line: str) -> tuple[int, ...]:
    """Where the columns of `HEADER` stand in a TSV of predictions, told by its first line; empty if it is none.

    The score may be left out; the order is free, and there may be other columns.
    """
    names = line.split("\t")
    wanted = HEADER if HEADER[-1] in names else HEADER[:-1]
    return tuple(names.index(name) for name in wanted) if all(names.count(name) == 1 for name in wanted) else ()


def text_hash(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def prediction_of(document: Document, *, source: str | None = None) -> Prediction:
    """What a document says, without its text.

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


def write(path: str | Path, predictions: Iterable[Prediction], *, overwrite: bool = False) -> None:
    """Writes a prediction file: TSV if its name ends with ``.tsv`` (or ``.tsv.gz``), else JSON Lines.

    Args:
        path: where; ``"-"`` is standard output.
        predictions: may be a stream.
        overwrite: replace an existing file.

    Raises:
        OutputError: the file exists, or the place cannot be written.
        InputError: what TSV cannot hold, see `write_tsv`.
    """
    is_tsv = str(path).removesuffix(".gz").endswith(".tsv")
    with output(path, overwrite=overwrite) as stream:
        (write_tsv if is_tsv else write_jsonl)(predictions, stream)


def write_jsonl(predictions: Iterable[Prediction], stream: BinaryIO) -> None:
    """Writes predictions, one per line; attributes of mentions are left out."""
    for prediction in predictions:
        stream.write(json_line(prediction))


def json_line(prediction: Prediction) -> bytes:
    """One prediction as one line; attributes of mentions are left out."""
    bare = tuple(msgspec.structs.replace(m, attributes=()) if m.attributes else m for m in prediction.mentions)
    line = _Line(
        fascicle_predictions=SCHEMA,
        id=prediction.id,
        sha256=prediction.sha256,
        mentions=bare,
        events=prediction.events,
    )
    return _ENCODER.encode(line) + b"\n"


def write_tsv(predictions: Iterable[Prediction], stream: BinaryIO) -> None:
    """Writes one line for each mention; documents without mentions, hashes, sources and events are not written.

    Raises:
        InputError: an id or a type with a TAB or a line break, or the same mention from two sources.
    """
    stream.write(tsv_header())
    for prediction in predictions:
        stream.write(tsv_lines(prediction))


def tsv_header() -> bytes:
    """The first line of a TSV."""
    return "\t".join(HEADER).encode() + b"\n"


def tsv_lines(prediction: Prediction) -> bytes:
    """The lines of one prediction, see `write_tsv`."""
    if len({(m.type, m.spans) for m in prediction.mentions}) < len(prediction.mentions):
        raise InputError(
            f"document {prediction.id!r} has the same mention from two sources, which TSV cannot tell apart; "
            "choose one source, or write JSON Lines"
        )
    rows = []
    for mention in prediction.mentions:
        columns = (
            _unbroken(prediction.id, "document id"),
            _unbroken(mention.type, "type"),
            ";".join(str(start) for start, _ in mention.spans),
            ";".join(str(end) for _, end in mention.spans),
            "" if mention.score is None else repr(float(mention.score)),
        )
        rows.append("\t".join(columns) + "\n")
    return "".join(rows).encode()


def read(source: Source, *, mention_source: str = "") -> Iterator[Prediction]:
    """Streams the predictions of a file; JSON Lines or TSV is told by the first line.

    Args:
        source: the file.
        mention_source: name of who said it; by default what the file says, or ``"predictions"`` for TSV.

    Raises:
        FormatError: a line that breaks the rules, a document whose lines are not together, or one that is there twice.
    """
    seen: set[str] = set()
    for prediction in _any(source, mention_source):
        if prediction.id in seen:
            raise FormatError(
                f"{source.path}: document {prediction.id!r} is there twice; put the rows of a document together, as "
                "sorting does, and give each document an id of its own"
            )
        seen.add(prediction.id)
        yield prediction


def _any(source: Source, mention_source: str) -> Iterator[Prediction]:
    numbered = lines(source)
    first = next(numbered, None)
    if first is None:
        raise InputError(f"{source.path} is empty; a prediction file has at least the header of a TSV")
    number, line = first
    if line.lstrip()[:1] != "{":
        if not columns_of(line):
            raise FormatError(
                f"{source.path}:{number}: not a prediction file; allowed are JSON Lines of predictions, or TSV with "
                f"the header {' '.join(HEADER)} (TAB-separated, in any order; the score may be left out)"
            )
        yield from _tsv(_rows(numbered, line, source), source, mention_source or "predictions")
        return
    yield _from_json(line, f"{source.path}:{number}", mention_source)
    for number, line in numbered:
        if line.strip():
            yield _from_json(line, f"{source.path}:{number}", mention_source)


def _from_json(line: str, place: str, mention_source: str) -> Prediction:
    try:
        found = _DECODER.decode(line)
        if found.fascicle_predictions != SCHEMA:
            raise FormatError(
                f"{place}: predictions of schema {found.fascicle_predictions}; this release reads schema {SCHEMA}"
            )
        mentions: Iterable[Mention] = found.mentions
        if mention_source:
            mentions, _ = unique(msgspec.structs.replace(m, source=mention_source) for m in mentions)
        return Prediction(id=found.id, sha256=found.sha256, mentions=canonical(mentions), events=found.events)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FormatError(f"{place}: not a prediction ({error})") from None


def _rows(numbered: Iterator[tuple[int, str]], header: str, source: Source) -> Iterator[tuple[int, list[str]]]:
    """The columns of `HEADER` in its order, with the number of their line."""
    rows = ((number, line.split("\t")) for number, line in numbered if line)
    names = header.split("\t")
    if tuple(names) in (HEADER, HEADER[:-1]):
        yield from rows
        return
    order = columns_of(header)
    for number, columns in rows:
        if len(columns) != len(names):
            raise FormatError(f"{source.path}:{number}: columns: {len(columns)}; the header has {len(names)}")
        yield number, [columns[at] for at in order]


def _tsv(rows: Iterator[tuple[int, list[str]]], source: Source, mention_source: str) -> Iterator[Prediction]:
    identifier, mentions, number = "", list[Mention](), 0
    for number, columns in rows:
        if mentions and columns[0] != identifier:
            yield _from_rows(identifier, mentions, f"{source.path}:{number}")
            mentions = []
        identifier = columns[0]
        try:
            mentions.append(_mention(columns, mention_source))
        except ValueError as error:
            raise FormatError(f"{source.path}:{number}: {error}") from None
    if mentions:
        yield _from_rows(identifier, mentions, f"{source.path}:{number}")


def _from_rows(identifier: str, mentions: list[Mention], place: str) -> Prediction:
    try:
        return Prediction(id=identifier, mentions=canonical(mentions))
    except ValueError as error:
        raise FormatError(f"{place}: in document {identifier!r}, {error}") from None


def _mention(columns: list[str], mention_source: str) -> Mention:
    if len(columns) not in (4, 5):
        raise ValueError(f"columns: {len(columns)}; allowed are {', '.join(HEADER)}, the score may be empty")
    if not columns[0]:
        raise ValueError("the document id is empty; give each document one")
    try:
        spans: Fragments = ((_integer(columns[2]), _integer(columns[3])),) if ";" not in columns[2] else _spans(columns)
        score = _score(columns[4]) if len(columns) == 5 and columns[4] else None
        return Mention(spans, columns[1], score=score, source=mention_source)
    except ValueError as error:
        told = f" and score {columns[4]!r}" if len(columns) == 5 else ""
        raise ValueError(f"start {columns[2]!r}, end {columns[3]!r}{told} make no mention ({error})") from None


def _spans(columns: list[str]) -> Fragments:
    starts, ends = columns[2].split(";"), columns[3].split(";")
    return tuple(sorted(zip(map(_integer, starts), map(_integer, ends), strict=True)))


def _integer(text: str) -> int:
    if not is_integer(text):
        raise ValueError(f"{text!r} is no integer")
    return int(text)


def _score(text: str) -> float:
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text!r} is no number")
    return float(text)


def _unbroken(value: str, what: str) -> str:
    if any(sign in value for sign in _BREAKS):
        raise InputError(
            f"the {what} {value!r} holds a TAB, a line break or a NUL, which TSV cannot hold; write JSON Lines instead"
        )
    return value
