"""Order of concepts against major headings: values by hand, and by counting all pairs."""

from __future__ import annotations

import itertools
import random

import pytest
from tests.support.citations import linked

from fascicle.core.document import Document
from fascicle.graph.aboutness import (
    Topics,
    area_under_curve,
    choose_weights,
    major_headings,
    precision_at,
    rank_scores,
    read_topics,
)


def test_headings_are_major_by_themselves_or_a_qualifier() -> None:
    document = Document(id="1", text="", meta={"mesh": "D1|D2*|D3/Q1/Q2*|D4/Q1"})
    assert major_headings(document) == {"MESH:D2", "MESH:D3"}
    assert major_headings(Document(id="1", text="")) == frozenset()


def test_descriptors_are_counted_by_section() -> None:
    headings = {"1": frozenset({"MESH:D001249", "MESH:D003920"}), "2": frozenset[str]()}
    (topics,) = read_topics([linked("1"), linked("2"), linked("3")], headings)
    assert topics.mentions == ({"abstract": 2}, {"title": 1}, {"abstract": 1})
    assert topics.is_major == (False, True, False)  # as in the table of concepts
    assert topics.missing == 1
    assert rank_scores(topics, {"title": 3.0, "abstract": 2.0}) == [4.0, 3.0, 2.0]


def test_the_area_is_the_share_of_pairs_in_order() -> None:
    assert area_under_curve([3, 4, 2], [True, False, False]) == 0.5
    assert area_under_curve([4, 4, 2], [True, False, False]) == 0.75
    chance = random.Random(0)
    for _ in range(50):
        scores = [chance.randint(0, 4) for _ in range(9)]
        major = [True, False, *(chance.random() < 0.5 for _ in range(7))]
        pairs = [
            (scores[a] > scores[b]) + (scores[a] == scores[b]) / 2
            for a, b in itertools.product(range(9), repeat=2)
            if major[a] and not major[b]
        ]
        assert area_under_curve(scores, major) == pytest.approx(sum(pairs) / len(pairs))


def test_the_precision_of_the_first_ones() -> None:
    assert precision_at([1, 2, 3, 4, 5, 6], [True, *[False] * 4, True]) == 0.2
    assert precision_at([1, 1, 1], [True, False, False], first=1) == 1.0  # mentioned first
    assert precision_at([1, 2], [True, False]) == 0.5


def test_weights_are_chosen_where_they_help() -> None:
    # what is major stands in the conclusions, and never in the title
    topics = [Topics(({"title": 1}, {"abstract-conclusions": 1}), (False, True), 0)] * 4
    weights = choose_weights(topics, {"title": 3.0, "abstract": 2.0})
    assert area_under_curve(rank_scores(topics[0], weights), topics[0].is_major) == 1.0
    kept = {"title": 3.0, "abstract": 2.0}
    right = [Topics(({"title": 1}, {"abstract": 1}), (True, False), 0)]
    assert choose_weights(right, kept) == kept
