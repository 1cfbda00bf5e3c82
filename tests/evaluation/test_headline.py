"""Which headline numbers have an interval, and what is said of those that have none."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given

from fascicle.core.document import Document, Mention
from fascicle.evaluation.report import explain_intervals, headline_intervals, undefined_notes
from fascicle.evaluation.scoring.inputs import score_by_unit
from fascicle.evaluation.scoring.rules import RULES, compares_types
from fascicle.evaluation.scoring.scores import ONE_DOCUMENT, Counts, score, score_rules
from fascicle.evaluation.uncertainty.intervals import HEADLINE, bootstrap

from .strategies import TEXT, Corpus, corpora, sides

GENE = Mention(((0, 4),), "Gene")


@given(corpora())
def test_every_number_has_an_interval_or_a_reason(corpus: Corpus) -> None:
    scores = score(*sides(corpus))
    found = headline_intervals(scores, resamples=10)
    assert {*found.intervals, *found.undefined} == set(HEADLINE)
    assert not found.intervals.keys() & found.undefined.keys()
    if len(corpus) > 1:
        assert (
            bootstrap(scores, resamples=10) if found.intervals else {}
        ).items() >= found.intervals.items()
    value = found.as_dict()
    for name in HEADLINE:
        one, why = value[f"{name}_interval"], value.get("undefined", {}).get(f"{name}_interval")
        assert (one is None) == bool(why)
        assert one is None or one["undefined"] < one["resamples"]


def test_reasons_are_those_of_each_number() -> None:
    nothing_said = headline_intervals(score({"a": [GENE], "b": [GENE]}, {"a": [], "b": []}))
    assert nothing_said.undefined == {"micro_precision": "nothing was predicted"}
    no_gold = headline_intervals(score({"a": [], "b": []}, {"a": [GENE], "b": [GENE]}))
    assert no_gold.undefined == dict.fromkeys(
        ("micro_recall", "macro_f1"), "there is no gold mention"
    )
    alone = headline_intervals(score({"a": [GENE]}, {"a": [GENE]}))
    assert alone.undefined == dict.fromkeys(HEADLINE, ONE_DOCUMENT)


def test_a_number_that_no_draw_defines_has_no_interval() -> None:
    gold = {str(n): [GENE] if n == 7 else [] for n in range(20)}
    found = headline_intervals(score(gold, gold), resamples=1)  # seed 0 does not draw document 7
    assert set(found.undefined.values()) == {"it is undefined in every draw of documents"}
    assert found.intervals == {}


def test_what_was_left_out_is_one_sentence_for_each_number() -> None:
    scores = score({"a": [GENE], "b": []}, {"a": [GENE], "b": []})
    found = headline_intervals(scores).as_dict()
    count = found["micro_f1_interval"]["undefined"]
    said = undefined_notes({name: found[f"{name}_interval"] for name in HEADLINE}, "sentence")
    assert said[2] == (
        f"micro F1 is undefined in {count} of the 1,000 draws of sentences, which are left out "
        "of its interval."
    )
    assert len(said) == 4
    assert undefined_notes({"micro_f1": None}, "document") == []


@pytest.mark.parametrize(
    ("unit", "drawn", "said"),
    [
        ("document", "document", ""),
        ("document", "sentence", "only one"),
        ("sentence", "sentence", "is one sentence"),
    ],
)
def test_what_is_drawn_is_told_if_it_is_not_documents(unit: str, drawn: str, said: str) -> None:
    told = explain_intervals({"unit": unit, "drawn": drawn})
    assert said in told
    assert bool(told) == bool(said)


@given(corpora())
def test_sentences_of_a_document_add_up_to_it(corpus: Corpus) -> None:
    assume(corpus)
    (gold, said), cuts = corpus[0], (0, 9, 20, len(TEXT))
    document = Document(id="a", text=TEXT, mentions=gold, sentences=tuple(itertools.pairwise(cuts)))
    whole = score({"a": gold}, {"a": said})
    found = score_by_unit([document], {"a": said}, whole)
    assert list(found.by_document) == ["a/1", "a/2", "a/3"]
    assert (found.counts, found.by_type) == (whole.counts, whole.by_type)
    plain = Document(id="a", text=TEXT, mentions=gold)
    assert score_by_unit([plain], {"a": said}, whole) is whole


@given(corpora())
def test_rules_together_are_those_alone_and_parts_add_up(corpus: Corpus) -> None:
    together = score_rules(*sides(corpus))
    assert list(together) == list(RULES)
    for rule, one in together.items():
        alone = score(*sides(corpus), rule=rule)
        assert one == alone
        assert one.by_document_type == alone.by_document_type
        assert one.by_document_type.keys() == one.by_type.keys()
        for name, parts in one.by_document_type.items():
            assert Counts() not in parts.values()
            for number in ("tp", "fp", "fn"):
                assert sum(getattr(c, number) for c in parts.values()) == getattr(
                    one.by_type[name], number
                )
        assert bool(one.by_type) == (
            compares_types(rule) and any(gold or said for gold, said in corpus)
        )
