"""Span heads: what they are taught, by loops over every span; their scores equal those of the
literal concatenation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import pieces_of

pytest.importorskip("torch")

import torch
import torch.nn.functional as F
from tests.support.wide import wide_logits
from torch import Tensor

from fascicle.core.arrays import Ints
from fascicle.models.heads.contract import IGNORED, Basis
from fascicle.models.heads.spans import BiaffineSpans, LinearSpans, SpanClassifier
from fascicle.models.model import make_head
from fascicle.settings.heads import BiaffineSettings, SpanHeadSettings, SpanSettings
from fascicle.text.windows import Window, make_windows

TYPES = ("Chemical", "Disease", "Gene")
D = 6
Cell = tuple[int, int, int]
Specials = Literal["exclude", "include"]


def head_of(
    settings: SpanHeadSettings, *, types: tuple[str, ...] = TYPES, seed: int = 0
) -> SpanClassifier:
    """In evaluation mode and double precision, with weights and biases large enough to matter."""
    torch.manual_seed(seed)
    head = make_head(settings, Basis(types=types, width=D)).double().eval()
    assert isinstance(head, SpanClassifier)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(std=0.7)
    return head


# What is taught


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """Windows of some documents in any order, and gold spans of each window's document."""

    windows: list[Window]
    gold: list[Ints]
    width: int
    kinds: int

    def head(self, *, negatives: int = 0, specials: Specials = "exclude") -> SpanClassifier:
        level: Literal["word", "piece"] = "piece" if specials == "include" else "word"
        settings = SpanSettings(
            width=self.width, negatives=negatives, specials=specials, level=level
        )
        return LinearSpans(settings, Basis(types=TYPES[: self.kinds], width=D))

    def targets(self, *, negatives: int = 0, specials: Specials = "exclude", seed: int = 0) -> Ints:
        head = self.head(negatives=negatives, specials=specials)
        gold = [head.gold(spans, units=10**6) for spans in self.gold]
        return head.targets(gold, self.windows, chance=np.random.default_rng(seed))


@st.composite
def lessons(draw: st.DrawFn) -> Lesson:
    width, kinds = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    capacity = draw(st.integers(2, 12))
    overlap = draw(st.integers(0, capacity // 2))
    unit = draw(st.sampled_from(["sentence", "packed"]))
    sizes = draw(st.sampled_from([st.just(1), st.integers(1, 4)]))
    windows: list[Window] = []
    gold: list[Ints] = []
    for number in range(draw(st.integers(1, 3))):
        sentences = draw(st.lists(st.lists(sizes, min_size=1, max_size=15), min_size=1, max_size=3))
        pieces = pieces_of(sentences)
        windows += make_windows(
            pieces, document=number, unit=unit, capacity=capacity, overlap=overlap
        )  # type: ignore[arg-type]
        gold.append(draw(gold_spans(len(pieces.first), width, kinds)))
    # a window may be there twice
    batch = draw(st.lists(st.sampled_from(windows), min_size=1, max_size=6))
    return Lesson(windows=batch, gold=[gold[w.document] for w in batch], width=width, kinds=kinds)


@st.composite
def gold_spans(draw: st.DrawFn, units: int, width: int, kinds: int) -> Ints:
    """Sorted, of at most so many units, no range twice; nested, crossing and over the ends of
    windows too.
    """
    starts = st.integers(0, units - 1)
    ranges = draw(st.sets(st.tuples(starts, st.integers(1, width)), max_size=8))
    inside = sorted((a, min(a + w, units)) for a, w in ranges)
    rows = [(a, b, draw(st.integers(0, kinds - 1))) for a, b in dict.fromkeys(inside)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def naive_targets(lesson: Lesson, *, specials: bool = False) -> dict[Cell, int]:
    """Every span of every window whose middle the window keeps, by loops; special tokens are places
    of their own.

    A place outside the units belongs to whoever keeps the nearest unit, and no mention reaches
    there."""
    found = {}
    for row, (spans, window) in enumerate(zip(lesson.gold, lesson.windows, strict=True)):
        kinds = {(a, b): kind + 1 for a, b, kind in spans.tolist()}
        low, high = window.units
        places = range(low - specials, high + specials)
        for start in places:
            for last in range(start, min(start + lesson.width, places.stop)):
                middle = min(max((start + last) // 2, low), high - 1)
                if window.keep[0] <= middle < window.keep[1]:
                    kind = kinds.get((start, last + 1), 0) if low <= start and last < high else 0
                    found[row, start - places.start, last - start] = kind
    return found


def cells(targets: Ints) -> dict[Cell, int]:
    return {
        (b, i, w): int(targets[b, i, w]) for b, i, w in np.argwhere(targets != IGNORED).tolist()
    }


@given(lesson=lessons(), specials=st.booleans())
def test_every_span_that_a_window_answers_for_is_taught(lesson: Lesson, specials: bool) -> None:
    targets = lesson.targets(specials="include" if specials else "exclude")
    widest = max(w.units[1] - w.units[0] for w in lesson.windows) + 2 * specials
    assert targets.shape == (len(lesson.windows), widest, lesson.width)
    assert targets.dtype == np.int64
    assert cells(targets) == naive_targets(lesson, specials=specials)


@given(
    lesson=lessons(), negatives=st.integers(1, 30), specials=st.booleans(), seed=st.integers(0, 99)
)
def test_negatives_are_some_of_the_spans_that_are_no_mention(
    lesson: Lesson, negatives: int, specials: bool, seed: int
) -> None:
    kind: Specials = "include" if specials else "exclude"
    everything = cells(lesson.targets(specials=kind))
    drawn = cells(lesson.targets(negatives=negatives, specials=kind, seed=seed))
    assert drawn.items() <= everything.items()
    assert {at for at, kind in drawn.items() if kind} == {
        at for at, kind in everything.items() if kind
    }
    there, kept = (
        Counter(at[0] for at, kind in found.items() if not kind) for found in (everything, drawn)
    )
    for row in range(len(lesson.windows)):
        assert kept[row] == min(negatives, there[row])
    assert drawn == cells(lesson.targets(negatives=negatives, specials=kind, seed=seed))


def test_every_negative_is_as_likely_as_another() -> None:
    """Of 27 spans that are no mention 5 are drawn: each in 5 of 27 draws, and any two together
    as chance has it.
    """
    (window,) = make_windows(
        pieces_of([[1] * 10]), document=0, unit="sentence", capacity=30, overlap=0
    )
    gold = np.array([[0, 2, 0], [1, 2, 1], [4, 7, 2], [8, 10, 0]])[[0, 1, 2]]
    lesson = Lesson(
        windows=[window, msgspec.structs.replace(window)], gold=[gold, gold[:0]], width=3, kinds=3
    )
    head, chance, draws = lesson.head(negatives=5), np.random.default_rng(7), 4_000
    seen: Counter[Cell] = Counter()
    pairs: Counter[tuple[Cell, Cell]] = Counter()
    previous: set[Cell] = set()
    repeats = 0
    for _ in range(draws):
        found = {
            at
            for at, kind in cells(head.targets(lesson.gold, lesson.windows, chance=chance)).items()
            if not kind
        }
        repeats += found == previous
        previous = found
        seen.update(found)
        row = sorted(at for at in found if at[0] == 0)
        pairs.update((a, b) for a in row for b in row if a < b)
    assert repeats == 0
    for number, count in ((0, 24), (1, 27)):
        rates = [n / draws for at, n in seen.items() if at[0] == number]
        assert len(rates) == count
        assert rates == pytest.approx([5 / count] * count, abs=0.035)  # five standard deviations
    together = 5 * 4 / (24 * 23)
    assert len(pairs) == 24 * 23 // 2
    assert [n / draws for n in pairs.values()] == pytest.approx([together] * len(pairs), abs=0.017)


@pytest.mark.parametrize("decoding", ["nested", "greedy", "optimal"])
def test_what_a_head_can_represent(decoding: Any) -> None:
    head = head_of(SpanSettings(width=4, decoding=decoding))
    assert head.limits.nested == (decoding == "nested")
    assert head.limits.width == 4
    assert head.limits.separates


@pytest.mark.parametrize("family", [LinearSpans, BiaffineSpans])
def test_a_head_without_width_is_refused(family: Any) -> None:
    settings = SpanSettings() if family is LinearSpans else BiaffineSettings()
    with pytest.raises(ValueError, match="needs a width"):
        family(settings, Basis(types=TYPES, width=D))


# What is scored

POOLED: list[tuple[Literal["max", "first", "mean"], int]] = [("max", 2), ("first", 0), ("mean", 3)]
FORMS: list[SpanHeadSettings] = [
    SpanSettings(width=3, level="piece"),
    SpanSettings(width=3, level="piece", specials="include", width_embedding=2),
    *(
        SpanSettings(
            width=3, representation=representation, pooling=pooling, width_embedding=embedding
        )
        for representation in ("boundary", "pooling", "hybrid")
        for pooling, embedding in POOLED
    ),
    BiaffineSettings(width=3, pooling="max", hidden=5),
    BiaffineSettings(width=3, level="piece", hidden=4, width_embedding=2),
]


def name_of(settings: SpanHeadSettings) -> str:
    shape = getattr(settings, "representation", "")
    return "-".join(
        map(
            str,
            (settings.family, shape, settings.level, settings.pooling, settings.width_embedding),
        )
    )


# Two windows of words: pieces of no word, of one word and of several; two special tokens before,
# one after, padding.
WORDS = [[[2], [3, 4, 5], [7], [8, 9]], [[3, 4], [5]]]
PIECES = [12, 8]


def batch(level: str) -> tuple[Tensor, dict[str, Tensor], list[list[list[int]]]]:
    """Random states, the arrays of the batch, and the pieces of every unit."""
    units = (
        WORDS if level == "word" else [[[piece] for word in row for piece in word] for row in WORDS]
    )
    widest = max(map(len, units))
    first = torch.zeros(len(units), widest, dtype=torch.long)
    unit_of = torch.full((len(units), max(PIECES)), -1)
    for row, members in enumerate(units):
        for unit, inside in enumerate(members):
            first[row, unit] = inside[0]
            unit_of[row, inside] = unit
    arrays = {
        "first_piece": first,
        "unit_of_piece": unit_of,
        "unit_count": torch.tensor([len(row) for row in units]),
        "attention_mask": (torch.arange(max(PIECES)) < torch.tensor(PIECES)[:, None]).long(),
    }
    states = torch.randn(
        len(units), max(PIECES), D, generator=torch.Generator().manual_seed(3), dtype=torch.float64
    )
    return states.requires_grad_(), arrays, units


POOL: dict[str, Callable[[Tensor], Tensor]] = {
    "first": lambda states: states[0],
    "max": lambda states: states.amax(0),
    "mean": lambda states: states.mean(0),
}


def literal_logits(head: SpanClassifier, states: Tensor, inside: list[list[int]]) -> Tensor:
    """The logits of the span of the units with these pieces, ``[T, d]`` states: one layer on one
    long vector.
    """
    units = [POOL[head.settings.pooling](states[pieces]) for pieces in inside]
    weights = dict(head.scorer.named_parameters())
    width = (
        [weights["width_term.embedding"][len(units) - 1]] if head.settings.width_embedding else []
    )
    columns = [weights["width_term.weight"]] if width else []
    if isinstance(head.settings, BiaffineSettings):
        start, end = (
            F.leaky_relu(weights[f"{side}.0.weight"] @ unit + weights[f"{side}.0.bias"], 0.1)
            for side, unit in (("start", units[0]), ("end", units[-1]))
        )
        form = weights["bilinear.weight"].view(1 + len(TYPES), len(start), len(end))
        logits = torch.stack([(matrix @ start) @ end for matrix in form])
        logits = logits + weights["start_linear.weight"] @ start + weights["start_linear.bias"]
        logits = logits + weights["end_linear.weight"] @ end
        return logits + columns[0] @ width[0] if width else logits
    parts = {
        "boundary": [units[0], units[-1]],
        "pooling": [torch.stack(units).amax(0), states[0]],
        "hybrid": [units[0], units[-1], torch.stack(units).amax(0), states[0]],
    }
    assert isinstance(head.settings, SpanSettings)
    vector = torch.cat([*parts[head.settings.representation], *width])
    return torch.cat([weights["linear.weight"], *columns], dim=1) @ vector + weights["linear.bias"]


def spans_of(units: list[list[list[int]]], longest: int) -> Iterator[tuple[Cell, list[list[int]]]]:
    for row, members in enumerate(units):
        for start in range(len(members)):
            for end in range(start + 1, min(start + longest, len(members)) + 1):
                yield (row, start, end - start - 1), members[start:end]


@pytest.mark.parametrize("settings", FORMS, ids=name_of)
def test_tables_sum_to_the_literal_concatenation(settings: SpanHeadSettings) -> None:
    """As the decoder adds them up, which is where what a table means is written a second time."""
    head = head_of(settings)
    states, arrays, units = batch(settings.level)
    tables = {name: table.detach() for name, table in head.scores(states, arrays).items()}
    assert tuple(tables) == head.outputs
    assert {name: table.dim() for name, table in tables.items()} == {
        n: len(axes) for n, axes in head.axes.items()
    }
    logits = wide_logits(
        {name: table.numpy() for name, table in tables.items()}, longest=settings.width
    )
    assert logits.shape == (2, max(map(len, units)), settings.width, 1 + len(TYPES))
    for (row, start, step), inside in spans_of(units, settings.width):
        wanted = literal_logits(head, states[row], inside).detach().numpy()
        np.testing.assert_allclose(logits[row, start, step], wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("settings", FORMS, ids=name_of)
def test_the_loss_reaches_the_taught_spans_only(settings: SpanHeadSettings) -> None:
    """The gradient of every state and weight is that of the literal form over the taught spans."""
    head = head_of(settings)
    states, arrays, units = batch(settings.level)
    around = int(settings.specials == "include")
    targets = np.full((2, max(map(len, units)) + 2 * around, settings.width), IGNORED)
    taught = {(0, 0, 1): 2, (0, 2, 0): 0, (1, 0, 0): 3}
    for (row, start, step), kind in taught.items():
        targets[row, start + around, step] = kind
    head.train()
    for module in head.modules():
        if isinstance(module, torch.nn.Dropout):
            module.eval()
    loss = head.loss(head.scores(states, arrays), torch.from_numpy(targets))
    inside = dict(spans_of(units, settings.width))
    logits = torch.stack([literal_logits(head, states[at[0]], inside[at]) for at in taught])
    expected = F.cross_entropy(logits, torch.tensor(list(taught.values())))
    torch.testing.assert_close(loss, expected, rtol=1e-9, atol=1e-10)
    leaves = [states, *head.parameters()]
    ours, theirs = (torch.autograd.grad(x, leaves, allow_unused=True) for x in (loss, expected))
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(
            mine, torch.zeros_like(mine) if other is None else other, rtol=1e-8, atol=1e-10
        )
    touched = {(at[0], piece) for at in taught for unit in inside[at] for piece in unit}
    touched |= (
        {(row, 0) for row in range(2)}
        if getattr(settings, "representation", "") in ("pooling", "hybrid")
        else set()
    )
    assert {(b, t) for b, t, _ in ours[0].nonzero().tolist()} <= touched


@pytest.mark.parametrize("representation", ["boundary", "pooling", "hybrid"])
def test_special_tokens_change_nothing_at_inference(representation: Any) -> None:
    settings = SpanSettings(width=3, level="piece", representation=representation)
    plain, other = (
        head_of(settings),
        head_of(SpanSettings(**{**dict_of(settings), "specials": "include"})),
    )
    states, arrays, _ = batch("piece")
    with torch.no_grad():
        ours, theirs = plain.scores(states, arrays), other.scores(states, arrays)
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)
        assert (
            other.train().scores(states, arrays)["starts"].shape[1] == ours["starts"].shape[1] + 2
        )


def dict_of(settings: SpanHeadSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__struct_fields__}


def test_dropout_is_of_unit_states_and_in_training_only() -> None:
    """One mask for a unit, shared by all spans through it: dropped twice over, the two tables
    agree.
    """
    settings = SpanSettings(width=3, dropout=0.5)
    head = head_of(settings)
    states, arrays, _ = batch("word")
    with torch.no_grad():
        assert torch.equal(
            head.scores(states, arrays)["starts"], head.scores(states, arrays)["starts"]
        )
        weight = head.scorer.get_parameter("linear.weight")
        weight[:, D:] = weight[:, :D]
        head.scorer.get_parameter("linear.bias").zero_()
        tables = head.train().scores(states, arrays)
        assert torch.equal(tables["starts"], tables["ends"])
        assert not torch.equal(tables["starts"], head.eval().scores(states, arrays)["starts"])
