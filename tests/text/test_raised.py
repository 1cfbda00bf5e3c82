"""Raised text: marks of citations and notes are left out, and what belongs to a name stays."""

from __future__ import annotations

import re

import pytest
from tests.text.raised import CONSTRUCTS, LETTERED, MARKS, NAMES

from fascicle.text.raised import Level, Line, Piece, without_marks

TAG = re.compile(r"<(/?)(sup|sub|a)>")


def pieces(text: str) -> list[Piece]:
    """The pieces of a text with `sup`, `sub`, and `a` for a link to a reference."""
    level, raised, linked, result = Level.PLAIN, False, False, []
    for at, part in enumerate(re.split(r"(</?(?:sup|sub|a)>)", text)):
        if at % 2:
            raised = part == "<sup>" if "sup" in part else raised
            linked = part == "<a>" if part.endswith("a>") else linked
            level = {
                (True, True): Level.MARK,
                (True, False): Level.RAISED,
                (False, True): Level.LINKED,
            }.get((raised, linked), Level.PLAIN)
        elif part:
            result.append(Piece(part, level))
    return result


def line(text: str) -> str:
    built = Line()
    for piece in pieces(text):
        built.add(*piece)
    return " ".join(built.take().split())


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_what_belongs_to_a_name_stays(construct: str) -> None:
    plain = TAG.sub("", construct)
    for before, after in (("", ""), ("We measured ", " in rats."), ("of ", ", and"), ("(", ")")):
        assert line(f"{before}{construct}{after}") == " ".join(f"{before}{plain}{after}".split())


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", NAMES)
def test_marks_never_join_a_name(name: str, mark: str) -> None:
    for after in (" was common.", ".", ", and", "; then", ") and"):
        assert line(f"We saw {name}<sup>{mark}</sup>{after}") == f"We saw {name}{after}"
        assert line(f"We saw {name}<sup><a>{mark}</a></sup>{after}") == f"We saw {name}{after}"
    assert line(f"We saw {name}.<sup>{mark}</sup> Then") == f"We saw {name}. Then"
    assert line(f"We saw {name}.<sup><a>{mark}</a></sup>Then") == f"We saw {name}. Then"


@pytest.mark.parametrize("mark", ["12", "7", "35", "145", *MARKS[1:9], MARKS[-1]])
@pytest.mark.parametrize("name", LETTERED)
def test_marks_never_join_a_name_that_ends_in_a_capital(name: str, mark: str) -> None:
    for before, after in (("", " was"), ("We saw ", ", and"), ("of ", "."), ("(", ")")):
        assert line(f"{before}{name}<sup>{mark}</sup>{after}") == f"{before}{name}{after}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gout<sup><a>1</a>,<a>2</a></sup> was", "gout was"),
        (
            "<sup>1</sup>Pack years; <sup>2</sup>Non-smoker; <sup>3</sup>White",
            "Pack years; Non-smoker; White",
        ),
        ("<sup>a</sup>In F2 mice.<sup>b</sup>In 76 mice", "In F2 mice. In 76 mice"),
        ("<sup>1</sup>H and <sup>2</sup>H, <sup>3</sup>H", "1H and 2H, 3H"),
        ("gout<a><sup>1</sup></a><sup>,</sup><a><sup>2</sup></a> was", "gout was"),
        ("gout<sup><a>1</a></sup>,<sup><a>2</a></sup> was", "gout was"),
        ("gout<sup><a>1</a></sup>–<sup><a>4</a></sup> was", "gout was"),
        ("gout<sup>[<a>1</a>–<a>4</a>]</sup> was", "gout was"),
        ("gout<sup>refs. <a>1</a></sup> was", "gout was"),
        ("gout<sup><a>1</a></sup><sup>–3</sup> was", "gout was"),
        ("gout<sup><a>a</a></sup>, asthma<sup><a>*</a></sup>", "gout, asthma"),
        ("IL-2<a>3</a> and gout<a>1</a>,<a>2</a> was", "IL-2 and gout was"),
        (
            "IL-2 [<a>3</a>,<a>4</a>] and (<a>5</a>) and refs. <a>3</a>",
            "IL-2 [3,4] and (5) and refs. 3",
        ),
        ("(Smith <a>2003</a>)", "(Smith 2003)"),
        (
            "Table <a>1</a>, Figs. <a>2</a> and <a>3</a>, Section <a>4</a>, Phase <a>3</a>",
            "Table 1, Figs. 2 and 3, Section 4, Phase 3",
        ),
        ("in a table <a>1</a> of", "in a table of"),
        ("Ca<sup>2+,<a>3</a></sup> was", "Ca2+ was"),
        ("Ca<sup>2+</sup><sup><a>3</a></sup> was", "Ca2+ was"),
        ("Cl<sup>-</sup><sup><a>3</a></sup> was", "Cl- was"),
        ("Ca<sup>2+</sup><sup>3</sup> was", "Ca2+ was"),
        ("Ca<sup>2</sup><sup>+</sup> was", "Ca2+ was"),
        ("CO<sub>2</sub><sup>3</sup> was", "CO2 was"),
        ("BMI (kg/m<sup>2</sup>)<sup>4</sup> was", "BMI (kg/m2) was"),
        ("10<sup>6</sup> cells<sup>6</sup>", "106 cells"),
        (
            "TNF-α<sup>3</sup>, interferon γ<sup>3</sup>, c-Met<sup>3</sup>",
            "TNF-α, interferon γ, c-Met",
        ),
        ("in 2010<sup>3</sup> and interleukin 10<sup>3</sup>", "in 2010 and interleukin 10"),
        (
            "<sup>1</sup>Department of gout, <sup>a</sup>Values, <sup>131</sup>Iodine",
            "Department of gout, aValues, 131Iodine",
        ),
        ("gout <sup>3</sup> was", "gout was"),
        ("5 mg<sup>2</sup> of", "5 mg of"),
        ("as described in<sup>2</sup>", "as described in"),
        ("CD4<sup>+</sup> cells<sup>1</sup>", "CD4+ cells"),
        (
            "gout<sup>1 2</sup>, lupus<sup>1 and 2</sup> and IL-2<sup>3 & 4</sup>",
            "gout, lupus and IL-2",
        ),
        (
            "aspirin<sup>a</sup>, lupus<sup>a,b</sup> and gout<sup>e1,e2</sup>",
            "aspirin, lupus and gout",
        ),
        (
            "vitamins A, C and E<sup>12</sup>, hepatitis B or C<sup>12</sup>, troponin I<sup>12</sup>",
            "vitamins A, C and E, hepatitis B or C, troponin I",
        ),
        (
            "TNF α<sup>3</sup>, amyloid β<sup>2</sup>, PPAR γ<sup>12</sup>-dependent",
            "TNF α, amyloid β, PPAR γ-dependent",
        ),
        ("lipid A<sup>12</sup>-induced, BPA N<sup>6</sup>-acid", "lipid A-induced, BPA N6-acid"),
        ("cystatin C<sup>22</sup> (model A<sup>7</sup>)", "cystatin C (model A)"),
        (
            "IL-10<sup>6</sup>, 0,5-IL-10<sup>6</sup>, grade 1-2<sup>6</sup>",
            "IL-10, 0,5-IL-10, grade 1-2",
        ),
        ("lupus<sup> 3 </sup>was and IL-2 <sup>3</sup>, x", "lupus was and IL-2, x"),
    ],
)
def test_marks(text: str, shown: str) -> None:
    assert line(text) == shown


def test_the_number_of_marks_and_the_first() -> None:
    built = Line()
    for piece in pieces("IL-2<sup><a>3</a></sup> and gout<sup><a>1</a>,<a>2</a></sup>"):
        built.add(*piece)
    assert built.take() == "IL-2 and gout"
    (event,) = built.events("some")
    assert (event.kind, event.code) == ("note", "marks-left-out")
    assert event.message.startswith("3 raised marks")
    assert "IL-2^3" in event.message
    assert Line().events("some") == ()


def test_as_many_texts_as_pieces() -> None:
    assert without_marks([Piece("gout"), Piece("1", Level.RAISED), Piece("and")]) == (
        ["gout", "1", "and"],
        [],
    )
    assert without_marks([Piece("gout"), Piece("1", Level.RAISED), Piece(".")]) == (
        ["gout", "", "."],
        [1],
    )
