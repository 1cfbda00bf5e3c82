"""What every family of heads must do, in every form that its settings allow.

A family that joins ``settings.heads.HEADS`` is tested here without a further line: in the form of
its defaults in every run. In the long one the forms have every pair of values of two settings that
some form of the family has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fascicle.core.document import Document, Mention
from fascicle.core.patches import apply
from fascicle.core.tags import SCHEMES
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.models.heads.contract import IGNORED, Basis, put_weights
from fascicle.models.heads.spans import SpanClassifier
from fascicle.models.heads.tagger import CrfTagger, MultiLabelTagger, SoftmaxTagger
from fascicle.models.model import FAMILIES, NerModel, TorchScorer, load_model, save_model
from fascicle.runtime.decoding.chains import ChainScores
from fascicle.runtime.decoding.kinds import KINDS, head_limits
from fascicle.runtime.decoding.tagger import TagDecision, decode_batch
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.heads import (
    HEADS,
    AnyHead,
    BiaffineSettings,
    BinderSettings,
    CrfSettings,
    MultiLabelSettings,
    SoftmaxSettings,
    SpanHeadSettings,
    SpanSettings,
    TaggerSettings,
)
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.engine.loop import Trainer
from fascicle.training.labelling import LABELS, UNKNOWN
from fascicle.training.recogniser.data import TrainingSet, training_set
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare

TYPES = ("Chemical", "Disease")


AXES: dict[str, list[Any]] = {
    "level": ["word", "piece"],
    "pooling": ["first", "max", "mean"],
    "specials": ["exclude", "include"],
    "scheme": ["BIO", "IO"],
    "representation": ["boundary", "pooling", "hybrid"],
    "width_embedding": [0, 5],
    "negatives": [0, 8],
    "decoding": ["nested", "greedy", "optimal"],
}


def legal() -> list[AnyHead]:
    """Every combination of settings that a head allows; taggers with their usual decoding only."""
    found: list[AnyHead] = []
    for family, kind in sorted(HEADS.items()):
        tagger = issubclass(kind, TaggerSettings)
        names = [
            n for n in AXES if n in kind.__struct_fields__ and not (tagger and n == "decoding")
        ]
        for values in product(*(AXES[n] for n in names)):
            with suppress(msgspec.ValidationError):
                found.append(
                    msgspec.convert(
                        {"family": family, **dict(zip(names, values, strict=True))}, AnyHead
                    )
                )
    return found


LEGAL = legal()
DEFAULTS: tuple[AnyHead, ...] = tuple(
    msgspec.convert({"family": family}, AnyHead) for family in sorted(HEADS)
)
# A few forms of each kind in every run, the other taggers and a sample of the other heads in the
# long one.
QUICK: tuple[AnyHead, ...] = (
    *DEFAULTS,
    *(
        msgspec.convert({"family": family, **form}, AnyHead)
        for family in ("softmax", "crf", "multilabel")
        for form in ({"pooling": "max", "scheme": "IO"}, {"level": "piece", "specials": "include"})
    ),
    MultiLabelSettings(scheme="IO", breakers="();", decoding="strict"),
    SpanSettings(level="piece", decoding="nested"),
    SpanSettings(level="piece", specials="include", decoding="optimal", negatives=8),
    SpanSettings(pooling="max", representation="hybrid", width_embedding=5, negatives=8),
    SpanSettings(pooling="mean", representation="pooling", decoding="nested"),
    BiaffineSettings(pooling="max", hidden=16),
    BinderSettings(level="piece", decoding="nested", width_embedding=5),
    BinderSettings(decoding="nested", inference="joint", thresholds="global", type_view="atomic"),
)


def pairs(head: AnyHead) -> set[tuple[object, ...]]:
    """The values of every two settings of a head, with its family."""
    values = [(name, getattr(head, name)) for name in AXES if hasattr(head, name)]
    return {(head.family, *both) for both in combinations(values, 2)}


def covering(forms: Sequence[AnyHead], given: Sequence[AnyHead]) -> list[AnyHead]:
    """Forms that together with the given ones have every pair of any form: each time the one
    that adds most.
    """
    found = list[AnyHead]()
    left = set[tuple[object, ...]]().union(*map(pairs, forms)).difference(*map(pairs, given))
    while left:
        found.append(max(forms, key=lambda form: len(pairs(form) & left)))
        left -= pairs(found[-1])
    return found


LONG = covering(LEGAL, QUICK)


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A head that has seen ten sentences often enough to know them."""

    head: AnyHead
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
    parts = read_parts(recipe.corpus)
    prepared = prepare(recipe, parts, pretrained)
    for _ in Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed).run():
        pass
    scorer = TorchScorer(model=prepared.model.eval())
    return Trained(
        head=recipe.model.head,
        model=prepared.model,
        predictor=ModelPredictor(prepared.manifest, pretrained.tokenizer, scorer),
        tokenizer=pretrained.tokenizer,
        data=prepared.data,
        gold=parts.train,
    )


def _forms() -> Iterator[Any]:
    for head in dict.fromkeys([*QUICK, *LONG]):
        values = {**{n: getattr(type(head)(), n) for n in AXES if n in head.__struct_fields__}}
        form = [
            f"{n}={getattr(head, n)}" for n, value in values.items() if getattr(head, n) != value
        ]
        yield pytest.param(
            head, id="-".join((head.family, *form)), marks=[] if head in QUICK else pytest.mark.slow
        )


@pytest.fixture(scope="module", params=_forms())
def trained(request: pytest.FixtureRequest, tiny_recipe: Callable[..., Recipe]) -> Trained:
    sampled = isinstance(request.param, SpanHeadSettings) and request.param.negatives > 0
    tagger = isinstance(request.param, TaggerSettings) and request.param.family != "multilabel"
    # Few negatives teach slowly, and so do vectors of types.
    slow = sampled or isinstance(request.param, BinderSettings)
    epochs = 20 if tagger else 120 if slow else 40
    return overfit(
        tiny_recipe(model=msgspec.to_builtins(request.param), training={"epochs": epochs})
    )


def test_ten_sentences_are_learnt(trained: Trained) -> None:
    patches = trained.predictor.predict(trained.gold)
    found = [apply(d, p) for d, p in zip(trained.gold, patches, strict=True)]
    result = score(layers(trained.gold), layers(found, source="tiny"))
    # "lung cancer pain" and another
    touching = 0 if trained.model.head(trained.model.answer).limits.separates else 4
    assert trained.data.lost == {trained.head.family: {"touching": touching} if touching else {}}
    assert (result.counts.fn, result.counts.fp) == (touching, touching // 2)


def test_a_saved_model_predicts_the_same(trained: Trained, tmp_path: Path) -> None:
    manifest = save_model(
        tmp_path, trained.model, manifest=trained.predictor.manifest, tokenizer=trained.tokenizer
    )
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


def test_long_documents_are_answered_part_by_part(trained: Trained) -> None:
    text = (
        " ".join(d.text for d in trained.gold * 4)
        + " caffe"
        + "s" * 70
        + " "
        + "aspirin " * 90
        + "pain."
    )
    document = Document(id="d", text=text)
    scorer = TorchScorer(model=trained.model.eval())
    parts = ModelPredictor(
        trained.predictor.manifest, trained.tokenizer, scorer, max_characters=100
    )
    (found,), (whole,) = parts.predict([document]), trained.predictor.predict([document])
    assert len(whole.add) > 40
    assert_same(found.add, whole.add)
    assert found.events == whole.events


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


def test_what_is_returned_keeps_the_limits(trained: Trained) -> None:
    """Mentions overlap, share a range and are as wide as the kind allows, also those of a head
    that knows nothing.
    """
    model = deepcopy(trained.model)
    chance = torch.Generator().manual_seed(1)
    put_weights(
        model, {n: p + torch.randn(p.shape, generator=chance) for n, p in model.named_parameters()}
    )
    blind = ModelPredictor(trained.predictor.manifest, trained.tokenizer, TorchScorer(model=model))
    limits = head_limits(trained.predictor.manifest.answering)
    for predictor in (trained.predictor, blind):
        for document, patch in zip(trained.gold, predictor.predict(trained.gold), strict=True):
            for one, other in combinations(patch.add, 2):
                rivals = not limits.across_types or one.type == other.type
                assert (
                    limits.nested or not rivals or one.end <= other.start or other.end <= one.start
                )
                assert limits.pairs or not rivals or one.spans != other.spans
            words = [len(document.text[m.start : m.end].split()) for m in patch.add]
            assert max(words, default=0) <= (limits.width or limits.pieces or len(document.text))


def test_weights_that_are_put_in_show_at_once(trained: Trained) -> None:
    """A head may keep what it made of its weights; it must not answer by what they were."""
    model, batch = (
        deepcopy(trained.model),
        next(iter(trained.data.batches(size=6, seed=3, epoch=0)))[0],
    )
    chance = torch.Generator().manual_seed(1)
    with torch.no_grad():
        before = {name: table.clone() for name, table in model.answers(batch).items()}
        put_weights(
            model,
            {
                n: p + 0.1 * torch.randn(p.shape, generator=chance)
                for n, p in model.named_parameters()
            },
        )
        after, expected = model.answers(batch), deepcopy(model).train().eval().answers(batch)
    assert all(torch.equal(after[name], expected[name]) for name in after)
    assert not any(torch.equal(after[name], before[name]) for name in after)


def test_a_text_longer_than_a_window(trained: Trained) -> None:
    text = ", ".join(["aspirin caused pain in the patient"] * 40)
    starts = [m.start for m in trained.mentions(text) if text[m.start : m.end] == "aspirin"]
    # A window of 64 pieces has nine of the sentences. How many a small model finds depends on the
    # processor.
    assert (
        max(after - before for before, after in pairwise([0, *starts, len(text)]))
        < 8 * len(text) // 40
    )
    assert starts[-1] > len(text) - 100


def test_a_word_longer_than_a_window_is_an_event(trained: Trained) -> None:
    (patch,) = trained.predictor.predict(
        [Document(id="d", text="aspirin " + "caffe" + "s" * 60 + " pain")]
    )
    assert [e.code for e in patch.events] == (["long-word"] if trained.head.level == "word" else [])


@pytest.mark.parametrize(
    "before", ["İİİ", "👍🏽 👨‍👩‍👧.", "e\u0301\r\n\u00a0", "שלום \u200f", "\ufeff", "ﬁ ẛ̣ \x00"]
)
def test_offsets_are_code_points_of_the_text(trained: Trained, before: str) -> None:
    text = f"{before}\r\n\r\naspirin caused pain in the patient"
    start = text.index("aspirin")
    found = [text[m.start : m.end] for m in trained.mentions(text) if m.start >= start]
    assert found == ["aspirin", "pain"]
    document = Document(id="d", text=text)
    apply(document, trained.predictor.predict([document])[0])


def naive_softmax_loss(head: Any, tables: Mapping[str, Tensor], targets: Tensor) -> Tensor:
    """Unit by unit, in float64."""
    units = zip(tables["emissions"].double().flatten(0, 1), targets.flatten(), strict=True)
    return torch.stack(
        [-F.log_softmax(row, 0)[gold] for row, gold in units if gold != IGNORED]
    ).mean()


def naive_crf_loss(head: Any, tables: Mapping[str, Tensor], targets: Tensor) -> Tensor:
    """Path by path, in float64."""
    total, count = torch.zeros((), dtype=torch.float64), 0
    a, start, end = (
        p.detach().double() for p in (head.crf.transitions, head.crf.start, head.crf.end)
    )
    for row, gold in zip(tables["emissions"].double(), targets, strict=True):
        n = int((gold != IGNORED).sum())
        row, gold, count = row[:n], gold[:n], count + n
        alpha, path = start + row[0], start[gold[0]] + row[0, gold[0]]
        for t in range(1, n):
            alpha = torch.logsumexp(alpha[:, None] + a, dim=0) + row[t]
            path = path + a[gold[t - 1], gold[t]] + row[t, gold[t]]
        total = total + torch.logsumexp(alpha + end, 0) - path - end[gold[n - 1]]
    return total / count


def naive_label_loss(head: Any, tables: Mapping[str, Tensor], targets: Tensor) -> Tensor:
    """Label by label, in float64."""
    labels = zip(tables["emissions"].double().flatten(), targets.flatten(), strict=True)
    return torch.stack(
        [-F.logsigmoid(score if gold else -score) for score, gold in labels if gold != IGNORED]
    ).mean()


def naive_span_loss(head: Any, tables: Mapping[str, Tensor], targets: Tensor) -> Tensor:
    """Span by span, in float64."""
    parts = {name: table.double() for name, table in tables.items()}
    losses = []
    for b, i, w in (targets != IGNORED).nonzero().tolist():
        logits = torch.zeros(parts["starts"].shape[-1], dtype=torch.float64)
        for name, place in (
            ("starts", (b, i)),
            ("ends", (b, i + w)),
            ("widths", (w,)),
            ("spans", (b, i, w)),
        ):
            logits = logits + parts[name][place] if name in parts else logits
        losses.append(-F.log_softmax(logits, 0)[targets[b, i, w]])
    return torch.stack(losses).mean()


# The definition of each loss, which the families that inherit it share.
LOSSES: dict[Any, Callable[[Any, Mapping[str, Tensor], Tensor], Tensor]] = {
    SoftmaxTagger.loss: naive_softmax_loss,
    CrfTagger.loss: naive_crf_loss,
    MultiLabelTagger.loss: naive_label_loss,
    SpanClassifier.loss: naive_span_loss,
}


def test_the_loss_is_its_definition(trained: Trained) -> None:
    batch, targets = next(iter(trained.data.batches(size=6, seed=3, epoch=0)))
    name = trained.model.answer
    head = trained.model.head(name)
    naive = LOSSES.get(type(head).loss)
    if naive is None:
        pytest.skip(
            f"the family {trained.head.family} has a loss of its own, which a test of its own "
            "must define"
        )
    with torch.no_grad():
        states = trained.model.encoder(batch["input_ids"], batch["attention_mask"])
        head.train(trained.head.specials == "include")  # special tokens are units in training only
        head.units.dropout.eval()
        tables = head.scores(states, batch)
        loss = head.loss(tables, targets[name])
        head.eval()
    assert float(loss) == pytest.approx(
        float(naive(head, tables, targets[name])), rel=1e-4, abs=1e-5
    )


def test_a_text_of_which_nothing_is_known_teaches_nothing(trained: Trained) -> None:
    """Weak labels: no mention, and a phrase without a type over the whole text."""
    if trained.head.specials == "include":
        pytest.skip("special tokens are taught as nothing in any text")
    unknown = [
        msgspec.structs.replace(
            d,
            mentions=(Mention(((0, len(d.text)),), UNKNOWN, source=UNKNOWN),),
            meta={LABELS: "a dictionary"},
        )
        for d in trained.gold
    ]
    model = deepcopy(trained.model).train()
    name = model.answer
    reading = trained.predictor.manifest.reading
    data = training_set(
        unknown, trained.tokenizer, types=TYPES, reading=reading, heads={name: model.head(name)}
    )
    batch, targets = next(iter(data.batches(size=10, seed=1, epoch=0)))
    loss = model.loss(model(batch), targets)
    loss.backward()  # type: ignore[no-untyped-call]
    assert abs(loss.item()) < 1e-4
    assert all(p.grad is None or float(p.grad.abs().max()) < 1e-4 for p in model.parameters())


def test_every_parameter_is_trained(trained: Trained) -> None:
    """In a copy of the model, by one batch: the loss is one number, and each parameter of the
    head has a gradient.
    """
    model = deepcopy(trained.model).train()
    batch, targets = next(iter(trained.data.batches(size=6, seed=3, epoch=0)))
    loss = model.loss(model(batch), targets)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.shape == ()
    assert bool(loss.isfinite())
    assert [
        n
        for n, p in model.head(model.answer).named_parameters()
        if p.grad is None or not p.grad.any()
    ] == []


def test_the_tables_have_the_axes_that_the_head_names(trained: Trained) -> None:
    head = trained.model.head(trained.model.answer)
    fixed = set()
    for size in (2, 5):
        batch, _ = next(iter(trained.data.batches(size=size, seed=3, epoch=0)))
        sizes = dict(zip(("batch", "units"), batch["first_piece"].shape, strict=True))
        with torch.no_grad():
            tables = trained.model.answers(batch)
        assert tables.keys() == set(head.outputs)
        for name, axes in head.axes.items():
            pairs = list(zip(axes, tables[name].shape, strict=True))
            assert all(sizes[axis] == n for axis, n in pairs if axis)
            fixed.add((name, *(n for axis, n in pairs if not axis)))
    assert len(fixed) == len(head.axes)


EXPORTED = (*DEFAULTS, MultiLabelSettings(inference_pooling="max"))


@pytest.mark.parametrize("trained", EXPORTED, ids=lambda head: head.family, indirect=True)
def test_the_exported_model_predicts_the_same(trained: Trained, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    (tmp_path / "torch").mkdir()
    save_model(
        tmp_path / "torch",
        trained.model,
        manifest=trained.predictor.manifest,
        tokenizer=trained.tokenizer,
    )
    export_model(tmp_path / "torch", tmp_path / "onnx", int8=False)
    ours, theirs = (
        load(tmp_path / "onnx", links=False).predict(trained.gold),
        trained.predictor.predict(trained.gold),
    )
    for patch, other in zip(ours, theirs, strict=True):
        assert_same(patch.add, other.add)


def test_the_settings_that_a_head_allows() -> None:
    assert set(HEADS.values()) == FAMILIES.keys() == KINDS.keys()
    assert {head.family for head in LEGAL} == HEADS.keys()
    assert sum(isinstance(head, SoftmaxSettings | CrfSettings) for head in LEGAL) == 2 * 2 * (3 + 2)
    for family in (
        SoftmaxSettings,
        CrfSettings,
        MultiLabelSettings,
        SpanSettings,
        BiaffineSettings,
    ):
        assert FAMILIES[family].loss in LOSSES  # type: ignore[attr-defined]


@pytest.mark.parametrize("scheme", ["BIO", "IO"])
def test_special_tokens_of_a_crf_are_o_at_inference(tiny_encoder: Path, scheme: Any) -> None:
    """The border transitions stand for a chain with explicit special positions that can be
    nothing but O.
    """
    settings = CrfSettings(level="piece", specials="include", scheme=scheme)
    torch.manual_seed(5)
    head = CrfTagger(settings, Basis(types=TYPES, width=8)).eval()
    with torch.no_grad():
        for parameter in head.crf.parameters():
            parameter.mul_(20)
        tables = head.scores(
            torch.zeros(1, 3, 8), {"first_piece": torch.zeros(1, 3, dtype=torch.long)}
        )
    inner = ChainScores(**{n: tables[n].detach().numpy() for n in ("transitions", "start", "end")})
    outer = ChainScores(
        **{n: getattr(head.crf, n).detach().numpy() for n in ("transitions", "start", "end")}
    )
    chance = np.random.default_rng(5)
    for _ in range(20):
        emissions = 2 * chance.normal(size=(chance.integers(1, 9), len(head.labels)))
        forced = np.full((1, len(head.labels)), -1e6)
        forced[0, 0] = chance.normal()
        explicit = np.concatenate([forced, emissions, forced])
        decide = [
            TagDecision(scheme=SCHEMES[scheme], decoding="viterbi", chain=c) for c in (inner, outer)
        ]
        spans, scores = decode_batch([emissions], decide[0])[0]
        wanted, expected = decode_batch([explicit], decide[1])[0]
        assert (spans + np.array([1, 1, 0])).tolist() == wanted.tolist()
        assert scores == pytest.approx(expected, abs=1e-9)
