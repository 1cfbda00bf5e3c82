"""Run of a pipeline: planned once, processed by workers, resumable after any interruption, and
verified at its end.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final, Protocol

import msgspec

from fascicle.core.contracts import Step
from fascicle.core.machine import free_memory, usable_cores
from fascicle.errors import InputError, OutputError, UsageError
from fascicle.formats.catalogue import PARTS, format_named
from fascicle.formats.handlers import open_frame
from fascicle.formats.requests import ReadRequest
from fascicle.formats.tables import TableOptions
from fascicle.pipeline.pipeline import OpenPipeline, Pipeline
from fascicle.pipeline.running.folder import MANIFEST, SUCCESS, RunFolder, refuse_other_run
from fascicle.pipeline.running.plan import extend_manifest, states_of_inputs
from fascicle.pipeline.running.records import RunManifest, Shard, ShardMarker, check_path
from fascicle.pipeline.running.report import Totals, sum_markers, write_report
from fascicle.pipeline.running.shard_worker import ShardWorker
from fascicle.pipeline.running.supervisor import Supervisor
from fascicle.pipeline.steps import Assert
from fascicle.settings.choices import Choices
from fascicle.settings.pipeline import Limits, Shards
from fascicle.version import VERSION

_INPUTS: Final = "set of inputs"


class WorkerPool(Protocol):
    """Interface of a pool of workers, on one machine or on many; a context manager that ends all
    workers.
    """

    def __enter__(self) -> WorkerPool:
        """Returns the pool itself."""
        ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Ends all workers."""
        ...

    def run(
        self, shards: Sequence[Shard], *, tick: Callable[[int, int], None]
    ) -> Iterator[ShardMarker]:
        """Processes all shards, in any order, as
        `fascicle.pipeline.running.supervisor.Supervisor.run`.
        """
        ...


class _Opener(Protocol):
    """Interface of what opens a pipeline in any process, such as
    `fascicle.pipeline.loading.PipelineOpener`.
    """

    @property
    def given(self) -> str:
        """Path or name of the pipeline."""
        ...

    @property
    def choices(self) -> Choices:
        """Choices about the mentions of a model."""
        ...

    @property
    def limits(self) -> Limits:
        """Limits for a batch and a worker."""
        ...

    @property
    def shards(self) -> Shards:
        """Limits for a shard."""
        ...

    def from_anywhere(self) -> _Opener:
        """Returns the same opener, with paths that hold in any folder."""
        ...

    def __call__(self) -> Pipeline:
        """Opens the pipeline."""
        ...


# takes `open_worker`, `limits` and `workers`, as the class `Supervisor`
StartPool = Callable[..., WorkerPool]


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """Progress of a run.

    Attributes:
        documents: number of finished ones, with those of an interrupted run.
        of: number of all documents.
        characters: of their texts.
        of_characters: of all shards.
        quarantined: documents.
        characters_per_second: since this run began or went on.
        workers: at a time.
    """

    documents: int
    of: int
    characters: int
    of_characters: int
    quarantined: int
    characters_per_second: float
    workers: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """Run of a pipeline over inputs: inputs, pipeline, output folder and options.

    Attributes:
        inputs: paths of files and corpora.
        pipeline: file or folder of the pipeline.
        folder: output folder.
        reading: how inputs are read.
        format: of the parts.
        workers: at a time; ``None`` for as many as `default_workers` says.
        shards: how much is in a shard.
        limits: of workers.
        open_pipeline: opens the pipeline in each worker; by default the one of ``pipeline``.
        columns: of the parts, if they are tables; by default the usual ones.
        pool: gives the workers; by default processes on this machine.
    """

    inputs: Sequence[str]
    pipeline: str
    folder: RunFolder
    reading: ReadRequest
    format: str
    workers: int | None
    shards: Shards
    limits: Limits
    open_pipeline: OpenPipeline
    columns: TableOptions | None = None
    pool: StartPool = Supervisor

    @classmethod
    def of(  # noqa: PLR0913
        cls,
        inputs: Sequence[str],
        opener: _Opener,
        folder: str,
        *,
        reading: ReadRequest | None = None,
        format: str = "jsonl",  # noqa: A002
        columns: TableOptions | None = None,
        workers: int | None = 1,
        pool: StartPool = Supervisor,
    ) -> Run:
        """Creates a run of the pipeline of an opener, under its limits.

        Raises:
            RecipeError: see `fascicle.settings.pipeline.read_pipeline`.
            UsageError: a path that cannot be noted, or own names beside a pipeline.
        """
        opener = opener.from_anywhere()
        for path in (opener.given, *opener.choices.paths):
            check_path(path)
        return cls(
            inputs=inputs,
            pipeline=opener.given,
            folder=RunFolder(folder),
            reading=ReadRequest() if reading is None else reading,
            format=format,
            columns=columns,
            workers=workers,
            shards=opener.shards,
            limits=opener.limits,
            open_pipeline=opener,
            pool=pool,
        )

    def do(
        self,
        *,
        resume: bool = False,
        update: bool = False,
        progress: Callable[[RunProgress], None] = lambda progress: None,
        started: Callable[[Any], None] = lambda pool: None,
    ) -> Totals:
        """Processes everything that is not done yet, and verifies that no document was lost.

        Args:
            resume: continue the run that is in the folder.
            update: the inputs follow each other in time, and each document counts in its latest
                state. A run that has the first of these inputs is continued; only shards of which
                documents were replaced or withdrawn are done again.
            progress: function that is called with the progress of the run.
            started: function that is called with the pool.

        Returns:
            The account.

        Raises:
            UsageError: a format that is not written to one file, or a number of workers that is not
                allowed.
            OutputError: the folder holds something else, a run that is not to be continued, or
                another run.
            InputError: no document can be read, or the inputs have changed.
            UsageError: an update of a run in which ids were there twice.
            FascicleError: the pipeline cannot be opened.
        """
        suffix = _suffix(self.format, columns=self.columns)
        self.folder.check(resume=resume or update)
        (made_by, apart, columns), states = self._made_by(), states_of_inputs(self.inputs)
        workers = self.workers
        if workers is None:
            workers = default_workers(self.limits, apart=apart)
        with self.folder.place.held() as mark:
            self.folder.check(resume=resume or update)  # another run may have ended meanwhile
            manifest = self._manifest(made_by, states, suffix, columns, update=update)
            self._work(manifest, mark, workers, progress, started)
            try:
                return finalize(self.folder, manifest)
            except UnfinishedError:  # a part was changed
                self._work(manifest, mark, workers, progress, started)
                return finalize(self.folder, manifest)

    def _work(
        self,
        manifest: RunManifest,
        mark: str,
        workers: int,
        progress: Callable[[RunProgress], None],
        started: Callable[[Any], None],
    ) -> None:
        tally = _Tally(manifest, progress)
        for marker in self.folder.done(manifest.shards):
            tally.count(marker)
        remaining = [shard for shard in manifest.shards if shard.name not in tally.finished]
        if self.workers is None:
            workers = max(1, min(workers, len(remaining)))
        tally.start(workers)
        if remaining:
            self.folder.place.remove([SUCCESS])  # it is no proof of what is not there
        opening = partial(open_worker, self.open_pipeline, self.folder.name, MANIFEST, mark)
        with self.pool(opening, limits=self.limits, workers=workers) as pool:
            started(pool)
            for marker in pool.run(remaining, tick=tally.tell):
                tally.count(marker)
        tally.tell()

    def _made_by(self) -> tuple[dict[str, str], bool, dict[str, Any] | None]:
        """Returns all that decides the bytes of the parts, whether a step has a process of its own,
        and the columns of the parts, if they are tables; opens the pipeline to check it early.
        """
        with self.open_pipeline() as pipeline:
            steps, apart = pipeline.made_by(), pipeline.apart
            columns = self._all_columns(pipeline)
        more = [asdict(self.columns)] if self.columns else []
        options = msgspec.json.encode(
            [self.format, asdict(self.reading), self.shards, *more], order="deterministic"
        )
        digest = hashlib.sha256(options).hexdigest()
        return {"release": VERSION, **steps, "set of options": digest}, apart, columns

    def _all_columns(self, pipeline: Pipeline) -> dict[str, Any] | None:
        """Returns the columns that were asked for, with one for facts if a step gives them."""
        if format_named(self.format).writer.options is not TableOptions:
            return None
        columns = self.columns or TableOptions()
        has_facts = columns.with_attributes or any(map(_gives_facts, pipeline.steps))
        return asdict(replace(columns, with_attributes=has_facts))

    def _new_manifest(
        self, made_by: dict[str, str], suffix: str, columns: dict[str, Any] | None
    ) -> RunManifest:
        return RunManifest(
            pipeline=self.pipeline,
            choices=getattr(self.open_pipeline, "choices", Choices()),
            made_by=made_by,
            reading=asdict(self.reading),
            format=self.format,
            columns=columns,
            suffix=suffix,
            unread=0,
            shards=(),
        )

    def _manifest(
        self,
        made_by: dict[str, str],
        states: Sequence[str],
        suffix: str,
        columns: dict[str, Any] | None,
        *,
        update: bool,
    ) -> RunManifest:
        if self.folder.is_begun:
            current = self.folder.manifest()
            before = states[: current.inputs] if update else states
            advice = ", with new files behind those of then" if update else ""
            refuse_other_run(
                self.folder.name,
                current.made_by,
                {**made_by, _INPUTS: _hash_of(before)},
                advice=advice,
            )
            if len(before) == len(states):
                return current
        else:
            current = self._new_manifest(made_by, suffix, columns)
        manifest = extend_manifest(self.folder, current, self.inputs, self.shards, latest=update)
        manifest = msgspec.structs.replace(manifest, made_by={**made_by, _INPUTS: _hash_of(states)})
        self.folder.reopen()
        self.folder.write_json(MANIFEST, manifest)
        return manifest


def _gives_facts(step: Step) -> bool:
    predictor = getattr(step, "predictor", None)
    return isinstance(step, Assert) or "facts" in getattr(predictor, "gives", ())


def default_workers(limits: Limits, *, apart: bool) -> int:
    """Returns how many workers a run has by default: one for each usable core, but no more than
    free memory allows.

    Args:
        limits: of a worker; each may fill its memory.
        apart: whether a step has a process of its own, which each worker would start again, with
            its own limits of calls and memory. Then there is one worker.
    """
    if apart:
        return 1
    free = free_memory()
    fitting = usable_cores() if free is None else free // (limits.memory << 20)
    return max(1, min(usable_cores(), fitting))


class _Tally:
    """Counts of the shards that are done; of counts alone, for the markers would fill the memory of
    a long run.

    Attributes:
        finished: names of shards.
    """

    def __init__(self, manifest: RunManifest, progress: Callable[[RunProgress], None]) -> None:
        self._sizes = {shard.name: shard.characters for shard in manifest.shards}
        self._characters = sum(self._sizes.values())
        self._manifest, self._progress = manifest, progress
        self._counts = Counter[str]()
        self.finished: set[str] = set()
        self.start(0)

    def start(self, workers: int) -> None:
        """Starts the clock: what is counted already has no part in the speed."""
        self._workers = workers
        self._before, self._begun = self._counts["characters"], time.monotonic()

    def count(self, marker: ShardMarker) -> None:
        """Counts a shard."""
        self._counts.update(
            characters=self._sizes[marker.shard],
            documents=marker.documents,
            quarantined=marker.quarantined,
        )
        self.finished.add(marker.shard)

    def tell(self, documents: int = 0, characters: int = 0) -> None:
        """Reports the progress, with documents of shards that are not done yet."""
        seconds = max(time.monotonic() - self._begun, 1e-9)
        unread, through = self._manifest.unread, self._counts["characters"] + characters
        self._progress(
            RunProgress(
                documents=self._counts["documents"] + documents + unread,
                of=self._manifest.documents,
                characters=through,
                of_characters=self._characters,
                quarantined=self._counts["quarantined"] + unread,
                characters_per_second=(through - self._before) / seconds,
                workers=self._workers,
            )
        )


class UnfinishedError(OutputError):
    """Error: shards are not done, or their files are no longer those that were written."""


def open_worker(
    open_pipeline: OpenPipeline, folder: str, manifest: str, mark: str = ""
) -> ShardWorker:
    """Opens the processor of shards, in a worker.

    Args:
        open_pipeline: opens the pipeline.
        folder: of the run.
        manifest: name of the file that lists the shards.
        mark: of the run, as of `fascicle.pipeline.running.places.LocalPlace.held`.

    Raises:
        InputError: the pipeline is another one than that of the run, such as one whose pack was
            replaced meanwhile.
    """
    place = RunFolder(folder).of_run(mark)
    run_manifest, pipeline = place.manifest(manifest), open_pipeline()
    now = pipeline.made_by()
    if other := [what for what, mark in now.items() if run_manifest.made_by.get(what) != mark]:
        pipeline.close()
        raise InputError(
            f"the pipeline was changed while {folder} was made: it has another {other[0]} now; put "
            "back what was there and continue, or start again in another folder"
        )
    return ShardWorker(pipeline, run_manifest, place)


def finalize(folder: RunFolder, manifest: RunManifest) -> Totals:
    """Verifies the markers against the manifest and the bytes of the parts; writes the report, and
    then the proof.

    Raises:
        UnfinishedError: a shard is not done, or its files were changed, so that its marker was
            removed.
        OutputError: documents are missing, or what was tried again was changed.
    """
    for marker in folder.retries():
        if not folder.is_whole(marker):
            raise OutputError(
                f"{folder.name}: {marker.part.name} or its quarantine was changed; put back what "
                "was there"
            )
    totals = sum_markers(
        folder,
        manifest,
        checked_markers(folder, manifest, folder.unchanged(folder.done(manifest.shards))),
    )
    if totals.documents != totals.done + totals.quarantined:
        raise OutputError(
            f"{folder.name}: {totals.documents:,} documents were read, but {totals.done:,} are "
            f"done and {totals.quarantined:,} in quarantine"
        )
    write_report(folder, totals)
    folder.sweep()
    folder.write_json(
        SUCCESS,
        {"documents": totals.documents, "done": totals.done, "quarantined": totals.quarantined},
    )
    return totals


def checked_markers(
    folder: RunFolder, manifest: RunManifest, markers: Iterable[ShardMarker]
) -> Iterator[ShardMarker]:
    """Yields the markers, and checks that there is one for each shard.

    Raises:
        UnfinishedError: a shard has no marker.
        OutputError: documents are missing.
    """
    missing = {shard.name: shard.count for shard in manifest.shards}
    for marker in markers:
        count = missing.pop(marker.shard)
        if (marker.documents, marker.done + marker.quarantined) != (count, count):
            raise OutputError(
                f"{folder.name}: shard {marker.shard} does not account for all its documents"
            )
        yield marker
    if missing:
        raise UnfinishedError(
            f"{folder.name}: {len(missing):,} of {len(manifest.shards):,} shards are not done, "
            f"such as {next(iter(missing))}; continue with resume=True"
        )


def _hash_of(states: Iterable[str]) -> str:
    return hashlib.sha256("".join(states).encode(errors="surrogateescape")).hexdigest()


def _suffix(name: str, *, columns: TableOptions | None) -> str:
    output_format = format_named(name)
    writer = output_format.writer if output_format.annotated and output_format.writes else None
    if writer is None or (writer.into_folder is not None and writer.into is open_frame):
        raise UsageError(
            f"the format {name} cannot hold a part of a run, which is one file of several "
            f"documents with their mentions; give one of {', '.join(PARTS)}"
        )
    if columns is not None and writer.options is not TableOptions:
        raise UsageError(f"columns are for the formats tsv, csv and xlsx, not for {name}")
    return output_format.suffixes[0]
