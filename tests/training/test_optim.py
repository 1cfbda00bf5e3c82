"""Schedules, groups and averages against loops over their definitions."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from fascicle.models.encoder import Encoder
from fascicle.models.heads.contract import Basis
from fascicle.models.heads.tagger import CrfTagger
from fascicle.models.model import NerModel
from fascicle.models.nn.pooling import InputVectors
from fascicle.settings.heads import CrfSettings
from fascicle.settings.recipes.recogniser import TrainingSettings
from fascicle.training.engine.optim import (
    WeightAverage,
    make_optimizer,
    parameter_groups,
    rate_factor,
)

transformers = pytest.importorskip("transformers")


def settings(**changes: Any) -> TrainingSettings:
    return TrainingSettings(**changes)


def model(family: str = "BertModel", config: str = "BertConfig") -> NerModel:
    sizes = {"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2}
    network = getattr(transformers, family)(
        getattr(transformers, config)(**sizes, intermediate_size=16)
    )
    head = CrfTagger(CrfSettings(), Basis(types=["A"], width=8))
    return NerModel(Encoder(network), {"crf": head}, answer="crf")


def test_warm_up_then_linear() -> None:
    factor = rate_factor(settings(warmup=0.25), steps=8)
    assert [factor(s) for s in range(9)] == pytest.approx(
        [1 / 3, 2 / 3, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6, 0]
    )


def test_warm_up_then_constant() -> None:
    factor = rate_factor(settings(warmup=0.25, schedule="constant"), steps=8)
    assert [factor(s) for s in range(9)] == pytest.approx([1 / 3, 2 / 3, *[1] * 7])


@pytest.mark.parametrize("warmup", [0.0, 1.0])
@pytest.mark.parametrize("steps", [1, 2, 50])
def test_every_step_has_a_rate(warmup: float, steps: int) -> None:
    factor = rate_factor(settings(warmup=warmup), steps=steps)
    assert all(0 < factor(s) <= 1 for s in range(steps))


def test_vectors_of_inputs_have_a_multiple_of_the_rate_of_heads() -> None:
    ner = model()
    ner.head("crf").units.vectors = InputVectors([3, 2], 8, dropout=0.0, rate=20.0)
    for chosen, rate in (
        (settings(learning_rate=1e-4), 2e-3),
        (settings(head_learning_rate=1e-3), 2e-2),
    ):
        groups = list(parameter_groups(ner, chosen))
        rates = {p: g["lr"] for g in groups for p in g["params"]}  # type: ignore[attr-defined]
        assert len(rates) == len(list(ner.parameters()))
        fast = [name for name, p in ner.named_parameters() if rates[p] == pytest.approx(rate)]
        assert fast == ["heads.crf.units.vectors.table"]


@pytest.mark.parametrize("family", ["BertModel", "ElectraModel", "RobertaModel"])
def test_every_parameter_is_in_one_group_with_its_rate(family: str) -> None:
    ner = model(family, family.replace("Model", "Config"))
    chosen = settings(
        learning_rate=1e-3, head_learning_rate=1e-2, layer_decay=0.5, weight_decay=0.1
    )
    groups = list(parameter_groups(ner, chosen))
    found = {p: (g["lr"], g["weight_decay"]) for g in groups for p in g["params"]}  # type: ignore[attr-defined]
    listed = [p for g in groups for p in g["params"]]  # type: ignore[attr-defined]
    assert len(listed) == len(set(listed)) == len(list(ner.parameters()))
    for name, parameter in ner.named_parameters():
        rate, decay = found[parameter]
        assert decay == (0.1 if parameter.ndim > 1 else 0.0)
        if name.startswith("heads."):
            assert rate == 1e-2
        for layer, expected in ((2, 1e-3), (1, 5e-4), (0, 2.5e-4)):
            if f".layer.{layer}." in name or f".layers.{layer}." in name:
                assert rate == pytest.approx(expected)
        if ".embeddings." in name:
            assert rate == pytest.approx(1.25e-4)


def test_equal_rates_make_two_groups() -> None:
    groups = make_optimizer(model(), settings(learning_rate=1e-3)).param_groups
    assert [(g["lr"], g["weight_decay"]) for g in groups] == [(1e-3, 0.01), (1e-3, 0.0)]


class Drifting:
    """A parameter that moves by chance at every step."""

    def __init__(self, **changes: Any) -> None:
        self.module = nn.Linear(3, 2)
        self.average = WeightAverage(self.module, settings(**changes))
        self.seen: list[torch.Tensor] = []

    def step(self) -> None:
        with torch.no_grad():
            self.module.weight.add_(torch.randn(2, 3))
        self.average.after_step()
        self.seen.append(self.module.weight.detach().clone())


def test_the_moving_average_is_its_definition() -> None:
    torch.manual_seed(0)
    run = Drifting(average="ema", average_decay=0.6)
    expected = torch.zeros(2, 3)
    for step in range(1, 40):
        run.step()
        decay = min(0.6, step / (step + 10))
        expected = run.seen[0] if step == 1 else decay * expected + (1 - decay) * run.seen[-1]
        torch.testing.assert_close(run.average.weights()["weight"], expected)


def test_the_mean_of_the_last_epochs_is_a_mean() -> None:
    torch.manual_seed(0)
    run = Drifting(average="last", average_epochs=3)
    ends = []
    for _ in range(5):
        run.step()
        run.step()
        run.average.after_epoch()
        ends.append(run.seen[-1])
        torch.testing.assert_close(run.average.weights()["weight"], torch.stack(ends[-3:]).mean(0))


@pytest.mark.parametrize(
    "changes",
    [
        {"average_decay": 0.9},
        {"average_epochs": 2},
        {"average": "last", "average_decay": 0.9},
        {"average": "ema", "average_epochs": 2},
    ],
)
def test_settings_of_another_average_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has no effect with average"):
        settings(**changes)


def test_without_an_average_the_live_weights_count() -> None:
    run = Drifting(average="none")
    run.step()
    run.average.after_epoch()
    assert run.average.weights()["weight"].data_ptr() == run.module.weight.data_ptr()


@pytest.mark.parametrize("average", ["none", "ema", "last"])
def test_an_average_goes_on_from_its_state(average: Any) -> None:
    torch.manual_seed(0)
    changes = {"average": average} | ({"average_epochs": 12} if average == "last" else {})
    run = Drifting(**changes)
    for _ in range(11):
        run.step()
        run.average.after_epoch()
    again = WeightAverage(run.module, settings(**changes))
    again.restore({n: t.clone() for n, t in run.average.state().items()})
    run.step()
    run.average.after_epoch()
    again.after_step()
    again.after_epoch()
    for name, tensor in run.average.weights().items():
        assert torch.equal(tensor, again.weights()[name])
