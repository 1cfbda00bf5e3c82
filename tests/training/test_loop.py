"""The loop: gradients add up, and the order of events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from fascicle.errors import RecipeError
from fascicle.models.encoder import load_pretrained
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.windows import Window
from fascicle.training.engine import loop
from fascicle.training.engine.loop import EpochDone, StepDone, Trainer
from fascicle.training.recogniser.data import TrainingSet
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare


def trainer_of(recipe: Recipe) -> Trainer:
    pretrained = load_pretrained(recipe.model.encoder)
    torch.manual_seed(recipe.seed)
    prepared = prepare(recipe, read_parts(recipe.corpus), pretrained)
    return Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed)


def equal_windows(trainer: Trainer, count: int) -> list[Window]:
    """Windows of one number of units, so that a mean over batches is the mean over units."""
    by_size: dict[int, list[Window]] = {}
    for window in trainer.data.windows:
        by_size.setdefault(window.units[1] - window.units[0], []).append(window)
    most = max(by_size.values(), key=len)
    assert len(most) >= 2
    return (most * count)[:count]


def only(data: TrainingSet, windows: list[Window]) -> TrainingSet:
    """The training set with some of its windows."""
    ((level, view),) = data.views.items()
    return replace(data, views={level: replace(view, windows=windows)})


@pytest.mark.parametrize("family", ["softmax", "crf", "span", "biaffine"])
def test_two_batches_add_up_to_one(tiny_recipe: Callable[..., Recipe], family: str) -> None:
    trainer = trainer_of(tiny_recipe(model={"family": family, "dropout": 0.0}))
    trainer.model.eval()  # without the encoder's dropout
    windows = equal_windows(trainer, 16)
    gradients = []
    for groups in ([windows], [windows[:8], windows[8:]]):
        batches = [
            next(only(trainer.data, g).batches(size=len(g), seed=1, epoch=0)) for g in groups
        ]
        total = sum(trainer._accumulate(*batch, share=1 / len(groups)) for batch in batches)
        found = {
            n: p.grad.clone() for n, p in trainer.model.named_parameters() if p.grad is not None
        }
        gradients.append((total, found))
        trainer.optimizer.zero_grad(set_to_none=True)
    (whole, one), (parts, two) = gradients
    assert whole == pytest.approx(parts, rel=1e-5)
    assert one.keys() == two.keys() == dict(trainer.model.named_parameters()).keys()
    for name in one:
        torch.testing.assert_close(one[name], two[name], rtol=1e-4, atol=1e-6)


def test_events_of_an_epoch(tiny_recipe: Callable[..., Recipe]) -> None:
    trainer = trainer_of(tiny_recipe(training={"epochs": 2, "batch_size": 3, "accumulation": 3}))
    events: list[Any] = list(trainer.run())
    assert [type(e) for e in events] == [StepDone, StepDone, EpochDone] * 2  # 4 batches: 3 and 1
    assert trainer.steps_per_epoch == 2
    assert [event.epoch for event in events if isinstance(event, EpochDone)] == [1, 2]
    assert trainer.schedule.get_last_lr() == [0.0, 0.0]
    assert list(trainer.run()) == []


def test_dropout_is_off_in_between_and_on_again(
    tiny_recipe: Callable[..., Recipe], tmp_path: Path
) -> None:
    trainer = trainer_of(tiny_recipe(training={"epochs": 2}))
    seen = []
    for event in trainer.run():
        seen.append(trainer.model.training)
        if isinstance(event, EpochDone):
            trainer.model.eval()  # as scoring does
    assert all(seen)


def test_a_state_is_written_without_a_second_copy(
    tiny_recipe: Callable[..., Recipe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights and optimizer of a large model are most of the memory of a run."""
    trainer = trainer_of(tiny_recipe(training={"epochs": 1}))
    list(trainer.run())
    written: dict[str, torch.Tensor] = {}

    def seen(tensors: dict[str, torch.Tensor], path: Path) -> None:
        written.update(tensors)
        save_file(tensors, path)

    part = next(trainer.model.parameters())[:1]
    monkeypatch.setattr(loop, "save_file", seen)
    monkeypatch.setattr(trainer, "extra_state", lambda: ({"part": part, "turned": part.t()}, {}))
    trainer.save(tmp_path)
    live = {f"model.{name}": p for name, p in trainer.model.named_parameters()}
    assert live.keys() < written.keys()
    assert all(written[name].data_ptr() == p.data_ptr() for name, p in live.items())
    kept = load_file(tmp_path / "state.safetensors")
    for name, tensor in {**live, "part": part, "turned": part.t()}.items():
        assert torch.equal(kept[name], tensor.detach())


def test_a_loss_that_is_no_number_ends_training(tiny_recipe: Callable[..., Recipe]) -> None:
    trainer = trainer_of(tiny_recipe(training={"epochs": 1}))
    next(trainer.model.parameters()).data.fill_(float("nan"))
    with pytest.raises(RecipeError, match="loss of step 1 is nan: lower learning_rate"):
        list(trainer.run())
