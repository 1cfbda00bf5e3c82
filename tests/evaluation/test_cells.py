"""The table of cells against scores of each system on its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.errors import InputError
from fascicle.evaluation.comparison.comparing import make_cells
from fascicle.evaluation.scoring.scores import score
from fascicle.runtime.combination.align import System

from .strategies import SAID, cells_from


@given(SAID, st.lists(SAID, min_size=1, max_size=4))
def test_the_scores_of_each_system(gold: dict[str, Any], said: list[dict[str, Any]]) -> None:
    gold["a"] = [*gold["a"], Mention(((6, 9),), "X")]
    cells = cells_from(gold, said)
    for at, one in enumerate(said):
        found, expected = cells.scores(at), score(gold, one)
        assert (found.counts, found.by_type, found.by_document) == (
            expected.counts,
            expected.by_type,
            expected.by_document,
        )
        # draws of documents are the same then
        assert list(found.by_document) == list(expected.by_document)
    assert cells.totals().tolist() == np.bincount(cells.cell, minlength=len(cells.gold)).tolist()
    assert (
        sum(row.sum() for row in cells.by_type().values())
        == cells.totals().sum()
        == len(cells.cell)
    )
    assert len(
        {
            (g, *s)
            for g, s in zip(cells.gold.tolist(), map(tuple, cells.predicted.tolist()), strict=True)
        }
    ) == len(cells.gold)


@given(SAID, SAID)
def test_draws_are_the_sums_over_drawn_documents(
    gold: dict[str, Any], said: dict[str, Any]
) -> None:
    gold["a"] = [*gold["a"], Mention(((6, 9),), "X")]
    cells = cells_from(gold, [said])
    generator = np.random.default_rng(5)
    for row in cells.drawn(resamples=20, seed=5):
        picked = generator.integers(0, 4, size=4, dtype=np.int64).tolist()
        expected = [
            sum(
                picked.count(d)
                for d, c in zip(cells.document, cells.cell, strict=True)
                if c == cell
            )
            for cell in range(len(cells.gold))
        ]
        assert row.tolist() == expected


def test_documents_must_be_those_of_the_gold() -> None:
    mention = Mention(((0, 1),), "X")
    gold = {"a": [mention], "b": []}
    with pytest.raises(
        InputError, match=r"s0 lacks 1 document: 'b' of the 2 in the gold; .*allow_missing"
    ):
        cells_from(gold, [{"a": []}])
    assert cells_from(gold, [{"a": []}], allow_missing=True).missing == {"s0": ("b",)}
    with pytest.raises(InputError, match="s1 names 1 document: 'c' that the gold does not have"):
        cells_from(gold, [gold, {"a": [], "b": [], "c": []}])
    with pytest.raises(InputError, match="no document in common"):
        cells_from(gold, [{"x": []}])
    with pytest.raises(InputError, match="the gold holds no mention"):
        cells_from({"a": []}, [{"a": []}])


def test_files_that_list_only_documents_with_mentions() -> None:
    mention = Mention(((0, 1),), "X")
    gold = System(name="the gold", mentions={"b": [mention]}, lists_all=False)
    sparse = System(name="sparse", mentions={"b": [mention]}, lists_all=False)
    cells = make_cells(gold, [sparse, System(name="full", mentions={"a": [mention], "b": []})])
    assert cells.documents == ("b", "a")
    assert [vars(cells.scores(at).counts) for at in range(2)] == [
        {"tp": 1, "fp": 0, "fn": 0},
        {"tp": 0, "fp": 1, "fn": 1},
    ]
    listed = System(name="the gold", mentions={"a": [], "b": [mention]})
    assert make_cells(listed, [sparse]).missing == {"sparse": ("a",)}
