"""The bi-encoder head: what it is taught, its loss by loops over explicit lists, and vectors
that are never stale.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import pieces_of

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402
from torch import Tensor  # noqa: E402

from fascicle.core.document import Document, Mention  # noqa: E402
from fascicle.errors import RecipeError  # noqa: E402
from fascicle.evaluation.scoring.inputs import layers  # noqa: E402
from fascicle.evaluation.scoring.scores import score  # noqa: E402
from fascicle.loading import load  # noqa: E402
from fascicle.models.encoder import Pretrained, load_pretrained  # noqa: E402
from fascicle.models.export.folders import export_model  # noqa: E402
from fascicle.models.heads.binder import UNKNOWN, BinderHead  # noqa: E402
from fascicle.models.heads.contract import Basis  # noqa: E402
from fascicle.models.model import (  # noqa: E402
    NerModel,
    TorchScorer,
    load_model,
    save_model,
)
from fascicle.runtime.predictor import ModelPredictor  # noqa: E402
from fascicle.settings.folders.manifest import read_manifest  # noqa: E402
from fascicle.settings.heads import BinderSettings  # noqa: E402
from fascicle.settings.recipes.recogniser import Recipe  # noqa: E402
from fascicle.text.pieces import Pieces, PieceTokenizer  # noqa: E402
from fascicle.text.targets import HeadLimits, align  # noqa: E402
from fascicle.text.windows import Window, make_windows  # noqa: E402
from fascicle.training.corpus import Parts  # noqa: E402
from fascicle.training.engine.events import Validated  # noqa: E402
from fascicle.training.engine.loop import EpochDone, Trainer  # noqa: E402
from fascicle.training.engine.optim import parameter_groups, weights_in  # noqa: E402
from fascicle.training.recogniser.parts import read_parts  # noqa: E402
from fascicle.training.recogniser.prepare import Prepared, prepare  # noqa: E402
from fascicle.training.run import run_recipe  # noqa: E402

Maker = Callable[..., Recipe]
Batch = tuple[dict[str, Tensor], dict[str, Tensor]]
SMALL = {"family": "binder", "hidden": 16, "width_embedding": 6, "dropout": 0.0}


@dataclass(frozen=True, kw_only=True)
class Made:
    """A prepared model and what belongs to it."""

    prepared: Prepared
    pretrained: Pretrained
    recipe: Recipe

    @property
    def model(self) -> NerModel:
        return self.prepared.model

    @property
    def head(self) -> BinderHead:
        found = self.model.head("binder")
        assert isinstance(found, BinderHead)
        return found

    def batch(self, size: int = 4) -> Batch:
        return next(self.prepared.data.batches(size=size, seed=3, epoch=0))

    def trainer(self, **training: Any) -> Trainer:
        settings = msgspec.structs.replace(self.recipe.training, **training)
        return Trainer(self.model, self.prepared.data, settings, seed=1)


@pytest.fixture
def made(tiny_recipe: Maker, toy_types: Path) -> Callable[..., Made]:
    def make(parts: Parts | None = None, **model: Any) -> Made:
        if model.get("type_view") in ("description", "keyword", "instances"):
            model = {"types": str(toy_types), **model}
        recipe = tiny_recipe(model={**SMALL, **model})
        pretrained = load_pretrained(recipe.model.encoder)
        torch.manual_seed(7)
        prepared = prepare(recipe, parts or read_parts(recipe.corpus), pretrained)
        return Made(prepared=prepared, pretrained=pretrained, recipe=recipe)

    return make


# What is taught


def bare(**settings: Any) -> BinderHead:
    return BinderHead(
        BinderSettings(type_view="atomic", hidden=4, **settings), Basis(types=("A", "B"), width=8)
    )


SPANS = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 5), st.integers(0, 1)), max_size=6)
RANGES = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 6)), max_size=3)


@given(documents=st.lists(st.tuples(SPANS, RANGES), min_size=1, max_size=3))
def test_a_window_teaches_all_gold_that_lies_in_it(documents: list[Any]) -> None:
    head = bare()
    windows: list[Window] = []
    gold, expected = [], []
    for number, (spans, unknown) in enumerate(documents):
        own = [(s, s + n, k) for s, n, k in spans if s + n <= 12]
        ranges = [(s, min(12, s + n)) for s, n in unknown]
        form = head.gold(
            np.array(own, np.int64).reshape(-1, 3),
            units=12,
            unknown=np.array(ranges, np.int64).reshape(-1, 2),
        )
        for window in make_windows(
            pieces_of([[1] * 12]), document=number, unit="sentence", capacity=6, overlap=3
        ):
            low, high = window.units
            row = len(windows)
            expected += [
                (row, s - low, e - 1 - low, k) for s, e, k in own if low <= s and e <= high
            ]
            inside = [(max(s, low), min(e, high)) for s, e in ranges]
            expected += [(row, s - low, e - 1 - low, UNKNOWN) for s, e in inside if s < e]
            windows.append(window)
            gold.append(form)
    found = head.targets(gold, windows, chance=np.random.default_rng(0))
    assert found.dtype == np.int64
    assert found.shape == (len(expected), 4)
    assert sorted(map(tuple, found.tolist())) == sorted(expected)


def aligned(mentions: list[Mention], **limits: Any) -> tuple[list[list[int]], dict[str, int]]:
    pieces = pieces_of([[1] * 12])
    windows = make_windows(pieces, document=0, unit="sentence", capacity=6, overlap=2)
    found = align(
        mentions, pieces, windows, types=("A", "B"), limits=HeadLimits(pairs=True, **limits)
    )
    return found.spans.tolist(), dict(found.lost)


def mention(start: int, end: int, kind: str = "A") -> Mention:
    return Mention(((start, end),), kind)


def test_what_cannot_be_returned_is_taught_and_counted() -> None:
    """It would be a negative otherwise, since training knows no width."""
    wide, across = mention(0, 4), mention(3, 10)
    assert aligned([wide, across], nested=True, pieces=3) == (
        [[0, 4, 0], [3, 10, 0]],
        {"too-wide": 2},
    )
    assert aligned([across], nested=True, pieces=9) == ([[3, 10, 0]], {"crosses-window": 1})
    assert aligned([wide, mention(1, 2)], pieces=3) == ([[0, 4, 0], [1, 2, 0]], {"too-wide": 1})


def test_a_range_may_have_two_types() -> None:
    both = [mention(0, 2), mention(0, 2, "B")]
    assert aligned(both, nested=True, pieces=30) == ([[0, 2, 0], [0, 2, 1]], {})
    assert aligned(both, pieces=30) == ([[0, 2, 0], [0, 2, 1]], {"overlapped": 1})


def test_width_counts_pieces_of_words() -> None:
    pieces = Pieces(
        ids=np.zeros(5, dtype=np.int64),
        spans=np.array([(0, 1), (1, 2), (2, 3), (4, 5), (6, 7)]),
        units=np.array([(0, 3), (4, 5), (6, 7)]),
        first=np.array([0, 3, 4]),
        unit_of=np.array([0, 0, 0, 1, 2]),
        sentences=np.array([[0, 5]]),
    )
    windows = make_windows(pieces, document=0, unit="sentence", capacity=9, overlap=1)
    for most, lost in ((4, {}), (3, {"too-wide": 1})):
        limits = bare(width=most, decoding="nested").limits
        found = align([mention(0, 5), mention(4, 7)], pieces, windows, types=("A",), limits=limits)
        assert found.spans.tolist() == [[0, 2, 0], [1, 3, 0]]
        assert dict(found.lost) == lost


# The loss


def literal_loss(
    head: BinderHead, tables: Mapping[str, Tensor], targets: Tensor, counts: list[int]
) -> float:
    """Eq. 5-10 over explicit lists of negatives; own gold of a type is none of them, the
    threshold is one.
    """
    s = head.settings
    weights = {"span": s.span_weight} | (
        {"start": s.start_weight, "end": s.end_weight} if s.positions else {}
    )
    beta = 1.0 if s.thresholds == "dev" else s.beta
    rows = [tuple(row) for row in targets.tolist()]
    gold, unknown = [r for r in rows if r[3] != UNKNOWN], [r for r in rows if r[3] == UNKNOWN]

    def hidden(b: int, first: int, last: int) -> bool:
        return any(row == b and first <= end and last >= start for row, start, end, _ in unknown)

    total = 0.0
    for name, weight in weights.items():
        rest: dict[tuple[int, int], list[float]] = {}
        scores, limits = (
            tables[key].detach().double() for key in (f"{name}s", f"{name}_threshold")
        )
        place: Callable[[int, int], tuple[int, ...]] = {
            "start": lambda i, j: (i,),
            "end": lambda i, j: (j,),
            "span": lambda i, j: (i, j),
        }[name]
        for b, k in product(range(scores.shape[0]), range(scores.shape[1])):
            cells = range(counts[b])
            spans = (
                [(i, j) for i in cells for j in cells if i <= j]
                if name == "span"
                else [(i, i) for i in cells]
            )
            own = {place(i, j) for row, i, j, kind in gold if (row, kind) == (b, k)}
            kept = [(i, j) for i, j in spans if place(i, j) not in own and not hidden(b, i, j)]
            rest[b, k] = [
                float(limits[b, k]),
                *(float(scores[(b, k, *place(i, j))]) for i, j in kept),
            ]
        thresholds = [-z[0] + math.log(sum(map(math.exp, z))) for z in rest.values()]
        mentions = []
        for b, i, j, k in gold:
            own_score = float(scores[(b, k, *place(i, j))])
            mentions.append(
                math.log(math.exp(own_score) + sum(map(math.exp, rest[b, k]))) - own_score
            )
        total += weight * beta * sum(mentions) / max(1, len(mentions))
        total += weight * (1 - beta) * sum(thresholds) / len(thresholds)
    return total


FORMS: list[dict[str, Any]] = [
    {},
    # in the loss every span counts (*binder* §3.2)
    {"level": "piece", "decoding": "nested", "width": 2},
    {"positions": False, "width_embedding": 0},
    {"shared": True, "start_weight": 0.5, "beta": 0.9},
    {"thresholds": "global", "type_view": "atomic"},
    {"thresholds": "dev", "type_view": "keyword", "type_encoder": "own"},
    {"type_view": "description", "type_pool": "mean"},
    {"type_view": "instances"},
]
each_form = pytest.mark.parametrize(
    "form", FORMS, ids=lambda f: "-".join(map(str, f.values())) or "defaults"
)


@each_form
@pytest.mark.parametrize("teaches", ["gold", "gold and unknown ranges", "nothing"])
def test_the_loss_is_its_definition(made: Any, form: dict[str, Any], teaches: str) -> None:
    given = made(**form)
    batch, targets = given.batch()
    with torch.no_grad():
        tables = given.model.train()(batch)["binder"]
    ranges = torch.tensor([(*row, UNKNOWN) for row in ((1, 1, 3), (0, 0, 0), (1, 2, 4))])
    gold = targets["binder"]
    wanted = {"gold": gold, "nothing": gold[:0]}.get(teaches, torch.cat([gold, ranges]))
    expected = literal_loss(given.head, tables, wanted, batch["unit_count"].tolist())
    assert given.head.loss(tables, wanted).item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("form", [{}, {"level": "piece"}, {"thresholds": "global"}], ids=str)
def test_the_first_state_makes_the_thresholds_and_nothing_else(
    made: Any, form: dict[str, Any]
) -> None:
    given = made(inference="joint", **form)
    batch, _ = given.batch()
    head = given.head.eval()
    states = torch.randn(*batch["input_ids"].shape, head.scorer.text["first"].in_features)
    others = states.clone()
    others[:, 1:] = torch.randn_like(others[:, 1:])
    another = states.clone()
    another[:, 0] = torch.randn_like(another[:, 0])
    with torch.no_grad():
        tables, of_others, of_another = (head.scores(s, batch) for s in (states, others, another))
    fullest = int(batch["unit_count"].argmax())
    units = int(batch["unit_count"].max())
    for name in ("span", "start", "end"):
        dynamic = form.get("thresholds") != "global"
        limit = f"{name}_threshold"
        assert torch.equal(of_others[limit], tables[limit])
        assert torch.equal(of_another[limit], tables[limit]) != dynamic
        cells, expected = of_another[f"{name}s"][fullest], tables[f"{name}s"][fullest]
        if name == "span":  # by first unit and width
            inside = torch.arange(units)[:, None] + torch.arange(cells.shape[1]) < units
            cells, expected = cells[inside], expected[inside]
        assert torch.equal(cells, expected)


@each_form
def test_every_parameter_is_trained(made: Any, form: dict[str, Any]) -> None:
    given = made(**form)
    batch, targets = given.batch()
    model = given.model.train()
    model.loss(model(batch), targets).backward()
    lacking = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    unread = "heads.binder.types.own.network.embeddings.token_type_embeddings.weight"
    assert [name for name in lacking if name != unread] == []


def subset(recipe: Recipe, types: tuple[str, ...]) -> Parts:
    """The toy corpus with the mentions of some types only."""
    parts = read_parts(recipe.corpus)

    def only(documents: list[Document]) -> list[Document]:
        kept = [tuple(m for m in d.mentions if m.type in types) for d in documents]
        return [
            msgspec.structs.replace(d, mentions=m) for d, m in zip(documents, kept, strict=True)
        ]

    train = only(parts.train)
    return Parts(train=train, dev=only(parts.dev), test=[], types=types, notes=())


def test_one_type_works(made: Any, tiny_recipe: Maker, tmp_path: Path) -> None:
    given = made(subset(tiny_recipe(), ("Chemical",)))
    assert given.prepared.manifest.types == ("Chemical",)
    for step in given.trainer(epochs=1).run():
        assert isinstance(step, EpochDone) or math.isfinite(step.loss)
    given.model.eval()
    tables = given.model.answers(given.batch()[0])
    assert tables["spans"].shape[-1] == tables["span_threshold"].shape[-1] == 1
    save(given, tmp_path / "torch")
    export_model(tmp_path / "torch", tmp_path / "onnx", int8=False)
    texts = [d.text for d in read_parts(tiny_recipe().corpus).train]
    ours, theirs = (load(tmp_path / name).annotate(texts) for name in ("onnx", "torch"))
    assert [[m.key for m in d.mentions] for d in ours] == [
        [m.key for m in d.mentions] for d in theirs
    ]


def test_windows_without_mentions_are_kept_or_dropped(made: Any, tiny_recipe: Maker) -> None:
    parts = subset(tiny_recipe(), ("Chemical",))
    everything, some = made(parts), made(parts, windows="mentions")
    assert (len(everything.prepared.data.windows), len(some.prepared.data.windows)) == (10, 5)
    assert some.prepared.data.count(4) == 2
    assert some.prepared.notes == ("5 of 10 windows of train hold no mention and are left out",)
    assert everything.prepared.notes == ()
    gold = some.prepared.data.gold["binder"]
    assert all(len(gold[w.document]) for w in some.prepared.data.windows)
    for _ in some.trainer(epochs=1).run():
        pass
    bare_parts = Parts(
        train=[d for d in parts.train if not d.mentions],
        dev=[],
        test=[],
        types=("Chemical",),
        notes=(),
    )
    with pytest.raises(RecipeError, match='windows = "mentions" leaves nothing to train on'):
        made(bare_parts, windows="mentions")
    for _ in made(bare_parts).trainer(epochs=1).run():
        pass


# Types


def scores_of(given: Made, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    with torch.no_grad():
        return given.model.eval().answers(batch)


def renamed(path: Path, source: Path, names: dict[str, str]) -> str:
    text = source.read_text(encoding="utf-8")
    for old, new in names.items():
        text = text.replace(f'name = "{old}"', f'name = "{new}"')
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_types_may_change_places_or_be_left_out(made: Any, toy_types: Path, tmp_path: Path) -> None:
    """The same descriptions under names that sort the other way round; and one of the two."""
    given = made(type_view="description")
    batch, _ = given.batch()
    before = scores_of(given, batch)
    turned = load_types(
        renamed(tmp_path / "other.toml", toy_types, {"Chemical": "Z", "Disease": "A"})
    )
    for types, kept in ((turned, [1, 0]), (load_types(str(toy_types)).select(["Disease"]), [1])):
        given.head.look_for(basis_like(given, types))
        for name, table in scores_of(given, batch).items():
            torch.testing.assert_close(table, before[name][..., kept], rtol=1e-5, atol=1e-5)


def load_types(path: str) -> Any:
    from fascicle.settings.types import read_types

    return read_types(path)


def basis_like(given: Made, types: Any) -> Basis:
    return Basis(
        types=types.names,
        width=given.pretrained.encoder.width,
        encoder=given.model.encoder,
        tokenizer=given.pretrained.tokenizer,
        descriptions=types,
    )


@pytest.mark.parametrize("form", [{"type_view": "atomic"}, {"thresholds": "global"}])
def test_types_that_are_weights_cannot_be_exchanged(
    made: Any, toy_types: Path, form: dict[str, Any]
) -> None:
    given = made(**form)
    with pytest.raises(ValueError, match="part of its weights"):
        given.head.look_for(basis_like(given, load_types(str(toy_types))))


# Vectors are never stale


def fresh_vectors(head: BinderHead) -> Tensor:
    """Those that a copy makes of the weights as they are."""
    copy = deepcopy(head)
    copy.eval().forget()
    return copy._vectors().clone()


def kept(given: Made) -> Tensor:
    scores_of(given, given.batch()[0])
    return given.head.vectors.clone()


@pytest.mark.parametrize(
    "form", [*FORMS[:1], *FORMS[4:]], ids=lambda f: "-".join(map(str, f.values())) or "defaults"
)
@pytest.mark.parametrize("optimizer", ["adamw", "adafactor"])
def test_vectors_follow_training(made: Any, form: dict[str, Any], optimizer: str) -> None:
    given = made(**form)
    trainer = given.trainer(epochs=2, optimizer=optimizer)
    seen = [kept(given)]
    for step in trainer.run():
        if given.model.training:
            assert not given.head._is_current  # nothing is kept in training
        if type(step).__name__ == "EpochDone":
            seen.append(kept(given))
            assert torch.equal(given.head.vectors, fresh_vectors(given.head))
    assert len(seen) == 3
    assert not any(torch.allclose(a, b, atol=1e-4) for a, b in pairwise(seen))


def test_what_is_saved_in_training_fits_the_weights_of_the_moment(made: Any) -> None:
    given = made(dropout=0.5)
    model = given.model.train()
    before, random = kept(given), torch.get_rng_state()
    # a state dict in training mode leaves nothing behind that outlives the next step
    for _ in range(2):
        model.train()
        tensors = model.state_dict()
        assert torch.equal(tensors["heads.binder.vectors"], fresh_vectors(given.head))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
        assert torch.equal(kept(given), fresh_vectors(given.head))
    assert not torch.allclose(before, given.head.vectors, atol=1e-4)
    assert torch.equal(random, torch.get_rng_state())


def test_vectors_follow_the_average_of_weights_and_come_back(made: Any) -> None:
    given = made()
    live = kept(given)
    shifted = {
        name: p.detach() + 0.1 * torch.randn_like(p) for name, p in given.model.named_parameters()
    }
    with weights_in(given.model, shifted):
        averaged = kept(given)
        assert torch.equal(averaged, fresh_vectors(given.head))
        assert torch.equal(given.model.state_dict()["heads.binder.vectors"], averaged)
    assert not torch.allclose(averaged, live, atol=1e-3)
    assert torch.equal(kept(given), live)


def test_vectors_outlive_what_changes_no_weight(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cast, a copy and a second call of eval move tensors, and the vectors move with them."""
    given = made()
    first = kept(given)
    copies = [given.model.eval(), deepcopy(given.model), deepcopy(given.model).double()]
    monkeypatch.setattr(
        BinderHead, "_make", lambda self: pytest.fail("the vectors were made again")
    )
    for model in copies:
        head = model.head("binder")
        with torch.no_grad():
            model.answers(given.batch()[0])
        assert torch.equal(head.vectors.float(), first)


def test_vectors_are_made_once_and_without_dropout(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = made(dropout=0.5, type_view="description")
    calls = []
    forward = type(given.head.types).forward
    monkeypatch.setattr(
        type(given.head.types), "forward", lambda self: calls.append(self.training) or forward(self)
    )
    given.model.train()
    first = kept(given)
    for _ in range(3):
        assert torch.equal(kept(given), first)
    assert calls == [False]
    given.model.encoder.train()  # only the encoder: the head still answers
    given.head.forget()
    with torch.no_grad():
        states = torch.zeros(1, 3, given.pretrained.encoder.width)
        units = {
            name: torch.zeros(1, 2, dtype=torch.int64) for name in ("first_piece", "last_piece")
        }
        given.head.scores(states, units)
    assert torch.equal(given.head.vectors, first)
    assert given.model.encoder.training


def test_bf16_scores_do_not_touch_the_precision_of_vectors(made: Any) -> None:
    given = made()
    exact = kept(given)
    given.head.forget()
    arrays = {name: t.numpy() for name, t in given.batch()[0].items()}
    TorchScorer(model=given.model.eval(), bf16=True).run(arrays)
    assert torch.equal(given.head.vectors, exact)


def save(given: Made, folder: Path) -> Any:
    folder.mkdir()
    return save_model(
        folder, given.model, manifest=given.prepared.manifest, tokenizer=given.pretrained.tokenizer
    )


@each_form
def test_stored_vectors_are_used_and_equal_those_made_again(
    made: Any, form: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = made(**form)
    for _ in given.trainer(epochs=1).run():
        pass
    manifest = save(given, tmp_path / "model")
    stored = load_file(tmp_path / "model" / "model.safetensors")["heads.binder.vectors"]
    loaded = load_model(tmp_path / "model", manifest)
    head = loaded.head("binder")
    assert isinstance(head, BinderHead)
    torch.testing.assert_close(fresh_vectors(head), stored)
    with monkeypatch.context() as patched:
        patched.setattr(head, "_make", lambda: pytest.fail("the vectors were made again"))
        with torch.no_grad():
            tables = loaded.answers(given.batch()[0])
    assert torch.equal(head.vectors, stored)
    for name, table in scores_of(given, given.batch()[0]).items():
        torch.testing.assert_close(tables[name], table)


def test_no_tensor_is_stored_twice(made: Any, tmp_path: Path) -> None:
    shared, own = made(type_view="keyword"), made(type_view="keyword", type_encoder="own")
    encoder = {f"encoder.{name}" for name in shared.model.encoder.state_dict()}
    assert {n for n in shared.model.state_dict() if not n.startswith("heads.binder.scorer.")} == {
        *encoder,
        "heads.binder.vectors",
    }
    second = {f"heads.binder.types.own.{name.removeprefix('encoder.')}" for name in encoder}
    assert second <= own.model.state_dict().keys()
    for model in (shared.model, own.model):
        names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
        assert len(names) == len(set(names)) == len(list(model.parameters()))
        pointers = [t.data_ptr() for t in model.state_dict().values()]
        assert len(set(pointers)) == len(pointers)


def test_a_copy_of_a_model_reads_with_its_own_encoder(made: Any) -> None:
    model = made().model
    copy = deepcopy(model)
    assert copy.head("binder").types.encoder is copy.encoder is not model.encoder


def test_a_type_encoder_of_its_own_has_the_rates_of_an_encoder(made: Any) -> None:
    given = made(type_view="keyword", type_encoder="own")
    training = msgspec.structs.replace(
        given.recipe.training, learning_rate=1e-3, head_learning_rate=1e-2, layer_decay=0.5
    )
    rates = {
        id(p): group["lr"]
        for group in parameter_groups(given.model, training)
        for p in group["params"]
    }
    named = dict(given.model.named_parameters())
    for name, parameter in named.items():
        if name.startswith("heads.binder.types.own."):
            assert (
                rates[id(parameter)]
                == rates[id(named[f"encoder.{name.removeprefix('heads.binder.types.own.')}"])]
            )
    assert rates[id(given.head.scorer.text["first"].weight)] == 1e-2
    assert {rates[id(p)] for p in given.head.types.parameters()} == {1e-3, 5e-4, 2.5e-4}


# Decisions


@pytest.mark.parametrize("decoding", ["nested", "greedy"])
def test_a_threshold_is_fitted_on_dev(tiny_recipe: Maker, tmp_path: Path, decoding: str) -> None:
    """In every epoch, since the head has none; what is left out of the search could not have
    been better.
    """
    model = {"family": "binder", "thresholds": "dev", "decoding": decoding}
    recipe = tiny_recipe(model=model, training={"epochs": 3})
    events = [*run_recipe(recipe, tmp_path / "run")]
    assert all(
        event.lines[0]["dev"]["micro"]["f1"] > 0 for event in events if isinstance(event, Validated)
    )
    best = tmp_path / "run" / "best"
    manifest, dev = read_manifest(best), read_parts(recipe.corpus).dev
    tokenizer = PieceTokenizer.from_file(best / "tokenizer.json", pad=manifest.tokenizer.pad)
    scorer = TorchScorer(model=load_model(best, manifest))
    told = json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))
    assert told["nothing"] == manifest.decision.nothing
    tried = {float(value): f1 for value, f1 in told["dev_f1_by_nothing"].items()}

    def f1(value: float) -> float:
        changed = msgspec.structs.replace(
            manifest, decision=msgspec.structs.replace(manifest.decision, nothing=value)
        )
        patches = ModelPredictor(changed, tokenizer, scorer).predict(dev)
        return score(layers(dev), {d.id: p.add for d, p in zip(dev, patches, strict=True)}).micro.f1

    top = max(value for value in tried if value < 1000)
    assert max(f1(top * number / 25) for number in range(-25, 26)) <= max(tried.values())
    assert (
        tried[told["nothing"]]
        == max(tried.values())
        == told["dev"]["micro"]["f1"]
        == f1(told["nothing"])
    )
    good = sorted(value for value, found in tried.items() if found == max(tried.values()))
    assert told["nothing"] == good[(len(good) - 1) // 2]
    assert len(tried) < 50 + 15  # the search has stopped early


def test_the_tokenizer_of_a_folder_reads_its_descriptions(made: Any, tmp_path: Path) -> None:
    given = made(type_view="keyword")
    manifest = save(given, tmp_path / "model")
    assert manifest.heads["binder"].types == "toy-types.toml"
    assert manifest.descriptions["binder"].names == manifest.types
    tokenizer = PieceTokenizer.from_file(tmp_path / "model" / "tokenizer.json")
    head = load_model(tmp_path / "model", manifest).head("binder")
    assert isinstance(head, BinderHead)
    first = head.types.ids[0][head.types.mask[0] > 0].tolist()  # type: ignore[union-attr]
    assert first[1:-1] == tokenizer.encode(["chemical drug"])[0][0].tolist()
