"""The sign of life: on a terminal one line that changes, in a log a line now and then."""

from __future__ import annotations

import re

from fascicle.core.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def shown(
    *, terminal: bool, total: int | None, seconds: int, rate: int, start: int = 0
) -> list[str]:
    """What is written of a run that does so many documents of 10 bytes a second."""
    clock, lines = Clock(), list[str]()
    progress = Progress(terminal=terminal, write=lines.append, clock=clock)
    for number in range(seconds * rate):
        clock.now += 1 / rate
        progress.see(start + number + 1, 10 * (start + number + 1), total)
    progress.end()
    return lines


def test_a_log_has_a_line_now_and_then() -> None:
    assert shown(terminal=False, total=None, seconds=25, rate=10) == []
    lines = shown(terminal=False, total=20_000, seconds=100, rate=10)
    assert len(lines) == 3
    assert all(line.endswith("\n") and "\r" not in line for line in lines)
    assert "301 documents, 10.0/s, 15%, 2:50 left" in lines[0]


def test_a_terminal_has_one_line() -> None:
    lines = shown(terminal=True, total=20_000, seconds=10, rate=10)
    assert 15 <= len(lines) <= 21
    assert all(line.startswith("\r") and "\n" not in line for line in lines)
    assert re.search(r"left\x1b\[K$", lines[3])


def test_time_left_is_told_where_it_is_known() -> None:
    for total in (None, 0):
        assert not any(
            "left" in line for line in shown(terminal=True, total=total, seconds=10, rate=10)
        )
    # all is read
    assert not any("left" in line for line in shown(terminal=True, total=10, seconds=10, rate=10))


def test_the_rate_of_a_run_that_goes_on_is_its_own() -> None:
    lines = shown(terminal=False, total=40_000, seconds=100, rate=10, start=1000)
    assert "1,301 documents, 10.0/s" in lines[0]
