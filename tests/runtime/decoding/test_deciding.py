from __future__ import annotations

import time
from collections.abc import Collection
from itertools import combinations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, Patch
from fascicle.core.patches import apply
from fascicle.runtime.decoding.deciding import all_decided, apply_curve, decide_mentions
from fascicle.runtime.decoding.edges import neutral_span
from fascicle.runtime.decoding.selection import logits, round_scores, sigmoid
from fascicle.settings.decision import DocumentDecision, LogisticCurve, TypeDecision
from fascicle.text.segment import sentences

RULE = TypeDecision(low=0.6, high=0.8, alone=0.5)
RULES = DocumentDecision(types={"Gene": RULE, "Disease": RULE})


def found(
    text: str, mentions: list[Mention], rules: DocumentDecision = RULES
) -> list[tuple[str, int, float | None]]:
    document = Document(id="1", text=text)
    patch = decide_mentions(document, Patch(add=tuple(mentions)), rules, sentences=sentences)
    apply(document, patch)
    return [(text[m.start : m.end], m.start, m.score) for m in patch.add]


def gene(text: str, name: str, score: float | None, *, at: int = 0) -> Mention:
    start = text.index(name, at)
    return Mention(((start, start + len(name)),), "Gene", score=score, source="model")


TEXT = "Loss of BRCA1 was seen. We sequenced BRCA1 and TP53. No BRCA1x, but BRCA1-mutated TP53."


def test_a_name_that_is_sure_once_is_marked_wherever_it_stands() -> None:
    said = found(
        TEXT, [gene(TEXT, "BRCA1", 0.9), gene(TEXT, "BRCA1", 0.3, at=30), gene(TEXT, "TP53", 0.7)]
    )
    assert said == [("BRCA1", 8, 0.9), ("BRCA1", 37, 0.9), ("TP53", 47, 0.7), ("BRCA1", 68, 0.9)]


def test_a_short_form_is_marked_where_it_means_the_same() -> None:
    text = "Androgen receptor (AR) binds. AR rose. In allergic rhinitis (AR), AR and AR fell."
    said = found(text, [gene(text, "AR", 0.9)])
    assert [at for _, at, _ in said] == [19, 30]


def test_a_name_over_a_wrapped_line_is_the_name_and_one_over_items_of_a_list_is_none() -> None:
    prose = "In mice of all ages, loss of the nerve\ngrowth factor was seen. Then the nerve\ngrowth factor rose."
    said = found(prose, [gene(prose, "nerve\ngrowth factor", 0.9)])
    assert [name for name, *_ in said] == ["nerve\ngrowth factor"] * 2
    spaced = prose.replace("\n", " ")
    assert [at for _, at, _ in said] == [
        at for _, at, _ in found(spaced, [gene(spaced, "nerve growth factor", 0.9)])
    ]
    one_line = "The nerve growth factor of mice. " + prose
    assert len(found(one_line, [gene(one_line, "nerve growth factor", 0.9)])) == 3
    listed = "We saw nerve growth factor.\n\n- nerve\n- growth factor\n- insulin"
    assert len(found(listed, [gene(listed, "nerve growth factor", 0.9)])) == 1


def test_a_name_stands_in_place_of_less_probable_parts_of_it() -> None:
    text = "Cbl-b was seen. Here Cbl-b and Cbl act. Loss of Cbl-b."
    given = [
        gene(text, "Cbl-b", 0.9),
        gene(text, "Cbl", 0.85, at=10),
        gene(text, "Cbl", 0.8, at=26),
    ]
    expected = [("Cbl-b", 0, 0.9), ("Cbl-b", 21, 0.9), ("Cbl", 31, 0.85), ("Cbl-b", 48, 0.9)]
    assert found(text, given) == expected
    assert found(text, [*given, gene(text, "Cbl", 0.95, at=40)])[-1] == ("Cbl", 48, 0.95)


def test_names_within_names_stay() -> None:
    text = "Breast cancer cells. Breast cancer was found."
    mentions = [gene(text, "Breast cancer", 0.9), gene(text, "cancer", 0.7)]
    assert [(name, at) for name, at, _ in found(text, mentions)] == [
        ("Breast cancer", 0),
        ("cancer", 7),
        ("Breast cancer", 21),
    ]


def test_mentions_below_low_go() -> None:
    assert found(TEXT, [gene(TEXT, "BRCA1", 0.59)]) == []


def test_a_single_sentence_has_a_threshold_of_its_own_and_no_marking() -> None:
    text = "Loss of BRCA1 and of BRCA1."
    assert found(text, [gene(text, "BRCA1", 0.9)]) == [("BRCA1", 8, 0.9)]
    assert found(text, [gene(text, "BRCA1", 0.55)]) == [("BRCA1", 8, 0.55)]
    assert found(text, [gene(text, "BRCA1", 0.45)]) == []


NAMES = ("BRCA1", "TP53", "fever", "IL-2")
SAID = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from((0.2, 0.45, 0.55, 0.7, 0.9))), max_size=4
)


@given(st.lists(SAID, max_size=4), st.sets(st.sampled_from(NAMES)))
def test_several_documents_are_decided_as_each_alone(
    said: list[list[tuple[str, float]]], known: set[str]
) -> None:
    rule = msgspec.structs.replace(RULE, known=0.3)
    rules = DocumentDecision(types={"Gene": rule})
    asked: list[set[str]] = []

    def knows(names: Collection[str]) -> dict[str, str]:
        asked.append(set(names))
        return {name: "Gene" for name in names if name in known}

    texts = ["".join(f"We saw {name}. " for name, _ in one) for one in said]
    documents = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
    patches = []
    for text, one in zip(texts, said, strict=True):
        place, mentions = 0, []
        for name, score in one:
            mentions.append(gene(text, name, score, at=place))
            place = mentions[-1].end
        patches.append(Patch(add=tuple(mentions)))
    together = all_decided(documents, patches, rules, sentences=sentences, knows=knows)
    assert len(asked) < 2
    assert together == [
        decide_mentions(document, patch, rules, sentences=sentences, knows=knows)
        for document, patch in zip(documents, patches, strict=True)
    ]


def test_sentences_of_the_document_count() -> None:
    text = "Loss of BRCA1 and of BRCA1"
    document = Document(id="1", text=text, sentences=((0, 17), (18, len(text))))
    patch = decide_mentions(
        document, Patch(add=(gene(text, "BRCA1", 0.9),)), RULES, sentences=sentences
    )
    assert [m.start for m in patch.add] == [8, 21]


def test_names_do_not_spread_to_other_abstracts() -> None:
    text = f"{TEXT}\n\n{TEXT}"
    assert all(start < len(TEXT) for _, start, _ in found(text, [gene(text, "BRCA1", 0.9)]))


def test_types_without_a_rule_get_edges_alone() -> None:
    text = "The 3H]GABA of [3H]GABA. And GABA."
    mention = Mention(((16, 23),), "Chemical", score=0.2, source="model")
    assert found(text, [mention]) == [("[3H]GABA", 15, 0.2)]


def test_mentions_without_a_score_stay_and_are_not_marked() -> None:
    assert found(TEXT, [gene(TEXT, "BRCA1", None)]) == [("BRCA1", 8, None)]


def test_discontinuous_mentions_keep_their_edges() -> None:
    mention = Mention(((8, 13), (37, 42)), "Gene", score=0.7, source="model")
    document = Document(id="1", text=TEXT)
    assert decide_mentions(document, Patch(add=(mention,)), RULES, sentences=sentences).add == (
        mention,
    )


def test_ends_are_cut_last_and_scores_become_probabilities() -> None:
    text = "The BRCA1 gene was lost. The BRCA1 gene of mice."
    curve = LogisticCurve(slope=1.0, offset=-1.0)
    rules = DocumentDecision(
        types={"Gene": TypeDecision(low=0.5, high=0.8, ends="bare", curve=curve)}
    )
    score = apply_curve(0.9, curve)
    assert found(text, [gene(text, "BRCA1 gene", 0.9)], rules) == [
        ("BRCA1", 4, score),
        ("BRCA1", 29, score),
    ]
    assert score == pytest.approx(9 / (9 + 2.718281828), abs=1e-6)


def test_offsets_and_names_are_those_of_the_source() -> None:
    text = "Loss of IL\u20112. More IL-2 and IL\u22122."
    said = found(text, [gene(text, "IL\u20112", 0.9)])
    assert said == [("IL\u20112", 8, 0.9), ("IL-2", 19, 0.9), ("IL\u22122", 28, 0.9)]


def test_what_changed_is_said() -> None:
    patch = decide_mentions(
        Document(id="1", text=TEXT),
        Patch(add=(gene(TEXT, "BRCA1", 0.1),)),
        RULES,
        sentences=sentences,
    )
    assert [event.code for event in patch.events] == ["document-decision"]
    same = Patch(add=(gene(TEXT, "TP53", 0.7),))
    assert decide_mentions(Document(id="1", text=TEXT), same, RULES, sentences=sentences) is same


def test_names_that_are_known_have_a_threshold_of_their_own() -> None:
    asked: list[str] = []

    def knows(names: Collection[str]) -> dict[str, str]:
        asked.extend(sorted(names))
        return {
            name: kind
            for name, kind in {"BRCA1": "Gene", "TP53": "Disease"}.items()
            if name in names
        }

    rules = DocumentDecision(types={"Gene": msgspec.structs.replace(RULE, known=0.4)})

    def kept(text: str, *mentions: Mention) -> list[tuple[str, float | None]]:
        patch = decide_mentions(
            Document(id="1", text=text),
            Patch(add=mentions),
            rules,
            sentences=sentences,
            knows=knows,
        )
        return [(text[m.start : m.end], m.score) for m in patch.add]

    assert kept(TEXT, gene(TEXT, "BRCA1", 0.45), gene(TEXT, "TP53", 0.55)) == [("BRCA1", 0.45)]
    assert asked == ["BRCA1", "TP53"]
    # one sentence
    assert kept("Loss of BRCA1.", gene("Loss of BRCA1.", "BRCA1", 0.4)) == [("BRCA1", 0.4)]
    asked.clear()
    assert kept(TEXT, gene(TEXT, "BRCA1", 0.39), gene(TEXT, "TP53", 0.61)) == [("TP53", 0.61)]
    assert asked == []  # nothing is between the thresholds


def test_a_name_that_was_given_as_two_is_one() -> None:
    text = (
        "Effects of 1-aminocyclopentane-1,3-dicarboxylic acid (ACPD) and of IL-1. ACPD was given."
    )
    first, second = (11, text.index(",3")), (text.index("3-d"), text.index(" (ACPD"))
    given = [Mention((span,), "Chemical", score=0.9, source="m") for span in (first, second)]
    assert found(text, given) == [("1-aminocyclopentane-1,3-dicarboxylic acid", 11, 0.9)]


def test_ends_of_single_sentences_are_decided_apart() -> None:
    rules = DocumentDecision(types={"Gene": TypeDecision(ends="bare")})
    one, two = "The BRCA1 gene was lost.", "The BRCA1 gene was lost. So was the TP53 gene."
    assert [name for name, *_ in found(one, [gene(one, "BRCA1 gene", 0.9)], rules)] == [
        "BRCA1 gene"
    ]
    assert [name for name, *_ in found(two, [gene(two, "BRCA1 gene", 0.9)], rules)] == ["BRCA1"]
    both = rules.with_ends("bare")
    assert [name for name, *_ in found(one, [gene(one, "BRCA1 gene", 0.9)], both)] == ["BRCA1"]


# ----------------------------------------------------------------------------------- against brute
# force over positions
WORDS = st.lists(
    st.sampled_from(["BRCA1", "TP53", "TP53-like", "a", "gene", "(IL2)", "IL2"]),
    min_size=1,
    max_size=14,
)


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, list[Mention]]:
    """Sentences with mentions of whole words, which do not overlap."""
    words = draw(WORDS)
    stops = draw(
        st.lists(st.sampled_from([" ", ". The ", "\n\n"]), min_size=len(words), max_size=len(words))
    )
    text, mentions = "", []
    for word, stop in zip(words, stops, strict=True):
        if draw(st.booleans()):
            kind = draw(st.sampled_from(["Gene", "Disease"]))
            score = draw(st.sampled_from([0.1, 0.55, 0.6, 0.7, 0.8, 0.95]))
            mentions.append(
                Mention(((len(text), len(text) + len(word)),), kind, score=score, source="model")
            )
        text += word + stop
    return text, mentions


def by_brute_force(text: str, mentions: list[Mention]) -> set[tuple[str, int, int, float]]:
    """The same rules, tried at every pair of positions."""
    blocks, start = [], 0
    while (end := text.find("\n\n", start)) >= 0:
        blocks.append((start, end + 2))
        start = end + 2
    blocks.append((start, len(text)))
    result: set[tuple[str, int, int, float]] = set()
    for begin, stop in blocks:
        is_alone = len(sentences(text[begin:stop])) < 2
        for kind in ("Gene", "Disease"):
            given = [
                (*span, m.score or 0.0)
                for m in mentions
                if m.type == kind
                and begin <= m.start < stop
                and (span := neutral_span(text, m.spans[0], kind=kind))
            ]
            if is_alone:
                result |= {(kind, a, b, s) for a, b, s in given if s >= RULE.alone}
                continue
            best: dict[str, float] = {}
            for a, b, s in given:
                if s >= RULE.high:
                    best[text[a:b]] = max(s, best.get(text[a:b], 0.0))
            own = {(a, b): s for a, b, s in given}
            kept = {(a, b): best.get(text[a:b], s) for a, b, s in given if s >= RULE.low}
            for name in sorted(best, key=lambda one: (-len(one), one)):
                for a in range(begin, stop):
                    b = a + len(name)
                    whole = not text[a - 1 : a].isalnum() and not text[b : b + 1].isalnum()
                    met = [(c, d) for c, d in kept if c < b and a < d]
                    parts = all(a <= c and d <= b and (c, d) != (a, b) for c, d in met)
                    less = parts and all(own.get(one, 1.0) <= best[name] for one in met)
                    if (
                        text[a:b] == name
                        and whole
                        and less
                        and neutral_span(text, (a, b), kind=kind) == (a, b)
                    ):
                        kept = {one: score for one, score in kept.items() if one not in met} | {
                            (a, b): best[name]
                        }
            result |= {(kind, a, b, s) for (a, b), s in kept.items()}
    return result


@given(answers())
def test_decisions_are_those_of_brute_force(one: tuple[str, list[Mention]]) -> None:
    text, mentions = one
    patch = decide_mentions(
        Document(id="1", text=text), Patch(add=tuple(mentions)), RULES, sentences=sentences
    )
    assert {(m.type, m.start, m.end, m.score) for m in patch.add} == by_brute_force(text, mentions)


@given(answers())
def test_nothing_overlaps_within_a_type_and_a_second_decision_adds_nothing(
    one: tuple[str, list[Mention]],
) -> None:
    text, mentions = one
    document = Document(id="1", text=text)
    patch = decide_mentions(document, Patch(add=tuple(mentions)), RULES, sentences=sentences)
    for a, b in combinations(patch.add, 2):
        assert a.type != b.type or a.end <= b.start or b.end <= a.start
    again = decide_mentions(
        document, msgspec.structs.replace(patch, events=()), RULES, sentences=sentences
    )
    assert {m.key for m in again.add} == {m.key for m in patch.add}


@given(answers(), answers())
def test_a_document_does_not_depend_on_another_block(
    one: tuple[str, list[Mention]], other: tuple[str, list[Mention]]
) -> None:
    (text, mentions), (more, others) = one, other
    shift = len(text) + 2
    moved = [
        msgspec.structs.replace(m, spans=tuple((a + shift, b + shift) for a, b in m.spans))
        for m in others
    ]
    both = Patch(add=(*mentions, *moved))
    together = decide_mentions(
        Document(id="1", text=f"{text}\n\n{more}"), both, RULES, sentences=sentences
    )
    apart = decide_mentions(
        Document(id="1", text=text), Patch(add=tuple(mentions)), RULES, sentences=sentences
    )
    assert {m.key for m in together.add if m.start < shift} == {m.key for m in apart.add}


@given(st.floats(0, 1), st.floats(0.01, 100), st.floats(-100, 100))
def test_a_curve_is_that_of_log_odds(score: float, slope: float, offset: float) -> None:
    expected = round_scores(sigmoid(slope * logits(np.array([score])) + offset))[0]
    assert apply_curve(score, LogisticCurve(slope=slope, offset=offset)) == pytest.approx(
        expected, abs=1.1e-6
    )


def test_many_mentions_with_other_edges_take_linear_time() -> None:
    # They take a few seconds; comparing each with all others takes many minutes.
    text = "BRCA1- " * 12_000
    given = tuple(
        Mention(((at, at + 6),), "Gene", score=0.9, source="m") for at in range(0, len(text), 7)
    )
    began = time.process_time()
    patch = decide_mentions(
        Document(id="1", text=text), Patch(add=given), RULES, sentences=sentences
    )
    assert [one.spans for one in patch.add[:2]] == [((0, 5),), ((7, 12),)]
    assert len(patch.add) == 12_000
    assert time.process_time() - began < 30


def test_many_stretches_with_given_sentences_take_linear_time() -> None:
    text = "BRCA1 it is.\n\n" * 15_000
    starts = range(0, len(text), 14)
    given = tuple(Mention(((at, at + 5),), "Gene", score=0.3, source="m") for at in starts)
    document = Document(id="1", text=text, sentences=tuple((at, at + 12) for at in starts))
    began = time.process_time()
    decide_mentions(document, Patch(add=given), RULES, sentences=sentences)
    assert time.process_time() - began < 30
