"""Reliability, curves and thresholds, against loops; edges in one sentence."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, brier_score_loss, precision_recall_curve

from fascicle.core.document import Mention
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.calibration.reliability import (
    JudgedMentions,
    best_threshold,
    brier_score,
    expected_calibration_error,
    judged,
    precision_recall,
    reliability_curve,
    threshold_for,
)

from .strategies import Corpus, corpora, sides

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]) | st.floats(0, 1), st.booleans())
)


def arrays(rows: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([s for s, _ in rows], dtype=np.float64), np.array(
        [r for _, r in rows], dtype=bool
    )


@given(ROWS)
def test_reliability_against_a_loop(rows: list[tuple[float, bool]]) -> None:
    bins = reliability_curve(*arrays(rows))
    assert (bins[0].low, bins[-1].high) == (0.0, 1.0)
    assert all(a.high == b.low for a, b in pairwise(bins))
    assert len(bins) == 10
    error = 0.0
    for at, one in enumerate(bins):
        inside = [(s, r) for s, r in rows if one.low < s <= one.high or (at == 0 and s == 0.0)]
        assert one.count == len(inside)
        if not inside:
            assert (one.mean_score, one.precision) == (None, None)
            continue
        said, right = (
            sum(s for s, _ in inside) / len(inside),
            sum(r for _, r in inside) / len(inside),
        )
        assert (one.mean_score, one.precision) == (pytest.approx(said), pytest.approx(right))
        error += abs(said - right) * len(inside) / len(rows)
    assert sum(one.count for one in bins) == len(rows)
    assert expected_calibration_error(bins) == (pytest.approx(error) if rows else None)


@given(ROWS.filter(bool), st.integers(0, 5))
def test_the_curve_against_a_loop(rows: list[tuple[float, bool]], missed: int) -> None:
    scores, right = arrays(rows)
    gold = int(right.sum()) + missed
    curve = precision_recall(scores, right, gold=gold)
    assert curve.thresholds.tolist() == sorted(set(scores.tolist()), reverse=True)
    area, before = 0.0, 0.0
    for at, threshold in enumerate(curve.thresholds):
        kept = [r for s, r in rows if s >= threshold]
        assert (curve.mentions[at], curve.precision[at]) == (
            len(kept),
            pytest.approx(sum(kept) / len(kept)),
        )
        if curve.recall is not None:
            assert curve.recall[at] == pytest.approx(sum(kept) / gold)
            area += (sum(kept) / gold - before) * sum(kept) / len(kept)
            before = sum(kept) / gold
    assert curve.average_precision == (pytest.approx(area) if gold else None)
    points = curve.thinned(4)
    assert len(points) <= 4
    assert (points[0]["threshold"], points[-1]["threshold"]) == (
        curve.thresholds[0],
        curve.thresholds[-1],
    )
    json.dumps(points, allow_nan=False)


@given(ROWS.filter(lambda rows: any(r for _, r in rows)))
def test_the_curve_is_that_of_scikit_learn(rows: list[tuple[float, bool]]) -> None:
    scores, right = arrays(rows)
    curve = precision_recall(scores, right, gold=int(right.sum()))
    precision, recall, thresholds = precision_recall_curve(right, scores)
    ours = {
        t: (p, r) for t, p, r in zip(curve.thresholds, curve.precision, curve.recall, strict=True)
    }
    for t, p, r in zip(thresholds, precision, recall, strict=False):
        assert ours[t] == (pytest.approx(p), pytest.approx(r))
    assert curve.average_precision == pytest.approx(average_precision_score(right, scores))
    assert brier_score(scores, right) == pytest.approx(brier_score_loss(right, scores))


@given(ROWS.filter(bool), st.integers(0, 5), st.floats(0.01, 1.0))
def test_thresholds_against_trying_all(
    rows: list[tuple[float, bool]], missed: int, wanted: float
) -> None:
    scores, right = arrays(rows)
    gold = int(right.sum()) + missed
    curve = precision_recall(scores, right, gold=gold)
    tried = []
    for threshold in sorted(set(scores.tolist()), reverse=True):
        kept = [r for s, r in rows if s >= threshold]
        tried.append(
            (threshold, sum(kept) / len(kept), sum(kept) / gold if gold else math.nan, len(kept))
        )
    for name, place, other in (("precision", 1, 2), ("recall", 2, 1)):
        able = [row for row in tried if gold and row[place] >= wanted]
        if not able:
            with pytest.raises(InputError, match=r"no threshold gives|there are none"):
                threshold_for(curve, **{name: wanted})
            continue
        found = threshold_for(curve, **{name: wanted})
        assert getattr(found, name) >= wanted
        kept = next(row for row in tried if row[0] == found.threshold)
        assert (found.precision, found.recall) == (pytest.approx(kept[1]), pytest.approx(kept[2]))
        assert kept[other] == max(row[other] for row in able)
    if gold:
        best = best_threshold(curve)
        f1 = {row[0]: 2 * row[1] * row[3] / (row[3] + gold) for row in tried}
        assert f1[best.threshold] == pytest.approx(max(f1.values()))
    else:
        with pytest.raises(InputError, match="there are none"):
            best_threshold(curve)


@given(corpora(scored=True))
def test_mentions_are_judged_strictly(corpus: Corpus) -> None:
    gold, said = sides(corpus)
    if not any(said.values()):
        with pytest.raises(InputError, match="nothing was predicted"):
            judged(gold, said)
        return
    data = judged(gold, said)
    rows = sorted(
        (p.type, p.score, any((p.type, p.spans) == (g.type, g.spans) for g in gold[key]))
        for key in gold
        for p in said[key]
    )
    assert sorted(zip(data.types, data.scores.tolist(), data.right.tolist(), strict=True)) == rows
    assert sum(data.gold.values()) == sum(len(side) for side in gold.values())
    for name in set(data.types):
        part = data.of_type(name)
        assert sorted(zip(part.types, part.scores.tolist(), part.right.tolist(), strict=True)) == [
            row for row in rows if row[0] == name
        ]
        assert part.gold == {name: sum(g.type == name for side in gold.values() for g in side)}


def test_missing_scores_in_one_sentence() -> None:
    said = {"a": [Mention(((0, 4),), "Gene", score=0.5), Mention(((5, 9),), "Cell")]}
    with pytest.raises(InputError) as raised:
        judged({"a": []}, said)
    assert str(raised.value) == (
        "1 of the 2 predicted mentions have no score, the first is the Cell at 5 in document 'a'; "
        "calibration needs a score for each"
    )


@pytest.mark.parametrize("score", [1.5, -0.1, math.nan])
def test_a_score_that_is_no_probability(score: float) -> None:
    scores, right = np.array([0.5, score]), np.array([True, False])
    message = (
        rf"1 of 2 scores are not probabilities, the first is {score:g}; give scores from 0 to 1"
    )
    for judge in (
        lambda: reliability_curve(scores, right),
        lambda: precision_recall(scores, right, gold=1),
        lambda: JudgedMentions(scores=scores, right=right, types=("A", "B"), gold={}),
        lambda: brier_score(scores, right),
    ):
        with pytest.raises(InputError, match=message):
            judge()
    with pytest.raises(ValueError, match="must be a probability"):
        Mention(((0, 1),), "A", score=score)


def test_what_does_not_fit_together() -> None:
    one, two = np.array([0.5]), np.array([True, True])
    with pytest.raises(InputError, match="give one each"):
        reliability_curve(one, two)
    with pytest.raises(InputError, match="give one each"):
        JudgedMentions(scores=one, right=np.array([True]), types=(), gold={})
    with pytest.raises(InputError, match="1 mentions are right, but only 0 are gold"):
        precision_recall(one, np.array([True]), gold=0)
    curve = precision_recall(one, np.array([True]), gold=1)
    with pytest.raises(UsageError, match="give one of them"):
        threshold_for(curve)
    with pytest.raises(UsageError, match="give one of them"):
        threshold_for(curve, precision=0.5, recall=0.5)
    with pytest.raises(UsageError, match="above 0, up to 1"):
        threshold_for(curve, precision=90)


def test_no_mentions_have_no_error() -> None:
    nothing = np.array([], dtype=np.float64), np.array([], dtype=bool)
    assert expected_calibration_error(reliability_curve(*nothing)) is None
    assert brier_score(*nothing) is None
    curve = precision_recall(*nothing, gold=3)
    assert (curve.average_precision, curve.thinned()) == (0.0, [])
