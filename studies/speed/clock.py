"""A clock for the stages of a model: CPU seconds, and what passes through the network."""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Clock:
    """CPU seconds of nested stages, each without those inside it, and what passes through the
    network.
    """

    spent: dict[str, float] = field(default_factory=lambda: collections.defaultdict(float))
    pieces: int = 0
    windows: int = 0
    padded: int = 0
    _open: list[list[Any]] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts what is done inside for a stage."""
        now = time.process_time()
        if self._open:
            self.spent[self._open[-1][0]] += now - self._open[-1][1]
        self._open.append([name, now])
        try:
            yield
        finally:
            now = time.process_time()
            self.spent[name] += now - self._open.pop()[1]
            if self._open:
                self._open[-1][1] = now

    def around(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """A function that counts for a stage."""

        def timed(*args: Any, **options: Any) -> Any:
            with self.stage(name):
                return work(*args, **options)

        return timed


class TimedScorer:
    """A scorer that counts for the stage ``network``."""

    def __init__(self, scorer: Any, clock: Clock) -> None:
        self._scorer = scorer
        self._clock = clock
        self.batch_tokens = scorer.batch_tokens

    def run(self, inputs: Any) -> Any:
        """Scores one batch."""
        self._clock.pieces += int(inputs["attention_mask"].sum())
        self._clock.padded += inputs["attention_mask"].size
        self._clock.windows += len(inputs["attention_mask"])
        with self._clock.stage("network"):
            return self._scorer.run(inputs)


class SameProcess:
    """A pool whose worker is this process, so that one clock sees all."""

    def __init__(self, open_worker: Callable[[], Any], **_: object) -> None:
        self._open = open_worker

    def __enter__(self) -> SameProcess:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def run(self, shards: Iterable[Any], *, tick: object) -> Iterator[Any]:
        """Does the shards one after the other."""
        del tick
        yield from map(self._open().process, shards)
