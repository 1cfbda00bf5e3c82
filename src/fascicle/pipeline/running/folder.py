"""Folder of a run, and its manifest: written before any work, and extended by an update."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final, TypeVar

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import InputError, OutputError
from fascicle.pipeline.running.places import is_run_file, open_place
from fascicle.pipeline.running.records import (
    SCHEMA,
    Entry,
    MarkerFile,
    Quarantined,
    RunManifest,
    Shard,
    ShardMarker,
)

MANIFEST: Final = "manifest.json"
SUCCESS: Final = "_SUCCESS"
UNREAD: Final = "quarantine-read.jsonl"
# how the names of `fascicle.pipeline.running.folder.SavedResults` begin
SAVED: Final = ".fascicle-run-saved-"
HISTORY: Final = ".fascicle-run-ids-{:04d}.jsonl"
_RETRY: Final = re.compile(r"done-retry-\d+\.json")
_TRIED: Final = re.compile(r"(?:(?:done|part|quarantine)-)?retry-\d+\..+")
_TOGETHER: Final = 8  # files that are hashed side by side
_T = TypeVar("_T")


class RunFolder:
    """Output folder of a run, with methods to read and write its files.

    Attributes:
        name: path or URL of the folder, as it was given.
        place: where its files are kept.
    """

    def __init__(self, name: str | os.PathLike[str]) -> None:
        """Sets the place; opens nothing yet.

        Raises:
            MissingExtraError: a URL, and fsspec or the package for its kind is not installed.
            UsageError: a URL of a kind that is not known.
        """
        self.name = os.fspath(name)
        self.place = open_place(self.name)

    @property
    def is_begun(self) -> bool:
        """True if a run was begun there."""
        return MANIFEST in self.place.sizes()

    def check(self, *, resume: bool) -> None:
        """Checks early that a run can be written to the folder.

        Raises:
            OutputError: the folder is a file, or holds something else, or a run that is not to be
                continued.
        """
        self.place.check()
        names = self.place.sizes()
        if MANIFEST in names:
            if not resume:
                what = "is complete" if SUCCESS in names else "was interrupted"
                raise OutputError(
                    f"{self.name} holds a run that {what}; give another name, or resume=True to "
                    "go on with it",
                    file=self.name,
                    code="exists",
                )
        elif any(name != UNREAD and not is_run_file(name) for name in names):
            raise OutputError(
                f"{self.name} holds something else than a run; give the name of a new folder",
                file=self.name,
                code="exists",
            )

    def of_run(self, mark: str) -> RunFolder:
        """Returns itself for a worker, which stops writing when another run has begun to write
        there.
        """
        self.place.of_run(mark)
        return self

    def content(self, name: str) -> bytes:
        """Returns the bytes of a small file; empty if it does not exist."""
        try:
            return next(self.place.read([name]))
        except FileNotFoundError:
            return b""

    def write_json(self, name: str, value: object) -> None:
        """Writes one value."""
        with self.place.written(name) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")

    def write_quarantine(self, name: str, records: Iterable[Quarantined]) -> None:
        """Writes records, one a line."""
        with self.place.written(name) as stream:
            for record in records:
                stream.write(msgspec.json.encode(record) + b"\n")

    def facts(self, name: str) -> MarkerFile:
        """Returns name, size and hash of a file, read from the place where it is kept."""
        with self.place.opened(name) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            return MarkerFile(name=name, size=stream.tell(), sha256=digest)

    def manifest(self, name: str = MANIFEST) -> RunManifest:
        """Reads the manifest of the run.

        Args:
            name: of the file; a retry has one of its own.

        Raises:
            OutputError: there is no run, it is damaged, or of another version.
        """
        (manifest,) = self._read_records([name], RunManifest)
        if manifest.fascicle_run != SCHEMA:
            raise OutputError(
                f"{self.name} is a run of the form {manifest.fascicle_run}; this release reads the "
                f"form {SCHEMA}",
                file=self.name,
                code="version",
            )
        return manifest

    def done(self, shards: Iterable[Shard]) -> Iterator[ShardMarker]:
        """Yields the markers of finished shards, in order; a marker whose part is missing does
        not count.
        """
        sizes = self.place.sizes()
        begun = {name: shard for shard in shards if (name := f"done-{shard.name}.json") in sizes}
        for shard, marker in zip(
            begun.values(), self._read_records(list(begun), ShardMarker), strict=True
        ):
            files = [facts for facts in (marker.part, marker.quarantine) if facts is not None]
            if marker.left_out == shard.left_out and all(
                sizes.get(file.name) == file.size for file in files
            ):
                yield marker

    def unchanged(self, markers: Iterable[ShardMarker]) -> Iterator[ShardMarker]:
        """Yields the markers whose files are intact; others are removed, and the proof before
        them.
        """
        remaining = iter(markers)
        with ThreadPoolExecutor(_TOGETHER) as pool:
            while some := list(islice(remaining, _TOGETHER)):
                for marker, is_whole in zip(some, pool.map(self.is_whole, some), strict=True):
                    if is_whole:
                        yield marker
                    else:
                        self.place.remove([SUCCESS, f"done-{marker.shard}.json"])

    def is_whole(self, marker: ShardMarker) -> bool:
        """True if the files of a marker have the sizes and hashes that it records."""
        try:
            return all(
                self.facts(file.name) == file
                for file in (marker.part, marker.quarantine)
                if file is not None
            )
        except (FileNotFoundError, InputError):
            return False  # it is not there

    def answered(self, shard: Shard) -> tuple[dict[str, Document], bool]:
        """Returns the documents of a shard as they were done before an update excluded more of
        them, by id.

        The parts must be in the format that holds everything. If a part differs from its marker,
        none are returned.

        Returns:
            The documents, and whether they are all that the shard has now, in order.
        """
        name = f"done-{shard.name}.json"
        if not shard.left_out or not self.content(name):
            return {}, False
        (marker,) = self._read_records([name], ShardMarker)
        try:
            with self.place.opened(marker.part.name) as stream:
                lines = stream.readlines()
        except FileNotFoundError:
            return {}, False
        before, now = set(marker.left_out), set(shard.left_out)
        if not before <= now or hashlib.sha256(b"".join(lines)).hexdigest() != marker.part.sha256:
            return {}, False
        if not marker.quarantined:
            places = (at for at in range(shard.count + len(now)) if at not in before)
            lines = [line for at, line in zip(places, lines, strict=True) if at not in now]
        return {
            document.id: document for document in map(codec.decode, lines)
        }, not marker.quarantined

    def retries(self) -> list[ShardMarker]:
        """Returns the markers of retries, in order."""
        return list(
            self._read_records(
                sorted(name for name in self.place.sizes() if _RETRY.fullmatch(name)), ShardMarker
            )
        )

    def history(self, plans: int) -> Iterator[Entry]:
        """Yields the entries of the documents that the run was planned with.

        Args:
            plans: how many plans there are.
        """
        for number in range(plans):
            with self.place.opened(HISTORY.format(number)) as stream:
                for line in stream:
                    yield msgspec.json.decode(line, type=Entry)

    def reopen(self) -> None:
        """Removes the proof and all retries, so that the retried documents are in quarantine
        again.
        """
        self.place.remove(
            [name for name in self.place.sizes() if name == SUCCESS or _TRIED.fullmatch(name)]
        )

    def sweep(self) -> None:
        """Removes the saved results of shards that have their markers now."""
        self.place.remove([name for name in self.place.sizes() if name.startswith(SAVED)])

    def quarantine(self, name: str) -> Iterator[Quarantined]:
        """Yields the records of a file."""
        with self.place.opened(name) as stream:
            for line in stream:
                yield msgspec.json.decode(line, type=Quarantined)

    def _read_records(self, names: Sequence[str], kind: type[_T]) -> Iterator[_T]:
        contents = self.place.read(names)
        for name in names:
            try:
                record = msgspec.json.decode(next(contents), type=kind)
            except FileNotFoundError:
                raise OutputError(
                    f"{self.name} holds no run, for it has no {name}; give a folder that "
                    "fascicle run wrote",
                    file=self.name,
                    code="not-found",
                ) from None
            except (OSError, msgspec.MsgspecError, ValueError) as error:
                raise OutputError(
                    f"{self.place.at(name)} is damaged ({error}); start again in another folder",
                    code="damaged",
                ) from None
            yield record


def refuse_other_run(
    folder: str, before: Mapping[str, str], now: Mapping[str, str], *, advice: str = ""
) -> None:
    """Raises an error if the run has another pipeline, other inputs or other options.

    Args:
        folder: of the run.
        before: what decided its bytes.
        now: what would decide them.
        advice: how else than then it can go on.

    Raises:
        OutputError: the sentence names what differs.
    """
    other = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if other:
        differences = " and ".join(f"another {name}" for name in other)
        raise OutputError(
            f"{folder} is of a run with {differences}, so it cannot continue; give what was given "
            f"then{advice}, or another folder",
            file=folder,
        )


_EVERY: Final = 32  # documents in a file of what is saved
_WORTH: Final = 96  # documents of a shard, which a kill may cost: a smaller shard has no such files


class SavedResults:
    """Saved results of an unfinished shard, in small files, so that a killed worker loses few
    documents.

    They hold the results of the steps, so the part has the same bytes with and without them.
    """

    def __init__(self, folder: RunFolder, shard: Shard, manifest: RunManifest) -> None:
        """Reads nothing yet.

        Args:
            folder: of the run.
            shard: the shard that is done.
            manifest: of the run; what a shard of the same name has by another pipeline does not
                count.
        """
        made_by = msgspec.json.encode(
            [shard.sha256, shard.left_out, manifest.made_by], order="deterministic"
        )
        self._name = (
            f"{SAVED}{shard.name}-{hashlib.sha256(made_by).hexdigest()[:16]}-{{:04d}}.jsonl"
        )
        self._folder, self._is_worth = folder, shard.count > _WORTH
        self._files, self._waiting = 0, list[Document]()
        self._since = time.monotonic()

    def documents(self) -> dict[str, Document]:
        """Returns the documents that an earlier, killed attempt has finished, by id."""
        documents: dict[str, Document] = {}
        while self._is_worth and (content := self._folder.content(self._name.format(self._files))):
            digest, _, lines = content.partition(b"\n")
            if digest != _digest(lines):
                break  # the power failed; the next file takes its name
            documents.update(
                (document.id, document) for document in map(codec.decode, lines.splitlines())
            )
            self._files += 1
        return documents

    def add(self, document: Document) -> None:
        """Saves a document, at the latest together with some later ones."""
        if not self._is_worth:
            return
        self._waiting.append(document)
        if (
            len(self._waiting) >= _EVERY
            and time.monotonic() - self._since >= self._folder.place.pause
        ):
            content = b"".join(codec.encode(document) + b"\n" for document in self._waiting)
            with self._folder.place.written(
                self._name.format(self._files), durable=False
            ) as stream:
                stream.write(_digest(content) + b"\n" + content)
            self._files += 1
            self._waiting.clear()
            self._since = time.monotonic()

    def remove(self) -> None:
        """Removes the saved results, when the shard has its marker."""
        if self._files:
            self._folder.place.remove([self._name.format(number) for number in range(self._files)])


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
