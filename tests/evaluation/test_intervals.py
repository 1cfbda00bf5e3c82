"""The bootstrap against a loop that does the same slowly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.scores import ZERO_RULES, Counts, Scores, ZeroRule, score
from fascicle.evaluation.uncertainty import intervals
from fascicle.evaluation.uncertainty.intervals import (
    HEADLINE,
    MEASURES,
    Interval,
    Measure,
    bootstrap,
    bootstrap_difference,
    bootstrap_f1,
)

from .strategies import Corpus, corpora, sides

COUNTS = st.lists(
    st.builds(Counts, tp=st.integers(0, 9), fp=st.integers(0, 9), fn=st.integers(0, 9)), min_size=1
)


def made(counts: list[Counts], zero_rule: ZeroRule = "zero") -> Scores:
    total = Counts(
        tp=sum(c.tp for c in counts), fp=sum(c.fp for c in counts), fn=sum(c.fn for c in counts)
    )
    by_document = {str(i): c for i, c in enumerate(counts)}
    return Scores(counts=total, by_type={}, by_document=by_document, zero_rule=zero_rule)


def naive_numbers(scores: Scores) -> dict[str, float]:
    """The headline numbers of scores; not a number without a denominator under the rule
    ``"zero"``.
    """
    counts, named = scores.counts, scores.zero_rule == "binder"
    there = {
        "micro_precision": (scores.micro.precision, counts.predicted),
        "micro_recall": (scores.micro.recall, counts.support),
        "micro_f1": (scores.micro.f1, counts.predicted + counts.support),
        "macro_f1": (scores.macro.f1, counts.support),
    }
    return {
        name: value if whole or named else float("nan") for name, (value, whole) in there.items()
    }


@given(corpora(at_most=3), st.sampled_from(list(ZERO_RULES)), st.integers(0, 5))
def test_every_headline_number_equals_scoring_the_documents_of_each_draw(
    corpus: Corpus, zero_rule: ZeroRule, seed: int
) -> None:
    assume(corpus)
    whole = score(*sides(corpus), zero_rule=zero_rule)
    found = bootstrap(whole, resamples=25, level=0.8, seed=seed)
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(25):
        picked = generator.integers(0, len(corpus), size=len(corpus), dtype=np.int64).tolist()
        rows.append(
            naive_numbers(score(*sides([corpus[at] for at in picked]), zero_rule=zero_rule))
        )
    estimates = (whole.micro.precision, whole.micro.recall, whole.micro.f1, whole.macro.f1)
    for name, estimate in zip(HEADLINE, estimates, strict=True):
        if name == "macro_f1" and not whole.by_type:
            assert name not in found
            continue
        drawn = [row[name] for row in rows if row[name] == row[name]]
        low, high = np.quantile(drawn or [estimate], [(1 - 0.8) / 2, (1 + 0.8) / 2])
        undefined = 25 - len(drawn)
        expected = Interval(
            estimate=estimate,
            low=low,
            high=high,
            level=0.8,
            resamples=25,
            seed=seed,
            undefined=undefined,
        )
        assert found[name] == expected
    assert found["micro_f1"] == bootstrap_f1(whole, resamples=25, level=0.8, seed=seed)
    if zero_rule == "binder":
        assert {one.undefined for one in found.values()} == {0}


@given(corpora(), st.integers(1, 200))
def test_intervals_are_shares_and_blocks_change_nothing(corpus: Corpus, at_once: int) -> None:
    assume(corpus)
    scores = score(*sides(corpus))
    whole = bootstrap(scores, resamples=30, seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "_INDICES_AT_ONCE", at_once)
        assert bootstrap(scores, resamples=30, seed=1) == whole
    for one in whole.values():
        assert 0.0 <= one.low <= one.high <= 1.0
        assert 0 <= one.undefined <= 30


@given(COUNTS)
def test_identical_systems_do_not_differ(counts: list[Counts]) -> None:
    difference = bootstrap_difference(made(counts), made(counts), resamples=30)
    assert (difference.estimate, difference.low, difference.high, difference.p_value) == (
        0.0,
        0.0,
        0.0,
        1.0,
    )
    assert difference.undefined == bootstrap_f1(made(counts), resamples=30).undefined


@given(COUNTS, st.sampled_from(MEASURES), st.integers(0, 5))
def test_a_difference_is_of_the_measure_that_is_asked_for(
    counts: list[Counts], measure: Measure, seed: int
) -> None:
    first = made(counts)
    second = made([Counts(tp=c.fn, fp=c.tp, fn=c.tp) for c in counts])  # the same gold
    found = bootstrap_difference(first, second, measure=measure, resamples=30, seed=seed)
    assert found.estimate == getattr(first.micro, measure) - getattr(second.micro, measure)
    generator, drawn = np.random.default_rng(seed), []
    for _ in range(30):
        picked = generator.integers(0, len(counts), size=len(counts), dtype=np.int64).tolist()
        both = [
            made([list(one.by_document.values())[at] for at in picked]) for one in (first, second)
        ]
        wholes = [
            {"precision": c.predicted, "recall": c.support, "f1": c.predicted + c.support}
            for c in (one.counts for one in both)
        ]
        if all(of[measure] for of in wholes):
            drawn.append(getattr(both[0].micro, measure) - getattr(both[1].micro, measure))
    assert found.undefined == 30 - len(drawn)
    expected = np.quantile(drawn or [found.estimate], [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    rare = min(sum(gap <= 0 for gap in drawn), sum(gap >= 0 for gap in drawn))
    assert found.p_value == pytest.approx(min(1.0, 2 * (rare + 1) / (len(drawn) + 1)))
    swapped = bootstrap_difference(second, first, measure=measure, resamples=30, seed=seed)
    assert (swapped.low, swapped.high, swapped.p_value) == pytest.approx(
        (-found.high, -found.low, found.p_value)
    )


def test_systems_on_other_gold_are_refused() -> None:
    gene = Mention(((0, 4),), "Gene")
    first, second = score({"a": [gene]}, {"a": [gene]}), score({"b": [gene]}, {"b": [gene]})
    for other in (
        second,
        score({"a": []}, {"a": []}),
        score({"a": [gene]}, {"a": []}, zero_rule="binder"),
    ):
        with pytest.raises(InputError, match="same documents"):
            bootstrap_difference(first, other)


def test_the_order_of_documents_does_not_matter_to_a_pair() -> None:
    counts = [Counts(tp=i % 4, fp=1, fn=4 - i % 4) for i in range(20)]
    first = made(counts)
    shuffled = Scores(
        counts=first.counts, by_type={}, by_document=dict(reversed(list(first.by_document.items())))
    )
    assert bootstrap_difference(first, shuffled).high == 0.0


@pytest.mark.parametrize("options", [{"resamples": 0}, {"level": 0.0}, {"level": 1.0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="at least 1, and a level between 0 and 1"):
        bootstrap_f1(made([Counts(tp=1)]), **options)  # type: ignore[arg-type]


def test_no_document_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        bootstrap_f1(score({}, {}))
