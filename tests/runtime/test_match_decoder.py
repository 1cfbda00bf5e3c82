"""The decoder of a bi-encoder against Algorithm 1 of the paper, over texts in windows."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import TYPES, manifest_of, pieces_of

from fascicle.decoding.decoders import MatchDecoder, Tables
from fascicle.decoding.kinds import decoder_of
from fascicle.errors import ModelError
from fascicle.settings.heads import BinderSettings
from fascicle.text.windows import Window, answers_for, windows_of

WIDTH = 3
Row = tuple[int, int, int, float, float]  # start, end, type, score of the span, its margin


def tables_of(windows: list[Window], chance: np.random.Generator, *, joint: bool) -> dict[str, np.ndarray[Any, Any]]:
    rows, units = len(windows), max(w.units[1] - w.units[0] for w in windows)
    shapes: dict[str, tuple[int, ...]] = {
        "spans": (rows, units, WIDTH, len(TYPES)),
        "span_threshold": (rows, len(TYPES)),
    }
    if joint:
        shapes |= {"starts": (rows, units, len(TYPES)), "ends": (rows, units, len(TYPES))}
        shapes |= {"start_threshold": (rows, len(TYPES)), "end_threshold": (rows, len(TYPES))}
    return {name: chance.integers(-4, 5, shape).astype(np.float32) for name, shape in shapes.items()}


def algorithm_1(
    tables: Tables, windows: list[Window], *, flat: bool, joint: bool, shift: float, maximum: bool
) -> list[Row]:
    """With a document read through windows: a span is that of the window that answers for it, or of the best one."""
    found: list[Row] = []
    for b, window in enumerate(windows):
        count = window.units[1] - window.units[0]
        for k, i, w in product(range(len(TYPES)), range(count), range(WIDTH)):
            j, score, null = (
                i + w,
                float(tables["spans"][b, min(i, count), w, k]),
                float(tables["span_threshold"][b, k]),
            )
            if j >= count or not (maximum or answers_for(window, window.units[0] + i, window.units[0] + j + 1)):
                continue
            if joint and (
                tables["starts"][b, i, k] < tables["start_threshold"][b, k]
                or tables["ends"][b, j, k] < tables["end_threshold"][b, k]
            ):
                continue
            if score > null + shift:
                found.append((window.units[0] + i, window.units[0] + j + 1, k, score, score - null - shift))
    found = [max((r for r in found if r[:3] == key), key=lambda r: r[3]) for key in {r[:3] for r in found}]
    if not flat:
        return sorted(found)
    kept: list[Row] = []
    for row in sorted(found, key=lambda r: (-r[3], r[0], r[1], r[2])):
        if all(row[1] <= other[0] or other[1] <= row[0] for other in kept):
            kept.append(row)
    return sorted(kept)


@given(
    seed=st.integers(0, 10**6),
    counts=st.lists(st.integers(1, 12), min_size=1, max_size=3),
    decoding=st.sampled_from(["nested", "greedy"]),
    inference=st.sampled_from(["span", "joint"]),
    shift=st.sampled_from([0.0, 1.0, -1.5]),
    merge=st.sampled_from(["middle", "maximum"]),
)
def test_it_is_algorithm_1(
    seed: int,
    counts: list[int],
    decoding: Literal["nested", "greedy"],
    inference: Literal["span", "joint"],
    shift: float,
    merge: Literal["middle", "maximum"],
) -> None:
    chance = np.random.default_rng(seed)
    head = BinderSettings(decoding=decoding, inference=inference, width=WIDTH, merge=merge)
    decoder = decoder_of(manifest_of(head, nothing=shift))
    documents = [
        windows_of(pieces_of([[1] * n]), document=i, unit="sentence", capacity=6, overlap=2)
        for i, n in enumerate(counts)
    ]
    taken, expected = [], []
    for windows in documents:
        tables = tables_of(windows, chance, joint=inference == "joint")
        sizes = np.array([w.units[1] - w.units[0] for w in windows])
        taken.append(decoder.take(tables, windows, sizes))
        form = {"flat": decoding == "greedy", "joint": inference == "joint", "maximum": merge == "maximum"}
        expected.append(algorithm_1(tables, windows, shift=shift, **form))
    for (spans, scores), rows in zip(decoder.decide(taken, documents), expected, strict=True):
        assert spans.tolist() == [list(row[:3]) for row in rows]
        assert scores.tolist() == pytest.approx([1 / (1 + math.exp(-row[4])) for row in rows])
        assert ((scores > 0.5) & (scores < 1)).all()


def one_window(count: int) -> list[Window]:
    return windows_of(pieces_of([[1] * count]), document=0, unit="sentence", capacity=50, overlap=2)


def decided(head: BinderSettings, tables: Tables, count: int) -> list[list[int]]:
    decoder, windows = decoder_of(manifest_of(head)), one_window(count)
    ((spans, _),) = decoder.decide([decoder.take(tables, windows, np.array([count]))], [windows])
    found: list[list[int]] = spans.tolist()
    return found


def test_types_that_do_not_compete_are_flat_each_for_itself() -> None:
    spans = np.full((1, 4, WIDTH, 2), -9.0, np.float32)
    spans[0, 0, 1] = 3.0  # both types
    spans[0, 1, 1, 0], spans[0, 2, 1, 0], spans[0, 1, 0, 1] = 4.0, 2.0, 1.0
    tables = {"spans": spans, "span_threshold": np.zeros((1, 2), np.float32)}
    decoder = MatchDecoder(BinderSettings(width=WIDTH), types=2, across_types=True)
    ((found, _),) = decoder.decide([decoder.take(tables, one_window(4), np.array([4]))], [one_window(4)])
    assert found.tolist() == [[0, 2, 1], [1, 3, 0]]
    assert decided(BinderSettings(width=WIDTH), tables, 4) == [[1, 3, 0]]


def test_a_threshold_of_dev_is_the_threshold() -> None:
    spans = np.array([[[[0.5, 1.5]] * WIDTH]], np.float32)
    head = BinderSettings(width=WIDTH, thresholds="dev", decoding="nested")
    for nothing, expected in ((0.0, [[0, 1, 0], [0, 1, 1]]), (0.5, [[0, 1, 1]]), (2.0, [])):
        decoder, windows = decoder_of(manifest_of(head, nothing=nothing)), one_window(1)
        ((found, _),) = decoder.decide([decoder.take({"spans": spans}, windows, np.array([1]))], [windows])
        assert found.tolist() == expected


def test_documents_without_windows() -> None:
    decoder = decoder_of(manifest_of(BinderSettings()))
    assert isinstance(decoder, MatchDecoder)
    assert [spans.tolist() for spans, _ in decoder.decide([[], []], [[], []])] == [[], []]


def test_tables_of_another_head_are_refused() -> None:
    windows, counts = one_window(2), np.array([2])
    good = tables_of(windows, np.random.default_rng(1), joint=True)
    span = {name: good[name] for name in ("spans", "span_threshold")}
    joint, dev = BinderSettings(width=WIDTH, inference="joint"), BinderSettings(width=WIDTH, thresholds="dev")
    for head, tables, said in (
        (BinderSettings(width=WIDTH), good, "which are not the tables of its family"),
        (joint, span, "which are not the tables of its family"),
        (dev, span, "which are not the tables of its family"),
        (BinderSettings(width=WIDTH + 1), span, "scores spans of up to 3 units, not 4"),
        (BinderSettings(width=WIDTH), {"span_threshold": span["span_threshold"]}, "gives no table spans"),
        (BinderSettings(width=WIDTH), {**span, "spans": span["spans"][..., :1]}, "gives no table spans with the 2"),
        (BinderSettings(width=WIDTH), {**span, "spans": span["spans"] * np.nan}, r"model.json says \(.* is NaN\)"),
        (joint, {**good, "starts": good["starts"][:, :1]}, r"model.json says \(.* do not agree"),
    ):
        with pytest.raises(ModelError, match=said):
            decoder_of(manifest_of(head)).take(tables, windows, counts)
