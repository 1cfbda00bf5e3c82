"""The folder of a run: parts that a marker names, and nothing that is half written."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.errors import OutputError
from fascicle.files.atomic import place_errors, sync_folder
from fascicle.running.plan import Shard
from fascicle.running.records import SCHEMA, Done, FileFacts, Manifest, Quarantined

MANIFEST: Final = "manifest.json"
SUCCESS: Final = "_SUCCESS"
LOCK: Final = ".fascicle-run.lock"
UNREAD: Final = "quarantine-read.jsonl"
_TEMPORARY: Final = ".fascicle-run-*.tmp"


class RunFolder:
    """Where a run writes.

    Attributes:
        path: of the folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Opens nothing yet."""
        self.path = Path(path)

    @property
    def is_begun(self) -> bool:
        """Whether a run was begun there."""
        return (self.path / MANIFEST).is_file()

    @property
    def is_complete(self) -> bool:
        """Whether the run has ended with its proof."""
        return (self.path / SUCCESS).is_file()

    def check(self, *, resume: bool) -> None:
        """Says early whether a run can be written there.

        Raises:
            OutputError: it is a file, or holds something else, or a run that is not to go on.
        """
        if self.path.exists() and not self.path.is_dir():
            raise OutputError(f"{self.path} is a file; give the name of a folder to write", file=str(self.path))
        if not self.path.is_dir():
            if not self.path.absolute().parent.is_dir():
                raise OutputError(
                    f"the folder {self.path.parent} does not exist; make it first, or give another place",
                    file=str(self.path.parent),
                    code="not-found",
                )
            return
        if self.is_begun:
            if not resume:
                what = "is complete" if self.is_complete else "was interrupted"
                raise OutputError(
                    f"{self.path} holds a run that {what}; give another name, or resume=True to go on with it",
                    file=str(self.path),
                    code="exists",
                )
        elif any(entry.name not in (LOCK, UNREAD) and not _is_ours(entry.name) for entry in self.path.iterdir()):
            raise OutputError(
                f"{self.path} holds something else than a run; give the name of a new folder",
                file=str(self.path),
                code="exists",
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keeps other runs out of the folder, which is made if it is not there, and clears what a kill left.

        Raises:
            OutputError: another run holds it, or it cannot be written.
        """
        with place_errors(self.path):
            self.path.mkdir(exist_ok=True)
            lock = (self.path / LOCK).open("ab")
        try:
            with contextlib.suppress(ImportError):  # a system without such locks: two runs at once are not told apart
                import fcntl

                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise OutputError(
                        f"another run is writing into {self.path}; wait for it, or stop it", file=str(self.path)
                    ) from None
                except OSError:
                    pass  # a file system without locks
            self.clear()
            yield
        finally:
            self.clear()
            lock.close()

    def clear(self) -> None:
        """Removes what was not finished."""
        for file in self.path.glob(_TEMPORARY):
            file.unlink(missing_ok=True)

    @contextmanager
    def written(self, name: str) -> Iterator[BinaryIO]:
        """A file that takes its name when it is complete and on the disk; one of that name is replaced."""
        target = self.path / name
        temporary = self.path / f".fascicle-run-{name}.{os.getpid()}.tmp"
        with place_errors(target):
            try:
                with temporary.open("wb") as stream:
                    yield stream
                    stream.flush()
                    os.fsync(stream.fileno())
                temporary.replace(target)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            sync_folder(self.path)

    def write_json(self, name: str, value: object) -> None:
        """Writes one value."""
        with self.written(name) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")

    def write_quarantine(self, name: str, records: Iterable[Quarantined]) -> None:
        """Writes records, one a line."""
        with self.written(name) as stream:
            for record in records:
                stream.write(msgspec.json.encode(record) + b"\n")

    def facts(self, name: str) -> FileFacts:
        """What a marker says of a file."""
        with (self.path / name).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return FileFacts(name=name, size=(self.path / name).stat().st_size, sha256=digest)

    def manifest(self, name: str = MANIFEST) -> Manifest:
        """What the run consists of.

        Args:
            name: of the file; a retry has one of its own.

        Raises:
            OutputError: there is no run, it is damaged, or of another version.
        """
        found: Manifest = self._read(name, Manifest)
        if found.fascicle_run != SCHEMA:
            raise OutputError(
                f"{self.path} is a run of the form {found.fascicle_run}; this release reads the form {SCHEMA}",
                file=str(self.path),
                code="version",
            )
        return found

    def done(self, shards: Iterable[Shard]) -> dict[str, Done]:
        """The markers of the shards that are done, by name; a marker whose part is not there does not count."""
        found = {}
        for shard in shards:
            marker = self.path / f"done-{shard.name}.json"
            if marker.is_file():
                done: Done = self._read(marker.name, Done)
                if self._is_there(done.part) and (done.quarantine is None or self._is_there(done.quarantine)):
                    found[shard.name] = done
        return found

    def retries(self) -> list[Done]:
        """The markers of what was tried again, in order."""
        return [self._read(file.name, Done) for file in sorted(self.path.glob("done-retry-*.json"))]

    def quarantine(self, name: str) -> Iterator[Quarantined]:
        """The records of a file."""
        with (self.path / name).open("rb") as stream:
            for line in stream:
                yield msgspec.json.decode(line, type=Quarantined)

    def _is_there(self, facts: FileFacts) -> bool:
        file = self.path / facts.name
        return file.is_file() and file.stat().st_size == facts.size

    def _read(self, name: str, kind: type[Any]) -> Any:
        file = self.path / name
        try:
            return msgspec.json.decode(file.read_bytes(), type=kind)
        except FileNotFoundError:
            raise OutputError(
                f"{self.path} holds no run, for it has no {name}; give a folder that fascicle run wrote",
                file=str(self.path),
                code="not-found",
            ) from None
        except (OSError, msgspec.MsgspecError, ValueError) as error:
            raise OutputError(f"{file} is damaged ({error}); begin anew in another folder", code="damaged") from None


def refuse_another(folder: Path, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Refuses to go on with the run of another pipeline, other inputs or other options.

    Raises:
        OutputError: the sentence names what differs.
    """
    other = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if other:
        told = " and ".join(f"another {name}" for name in other)
        raise OutputError(
            f"{folder} is of a run with {told}, so it cannot go on; give what was given then, or another folder",
            file=str(folder),
        )


def _is_ours(name: str) -> bool:
    return name.startswith(".fascicle-run-")
