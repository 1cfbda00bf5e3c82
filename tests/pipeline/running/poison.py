"""A step that does to a worker what the text of a document says, and pipelines with it."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from fascicle.core.document import Document, Mention, Patch
from fascicle.formats.requests import ReadRequest
from fascicle.pipeline.pipeline import Pipeline
from fascicle.pipeline.running.folder import RunFolder
from fascicle.pipeline.running.run import Run
from fascicle.settings.pipeline import Limits, Shards

POISONS = ("hang", "exit", "segfault", "allocate", "raise", "outside", "grow")
LIMITS = Limits(seconds=1.5, seconds_per_million=0, memory=400, start=300)


class Finds:
    """Finds the letter ``x``; a text that begins with ``!`` says what happens in place of that."""

    name = "finds"
    needs: frozenset[str] = frozenset()
    gives = frozenset({"mentions"})
    drops: frozenset[str] = frozenset()
    sources = frozenset({"finds"})

    def __init__(self, seconds: float = 0.0, fingerprint: str = "1") -> None:
        self.seconds, self.fingerprint = seconds, fingerprint

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        return [self.patch(document) for document in documents]

    def patch(self, document: Document) -> Patch:
        if self.seconds:
            time.sleep(self.seconds)
        match document.text.split(" ")[0]:
            case "!hang":
                time.sleep(60)
            case "!exit":
                os._exit(7)
            case "!station":  # what supervises the worker
                os.kill(os.getppid(), signal.SIGKILL)
                time.sleep(60)
            case "!await":
                await_file(Path(document.text.split(" ")[1]))
            case "!segfault":
                ctypes.string_at(0)
            case "!allocate":
                bytearray(30 << 30)
            case "!grow":  # less than the system refuses, more than the limit
                held = bytearray(400 << 20)
                held[::4096] = b"x" * len(held[::4096])
                time.sleep(60)
            case "!raise":
                raise LookupError(document.id)
            case "!outside":
                return Patch(add=(Mention(((0, 10_000),), "X", source=self.name),))
        places = (at for at, character in enumerate(document.text) if character == "x")
        return Patch(add=tuple(Mention(((at, at + 1),), "X", source=self.name) for at in places))


def await_file(path: Path, seconds: float = 300.0) -> None:
    """Waits until there is a file."""
    until = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)


def open_poison(seconds: float = 0.0, fingerprint: str = "1") -> Pipeline:
    return Pipeline([Finds(seconds, fingerprint)], limits=LIMITS)


def open_batches() -> Pipeline:
    """A pipeline whose batches are of few long documents, any of which may wait for a file."""
    return Pipeline([Finds()], limits=replace(LIMITS, batch=40_000, seconds=60))


def open_replaced() -> Pipeline:
    """A pipeline of which something is replaced between the plan and the workers."""
    planner = os.getpid() == int(os.environ["FASCICLE_TEST_PLANNER"])
    return open_poison(fingerprint="1" if planner else "2")


def open_never() -> Pipeline:
    """Works in the process that plans, and dies in workers."""
    if os.getpid() != int(os.environ["FASCICLE_TEST_PLANNER"]):
        os._exit(9)
    return open_poison()


def run_of(inputs: Sequence[Path | str], folder: Path | str, **changes: object) -> Run:
    settings: dict[str, object] = {
        "pipeline": "none",
        "reading": ReadRequest(),
        "format": "jsonl",
        "workers": 1,
        "shards": Shards(documents=10),
        "limits": LIMITS,
        "open_pipeline": partial(open_poison),
    }
    return Run(inputs=list(map(str, inputs)), folder=RunFolder(folder), **{**settings, **changes})  # type: ignore[arg-type]
