"""Folder of a training run: creates, locks and cleans it, and checks its recipe and its data."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import metadata, resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.core.files.atomic import atomic_text_writer
from fascicle.core.files.owned import changed_files, remove_empty, remove_owned
from fascicle.core.files.temporary import lock_folder
from fascicle.errors import OutputError
from fascicle.settings.base import Settings

_PACKAGES: Final = (
    "fascicle",
    "accelerate",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "torch",
    "transformers",
)
# beginnings, and "bf16"
_FLAGS: Final = ("avx", "avx2", "fma", "avx512", "amx", "avx_vnni", "bf16", "asimd", "sve")
_VARIABLES: Final = (
    "ATEN_CPU_CAPABILITY",
    "CUBLAS_WORKSPACE_CONFIG",
    "DNNL_MAX_CPU_ISA",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "ONEDNN_MAX_CPU_ISA",
    "PYTORCH_CUDA_ALLOC_CONF",
)
_DECIDING: Final = MappingProxyType(
    {
        "packages": "versions of packages",
        "sources": "code of Fascicle",
        "processor": "processor",
        "processor_model": "processor model",
        "instructions": "vector instructions",
        "torch_instructions": "vector instructions that torch uses",
        "threads": "threads",
        "accelerator": "accelerator",
        "precision": "arithmetic",
        "variables": "environment variables",
    }
)
# Files that a run writes before its first scoring; in a folder that it created itself, no other
# program wrote them.
_BEGUN: Final = ("recipe.json", "run.json", "split.json", "metrics.jsonl")
RECIPE, FACTS, METRICS, SCORES, STATE = (
    "recipe.json",
    "run.json",
    "metrics.jsonl",
    "scores.json",
    "state",
)


def describe_environment() -> dict[str, Any]:
    """Returns versions of the libraries, the machine, and the settings that determine the order
    of sums.
    """
    import torch

    cpuinfo = _cpuinfo()
    flags = (cpuinfo.get("flags") or cpuinfo.get("Features") or "").split()
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "sources": sources_sha256()[:16],
        "system": platform.system(),
        "processor": cpuinfo.get("model name", "") or platform.processor() or platform.machine(),
        "processor_model": "-".join(
            cpuinfo.get(key, "?") for key in ("cpu family", "model", "stepping")
        ),
        "instructions": sorted(flag for flag in flags if flag.startswith(_FLAGS)),
        "torch_instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "threads": torch.get_num_threads(),
        "interop_threads": torch.get_num_interop_threads(),
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        "accelerator": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def differences(environment: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Lists differences between two environments that may change the last digits of a result.

    Args:
        environment: of ``describe_environment``, with ``precision``; a key that it lacks is not
            compared, as earlier releases wrote fewer.
        other: the same.

    Returns:
        Each difference in a few words; none means that one recipe with one seed gives the same bits
        in both.
    """
    texts = []
    for key, name in _DECIDING.items():
        ours, theirs = environment.get(key), other.get(key)
        if None not in (ours, theirs) and ours != theirs:
            texts.append(f"{name}: {_format_value(ours, theirs)} and {_format_value(theirs, ours)}")
    return texts


def _format_value(value: object, other: object) -> str:
    """Formats a value; for a table or a list only the entries that the other one lacks."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return (
            ", ".join(f"{key} {of}" for key, of in value.items() if other.get(key) != of) or "none"
        )
    if isinstance(value, list) and isinstance(other, list):
        return ", ".join(str(entry) for entry in value if entry not in other) or "no more"
    return str(value)


def sources_sha256() -> str:
    """Returns the hash of the code of this package: the version number does not identify a
    checkout.
    """
    root = Path(str(resources.files("fascicle")))
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def use_threads(count: int | None) -> None:
    """Limits the CPU threads of all later computations of torch; ``None`` changes nothing."""
    import torch

    if count is not None:
        torch.set_num_threads(count)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _cpuinfo() -> dict[str, str]:
    """Returns the facts that Linux gives about the first processor."""
    info, facts = Path("/proc/cpuinfo"), dict[str, str]()
    if info.exists():
        first = info.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
        for line in first.splitlines():
            name, _, value = line.partition(":")
            facts[name.strip()] = value.strip()
    return facts


class Start:
    """Creates the folder of a run, records whether this process did, and keeps other processes
    out of it.
    """

    def __init__(self, folder: Path, claims: ExitStack) -> None:
        """Starts without touching the folder.

        Args:
            folder: of the run.
            claims: stack of locks that are held until the run ends.
        """
        self.folder, self.is_fresh = folder, False
        self._claims = claims

    def claim(self) -> None:
        """Locks the folder, if it exists, until the run ends; the system releases the lock when a
        process is killed.

        Raises:
            OutputError: another process holds it.
        """
        place = Path(os.path.realpath(self.folder))  # the target of a link
        if place.is_dir() and not self._claims.enter_context(lock_folder(place)):
            raise OutputError(
                f"another process trains in {self.folder}; wait until it ends, or give another run "
                "folder"
            )

    def make(self, *, resume: bool = False) -> None:
        """Creates the folder.

        Args:
            resume: whether it may exist.

        Raises:
            OutputError: it exists, perhaps since a moment ago, or it cannot be created.
        """
        is_new = not self.folder.exists()
        try:
            self.folder.mkdir(parents=True, exist_ok=resume)
        except OSError as error:
            if self.folder.exists():
                raise OutputError(
                    f"the run folder {self.folder} exists already; choose another"
                ) from None
            raise OutputError(
                f"the run folder {self.folder} cannot be made: {error.strerror}; give another place"
            ) from None
        if is_new:
            self.claim()
            self.is_fresh = True


@contextmanager
def remove_if_empty(folder: Path, *, sign: str) -> Iterator[Start]:
    """Removes the files of a run that ends before its first result, since its folder would block
    the next attempt.

    One process at a time works in a folder. A folder that was there before stays as it is. Files
    that somebody else put into a new one stay, and so does it.

    Args:
        folder: of the run.
        sign: name of a file that exists as soon as the run has a result.

    Yields:
        The object that creates the folder.

    Raises:
        OutputError: another process works in the folder.
    """
    with ExitStack() as claims:
        start = Start(folder, claims)
        start.claim()
        try:
            yield start
        except BaseException:
            if start.is_fresh and not (folder / sign).exists():
                _discard(folder)
            raise


def check_inputs_outside(folder: Path, inputs: Mapping[str, str]) -> None:
    """Refuses a run that reads files in its own folder, which it would overwrite.

    Args:
        folder: of the run.
        inputs: key of the recipe -> path.

    Raises:
        OutputError: an input lies in the folder, under whatever name it is given.
    """
    place = Path(os.path.realpath(folder))
    for key, path in inputs.items():
        if Path(os.path.realpath(path)).is_relative_to(place):
            raise OutputError(
                f"{key} of the recipe is {path}, which lies in the run folder {folder}; choose "
                "another"
            )


def _discard(folder: Path) -> None:
    for name in _BEGUN:
        (folder / name).unlink(missing_ok=True)
    for file in (folder / "predictions").glob("dev*.tsv"):
        file.unlink(missing_ok=True)
    with contextlib.suppress(OSError, OutputError):
        for inner in (folder / "state", *folder.glob("best*")):
            remove_owned(inner, kind="run")
    remove_empty(folder)


_NAMES = MappingProxyType(
    {f"distant.{name}": "the dictionary" for name in ("core", "full")}
    | {
        "exclude": "the exclusion list",
        "text.exclude": "the exclusion list",
        "vectors": "the file of vectors",
        "teacher.model": "the teacher",
        "model.start": "the model that training starts from",
        "weak_labels": "the file of labels",
    }
    | {f"{table}.types": "the description of the types" for table in ("model", "bundle")}
)


def check_run_folder(folder: Path, recipe: Settings, *, resume: bool) -> None:
    """Refuses a folder that holds anything except the run to resume.

    Args:
        folder: of the run.
        recipe: of the run.
        resume: whether to resume.

    Raises:
        OutputError: the folder exists, or holds no run of this recipe that could be resumed.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputError(f"{folder} is a file; give the name of a new folder for the run")
    if not resume:
        raise OutputError(
            f"the run folder {folder} exists already; choose another, or continue it with "
            "resume=True"
        )
    resolved = folder / RECIPE
    if not resolved.is_file():
        raise OutputError(f"{folder} holds no run to resume; choose another folder")
    if not _is_of(resolved, recipe):
        raise OutputError(
            f"the run in {folder} was started from another recipe; resume it with its own"
        )
    if (folder / SCORES).exists():
        raise OutputError(f"the run in {folder} is complete; choose another folder for a new one")


def _is_of(resolved: Path, recipe: Settings) -> bool:
    """True if a run has this recipe; settings that its release did not have yet must have their
    defaults.
    """
    try:
        return msgspec.json.decode(resolved.read_bytes(), type=type(recipe)) == recipe
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


def start_folder(start: Start, recipe: Settings, *, resume: bool) -> None:
    """Creates the folder of a run and writes its recipe.

    Args:
        start: of the folder.
        recipe: of the run.
        resume: whether the folder may be there.

    Raises:
        OutputError: it exists, or cannot be written.
    """
    start.make(resume=resume)
    (start.folder / "predictions").mkdir(exist_ok=True)
    with atomic_text_writer(start.folder / RECIPE, overwrite=True) as stream:
        stream.write(recipe_text(recipe))


def recipe_text(recipe: Settings) -> str:
    """Returns the content of ``recipe.json``, by which the run of a recipe is recognised."""
    return msgspec.json.format(msgspec.json.encode(recipe)).decode("utf-8")


def read_run_facts(folder: Path) -> dict[str, Any]:
    """Returns the content of ``run.json``; empty if a run was killed before it was written.

    Raises:
        OutputError: it cannot be read, or is missing although the run has begun.
    """
    path = folder / FACTS
    if not path.is_file() and not (folder / METRICS).exists():
        return {}
    with resume_errors(path):
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        facts["data"]  # in files of every version
    return facts


@contextmanager
def resume_errors(path: Path) -> Iterator[None]:
    """Converts errors of reading in the block to an error that the run cannot be resumed from this
    file.

    Args:
        path: the path that is read in the block.

    Raises:
        OutputError: it is missing, is damaged, or lacks entries of this version.
    """
    try:
        yield
    except (
        FileNotFoundError,
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        reason = (
            f"it has no {error}"
            if isinstance(error, KeyError)
            else str(error) or type(error).__name__
        )
        raise OutputError(
            f"{path} was damaged, or written by another version, so the run cannot go on "
            f"({' '.join(reason.split())}); start a new run",
            file=str(path),
        ) from error


def check_unchanged(folder: Path) -> None:
    """Refuses to resume from files that have changed since they were written, and that would still
    be readable.

    Raises:
        OutputError: a file is missing or was changed.
    """
    for name in changed_files(folder):
        raise OutputError(
            f"{folder / name} was damaged, or changed by another program, so the run cannot go "
            "on; start a new run",
            file=str(folder / name),
            code="damaged",
        )


def check_same_data(folder: Path, before: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Refuses to resume with other data than those with which the run began.

    Args:
        folder: of the run.
        before: content of ``run.json``.
        facts: name of the data -> facts about them now, with ``sha256``.

    Raises:
        OutputError: their hashes differ, or ``run.json`` does not have them.
    """
    now = {name: of["sha256"] for name, of in facts.items()}
    with resume_errors(folder / FACTS):
        then = {name: of["sha256"] for name, of in before["data"].items()}
    other = {name for name in then | now if then.get(name) != now.get(name)}
    if other:
        what = sorted({_name_of(name) for name in other})
        verb = "has" if len(what) == 1 else "have"
        raise OutputError(
            f"{' and '.join(what)} {verb} changed since the run in {folder} began; start a new run"
        )


def _name_of(data: str) -> str:
    """Returns the user's name for some data."""
    if data.startswith("text.files."):
        return "the text"
    if data.startswith("members."):
        return "predictions of members"
    # "parts.NAME.exclude"
    return _NAMES.get(data) or _NAMES.get(data.rpartition(".")[2], "the corpus")


def write_json(path: Path, value: object) -> None:
    """Writes a JSON file completely or not at all."""
    with atomic_text_writer(path, overwrite=True) as stream:
        stream.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
