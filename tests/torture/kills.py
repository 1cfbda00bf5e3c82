"""Kills commands at random moments, or lets them run out of room; what is done stays, and the
result is the same.

``python -m tests.torture.kills [--count N] [--disks N] [--seed N] [COMMAND ...]`` tries
``annotate``, ``run``, ``index`` (build) and ``train``. A trial is one command that is disturbed,
and the same command again. The first ends by SIGKILL; or its files may not grow beyond a random
size; or its disk has a random size; or its disk cannot be written any more from a random moment on.
The two last kinds mount a file system of memory, which root alone may do. A trial fails if a file
under its final name is not whole, if a command that is not killed does not end in one sentence, if
the second command does not end with the bytes of a command that nobody disturbed, if a document is
lost or there twice, or if a file is left over.

``python -m studies.speed.killed_project`` kills a service while three curators and a reviewer
decide."""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.conftest import _PIECES, _TOY
from tests.support.tiny_encoder import make_tiny_encoder

from fascicle.core import codec
from fascicle.core.document import Document

WORDS = ("the", "patient", "with", "lung", "cancer", "took", "aspirin", "for", "pain", "and", "had")
DOCUMENTS = 6_000
RECIPE = """
name = "tiny"
seed = 1
[corpus]
train = "toy.conll"
dev = "toy.conll"
documents = "sentence"
[reading]
max_length = 32
overlap = 4
[model]
encoder = "encoder"
[training]
epochs = 12
learning_rate = 1e-2
batch_size = 4
precision = "fp32"
"""
SOURCES = """
name = "small"
[sources.a]
path = "names.tsv"
reader = "table"
type = "Disease"
columns = { id = "id", name = "name" }
"""
KINDS = {
    "seconds": "killed",
    "room": "a file too long",
    "disk": "a full disk",
    "locked": "a disk that cannot be written",
}
LARGE = 1 << 30  # bytes
Content = dict[str, bytes]


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command that is disturbed.

    Attributes:
        arguments: without the place of the output.
        again: more arguments of the second call.
        content: what is compared of an output.
        documents: how many there must be, each once; 0 for an output without documents.
    """

    arguments: tuple[str, ...]
    again: tuple[str, ...] = ()
    content: Callable[[Path], Content]
    documents: int = 0


def files_of(place: Path, *, leave: Sequence[str] = (), only: str = "") -> Content:
    """Returns the files of an output by name, without those whose names begin so."""
    paths = (
        [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    )
    names = {path.relative_to(place).as_posix() if path != place else "": path for path in paths}
    return {
        name: path.read_bytes()
        for name, path in names.items()
        if not name.startswith(tuple(leave)) and name.startswith(only)
    }


def prepare(folder: Path) -> dict[str, Command]:
    """Writes the inputs; returns the commands by name."""
    draw = random.Random(1)
    with (folder / "in.jsonl").open("wb") as stream:
        for number in range(DOCUMENTS):
            text = " ".join(draw.choices(WORDS, k=40))
            stream.write(codec.encode(Document(id=f"d{number}", text=text)) + b"\n")
    (folder / "own.tsv").write_text(
        "Chemical\taspirin\nDisease\tlung cancer\nDisease\tpain\n", encoding="utf-8"
    )
    rows = (
        f"DOID:{number}\tdisease {number} of the {draw.choice(WORDS)}\n" for number in range(20_000)
    )
    (folder / "names.tsv").write_text("id\tname\n" + "".join(rows), encoding="utf-8")
    (folder / "sources.toml").write_text(SOURCES, encoding="utf-8")
    toy = _TOY.replace(" ", "\t").replace("\n", "\n\n").replace("|", "\n")
    (folder / "toy.conll").write_text(toy, encoding="utf-8")
    (folder / "tiny.toml").write_text(RECIPE, encoding="utf-8")
    make_tiny_encoder(folder / "encoder", _PIECES.split())
    return {
        "annotate": Command(
            arguments=("annotate", "in.jsonl", "--model", "own.tsv", "--resume"),
            content=files_of,
            documents=DOCUMENTS,
        ),
        "run": Command(
            arguments=("run", "in.jsonl", "--pipeline", "own.tsv", "--workers", "2", "--resume"),
            content=partial(files_of, only="part-"),
            documents=DOCUMENTS,
        ),
        "index": Command(
            arguments=("index", "build", "sources.toml"), again=("--overwrite",), content=files_of
        ),
        "train": Command(
            arguments=("train", "tiny.toml", "--resume"),
            content=partial(files_of, only="best/model.safetensors"),
        ),
    }


def started(
    folder: Path, command: Command, out: Path, *more: str, room: int = 0
) -> subprocess.Popen[bytes]:
    """Starts a command, whose files may not grow beyond a size in bytes if it is given."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    arguments = [sys.executable, "-m", "fascicle", *command.arguments, "-o", str(out), *more]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        arguments,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=limit if room else None,
    )


def faults(command: Command, out: Path, expected: Content) -> list[str]:
    """Returns what is wrong with an output that should be whole."""
    found = command.content(out)
    wrong = [
        f"{name or out.name} differs" for name in expected if found.get(name) != expected[name]
    ]
    wrong += [f"{name} is too much" for name in found.keys() - expected.keys()]
    if command.documents:
        ids = [codec.decode(line).id for content in found.values() for line in content.splitlines()]
        wrong += (
            [f"{len(ids)} documents with {len(set(ids))} ids"] if len(ids) != len(set(ids)) else []
        )
        wrong += [f"{len(ids)} documents"] if len(ids) != command.documents else []
    return wrong


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """What happens to a command; 0 for nothing.

    Attributes:
        seconds: after which it is killed.
        room: bytes of its largest file.
        disk: bytes of its disk.
        locked: seconds after which its disk cannot be written any more.
    """

    seconds: float = 0.0
    room: int = 0
    disk: int = 0
    locked: float = 0.0


def mount(*options: str) -> bool:
    """Mounts a file system; returns whether it worked."""
    return subprocess.run(["mount", *options], check=False, capture_output=True).returncode == 0


@contextmanager
def disk_at(place: Path, size: int) -> Iterator[None]:
    """A disk of so many bytes, in memory."""
    if not mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)):
        raise SystemExit("mount failed")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def lock_disk(process: subprocess.Popen[bytes], place: Path, seconds: float) -> None:
    """Lets nothing more be written after some seconds, as soon as no file is open for that."""
    time.sleep(seconds)
    while process.poll() is None and not mount("-o", "remount,ro", str(place)):
        time.sleep(0.002)


def disturb(folder: Path, command: Command, out: Path, by: Disturbance) -> list[str]:
    """Runs a command that is disturbed; returns what is wrong with how it ends."""
    process = started(folder, command, out, room=by.room)
    if by.locked:
        lock_disk(process, out.parent, by.locked)
    try:
        said = process.communicate(timeout=by.seconds or None)[1].decode()
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return []
    finally:
        if by.disk or by.locked:
            mount("-o", f"remount,rw,size={LARGE}", str(out.parent))
    if process.returncode not in (0, 2):
        return [f"ended with {process.returncode}: {said[-300:]}"]
    is_fault = process.returncode == 2 and ("Traceback" in said or "internal error" in said)
    return [said[-300:]] if is_fault else []


def attempt(folder: Path, command: Command, expected: Content, by: Disturbance) -> list[str]:
    """Disturbs a command, and gives it again; returns what is wrong.

    Args:
        folder: of the inputs.
        command: to disturb.
        expected: content of its output if nobody disturbs it.
        by: what disturbs it.
    """
    place = Path(tempfile.mkdtemp(dir=folder))
    try:
        if not (by.disk or by.locked):
            return attempt_in(place, folder, command, expected, by)
        with disk_at(place, by.disk or LARGE):
            return attempt_in(place, folder, command, expected, by)
    finally:
        shutil.rmtree(place)


def attempt_in(
    place: Path, folder: Path, command: Command, expected: Content, by: Disturbance
) -> list[str]:
    """The same in an empty folder."""
    out = place / "out"
    wrong = disturb(folder, command, out, by)
    is_file = command.content is files_of and command.documents
    if (is_file or command.again) and out.exists():  # under its final name an output is whole
        wrong += [f"before: {one}" for one in faults(command, out, expected)]
    done = started(folder, command, out, *(command.again if out.exists() else ()))
    said = done.communicate()[1].decode()
    if done.returncode and "is complete" not in said and "exists" not in said:
        wrong.append(f"did not go on: {said[-300:]}")
    wrong += faults(command, out, expected)
    wrong += [f"{path.name} is left" for path in place.iterdir() if path != out]
    return wrong


def disturbances(
    draw: random.Random, *, count: int, disks: int, seconds: float, files: Sequence[int]
) -> Iterator[Disturbance]:
    """Draws what happens.

    Args:
        draw: chance.
        count: of kills.
        disks: of each other kind.
        seconds: that the command takes.
        files: sizes of its files in bytes.
    """
    for _ in range(count):
        yield Disturbance(seconds=draw.uniform(0.2, 1) * seconds)
    for _ in range(disks):
        yield Disturbance(room=draw.randrange(1, max(files)))
    for _ in range(disks if os.geteuid() == 0 else 0):
        yield Disturbance(disk=draw.randrange(4_096, sum(files)))
        yield Disturbance(locked=draw.uniform(0.2, 1) * seconds)


def try_command(
    folder: Path, name: str, command: Command, *, count: int, disks: int, draw: random.Random
) -> int:
    """Disturbs a command many times; returns the number of trials in which something was wrong."""
    begun, whole = time.monotonic(), folder / f"whole-{name}"
    process = started(folder, command, whole)
    if process.wait():
        raise SystemExit(f"{name} fails: {process.communicate()[1].decode()}")
    taken, expected = time.monotonic() - begun, command.content(whole)
    paths = [path for path in (whole, *whole.rglob("*")) if path.is_file()]
    sizes = [path.stat().st_size for path in paths]
    done, bad = Counter[str](), 0
    for by in disturbances(draw, count=count, disks=disks, seconds=taken, files=sizes):
        wrong = attempt(folder, command, expected, by)
        (kind,) = (one for one in KINDS if getattr(by, one))
        done[KINDS[kind]] += 1
        bad += bool(wrong)
        for one in wrong:
            say(f"{name}, {by}: {one}")
    counted = ", ".join(f"{count} times {kind}" for kind, count in done.items())
    say(f"{name}: {counted}; {bad} with a fault")
    return bad


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Tries the commands; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*")
    parser.add_argument("--count", type=int, default=100, help="of kills")
    parser.add_argument("--disks", type=int, default=30, help="of each other kind")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        commands, draw = prepare(Path(place)), random.Random(args.seed)
        names = args.commands or list(commands)
        bad = [
            try_command(
                Path(place), one, commands[one], count=args.count, disks=args.disks, draw=draw
            )
            for one in names
        ]
    return int(any(bad))


if __name__ == "__main__":
    sys.exit(main())
