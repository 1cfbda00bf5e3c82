"""bf16 where the processor has it, and a warning where it would be emulated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch

from fascicle.models.encoder import load_pretrained
from fascicle.settings.recipes.recogniser import Recipe, TrainingSettings
from fascicle.training.engine.events import Note
from fascicle.training.engine.loop import (
    Trainer,
    computes_bf16,
    faster_precision,
    precision_on,
    slow_precision,
)
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
CPU = torch.device("cpu")


@pytest.fixture(params=["avx512_bf16", "amx_bf16", "bf16", "avx2", ""])
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A processor that has one of these instructions; none: torch cannot tell."""
    known: Mapping[str, bool] = {"avx2": True, request.param: True} if request.param else {}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known, raising=False)
    return str(request.param)


def test_auto_takes_bf16_only_where_it_is_computed(processor: str) -> None:
    has = "bf16" in processor
    assert computes_bf16(CPU) is (has if processor else None)
    assert precision_on(CPU, TrainingSettings(precision="auto")) == ("bf16" if has else "fp32")
    assert precision_on(CPU, TrainingSettings(precision="bf16")) == "bf16"
    assert precision_on(CPU, TrainingSettings(precision="fp32")) == "fp32"


def test_one_is_told_where_bf16_would_be_emulated(processor: str) -> None:
    told = slow_precision(CPU, TrainingSettings(precision="bf16"))
    assert bool(told) is (processor == "avx2")
    assert not told or "emulated" in told
    for precision in ("auto", "fp32"):
        assert slow_precision(CPU, TrainingSettings(precision=precision)) == ""


def test_the_default_is_auto() -> None:
    assert TrainingSettings().precision == "auto"


@pytest.mark.parametrize("precision", ["auto", "fp32", "bf16"])
def test_a_run_says_what_it_used(tiny_recipe: Maker, tmp_path: Path, precision: str) -> None:
    recipe = tiny_recipe(training={"epochs": 1, "precision": precision})
    events = list(run_recipe(recipe, tmp_path / "run"))
    facts = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    timed = facts.get("step_seconds")
    assert bool(timed) is (precision == "auto" and bool(computes_bf16(CPU)))
    assert facts["precision"] == (
        faster_precision(timed) if timed else precision_on(CPU, recipe.training)
    )
    slow = slow_precision(CPU, recipe.training)
    assert (Note(text=slow) in events) is bool(slow)


@pytest.mark.parametrize(
    ("bf16", "used"), [(0.5, "bf16"), (1.2, "bf16"), (1.3, "fp32"), (50.0, "fp32")]
)
def test_fp32_is_taken_only_where_it_is_much_faster(bf16: float, used: str) -> None:
    """By chance a step takes a tenth longer, and chance must not decide what a run gives."""
    assert faster_precision({"fp32": 1.0, "bf16": bf16}) == used


def test_timing_changes_nothing_and_a_resumed_run_keeps_its_arithmetic(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    recipe = tiny_recipe(training={"epochs": 1, "precision": "auto"})
    pretrained = load_pretrained(recipe.model.encoder)
    torch.manual_seed(1)
    prepared = prepare(recipe, read_parts(recipe.corpus), pretrained)
    trainer = Trainer(prepared.model, prepared.data, recipe.training, seed=1)
    trainer.precision = "bf16"  # as on a processor that has instructions for it
    weights = [parameter.clone() for parameter in trainer.model.parameters()]
    state = torch.get_rng_state()
    trainer.settle_precision()
    assert trainer.precision == faster_precision(trainer.step_seconds)
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(weights, trainer.model.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in trainer.model.parameters())
    for before in ("fp32", "bf16"):
        trainer.settle_precision(before)
        assert trainer.precision == before
