"""The packages seqeval 1.2.2 and nervaluate 1.2.1, beside the scores of Fascicle."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from nervaluate import Evaluator
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2
from tests.formats.oracle.drafts import Draft, Taste
from tests.reality.crossing import document, made, tags

import fascicle

TASTE = Taste(empty=False, flat=True)


def half(draft: Draft, random: Random) -> Draft:
    """A prediction that lacks some mentions, and has others with another type."""
    marks = [one for one in draft.marks if random.random() < 0.7]
    return replace(
        draft,
        marks=tuple(
            replace(one, type="Disease") if random.random() < 0.2 else one for one in marks
        ),
    )


def test_seqeval_gives_the_same_scores() -> None:
    for seed, drafts in made(TASTE, name="scores"):
        random = Random(seed)
        predicted = [half(one, random) for one in drafts]
        gold, answers = [list(map(tags, several)) for several in (drafts, predicted)]
        if not any(one.marks for one in (*drafts, *predicted)):
            continue
        theirs = [
            measure(gold, answers, mode="strict", scheme=IOB2, zero_division=0)
            for measure in (precision_score, recall_score, f1_score)
        ]
        scores = fascicle.score(
            *(fascicle.layers(document(one, "") for one in side) for side in (drafts, predicted))
        )
        ours = scores.counts.rates()
        assert [round(one or 0.0, 9) for one in (ours.precision, ours.recall, ours.f1)] == [
            round(float(one), 9) for one in theirs
        ]


def test_seqeval_forgives_a_name_without_a_beginning() -> None:
    assert f1_score([["O", "B-X", "I-X"]], [["O", "I-X", "I-X"]]) == 1.0
    assert f1_score([["O", "B-X", "I-X"]], [["O", "I-X", "I-X"]], mode="strict", scheme=IOB2) == 0.0


def span(start: int, end: int) -> dict[str, object]:
    """A mention for nervaluate."""
    return {"label": "X", "start": start, "end": end}


def test_neighbours_overlap_for_nervaluate() -> None:
    """Its ends are inclusive, so offsets of characters, elsewhere half-open, make neighbours
    overlap.
    """
    results = Evaluator([[span(0, 7)]], [[span(7, 14)]], tags=["X"], loader="dict").evaluate()
    assert results["overall"]["partial"].partial == 1


def test_the_order_of_predictions_counts_for_nervaluate() -> None:
    wide, exact = span(0, 20), span(0, 7)
    scores = [
        Evaluator([[exact]], [answers], tags=["X"], loader="dict").evaluate()["overall"]["exact"]
        for answers in ([wide, exact], [exact, wide])
    ]
    assert [one.correct for one in scores] == [0, 1]
