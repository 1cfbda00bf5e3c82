"""What a training says while it goes on: in a log a line now and then, on a terminal the bar alone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fascicle.verbs.train import Watch

pytest.importorskip("torch", reason="torch, which the extra train brings, is not installed")


@pytest.mark.parametrize(("in_a_log", "lines"), [(True, 3), (False, 0)])
def test_a_log_has_a_line_now_and_then_inside_an_epoch(
    in_a_log: bool, lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    from fascicle.training.engine.loop import StepDone

    now = 0.0
    bar = SimpleNamespace(n=0, disable=in_a_log, update=lambda count: None, clear=lambda: None, refresh=lambda: None)
    watch = Watch(bar, clock=lambda: now)
    for step in range(1, 101):
        now = float(step)
        watch(StepDone(step=step, loss=0.5))
    assert capsys.readouterr().err.count("step ") == lines
