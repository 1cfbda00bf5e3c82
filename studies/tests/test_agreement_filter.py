"""The filter without a network: its regression, its threshold, its features, and what it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.errors import InputError, UsageError
from fascicle.runtime.combination.align import System, Votes, align
from studies.combining.agreement_filter import (
    best_threshold,
    features_of,
    fit_agreement,
    fit_regression,
    labels_of,
)

Found = Mapping[str, Sequence[Mention]]


def mention(start: int, end: int, kind: str = "X", score: float | None = None) -> Mention:
    return Mention(((start, end),), kind, score=score)


def random_systems(
    chance: np.random.Generator, documents: int = 40
) -> tuple[dict[str, list[Mention]], list[System]]:
    """Gold, and three systems: two that are often right, one that is wrong where it is alone."""
    gold = {f"d{i}": [mention(10 * k, 10 * k + 3) for k in range(5)] for i in range(documents)}
    systems = []
    for name, hit, miss in (("a", 0.9, 0.05), ("b", 0.8, 0.05), ("c", 0.7, 0.8)):
        said = {
            i: [
                *(
                    mention(m.start, m.end, score=chance.uniform(0.6, 1))
                    for m in of
                    if chance.random() < hit
                ),
                *(
                    mention(10 * k + 5, 10 * k + 8, score=chance.uniform(0.3, 0.9))
                    for k in range(5)
                    if chance.random() < miss
                ),
            ]
            for i, of in gold.items()
        }
        systems.append(System(name=name, mentions=said))
    return gold, systems


def f1(kept: Found, gold: Found) -> float:
    true = {(i, m.spans) for i, of in gold.items() for m in of}
    said = {(i, m.spans) for i, of in kept.items() for m in of}
    return 2 * len(true & said) / (len(true) + len(said))


@pytest.mark.parametrize("penalty", [0.01, 1.0, 50.0])
def test_the_regression_is_that_of_scikit_learn(penalty: float) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(300, 6))
    rows[:, 5] = rows[:, 4]  # two columns that are one
    right = chance.random(300) < 1 / (
        1 + np.exp(-rows @ np.array([2.0, -1.0, 0.5, 0, 0.3, 0.3]) - 0.7)
    )
    theirs = linear.LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=10_000).fit(rows, right)
    ours = fit_regression(rows, right, penalty=penalty)
    assert np.allclose(ours.weights, theirs.coef_[0], atol=1e-4)
    assert ours.bias == pytest.approx(theirs.intercept_[0], abs=1e-4)


def test_the_regression_ends_at_a_slope_of_zero_also_where_classes_are_apart() -> None:
    rows = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    right = np.array([False, False, True, True])
    found = fit_regression(rows, right, penalty=0.5)
    wrong = 1 / (1 + np.exp(-found.odds(rows))) - right
    assert np.allclose(rows.T @ wrong + 0.5 * found.weights, 0, atol=1e-5)
    assert wrong.sum() == pytest.approx(0, abs=1e-5)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.booleans()), min_size=1, max_size=12
    ),
    st.integers(0, 5),
)
def test_the_best_threshold_is_that_of_a_plain_loop(
    given_: list[tuple[float, bool]], missed: int
) -> None:
    chances, right = np.array([c for c, _ in given_]), np.array([r for _, r in given_])
    gold = max(int(right.sum()) + missed, 1)

    def at(threshold: float) -> float:
        return (
            2 * int(right[chances >= threshold].sum()) / (int((chances >= threshold).sum()) + gold)
        )

    threshold, best = best_threshold(chances, right, gold=gold)
    assert best == pytest.approx(max(at(one) for one in chances))
    assert at(threshold) == pytest.approx(best)


def test_features_and_labels_of_a_small_case() -> None:
    first = System(name="a", mentions={"d": [mention(0, 8, score=0.5), mention(20, 23, "Y")]})
    second = System(
        name="b", mentions={"d": [mention(2, 5, score=1.0), mention(20, 23, "Y", score=0.9)]}
    )
    votes = align([first, second])
    rows = features_of(votes, types=("X", "Y"))
    firsts = [votes.entries[at] for at in votes.bounds[:-1].tolist()]
    of = {(m.start, m.type): rows[at].tolist() for at, m in enumerate(firsts)}
    long, short, both = of[0, "X"], of[2, "X"], of[20, "Y"]
    assert long[:5] == [1, 0, 0, 0, 0.5]
    assert short[:5] == [0, 1, 0, 6.0, 0.5]
    assert both[:5] == [1, 1, 0, pytest.approx(np.log(9)), 1.0]
    assert [row[5:9] for row in (long, short, both)] == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert [row[9:11] for row in (long, short, both)] == [[1, 0], [1, 0], [0, 1]]
    assert [row[11] for row in (long, short, both)] == pytest.approx(
        [np.log(8), np.log(3), np.log(3)]
    )
    assert [row[13:] for row in (long, short, both)] == [[0.5, 0, 1], [0.5, 1, 0], [0, 0, 0]]
    right = labels_of(votes, {"d": [mention(2, 5)]})
    assert {(m.start, bool(one)) for m, one in zip(firsts, right, strict=True)} == {
        (0, False),
        (2, True),
        (20, False),
    }


def _rivals(votes: Votes) -> list[list[float]]:
    """The last three features by comparing all with all."""
    firsts = [votes.entries[at] for at in votes.bounds[:-1].tolist()]
    found = []
    for i, one in enumerate(firsts):
        others = [
            (j, other)
            for j, other in enumerate(firsts)
            if i != j
            and votes.document[i] == votes.document[j]
            and one.start < other.end
            and other.start < one.end
        ]
        hulls = [((o.start, o.end), (one.start, one.end)) for _, o in others]
        most = max((votes.predicted[j].sum() for j, _ in others), default=0) / len(votes.systems)
        inside = any(a[0] <= b[0] and b[1] <= a[1] and a != b for a, b in hulls)
        around = any(b[0] <= a[0] and a[1] <= b[1] and a != b for a, b in hulls)
        found.append([most, float(inside), float(around)])
    return found


_MENTIONS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 6), st.sampled_from("XY")), max_size=6, unique=True
).map(lambda listed: [mention(start, start + length, kind) for start, length, kind in listed])


@given(st.lists(st.tuples(_MENTIONS, _MENTIONS), min_size=2, max_size=3))
def test_rivals_are_those_of_a_plain_loop(said: list[tuple[list[Mention], list[Mention]]]) -> None:
    systems = [
        System(name=str(at), mentions={"d": one, "e": two}) for at, (one, two) in enumerate(said)
    ]
    votes = align(systems)
    if len(votes.document):
        assert features_of(votes, types=("X", "Y"))[:, -3:] == pytest.approx(
            np.array(_rivals(votes))
        )


def test_it_is_better_than_union_and_majority_on_documents_that_it_did_not_see() -> None:
    chance = np.random.default_rng(3)
    gold, systems = random_systems(chance)
    fitted = fit_agreement(align(systems), gold)
    others, unseen = random_systems(chance)
    votes = align(unseen)
    kept = fitted.kept(votes)
    union = {i: [m for one in unseen for m in one.mentions[i]] for i in others}
    majority = {
        i: [m for m in of if sum(m.spans in {o.spans for o in s.mentions[i]} for s in unseen) > 1]
        for i, of in union.items()
    }
    assert f1(kept, others) > max(f1(union, others), f1(majority, others)) + 0.02
    assert f1(kept, others) == pytest.approx(fitted.unseen_f1, abs=0.05)
    assert all(fitted.threshold <= (m.score or 0) <= 1 for of in kept.values() for m in of)


def test_the_same_arguments_give_the_same_filter() -> None:
    gold, systems = random_systems(np.random.default_rng(4), documents=12)
    one, two = (fit_agreement(align(systems), gold) for _ in range(2))
    assert one.regression.weights.tolist() == two.regression.weights.tolist()
    assert (one.threshold, one.penalty) == (two.threshold, two.penalty)


def test_what_cannot_be_fitted_is_refused() -> None:
    gold, systems = random_systems(np.random.default_rng(5), documents=6)
    votes = align(systems)
    with pytest.raises(UsageError, match="two folds"):
        fit_agreement(votes, gold, folds=1)
    with pytest.raises(UsageError, match="penalties"):
        fit_agreement(votes, gold, penalties=(0.0,))
    with pytest.raises(InputError, match="6 documents for 7 folds"):
        fit_agreement(votes, gold, folds=7)
    with pytest.raises(InputError, match="all right or all wrong"):
        fit_agreement(votes, {})
    fitted = fit_agreement(votes, gold)
    with pytest.raises(UsageError, match="same systems"):
        fitted.kept(align(systems[:2]))
