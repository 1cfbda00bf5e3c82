"""Rules over words and their context: against a loop over all places, and each with its own
tests.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, Relation, Section
from fascicle.core.patches import apply
from fascicle.errors import RecipeError
from fascicle.pipeline.rules import Rules
from fascicle.settings.steps import RuleSettings, RuleTest
from fascicle.text.segment import segmenter

CUTS = segmenter("rules@1")


def step(*rules: dict[str, Any]) -> Rules:
    settings = []
    for rule in rules:
        tests = tuple(RuleTest(**test) for test in rule.get("tests", [{"text": "-", "find": ()}]))
        settings.append(RuleSettings(**{**rule, "tests": tests}))
    return Rules("rules", settings, segmenter=CUTS, fingerprint="")


def after(rules: Rules, text: str, *mentions: Mention) -> list[tuple[str, str]]:
    document = Document(
        id="a", text=text, mentions=mentions, words=CUTS.words(text), sentences=CUTS.sentences(text)
    )
    (patch,) = rules.run([document])
    changed = apply(document, patch, step=rules.name, drops=rules.drops)
    return [(one.text, one.type) for one in changed]


def of(text: str, words: str, kind: str = "Gene", source: str = "one") -> Mention:
    start = text.index(words)
    return Mention(((start, start + len(words)),), kind, source=source)


def test_words_are_added_in_their_context() -> None:
    rules = step(
        {"type": "Gene", "words": r"[A-Z]{2,} \d+", "before": "the|gene", "not_after": "mg"}
    )
    assert after(rules, "We saw the IL 2 here. The gene\n AB  17, the CD 4 mg; and XY 3.") == [
        ("IL 2", "Gene"),
        ("AB  17", "Gene"),
    ]


def test_a_rule_of_sections_does_nothing_elsewhere() -> None:
    text = "IL 2 is old.\n\nIL 2 is new.\n\nIL 2 ends."
    sections = (Section(0, 12, "title"), Section(14, 26, "abstract-results"))
    document = Document(
        id="a", text=text, words=CUTS.words(text), sentences=CUTS.sentences(text), sections=sections
    )
    add = {
        "type": "Gene",
        "words": "IL 2",
        "sections": ("abstract",),
        "tests": [{"text": "IL 2.", "find": ("IL 2",)}],
    }
    drop = {"type": "Gene", "does": "drop", "sources": ("one",), "sections": ("title",)}
    drop["tests"] = [{"text": "[[IL 2]].", "find": ()}]
    rules = step(add, drop)
    found = tuple(Mention(((at, at + 4),), "Gene", source="one") for at in (0, 14, 28))
    given = document.having(mentions=found)
    (patch,) = rules.run([given])
    after = apply(given, patch, step=rules.name, drops=rules.drops)
    assert [(one.start, one.source) for one in after.mentions] == [
        (14, "one"),
        (14, "rules"),
        (28, "one"),
    ]


def test_no_rule_reaches_over_a_sentence() -> None:
    rules = step(
        {"type": "Gene", "words": "IL 2"}, {"type": "Dose", "words": r"\d", "before": "dose"}
    )
    assert after(rules, "It was IL. 2 of them. The dose. 3 more.") == []


def test_mentions_are_dropped_and_retyped() -> None:
    text = "The cat gene and the cat sat in Texas Disease."
    drop = {
        "type": "Gene",
        "does": "drop",
        "words": "(?i:cat)",
        "not_after": "genes?",
        "sources": ("one",),
    }
    retype = {
        "type": "Disease",
        "does": "retype",
        "to": "Place",
        "words": "Texas",
        "sources": ("one",),
    }
    second = Mention(((21, 24),), "Gene", source="one")
    other = Mention(((21, 24),), "Gene", source="two")
    found = after(
        step(drop, retype), text, of(text, "cat"), second, other, of(text, "Texas", "Disease")
    )
    assert found == [("cat", "Gene"), ("cat", "Gene"), ("Texas", "Place")]


def test_a_rule_sees_what_the_one_before_it_did() -> None:
    add = {"type": "Gene", "words": "IL 2"}
    drop = {"type": "Gene", "does": "drop", "after": "receptor", "sources": ("rules",)}
    assert after(step(add, drop), "IL 2 receptor, and IL 2 alone.") == [("IL 2", "Gene")]
    assert after(step(drop, add), "IL 2 receptor, and IL 2 alone.") == [("IL 2", "Gene")] * 2


def test_a_retyped_mention_that_is_there_already_is_one() -> None:
    retype = {"type": "A", "does": "retype", "to": "B", "sources": ("one",)}
    assert after(step(retype), "word", of("word", "word", "A"), of("word", "word", "B")) == [
        ("word", "B")
    ]


@pytest.mark.parametrize(
    "rule",
    [
        {
            "type": "Gene",
            "words": r"IL \d",
            "tests": [{"text": "IL 2 and IL 3", "find": ("IL 2",)}],
        },
        {"type": "Gene", "words": r"IL \d", "tests": [{"text": "IL x", "find": ("IL x",)}]},
        {
            "type": "Gene",
            "does": "drop",
            "words": "cat",
            "sources": ("one",),
            "tests": [{"text": "the [[cat]]", "find": ("cat",)}],
        },
        {"type": "Gene", "words": "(", "tests": [{"text": "(", "find": ()}]},
    ],
)
def test_a_rule_that_fails_its_own_test_is_refused(rule: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match="rule 1"):
        step(rule)


def test_marked_mentions_of_tests() -> None:
    step(
        {
            "type": "Gene",
            "does": "retype",
            "to": "Animal",
            "sources": ("one",),
            "after": "sat",
            "tests": [{"text": "[[cat]] sat on a [[mouse]].", "find": ("cat",)}],
        }
    )


@given(
    st.lists(st.sampled_from(["aa", "b", "c7", ".", "B", "-"]), max_size=14),
    st.sampled_from(["", "b", "b|c7"]),
)
def test_added_words_against_a_loop(words: list[str], before: str) -> None:
    pattern = r"aa|c\d( aa)?"
    rules = step({"type": "T", "words": pattern, "before": before})
    text = " ".join(words)
    document = Document(id="a", text=text, words=CUTS.words(text), sentences=CUTS.sentences(text))
    expected = []
    for first, last in document.sentences or ():
        inside = [word for word in document.words or () if first <= word[0] < last]
        at = 0
        while at < len(inside):
            ends = [end for end in (at + 2, at + 1) if end <= len(inside)]
            shown = {end: " ".join(text[a:b] for a, b in inside[at:end]) for end in ends}
            fits = [end for end in ends if re.fullmatch(pattern, shown[end])]
            if not fits:
                at += 1
                continue
            left = text[inside[at - 1][0] : inside[at - 1][1]] if at else ""
            if not before or re.fullmatch(before, left):
                expected.append((inside[at][0], inside[fits[0] - 1][1]))
            at = fits[0]
    (patch,) = rules.run([document])
    assert [one.spans[0] for one in patch.add] == expected


def test_a_pattern_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fascicle.pipeline.rules._SECONDS", 0.2)
    rules = step({"type": "Gene", "words": "(a+)+"})
    with pytest.raises(RecipeError, match=r"rules: .*pattern"):
        after(rules, "a" * 200 + "b")
    assert after(rules, "aaa") == [("aaa", "Gene")]


@pytest.mark.parametrize("pattern", ["a{99999999999}", "(" * 5_000 + ")" * 5_000])
def test_a_pattern_that_cannot_be_compiled_is_refused(pattern: str) -> None:
    with pytest.raises(RecipeError, match="not a regular expression"):
        step({"type": "Gene", "words": pattern})


def test_relations_follow_what_joins_an_equal_mention() -> None:
    one, same, third = (
        of("IL 2 and CD 4", "IL 2"),
        of("IL 2 and CD 4", "IL 2", "Protein"),
        of("IL 2 and CD 4", "CD 4"),
    )
    stated = Relation(type="binds", arguments=(("a", one.key), ("b", same.key), ("c", third.key)))
    text = "IL 2 and CD 4"
    given = Document(
        id="a", text=text, mentions=(one, same, third), relations=(stated,), words=CUTS.words(text)
    )
    given = given.having(sentences=CUTS.sentences(text))
    retype = {"type": "Gene", "does": "retype", "to": "Protein", "sources": ("one",)}
    again = {"type": "Protein", "does": "retype", "to": "Molecule", "sources": ("one",)}
    for rules, kind in ((step(retype), "Protein"), (step(retype, again), "Molecule")):
        (patch,) = rules.run([given])
        changed = apply(given, patch, step=rules.name, drops=rules.drops)
        wanted = [(one.source, kind, place.spans) for place in (one, third)]
        assert [mention.key for mention in changed.mentions] == wanted
        assert [key for _, key in changed.relations[0].arguments] == [wanted[0], *wanted]
        assert changed.layer("one", original=True) == given.mentions
