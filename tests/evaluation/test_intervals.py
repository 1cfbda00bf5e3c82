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

from .strategies import corpora, sides

COUNTS = st.lists(st.builds(Counts, tp=st.integers(0, 9), fp=st.integers(0, 9), fn=st.integers(0, 9)), min_size=1)


def made(counts: list[Counts], zero_rule: ZeroRule = "zero") -> Scores:
    total = Counts(tp=sum(c.tp for c in counts), fp=sum(c.fp for c in counts), fn=sum(c.fn for c in counts))
    by_document = {str(i): c for i, c in enumerate(counts)}
    return Scores(counts=total, by_type={}, by_document=by_document, zero_rule=zero_rule)


def naive(scores: Scores, *, resamples: int, seed: int) -> list[float]:
    """F1 of each draw; not a number where the drawn documents hold no mention and no rule gives it a value."""
    generator, documents, drawn = np.random.default_rng(seed), list(scores.by_document.values()), []
    for _ in range(resamples):
        picked = [documents[i] for i in generator.integers(0, len(documents), size=len(documents), dtype=np.int64)]
        one = made(picked, scores.zero_rule)
        known = one.counts != Counts() or scores.zero_rule == "binder"
        drawn.append(one.micro.f1 if known else float("nan"))
    return drawn


def naive_numbers(scores: Scores) -> dict[str, float]:
    """The headline numbers of scores; not a number without a denominator under the rule ``"zero"``."""
    counts, named = scores.counts, scores.zero_rule == "binder"
    there = {
        "micro_precision": (scores.micro.precision, counts.predicted),
        "micro_recall": (scores.micro.recall, counts.support),
        "micro_f1": (scores.micro.f1, counts.predicted + counts.support),
        "macro_f1": (scores.macro.f1, counts.support),
    }
    return {name: value if whole or named else float("nan") for name, (value, whole) in there.items()}


@given(COUNTS, st.sampled_from(["zero", "binder"]), st.integers(0, 5))
def test_equals_a_naive_loop(counts: list[Counts], zero_rule: ZeroRule, seed: int) -> None:
    scores = made(counts, zero_rule)
    interval = bootstrap_f1(scores, resamples=40, level=0.9, seed=seed)
    drawn = [value for value in naive(scores, resamples=40, seed=seed) if value == value]
    expected = np.quantile(drawn or [scores.micro.f1], [(1 - 0.9) / 2, (1 + 0.9) / 2])
    assert (interval.low, interval.high, interval.undefined) == (*expected, 40 - len(drawn))
    assert interval.estimate == scores.micro.f1


@given(corpora(at_most=3), st.sampled_from(list(ZERO_RULES)), st.integers(0, 5))
def test_every_headline_number_equals_scoring_the_documents_of_each_draw(
    corpus: list[tuple[tuple[Mention, ...], ...]], zero_rule: ZeroRule, seed: int
) -> None:
    assume(corpus)
    whole = score(*sides(corpus), zero_rule=zero_rule)
    found = bootstrap(whole, resamples=25, level=0.8, seed=seed)
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(25):
        picked = generator.integers(0, len(corpus), size=len(corpus), dtype=np.int64).tolist()
        rows.append(naive_numbers(score(*sides([corpus[at] for at in picked]), zero_rule=zero_rule)))
    estimates = (whole.micro.precision, whole.micro.recall, whole.micro.f1, whole.macro.f1)
    for name, estimate in zip(HEADLINE, estimates, strict=True):
        if name == "macro_f1" and not whole.by_type:
            assert name not in found
            continue
        drawn = [row[name] for row in rows if row[name] == row[name]]
        low, high = np.quantile(drawn or [estimate], [(1 - 0.8) / 2, (1 + 0.8) / 2])
        undefined = 25 - len(drawn)
        expected = Interval(
            estimate=estimate, low=low, high=high, level=0.8, resamples=25, seed=seed, undefined=undefined
        )
        assert found[name] == expected
    assert found["micro_f1"] == bootstrap_f1(whole, resamples=25, level=0.8, seed=seed)
    if zero_rule == "binder":
        assert {one.undefined for one in found.values()} == {0}


@given(corpora(), st.integers(1, 200))
def test_intervals_are_shares_and_blocks_change_nothing(
    corpus: list[tuple[tuple[Mention, ...], ...]], at_once: int
) -> None:
    assume(corpus)
    scores = score(*sides(corpus))
    whole = bootstrap(scores, resamples=30, seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "_INDICES_AT_ONCE", at_once)
        assert bootstrap(scores, resamples=30, seed=1) == whole
    for one in whole.values():
        assert 0.0 <= one.low <= one.high <= 1.0
        assert 0 <= one.undefined <= 30


def test_a_draw_without_a_denominator_is_left_out_and_counted() -> None:
    gene = Mention(((0, 4),), "Gene")
    scores = score({"a": [gene], "b": []}, {"a": [gene], "b": []})
    for one in bootstrap(scores, resamples=200).values():  # a quarter of the draws holds b twice
        assert (one.low, one.high) == (1.0, 1.0)
        assert 30 < one.undefined < 70
    difference = bootstrap_difference(scores, score({"a": [gene], "b": []}, {"a": [], "b": []}), resamples=200)
    assert (difference.low, difference.high, difference.undefined) == (1.0, 1.0, one.undefined)
    assert difference.p_value == pytest.approx(2 / (200 - difference.undefined + 1))


def test_a_type_counts_in_the_draws_that_have_gold_of_it() -> None:
    gene, cell = Mention(((0, 4),), "Gene"), Mention(((5, 9),), "Cell")
    gold = {"a": [gene], "b": [gene, cell], "c": [gene]}
    said = {"a": [gene], "b": [gene], "c": [gene, cell]}
    one = bootstrap(score(gold, said), resamples=500)["macro_f1"]
    assert (one.estimate, one.low, one.high) == (0.5, 0.5, 1.0)  # 1.0 where b is not drawn: no gold cell there


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = made([Counts(tp=i % 7, fp=i % 3, fn=i % 5) for i in range(50)])
    whole = bootstrap_f1(scores, resamples=100, seed=3)
    monkeypatch.setattr(intervals, "_INDICES_AT_ONCE", 120)
    assert bootstrap_f1(scores, resamples=100, seed=3) == whole


def test_the_interval_holds_the_estimate_and_narrows_with_more_documents() -> None:
    few, many = (made([Counts(tp=8, fp=i % 4, fn=i % 3) for i in range(n)]) for n in (20, 2000))
    for scores in (few, many):
        interval = bootstrap_f1(scores)
        assert interval.low < scores.micro.f1 < interval.high
    assert bootstrap_f1(many).high - bootstrap_f1(many).low < bootstrap_f1(few).high - bootstrap_f1(few).low


def test_a_higher_level_is_wider_and_the_seed_decides() -> None:
    scores = made([Counts(tp=i % 5, fp=1, fn=i % 2) for i in range(30)])
    narrow, wide = bootstrap_f1(scores, level=0.5), bootstrap_f1(scores, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert bootstrap_f1(scores, seed=1) == bootstrap_f1(scores, seed=1) != bootstrap_f1(scores, seed=2)


@given(COUNTS)
def test_identical_systems_do_not_differ(counts: list[Counts]) -> None:
    difference = bootstrap_difference(made(counts), made(counts), resamples=30)
    assert (difference.estimate, difference.low, difference.high, difference.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert difference.undefined == bootstrap_f1(made(counts), resamples=30).undefined


def test_the_difference_is_paired_and_equals_a_naive_loop() -> None:
    first = made([Counts(tp=3 + i % 4, fp=i % 3, fn=4 - i % 4) for i in range(40)])
    second = made([Counts(tp=2 + i % 4, fp=i % 2, fn=5 - i % 4) for i in range(40)])
    found = bootstrap_difference(first, second, resamples=200, seed=7)
    drawn = np.subtract(naive(first, resamples=200, seed=7), naive(second, resamples=200, seed=7))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    assert found.p_value == pytest.approx(min(1.0, 2 * (min((drawn <= 0).sum(), (drawn >= 0).sum()) + 1) / 201))
    swapped = bootstrap_difference(second, first, resamples=200, seed=7)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))
    assert swapped.p_value == found.p_value


@given(COUNTS, st.sampled_from(MEASURES), st.integers(0, 5))
def test_a_difference_is_of_the_measure_that_is_asked_for(counts: list[Counts], measure: Measure, seed: int) -> None:
    first = made(counts)
    second = made(
        [Counts(tp=0, fp=c.fp + 1, fn=c.fn + c.tp) for c in counts]
    )  # the same gold, of which nothing is found
    found = bootstrap_difference(first, second, measure=measure, resamples=30, seed=seed)
    assert found.estimate == getattr(first.micro, measure) - getattr(second.micro, measure)
    generator, drawn = np.random.default_rng(seed), []
    for _ in range(30):
        picked = generator.integers(0, len(counts), size=len(counts), dtype=np.int64).tolist()
        both = [made([list(one.by_document.values())[at] for at in picked]) for one in (first, second)]
        wholes = [
            {"precision": c.predicted, "recall": c.support, "f1": c.predicted + c.support}
            for c in (one.counts for one in both)
        ]
        if all(of[measure] for of in wholes):
            drawn.append(getattr(both[0].micro, measure) - getattr(both[1].micro, measure))
    assert found.undefined == 30 - len(drawn)
    expected = np.quantile(drawn or [found.estimate], [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(expected))


def test_a_clear_difference_has_a_small_p_value() -> None:
    good, bad = made([Counts(tp=9, fp=1, fn=1)] * 50), made([Counts(tp=5, fp=5, fn=5)] * 50)
    assert bootstrap_difference(good, bad, resamples=999).p_value == pytest.approx(0.002)


def test_systems_on_other_gold_are_refused() -> None:
    gene = Mention(((0, 4),), "Gene")
    first, second = score({"a": [gene]}, {"a": [gene]}), score({"b": [gene]}, {"b": [gene]})
    for other in (second, score({"a": []}, {"a": []}), score({"a": [gene]}, {"a": []}, zero_rule="binder")):
        with pytest.raises(InputError, match="same documents"):
            bootstrap_difference(first, other)


def test_the_order_of_documents_does_not_matter_to_a_pair() -> None:
    counts = [Counts(tp=i % 4, fp=1, fn=4 - i % 4) for i in range(20)]
    first = made(counts)
    shuffled = Scores(counts=first.counts, by_type={}, by_document=dict(reversed(list(first.by_document.items()))))
    assert bootstrap_difference(first, shuffled).high == 0.0


@pytest.mark.parametrize("options", [{"resamples": 0}, {"level": 0.0}, {"level": 1.0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="at least 1, and a level between 0 and 1"):
        bootstrap_f1(made([Counts(tp=1)]), **options)  # type: ignore[arg-type]


def test_no_document_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        bootstrap_f1(score({}, {}))
