"""What every family of heads must do, in every form that its settings allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fascicle.core.document import Document, Mention, apply
from fascicle.core.tags import SCHEMES
from fascicle.decode.tagger import ChainScores, TagDecision, decode_emissions
from fascicle.evaluate.inputs import layers
from fascicle.evaluate.scores import score
from fascicle.models.checkpoint import TorchScorer, build_model, load_model, save_model
from fascicle.models.encoder import load_pretrained
from fascicle.models.families import FAMILIES
from fascicle.models.model import NerModel
from fascicle.models.tagger import IGNORED, CrfTagger
from fascicle.recipe.settings import HeadSettings, Recipe
from fascicle.runtime.predictor import ModelPredictor
from fascicle.text.pieces import PieceTokenizer
from fascicle.train.corpus import read_part
from fascicle.train.data import TrainingSet, training_set
from fascicle.train.loop import Trainer
from fascicle.train.run import _manifest

TYPES = ("Chemical", "Disease")


def legal() -> list[HeadSettings]:
    """Every combination of settings that a head allows."""
    axes = {
        "family": sorted(FAMILIES),
        "level": ["word", "piece"],
        "pooling": ["first", "max", "mean"],
        "scheme": ["BIO", "IO"],
        "specials": ["exclude", "include"],
    }
    found = []
    for values in product(*axes.values()):
        try:
            found.append(msgspec.convert(dict(zip(axes, values, strict=True)), HeadSettings))
        except msgspec.ValidationError:
            continue
    return found


HEADS = legal()
# One form of each kind in every run, all of them in the long one.
QUICK = {("word", "first", "BIO", "exclude"), ("word", "max", "IO", "exclude"), ("piece", "first", "BIO", "include")}


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A head that has seen ten sentences often enough to know them."""

    head: HeadSettings
    model: NerModel
    predictor: ModelPredictor
    tokenizer: PieceTokenizer
    data: TrainingSet
    gold: list[Document]

    def mentions(self, text: str) -> tuple[Mention, ...]:
        return self.predictor.predict([Document(id="d", text=text)])[0].add


def overfit(recipe: Recipe) -> Trained:
    pretrained = load_pretrained(recipe.model.encoder)
    torch.manual_seed(recipe.seed)
    manifest = _manifest(recipe, TYPES, pretrained)
    model = build_model(pretrained.encoder, manifest)
    gold = read_part(recipe.corpus, "train")
    head = recipe.model.head()
    data = training_set(gold, pretrained.tokenizer, types=TYPES, reading=recipe.reading, head=head)
    for _ in Trainer(model, data, recipe.training, seed=recipe.seed).run():
        pass
    predictor = ModelPredictor(manifest, pretrained.tokenizer, TorchScorer(model=model.eval()))
    return Trained(head=head, model=model, predictor=predictor, tokenizer=pretrained.tokenizer, data=data, gold=gold)


def _named(head: HeadSettings) -> Any:
    form = (head.level, head.pooling, head.scheme, head.specials)
    return pytest.param(head, id="-".join((head.family, *form)), marks=[] if form in QUICK else pytest.mark.slow)


@pytest.fixture(scope="module", params=map(_named, HEADS))
def trained(request: pytest.FixtureRequest, tiny_recipe: Callable[..., Recipe]) -> Trained:
    names = ("family", "level", "pooling", "scheme", "specials")
    model = {name: getattr(request.param, name) for name in names}
    return overfit(tiny_recipe(model=model, training={"epochs": 20}))


def test_ten_sentences_are_learnt(trained: Trained) -> None:
    patches = trained.predictor.predict(trained.gold)
    found = [apply(d, p) for d, p in zip(trained.gold, patches, strict=True)]
    result = score(layers(trained.gold), layers(found, source="tiny"))
    touching = 4 if trained.head.scheme == "IO" else 0  # "aspirin ibuprofen" and "lung cancer pain"
    assert trained.data.lost == ({"touching": touching} if touching else {})
    assert (result.counts.fn, result.counts.fp) == (touching, touching // 2)


def test_a_saved_model_predicts_the_same(trained: Trained, tmp_path: Path) -> None:
    manifest = save_model(tmp_path, trained.model, manifest=trained.predictor.manifest, tokenizer=trained.tokenizer)
    loaded = load_model(tmp_path, manifest)
    again = ModelPredictor(manifest, trained.tokenizer, TorchScorer(model=loaded))
    assert again.predict(trained.gold) == trained.predictor.predict(trained.gold)


def assert_same(one: tuple[Mention, ...], other: tuple[Mention, ...]) -> None:
    assert [m.key for m in one] == [m.key for m in other]
    assert [m.score for m in one] == pytest.approx([m.score for m in other], abs=1e-5)


def test_neighbours_do_not_matter(trained: Trained) -> None:
    texts = [d.text for d in trained.gold] + ["", "aspirin " * 60, "heart failure"]
    documents = [Document(id=str(i), text=t) for i, t in enumerate(texts)]
    together = trained.predictor.predict(documents)
    backwards = trained.predictor.predict(documents[::-1])[::-1]
    for document, patch, other in zip(documents, together, backwards, strict=True):
        (alone,) = trained.predictor.predict([document])
        assert_same(patch.add, alone.add)
        assert_same(patch.add, other.add)


def test_predicting_changes_nothing(trained: Trained) -> None:
    before = {n: t.clone() for n, t in trained.model.state_dict().items()}
    texts = [d.text for d in trained.gold]
    kept = list(trained.gold)
    random = torch.get_rng_state()
    first, second = trained.predictor.predict(trained.gold), trained.predictor.predict(trained.gold)
    assert first == second
    assert trained.gold == kept
    assert [d.text for d in trained.gold] == texts
    assert all(torch.equal(t, before[n]) for n, t in trained.model.state_dict().items())
    assert torch.equal(random, torch.get_rng_state())


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0\u3000", "\u200b", "\x00"])
def test_nothing_to_read(trained: Trained, text: str) -> None:
    (patch,) = trained.predictor.predict([Document(id="d", text=text)])
    assert patch.add == ()
    assert patch.events == ()
    assert trained.predictor.predict([]) == []


def test_a_text_longer_than_a_window(trained: Trained) -> None:
    text = ", ".join(["aspirin caused pain in the patient"] * 40)
    starts = [m.start for m in trained.mentions(text) if text[m.start : m.end] == "aspirin"]
    assert len(starts) > 20
    assert starts[-1] > len(text) - 100


def test_a_word_longer_than_a_window_is_an_event(trained: Trained) -> None:
    (patch,) = trained.predictor.predict([Document(id="d", text="aspirin " + "caffe" + "s" * 60 + " pain")])
    assert [e.code for e in patch.events] == (["long-word"] if trained.head.level == "word" else [])


@pytest.mark.parametrize("before", ["İİİ", "👍🏽 👨‍👩‍👧.", "e\u0301\r\n\u00a0", "שלום \u200f", "\ufeff", "ﬁ ẛ̣ \x00"])
def test_offsets_are_code_points_of_the_text(trained: Trained, before: str) -> None:
    text = f"{before}\r\n\r\naspirin caused pain in the patient"
    start = text.index("aspirin")
    found = [text[m.start : m.end] for m in trained.mentions(text) if m.start >= start]
    assert found == ["aspirin", "pain"]
    document = Document(id="d", text=text)
    apply(document, trained.predictor.predict([document])[0])


def naive_loss(head: Any, emissions: Tensor, targets: Tensor) -> Tensor:
    """Unit by unit and path by path, in float64."""
    total, count = torch.zeros((), dtype=torch.float64), 0
    for row, gold in zip(emissions.double(), targets, strict=True):
        n = int((gold != IGNORED).sum())
        row, gold, count = row[:n], gold[:n], count + n
        if not isinstance(head, CrfTagger):
            total = total - sum(F.log_softmax(row[t], 0)[gold[t]] for t in range(n))
            continue
        a, start, end = (p.detach().double() for p in (head.crf.transitions, head.crf.start, head.crf.end))
        alpha, path = start + row[0], start[gold[0]] + row[0, gold[0]]
        for t in range(1, n):
            alpha = torch.logsumexp(alpha[:, None] + a, dim=0) + row[t]
            path = path + a[gold[t - 1], gold[t]] + row[t, gold[t]]
        total = total + torch.logsumexp(alpha + end, 0) - path - end[gold[n - 1]]
    return total / count


def test_the_loss_is_its_definition(trained: Trained) -> None:
    batch, targets = next(iter(trained.data.batches(size=6, seed=3, epoch=0)))
    head: Any = trained.model.head(trained.model.answer)
    with torch.no_grad():
        tables = trained.model.answers(batch)
        loss = head.loss(tables, targets)
    expected = naive_loss(head, tables["emissions"][:, : targets.shape[1]], targets)
    assert float(loss) == pytest.approx(float(expected), rel=1e-4, abs=1e-5)


def test_the_settings_that_a_head_allows() -> None:
    assert len(HEADS) == len(FAMILIES) * 2 * (3 + 2)
    assert {(h.level, h.pooling, h.scheme, h.specials) for h in HEADS} > QUICK


@pytest.mark.parametrize("scheme", ["BIO", "IO"])
def test_special_tokens_of_a_crf_are_o_at_inference(tiny_encoder: Path, scheme: Any) -> None:
    """The border transitions stand for a chain with explicit special positions that can be nothing but O."""
    settings = HeadSettings(family="crf", level="piece", specials="include", scheme=scheme)
    torch.manual_seed(5)
    head = CrfTagger(settings, types=TYPES, width=8).eval()
    with torch.no_grad():
        for parameter in head.crf.parameters():
            parameter.mul_(20)
        tables = head.scores(torch.zeros(1, 3, 8), {"first_piece": torch.zeros(1, 3, dtype=torch.long)})
    inner = ChainScores(**{n: tables[n].detach().numpy() for n in ("transitions", "start", "end")})
    outer = ChainScores(**{n: getattr(head.crf, n).detach().numpy() for n in ("transitions", "start", "end")})
    chance = np.random.default_rng(5)
    for _ in range(20):
        emissions = 2 * chance.normal(size=(chance.integers(1, 9), len(head.labels)))
        forced = np.full((1, len(head.labels)), -1e6)
        forced[0, 0] = chance.normal()
        explicit = np.concatenate([forced, emissions, forced])
        decide = [TagDecision(scheme=SCHEMES[scheme], decoding="viterbi", chain=c) for c in (inner, outer)]
        spans, scores = decode_emissions(emissions, decide[0])
        wanted, expected = decode_emissions(explicit, decide[1])
        assert (spans + np.array([1, 1, 0])).tolist() == wanted.tolist()
        assert scores == pytest.approx(expected, abs=1e-9)
