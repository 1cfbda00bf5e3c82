"""Sentences find their abstracts, whatever their order, and the sums of counts stay."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.errors import InputError
from fascicle.evaluation.scoring.scores import score
from studies import abstracts as abstracts
from studies import abstracts as script

WORDS = st.lists(st.sampled_from(["lung", "cancer", "of", "the", "."]), min_size=1, max_size=6)
ABSTRACTS = st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=5)


@given(ABSTRACTS, st.randoms(use_true_random=False))
def test_every_sentence_finds_its_abstract(content: list[list[list[str]]], chance: object) -> None:
    titled = [[["Title", str(number), "."], *sentences] for number, sentences in enumerate(content)]
    sentences = [
        Document(id=f"{number}-{at}", text=" ".join(words))
        for number, abstract in enumerate(titled)
        for at, words in enumerate(abstract)
    ]
    abstracts = [
        Document(id=str(n), text="".join(" ".join(s) + "\n" for s in one))
        for n, one in enumerate(titled)
    ]
    chance.shuffle(abstracts)  # type: ignore[attr-defined]
    found = script.abstracts_of(sentences, abstracts)
    assert found == {sentence.id: sentence.id.partition("-")[0] for sentence in sentences}


def test_a_sentence_of_no_abstract_is_refused() -> None:
    abstracts = [Document(id="a", text="Title. One. Two.")]
    for texts in (["Other."], ["Title.", "Two."], ["Title.", "One.", "Two.", "Title."]):
        sentences = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
        with pytest.raises(InputError, match="is of none of the abstracts"):
            script.abstracts_of(sentences, abstracts)


def test_only_what_is_drawn_changes() -> None:
    gold = {str(i): (Mention(((0, 3),), "X"),) for i in range(4)}
    said = {"0": gold["0"], "1": (), "2": (Mention(((0, 2),), "X"),), "3": gold["3"]}
    before = score(gold, said)
    after = script.by_abstract(before, {"0": "a", "1": "a", "2": "b"})
    assert (after.counts, after.micro, after.by_type) == (
        before.counts,
        before.micro,
        before.by_type,
    )
    assert {name: (one.tp, one.fp, one.fn) for name, one in after.by_document.items()} == {
        "a": (1, 0, 1),
        "b": (0, 1, 1),
        "3": (1, 0, 0),
    }


def test_a_result_draws_abstracts() -> None:
    counts = [[3, 0, 1], [0, 1, 0], [2, 2, 2], [1, 0, 0]]
    result = {
        "facts": {"data": {"test": {"sha256": "known"}}},
        "test_counts": counts,
        "test_f1_interval": {"low": 0.0},
        "test_unit": "document",
    }
    drawn = script.drawing_abstracts(result, {"known": {"sentences": [1, 2, 1]}})
    assert drawn["test_counts"] == [[3, 0, 1], [2, 3, 2], [1, 0, 0]]
    assert drawn["test_unit"] == "abstract"
    assert drawn["test_f1_interval"]["estimate"] == pytest.approx(2 * 6 / (2 * 6 + 3 + 3))
    for parts in ({}, {"other": {"sentences": [1, 2, 1]}}, {"known": {"sentences": [1, 2]}}):
        assert script.drawing_abstracts(result, parts) is result
    unscored = {"test_counts": None, "facts": {"data": {}}}
    assert script.drawing_abstracts(unscored, {}) is unscored


def test_sentences_find_abstracts_by_letters_though_signs_differ() -> None:
    texts = {
        "a": "IL-2 gene expression. Activation of CD28 (a receptor) provides a signal. No.",
        "b": "NF-kappa B in T cells. Activation of CD28 (a receptor) provides a signal. It is.",
    }
    sentences = [
        "IL - 2 gene expression .",
        "Activation of CD28 ( a receptor ) provides a signal .",
        "No .",
        "NF - kappa B in T cells .",
        "Activation of CD28 ( a receptor ) provides a signal .",
        "Text of another origin , and long enough .",
    ]
    assert script.by_letters(sentences, texts) == ["a", "a", "a", "b", "b", "b"]


def test_the_mean_size_of_a_group_is_over_members() -> None:
    assert script.mean_size("abc") == 1
    assert script.mean_size("aab") == (2 * 2 + 1) / 3


def test_genia_is_told_by_the_abstracts_of_jnlpba(fascicle_data: Path) -> None:
    """GENIA has 2,000 abstracts; nearly all sentences of one follow each other."""
    names = script.of_genia(fascicle_data)
    assert len(names) == 18_546
    assert len(set(names)) == 1_999
    assert sum(a != b for a, b in itertools.pairwise(names)) < 2_010


def test_the_corpora_fit(fascicle_data: Path) -> None:
    from fascicle.formats.conll import ConllOptions
    from fascicle.formats.files import read

    for corpus, place in script.ABSTRACTS.items():
        options = ConllOptions(documents="sentence")
        sentences = list(read(fascicle_data / corpus / "iob" / "test.tsv", options=options))
        abstracts = list(read(fascicle_data / place))
        found = script.abstracts_of(sentences, abstracts)
        assert len(found) == len(sentences)
        assert set(found.values()) == {abstract.id for abstract in abstracts}
