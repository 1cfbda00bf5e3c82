"""What a training says while it goes on: in a log a line now and then, on a terminal the bar
alone.
"""

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
    bar = SimpleNamespace(
        n=0,
        total=None,
        disable=in_a_log,
        update=lambda count: None,
        clear=lambda: None,
        refresh=lambda: None,
    )
    watch = Watch(bar, clock=lambda: now)
    for step in range(1, 101):
        now = float(step)
        watch(StepDone(step=step, loss=0.5, steps=200, epochs=4))
    said = capsys.readouterr().err
    assert said.count("step ") == lines
    assert bar.total == 200  # so that a bar says how long it will take
    if in_a_log:
        assert "epoch 1/4, step 30 of 200: loss 0.5000" in said
        assert "epoch 2/4, step 90 of 200: loss 0.5000" in said


def test_the_place_in_a_run_is_that_of_its_epochs() -> None:
    from fascicle.training.engine.loop import StepDone

    places = [
        StepDone(step=step, loss=0.0, steps=6, epochs=3).place.partition(",")[0]
        for step in range(1, 7)
    ]
    assert places == ["epoch 1/3", "epoch 1/3", "epoch 2/3", "epoch 2/3", "epoch 3/3", "epoch 3/3"]
    assert StepDone(step=7, loss=0.0).place == "step 7"
