"""Predictions of a file, and matching of the documents of two files by their ids or their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import msgspec

from fascicle.core.document import GOLD, Document, Event, Mention, in_order
from fascicle.core.files.pipes import is_pipe
from fascicle.core.files.source import STDIN, Source, stem
from fascicle.core.mention import Span
from fascicle.core.wording import plural, typo_hint
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.inputs import (
    check_offsets,
    check_texts,
    match_by_order,
    only_source,
    text_unit,
)
from fascicle.formats.account import EventCounts
from fascicle.formats.brat_lines import agrees
from fascicle.formats.detection import prediction_kind
from fascicle.formats.files import ORIGINAL_ID
from fascicle.formats.offset_units import StatedMention, convert_spans, fit_offsets
from fascicle.formats.predictions import TablePrediction, read, text_hash
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.runtime.combination.align import System, some_documents

# formats of prediction files, beside those of documents
PREDICTIONS: Final = ("tsv", "predictions")


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
class Predictions:
    """Predictions of a file for documents, all sources together.

    Attributes:
        path: of the file; for the sentences of errors.
        mentions: document id -> its mentions, in the order of the file.
        hashes: document id -> SHA-256 of its text, where known.
        lengths: document id -> code points of its text, where known.
        events: document id -> what was not done.
        repeated: document id -> the id that was in the file before it, and that this document has
            there too.
        texts: gives document id -> text, if need be by a second reading; ``None`` for a file
            without texts.
        formats: names of the formats of its documents; empty for a prediction file.
        lists_all: whether documents without mentions are listed, too; a TSV cannot.
        matched: how documents were matched with those of another file; empty where ids were enough.
        unit: what its documents are: ``"sentence"`` where the file says so of each, else
            ``"document"``.
        notes: sentences about the file that a user must know.
        told: document id -> the texts that the file gives for mentions beside their offsets, where
            it is a table.
    """

    path: str
    mentions: Mapping[str, Sequence[Mention]]
    hashes: Mapping[str, str] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    events: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    repeated: Mapping[str, str] = field(default_factory=dict)
    texts: Callable[[], Mapping[str, str]] | None = field(default=None, repr=False)
    formats: frozenset[str] = frozenset()
    lists_all: bool = True
    matched: str = ""
    unit: str = "document"
    notes: tuple[str, ...] = ()
    told: Mapping[str, Sequence[tuple[Mention, Sequence[str]]]] = field(
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
        return replace(
            self,
            mentions={
                i: tuple(m for m in found if m.source == source)
                for i, found in self.mentions.items()
            },
        )

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
        found = self.sources
        if source and found and source not in found and self.lists_all:
            hint = typo_hint(source, found)
            raise UsageError(
                f"{self.path} holds no mention of {source!r}{hint}; it has those of "
                f"{', '.join(sorted(found))}"
            )
        if not self.lists_all or not (source or self.formats):
            return self
        return self.of(source or (GOLD if found <= {GOLD} else only_source(found)))

    def system(self, name: str) -> System:
        """Returns the same for a rule that combines systems.

        Args:
            name: no other system that it is combined with has it.
        """
        return System(
            name=name,
            mentions=self.mentions,
            hashes=self.hashes,
            lengths=self.lengths,
            events=self.events,
            lists_all=self.lists_all,
        )

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
        others = (
            sorted(self.mentions.keys() - {document.id for document in documents}) if only else []
        )
        try:
            if others:
                raise InputError(
                    f"there are predictions for {some_documents(others)}, not among {only}; give "
                    "predictions for these "
                    "alone, with the same ids"
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
        return _from_predictions(path, reading.encoding, lists_all=kind != "tsv")
    report = ReadReport()
    documents = read_file(path, reading, report=report)
    is_read_once = path == STDIN or is_pipe(path)
    found = collect(
        documents if events is None else events.observe(documents),
        path=path,
        with_texts=is_read_once,
    )
    reread = (
        found.texts if is_read_once else lambda: {d.id: d.text for d in read_file(path, reading)}
    )
    return replace(found, texts=reread, formats=frozenset(report.formats.values()))


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
    mentions, hashes, events, told, notes = {}, {}, {}, {}, list[str]()

    def tell(codec: str, how: str) -> None:
        notes.append(f"{path} was read as {codec}: {how}")

    for prediction in read(Source(path=path, encoding=encoding, told=tell)):
        mentions[prediction.id] = prediction.mentions
        if prediction.sha256 is not None:
            hashes[prediction.id] = prediction.sha256
        if prediction.events:
            events[prediction.id] = prediction.events
        if isinstance(prediction, TablePrediction) and prediction.told:
            told[prediction.id] = prediction.told
    return Predictions(
        path=path,
        mentions=mentions,
        hashes=hashes,
        events=events,
        lists_all=lists_all,
        notes=tuple(notes),
        told=told,
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
    found = read_predictions(request, events=events)
    if found.formats == {"plain"} and any(found.lengths.values()):
        raise InputError(
            f"{found.path} is plain text without mentions; give predictions in a format with "
            "mentions, such as "
            "jsonl, conll, brat, tsv or predictions"
        )
    return found.of_one_system(request.source)


def align_to_documents(reference: Predictions, other: Predictions) -> Predictions:
    """Aligns predictions to the documents of another file, where ids and offsets of the two differ.

    Args:
        reference: whose documents they are to be.
        other: whose mentions.

    Returns:
        The second argument itself where its ids and offsets can be taken as they are, or where the
        difference is for others to report. A note says how many mentions of a table have other text
        at their offsets than it says.

    Raises:
        InputError: the ids are made from file names, and the words differ.
    """
    if other.told and reference.texts:
        other = _in_code_points(other, reference.texts())
        other = replace(other, notes=(*other.notes, *_misfits(other, reference.texts())))
    differing = _differing(reference, other)
    if differing == []:
        return other
    texts = (reference.texts(), other.texts()) if reference.texts and other.texts else None
    if (
        texts
        and differing
        and all(_bare(texts[0][one]) == _bare(texts[1][one]) for one in differing)
    ):
        moved = _by_characters(other, differing, *texts)
        how = (
            f"texts that differ in white space alone: {len(differing):,}; mentions were placed "
            "by the other characters"
        )
        return _moved(reference, other, moved, how)
    if not (reference.is_named_after_file or other.is_named_after_file):
        return other
    how = f"documents were matched with those of {reference.path} by their order, not by ids"
    ours = [reference.hashes.get(identifier) for identifier in reference.mentions]
    if ours == [other.hashes.get(identifier) for identifier in other.mentions] and None not in ours:
        return _moved(
            reference,
            other,
            dict(zip(reference.mentions, other.mentions.values(), strict=True)),
            how,
        )
    if texts is None:
        return other
    return _moved(
        reference,
        other,
        match_by_order(*texts, other.mentions, names=(reference.path, other.path)),
        how,
    )


def _in_code_points(other: Predictions, texts: Mapping[str, str]) -> Predictions:
    """Converts the offsets of a table, document by document, if another unit fits the texts
    beside them better.
    """
    mentions, told = dict(other.mentions), dict(other.told)
    units: list[str] = []
    for identifier in other.told.keys() & texts.keys():
        text = texts[identifier]
        stated = [
            StatedMention(mention.spans, beside[0]) for mention, beside in other.told[identifier]
        ]
        fit = fit_offsets(text, stated, agrees=partial(_agrees_in, text))
        if not fit.how:
            continue
        moved = {
            mention.key: msgspec.structs.replace(mention, spans=spans)
            for mention in mentions[identifier]
            if min(map(min, spans := convert_spans(mention.spans, fit.convert))) >= 0
        }
        units.append(fit.how)
        mentions[identifier] = in_order(
            moved.get(mention.key, mention) for mention in mentions[identifier]
        )
        told[identifier] = [
            (moved.get(mention.key, mention), beside) for mention, beside in told[identifier]
        ]
    if not units:
        return other
    note = (
        f"{other.path}: the offsets of {plural(len(units), 'document')} count {units[0]}; "
        "they were moved"
    )
    return replace(other, mentions=mentions, told=told, notes=(*other.notes, note))


def _agrees_in(text: str, beside: str, spans: Sequence[Span]) -> bool:
    return agrees(beside, text, spans)


def _misfits(other: Predictions, texts: Mapping[str, str]) -> Iterator[str]:
    found = [
        (identifier, mention, told)
        for identifier, listed in other.told.items()
        for mention, told in listed
        if identifier in texts
        and not any(agrees(one, texts[identifier], mention.spans) for one in told)
    ]
    if found:
        identifier, mention, told = found[0]
        yield (
            f"{other.path}: {len(found):,} of "
            f"{plural(sum(map(len, other.told.values())), 'mention')} have one text "
            f"in the file and another at their offsets, the first {told[0][:80]!r} at "
            f"{mention.start:,} of "
            f"{identifier!r}; their offsets are from other texts, or count another unit"
        )


def _moved(
    reference: Predictions, other: Predictions, mentions: Mapping[str, Sequence[Mention]], how: str
) -> Predictions:
    """Mentions with offsets into the texts of the reference, and what goes with its documents."""
    # else documents are cut otherwise, and events belong to none of these
    alike = len(other.mentions) == len(mentions)
    names = dict(zip(other.mentions, mentions, strict=True)) if alike else {}
    return replace(
        other,
        mentions=mentions,
        hashes={one: reference.hashes[one] for one in mentions if one in reference.hashes},
        lengths={one: reference.lengths[one] for one in mentions if one in reference.lengths},
        events={names[identifier]: events for identifier, events in other.events.items() if alike},
        repeated={one: original for one, original in other.repeated.items() if one in mentions},
        texts=None,
        matched=how,
    )


def _differing(reference: Predictions, other: Predictions) -> list[str] | None:
    """Ids that both files have, but for different texts; ``None`` if they share no id."""
    shared = [identifier for identifier in other.mentions if identifier in reference.mentions]
    if not shared:
        return None
    known = ((one, reference.hashes.get(one), other.hashes.get(one)) for one in shared)
    return [
        one
        for one, ours, theirs in known
        if ours is not None and theirs is not None and ours != theirs
    ]


def _by_characters(
    other: Predictions, differing: Sequence[str], gold: Mapping[str, str], texts: Mapping[str, str]
) -> dict[str, Sequence[Mention]]:
    """Offsets moved by the characters between which only the white space differs, as PubTator
    changes line breaks.
    """
    moved = {
        one: match_by_order({one: gold[one]}, {one: texts[one]}, other.mentions)[one]
        for one in differing
    }
    return {**other.mentions, **moved}


def _bare(text: str) -> str:
    return "".join(text.split())
