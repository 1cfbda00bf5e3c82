"""Kills commands at random moments, or lets them run out of room; what is done stays, and the
result is the same.

``python -m tests.torture.kills [--count N] [--disks N] [--minutes N] [--seed N] [COMMAND ...]`` tries
``annotate``, ``run``, ``index`` (build) and ``train``. A trial is one command that is disturbed,
and the same command again. The first ends by SIGKILL; or its files may not grow beyond a random
size; or its disk has a random size; or its disk cannot be written any more from a random moment on.
The two last kinds mount a file system of memory, which root alone may do. A trial fails if a file
under its final name is not whole, if a command that is not killed does not end in one sentence, if
the second command does not end with the bytes of a command that nobody disturbed, if a document is
lost or there twice, or if a file is left over. Commands are forks of a process that has imported
what they need, and moments are drawn from the time of the processor that a command takes, so they
lie in its work, however busy the machine is.

``python -m studies.speed.killed_project`` kills a service while three curators and a reviewer
decide."""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.conftest import _PIECES, _TOY
from tests.support.tiny_encoder import make_tiny_encoder

from fascicle.core import codec
from fascicle.core.document import Document

WORDS = ("the", "patient", "with", "lung", "cancer", "took", "aspirin", "for", "pain", "and", "had")
DOCUMENTS = 1_500
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
epochs = 6
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
PATIENCE = 300.0  # seconds until a worker that goes on without its command counts as left
LEFT = "a worker is left"
FORKS = """
import json, os, resource, sys
import torch, transformers
import fascicle.cli, fascicle.networks, fascicle.pipeline.running.run, fascicle.training.run
import fascicle.verbs.annotate, fascicle.verbs.index, fascicle.verbs.run, fascicle.verbs.train
print("ready", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(order["folder"])
        for path, descriptor in (("/dev/null", 0), ("/dev/null", 1), (order["said"], 2)):
            os.dup2(os.open(path, os.O_RDWR), descriptor)
        if order["room"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (order["room"], order["room"]))
        sys.argv = ["fascicle", *order["arguments"]]
        sys.exit(fascicle.cli.process())
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
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
        f"DOID:{number}\tdisease {number} of the {draw.choice(WORDS)}\n" for number in range(5_000)
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


class Fork:
    """A command that runs; what it says on standard error is read when it has ended."""

    def __init__(self, forks: Forks, said: Path) -> None:
        """Knows who started it."""
        self._forks, self._said = forks, os.open(said, os.O_RDONLY | os.O_NONBLOCK)
        self.pid = 0
        self.code: int | None = None

    def wait(self, seconds: float | None = None) -> int | None:
        """Waits for its end, for some seconds at most; returns its exit code, if it has ended."""
        if self.code is None and self._forks.has_said(seconds):
            self.code = int(self._forks.said())
        return self.code

    def work(self, seconds: float) -> float:
        """Waits until it has used so many seconds of the processor, or has ended; returns how many
        it used.
        """
        used = 0.0
        while self.wait(0.005) is None and used < seconds:
            with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                values = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")
                used = sum(map(int, values[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        return used

    def kill(self) -> None:
        """Ends it, and nothing else."""
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(self.pid, signal.SIGKILL)
        self._forks.killed += self.wait() == -signal.SIGKILL

    def said(self) -> str:
        """Waits for its end; returns what it said."""
        self.wait()
        content, until = b"", time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(BlockingIOError):  # its workers end a moment later
                part = os.read(self._said, 1 << 16)
                content += part
                if not part:
                    break
            time.sleep(0.005)
        else:
            content += LEFT.encode()
        os.close(self._said)
        return content.decode()


class Forks:
    """A process that has imported everything, and runs each command in a fork of its own."""

    def __init__(self, folder: Path) -> None:
        """Starts it in the folder of the inputs."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        self._folder, self._said, self.killed = folder, folder / "said", 0
        self._said.unlink(missing_ok=True)
        os.mkfifo(self._said)
        self._process = subprocess.Popen(
            [sys.executable, "-c", FORKS],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self.said()

    def has_said(self, seconds: float | None) -> bool:
        """Waits for a line, for some seconds at most; returns whether there is one."""
        assert self._process.stdout
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def said(self) -> str:
        """Returns its next line."""
        assert self._process.stdout
        return self._process.stdout.readline().decode().strip()

    def start(self, command: Command, out: Path, *more: str, room: int = 0) -> Fork:
        """Starts a command, whose files may not grow beyond a size in bytes if it is given."""
        order = {
            "folder": str(self._folder),
            "said": str(self._said),
            "room": room,
            "arguments": [*command.arguments, "-o", str(out), *more],
        }
        fork = Fork(self, self._said)
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        fork.pid = int(self.said())
        return fork

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.communicate()


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
        seconds: of the processor, after which it is killed.
        room: bytes of its largest file.
        disk: bytes of its disk.
        locked: seconds of the processor, after which its disk cannot be written any more.
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


def lock_disk(process: Fork, place: Path, seconds: float) -> None:
    """Lets nothing more be written after some seconds, as soon as no file is open for that."""
    process.work(seconds)
    while process.wait(0) is None and not mount("-o", "remount,ro", str(place)):
        time.sleep(0.002)


def disturb(forks: Forks, command: Command, out: Path, by: Disturbance) -> list[str]:
    """Runs a command that is disturbed; returns what is wrong with how it ends."""
    fork = forks.start(command, out, room=by.room)
    if by.locked:
        lock_disk(fork, out.parent, by.locked)
    if by.seconds:
        fork.work(by.seconds)
        if fork.code is None:
            fork.kill()
    fork.wait()
    if by.disk or by.locked:
        mount("-o", f"remount,rw,size={LARGE}", str(out.parent))
    said = fork.said()
    if fork.code == -signal.SIGKILL and by.seconds:
        return [said] if said.endswith(LEFT) else []
    if fork.code not in (0, 2):
        return [f"ended with {fork.code}: {said[-300:]}"]
    is_fault = fork.code == 2 and ("Traceback" in said or "internal error" in said)
    return [said[-300:]] if is_fault else []


def attempt(
    folder: Path, forks: Forks, command: Command, expected: Content, by: Disturbance
) -> list[str]:
    """Disturbs a command, and gives it again; returns what is wrong.

    Args:
        folder: for the outputs.
        forks: starts commands.
        command: to disturb.
        expected: content of its output if nobody disturbs it.
        by: what disturbs it.
    """
    place = Path(tempfile.mkdtemp(dir=folder))
    try:
        if not (by.disk or by.locked):
            return attempt_in(place, forks, command, expected, by)
        with disk_at(place, by.disk or LARGE):
            return attempt_in(place, forks, command, expected, by)
    finally:
        shutil.rmtree(place)


def attempt_in(
    place: Path, forks: Forks, command: Command, expected: Content, by: Disturbance
) -> list[str]:
    """The same in an empty folder."""
    out = place / "out"
    wrong = disturb(forks, command, out, by)
    is_file = command.content is files_of and command.documents
    if (is_file or command.again) and out.exists():  # under its final name an output is whole
        wrong += [f"before: {one}" for one in faults(command, out, expected)]
    done = forks.start(command, out, *(command.again if out.exists() else ()))
    said = done.said()
    if done.code and "is complete" not in said and "exists" not in said:
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
        seconds: of the processor that the command takes.
        files: sizes of its files in bytes.
    """
    for _ in range(count):
        yield Disturbance(seconds=draw.uniform(0.05, 0.95) * seconds)
    for _ in range(disks):
        yield Disturbance(room=draw.randrange(1, max(files)))
    for _ in range(disks if os.geteuid() == 0 else 0):
        yield Disturbance(disk=draw.randrange(4_096, sum(files)))
        yield Disturbance(locked=draw.uniform(0.05, 0.95) * seconds)


def try_command(
    folder: Path, name: str, command: Command, args: argparse.Namespace, *, draw: random.Random
) -> int:
    """Disturbs a command many times; returns the number of trials in which something was wrong."""
    until = time.monotonic() + 60 * args.minutes
    forks, whole = Forks(folder), folder / f"whole-{name}"
    process = forks.start(command, whole)
    taken = process.work(float("inf"))
    if process.code:
        raise SystemExit(f"{name} fails: {process.said()}")
    expected = command.content(whole)
    paths = [path for path in (whole, *whole.rglob("*")) if path.is_file()]
    sizes = [path.stat().st_size for path in paths]
    done, bad = Counter[str](), 0
    say(f"{name} takes {taken:.1f} s of the processor")
    all_ = list(disturbances(draw, count=args.count, disks=args.disks, seconds=taken, files=sizes))
    for by in draw.sample(all_, len(all_)):
        if time.monotonic() > until:
            break
        wrong = attempt(folder, forks, command, expected, by)
        (kind,) = (one for one in KINDS if getattr(by, one))
        done[KINDS[kind]] += 1
        bad += bool(wrong)
        for one in wrong:
            say(f"{name}, {by}: {one}")
    forks.close()
    counted = ", ".join(f"{count} times {kind}" for kind, count in done.items())
    say(f"{name}: {counted} ({forks.killed} before the end); {bad} with a fault")
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
    parser.add_argument("--minutes", type=float, default=60, help="for each command")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        commands, draw = prepare(Path(place)), random.Random(args.seed)
        names = args.commands or list(commands)
        bad = [try_command(Path(place), one, commands[one], args, draw=draw) for one in names]
    return int(any(bad))


if __name__ == "__main__":
    sys.exit(main())
