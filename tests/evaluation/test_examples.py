"""What mistakes look like: confusions, boundary words, examples in context."""

from __future__ import annotations

import json

from hypothesis import given

from fascicle.core.document import Document, Mention
from fascicle.evaluation.breakdown.buckets import (
    boundary_words,
    class_table,
    confusions,
    error_examples,
)
from fascicle.evaluation.breakdown.errors import BOUNDARY, CLASSES, find_mistakes

from .strategies import TEXT, Corpus, corpora, documents, sides


@given(corpora(scored=True))
def test_tables_hold_every_mistake_once(corpus: Corpus) -> None:
    found = find_mistakes(*sides(corpus))
    table = class_table(found)
    assert list(table) == list(CLASSES)
    for side in ("fp", "fn"):
        assert sum(row[side] for row in table.values()) == sum(m.side == side for m in found)
    assert sum(row["beside_right"] for row in table.values()) == sum(m.partner_right for m in found)
    for row in table.values():
        assert [sum(pair[at] for pair in row["types"].values()) for at in (0, 1)] == [
            row["fp"],
            row["fn"],
        ]
    wrong_type = [m for m in found if m.side == "fp" and m.kind in ("type", "boundary-and-type")]
    assert sum(row["same_span"] + row["overlapping"] for row in confusions(found)) == len(
        wrong_type
    )
    for row in confusions(found):
        assert row["gold"] != row["predicted"]


@given(corpora(scored=True))
def test_boundary_words_are_those_between_the_boundaries(corpus: Corpus) -> None:
    found = find_mistakes(*sides(corpus))
    texts = {str(i): TEXT for i in range(len(corpus))}
    rows = boundary_words(found, texts, at_most=1000)
    assert boundary_words(found, texts, at_most=2) == rows[:2]
    wanted: dict[tuple[str, str, str], int] = {}
    for m in found:
        if m.side == "fp" and m.kind in BOUNDARY and m.partner is not None:
            a, b = m.mention, m.partner
            for side, low, high, change in (
                ("left", a.start, b.start, "added"),
                ("left", b.start, a.start, "left out"),
                ("right", b.end, a.end, "added"),
                ("right", a.end, b.end, "left out"),
            ):
                words = " ".join(TEXT[low:high].split()).lower() if low < high else ""
                if words:
                    wanted[side, change, words] = wanted.get((side, change, words), 0) + 1
    assert {(r["side"], r["change"], r["words"]): r["count"] for r in rows} == wanted
    assert [r["count"] for r in rows] == sorted(wanted.values(), reverse=True)
    assert all(sum(r["types"].values()) == r["count"] for r in rows)


@given(corpora(scored=True))
def test_examples_are_bounded_sorted_and_stand_in_their_context(corpus: Corpus) -> None:
    found = find_mistakes(*sides(corpus))
    by_id = {d.id: d for d in documents(corpus)}
    shown = json.loads(json.dumps(error_examples(found, by_id, at_most=2)))
    assert set(shown) <= set(CLASSES)
    for kind, listed in shown.items():
        for side in ("fp", "fn"):
            part = [e for e in listed if e["side"] == side]
            scores = [-1.0 if e["score"] is None else e["score"] for e in part]
            assert scores == sorted(scores, reverse=True)
            everything = [
                m.score if m.score is not None else -1.0
                for m in found
                if (m.kind, m.side) == (kind, side)
            ]
            assert len(part) <= 2
            if side == "fp":
                assert scores == sorted(everything, reverse=True)[:2]
        for example in listed:
            first, last = example["mention"]["spans"][0][0], example["mention"]["spans"][-1][1]
            start = example["context_start"]
            assert example["context"] == TEXT[start : start + len(example["context"])]
            assert start <= first < last <= start + len(example["context"])
    assert error_examples(found, by_id, at_most=0) == {}


WORDS = "the patients with lung cancer and BRCA1 gene mutations of the breast"
DOCUMENT = Document(id="d", text=WORDS)


def mention(words: str, type_: str, score: float | None = None) -> Mention:
    start = WORDS.index(words)
    return Mention(((start, start + len(words)),), type_, score=score)


def test_a_pair_is_shown_once() -> None:
    gold = {
        "d": [
            mention("lung cancer", "Disease"),
            mention("BRCA1", "Gene"),
            mention("breast", "Organ"),
        ]
    }
    said = {
        "d": [
            mention("lung", "Disease", 0.4),
            mention("BRCA1", "Disease", 0.9),
            mention("cancer and", "Disease"),
        ]
    }
    shown = error_examples(find_mistakes(gold, said), {"d": DOCUMENT})
    assert {kind: [e["side"] for e in listed] for kind, listed in shown.items()} == {
        "type": ["fp"],
        "boundary-right": ["fp"],
        "boundary-both": ["fp"],
        "missed": ["fn"],
    }
    assert shown["type"][0]["partner"] == {"type": "Gene", "spans": [[34, 39]], "text": "BRCA1"}


def test_confusions_tell_lost_types_from_second_ones() -> None:
    gold = {"d": [mention("lung cancer", "Disease"), mention("BRCA1", "Gene")]}
    said = {
        "d": [
            mention("lung cancer", "Disease"),
            mention("lung cancer", "Cell"),
            mention("BRCA1 gene", "DNA"),
        ]
    }
    assert confusions(find_mistakes(gold, said)) == [
        {
            "gold": "Disease",
            "predicted": "Cell",
            "same_span": 1,
            "overlapping": 0,
            "beside_right": 1,
        },
        {"gold": "Gene", "predicted": "DNA", "same_span": 0, "overlapping": 1, "beside_right": 0},
    ]


def test_long_contexts_are_cut() -> None:
    text = "word " * 1000 + "end"
    found = find_mistakes(
        {"d": []}, {"d": [Mention(((2000, 4990),), "X"), Mention(((2500, 2504),), "X")]}
    )
    long, short = error_examples(found, {"d": Document(id="d", text=text)})["spurious"]
    assert len(long["context"]) <= 800
    assert long["mention"]["text"].endswith("…")
    assert len(long["mention"]["text"]) == 300
    assert len(short["context"]) <= 124
    assert not short["context"].startswith(" ")


@given(corpora(scored=True))
def test_the_mentions_around_an_example_are_those_of_its_context(corpus: Corpus) -> None:
    gold, said = sides(corpus)
    found = find_mistakes(gold, said)
    texts = {document.id: document for document in documents(corpus)}
    with_them = error_examples(found, texts, predicted=said)
    plain = error_examples(found, texts)
    for kind, listed in with_them.items():
        for example, bare in zip(listed, plain[kind], strict=True):
            assert {name: value for name, value in example.items() if name != "around"} == bare
            start, end = (
                example["context_start"],
                example["context_start"] + len(example["context"]),
            )
            identifier = example["document"]
            keys = [{(m.type, m.spans) for m in side[identifier]} for side in (gold, said)]
            for name, own, other in (("gold", *keys), ("predicted", *keys[::-1])):
                inside = {key for key in own if any(a < end and start < b for a, b in key[1])}
                told = {
                    (row["type"], tuple(map(tuple, row["spans"]))): row["right"]
                    for row in example["around"][name]
                }
                assert told == {key: key in other for key in inside}
            assert example["around"]["more"] == 0


def test_of_many_mentions_around_an_example_the_nearest_are_told() -> None:
    text = "x " * 60
    gold = tuple(Mention(((2 * i, 2 * i + 1),), "A") for i in range(60))
    document = Document(id="a", text=text, mentions=gold)
    said = tuple(m for i, m in enumerate(gold) if i != 30)
    ((example,),) = error_examples(
        find_mistakes({"a": gold}, {"a": said}), {"a": document}, predicted={"a": said}
    ).values()
    inside = [
        m
        for m in gold
        if example["context_start"] <= m.start < example["context_start"] + len(example["context"])
    ]
    near = sorted(inside, key=lambda m: abs(m.start - 60))[:40]
    told = example["around"]
    assert len(inside) > 40
    assert {row["spans"][0][0] for row in told["gold"]} == {m.start for m in near}
    assert [row["right"] for row in told["gold"]].count(False) == 1
    assert told["more"] == 2 * len(inside) - 1 - len(told["gold"]) - len(told["predicted"])
