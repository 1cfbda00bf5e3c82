"""Experiment trackers, through accelerate: each gets the scores of a run when they are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from accelerate import Accelerator
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

from fascicle.core.wording import typo_hint
from fascicle.errors import UsageError
from fascicle.training.engine.events import RunEvent, Validated

FOLDER: Final = "trackers"  # in that of the run, for trackers that write files


def check_trackers(names: Sequence[str]) -> None:
    """Raises an error for trackers that cannot be used.

    Args:
        names: of trackers, as accelerate has them.

    Raises:
        UsageError: there is no such tracker, or its package is not installed.
    """
    available = {tracker.value for tracker in get_available_trackers()}
    for name in names:
        if name not in LOGGER_TYPE_TO_CLASS:
            choices = sorted(LOGGER_TYPE_TO_CLASS)
            raise UsageError(
                f"there is no tracker {name!r}{typo_hint(name, choices)}; choose one of "
                f"{', '.join(choices)}"
            )
        if name not in available:
            raise UsageError(f"the package of the tracker {name} is not installed; install it")


@contextmanager
def open_trackers(
    names: Sequence[str], folder: Path, *, run: str, config: Mapping[str, Any]
) -> Iterator[Callable[[RunEvent], None]]:
    """Opens trackers at the first score, and closes them.

    Args:
        names: of trackers, as accelerate has them.
        folder: of the run.
        run: its name for trackers.
        config: settings of the run.

    Yields:
        A function that takes every event of the run.

    Raises:
        UsageError: see `check_trackers`.
    """
    if not names:
        yield lambda event: None
        return
    check_trackers(names)
    trackers = _Trackers(names, folder, run=run, config=config)
    try:
        yield trackers.take
    finally:
        trackers.close()


class _Trackers:
    def __init__(
        self, names: Sequence[str], folder: Path, *, run: str, config: Mapping[str, Any]
    ) -> None:
        self._accelerator = Accelerator(log_with=list(names), project_dir=folder / FOLDER)
        self._run, self._config, self._is_open = run, dict(_numbers(config)), False

    def take(self, event: RunEvent) -> None:
        if not isinstance(event, Validated):
            return
        if not self._is_open:  # now the folder of the run is there
            self._accelerator.init_trackers(self._run, config=self._config)
            self._is_open = True
        for line in event.lines:
            self._accelerator.log(dict(_numbers(line)), step=event.step)

    def close(self) -> None:
        if self._is_open:
            self._accelerator.end_training()


def _numbers(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """Yields the numbers of tables in tables, by their names with slashes."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{above}{name}/")
        elif isinstance(value, int | float):
            yield f"{above}{name}", value
