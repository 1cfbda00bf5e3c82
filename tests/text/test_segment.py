"""Words and sentences of ``rules@1``."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.mention import check_ranges
from fascicle.errors import InputError
from fascicle.text.segment import SEGMENTERS, segmenter, sentences, words

ANY = st.text()
FRAGMENTS = [
    "The", "rat", "e.g.", "Fig.", "2", "0.5", ".", ". ", "! ", "? ", "\n", "\n\n", " ", "。", "\u200d", "\ufe0f",
    "e\u0301", "(", ").", "]", '."', "»", "METHODS", "- ", "1. ", "A.", "U.S.", "\u2029", "\r\n", "🇩🇪", "👍🏽", "が",
]  # fmt: skip
PROSE = st.lists(st.sampled_from([*FRAGMENTS, "x" * 210]), max_size=40).map("".join)


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def tokens(text: str) -> list[str]:
    return [text[start:end] for start, end in words(text)]


@given(ANY | PROSE)
def test_every_character_but_white_space_is_in_exactly_one_word(text: str) -> None:
    spans = words(text)
    check_ranges(spans, length=len(text), name="word")
    covered = {position for start, end in spans for position in range(start, end)}
    assert covered == {
        position for position, character in enumerate(text) if not character.isspace()
    }


@given(ANY | PROSE)
def test_sentences_lose_nothing_and_end_between_words(text: str) -> None:
    spans = sentences(text)
    check_ranges(spans, length=len(text), name="sentence")
    covered = {position for start, end in spans for position in range(start, end)}
    assert covered >= {
        position for position, character in enumerate(text) if not character.isspace()
    }
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    starts = {start for start, _ in words(text)}
    assert all(start in starts for start, _ in spans)


@given(ANY | PROSE)
def test_a_combining_mark_is_never_parted_from_its_base(text: str) -> None:
    for start, _ in words(text)[1:]:
        if not text[start - 1].isspace():
            assert not unicodedata.category(text[start]).startswith("M")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ataxia-telangiectasia (2.5)", ["ataxia", "-", "telangiectasia", "(", "2", ".", "5", ")"]),
        ("H2-receptor don't foo_bar", ["H2", "-", "receptor", "don", "'", "t", "foo", "_", "bar"]),
        ("...--", [".", ".", ".", "-", "-"]),
        ("中文カタ한국어", ["中", "文", "カ", "タ", "한국어"]),
        ("ใจ", ["ใ", "จ"]),
        ("e\u0301te\u0301 naïve", ["e\u0301te\u0301", "naïve"]),
        ("👩‍⚕️ ❤️‍🔥 👍🏽 🇩🇪🇫🇷 1️⃣", ["👩‍⚕️", "❤️‍🔥", "👍🏽", "🇩🇪", "🇫🇷", "1️⃣"]),
        ("می\u200cخواهم hy\u00adphen", ["می\u200cخواهم", "hy\u00adphen"]),
        ("\ufeffabc n\u200bm", ["\ufeff", "abc", "n", "\u200b", "m"]),
        ("β-catenin µg cm² ١٢٣", ["β", "-", "catenin", "µg", "cm²", "١٢٣"]),
        ("", []),
        (" \n\t\u3000", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "See e.g. the text, i.e. this one.",
        "As Fig. 2 and Figs. 3 show it.",
        "Smith et al. reported it.",
        "It was 5 vs. 7 in each.",
        "Dr. Smith and Prof. Jones of St. Louis met Mr. X.",
        "The U.S. Food and Drug Administration.",
        "A dose of 0.5 mg or .5 mg.",
        "E. coli and S. cerevisiae grow.",
        "Cultures of E. Coli grow.",
        "Significant (p < .05) and P < .001.",
        "It was No. 3 of them.",
        "J. R. R. Tolkien wrote it.",
        "Published in J. Biol. Chem. 273 in 1998.",
        "Given 5 mg/kg i.v. for a week (saline i.v. (n=12)).",
        "We saw it... and then not.",
        "Yahoo! announced it.",
        "One line\nwrapped to the next.",
        "Values of 0. 63 and 2. 5.",
        "Found at q21. 2 of it",
        "no full stop",
        "https://example.org/a.b?c=d.e",
        "Cats, dogs, etc., are here.",
    ],
)
def test_stays_whole(text: str) -> None:
    assert cut(text) == [text]


@pytest.mark.parametrize(
    "parts",
    [
        ["It works.", "We saw it."],
        ["Is it so?", "Yes!", "Good."],
        ['He said: "Stop!"', "She left (at 5 p.m.).", "Then (it rained.)", "We slept."],
        ["It rose [3].", "It fell.[3, 4]", "It stayed."],
        ["Rich in vitamin C.", "Cells died."],
        ["It binds NF-kappa B.", "Expression rose."],
        ["In the U.S.", "The rate fell."],
        ["After 50 ms.", "Later stimuli failed."],
        ["It causes CF.", "Mutations matter."],
        ["We killed the rats.", "12 mice lived."],
        ["They grew.", "(B) Others did not.", "[Ca2+] rose.", '"Quoted" text.'],
        ["It was expressed.", "mRNA levels fell.", "beta-Blockers helped.", "p53 rose."],
        ["Tested in dogs.", "1. The dose rose.", "2. Nothing changed."],
        ["It was 0.5 (P<0.05).", "RESULTS: It fell to 13q14. 3.", "This held."],
        ["The dose was 5 mg/kg i.v.", "RESULTS: It helped."],
        ["Он был там.", "Она тоже."],
        ["मैं घर गया।", "वह आया।"],
        ["هل هذا صحيح؟", "نعم."],
    ],
)
def test_is_cut(parts: list[str]) -> None:
    assert cut(" ".join(parts)) == parts
    assert cut(" " + "  ".join(parts) + "\n") == parts


def test_scripts_without_spaces_need_none_after_the_full_stop() -> None:
    assert cut("这是一。那是二！「是。」好") == ["这是一。", "那是二！", "「是。」", "好"]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028"])
@pytest.mark.parametrize(
    "lines",
    [
        ["Title without full stop", "", "Text begins."],
        ["METHODS", "We did it."],
        ["Introduction:", "We did it."],
        ["# Heading", "Text."],
        ["- one item", "- another item"],
        ["1. one item", "2) another item"],
        ["A title", "A long line that no editor wrapped, " * 8 + "ends."],
    ],
)
def test_layout_cuts(lines: list[str], line_break: str) -> None:
    assert cut(line_break.join(lines)) == [line for line in lines if line]


HARD = {
    "no boundary": "a" * 200_000,
    "full stops": "." * 200_000,
    "spaced full stops": ". " * 100_000,
    "white space": " " * 200_000,
    "stop then white space": "." + " " * 200_000,
    "line breaks": "\n" * 200_000,
    "quotes": '."' * 100_000,
    "open citations": ".[1" * 66_000,
    "long citation": ".[" + "1" * 200_000,
    "brackets": ". " + "(" * 200_000,
    "initials": "A. " * 66_000,
    "joiners": "-" + "\u200d" * 200_000,
    "marks": "\u0301" * 200_000,
    "headings": "ABCD\n" * 40_000,
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_hard_inputs_are_cut_in_linear_time(text: str) -> None:
    # Each takes a fraction of a second; a rule that reads the rest of the text at every character
    # would take minutes.
    for spans in (words(text), sentences(text)):
        assert bool(spans) == bool(text.strip())


def test_versions_are_looked_up_by_name() -> None:
    assert SEGMENTERS["rules@1"].words is words
    assert segmenter("rules@1") is SEGMENTERS["rules@1"]
    assert all(name == entry.name for name, entry in SEGMENTERS.items())
    with pytest.raises(InputError, match="rules@1"):
        segmenter("rules@0")


def _articles(path: Path) -> list[tuple[str, list[tuple[int, int]]]]:
    articles = []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = [line for line in block.splitlines() if line]
        title, abstract = (line.split("|", 2)[2] for line in lines[:2])
        fields = [line.split("\t") for line in lines[2:]]
        articles.append(
            (f"{title} {abstract}", [(int(f[1]), int(f[2])) for f in fields if len(f) > 4])
        )
    return articles


def test_gold_mentions_are_words_inside_one_sentence(fascicle_data: Path) -> None:
    crossing = inside = total = 0
    for text, mentions in _articles(
        fascicle_data / "bc5cdr" / "pubtator" / "CDR_DevelopmentSet.PubTator.txt"
    ):
        cuts = [start for start, _ in sentences(text)]
        starts, ends = ({span[side] for span in words(text)} for side in (0, 1))
        for start, end in mentions:
            total += 1
            crossing += any(start < position < end for position in cuts)
            inside += start not in starts or end not in ends
    assert total == 9591
    assert crossing == 0
    assert inside == 10  # "5-HT" of "5-HT6" and the like: the annotation cuts words
