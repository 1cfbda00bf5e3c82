"""The bootstrap against a loop that does the same slowly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.errors import InputError, UsageError
from fascicle.evaluate import intervals
from fascicle.evaluate.intervals import bootstrap_difference, bootstrap_f1
from fascicle.evaluate.scores import Counts, Scores, ZeroRule, score

COUNTS = st.lists(st.builds(Counts, tp=st.integers(0, 9), fp=st.integers(0, 9), fn=st.integers(0, 9)), min_size=1)


def made(counts: list[Counts], zero_rule: ZeroRule = "zero") -> Scores:
    total = Counts(tp=sum(c.tp for c in counts), fp=sum(c.fp for c in counts), fn=sum(c.fn for c in counts))
    by_document = {str(i): c for i, c in enumerate(counts)}
    return Scores(counts=total, by_type={}, by_document=by_document, zero_rule=zero_rule)


def naive(scores: Scores, *, resamples: int, seed: int) -> list[float]:
    generator, documents, drawn = np.random.default_rng(seed), list(scores.by_document.values()), []
    for _ in range(resamples):
        picked = [documents[i] for i in generator.integers(0, len(documents), size=len(documents), dtype=np.int64)]
        drawn.append(made(picked, scores.zero_rule).micro.f1)
    return drawn


@given(COUNTS, st.sampled_from(["zero", "binder"]), st.integers(0, 5))
def test_equals_a_naive_loop(counts: list[Counts], zero_rule: ZeroRule, seed: int) -> None:
    scores = made(counts, zero_rule)
    interval = bootstrap_f1(scores, resamples=40, level=0.9, seed=seed)
    expected = np.quantile(naive(scores, resamples=40, seed=seed), [0.05, 0.95])
    assert (interval.low, interval.high) == pytest.approx(tuple(expected))
    assert interval.estimate == scores.micro.f1


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
