"""Agreement of the gradients of two heads, against models in which one head is trained alone,
and plain loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from fascicle.errors import UsageError
from fascicle.models.encoder import load_pretrained
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.engine.loop import StepDone, Trainer
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare
from studies.bundling import gradients as script

Maker = Callable[..., Recipe]
COUNT = 2


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Sums over several threads may differ in their last bits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def bundle(make: Maker, weight: float, **training: Any) -> Recipe:
    own = {"family": "span", "pooling": "max", "representation": "hybrid", "negatives": 5}
    second = {"family": "softmax", "pooling": "max", "weight": weight}
    return make(model=own, bundle=second, training={"epochs": 2, **training})


def trainer_of(recipe: Recipe) -> Trainer:
    pretrained = load_pretrained(recipe.model.encoder)
    torch.manual_seed(recipe.seed)
    prepared = prepare(recipe, read_parts(recipe.corpus), pretrained)
    return Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed)


def alone(make: Maker, weight: float) -> list[dict[str, list[float]]]:
    """Of each fixed batch the gradient in the encoder of a model that trains one head, number by
    number.
    """
    trainer = trainer_of(bundle(make, weight))
    trainer.model.eval()
    found = []
    for batch, targets in script.fixed_batches(trainer, seed=1, count=COUNT):
        trainer.model.zero_grad()
        trainer.model.loss(trainer.model(batch), targets).backward()
        found.append(
            {n: p.grad.flatten().tolist() for n, p in trainer.model.encoder.named_parameters()}
        )
    return found


def looped(
    first: dict[str, list[float]], second: dict[str, list[float]], part: str
) -> tuple[float, float]:
    """Cosine and ratio of norms of a part of the encoder, by loops over numbers."""
    mixed = one = two = 0.0
    for name in first:
        if part in (
            "",
            "embeddings" if "embeddings" in name else f"layer.{name.split('layer.')[1][0]}",
        ):
            for a, b in zip(first[name], second[name], strict=True):
                mixed, one, two = mixed + a * b, one + a * a, two + b * b
    return mixed / math.sqrt(one) / math.sqrt(two), math.sqrt(two) / math.sqrt(one)


def test_gradients_are_those_of_the_single_models(tiny_recipe: Maker) -> None:
    span, seq = (alone(tiny_recipe, weight) for weight in (0.0, 1.0))
    trainer = trainer_of(bundle(tiny_recipe, 0.3))
    found = script.look(trainer, script.fixed_batches(trainer, seed=1, count=COUNT))
    expected = [looped(a, b, "")[0] for a, b in zip(span, seq, strict=True)]
    assert found["batch_cosines"] == pytest.approx(expected, abs=1e-5)
    mean_span, mean_seq = (
        {
            name: [sum(values) / COUNT for values in zip(*(b[name] for b in of), strict=True)]
            for name in of[0]
        }
        for of in (span, seq)
    )
    names = {"encoder": "", "embeddings": "embeddings", "layer 1": "layer.0", "layer 2": "layer.1"}
    assert found["parts"].keys() == names.keys()
    for part, key in names.items():
        cosine, ratio = looped(mean_span, mean_seq, key)
        assert found["parts"][part]["cosine"] == pytest.approx(cosine, abs=1e-5), part
        assert found["parts"][part]["norm_ratio"] == pytest.approx(ratio, rel=1e-4), part
    assert found["pull"] == pytest.approx(looped(mean_span, mean_seq, "")[1] * 0.3 / 0.7, rel=1e-4)


def test_losses_are_without_their_weights(tiny_recipe: Maker) -> None:
    trainer = trainer_of(bundle(tiny_recipe, 0.3))
    batches = script.fixed_batches(trainer, seed=1, count=COUNT)
    found = script.look(trainer, batches)["losses"]
    trainer.model.eval()
    with torch.no_grad():
        mixed = [
            float(trainer.model.loss(trainer.model(batch), targets)) for batch, targets in batches
        ]
    assert 0.7 * found["span"] + 0.3 * found["softmax"] == pytest.approx(
        sum(mixed) / COUNT, rel=1e-5
    )


def test_looking_changes_nothing(tiny_recipe: Maker) -> None:
    """Dropout is on in training: a number drawn while looking would change what comes after."""
    recipe = bundle(tiny_recipe, 0.3, precision="bf16")
    plain = trainer_of(recipe)
    expected = [event.loss for event in plain.run() if isinstance(event, StepDone)]
    watched = trainer_of(recipe)
    batches = script.fixed_batches(watched, seed=1, count=COUNT)
    script.look(watched, batches)
    losses = []
    for event in watched.run():
        if isinstance(event, StepDone):
            losses.append(event.loss)
        script.look(watched, batches)
        assert watched.model.training
    assert losses == expected
    state = watched.model.state_dict()
    assert all(
        torch.equal(tensor, state[name]) for name, tensor in plain.model.state_dict().items()
    )


def test_every_epoch_is_looked_at_on_the_same_batches(tiny_recipe: Maker) -> None:
    lines = list(script.follow(bundle(tiny_recipe, 0.3), count=COUNT))
    assert [line["epoch"] for line in lines] == [0, 1, 2]
    assert all(len(line["batch_cosines"]) == COUNT for line in lines)
    losses = [
        line["losses"][head] for head in ("span", "softmax") for line in (lines[0], lines[-1])
    ]
    assert losses[1] < losses[0]
    assert losses[3] < losses[2]
    again = list(script.follow(bundle(tiny_recipe, 0.3), count=COUNT))
    assert again == lines
    trainer = trainer_of(bundle(tiny_recipe, 0.3))
    fixed = [batch["input_ids"] for batch, _ in script.fixed_batches(trainer, seed=1, count=COUNT)]
    for epoch in range(2):
        trained = [
            batch["input_ids"] for batch, _ in trainer.data.batches(size=4, seed=1, epoch=epoch)
        ]
        assert not all(torch.equal(a, b) for a, b in zip(fixed, trained, strict=False))


def test_zero_gradients_have_no_angle() -> None:
    zero, one = {"layer.0.w": torch.zeros(3)}, {"layer.0.w": torch.ones(3)}
    assert script.products(zero, one)["encoder"].cosine is None
    assert script.products(zero, one)["encoder"].norm_ratio is None
    opposite = script.products(one, {"layer.0.w": -2 * torch.ones(3)})
    assert (opposite["layer 1"].cosine, opposite["encoder"].norm_ratio) == (
        pytest.approx(-1),
        pytest.approx(2),
    )


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_bundle_of_one_head_is_refused(tiny_recipe: Maker, weight: float) -> None:
    with pytest.raises(UsageError, match="tiny does not train two heads"):
        next(script.follow(bundle(tiny_recipe, weight), count=1))
    with pytest.raises(UsageError, match="tiny does not train two heads"):
        next(script.follow(tiny_recipe(), count=1))


def test_runs_are_those_of_the_grid() -> None:
    assert [run.name for run in script.runs_of(["conll04", "wnut17"], seed=1)] == [
        "conll04-bundle-s1",
        "wnut17-bundle-s1",
    ]
    with pytest.raises(
        UsageError, match=r"no bundle on conll04 with seed 9; corpora and seeds are conll04 1"
    ):
        script.runs_of(["conll04"], seed=9)
