"""Kills commands at random moments, or lets them run out of room; what is done stays, and the
result is the same.

``python -m tests.torture.kills [--count N] [--seed N] [COMMAND ...]`` tries ``annotate``, ``run``,
``index`` (build) and ``train``. A trial is one command that ends by SIGKILL, or whose files may not
grow beyond a random size, and the same command again. It fails if a file under its final name is
not whole, if the second command does not end with the bytes of a command that nobody disturbed, if
a document is lost or there twice, or if a file is left over."""

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
from collections.abc import Callable, Sequence
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


def attempt(
    folder: Path, command: Command, expected: Content, *, seconds: float = 0.0, room: int = 0
) -> list[str]:
    """Disturbs a command, and gives it again; returns what is wrong.

    Args:
        folder: of the inputs.
        command: to disturb.
        expected: content of its output if nobody disturbs it.
        seconds: after which it is killed; 0 for never.
        room: bytes of its largest file; 0 for any number.
    """
    place = Path(tempfile.mkdtemp(dir=folder))
    out, wrong = place / "out", list[str]()
    process = started(folder, command, out, room=room)
    try:
        said = process.communicate(timeout=seconds or None)[1].decode()
        if process.returncode not in (0, 2):
            wrong.append(f"ended with {process.returncode}: {said[-300:]}")
        if process.returncode == 2 and ("Traceback" in said or "internal error" in said):
            wrong.append(said[-300:])
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    is_file = command.content is files_of and command.documents
    if (is_file or command.again) and out.exists():  # under its final name an output is whole
        wrong += [f"before: {one}" for one in faults(command, out, expected)]
    done = started(folder, command, out, *(command.again if out.exists() else ()))
    said = done.communicate()[1].decode()
    if done.returncode and "is complete" not in said and "exists" not in said:
        wrong.append(f"did not go on: {said[-300:]}")
    wrong += faults(command, out, expected)
    wrong += [f"{path.name} is left" for path in place.iterdir() if path != out]
    shutil.rmtree(place)
    return wrong


def try_command(
    folder: Path, name: str, command: Command, *, count: int, draw: random.Random
) -> int:
    """Disturbs a command many times; returns the number of trials in which something was wrong."""
    begun, whole = time.monotonic(), folder / f"whole-{name}"
    process = started(folder, command, whole)
    if process.wait():
        raise SystemExit(f"{name} fails: {process.communicate()[1].decode()}")
    taken, expected = time.monotonic() - begun, command.content(whole)
    largest = (
        max(path.stat().st_size for path in whole.rglob("*") if path.is_file())
        if whole.is_dir()
        else 0
    )
    largest = largest or whole.stat().st_size
    bad = 0
    for number in range(2 * count):
        kinds = (
            {"seconds": draw.uniform(0.2, 1) * taken}
            if number < count
            else {"room": draw.randrange(1, largest)}
        )
        wrong = attempt(folder, command, expected, **kinds)  # type: ignore[arg-type]
        bad += bool(wrong)
        for one in wrong:
            say(f"{name}, {kinds}: {one}")
    say(f"{name}: {count} kills and {count} times no room, {bad} with a fault")
    return bad


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Tries the commands; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        commands, draw = prepare(Path(place)), random.Random(args.seed)
        names = args.commands or list(commands)
        bad = [
            try_command(Path(place), one, commands[one], count=args.count, draw=draw)
            for one in names
        ]
    return int(any(bad))


if __name__ == "__main__":
    sys.exit(main())
