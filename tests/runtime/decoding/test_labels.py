"""Labels that do not exclude each other against loops over types and units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import whole_window

from fascicle.core.tags import SCHEMES
from fascicle.errors import ModelError
from fascicle.models.heads.contract import Basis
from fascicle.models.heads.tagger import MultiLabelTagger
from fascicle.runtime.decoding.decoders import LabelDecoder
from fascicle.runtime.decoding.labels import decode_labels, label_distributions
from fascicle.runtime.decoding.tagger import Repair, split_spans
from fascicle.settings.heads import MultiLabelSettings

Spans = set[tuple[int, int, int]]
SCHEME_NAMES = st.sampled_from(["IO", "BIO"])
REPAIRS: Any = st.sampled_from(["strict", "lenient"])
SHAPES = st.tuples(
    st.lists(st.integers(0, 7), min_size=1, max_size=4), st.integers(1, 3), st.integers(0, 10**6)
)


def tables(shape: tuple[list[int], int, int], width: int) -> list[Any]:
    """Margins of texts of several lengths, some of them exactly 0 or equal to each other."""
    lengths, types, seed = shape
    chance = np.random.default_rng(seed)
    return [chance.integers(-3, 4, size=(n, types * width)).astype(np.float32) for n in lengths]


def naive(text: Any, width: int, repair: Repair) -> dict[tuple[int, int, int], float]:
    """Type by type and unit by unit."""
    found = {}
    for kind in range(text.shape[1] // width):
        open_at = -1
        for unit in range(len(text) + 1):
            labels = (
                text[unit, kind * width : (kind + 1) * width].tolist()
                if unit < len(text)
                else [-1.0]
            )
            active = max(labels) > 0
            begins = active and width > 1 and labels[0] >= labels[-1]
            if open_at >= 0 and (not active or begins):
                chances = [
                    1 / (1 + np.exp(-float(text[u, kind * width : (kind + 1) * width].max())))
                    for u in range(open_at, unit)
                ]
                found[open_at, unit, kind] = float(np.prod(chances) ** (1 / len(chances)))
                open_at = -1
            previous = unit > 0 and max(text[unit - 1, kind * width : (kind + 1) * width]) > 0
            if active and (
                begins or (open_at < 0 and (width == 1 or (repair == "lenient" and not previous)))
            ):
                open_at = unit
    return found


@given(SHAPES, SCHEME_NAMES, REPAIRS)
def test_runs_are_those_of_a_loop(
    shape: tuple[list[int], int, int], name: str, repair: Repair
) -> None:
    scheme = SCHEMES[name]
    texts = tables(shape, scheme.width)
    for text, (spans, scores) in zip(
        texts, decode_labels(texts, scheme, repair=repair), strict=True
    ):
        expected = naive(text, scheme.width, repair)
        assert [tuple(row) for row in spans.tolist()] == sorted(expected)
        assert scores.tolist() == pytest.approx(
            [expected[key] for key in sorted(expected)], abs=1e-6
        )


@given(
    st.sets(st.tuples(st.integers(0, 7), st.integers(1, 8), st.integers(0, 2)), max_size=6),
    SCHEME_NAMES,
    REPAIRS,
)
def test_gold_that_nests_across_types_is_read_back(rows: Spans, name: str, repair: Repair) -> None:
    """Of the spans of one type none overlap, and in IO none touch; what a head is taught is what
    its labels say.
    """
    width, gold = SCHEMES[name].width, set[tuple[int, int, int]]()
    for start, end, kind in sorted(row for row in rows if row[0] < row[1]):
        if not any(
            k == kind and start < b + (width == 1) and a < end + (width == 1) for a, b, k in gold
        ):
            gold.add((start, end, kind))
    head = MultiLabelTagger(MultiLabelSettings(scheme=name), Basis(types=("A", "B", "C"), width=4))  # type: ignore[arg-type]
    table = head.gold(np.array(sorted(gold), dtype=np.int64).reshape(-1, 3), units=8)
    ((spans, _),) = decode_labels([20 * table[:, 1:] - 10], SCHEMES[name], repair=repair)
    assert {tuple(row) for row in spans.tolist()} == gold
    inside = {unit for a, b, _ in gold for unit in range(a, b)}
    assert table[:, 0].tolist() == [float(unit not in inside) for unit in range(8)]


@given(SHAPES, st.lists(st.integers(-3, 3), min_size=3, max_size=3), SCHEME_NAMES)
def test_a_threshold_is_of_its_type_alone(
    shape: tuple[list[int], int, int], given_: list[int], name: str
) -> None:
    """The spans of a type are those of a decoder of this type alone, with its scores less its
    threshold.
    """
    width = SCHEMES[name].width
    (text, *_), types = tables(shape, width), shape[1]
    window = [whole_window(len(text))]

    def decided(columns: Any, thresholds: list[int]) -> dict[tuple[int, int, int], float]:
        decoder = LabelDecoder(MultiLabelSettings(scheme=name), thresholds=thresholds)  # type: ignore[arg-type]
        emissions = np.concatenate(
            [np.full((len(text), 1), 9.0, dtype=np.float32), columns], axis=1
        )[None]
        taken = decoder.take({"emissions": emissions}, window, np.array([len(text)]))
        ((spans, scores),) = decoder.decide([taken], [window])
        return dict(zip(map(tuple, spans.tolist()), scores.tolist(), strict=True))

    found = decided(text, given_[:types])
    for kind in range(types):
        alone = decided(text[:, kind * width : (kind + 1) * width] - np.float32(given_[kind]), [0])
        assert {key[:2]: score for key, score in found.items() if key[2] == kind} == {
            key[:2]: score for key, score in alone.items()
        }
    strictest = decided(text, [4] * types)
    assert strictest == {}


def test_the_numbers_of_given_spans_are_means_over_their_units() -> None:
    chance = np.random.default_rng(1)
    texts = [chance.normal(size=(n, 6)).astype(np.float32) for n in (3, 5)]
    spans = np.array([[1, 0, 5], [0, 1, 2], [1, 2, 4], [1, 3, 5]])
    found = label_distributions(texts, spans, SCHEMES["BIO"])
    for (text, start, end), row in zip(spans.tolist(), found, strict=True):
        expected = []
        for kind in range(3):
            product = 1.0
            for unit in range(start, end):
                product *= 1 / (
                    1 + np.exp(-max(texts[text][unit, 2 * kind : 2 * kind + 2].tolist()))
                )
            expected.append(product ** (1 / (end - start)))
        assert row[1:].tolist() == pytest.approx(expected, rel=1e-5)
        assert row[0] == pytest.approx(np.prod([1 - p for p in expected]), rel=1e-5)


@given(
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.sets(st.tuples(st.integers(0, 7), st.integers(1, 8))),
)
def test_spans_are_cut_at_broken_units(broken: list[bool], ranges: set[tuple[int, int]]) -> None:
    rows = [(a, b, 3) for a, b in sorted(ranges) if a < b]
    scores = np.arange(len(rows), dtype=np.float64)
    found, kept = split_spans(
        np.array(rows, dtype=np.int64).reshape(-1, 3), scores, np.array(broken)
    )
    expected = []
    for number, (start, end, kind) in enumerate(rows):
        for unit in range(start, end):
            if not broken[unit]:
                if unit > start and not broken[unit - 1]:
                    expected[-1][1] += 1
                else:
                    expected.append([unit, unit + 1, kind, number])
    assert np.column_stack([found, kept]).tolist() == expected


def test_emissions_that_are_no_numbers_are_refused() -> None:
    decoder = LabelDecoder(MultiLabelSettings(), thresholds=[0.0])
    for emissions in (np.full((1, 2, 3), np.nan), np.zeros((1, 2, 4))):
        with pytest.raises(ModelError):
            decoder.take({"emissions": emissions}, [], np.array([2]))
