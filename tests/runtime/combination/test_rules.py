"""Rules against brute force on sets, and the laws that hold between them."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Link, Mention, identities
from fascicle.errors import UsageError
from fascicle.runtime.combination.align import System, Votes, align
from fascicle.runtime.combination.rules import (
    RULES,
    Rule,
    RuleRequest,
    combine,
    k_of_n,
    majority,
    union,
    weighted,
)
from fascicle.settings.recipes.ensemble import RuleName

Said = dict[str, list[Mention]]
SPANS = st.sampled_from([((0, 2),), ((1, 4),), ((0, 1), (3, 4))])
SCORES = st.none() | st.floats(0, 1)
MENTIONS = st.builds(
    Mention, SPANS, st.sampled_from("XY"), score=SCORES, source=st.sampled_from("pq")
)
SAID = st.dictionaries(st.sampled_from("abc"), st.lists(MENTIONS, max_size=4), min_size=1)
SEVERAL = st.lists(SAID, min_size=2, max_size=5)
WEIGHTS = st.decimals(0, 3, places=2)


def voted(said: list[Said], *, missing: Any = "auto") -> Votes:
    named = [System(name=f"s{n}", mentions={"a": [], **one}) for n, one in enumerate(said)]
    return align(named, missing=missing)


def kept(said: list[Said], rule: Rule, *, missing: Any = "auto") -> set[Any]:
    combined = combine(voted(said, missing=missing), rule)
    return {identity for i, mentions in combined.items() for identity in identities(i, mentions)}


def said_by(said: list[Said]) -> list[set[Any]]:
    return [
        {identity for i, mentions in one.items() for identity in identities(i, mentions)}
        for one in said
    ]


def brute(
    said: list[Said], rule: str, *, missing: str, k: int = 0, weights: Any = (), share: Any = "0.5"
) -> set[Any]:
    """The rules written out, tuple by tuple, with plain loops."""
    sets = said_by(said)
    found = set()
    for identity in set().union(*sets):
        voters = [
            n for n, one in enumerate(said) if missing == "empty" or identity[0] in {"a", *one}
        ]
        yes = [n for n in voters if identity in sets[n]]
        total = (
            sum((Fraction(str(weights[n])) for n in voters), Fraction(0))
            if weights
            else Fraction(0)
        )
        mine = (
            sum((Fraction(str(weights[n])) for n in yes), Fraction(0)) if weights else Fraction(0)
        )
        if {
            "union": len(yes) > 0,
            "majority": len(yes) > len(voters) // 2,
            "kofn": len(yes) >= k,
            "weighted": mine > Fraction(share) * total,
        }[rule]:
            found.add(identity)
    return found


@given(SEVERAL, st.sampled_from(["auto", "no-vote", "empty"]), st.data())
def test_every_rule_equals_brute_force(said: list[Said], missing: str, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(said)))
    weights = [str(w) for w in data.draw(st.lists(WEIGHTS, min_size=len(said), max_size=len(said)))]
    share = str(data.draw(st.decimals(0, "0.99", places=2)))
    for rule, name in ((union(), "union"), (majority(), "majority"), (k_of_n(k), "kofn")):
        assert kept(said, rule, missing=missing) == brute(said, name, missing=missing, k=k)
    if any(float(weight) for weight in weights):
        rule = weighted(weights, threshold=share)
        found = kept(said, rule, missing=missing)
        assert found == brute(said, "weighted", missing=missing, weights=weights, share=share)


@given(SEVERAL, st.randoms(use_true_random=False), st.sampled_from(["auto", "no-vote", "empty"]))
def test_the_order_of_the_systems_changes_nothing(
    said: list[Said], chance: random.Random, missing: Any
) -> None:
    weights = [0.1 * (n + 1) for n in range(len(said))]
    named = [System(name=f"s{n}", mentions={"a": [], **one}) for n, one in enumerate(said)]
    order = list(range(len(said)))
    chance.shuffle(order)
    shuffled = [named[n] for n in order]
    for rule, other in [
        *((rule, rule) for rule in (union(), majority(), k_of_n(2))),
        (weighted(weights), weighted([weights[n] for n in order])),
    ]:
        combined = combine(align(named, missing=missing), rule)
        assert combined == combine(align(shuffled, missing=missing), other)
        # also the order of the documents, and so of the bytes of a file
        assert list(combined) == sorted(combined)


def test_the_score_is_the_mean_of_those_that_were_given() -> None:
    def scored(*scores: float | None) -> float | None:
        said: list[Said] = [
            {"a": [Mention(((0, 2),), "X", score=score, source="q")]} for score in scores
        ]
        (mention,) = combine(voted([*said, {}]), union())["a"]
        assert (mention.source, mention.attributes) == ("union", ())
        return mention.score

    assert scored(0.5, None, 1.0) == 0.75
    assert scored(None, None) is None
    assert scored(0.0, None) == 0.0
    assert scored(0.1, 0.2, 0.3) == scored(0.3, 0.1, 0.2) == scored(0.2, 0.3, 0.1)
    assert scored(1.0, 1.0, 1.0) == 1.0


def test_links_are_those_of_all() -> None:
    def said(*links: Link) -> Said:
        return {"a": [Mention(((0, 2),), "X", links=links, attributes=(("text", "secret"),))]}

    first = said(Link(id="D1", ontology="MESH", score=0.5), Link(id="D2", ontology="MESH"))
    second = said(
        Link(id="D1", ontology="MESH", name="pain", score=1.0), Link(id="D1", ontology="OTHER")
    )
    expected = (
        Link(id="D1", ontology="MESH", name="pain", score=0.75),
        Link(id="D2", ontology="MESH"),
        Link(id="D1", ontology="OTHER"),
    )
    for order in ([first, second], [second, first]):
        (mention,) = combine(voted(order), union())["a"]
        assert (mention.links, mention.attributes) == (expected, ())


def test_weights_are_added_exactly() -> None:
    """In binary floating point 0.1 + 0.2 exceeds 0.3."""
    mention = Mention(((0, 2),), "X")
    said: list[Said] = [{"a": [mention]}, {"a": [mention]}, {"a": []}]
    assert not kept(said, weighted([0.1, 0.2, 0.3]))
    assert not kept(said, weighted(["0.1", "0.2", "0.3"]))
    assert kept(said, weighted(["0.1", "0.2000000001", "0.3"]))
    assert kept(said, weighted([1e-18, 10**17, 10**17]))  # beyond 64 bits
    assert not kept(said, weighted([0, 10**17, 10**17]))


def test_rules_over_arrays() -> None:
    said = np.array([[True, False, False], [True, True, False]])
    voters = np.ones_like(said)
    assert majority().keeps(said, voters).tolist() == [False, True]
    assert majority().keeps(said[:0], voters[:0]).tolist() == []
    assert [
        rule.is_vote for rule in (union(), majority(), k_of_n(1), k_of_n(2), weighted([1, 2]))
    ] == [
        False,
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: k_of_n(0), "0 votes were asked for"),
        (lambda: k_of_n(4), "4 of 3 systems were to agree; give a number of votes from 1 to 3"),
        (lambda: weighted([1, 2]), "2 weights were given for 3 systems"),
        (lambda: weighted([0, 0, 0]), "no weight above 0"),
        (lambda: weighted([]), "no weight above 0"),
        (lambda: weighted([1, -1, 1]), "the weight '-1' is not allowed"),
        (lambda: weighted([1, float("nan"), 1]), "the weight 'nan'"),
        (lambda: weighted([1, float("inf"), 1]), "the weight 'inf'"),
        (lambda: weighted(["1", "", "1"]), "the weight ''"),
        (lambda: weighted(["1", "1/0", "1"]), "the weight '1/0'"),
        (lambda: weighted(["1", "1e99999999", "1"]), "the weight '1e99999999'"),
        (lambda: weighted([1, 1, 1], threshold=1), "the threshold 1 is not allowed"),
        (lambda: weighted([1, 1, 1], threshold="-0.1"), "the threshold '-0.1'"),
    ],
)
def test_what_no_rule_can_be(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        combine(voted([{}, {}, {}]), make())


def test_the_table_of_rules_has_every_name_that_a_manifest_may_have() -> None:
    assert tuple(RULES) == get_args(RuleName)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"name": "union", "k": 2}, "k"),
        ({"name": "majority", "threshold": "0.6"}, "threshold"),
        ({"name": "majority", "weights": ("1", "1")}, "weights"),
        ({"name": "weighted", "weights": ("1", "1"), "filter": "folder"}, "filter"),
        ({"name": "kofn"}, "k"),
        ({"name": "weighted"}, "weights"),
        ({"name": "meta"}, "filter"),
        ({"name": "unions"}, "unions"),
    ],
)
def test_a_request_refuses_what_its_rule_does_not_take(
    arguments: dict[str, Any], named: str
) -> None:
    with pytest.raises(UsageError, match=rf"\b{named}\b"):
        RuleRequest(**arguments)


def test_a_request_makes_its_rule() -> None:
    assert RuleRequest(name="kofn", k=2).rule() == k_of_n(2)
    weights = ("1", "3")
    assert RuleRequest(name="weighted", weights=weights).rule() == weighted(weights)
    assert RuleRequest(name="weighted", weights=weights, threshold="0").rule() == weighted(
        weights, threshold=0
    )
    assert RuleRequest(name="meta", filter="folder", threshold="0.9").rule() == union()
