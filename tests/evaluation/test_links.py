"""Scores of links, counted by hand and by naive loops."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.evaluation.links import LinkCase, concept_counts, link_error, score_links


class Concepts:
    """A:2 is below A:1; G:1 and G:2 are of two species."""

    def taxon(self, curie: str) -> str:
        return curie[-1] if curie.startswith("G") else ""

    def ancestors(self, curie: str) -> Collection[str]:
        return {"A:1"} if curie == "A:2" else ()


def case(gold: str, *parts: str, known: bool = True, **others: object) -> LinkCase:
    """Gold and the candidates of each part, with blanks between CURIEs; the first of each part is the answer."""
    ranked = tuple(tuple(part.split()) for part in parts)
    settings = {"answer": frozenset(one[0] for one in ranked if one), "surface": "name", "document": "1", **others}
    return LinkCase(type="T", gold=frozenset(gold.split()), parts=ranked, known=known, **settings)  # type: ignore[arg-type]


def test_ranks_and_sets() -> None:
    cases = [
        case("A:1", "A:1 A:2"),
        case("A:1", "A:2 A:1"),
        case("A:1 A:2", "A:1", "A:2"),
        case("A:1 A:2", "A:1", "A:3 A:2"),
        case("A:1", "A:1", "A:2"),
        case("A:9", known=False),
        case("", "A:1"),
        case(""),
    ]
    found = score_links(cases, Concepts())
    assert {rank: tuple(share) for rank, share in found.recall.items()} == {1: (2, 6), 5: (5, 6), 20: (5, 6)}
    assert tuple(found.half) == (2, 6)
    assert tuple(found.ceiling) == (5, 6)
    assert tuple(found.precision) == (2, 6)
    assert tuple(found.answered) == (2, 6)
    assert tuple(found.nil) == (2, 2)


@pytest.mark.parametrize(
    ("one", "error"),
    [
        (case("A:1", "A:1"), None),
        (case("", known=True), None),
        (case("", "A:1"), "no concept"),
        (case("A:9", "A:1", known=False), "not in the vocabulary"),
        (case("A:1 A:2", "A:1"), "composite"),
        (case("A:1", "A:1", "A:2"), "composite"),
        (case("A:3", "A:1 A:2"), "not found"),
        (case("A:3"), "not found"),
        (case("G:1", "G:2 G:1"), "wrong species"),
        (case("A:2", "A:1 A:2"), "too general"),
        (case("A:1", "A:2 A:1"), "too specific"),
        (case("A:3", "A:1 A:3", surface="M-S"), "ambiguous abbreviation"),
        (case("A:3", "A:1 A:3"), "other concept"),
    ],
)
def test_errors_have_a_class(one: LinkCase, error: str | None) -> None:
    assert link_error(one, Concepts()) == error
    assert score_links([one], Concepts()).errors == ({error: 1} if error else {})


def test_tiers_and_probabilities() -> None:
    cases = [
        case("A:1", "A:1", tier="exact", score=0.95),
        case("A:1", "A:1", tier="exact", score=0.91),
        case("A:1", "A:2", tier="exact", score=1.0),
        case("A:1", "A:1", tier="near", score=0.3),
        case("A:1", "A:2", tier="near", score=None),
    ]
    found = score_links(cases, Concepts())
    assert {tier: tuple(share) for tier, share in found.tiers.items()} == {"exact": (2, 3), "near": (1, 2)}
    assert found.calibration_error == pytest.approx((abs(0.95 + 0.91 + 1.0 - 2) + abs(0.3 - 1)) / 4)
    assert score_links(cases[4:], Concepts()).calibration_error is None


def test_some_cases_alone() -> None:
    cases = [case("A:1", "A:1", seen_surface=True), case("A:1", "A:2")]
    assert tuple(score_links(cases, Concepts(), kept=lambda one: not one.seen_surface).recall[1]) == (0, 1)


sets = st.dictionaries(st.sampled_from("123"), st.sets(st.sampled_from("abcd")))


@given(sets, sets)
def test_concepts_of_documents(gold: dict[str, set[str]], answers: dict[str, set[str]]) -> None:
    first = {(document, one) for document, several in gold.items() for one in several}
    second = {(document, one) for document, several in answers.items() for one in several}
    assert concept_counts(gold, answers) == (len(first & second), len(second - first), len(first - second))
