"""Tests of what a text says of its mentions."""

import re
from functools import cache
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.errors import RecipeError
from fascicle.settings.assertion import FACTS, CueGroup, read_cues
from fascicle.text.assertion import AssertionRules

_MENTIONS = Path(__file__).parent / "assertion-mentions.tsv"


def _marked(sentence: str, kind: str = "Disease") -> Document:
    """Returns the document of a sentence, with a mention for each pair of brackets."""
    text, mentions = "", []
    for number, part in enumerate(re.split(r"\[\[|\]\]", sentence)):
        if number % 2:
            mentions.append(Mention(((len(text), len(text) + len(part)),), kind, source="names"))
        text += part
    return Document(id="a", text=text, mentions=tuple(mentions))


def _facts(sentence: str, rules: AssertionRules, kind: str = "Disease") -> list[dict[str, str]]:
    """Returns the facts of each mention of a sentence, each with the words of its cue."""
    document = _marked(sentence, kind)
    return [
        {
            fact: document.text[slice(*map(int, place.split("-")))]
            for fact, place in mention.attributes
        }
        for mention in rules.assert_facts(document, document.mentions)
    ]


@cache
def _english() -> AssertionRules:
    return AssertionRules(read_cues())


@pytest.fixture
def english() -> AssertionRules:
    return _english()


@pytest.mark.parametrize(
    "group", read_cues().cues, ids=lambda group: f"{group.fact or 'none'}, {group.words[0]}"
)
def test_examples_of_cues(group: CueGroup, english: AssertionRules) -> None:
    for example in group.examples:
        assert all(group.fact in facts for facts in _facts(example, english)), example
    for example in group.counterexamples:
        facts = _facts(example, english)
        assert not any(group.fact in one if group.fact else one for one in facts), (example, facts)


def _read() -> list[tuple[str, str, set[str]]]:
    """Returns sentence, type and facts of each mention of the table beside this file."""
    lines = _MENTIONS.read_text(encoding="utf-8").splitlines()[1:]
    return [
        (sentence, kind, set(facts.split()))
        for _, kind, sentence, facts in (line.split("\t") for line in lines)
    ]


@pytest.mark.parametrize("fact", FACTS)
def test_facts_of_mentions_that_were_read_before_the_rules_were_written(
    fact: str, english: AssertionRules
) -> None:
    pairs = [(fact in gold, fact in _facts(text, english, kind)[0]) for text, kind, gold in _read()]
    right, wrong = (
        pairs.count((True, True)),
        pairs.count((True, False)) + pairs.count((False, True)),
    )
    assert 2 * right / (2 * right + wrong) >= 0.85


_PARTS = st.sampled_from(
    [
        *(
            "no",
            "without",
            "may cause",
            "history of",
            "mother had",
            "risk of",
            "was ruled out",
            "?",
            "if",
            "PMH:",
        ),
        *(
            "but",
            ",",
            "and",
            "or",
            ".",
            ";",
            ":",
            "(",
            ")",
            "\n",
            "\n\n",
            "NO",
            "the",
            "seen in",
            "é",
            "\u0301",
            "¿",
        ),
        *("[[fever]]", "[[tumour of the lung]]", "[[pain]]", "[[no]]", "[[É x]]"),
    ]
)


@given(st.lists(_PARTS, max_size=25).map(" ".join))
def test_cues_are_in_the_text_and_outside_of_their_mention(sentence: str) -> None:
    rules, document = _english(), _marked(sentence)
    for mention in rules.assert_facts(document, document.mentions):
        for fact, place in mention.attributes:
            start, end = map(int, place.split("-"))
            assert fact in FACTS
            assert 0 <= start < end <= len(document.text)
            assert end <= mention.start or start >= mention.end
            assert document.text[start:end] == document.text[start:end].strip()


@given(st.lists(_PARTS, max_size=15).map(" ".join), st.randoms())
def test_the_order_of_mentions_and_earlier_facts_do_not_matter(
    sentence: str, order: Random
) -> None:
    rules, document = _english(), _marked(sentence)
    expected = rules.assert_facts(document, document.mentions)
    shuffled = list(expected)
    order.shuffle(shuffled)
    assert rules.assert_facts(document, shuffled) == shuffled


def test_the_nearest_cue_is_the_evidence(english: AssertionRules) -> None:
    assert _facts("No cough, no [[fever]].", english) == [{"negated": "no"}]
    assert _facts("No history of [[gout]].", english) == [
        {"negated": "No", "historical": "history of"}
    ]


def test_nitric_oxide_is_no_cue(english: AssertionRules) -> None:
    assert _facts("They measured NO [[signalling]].", english) == [{}]
    assert _facts("NO [[FEVER]] TODAY.", english) == [{"negated": "NO"}]


def test_contracted_negations_are_those_in_full(english: AssertionRules) -> None:
    for words in ("doesn't have", "doesn’t have"):
        assert _facts(f"He {words} [[gout]].", english) == [{"negated": words}]


def test_words_behind_a_colon_are_said_of_what_is_before_it_unless_it_is_a_heading(
    english: AssertionRules,
) -> None:
    assert _facts("[[Fever]]: no, [[cough]]: yes.", english) == [{"negated": ": no"}, {}]
    assert _facts("Skin: no [[rash]], cough or [[pain]].", english) == [{"negated": "no"}] * 2
    assert _facts("[[Pain]]: no [[fever]].", english) == [{}, {"negated": "no"}]
    assert _facts("[[Pain]]: denied by her.", english) == [{"negated": ": denied by her"}]


def test_cues_within_parentheses_hold_there(english: AssertionRules) -> None:
    assert _facts("The wound (no [[swelling]]) and [[pain]].", english) == [{"negated": "no"}, {}]
    assert _facts("No (new) [[swelling]].", english) == [{"negated": "No"}]


def test_discontinuous_mentions_and_further_attributes(english: AssertionRules) -> None:
    mention = Mention(((3, 7), (20, 26)), "Disease", attributes=(("note", "x"), ("negated", "0-1")))
    document = Document(id="a", text="No skin, lung or any cancer.", mentions=(mention,))
    (found,) = english.assert_facts(document, [mention])
    assert found.attributes == (("note", "x"), ("negated", "0-2"))


def test_sections_and_lines_of_lists_end_scopes(english: AssertionRules) -> None:
    document = _marked("No\n\n[[Fever]]\n- [[pain]]")
    assert [
        mention.attributes for mention in english.assert_facts(document, document.mentions)
    ] == [(), ()]


def test_facts_of_some_types_alone() -> None:
    rules = AssertionRules(
        msgspec.structs.replace(read_cues(), types={"Gene": (), "Disease": ("uncertain",)})
    )
    assert _facts("No [[TP53]].", rules, "Gene") == [{}]
    assert _facts("No [[fever]].", rules, "Disease") == [{}]
    assert _facts("Possible [[fever]].", rules, "Disease") == [{"uncertain": "Possible"}]
    assert _facts("No [[aspirin]].", rules, "Chemical") == [{"negated": "No"}]


def test_mentions_without_words_and_outside_of_sentences_have_no_facts(
    english: AssertionRules,
) -> None:
    mention = Mention(((3, 8),), "Disease", source="names")
    for words in (((0, 2),), ((0, 2), (8, 9))):
        document = Document(id="a", text="No fever.", words=words, mentions=(mention,))
        assert english.assert_facts(document, [mention]) == [mention]


def test_another_language(tmp_path: Path) -> None:
    (tmp_path / "de.toml").write_text(
        '[ends]\nclause = ["aber"]\nseparators = [",", "oder"]\n'
        '[[cues]]\nfact = "negated"\nwords = ["kein", "keine"]\nreach = 1\n',
        encoding="utf-8",
    )
    rules = AssertionRules(read_cues(tmp_path / "de.toml"))
    found = _facts(
        "Keine [[Übelkeit]], kein [[Fieber]] oder [[Husten]], aber [[Schmerz]]; no [[pain]].", rules
    )
    assert found == [{"negated": "Keine"}, {"negated": "kein"}, {"negated": "kein"}, {}, {}]


def test_own_cues_beside_the_shipped_ones(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'extends = "en"\n[[cues]]\nfact = "negated"\nwords = ["nix with"]\n', encoding="utf-8"
    )
    rules = AssertionRules(read_cues(own))
    assert _facts("Nix with [[fever]], no [[pain]].", rules) == [
        {"negated": "Nix with"},
        {"negated": "no"},
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"the file has no cues; begin each group of cues with a line \[\[cues\]\]"),
        ("cues = 1", "array"),
        ('[[cues]]\nfact = "denied"\nwords = ["x"]', "Invalid enum value 'denied'|denied"),
        ('[[cues]]\nfact = "negated"\nwords = []', "length"),
        (
            '[[cues]]\nfact = "negated"\nwords = ["* of"]',
            r"the cue '\* of' does not begin with a word",
        ),
        ('[[cues]]\nfact = "negated"\nwords = ["no"]\nexamples = ["No fever."]', "write one as"),
        ('[[cues]]\nfact = "negated"\nwords = [" "]', "does not begin with a word"),
        ('[[cues]]\nfact = "negated"\nword = ["no"]', "word"),
        ("[[cues", r"begin each group of cues with a line \[\[cues\]\]"),
    ],
)
def test_files_of_cues_that_are_wrong(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(content, encoding="utf-8")
    with pytest.raises(RecipeError, match=message):
        read_cues(tmp_path / "own.toml")
    with pytest.raises(RecipeError, match="there is no file of cues at"):
        read_cues(tmp_path / "none.toml")
