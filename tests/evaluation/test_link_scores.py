"""Scores of links, counted by hand and by naive loops; intervals and tests, by drawing documents
one by one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import InputError
from fascicle.evaluation.calibration.reliability import (
    expected_calibration_error,
    reliability_curve,
)
from fascicle.evaluation.link_report import LinkSystem, links_report
from fascicle.evaluation.link_scores import (
    ALONE,
    CALIBRATION,
    FIGURES,
    LinkCase,
    LinkScores,
    link_difference,
    link_error,
    link_intervals,
    score_links,
)
from fascicle.evaluation.uncertainty.intervals import draw_documents

DOCUMENTS = ("1", "2", "3", "4")


class Concepts:
    """A:2 is below A:1; G:1 and G:2 are of two species."""

    def taxon(self, curie: str) -> str:
        return curie[-1] if curie.startswith("G") else ""

    def ancestors(self, curie: str) -> Collection[str]:
        return {"A:1"} if curie == "A:2" else ()

    def label(self, curie: str) -> str:
        return ""


def case(gold: str, *parts: str, known: bool = True, **others: object) -> LinkCase:
    """Gold and the candidates of each part, with blanks between CURIEs; the first of each part
    is the answer.
    """
    ranked = tuple(tuple(part.split()) for part in parts)
    settings = {
        "answer": frozenset(one[0] for one in ranked if one),
        "surface": "name",
        "document": "1",
        **others,
    }
    return LinkCase(type="T", gold=frozenset(gold.split()), parts=ranked, known=known, **settings)  # type: ignore[arg-type]


def scored(cases: Sequence[LinkCase]) -> LinkScores:
    return score_links(cases, DOCUMENTS, Concepts())


def test_ranks_and_sets() -> None:
    found = scored(
        [
            case("A:1", "A:1 A:2"),
            case("A:1", "A:2 A:1"),
            case("A:1 A:2", "A:1", "A:2"),
            case("A:1 A:2", "A:1", "A:3 A:2"),
            case("A:1", "A:1", "A:2"),
            case("A:9", known=False),
            case("", "A:1"),
            case(""),
        ]
    )
    assert [found.counts(f"recall@{rank}") for rank in (1, 5, 20)] == [(2, 6), (5, 6), (5, 6)]
    assert found.counts("half") == (2, 6)
    assert found.counts("ceiling") == (5, 6)
    assert found.counts("precision") == (2, 6)
    assert found.counts("recall") == (2, 6)
    assert found.counts("f1") == (4, 12)
    assert found.counts("nil_precision") == (2, 2)
    assert found.counts("nil_recall") == (2, 3)


def test_mentions_of_one_side_are_wrong_and_are_no_nil() -> None:
    found = scored(
        [
            case("A:1", where="missed"),
            case("", where="missed"),
            case("", "A:1", where="spurious"),
            case("", where="spurious"),
        ]
    )
    assert found.counts("recall") == (0, 1)
    assert found.counts("precision") == (0, 1)
    assert found.counts("nil_precision") == found.counts("nil_recall") == (0, 0)
    assert found.value("nil_recall") is None
    assert {error: count.wrong for error, count in found.errors.items()} == {
        "not recognised": 1,
        "no such mention": 1,
    }


@pytest.mark.parametrize(
    ("one", "error"),
    [
        (case("A:1", "A:1"), None),
        (case(""), None),
        (case("", where="spurious"), None),
        (case("", "A:1", where="spurious"), "no such mention"),
        (case("A:1", where="missed"), "not recognised"),
        (case("", "A:1"), "no concept"),
        (case("A:9", "A:1", known=False), "not in the vocabulary"),
        (case("A:1 A:2", "A:1"), "composite"),
        (case("A:1", "A:1", "A:2"), "composite"),
        (case("A:3"), "no answer"),
        (case("A:3", "A:3 A:1", answer=frozenset()), "no answer"),
        (case("A:3", "A:1 A:2"), "other concept"),
        (case("G:1", "G:2 G:1"), "wrong species"),
        (case("A:2", "A:1 A:2"), "too general"),
        (case("A:1", "A:2"), "too specific"),
        (case("A:3", "A:1 A:3", surface="M-S"), "ambiguous abbreviation"),
        (case("A:3", "A:1 A:3"), "other concept"),
    ],
)
def test_errors_have_a_class(one: LinkCase, error: str | None) -> None:
    assert link_error(one, Concepts()) == error
    among = bool(one.gold) and one.gold <= {curie for part in one.parts for curie in part}
    assert scored([one]).errors == ({error: (1, among)} if error else {})


def test_tiers_have_precision_and_coverage() -> None:
    found = scored(
        [
            case("A:1", "A:1", tier="exact", alone=True),
            case("A:1", "A:2", tier="exact"),
            case("A:1", "A:1", tier="near"),
            case("A:1"),
            case("", "A:1", tier="near", where="spurious"),
        ]
    )
    assert {tier: table.sum(axis=0).tolist() for tier, table in found.tiers.items()} == {
        "exact": [1, 2, 4],
        f"exact{ALONE}": [1, 1, 4],
        "near": [1, 2, 4],
    }


CURIES = st.sampled_from(["A:1", "A:2", "A:3", "G:1"])
CASES = st.lists(
    st.builds(
        lambda document, gold, parts, where, known, score, answered: LinkCase(
            document=document,
            type="T",
            surface="name",
            gold=frozenset() if where == "spurious" else gold,
            parts=() if where == "missed" else parts,
            answer=frozenset(part[0] for part in parts)
            if answered and where != "missed"
            else frozenset(),
            score=score,
            known=known,
            where=where,
        ),
        st.sampled_from(DOCUMENTS),
        st.frozensets(CURIES, max_size=2),
        st.lists(st.lists(CURIES, min_size=1, max_size=3, unique=True).map(tuple), max_size=2).map(
            tuple
        ),
        st.sampled_from(["matched", "matched", "missed", "spurious"]),
        st.booleans(),
        st.none() | st.sampled_from([0.0, 0.1, 0.35, 0.5, 0.77, 1.0]),
        st.booleans(),
    ),
    max_size=12,
)


def naive(cases: Sequence[LinkCase], name: str) -> float | None:
    """A figure by its definition, over lists."""
    gold = [one for one in cases if one.gold]
    answered = [one for one in cases if one.answer]
    right = [one for one in gold if one.answer == one.gold]
    nil = [one for one in cases if one.where == "matched" and not one.answer]
    none = [one for one in cases if one.where == "matched" and (not one.gold or not one.known)]
    pairs = [
        {(one.document, curie) for one in cases for curie in getattr(one, side)}
        for side in ("gold", "answer")
    ]
    both = pairs[0] & pairs[1]
    firsts = {id(one): {part[0] for part in one.parts} for one in gold}
    shares: dict[str, tuple[float, float]] = {
        "recall@1": (sum(firsts[id(one)] == one.gold for one in gold), len(gold)),
        **{
            f"recall@{rank}": (
                sum(
                    all(any(curie in part[:rank] for part in one.parts) for curie in one.gold)
                    for one in gold
                ),
                len(gold),
            )
            for rank in (5, 20)
        },
        "half": (
            sum(firsts[id(one)] != one.gold and bool(firsts[id(one)] & one.gold) for one in gold),
            len(gold),
        ),
        "ceiling": (sum(one.known for one in gold), len(gold)),
        "precision": (len(right), len(answered)),
        "recall": (len(right), len(gold)),
        "f1": (len(right), (len(answered) + len(gold)) / 2),
        "concept_precision": (len(both), len(pairs[1])),
        "concept_recall": (len(both), len(pairs[0])),
        "concept_f1": (len(both), (len(pairs[0]) + len(pairs[1])) / 2),
        "nil_precision": (sum(one in none for one in nil), len(nil)),
        "nil_recall": (sum(not one.answer for one in none), len(none)),
    }
    part, whole = shares[name]
    return part / whole if whole else None


@given(CASES)
def test_figures_equal_loops(cases: list[LinkCase]) -> None:
    found = scored(cases)
    for name in FIGURES:
        assert found.value(name) == (
            None if (value := naive(cases, name)) is None else pytest.approx(value)
        ), name
    told = [(one.score, bool(one.gold) and one.answer == one.gold) for one in cases if one.answer]
    known = [(score, right) for score, right in told if score is not None]
    curve = reliability_curve(
        np.array([one for one, _ in known], float), np.array([one for _, one in known], bool)
    )
    expected = expected_calibration_error(curve)
    assert found.calibration_error == (None if expected is None else pytest.approx(expected))


@given(CASES)
def test_intervals_equal_drawing_the_documents_themselves(cases: list[LinkCase]) -> None:
    draws = [
        row
        for block in draw_documents(len(DOCUMENTS), resamples=20, seed=3)
        for row in block.tolist()
    ]
    values: dict[str, list[float]] = {name: [] for name in (*FIGURES, CALIBRATION)}
    for draw in draws:
        again = [
            LinkCase(
                **{**{f: getattr(one, f) for f in one.__struct_fields__}, "document": f"{place}"}
            )
            for place, row in enumerate(draw)
            for one in cases
            if one.document == DOCUMENTS[row]
        ]
        scores = score_links(again, [f"{place}" for place in range(len(draw))], Concepts())
        for name in FIGURES:
            values[name].append(np.nan if (value := scores.value(name)) is None else value)
        values[CALIBRATION].append(np.nan if (value := scores.calibration_error) is None else value)
    for name, interval in link_intervals(scored(cases), resamples=20, seed=3).items():
        defined = [value for value in values[name] if not np.isnan(value)]
        assert interval.undefined == 20 - len(defined)
        if defined:
            assert (interval.low, interval.high) == pytest.approx(
                tuple(np.quantile(defined, [0.025, 0.975]))
            )


def test_two_systems_are_compared_on_the_same_documents() -> None:
    good = [case("A:1", "A:1", document=one) for one in DOCUMENTS]
    bad = [case("A:1", "A:2" if one == "1" else "A:1", document=one) for one in DOCUMENTS]
    found = link_difference(scored(good), scored(bad), "recall@1", resamples=2000)
    assert found.estimate == pytest.approx(0.25)
    assert found.low == 0
    gaps = [
        sum(1 if coin else -1 for coin in toss[:1]) / 4 for toss in product((False, True), repeat=4)
    ]
    exact = sum(abs(gap) >= 0.25 for gap in gaps) / len(gaps)
    assert found.p_value == pytest.approx(exact, abs=0.05)
    assert link_difference(scored(good), scored(good), "f1").p_value == 1
    with pytest.raises(InputError, match="same documents"):
        link_difference(scored(good), score_links(good, [*DOCUMENTS, "5"], Concepts()), "f1")
    with pytest.raises(InputError, match="something to count"):
        link_difference(scored(good), scored([]), "f1")


@given(CASES, CASES)
def test_the_report_is_json_and_its_parts_agree(
    first: list[LinkCase], second: list[LinkCase]
) -> None:
    systems = [LinkSystem(name=name, cases=cases) for name, cases in (("a", first), ("b", second))]
    report = links_report(
        systems, documents=DOCUMENTS, concepts=Concepts(), is_trained=True, resamples=10
    )
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    for system, cases in zip(report["systems"], (first, second), strict=True):
        both = [
            system["subsets"][name]["recall@1"]["whole"]
            for name in ("seen_surfaces", "unseen_surfaces")
        ]
        assert sum(both) == sum(bool(one.gold) for one in cases)
        for error, count in system["errors"].items():
            assert 1 <= len(system["examples"][error]) <= count["wrong"]
        for row in system["figures"].values():
            assert (row["value"] is None) == ("undefined" in row)
    for row in report["differences"]:
        if row["difference"] is not None:
            assert row["difference"]["p_holm"] >= row["difference"]["p_value"]
