"""The network of a filter: what it computes, what it is made of, what it refuses."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from fascicle.errors import ModelError  # noqa: E402
from fascicle.models.encoder import Pretrained, load_pretrained  # noqa: E402
from fascicle.models.filter import FilterModel, make_filter  # noqa: E402
from fascicle.models.model import TorchScorer  # noqa: E402
from fascicle.settings.recipes.filter import FilterModelSettings  # noqa: E402


def fresh(encoder: Path, pretrained: Pretrained | None = None, **settings: object) -> FilterModel:
    found = FilterModelSettings(encoder=str(encoder), **settings)  # type: ignore[arg-type]
    torch.manual_seed(3)
    return make_filter(pretrained or load_pretrained(str(encoder)), found).model.eval()


@pytest.fixture
def batch() -> dict[str, torch.Tensor]:
    ids = torch.tensor([[2, 7, 9, 11, 3], [2, 8, 3, 0, 0]])
    return {"input_ids": ids, "attention_mask": (ids != 0).long()}


@pytest.mark.parametrize("pool", ["cls", "mean"])
def test_logits_are_those_of_a_naive_loop(
    tiny_encoder: Path, batch: dict[str, torch.Tensor], pool: str
) -> None:
    model = fresh(tiny_encoder, pool=pool)
    logits = model(batch)["filter"]["logits"]
    for row in range(2):
        length = int(batch["attention_mask"][row].sum())
        alone = batch["input_ids"][row : row + 1, :length]
        states = model.encoder(alone, torch.ones_like(alone))[0]
        vector = states[0] if pool == "cls" else torch.stack(list(states)).mean(dim=0)
        hidden = torch.tanh(model.pooler.weight @ vector + model.pooler.bias)
        expected = model.classifier.weight @ hidden + model.classifier.bias
        assert torch.allclose(logits[row], expected, atol=1e-6)


def test_the_loss_is_weighted_by_class(tiny_encoder: Path, batch: dict[str, torch.Tensor]) -> None:
    settings = FilterModelSettings(encoder=str(tiny_encoder))
    model = make_filter(
        load_pretrained(str(tiny_encoder)), settings, weights=(0.23, 0.77)
    ).model.eval()
    scores, targets = model(batch), {"filter": torch.tensor([1, 0])}
    total = weight = 0.0
    for (wrong, right), label in zip(scores["filter"]["logits"].tolist(), (1, 0), strict=True):
        chosen = right if label else wrong
        share = 0.77 if label else 0.23
        total += share * (math.log(math.exp(wrong) + math.exp(right)) - chosen)
        weight += share
    assert model.loss(scores, targets).item() == pytest.approx(total / weight, rel=1e-5)


def test_the_table_of_pieces_grows_by_the_markers(tiny_encoder: Path) -> None:
    before = load_pretrained(str(tiny_encoder))
    table = before.encoder.network.get_input_embeddings().weight.detach().clone()  # type: ignore[operator]
    made = make_filter(before, FilterModelSettings(encoder=str(tiny_encoder)))
    after = made.model.encoder.network.get_input_embeddings().weight  # type: ignore[operator]
    assert made.marker_ids == (len(table), len(table) + 1)
    assert torch.equal(after[: len(table)], table)
    assert after.shape[0] == len(table) + 2
    assert not torch.equal(after[-1], after[-2])
    assert "brings none" in made.notes[0]


def test_a_marker_that_the_tokenizer_has_is_refused(tiny_encoder: Path) -> None:
    settings = FilterModelSettings(
        encoder=str(tiny_encoder), start_marker="[MASK_]", end_marker="["
    )
    with pytest.raises(
        ModelError, match=r"has the marker '\[' already.*model\.start_marker and model\.end_marker"
    ):
        make_filter(load_pretrained(str(tiny_encoder)), settings)


def test_the_pooler_of_an_encoder_is_taken(tiny_encoder: Path, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.from_pretrained(tiny_encoder)
    whole = transformers.BertModel(config, add_pooling_layer=True)
    whole.save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((tiny_encoder / name).read_bytes())
    assert load_pretrained(str(tmp_path)).pooler is None
    pretrained = load_pretrained(str(tmp_path), pooler=True)
    assert not [n for n, _ in pretrained.encoder.named_parameters() if "pooler" in n]
    model = fresh(tmp_path, pretrained)
    ids = torch.tensor([[2, 7, 9, 3]])
    expected = whole.eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).pooler_output
    pooled = torch.tanh(model.pooler(model.encoder(ids, torch.ones_like(ids))[:, 0]))
    assert torch.allclose(pooled, expected, atol=1e-6)
    assert load_pretrained(str(tiny_encoder), pooler=True).pooler is None  # none was saved
    other = fresh(tmp_path, load_pretrained(str(tmp_path), pooler=True), pool="mean")
    assert not torch.equal(other.pooler.weight, model.pooler.weight)


def test_padding_changes_nothing(tiny_encoder: Path, batch: dict[str, torch.Tensor]) -> None:
    scorer = TorchScorer(model=fresh(tiny_encoder, pool="mean"))
    arrays = {name: t.numpy() for name, t in batch.items()}
    alone = {name: a[1:, :3] for name, a in arrays.items()}
    other = {**arrays, "input_ids": arrays["input_ids"] + 5 * (arrays["attention_mask"] == 0)}
    together = scorer.run(arrays)["logits"]
    assert abs(together[1] - scorer.run(alone)["logits"][0]).max() < 1e-6
    assert (scorer.run(other)["logits"] == together).all()
