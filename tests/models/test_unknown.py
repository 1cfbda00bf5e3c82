"""Where nothing is known: units by their characters, tags and spans by loops, and losses that no
unknown unit moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import TYPES, pieces_at

pytest.importorskip("torch")

import torch

from fascicle.core.arrays import Ints
from fascicle.core.mention import Span
from fascicle.models.heads.contract import IGNORED, Basis, Head
from fascicle.models.heads.tagger import SoftmaxTagger
from fascicle.models.model import make_head
from fascicle.settings.heads import (
    BiaffineSettings,
    CrfSettings,
    HeadSettings,
    SoftmaxSettings,
    SpanSettings,
)
from fascicle.text.pieces import Pieces
from fascicle.text.targets import HeadLimits, covered_mask, unknown_units
from fascicle.text.windows import Window, make_windows

D = 6


@dataclass(frozen=True, kw_only=True)
class Text:
    """Words of one piece each, with gaps or without, in sentences; ranges of characters, and
    spans of words.
    """

    pieces: Pieces
    ranges: tuple[Span, ...]
    spans: Ints

    @property
    def units(self) -> int:
        return len(self.pieces.units)

    def windows(self, unit: Literal["sentence", "packed"] = "sentence") -> list[Window]:
        return make_windows(self.pieces, document=0, unit=unit, capacity=4, overlap=1)


@st.composite
def texts(draw: st.DrawFn) -> Text:
    sizes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    words: list[Span] = []
    for _ in range(sum(sizes)):
        start = (words[-1][1] if words else 0) + draw(st.integers(0, 2))
        words.append((start, start + draw(st.integers(1, 4))))
    length = (words[-1][1] if words else 0) + 3
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=8)))
    ranges = tuple(zip(cuts[::2], cuts[1::2], strict=False))
    borders = sorted(draw(st.sets(st.integers(0, len(words)), max_size=6)))
    spans = [
        (a, b, draw(st.integers(0, 1))) for a, b in zip(borders[::2], borders[1::2], strict=False)
    ]
    return Text(
        pieces=pieces_at(words, sizes),
        ranges=ranges,
        spans=np.array(spans, dtype=np.int64).reshape(-1, 3),
    )


def naive_unknown(text: Text, *, continues: bool) -> set[int]:
    """Units with an unknown character, and those that follow a range of them in their sentence."""
    units = text.pieces.units.tolist()
    sentence = [n for n, (a, b) in enumerate(text.pieces.sentences.tolist()) for _ in range(a, b)]
    found = set()
    for start, end in text.ranges:
        inside = {i for i, (a, b) in enumerate(units) if set(range(a, b)) & set(range(start, end))}
        found |= inside
        after = max(inside, default=len(units)) + 1
        if continues and after < len(units) and sentence[after] == sentence[after - 1]:
            found.add(after)
    return found


@given(text=texts(), continues=st.booleans())
def test_units_are_unknown_by_their_characters(text: Text, continues: bool) -> None:
    found = unknown_units(text.ranges, text.pieces, limits=HeadLimits(continues=continues))
    assert found.dtype == np.int64
    assert found.shape == (len(found), 2)
    assert (found[:, 0] < found[:, 1]).all()
    assert found.tolist() == sorted(found.tolist())
    assert {i for a, b in found.tolist() for i in range(a, b)} == naive_unknown(
        text, continues=continues
    )


@given(text=texts())
def test_what_ranges_cover(text: Text) -> None:
    inside = covered_mask(text.spans, text.units)
    assert inside.tolist() == [
        any(a <= i < b for a, b, _ in text.spans.tolist()) for i in range(text.units)
    ]


@cache
def head_of(settings: HeadSettings) -> Any:
    torch.manual_seed(0)
    return make_head(settings, Basis(types=TYPES, width=D))


def taught(head: Head, text: Text, windows: Sequence[Window], *, seed: int = 0) -> Ints:
    unknown = unknown_units(text.ranges, text.pieces, limits=head.limits)
    narrow = np.diff(text.spans[:, :2])[:, 0] <= (head.limits.width or text.units)
    gold = head.gold(text.spans[narrow], units=text.units, unknown=unknown)
    return head.targets([gold] * len(windows), windows, chance=np.random.default_rng(seed))


@pytest.mark.parametrize(
    "settings", [SoftmaxSettings(), CrfSettings(), SoftmaxSettings(scheme="IO")], ids=repr
)
@given(text=texts(), unit=st.sampled_from(["sentence", "packed"]))
def test_no_tag_is_taught_where_nothing_is_known(
    settings: HeadSettings, text: Text, unit: Any
) -> None:
    head, windows = head_of(settings), text.windows(unit)
    if not windows:
        return
    assert isinstance(head, SoftmaxTagger)
    targets = taught(head, text, windows)
    tags = head.scheme.encode(map(tuple, text.spans.tolist()), length=text.units)
    mentions = {i for a, b, _ in text.spans.tolist() for i in range(a, b)}
    unknown = naive_unknown(text, continues=True) - mentions
    for row, window in zip(targets.tolist(), windows, strict=True):
        places = range(*window.units)
        expected = [head.unknown_tag if i in unknown else tags[i] for i in places]
        assert row == expected + [IGNORED] * (len(row) - len(places))


SPECIALS = SpanSettings(width=3, level="piece", specials="include")


@pytest.mark.parametrize(
    "settings", [SpanSettings(width=3), BiaffineSettings(width=2), SPECIALS], ids=repr
)
@given(text=texts())
def test_no_span_over_the_unknown_is_a_negative(settings: Any, text: Text) -> None:
    head, windows = head_of(settings), text.windows()
    if not windows:
        return
    known = taught(head, Text(pieces=text.pieces, ranges=(), spans=text.spans), windows)
    targets = taught(head, text, windows)
    unknown = naive_unknown(text, continues=False)
    around = int(settings.specials == "include")
    for b, i, w in np.ndindex(*known.shape):
        first = windows[b].units[0] - around + i
        inside = set(range(first, first + w + 1)) & set(range(*windows[b].units))
        left_out = known[b, i, w] == 0 and bool(inside & unknown)
        assert targets[b, i, w] == (IGNORED if left_out else known[b, i, w])


@given(text=texts(), wanted=st.integers(1, 4), seed=st.integers(0, 3))
def test_negatives_are_drawn_from_what_is_known(text: Text, wanted: int, seed: int) -> None:
    windows = text.windows()
    if not windows:
        return
    every = taught(head_of(SpanSettings(width=3)), text, windows)
    drawn = taught(head_of(SpanSettings(width=3, negatives=wanted)), text, windows, seed=seed)
    assert (drawn[every > 0] == every[every > 0]).all()
    assert (every[drawn == 0] == 0).all()
    for row, of_all in zip(drawn, every, strict=True):
        assert (row == 0).sum() == min(wanted, (of_all == 0).sum())


def test_the_loss_of_a_crf_is_per_known_unit() -> None:
    """Half of the units unknown: the sum over paths by loops, in double precision."""
    head = deepcopy(head_of(CrfSettings())).double()
    pieces = pieces_at([(3 * i, 3 * i + 2) for i in range(3)], [3])
    text = Text(pieces=pieces, ranges=((3, 5),), spans=np.array([[0, 1, 1]]))
    targets = taught(head, text, text.windows())
    assert targets.tolist() == [[3, -1, -1]]  # B-Disease, the phrase, and the unit after it
    emissions = torch.randn(
        1, 3, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    loss = head.loss({"emissions": emissions}, torch.from_numpy(targets))
    a, start, end = head.crf.transitions, head.crf.start, head.crf.end

    def total(first: range) -> Any:
        scores = [
            start[x]
            + emissions[0, 0, x]
            + a[x, y]
            + emissions[0, 1, y]
            + a[y, z]
            + emissions[0, 2, z]
            + end[z]
            for x in first
            for y in range(5)
            for z in range(5)
        ]
        return torch.stack(scores).logsumexp(0)

    torch.testing.assert_close(loss, total(range(5)) - total(range(3, 4)))
