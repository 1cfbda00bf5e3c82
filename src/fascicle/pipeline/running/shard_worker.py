"""Processing of one shard: it is read, run through the pipeline, written, and marked as done.

Results are written in the order of the inputs, whatever the order of batches. A document that fails
is a record in quarantine (``records.py``); with any, ``fascicle run`` ends with code 3.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document, merge_origins
from fascicle.core.files.remote import fetch_to_local
from fascicle.core.mention import display_identifier
from fascicle.errors import InputError
from fascicle.formats.account import EventCounts
from fascicle.formats.files import rename_document
from fascicle.formats.outputs import WriteRequest, write_documents
from fascicle.formats.report import FailedDocuments, ReadReport, WriteReport
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.formats.tables import TableOptions
from fascicle.pipeline.pipeline import ConsecutiveFailures, Pipeline
from fascicle.pipeline.runner import Failure, Result, Watch, ignore_progress
from fascicle.pipeline.running.folder import RunFolder, SavedResults
from fascicle.pipeline.running.records import (
    VERSIONS,
    WRITE,
    InputRange,
    Quarantined,
    RunManifest,
    Shard,
    ShardMarker,
    documents_sha256,
    hash_concepts,
    most_common_names,
)
from fascicle.pipeline.workers import Channel, Ready, Working, peak_bytes

_WHOLE: Final = "jsonl"  # the format that holds everything of a document
_OFTEN: Final = 50  # names and links that a marker keeps
_SLOWEST: Final = 10


@dataclass(kw_only=True)
class _Unwritten(FailedDocuments):
    """Collects the documents that the writer refuses: each time the last document that the
    writer got.
    """

    keep_going: bool = True
    last: Result | None = None
    refused: list[tuple[Result, InputError]] = field(default_factory=list)

    def add(self, error: InputError) -> None:
        """Adds the last document to the refused ones."""
        assert self.last is not None
        self.refused.append((self.last, error))


@dataclass(kw_only=True)
class _Counts:
    """Counts for the marker of a shard, over the documents that are done."""

    characters: int = 0
    mentions: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    concepts: defaultdict[str, set[str]] = field(default_factory=partial(defaultdict, set))
    origins: set[str] = field(default_factory=set)
    seconds: list[tuple[float, str]] = field(default_factory=list)
    steps: defaultdict[str, float] = field(default_factory=partial(defaultdict, float))
    events: EventCounts = field(default_factory=EventCounts)

    def see(self, document: Document, result: Result) -> None:
        self.characters += len(document.text)
        self.seconds.append((result.seconds, document.id))
        for step, seconds in result.spent:
            self.steps[step] += seconds
        self.origins.update(document.origins)
        self.events.see(document)
        for mention in document.mentions:
            self.mentions[f"{mention.source}/{mention.type}"] += 1
            self.names[f"{mention.text_in(document.text)[:100]}/{mention.type}"] += 1
            links = [
                (display_identifier(link), link.name) for link in mention.links if not link.nil
            ]
            self.links.update(f"{identifier} {name}".rstrip() for identifier, name in links)
            if links:
                self.concepts[mention.type].update(identifier for identifier, _ in links)

    def concept_hashes(self) -> dict[str, bytes]:
        """Returns what is kept of the concepts of each type."""
        return {kind: hash_concepts(own) for kind, own in sorted(self.concepts.items())}

    def slowest(self) -> tuple[tuple[str, float], ...]:
        """Returns the ids of the slowest documents, and their seconds."""
        longest = sorted(self.seconds, reverse=True)[:_SLOWEST]
        return tuple((name, round(seconds, 4)) for seconds, name in longest)


class ShardWorker:
    """Processes shards one after the other; the output of a shard is valid once its marker is
    written.

    Attributes:
        pipeline: is run.
        manifest: of the run.
        folder: where its files go.
        places: of the documents in the shard that is being done, by their ids.
        through: how many of its documents are done or failed, and the characters of their texts.
    """

    def __init__(self, pipeline: Pipeline, manifest: RunManifest, folder: RunFolder) -> None:
        """Sets pipeline, manifest and folder.

        Args:
            pipeline: see above.
            manifest: see above.
            folder: see above.
        """
        self.pipeline, self.manifest, self.folder = pipeline, manifest, folder
        self._reader = ShardReader(msgspec.convert(manifest.reading, ReadRequest))
        columns = manifest.columns and msgspec.convert(manifest.columns, TableOptions)
        self._request = WriteRequest(format=manifest.format, one_file=True, options=columns)
        self._in_a_row = ConsecutiveFailures(pipeline.limits.failures)
        self.places: Mapping[str, int] = {}
        self.through = 0, 0

    def process(
        self,
        shard: Shard,
        *,
        attempt: int = 1,
        alone: Collection[int] = (),
        killed: Sequence[tuple[int, Failure]] = (),
        watch: Watch = ignore_progress,
    ) -> ShardMarker:
        """Processes one shard; a second attempt gives the same part.

        Args:
            shard: of the manifest.
            attempt: number of this attempt, from 1.
            alone: places of documents that are suspect, and share a batch with none.
            killed: places of documents that are not to be tried again, and why.
            watch: function that is called with the next action.

        Raises:
            InputError: the documents have changed.
            PluginError: a step fails at document after document.
            OutputError: the place cannot be written.
        """
        begun = time.perf_counter()
        documents, finished = self._inputs_and_answers(shard)
        self._begin(documents)
        failed = [Result(documents[at], failure=failure) for at, failure in killed]
        counts, aside = _Counts(), _Unwritten()
        saves = SavedResults(self.folder, shard, self.manifest)
        results = self._results(
            documents,
            {**finished, **saves.documents()},
            alone=alone,
            killed=dict(killed),
            watch=watch,
            saves=saves,
        )
        report = self._write(
            f"part-{shard.name}{self.manifest.suffix}",
            _passed(results, failed, aside),
            counts,
            aside,
        )
        watch("", ())
        failed += map(_refused, aside.refused)
        marker = self._marker(shard, counts, report, attempt, time.perf_counter() - begun)
        done = self._commit(shard, marker, self._records(failed, shard, attempt))
        saves.remove()
        return done

    def _begin(self, documents: Sequence[Document]) -> None:
        self.places = {document.id: at for at, document in enumerate(documents)}
        self.through = 0, 0

    def _inputs_and_answers(self, shard: Shard) -> tuple[list[Document], Mapping[str, Document]]:
        """Returns the documents of a shard, and the answers from before an update.

        The inputs were checked when the run went on, and need not be read for what is done already.
        """
        is_whole = self.manifest.format == _WHOLE
        finished, are_all = self.folder.answered(shard) if is_whole else ({}, False)
        return list(finished.values()) if are_all else self._reader.read(shard), finished

    def _records(self, failed: Sequence[Result], shard: Shard, attempt: int) -> list[Quarantined]:
        """Returns the records of documents that failed, in the order of the shard."""
        inputs = shard.inputs if failed else ()
        records = [
            self._record(result, self.places[result.given.id], inputs, shard, attempt)
            for result in failed
        ]
        return sorted(records, key=lambda record: record.place)

    def _results(
        self,
        documents: Sequence[Document],
        answers: Mapping[str, Document],
        *,
        alone: Collection[int],
        killed: Container[int],
        watch: Watch,
        saves: SavedResults,
    ) -> Iterator[Result]:
        """Yields the result of each document: computed, or already known."""
        remaining = [at for at in range(len(documents)) if at not in killed]
        new = [at for at in remaining if documents[at].id not in answers]
        suspects = {at for at, place in enumerate(new) if place in alone}
        results = self.pipeline.results(
            [documents[at] for at in new], alone=suspects, watch=watch, in_a_row=self._in_a_row
        )
        for document in (documents[at] for at in remaining):
            result = Result(document, answers.get(document.id))
            if result.document is None:
                result = next(results)
                if result.document is not None:
                    saves.add(result.document)
            self.through = self.through[0] + 1, self.through[1] + len(document.text)
            yield result

    def _write(
        self, name: str, results: Iterator[Result], counts: _Counts, aside: _Unwritten
    ) -> WriteReport:
        @contextmanager
        def opened(path: Any, *, overwrite: bool = False) -> Iterator[BinaryIO]:
            with self.folder.place.written(name) as stream:
                yield stream

        def documents() -> Iterator[Document]:
            for result in results:
                assert result.document is not None
                before = len(aside.refused)
                yield result.document
                # the writer asks for the next one when this one is written
                if len(aside.refused) == before:
                    counts.see(result.document, result)

        report = WriteReport(aside=aside)
        return write_documents(documents(), self._request, report=report, opened=opened)

    def _marker(
        self, shard: Shard, counts: _Counts, report: WriteReport, attempt: int, seconds: float
    ) -> ShardMarker:
        return ShardMarker(
            shard=shard.name,
            documents=shard.count,
            done=report.documents,
            quarantined=shard.count - report.documents,
            characters=counts.characters,
            part=self.folder.facts(f"part-{shard.name}{self.manifest.suffix}"),
            quarantine=None,
            mentions=dict(sorted(counts.mentions.items())),
            names=most_common_names(counts.names, _OFTEN),
            links=most_common_names(counts.links, _OFTEN),
            concepts=counts.concept_hashes(),
            origins=merge_origins(sorted(counts.origins)),
            losses=dict(sorted(report.losses.items())),
            events=tuple(counts.events.state()),
            slowest=counts.slowest(),
            steps={step: round(seconds, 4) for step, seconds in counts.steps.items()},
            seconds=round(seconds, 4),
            attempt=attempt,
            left_out=shard.left_out,
            made_by=self.manifest.made_by if shard.name.startswith("retry") else {},
        )

    def _commit(
        self, shard: Shard, marker: ShardMarker, records: Sequence[Quarantined]
    ) -> ShardMarker:
        if marker.quarantined != len(records):
            raise RuntimeError(
                f"shard {shard.name}: {marker.done} done and {len(records)} quarantined of "
                f"{shard.count}"
            )
        quarantine = f"quarantine-{shard.name}.jsonl"
        if records:
            self.folder.write_quarantine(quarantine, records)
            marker = msgspec.structs.replace(marker, quarantine=self.folder.facts(quarantine))
        self.folder.write_json(f"done-{shard.name}.json", marker)
        if shard.left_out and not records:
            self.folder.place.remove([quarantine])  # from before the update
        return marker

    def _record(
        self, result: Result, place: int, inputs: Sequence[str], shard: Shard, attempt: int
    ) -> Quarantined:
        failure = result.failure
        assert failure is not None
        content = codec.encode(result.given)
        return Quarantined(
            id=result.given.id,
            sha256=hashlib.sha256(content).hexdigest(),
            input=inputs[place],
            place=place,
            shard=shard.name,
            step=failure.step,
            error=failure.error,
            message=failure.message[:2_000],
            versions=dict(VERSIONS),
            attempt=attempt,
            seconds=failure.seconds,
            memory=failure.memory or (peak_bytes() or 0) >> 20,
            document=msgspec.Raw(content),
        )


def _passed(results: Iterator[Result], failed: list[Result], aside: _Unwritten) -> Iterator[Result]:
    for result in results:
        if result.document is None:
            failed.append(result)
        else:
            aside.last = result
            yield result


def _refused(refusal: tuple[Result, Exception]) -> Result:
    result, error = refusal
    return Result(result.given, failure=Failure(WRITE, type(error).__name__, str(error)))


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Order to process a shard; see `ShardWorker.process`."""

    shard: str
    attempt: int
    alone: tuple[int, ...] = ()
    killed: tuple[tuple[int, Failure], ...] = ()


class ShardFinished(msgspec.Struct, frozen=True, kw_only=True, tag="finished"):
    """Message: a shard is done."""

    done: ShardMarker


OpenWorker = Callable[[], ShardWorker]


def process_shards(open_worker: OpenWorker, channel: Channel) -> None:
    """Processes the shards that are ordered, in a worker process.

    Args:
        open_worker: loads the pipeline.
        channel: of orders and messages.
    """
    worker = open_worker()
    shards = {shard.name: shard for shard in worker.manifest.shards}

    def watch(step: str, documents: Sequence[Document]) -> None:
        through, before = worker.through
        channel.send(
            Working(
                step=step,
                places=tuple(worker.places[document.id] for document in documents),
                characters=sum(len(document.text) for document in documents),
                through=through,
                characters_through=before,
            )
        )

    for order in channel.orders(msgspec.json.Decoder(Order), ready=Ready()):
        marker = worker.process(
            shards[order.shard],
            attempt=order.attempt,
            alone=frozenset(order.alone),
            killed=order.killed,
            watch=watch,
        )
        channel.send(ShardFinished(done=marker))


class ShardReader:
    """Reads the documents of shards; consecutive shards of one input are read in one pass."""

    def __init__(self, reading: ReadRequest) -> None:
        """Takes how inputs are read; opens nothing yet."""
        self._reading = reading
        self._input, self._at = "", 0
        self._documents: Iterator[Document] = iter(())
        self._error: Exception | None = None

    def read(self, shard: Shard) -> list[Document]:
        """Returns the documents of a shard.

        Raises:
            InputError: they are not those that the run was planned with.
        """
        documents = [document for piece in shard.pieces for document in self._piece(piece)]
        for place, identifier in shard.renamed.items():
            at = int(place)
            if at < len(documents) and documents[at].id != identifier:
                documents[at] = _with_id(documents[at], identifier)
        if documents_sha256(documents) != shard.sha256:
            names = ", ".join(sorted({piece.input for piece in shard.pieces})[:3])
            why = f" ({self._error})" if self._error else ""
            raise InputError(
                f"the documents of shard {shard.name} ({names}) have changed since the run "
                f"began{why}; put them back, or start again in another folder"
            )
        return shard.kept(documents)

    def _piece(self, piece: InputRange) -> list[Document]:
        if self._input != piece.input or self._at > piece.first:
            self._input, self._at = piece.input, 0
            self._documents = self._readable(piece.input)
        for _ in islice(self._documents, piece.first - self._at):
            pass
        documents = list(islice(self._documents, piece.count))
        self._at = piece.first + len(documents)
        return documents

    def _readable(self, path: str) -> Iterator[Document]:
        self._error = None
        with fetch_to_local(path) as near:
            try:
                report = ReadReport(aside=FailedDocuments(keep_going=True))
                # the plan has seen all ids
                yield from read_file(near, self._reading, report=report, are_unique=False)
            except (InputError, OSError) as error:
                # the plan has recorded it, and the hash shows whether it is the same
                self._error = error


def _with_id(document: Document, identifier: str) -> Document:
    """Returns a document under its planned id, which is unique in its file and among all files."""
    for mark in identifier.removeprefix(document.id).split("#")[1:]:
        document = rename_document(document, f"{document.id}#{mark}")
    return document
