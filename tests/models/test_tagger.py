"""The multi-label head: its loss against loops, what is not taught, soft labels, and pieces that
decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss
from tests.support.reading import manifest_of, whole_window

from fascicle.core.document import Document, Mention
from fascicle.models.heads.contract import IGNORED, Basis
from fascicle.models.heads.tagger import MultiLabelTagger, outside_target
from fascicle.runtime.decoding.kinds import head_limits
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.heads import AnyHead, MultiLabelSettings
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import read_documents
from fascicle.text.targets import align
from fascicle.text.windows import Batch

TYPES = ("Chemical", "Disease", "Gene")
SPANS = np.array([[0, 3, 1], [1, 2, 0], [4, 5, 1]])


def head_of(**given: Any) -> MultiLabelTagger:
    torch.manual_seed(1)
    return MultiLabelTagger(MultiLabelSettings(**given), Basis(types=TYPES, width=4))


def targets_of(head: MultiLabelTagger, *gold: Any) -> torch.Tensor:
    windows = [whole_window(len(one)) for one in gold]
    return torch.from_numpy(head.targets(gold, windows, chance=np.random.default_rng(0)))


def naive_loss(emissions: torch.Tensor, targets: torch.Tensor) -> float:
    """Label by label, without torch: the divergence of one coin from another."""
    losses = []
    for score, wanted in zip(emissions.flatten().tolist(), targets.flatten().tolist(), strict=True):
        if wanted >= 0:
            p, loss = 1 / (1 + math.exp(-score)), 0.0
            for y, q in ((wanted, p), (1 - wanted, 1 - p)):
                loss += y * math.log(y / q) if y > 0 else 0.0
            losses.append(loss)
    return sum(losses) / max(1, len(losses))


@pytest.mark.parametrize("scheme", ["BIO", "IO"])
@pytest.mark.parametrize("form", ["hard", "soft", "masked", "unknown"])
def test_the_loss_is_that_of_a_loop(scheme: Any, form: str) -> None:
    head, chance = head_of(scheme=scheme), np.random.default_rng(1)
    gold = head.gold(SPANS, units=6)
    if form == "soft":
        gold = head.soft_gold(chance.random((6, len(head.labels) - 1)).astype(np.float32))
    if form == "masked":
        gold = head.without(head.gold(SPANS, units=6), [0, 2])
    if form == "unknown":
        gold = head.gold(SPANS, units=6, unknown=np.array([[2, 4]]))
    targets = targets_of(head, gold, head.gold(SPANS[:1], units=3))
    emissions = torch.randn(*targets.shape)
    assert float(head.loss({"emissions": emissions}, targets)) == pytest.approx(
        naive_loss(emissions, targets), rel=1e-5
    )


@pytest.mark.parametrize("scheme", ["BIO", "IO"])
def test_what_is_said_already_has_no_gradient(scheme: Any) -> None:
    """The gradient is 0 exactly where the probability is the target, and the loss is 0 there
    too.
    """
    head, chance = head_of(scheme=scheme), np.random.default_rng(2)
    said = head.soft_gold(chance.uniform(0.05, 0.95, (6, len(head.labels) - 1)).astype(np.float32))
    targets = targets_of(head, said)
    emissions = torch.logit(targets.clamp(1e-6, 1 - 1e-6)).requires_grad_()
    loss = head.loss({"emissions": emissions}, targets)
    loss.backward()  # type: ignore[no-untyped-call]
    assert emissions.grad is not None
    assert float(emissions.grad.abs().max()) < 1e-6
    assert loss.item() == pytest.approx(0, abs=1e-5)
    other = (emissions.detach() + 1).requires_grad_()
    head.loss({"emissions": other}, targets).backward()  # type: ignore[no-untyped-call]
    assert other.grad is not None
    assert float(other.grad.abs().min()) > 1e-6


def test_one_type_with_hard_labels_is_logistic_regression() -> None:
    """Beside the log loss of scikit-learn: over the units for the type, and again for O, which
    says the opposite.
    """
    torch.manual_seed(1)
    head = MultiLabelTagger(MultiLabelSettings(scheme="IO"), Basis(types=("Gene",), width=4))
    inside = np.array([0, 1, 1, 0, 0, 1])
    targets = targets_of(head, head.gold(np.array([[1, 3, 0], [5, 6, 0]]), units=6))
    emissions = torch.randn(1, 6, 2)
    chances = torch.sigmoid(emissions[0].double()).numpy()
    expected = (log_loss(1 - inside, chances[:, 0]) + log_loss(inside, chances[:, 1])) / 2
    assert float(head.loss({"emissions": emissions}, targets)) == pytest.approx(expected, rel=1e-5)


def test_a_type_that_is_not_annotated_has_no_gradient() -> None:
    """Nor has O, except where it is certain: in a mention of another type."""
    head = head_of()
    targets = targets_of(head, head.without(head.gold(SPANS, units=6), [2]))
    emissions = torch.randn(*targets.shape).requires_grad_()
    head.loss({"emissions": emissions}, targets).backward()  # type: ignore[no-untyped-call]
    assert emissions.grad is not None
    taught = (emissions.grad[0] != 0).tolist()
    inside = [True, True, True, False, True, False]
    assert [row[1:5] for row in taught] == [[True] * 4] * 6
    assert [row[5:] for row in taught] == [[False] * 2] * 6
    assert [row[0] for row in taught] == inside


@pytest.mark.parametrize("scheme", ["BIO", "IO"])
@pytest.mark.parametrize("form", ["max", "product", "hard"])
def test_soft_labels_of_0_and_1_are_hard_labels(scheme: Any, form: Any) -> None:
    head = head_of(scheme=scheme, outside=form)
    gold = head.gold(SPANS, units=6)
    assert np.array_equal(head.soft_gold(gold[:, 1:]), gold)


def test_before_training_a_label_is_rare() -> None:
    """As rare as mentions are, so that training need not learn this first."""
    head = head_of().eval()
    with torch.no_grad():
        scores = head.scores(
            torch.zeros(1, 2, 4), {"first_piece": torch.zeros(1, 2, dtype=torch.long)}
        )["emissions"]
    chances = torch.sigmoid(scores)
    assert bool((chances[..., 0] > 0.5).all())
    assert bool((chances[..., 1:] < 0.05).all())


ROWS = st.lists(st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3), min_size=1, max_size=4)


@given(ROWS)
def test_the_three_forms_of_o(rows: list[list[float]]) -> None:
    table = np.array(rows, dtype=np.float32)
    for number, row in enumerate(rows):
        product = (1 - row[0]) * (1 - row[1]) * (1 - row[2])
        assert outside_target(table, "max")[number] == pytest.approx(1 - max(row), abs=1e-6)
        assert outside_target(table, "product")[number] == pytest.approx(product, abs=1e-6)
        assert outside_target(table, "hard")[number] == float(all(y <= 0.5 for y in row))


def test_o_is_unknown_where_a_label_is_unknown_and_none_is_certain() -> None:
    table = np.array([[-1, 0, 0.9], [-1, 1, 0], [0, 0, 0]], dtype=np.float32)
    assert outside_target(table, "max").tolist() == [IGNORED, 0, 1]


def test_special_tokens_are_taught_as_o() -> None:
    head = head_of(level="piece", specials="include")
    targets = targets_of(head, head.gold(SPANS, units=6), head.gold(SPANS[:1], units=3))
    nothing = [1.0] + [0.0] * 6
    assert [targets[0, 0].tolist(), targets[0, 7].tolist(), targets[1, 4].tolist()] == [nothing] * 3
    assert targets[1, 5:].eq(IGNORED).all()


@pytest.mark.parametrize(
    ("pooled", "over"), [("max", max), ("mean", lambda values: sum(values) / len(values))]
)
def test_all_pieces_of_a_word_decide_at_inference_only(
    pooled: Any, over: Callable[[list[float]], float]
) -> None:
    head, plain = head_of(inference_pooling=pooled).eval(), head_of().eval()
    states, words = torch.randn(1, 6, 4), [-1, 0, 0, 1, 2, 2]
    batch = {"first_piece": torch.tensor([[1, 3, 4]]), "unit_of_piece": torch.tensor([words])}
    with torch.no_grad():
        logits = plain.linear(states)[0].tolist()
        found = head.scores(states, batch)["emissions"][0].tolist()
        first = plain.scores(states, batch)["emissions"]
        for word in range(3):
            rows = [row for row, owner in zip(logits, words, strict=True) if owner == word]
            assert found[word] == pytest.approx(
                [over(list(column)) for column in zip(*rows, strict=True)], abs=1e-6
            )
        head.units.dropout.p = 0.0
        assert torch.equal(head.train().scores(states, batch)["emissions"], first)


@pytest.mark.parametrize(
    "given_", [{"level": "piece"}, {"pooling": "max"}, {"decoding": "viterbi"}]
)
def test_settings_without_a_meaning_are_refused(given_: dict[str, str]) -> None:
    values = {"family": "multilabel", "inference_pooling": "max", **given_}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(values, AnyHead)


class EverythingIs:
    """Every word of a batch is in mentions of two of three types."""

    def run(self, inputs: Batch) -> dict[str, Any]:
        emissions = np.full((*inputs["first_piece"].shape, 4), -2.0, dtype=np.float32)
        emissions[..., [1, 2]] = 1.0
        return {"emissions": emissions}


@pytest.mark.parametrize("max_characters", [1 << 17, 20])
@pytest.mark.parametrize("breakers", ["", "(", "();"])
def test_a_mention_ends_before_a_breaker(
    tiny_encoder: Path, breakers: str, max_characters: int
) -> None:
    """What is returned has no word that begins with one, and what has one is counted as lost;
    also part by part.
    """
    tokenizer = PieceTokenizer.from_file(tiny_encoder / "tokenizer.json")
    head, reading = (
        MultiLabelSettings(scheme="IO", breakers=breakers),
        ReadingSettings(max_length=16, overlap=2),
    )
    manifest = manifest_of(head, tokenizer, types=TYPES, reading=reading)
    text = "lung ( pain ) a\n\n( cancer ) liver ( )"
    words = [(i, i + len(w)) for i, w in _words(text)]
    document = Document(id="d", text=text, sentences=((0, 15), (17, len(text))), words=tuple(words))
    model = ModelPredictor(manifest, tokenizer, EverythingIs(), max_characters=max_characters)
    found = {(m.start, m.end, m.type) for m in model.predict([document])[0].add}
    expected = set()
    for start, end in document.sentences or ():
        run: list[tuple[int, int]] = []
        for word in [w for w in words if start <= w[0] < end] + [(end, end)]:
            if word[0] == end or text[word[0]] in set(breakers):
                expected |= {(run[0][0], run[-1][1], kind) for kind in TYPES[:2] if run}
                run = []
            else:
                run.append(word)
    assert found == expected
    read = read_documents([document], tokenizer, reading=reading, level="word")
    gold = [
        Mention(((0, 4),), "Chemical"),
        Mention(((5, 13),), "Gene"),
        Mention(((7, 11),), "Disease"),
    ]
    lost = align(gold, read.pieces[0], read.windows[0], types=TYPES, limits=head_limits(head)).lost
    assert lost == ({"breaker": 1} if breakers else {})


def _words(text: str) -> list[tuple[int, str]]:
    place, found = 0, []
    for word in text.split():
        place = text.index(word, place)
        found.append((place, word))
        place += len(word)
    return found
