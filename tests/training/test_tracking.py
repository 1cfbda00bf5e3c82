"""Experiment trackers get the scores of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("accelerate")

from accelerate import Accelerator
from accelerate.tracking import LOGGER_TYPE_TO_CLASS

from fascicle.errors import UsageError
from fascicle.training.engine.events import Note, Validated
from fascicle.training.tracking import open_trackers

VALIDATED = Validated(
    epoch=1,
    epochs=2,
    step=3,
    steps=6,
    events=(),
    seconds=1.0,
    best=True,
    figures="",
    lines=({"part": "dev", "loss": 0.5, "scores": {"strict": {"f1": 0.25}}},),
)


def test_a_tracker_gets_each_score_by_its_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr("fascicle.training.tracking.check_trackers", lambda names: None)
    monkeypatch.setattr(Accelerator, "__init__", lambda self, **choice: calls.append((choice,)))
    monkeypatch.setattr(
        Accelerator, "init_trackers", lambda self, name, config: calls.append((name, config))
    )
    monkeypatch.setattr(Accelerator, "log", lambda self, values, step: calls.append((values, step)))
    monkeypatch.setattr(Accelerator, "end_training", lambda self: calls.append(("end",)))
    config = {"name": "mine", "seed": 7, "training": {"epochs": 2}}
    with open_trackers(["tensorboard"], tmp_path, run="mine", config=config) as track:
        track(Note(text="Nothing to score."))
        assert len(calls) == 1  # nothing is written before the folder of the run is there
        track(VALIDATED)
    assert calls == [
        ({"log_with": ["tensorboard"], "project_dir": tmp_path / "trackers"},),
        ("mine", {"seed": 7, "training/epochs": 2}),
        ({"loss": 0.5, "scores/strict/f1": 0.25}, 3),
        ("end",),
    ]


def test_trackers_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fascicle.training.tracking.get_available_trackers", list)
    for name, sentence in (
        ("tensorbord", "did you mean 'tensorboard'"),
        ("mlflow", "mlflow is not installed"),
    ):
        with (
            pytest.raises(UsageError, match=sentence),
            open_trackers([name], tmp_path, run="mine", config={}),
        ):
            raise AssertionError("it was opened")
    assert "mlflow" in LOGGER_TYPE_TO_CLASS
