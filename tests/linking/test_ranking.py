"""The ranker, against naive loops, finite differences and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from fascicle.linking.logit import ChoiceSets, probabilities
from fascicle.linking.weights import fit, fit_loss


def some(
    seed: int, *, mentions: int = 40, features: int = 4
) -> tuple[ChoiceSets, NDArray[np.bool_]]:
    generator = np.random.default_rng(seed)
    owners = np.sort(generator.integers(0, mentions, 3 * mentions))
    values = generator.normal(size=(len(owners), features))
    return ChoiceSets(owners, values, mentions), generator.random(len(owners)) < 0.3


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_those_of_a_naive_loop(seed: int) -> None:
    choices, _ = some(seed)
    weights = np.random.default_rng(seed).normal(size=4) * 3
    found, none = probabilities(choices, weights)
    for mention in range(choices.mentions):
        own = np.flatnonzero(choices.owners == mention)
        powers = [math.exp(float(choices.features[row] @ weights)) for row in own]
        total = 1 + sum(powers)
        np.testing.assert_allclose(found[own], [power / total for power in powers])
        assert none[mention] == pytest.approx(1 / total)


def test_equal_candidates_are_equally_probable_wherever_they_stand() -> None:
    generator = np.random.default_rng(7)
    for count in range(2, 30):
        one = generator.normal(size=45)
        choices = ChoiceSets(np.arange(count), np.tile(one, (count, 1)), count)
        assert len(set(probabilities(choices, generator.normal(size=45))[0].tolist())) == 1


def test_large_scores_do_no_harm() -> None:
    choices = ChoiceSets(np.array([0, 0, 1]), np.array([[900.0], [-900.0], [-900.0]]), 3)
    found, none = probabilities(choices, np.ones(1))
    np.testing.assert_allclose(found, [1, 0, 0], atol=1e-300)
    np.testing.assert_allclose(none, [0, 1, 1])


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_finite_differences(seed: int) -> None:
    choices, right = some(seed)
    weights = np.random.default_rng(seed).normal(size=4)
    _, slope = fit_loss(choices, right, weights, 0.7)
    for at in range(4):
        step = np.zeros(4)
        step[at] = 1e-6
        above, below = (fit_loss(choices, right, weights + sign * step, 0.7)[0] for sign in (1, -1))
        assert slope[at] == pytest.approx((above - below) / 2e-6, rel=1e-5, abs=1e-6)


def test_one_candidate_each_is_logistic_regression() -> None:
    generator = np.random.default_rng(5)
    features = generator.normal(size=(300, 5))
    right = generator.random(300) < 1 / (1 + np.exp(-features @ np.array([2, -1, 0, 0.5, 1])))
    found = fit(ChoiceSets(np.arange(300), features, 300), right, penalty=2.0)
    other = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=1000).fit(
        features, right
    )
    np.testing.assert_allclose(found, other.coef_[0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_fit_is_a_place_without_slope(seed: int) -> None:
    choices, right = some(seed, mentions=200)
    weights = fit(choices, right, penalty=0.5)
    loss, slope = fit_loss(choices, right, weights, 0.5)
    np.testing.assert_allclose(slope, 0, atol=1e-2)
    generator = np.random.default_rng(seed)
    for _ in range(20):
        other = weights + generator.normal(size=4) * 0.1
        assert fit_loss(choices, right, other, 0.5)[0] > loss


def test_a_feature_that_parts_them_all_has_a_bounded_weight() -> None:
    choices = ChoiceSets(np.arange(50), np.where(np.arange(50) < 25, 1.0, -1.0)[:, None], 50)
    weights = fit(choices, np.arange(50) < 25)
    assert 1 < weights[0] < 10
