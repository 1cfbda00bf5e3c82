"""Copies of texts against a comparison of every pair, and what the exclusion list makes of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from fractions import Fraction
from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.evaluation.doctor.examine import Examination
from fascicle.evaluation.doctor.leaks import exclusions
from fascicle.formats.exclusions import Exclusion
from fascicle.formats.predictions import text_hash

Examine = Callable[..., Examination]
MIN_WORDS, NEAR, ANCHOR = 4, Fraction(1, 2), 24
RANK = ["test", "dev", "train", "whole", "against"]
SENTENCES = [
    "The hormone receptor was expressed.",
    "the HORMONE receptor was expressed !",
    "The hormone receptor was strongly expressed.",
    "Nothing else mattered very much in the end of it.",
    "It is small.",
    "Nothing else mattered very much at the end of it.",
    "- ( )",
]
_TEXTS = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3)
_PARTS = st.dictionaries(st.sampled_from(RANK), st.lists(_TEXTS, max_size=4), max_size=4)


def document(identifier: str, sentences: list[str]) -> Document:
    ranges, at = [], 0
    for sentence in sentences:
        ranges.append((at, at + len(sentence)))
        at += len(sentence) + 1
    return Document(id=identifier, text=" ".join(sentences), sentences=tuple(ranges))


def bare(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def words(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


def triples(text: str) -> set[tuple[str, ...]]:
    found = bare(text)
    return {tuple(found[i : i + 3]) for i in range(len(found) - 2)}


def kind_of_copy(one: list[str], other: list[str], *, same_part: bool, both_checked: bool) -> str:
    """The naive rule for two documents; the first one is checked."""
    a, b = " ".join(one), " ".join(other)
    if not bare(a) or not bare(b):
        return ""
    if "".join(bare(a)) == "".join(bare(b)):
        # whether a class of copies is short is decided by its longest member in the corpus
        return "duplicate" if max(words(a), words(b)) >= MIN_WORDS else "short-duplicate"
    union = triples(a) | triples(b)
    is_long = words(a) >= MIN_WORDS and (not both_checked or words(b) >= MIN_WORDS)
    if union and is_long and Fraction(len(triples(a) & triples(b)), len(union)) >= NEAR:
        return "near-duplicate"
    if same_part:
        return ""
    pairs = [(one, b), *([(other, a)] if both_checked else [])]
    for sentences, text in pairs:
        for sentence in sentences:
            letters = "".join(bare(sentence))
            if (
                words(sentence) >= MIN_WORDS
                and len(letters) >= ANCHOR
                and letters in "".join(bare(text))
            ):
                return "shared-sentence"
    return ""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=_PARTS.filter(lambda parts: any(parts[name] for name in parts if name != "against")))
def test_copies_are_those_of_a_comparison_of_all(
    examine_documents: Examine, parts: dict[str, list[list[str]]]
) -> None:
    ordered = {name: parts[name] for name in RANK if name in parts}
    documents = {
        name: [document(f"{name}{i}", sentences) for i, sentences in enumerate(texts)]
        for name, texts in ordered.items()
    }
    found = examine_documents(documents, min_words=MIN_WORDS, near=str(NEAR))
    across = [g for g in found.corpus.copies.groups if g.relation != "in-part"]
    wholes, sentences = set(), set()
    for group in across:
        for kept, other in product(group.originals, group.copies):
            # of these not every pair is told, but each document of both parts
            if group.kind == "shared-sentence":
                sentences |= {(kept.id, other.part.name), (kept.part.name, other.id)}
            else:
                wholes.add((group.kind, kept.id, other.id))
    expected, expected_sentences = set(), set()
    for (p, one), (q, other) in product(ordered.items(), repeat=2):
        if RANK.index(p) < RANK.index(q) and p != "against":
            for (i, a), (j, b) in product(enumerate(one), enumerate(other)):
                kind = kind_of_copy(a, b, same_part=False, both_checked=q != "against")
                if kind == "shared-sentence":
                    expected_sentences |= {(f"{p}{i}", q), (p, f"{q}{j}")}
                elif kind:
                    expected.add((kind, f"{p}{i}", f"{q}{j}"))
    assert wholes == expected
    assert sentences == expected_sentences


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(_TEXTS, max_size=6))
def test_within_a_part_a_text_is_a_copy_of_an_earlier_one(
    examine_documents: Examine, texts: list[list[str]]
) -> None:
    found = examine_documents(
        {"train": [document(str(i), t) for i, t in enumerate(texts)]}, min_words=4, near=str(NEAR)
    )
    cases = {(g.kind, other.id) for g in found.corpus.copies.groups for other in g.copies}
    expected = set()
    for j, text in enumerate(texts):
        kinds = {
            kind_of_copy(before, text, same_part=True, both_checked=True) for before in texts[:j]
        }
        best = next(
            (k for k in ("duplicate", "short-duplicate", "near-duplicate") if k in kinds), ""
        )
        expected |= {(best, str(j))} if best else set()
    assert cases == expected


LONG = "The patients who were given lithium for ten years had no more falls than the others."
NEARLY = LONG.replace("others", "rest")


def documents(*texts: str) -> list[Document]:
    return [Document(id=f"{number}", text=text) for number, text in enumerate(texts)]


def pairs(rows: list[Exclusion]) -> set[tuple[str, ...]]:
    return {(r.part, r.document, r.reason, r.of_part, r.of_document) for r in rows}


def test_of_two_copies_the_one_nearer_to_training_is_listed(examine_documents: Examine) -> None:
    found = examine_documents(
        {
            "train": documents(
                "Something else, of which there is one only.", LONG, NEARLY, LONG + "!"
            ),
            "dev": documents(LONG.upper()),
            "test": documents("Nothing that stands anywhere else in this.", LONG),
            "against": documents(LONG, NEARLY, "This one is new and stands nowhere else at all."),
        }
    )
    assert pairs(found.exclusions) == {
        ("train", "1", "duplicate", "test", "1"),
        ("train", "2", "near-duplicate", "test", "1"),
        ("train", "3", "duplicate", "test", "1"),
        ("dev", "0", "duplicate", "test", "1"),
        ("against", "0", "duplicate", "test", "1"),
        ("against", "1", "near-duplicate", "test", "1"),
    }
    assert {r.sha256 for r in found.exclusions if r.part == "against"} == {
        text_hash(LONG),
        text_hash(NEARLY),
    }
    counts = {f.code: f.by_part for f in found.report.findings if "duplicate" in f.code}
    assert counts["duplicate-across-parts"] == {
        "dev in train": 1,
        "test in train": 1,
        "test in dev": 1,
    }
    assert counts["duplicate-across-corpora"] == {
        "train in against": 3,  # one of them nearly, in the other file the same
        "dev in against": 1,
        "test in against": 1,
    }
    assert counts["duplicate-in-part"] == {"train": 1}
    (finding,) = (f for f in found.report.findings if f.code == "duplicate-across-parts")
    assert finding.details[1] == "The same to the character: test in train 1."


def test_a_shared_sentence_lists_what_holds_it(examine_documents: Examine) -> None:
    other = "It was a short study. " + LONG + " Nobody knows the reason."
    for parts in (
        {"test": documents(LONG), "train": documents(other)},
        {"test": documents(other), "train": documents(LONG)},
    ):
        found = examine_documents(parts)
        assert pairs(found.exclusions) == {("train", "0", "shared-sentence", "test", "0")}
        assert found.exclusions[0].similarity is None
    found = examine_documents({"corpus b": documents(LONG), "corpus a": documents(other)})
    assert pairs(found.exclusions) == {("corpus", "0", "shared-sentence", "corpus", "0")}
    assert found.exclusions[0].of_corpus == "corpus b"  # given first


def test_of_a_chain_of_near_duplicates_every_second_one_stays(examine_documents: Examine) -> None:
    words = [f"word{number}" for number in range(78)]
    chain = [" ".join(words[at : at + 60]) for at in (0, 6, 12, 18)]
    found = examine_documents({"train": documents(*chain)})
    near = [f for f in found.report.findings if f.code == "near-duplicate-in-part"]
    assert sum(f.count for f in near) == 3
    assert pairs(found.exclusions) == {
        ("train", "1", "near-duplicate", "train", "0"),
        ("train", "3", "near-duplicate", "train", "2"),
    }


def test_a_copy_inside_test_is_nothing_to_leave_out_of_training(examine_documents: Examine) -> None:
    found = examine_documents(
        {"test": documents(LONG, LONG), "train": documents("Another text that stands alone.")}
    )
    assert [f.code for f in found.report.findings if "duplicate" in f.code] == ["duplicate-in-part"]
    assert found.exclusions == []


def test_short_texts_are_not_listed(examine_documents: Examine) -> None:
    found = examine_documents(
        {
            "train": documents("Results."),
            "test": documents("RESULTS"),
            "against": documents("results"),
        }
    )
    assert exclusions(found.corpus) == []
    assert {f.code for f in found.report.findings} == {
        "short-duplicate",
        "short-sentence",
        "shared-id",
    }


def test_the_ids_that_readers_make_up_are_not_shared(examine_files: Examine) -> None:
    record = '{"text": "%s"}\n'
    files = {
        name: {"a.jsonl": record % text}
        for name, text in (("train", "One text."), ("against", "Two texts."))
    }
    assert examine_files(files).corpus.copies.shared_ids == []


def test_a_sentence_that_is_everywhere_costs_no_square(examine_documents: Examine) -> None:
    tests = documents(
        *(f"{LONG} Case {n} of them all was not like the one before it." for n in range(60))
    )
    trains = documents(
        *(f"{LONG} Patient {n} went home after the first week of his stay." for n in range(60))
    )
    found = examine_documents({"test": tests, "train": trains}, near="1")
    groups = [group for group in found.corpus.copies.groups if group.kind == "shared-sentence"]
    assert sum(len(group.originals) * len(group.copies) for group in groups) < 5 * 60
    assert len(found.exclusions) == 60
    (finding,) = (f for f in found.report.findings if f.code == "shared-sentence-across-parts")
    assert finding.by_part == {"test in train": 60}
