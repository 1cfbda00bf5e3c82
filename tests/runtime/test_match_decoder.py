"""The decoder of a bi-encoder against Algorithm 1 of the paper, over texts in windows."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import TYPES, manifest_of, pieces_of

from fascicle.errors import ModelError
from fascicle.runtime.decoding.decoders import MatchDecoder, Tables
from fascicle.runtime.decoding.kinds import APART, KINDS, make_decoder
from fascicle.settings.heads import BinderSettings
from fascicle.text.windows import Window, make_windows, scores_span

WIDTH = 3
Row = tuple[int, int, int, float, float]  # start, end, type, score of the span, its margin


def tables_of(windows: list[Window], chance: np.random.Generator, head: BinderSettings) -> Tables:
    rows, units = len(windows), max(w.units[1] - w.units[0] for w in windows)
    shapes: dict[str, tuple[int, ...]] = {"spans": (rows, units, WIDTH, len(TYPES))}
    if not head.thresholds.startswith("dev"):
        shapes["span_threshold"] = (rows, len(TYPES))
    if head.inference == "joint":
        shapes |= {"starts": (rows, units, len(TYPES)), "ends": (rows, units, len(TYPES))}
        shapes |= {"start_threshold": (rows, len(TYPES)), "end_threshold": (rows, len(TYPES))}
    return {
        name: chance.integers(-4, 5, shape).astype(np.float32) for name, shape in shapes.items()
    }


def algorithm_1(
    tables: Tables,
    windows: list[Window],
    *,
    head: BinderSettings,
    shifts: list[float],
    across_types: bool,
) -> list[Row]:
    """With a document read through windows: a span is that of the window that answers for it, or
    of the best one.
    """
    maximum = head.merge == "maximum"
    found: list[Row] = []
    for b, window in enumerate(windows):
        count = window.units[1] - window.units[0]
        for k, i, w in product(range(len(TYPES)), range(count), range(WIDTH)):
            j, score = i + w, float(tables["spans"][b, i, w, k])
            null = float(tables["span_threshold"][b, k]) if "span_threshold" in tables else 0.0
            if j >= count or not (
                maximum or scores_span(window, window.units[0] + i, window.units[0] + j + 1)
            ):
                continue
            if "starts" in tables and (
                tables["starts"][b, i, k] < tables["start_threshold"][b, k]
                or tables["ends"][b, j, k] < tables["end_threshold"][b, k]
            ):
                continue
            if score > null + shifts[k]:
                found.append(
                    (
                        window.units[0] + i,
                        window.units[0] + j + 1,
                        k,
                        score,
                        score - null - shifts[k],
                    )
                )
    found = [
        max((r for r in found if r[:3] == key), key=lambda r: r[3])
        for key in {r[:3] for r in found}
    ]
    if head.decoding == "nested":
        return sorted(found)
    kept: list[Row] = []
    for row in sorted(found, key=lambda r: (-r[3], r[0], r[1], r[2])):
        rivals = [other for other in kept if not across_types or other[2] == row[2]]
        if all(row[1] <= other[0] or other[1] <= row[0] for other in rivals):
            kept.append(row)
    return sorted(kept)


FORMS = [
    {"decoding": decoding, "merge": merge, **how}
    for decoding in ("nested", "greedy")
    for merge in ("middle", "maximum")
    for how in ({}, {"inference": "joint"}, {"thresholds": "dev"}, {"thresholds": "dev-by-type"})
]


@given(
    seed=st.integers(0, 10**6),
    counts=st.lists(st.integers(1, 12), min_size=1, max_size=3),
    form=st.sampled_from(FORMS),
    shifts=st.lists(st.sampled_from([0.0, 1.0, -1.5]), min_size=len(TYPES), max_size=len(TYPES)),
    across_types=st.booleans(),
)
def test_it_is_algorithm_1(
    seed: int, counts: list[int], form: dict[str, Any], shifts: list[float], across_types: bool
) -> None:
    chance, head = np.random.default_rng(seed), BinderSettings(width=WIDTH, **form)
    manifest = manifest_of(head)
    decision = msgspec.structs.replace(
        manifest.decision, nothing=0.5, nothing_by_type=tuple(s - 0.5 for s in shifts)
    )
    decoder = make_decoder(
        msgspec.structs.replace(manifest, decision=decision), APART if across_types else KINDS
    )
    documents = [
        make_windows(pieces_of([[1] * n]), document=i, unit="sentence", capacity=6, overlap=2)
        for i, n in enumerate(counts)
    ]
    taken, expected = [], []
    for windows in documents:
        tables = tables_of(windows, chance, head)
        sizes = np.array([w.units[1] - w.units[0] for w in windows])
        taken.append(decoder.take(tables, windows, sizes))
        expected.append(
            algorithm_1(tables, windows, head=head, shifts=shifts, across_types=across_types)
        )
    for (spans, scores), rows in zip(decoder.decide(taken, documents), expected, strict=True):
        assert spans.tolist() == [list(row[:3]) for row in rows]
        assert scores.tolist() == pytest.approx([1 / (1 + math.exp(-row[4])) for row in rows])
        assert ((scores > 0.5) & (scores < 1)).all()


def one_window(count: int) -> list[Window]:
    return make_windows(
        pieces_of([[1] * count]), document=0, unit="sentence", capacity=50, overlap=2
    )


def test_documents_without_windows() -> None:
    decoder = make_decoder(manifest_of(BinderSettings()))
    assert isinstance(decoder, MatchDecoder)
    assert [spans.tolist() for spans, _ in decoder.decide([[], []], [[], []])] == [[], []]


def test_tables_of_another_head_are_refused() -> None:
    windows, counts = one_window(2), np.array([2])
    good = tables_of(
        windows, np.random.default_rng(1), BinderSettings(width=WIDTH, inference="joint")
    )
    span = {name: good[name] for name in ("spans", "span_threshold")}
    joint, dev = (
        BinderSettings(width=WIDTH, inference="joint"),
        BinderSettings(width=WIDTH, thresholds="dev"),
    )
    for head, tables, said in (
        (BinderSettings(width=WIDTH), good, "which are not the tables of its family"),
        (joint, span, "which are not the tables of its family"),
        (dev, span, "which are not the tables of its family"),
        (BinderSettings(width=WIDTH + 1), span, "scores spans of up to 3 units, not 4"),
        (
            BinderSettings(width=WIDTH),
            {"span_threshold": span["span_threshold"]},
            "gives no table spans",
        ),
        (
            BinderSettings(width=WIDTH),
            {**span, "spans": span["spans"][..., :1]},
            "gives no table spans with the 2",
        ),
        (
            BinderSettings(width=WIDTH),
            {**span, "spans": span["spans"] * np.nan},
            r"model.json says \(.* is NaN\)",
        ),
        (joint, {**good, "starts": good["starts"][:, :1]}, r"model.json says \(.* do not agree"),
    ):
        with pytest.raises(ModelError, match=said):
            make_decoder(manifest_of(head)).take(tables, windows, counts)
