"""The view for reading: the text itself, wrapped, with marks that are never off."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import STEP, Document, Link, Mention, link_event
from fascicle.formats import write
from fascicle.formats.textview import TextView, ViewOptions

SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")


def view(text: str, *mentions: Mention, width: int = 80, colour: bool = False) -> str:
    document = Document(id="d", text=text)
    rendered = TextView(ViewOptions(width=width, colour=colour, title=False)).render(
        document, mentions
    )
    assert rendered.endswith("\n\n")
    return rendered[:-2]


def at(start: int, end: int, kind: str = "D") -> Mention:
    return Mention(((start, end),), kind)


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        ([], "a lung cancer b"),
        ([at(2, 13)], "a [lung cancer]D b"),
        ([at(2, 13), at(2, 6, "O")], "a [[lung]O cancer]D b"),
        ([at(2, 13), at(7, 13, "O")], "a [lung [cancer]O]D b"),
        ([at(2, 6), at(2, 6, "O")], "a [[lung]O]D cancer b"),
        ([at(0, 6), at(2, 13, "O")], "[a [lung]D cancer]O b"),
        ([at(0, 15)], "[a lung cancer b]D"),
        ([Mention(((2, 6), (14, 15)), "D")], "a [lung]D+ cancer [b]D"),
        ([at(2, 6), at(6, 7, "blank")], "a [lung]D[ ]blankcancer b"),
    ],
)
def test_brackets(mentions: list[Mention], expected: str) -> None:
    assert view("a lung cancer b", *mentions) == expected


def test_colours_follow_the_types_and_nested_mentions_are_bold() -> None:
    shown = view("lung cancer", at(0, 11, "Disease"), at(0, 4, "Organ"), colour=True)
    # The inner mention met first takes the first colour.
    assert shown == "\x1b[1;4;36mlung\x1b[0m\x1b[4;33m \x1b[0m\x1b[4;33mcancer\x1b[0m"


def test_lines_break_at_blanks_only() -> None:
    shown = view("word " * 50 + "x" * 90 + " end", width=40)
    assert all(len(line) <= 40 or line == "x" * 90 for line in shown.split("\n"))
    assert shown.split() == [*["word"] * 50, "x" * 90, "end"]


def test_a_mention_may_wrap_and_stays_marked() -> None:
    text = "aaaa " * 10
    shown = view(text, at(0, 49), width=20, colour=True)
    assert all(
        line.startswith("\x1b[4;36m") and line.endswith("\x1b[0m") for line in shown.split("\n")
    )


def test_line_breaks_of_the_text_are_kept() -> None:
    assert view("a\r\nb\n\n\n\nc\td") == "a\nb\n\nc d"


def test_wide_characters_take_two_columns() -> None:
    assert view("肺癌肺癌 肺癌肺癌 肺癌肺癌", width=20).split("\n") == [
        "肺癌肺癌 肺癌肺癌",
        "肺癌肺癌",
    ]


def test_the_terminal_obeys_no_text() -> None:
    assert "\x1b" not in view("a \x1b[31mred\x07 \x9b31m \x00 b", at(2, 9))


def test_the_legend_counts() -> None:
    shown = TextView(ViewOptions(width=80, types=("Chemical", "Disease")))
    shown.render(
        Document(id="1", text="abc"),
        [at(0, 1, "Disease"), at(1, 2, "Disease"), at(2, 3, "Chemical")],
    )
    assert shown.legend() == "Disease 2  Chemical 1  in 1 document\n"
    shown.render(Document(id="2", text=""), [])
    assert shown.legend().endswith("in 2 documents\n")
    assert TextView(ViewOptions(width=80)).legend() == "no mentions  in 0 documents\n"


def test_links_stand_below_the_text_and_their_origin_below_all() -> None:
    asthma = Link(id="D001249", ontology="MESH", name="Asthma", curie="MESH:D001249")
    bare = Link(id="7", ontology="own", name="\x1b[31m")
    words = "severe  asthma and asthma"
    mentions = [
        Mention(((8, 14),), "D", links=(asthma, bare)),
        Mention(((19, 25),), "D", links=(asthma,)),
        Mention(((0, 6),), "D", links=(Link(id="", nil=True),)),
    ]
    event = link_event("pack@1", [("MESH", "2024")], step=STEP)
    shown = TextView(ViewOptions(width=80, title=False))
    first, *below = shown.render(
        Document(id="1", text=words, events=(event,)), mentions
    ).splitlines()
    assert "MESH" not in first
    assert len(below) == 3  # each link once, and an empty line
    assert "MESH:D001249 Asthma" in below[0]
    assert "own:7" in below[1]
    assert "\x1b" not in below[1]
    other = link_event("pack@1", [("MESH", "2024"), ("DOID", "")], step=STEP)
    shown.render(Document(id="2", text=words, events=(event, other)), mentions)
    assert (
        shown.legend().count("2024")
        == shown.legend().count("pack@1")
        == shown.legend().count("DOID")
        == 1
    )


@st.composite
def annotated(draw: st.DrawFn) -> tuple[str, list[Mention]]:
    text = draw(st.text(alphabet="ab é肺\n\t\r,", min_size=1, max_size=60))
    places = st.integers(0, len(text))
    spans = draw(st.lists(st.tuples(places, places).filter(lambda s: s[0] < s[1]), max_size=8))
    return text, [at(a, b, draw(st.sampled_from("DCO"))) for a, b in spans]


@given(annotated(), st.integers(20, 40), st.booleans())
def test_nothing_but_blanks_changes(
    case: tuple[str, list[Mention]], width: int, colour: bool
) -> None:
    text, mentions = case
    shown = view(text, *mentions, width=width, colour=colour)
    plain = SEQUENCE.sub("", shown) if colour else re.sub(r"\[|\][DCO]", "", shown)
    assert re.sub(r"\s+", "", plain) == re.sub(r"\s+", "", text)


@given(annotated())
def test_brackets_enclose_what_the_mentions_say(case: tuple[str, list[Mention]]) -> None:
    text, mentions = case
    shown = view(text, *mentions, width=10_000)
    opened: list[str] = []
    for sign in re.findall(r"\[|\][DCO]|[^\s\[\]]", shown):
        if sign != "[" and sign[0] != "]":
            opened.append(sign)
    assert shown.count("[") == len(mentions)
    assert sorted(re.findall(r"\]([DCO])", shown)) == sorted(m.type for m in mentions)
    for mention in mentions[:1]:
        alone = view(text, mention, width=10_000)
        inside = alone[alone.index("[") + 1 : alone.rindex("]")]
        assert inside.split() == mention.text_in(text).split()


def test_in_colour_the_better_of_two_types_of_a_range_is_shown(tmp_path: Path) -> None:
    mentions = (
        Mention(((0, 5),), "CellType", score=0.52),
        Mention(((0, 5),), "Disease", score=0.97),
    )
    document = Document(id="d", text="Tumor", mentions=mentions)
    colours = ViewOptions(colour=True, width=80, types=("CellType", "Disease"))
    report = write(tmp_path / "a", [document], format="text", options=colours)
    # the colour of the second type
    assert "\x1b[1;4;33mTumor\x1b[0m" in (tmp_path / "a").read_text()
    assert report.losses["nested"] == 1
    assert "CellType 0.52 gave way to Disease 0.97" in report.examples["nested"]
    plain = write(tmp_path / "b", [document], format="text", options=ViewOptions(width=80))
    assert plain.losses["nested"] == 0
