"""Jobs that annotate files in the background: one at a time, in order of arrival, with their
progress.

Each job has a folder. If the folder of all jobs is persistent, a service resumes the jobs that an
earlier one accepted.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, Literal

import msgspec
from msgspec.structs import replace

from fascicle.core.files.temporary import lock
from fascicle.errors import OutputError
from fascicle.pipeline.pipeline import OpenPipeline, Pipeline
from fascicle.pipeline.workers import Channel, Process, WorkerEndedError
from fascicle.serving.content import find_writable, format_suffix
from fascicle.serving.messages import JOB_MESSAGES, Broken, JobEnded, JobKind, JobOrder, Reached
from fascicle.serving.problems import ProblemError
from fascicle.settings.pipeline import Limits
from fascicle.settings.serving import ServeSettings

Served = Pipeline | OpenPipeline
_DoJob = Callable[[OpenPipeline, JobOrder, Channel], None]
_FACTS: Final = "job.json"
_ID: Final = re.compile(r"[0-9a-f]{32}")
_LOCK: Final = ".lock"
_WAIT: Final = 0.2  # seconds between two checks whether a job was cancelled
_State = Literal["receiving", "waiting", "running", "done", "failed", "cancelled"]
_OPEN: Final = ("receiving", "waiting", "running")


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job.

    Attributes:
        id: the id that only its client knows.
        status: ``"receiving"``, ``"waiting"``, ``"running"``, ``"done"``, ``"failed"`` or
            ``"cancelled"``.
        kind: ``"annotate"``, ``"texts"`` (files are only read) or ``"names"`` (rows of curation are
            tried on the texts of another job).
        pipeline: name.
        file: name of the file.
        reading: format of the file, or ``"auto"``.
        format: of the result.
        documents: number of finished documents.
        of: documents of the file, as soon as they are counted.
        quarantined: of them, those that are not in the result.
        reasons: ``step: error`` -> number of documents that are not in the result.
        losses: what reading lost or repaired (harmless repairs apart), and what the format of the
            result cannot hold, by code -> number.
        problem: why there is no result.
        who: name of the token that sent it.
    """

    id: str
    status: _State = "receiving"
    kind: JobKind = "annotate"
    pipeline: str
    file: str
    reading: str = "auto"
    format: str
    documents: int = 0
    of: int = 0
    quarantined: int = 0
    reasons: dict[str, int] = {}
    losses: dict[str, int] = {}
    problem: str = ""
    who: str = ""


class JobList(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs that a token may see, in the order in which they came."""

    jobs: tuple[Job, ...]


class Jobs:
    """Queue of all jobs of a service."""

    def __init__(
        self, pipelines: Mapping[str, Served], settings: ServeSettings, *, do: _DoJob
    ) -> None:
        """Creates the queue; no job is started yet.

        Args:
            pipelines: by name.
            settings: of the service.
            do: does a job, in a process of its own.
        """
        self._pipelines, self._settings, self._does = pipelines, settings, do
        self._known: dict[str, Job] = {}
        self._condition = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._folder: Path | None = None
        self._lock: BinaryIO | None = None
        self._own: tempfile.TemporaryDirectory[str] | None = None

    def start(self) -> None:
        """Resumes the jobs of a persistent folder, and starts the thread that runs jobs.

        Raises:
            OutputError: another service has the folder.
        """
        if self._thread is not None:
            return
        if self._settings.jobs_folder:
            self._folder = Path(self._settings.jobs_folder).expanduser().resolve()
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = _lock_folder(self._folder)
            _sweep(self._folder)
            self._known = {
                job.id: job
                for job in map(_read_job, sorted(self._folder.iterdir(), key=_age))
                if job
            }
        else:
            self._own = tempfile.TemporaryDirectory(
                prefix="fascicle-jobs-", ignore_cleanup_errors=True
            )
            self._folder = Path(self._own.name)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops the running job; in a persistent folder, the next service resumes it."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join()
        if self._own is not None:
            self._own.cleanup()
        if self._lock is not None:
            self._lock.close()

    def open(
        self,
        *,
        pipeline: str,
        file: str,
        reading: str = "auto",
        format: str = "jsonl",  # noqa: A002
        who: str = "",
        kind: JobKind = "annotate",
        source: str = "",
    ) -> Job:
        """Creates a job that waits for its file.

        Args:
            pipeline: name.
            file: name of the file, beside the other files of the job.
            reading: format of the file, or ``"auto"``.
            format: of the result.
            who: name of the token that sends it.
            kind: what it does.
            source: id of the job whose texts it needs, which is not removed for it.

        Raises:
            ProblemError: as many jobs wait as may wait, or the pipeline runs in this process.
        """
        self.of_pipeline(pipeline)
        new = Job(
            id=secrets.token_hex(16),
            kind=kind,
            pipeline=pipeline,
            file=file,
            reading=reading,
            format=format,
            who=who,
        )
        with self._condition:
            if sum(job.status in _OPEN for job in self._known.values()) >= self._settings.jobs:
                raise ProblemError(
                    429,
                    "as many jobs are waiting as may wait; send this again later",
                    headers={"Retry-After": "10"},
                )
            self._drop_old(who, source)
            self._place(new.id).mkdir(mode=0o700)
            self.path_of(new).parent.mkdir(exist_ok=True)
            self._known[new.id] = new
        return new

    def path_of(self, job: Job) -> Path:
        """Returns the path for the file of a job."""
        return self._place(job.id) / job.file

    def begin(self, job: Job) -> Job:
        """Queues a job whose file is complete.

        Raises:
            ProblemError: it was cancelled or removed while its file came.
        """
        ready = replace(job, status="waiting")
        with self._condition:
            if self._known.get(job.id) != job:
                raise ProblemError(409, "the job was cancelled while its file came")
            self._keep(ready)
            self._condition.notify_all()
        return ready

    def get(self, name: str) -> Job:
        """Returns a job.

        Raises:
            ProblemError: there is none of this id.
        """
        job = self._known.get(name) if _ID.fullmatch(name) else None
        if job is None:
            raise ProblemError(404, "there is no such job; it may have been removed")
        return job

    def result(self, name: str) -> Path:
        """Returns the path of the result of a job.

        Raises:
            ProblemError: there is none, or none yet.
        """
        job = self.get(name)
        if job.status in _OPEN:
            raise ProblemError(409, "the job is not done yet; check its status first")
        if job.status == "cancelled":
            raise ProblemError(409, "the job was cancelled, so it has no result")
        if job.status != "done":
            raise ProblemError(409, f"the job failed, so it has no result: {job.problem}")
        return self._place(name) / _result(job)

    def all(self) -> tuple[Job, ...]:
        """Returns all jobs, in the order in which they came."""
        with self._condition:
            return tuple(self._known.values())

    def cancel(self, name: str) -> None:
        """Cancels a job, which is then kept without its files; removes one that has ended.

        Raises:
            ProblemError: there is none of this id.
        """
        with self._condition:
            job = self.get(name)
            if job.status not in _OPEN:
                return self.remove(name)
            self._keep(replace(job, status="cancelled"))
        _clear(self._place(name))
        return None

    def remove(self, name: str) -> None:
        """Removes a job.

        Raises:
            ProblemError: there is none of this id.
        """
        with self._condition:
            self.get(name)
            del self._known[name]
        _remove(self._place(name))

    def of_pipeline(self, name: str) -> Served:
        """Returns the object that opens a pipeline in another process.

        Raises:
            ProblemError: it runs in this process.
        """
        served = self._pipelines[name]
        if isinstance(served, Pipeline):
            raise ProblemError(
                501, f"the pipeline {name!r} is open in the service, and takes no jobs"
            )
        return served

    def _place(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / name

    def _drop_old(self, who: str, source: str) -> None:
        """Removes the oldest finished jobs of a token except one, so that no more of them are kept
        than may wait.
        """
        ended = [
            job.id
            for job in self._known.values()
            if job.status not in _OPEN and job.who == who and job.id != source
        ]
        for name in ended[: max(0, len(ended) - self._settings.jobs)]:
            self.remove(name)

    def _keep(self, now: Job) -> None:
        """Stores the state of a job in memory and in its folder."""
        self._known[now.id] = now
        place = self._place(now.id) / _FACTS
        new = place.with_suffix(".new")
        with contextlib.suppress(FileNotFoundError):  # the job was removed meanwhile
            new.write_bytes(msgspec.json.encode(now))
            new.replace(place)

    # -- in the thread of the jobs
    # -------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                self._do(job)
            except Exception as error:  # such as a full disk: only this job fails
                self._end(job.id, Broken(message=f"{type(error).__name__}: {error}"))

    def _next(self) -> Job | None:
        with self._condition:
            while not self._closing:
                for job in self._known.values():
                    if job.status in ("waiting", "running"):
                        return job
                self._condition.wait()
        return None

    def _do(self, job: Job) -> None:
        served = self.of_pipeline(job.pipeline) if job.pipeline in self._pipelines else None
        if served is None or isinstance(served, Pipeline):
            return self._end(
                job.id, Broken(message=f"the pipeline {job.pipeline!r} is not served any more")
            )
        folder = self._place(job.id)
        order = JobOrder(
            kind=job.kind,
            input=str(folder / job.file),
            reading=job.reading,
            folder=str(folder),
            output=str(folder / _result(job)),
            format=job.format,
            workers=self._settings.workers,
            limits=getattr(served, "limits", None) or Limits(),
            characters=self._settings.job,
        )
        process = Process(partial(self._does, served, order), JOB_MESSAGES)
        try:
            end = self._wait_for_end(job.id, process)
        except WorkerEndedError as ended:
            end = Broken(message=f"its process ended ({ended.reason})")
        finally:
            process.kill()
            process.close()
        if end is not None:
            self._end(job.id, end)
        elif not self._runs(job.id):
            _clear(folder)
        return None

    def _wait_for_end(
        self, name: str, process: Process[Reached | JobEnded | Broken]
    ) -> JobEnded | Broken | None:
        """Notes the progress of a job until it ends; returns ``None`` if it is not to go on."""
        while self._runs(name) and not self._closing:
            message = process.receive(_WAIT)
            if isinstance(message, Reached):
                self._reach(name, message)
            elif message is not None:
                return message
        return None

    def _runs(self, name: str) -> bool:
        """True if a job was neither removed nor cancelled."""
        return name in self._known and self._known[name].status in _OPEN

    def _reach(self, name: str, reached: Reached) -> None:
        with self._condition:
            if (now := self._known.get(name)) is not None and now.status in _OPEN:
                self._known[name] = replace(
                    now, status="running", **msgspec.structs.asdict(reached)
                )

    def _end(self, name: str, end: JobEnded | Broken) -> None:
        with self._condition:
            if (now := self._known.get(name)) is None or now.status not in _OPEN:
                return
            if isinstance(end, Broken):
                self._keep(replace(now, status="failed", problem=end.message))
            else:
                facts = msgspec.structs.asdict(end)
                self._keep(replace(now, status="done", of=end.documents, **facts))


def _result(job: Job) -> str:
    return f"result{format_suffix(find_writable(job.format))}"


def _read_job(folder: Path) -> Job | None:
    """Reads a job of an earlier service."""
    try:
        return msgspec.json.decode((folder / _FACTS).read_bytes(), type=Job)
    except (OSError, msgspec.MsgspecError):
        return None  # such as one whose file did not come


def _age(folder: Path) -> float:
    try:
        return (folder / _FACTS).stat().st_mtime
    except OSError:
        return time.time()


def _lock_folder(folder: Path) -> BinaryIO:
    """Locks a folder against other services, until the returned file is closed or the process ends.

    Raises:
        OutputError: another service has it.
    """
    stream = (folder / _LOCK).open("ab")
    message = f"another service keeps jobs in {folder}; give this one a folder of its own"
    try:
        lock(stream, refusal=OutputError(message, file=str(folder)))
    except OutputError:
        stream.close()
        raise
    return stream


def _sweep(folder: Path) -> None:
    """Removes incomplete folders: jobs that were not accepted, or were being removed, when a
    service was killed.
    """
    for path in folder.iterdir():
        if (
            _ID.fullmatch(path.name)
            and path.is_dir()
            and not path.is_symlink()
            and not (path / _FACTS).exists()
        ):
            shutil.rmtree(path, ignore_errors=True)


def _clear(place: Path) -> None:
    """Removes the files of a job, but not its state."""
    for path in place.glob("*"):
        if path.name != _FACTS:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(
                missing_ok=True
            )


def _remove(place: Path) -> None:
    """Removes the folder of a job, its state file first, so that the job does not return after a
    kill.
    """
    with contextlib.suppress(OSError):
        (place / _FACTS).unlink()
    shutil.rmtree(place, ignore_errors=True)
