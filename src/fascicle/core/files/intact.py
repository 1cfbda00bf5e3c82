"""Check that files still have the content with which they were written.

Their hashes are compared. For folders with many bytes, a stamp in the user's cache records the
state of the files when they were hashed: they are hashed again only if the state differs. A state
is device, inode, size, and the times of change of content and of inode, so that a copy with the old
times has another state. A state is recorded only if it was the same before and after the files were
read, and is older than the resolution of file system clocks: files written in the same tick as the
reading are hashed again. If no stamp can be written, the files are hashed each time.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec
from msgspec import UNSET

from fascicle.core.files.atomic import atomic_writer
from fascicle.core.files.owned import file_facts
from fascicle.errors import FascicleError, ModelError
from fascicle.settings.folders.manifest import MANIFEST, TYPES_GRAPH

LARGE: Final = (
    1 << 22
)  # bytes up to which files are hashed each time, which takes about ten milliseconds
SETTLED: Final = 3 * 10**9  # nanoseconds: the clocks of file systems are at most two seconds coarse
_State = tuple[int, ...]
_FILES = {
    "onnx": frozenset({"model.onnx", "tokenizer.json"}),
    "torch": frozenset({"encoder.json", "model.safetensors", "tokenizer.json"}),
}


class _Inventory(Protocol):
    """Description of the files that a folder should contain."""

    @property
    def runtime(self) -> Literal["torch", "onnx"]:
        """Runtime of the model."""
        ...

    @property
    def files(self) -> Mapping[str, str]:
        """SHA-256 of each file."""
        ...


def check_files(folder: Path, manifest: _Inventory, *, name: str = MANIFEST) -> None:
    """Compares the hashes of files, so that a truncated or exchanged file is found before it gives
    wrong mentions.

    Args:
        folder: folder of a model.
        manifest: its description.
        name: name of the description file.

    Raises:
        ModelError: a file that is missing, changed, or not listed with its hash.
    """
    second = {TYPES_GRAPH} if getattr(manifest, "types_graph", UNSET) else set()
    unlisted = (_FILES[manifest.runtime] | second) - manifest.files.keys()
    if unlisted:
        raise ModelError(
            f"{folder / name} has no hash of {min(unlisted)}; copy or export the folder again"
        )
    sizes = {}
    for file in manifest.files:
        if Path(file).name != file:
            raise ModelError(
                f"{folder / name} names the file {file!r}, which is not inside its folder"
            )
        path = folder / file
        if not path.is_file():
            raise ModelError(f"the model folder {folder} lacks {file}; copy or export it again")
        sizes[file] = path.stat().st_size
    if changed := first_changed(
        folder, {name: (size, manifest.files[name]) for name, size in sizes.items()}
    ):
        raise ModelError(
            f"{folder / changed} is damaged: its hash is not the one in {name}; copy or export it "
            "again",
            file=str(folder / changed),
            code="damaged",
        )


def first_changed(folder: Path, files: Mapping[str, tuple[int, str]]) -> str | None:
    """Finds a file that differs from its recorded size and hash.

    Args:
        folder: folder of the files.
        files: size and SHA-256 of each file, by its name in the folder.

    Returns:
        Name of the first file that changed or is missing; ``None`` if there is none.
    """
    states = _states(folder, files)
    for name, (size, _) in files.items():
        if states.get(name, (0, 0, -1))[2] != size:
            return name
    if sum(size for size, _ in files.values()) <= LARGE:
        return _first_other(folder, files)
    stamp = msgspec.json.encode([[name, files[name][1], *states[name]] for name in sorted(files)])
    place = stamp_path(folder)
    if _content(place) == stamp:
        return None
    now = time.time_ns()
    changed = _first_other(folder, files)
    is_settled = all(0 <= max(state[3:]) < now - SETTLED for state in states.values())
    if changed is None and is_settled and _states(folder, files) == states:
        _keep(place, stamp)
    return changed


def stamp_path(folder: Path) -> Path:
    """Returns the path of the stamp of a folder."""
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    home = os.path.expanduser("~")  # noqa: PTH111
    cache = Path(base) if base and Path(base).is_absolute() else Path(home, ".cache")
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()
    return cache / "fascicle" / "intact" / f"{name}.json"


def _states(folder: Path, files: Mapping[str, object]) -> dict[str, _State]:
    """Returns the states of those files that exist."""
    states: dict[str, _State] = {}
    for name in files:
        try:
            status = (folder / name).stat()
        except OSError:
            continue
        states[name] = (
            status.st_dev,
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
        )
    return states


def _first_other(folder: Path, files: Mapping[str, tuple[int, str]]) -> str | None:
    return next((name for name, facts in files.items() if file_facts(folder / name) != facts), None)


def _content(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError:
        return b""


def _keep(place: Path, stamp: bytes) -> None:
    """Writes a stamp if possible; without one the files are hashed again, which is only slower."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_writer(place, overwrite=True) as stream:
            stream.write(stamp)
    except (OSError, FascicleError):
        return
