"""Predictions of a file: what it says about each document, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.files.pipes import is_pipe
from fascicle.core.files.source import STDIN, Source, stem
from fascicle.core.wording import typo_hint
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.inputs import (
    check_offsets,
    check_texts,
    only_source,
    text_unit,
)
from fascicle.formats.account import EventCounts
from fascicle.formats.detection import prediction_kind
from fascicle.formats.files import ORIGINAL_ID
from fascicle.formats.predictions import TablePrediction, read, text_hash
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.runtime.combination.align import System, some_documents

# formats of prediction files, beside those of documents
TABLES: Final = ("tsv", "livingner", "socialdisner")
PREDICTIONS: Final = (*TABLES, "predictions")


@dataclass(frozen=True, kw_only=True)
class PredictionRequest:
    """File with the predictions of a system.

    Attributes:
        path: of a prediction file (JSON Lines, TSV or CSV), or of a corpus in any format.
        reading: how it is read; its format may be one of `PREDICTIONS`, too.
        source: whose mentions are taken, if there are several; empty where the file decides.
        name: of the system, for tables; after its file by default.
    """

    path: str
    reading: ReadRequest = field(default_factory=ReadRequest)
    source: str = ""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Predictions(System):
    """Predictions of a file or of a model for documents, all sources together.

    Attributes:
        path: of the file; for the sentences of errors.
        name: of the system, where it has one already.
        repeated: document id -> the id that was in the file before it, and that this document has
            there too.
        texts: gives document id -> text, if need be by a second reading; ``None`` for a file
            without texts.
        formats: names of the formats of its documents; empty for a prediction file.
        matched: how documents were matched with those of another file; empty where ids were enough.
        unit: what its documents are: ``"sentence"`` where the file says so of each, else
            ``"document"``.
        notes: sentences about the file that a user must know.
        stated: document id -> the texts that the file gives for mentions beside their offsets,
            where it is a table.
    """

    path: str
    name: str = ""
    repeated: Mapping[str, str] = field(default_factory=dict)
    texts: Callable[[], Mapping[str, str]] | None = field(default=None, repr=False)
    formats: frozenset[str] = frozenset()
    matched: str = ""
    unit: str = "document"
    notes: tuple[str, ...] = ()
    stated: Mapping[str, Sequence[tuple[Mention, Sequence[str]]]] = field(
        default_factory=dict, repr=False
    )

    @property
    def is_named_after_file(self) -> bool:
        """True if no document has an id of its own: ``test``, or ``test:1`` and so on in
        ``test.tsv``.
        """
        base = stem(self.path)
        return all(
            identifier == base
            or (identifier.startswith(f"{base}:") and identifier[len(base) + 1 :].isdigit())
            for identifier in self.mentions
        )

    @property
    def sources(self) -> set[str]:
        """Sources of the mentions."""
        return {mention.source for mentions in self.mentions.values() for mention in mentions}

    @property
    def is_called_gold(self) -> bool:
        """True if a format that can name the source of a mention names the gold for all of them."""
        return "jsonl" in self.formats and self.sources == {GOLD}

    def of(self, source: str | None) -> Predictions:
        """Returns those of one source; ``None`` for all."""
        if source is None:
            return self
        own = {
            identifier: tuple(filter(lambda mention: mention.source == source, mentions))
            for identifier, mentions in self.mentions.items()
        }
        return replace(self, mentions=own)

    def of_one_system(self, source: str = "") -> Predictions:
        """Returns those of one source of documents; a prediction file stands for one system unless
        a source is named.

        Formats of others do not name the finder of a mention: if all mentions are called gold,
        these are taken.

        Args:
            source: whose mentions; empty where the file decides.

        Raises:
            UsageError: the file has mentions, but none of that source.
            InputError: documents have mentions of several sources, and none was chosen.
        """
        sources = self.sources
        if source and sources and source not in sources and self.lists_all:
            hint = typo_hint(source, sources)
            raise UsageError(
                f"{self.path} holds no mention of {source!r}{hint}; it has those of "
                f"{', '.join(sorted(sources))}"
            )
        if not self.lists_all or not (source or self.formats):
            return self
        return self.of(source or (GOLD if sources <= {GOLD} else only_source(sources)))

    def check(self, documents: Sequence[Document], *, only: str = "", named: bool = True) -> None:
        """Refuses predictions that are not about given documents.

        Args:
            documents: the documents that they should be about.
            only: what these documents are called, where predictions for any other document are
                refused.
            named: whether the sentence of an error names the file.

        Raises:
            InputError: the texts differ, a mention ends beyond its text, or a document is none of
                these.
        """
        unknown = (
            sorted(self.mentions.keys() - {document.id for document in documents}) if only else []
        )
        try:
            if unknown:
                raise InputError(
                    f"there are predictions for {some_documents(unknown)}, not among {only}; give "
                    "predictions for these alone, with the same ids"
                )
            check_texts(documents, self.hashes, texts=self.texts)
            check_offsets(documents, self.mentions)
        except InputError as error:
            raise InputError(f"{self.path}: {error}" if named else str(error)) from None


def read_predictions(
    request: PredictionRequest, *, events: EventCounts | None = None
) -> Predictions:
    """Reads the predictions of a file, all sources together.

    Args:
        request: the file, and how it is read.
        events: counts the events of documents.

    Raises:
        UsageError: options of another format.
        InputError: the file cannot be read.
    """
    path, reading = request.path, request.reading
    kind = reading.format if reading.format != "auto" else prediction_kind(path, reading.encoding)
    if kind in PREDICTIONS:
        return _from_predictions(path, reading.encoding, lists_all=kind not in TABLES)
    report = ReadReport()
    documents = read_file(path, reading, report=report)
    is_read_once = path == STDIN or is_pipe(path)
    predictions = collect(
        documents if events is None else events.observe(documents),
        path=path,
        with_texts=is_read_once,
    )
    reread = (
        predictions.texts
        if is_read_once
        else lambda: {d.id: d.text for d in read_file(path, reading)}
    )
    return replace(predictions, texts=reread, formats=frozenset(report.formats.values()))


def collect(
    documents: Iterable[Document],
    *,
    path: str,
    formats: frozenset[str] = frozenset(),
    with_texts: bool = True,
) -> Predictions:
    """Collects the mentions of documents, all sources together.

    Args:
        documents: may be a stream.
        path: of their file; for the sentences of errors.
        formats: names of the formats that they were read in.
        with_texts: keep the texts.
    """
    mentions, hashes, lengths, events, repeated, texts = {}, {}, {}, {}, {}, {}
    units = set[str]()
    for document in documents:
        units.add(text_unit([document]))
        mentions[document.id] = document.mentions
        hashes[document.id] = text_hash(document.text)
        lengths[document.id] = len(document.text)
        if document.events:
            events[document.id] = document.events
        if ORIGINAL_ID in document.meta:
            repeated[document.id] = document.meta[ORIGINAL_ID]
        if with_texts:
            texts[document.id] = document.text
    return Predictions(
        path=path,
        mentions=mentions,
        hashes=hashes,
        lengths=lengths,
        events=events,
        repeated=repeated,
        texts=(lambda: texts) if with_texts else None,
        formats=formats,
        unit="sentence" if units == {"sentence"} else "document",
    )


def _from_predictions(path: str, encoding: str, *, lists_all: bool) -> Predictions:
    mentions, hashes, events, stated, notes = {}, {}, {}, {}, list[str]()

    def note_encoding(codec: str, how: str) -> None:
        notes.append(f"{path} was read as {codec}: {how}")

    for prediction in read(Source(path=path, encoding=encoding, told=note_encoding)):
        mentions[prediction.id] = prediction.mentions
        if prediction.sha256 is not None:
            hashes[prediction.id] = prediction.sha256
        if prediction.events:
            events[prediction.id] = prediction.events
        if isinstance(prediction, TablePrediction) and prediction.told:
            stated[prediction.id] = prediction.told
    return Predictions(
        path=path,
        mentions=mentions,
        hashes=hashes,
        events=events,
        lists_all=lists_all,
        notes=tuple(notes),
        stated=stated,
    )


def read_system(request: PredictionRequest, *, events: EventCounts | None = None) -> Predictions:
    """Reads the predictions of one system.

    Args:
        request: the file, how it is read, and whose mentions are taken.
        events: counts the events of documents.

    Raises:
        UsageError: a source that the file does not have, or options of another format.
        InputError: a file that cannot be read or is plain text, which ``annotate`` writes for
            reading; or several sources, none of which was chosen.
    """
    predictions = read_predictions(request, events=events)
    if predictions.formats == {"plain"} and any(predictions.lengths.values()):
        raise InputError(
            f"{predictions.path} is plain text without mentions; give predictions in a format with "
            "mentions, such as jsonl, conll, brat, tsv or predictions"
        )
    return predictions.of_one_system(request.source)
