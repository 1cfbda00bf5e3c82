"""Limits of the weights of rankers, and answers where no candidate is probable enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.core.mention import ABSENT, AMBIGUOUS
from fascicle.linking.features import FEATURES, RARE_SHORT_FORM
from fascicle.linking.linker import Linker
from fascicle.linking.logit import ChoiceSets, probabilities
from fascicle.linking.opening import find
from fascicle.linking.weights import RARE_AT_MOST, fit, fit_limited, limited

_PRIOR, _SHARE = FEATURES.index("prior"), FEATURES.index("share of prior")
_WEIGHT = st.floats(-4, 4)


def of_priors(weights: dict[str, float], priors: list[float]) -> float:
    """Probability of the first candidate of some, which differ in nothing but their priors."""
    features = np.zeros((len(priors), len(FEATURES)))
    features[:, _PRIOR] = np.log(priors)
    features[:, _SHARE] = np.log(np.array(priors) / max(priors))
    vector = np.array([weights.get(name, 0.0) for name in FEATURES])
    return float(
        probabilities(ChoiceSets(np.zeros(len(priors), dtype=np.int64), features, 1), vector)[0][0]
    )


@given(_WEIGHT, _WEIGHT, st.lists(st.floats(1e-3, 1), min_size=1, max_size=4), st.floats(1, 100))
def test_a_higher_prior_never_lowers_the_probability(
    prior: float, share: float, priors: list[float], times: float
) -> None:
    weights = limited({"prior": prior, "share of prior": share})
    raised = [min(1.0, priors[0] * times), *priors[1:]]
    assert of_priors(weights, raised) >= of_priors(weights, priors) - 1e-12


def test_every_name_of_the_shipped_pack_gains_by_its_prior() -> None:
    linker = find("basic").opened()
    assert isinstance(linker, Linker)
    priors = np.unique(np.maximum(np.asarray(linker.pack.active.prior, dtype=np.float64), 1e-4))
    features = np.zeros((len(priors), len(FEATURES)))
    features[:, _PRIOR] = np.log(priors)
    for ranker in linker.rankers.values():
        vector = np.array([ranker.weights.get(name, 0.0) for name in FEATURES])
        found, _ = probabilities(ChoiceSets(np.arange(len(priors)), features, len(priors)), vector)
        assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_is_the_best_within_the_limits(seed: int) -> None:
    generator = np.random.default_rng(seed)
    choices = ChoiceSets(
        np.sort(generator.integers(0, 80, 200)), generator.normal(size=(200, len(FEATURES))), 80
    )
    right = generator.random(200) < 0.3
    weights = dict(
        zip(FEATURES, fit_limited(choices, right, FEATURES, penalty=1.0).tolist(), strict=True)
    )
    assert weights == pytest.approx(limited(weights))
    assert weights[RARE_SHORT_FORM] == RARE_AT_MOST
    bound = np.full(len(FEATURES), -0.1), np.full(len(FEATURES), 0.1)
    inside = fit(choices, right, lowest=bound[0], highest=bound[1])
    assert np.abs(inside).max() <= 0.1
    wide = fit(choices, right, lowest=-50.0, highest=50.0)
    np.testing.assert_allclose(wide, fit(choices, right))


def answered(name: str, kind: str) -> tuple[str, str, float | None]:
    """CURIE, tier and probability of the first link of a name in a sentence that says nothing
    else.
    """
    text = Document(
        id="1",
        text=f"In this group, {name} was noted.",
        mentions=(Mention(((15, 15 + len(name)),), kind),),
    )
    (patch,) = find("basic").opened().predict([text])
    ((_, links),) = patch.links
    return links[0].curie, links[0].tier, links[0].score


@pytest.mark.parametrize(
    ("name", "kind", "rare"),
    [
        ("MS", "Disease", "MESH:D023981"),
        ("MM", "Disease", "MESH:C537480"),
        ("CAP", "Disease", "MESH:D056587"),
        ("DA", "Chemical", "MESH:C020974"),
        ("SABA", "Chemical", "MESH:C020937"),
        ("DPA", "Chemical", "MESH:C046961"),
    ],
)
def test_an_undefined_short_form_never_gets_a_rare_meaning(name: str, kind: str, rare: str) -> None:
    assert answered(name, kind)[0] != rare


@pytest.mark.parametrize(
    ("name", "kind"), [("SLE", "Disease"), ("AF", "Disease"), ("ATP", "Chemical")]
)
def test_a_frequent_short_form_is_still_linked(name: str, kind: str) -> None:
    assert answered(name, kind)[0].startswith("MESH:D")


def test_several_are_the_answer_where_one_of_them_is_meant() -> None:
    _, tier, score = answered("p40", "Gene")
    assert tier == AMBIGUOUS
    assert score is not None
    assert 0 < score < 0.5


def test_no_candidate_is_told_apart_from_none_that_fits() -> None:
    assert answered("xyzzy", "Disease") == ("", ABSENT, None)
    curie, tier, score = answered("DPA", "Chemical")
    assert (curie, tier) == ("", "")
    assert score is not None
    assert 0.5 < score < 1
