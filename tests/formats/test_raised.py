"""Raised text: marks of citations and notes are left out, and what belongs to a name stays."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.formats.raised import CONSTRUCTS, MARKS, NAMES

from fascicle import load
from fascicle.core.document import Document
from fascicle.formats import read
from fascicle.formats.raised import Level, Line, Piece, without_marks

TAG = re.compile(r"<(/?)(sup|sub|a)>")


def pieces(text: str) -> list[Piece]:
    """The pieces of a text with `sup`, `sub`, and `a` for a link to a reference."""
    level, raised, linked, result = Level.PLAIN, False, False, []
    for at, part in enumerate(re.split(r"(</?(?:sup|sub|a)>)", text)):
        if at % 2:
            raised = part == "<sup>" if "sup" in part else raised
            linked = part == "<a>" if part.endswith("a>") else linked
            level = {(True, True): Level.MARK, (True, False): Level.RAISED, (False, True): Level.LINKED}.get(
                (raised, linked), Level.PLAIN
            )
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gout<sup><a>1</a>,<a>2</a></sup> was", "gout was"),
        ("gout<a><sup>1</sup></a><sup>,</sup><a><sup>2</sup></a> was", "gout was"),
        ("gout<sup><a>1</a></sup>,<sup><a>2</a></sup> was", "gout was"),
        ("gout<sup><a>1</a></sup>–<sup><a>4</a></sup> was", "gout was"),
        ("gout<sup>[<a>1</a>–<a>4</a>]</sup> was", "gout was"),
        ("gout<sup>refs. <a>1</a></sup> was", "gout was"),
        ("gout<sup><a>1</a></sup><sup>–3</sup> was", "gout was"),
        ("gout<sup><a>a</a></sup>, asthma<sup><a>*</a></sup>", "gout, asthma"),
        ("IL-2<a>3</a> and gout<a>1</a>,<a>2</a> was", "IL-2 and gout was"),
        ("IL-2 [<a>3</a>,<a>4</a>] and (<a>5</a>) and refs. <a>3</a>", "IL-2 [3,4] and (5) and refs. 3"),
        ("(Smith <a>2003</a>)", "(Smith 2003)"),
        ("Ca<sup>2+,<a>3</a></sup> was", "Ca2+ was"),
        ("Ca<sup>2+</sup><sup><a>3</a></sup> was", "Ca2+ was"),
        ("Cl<sup>-</sup><sup><a>3</a></sup> was", "Cl- was"),
        ("Ca<sup>2+</sup><sup>3</sup> was", "Ca2+ was"),
        ("Ca<sup>2</sup><sup>+</sup> was", "Ca2+ was"),
        ("CO<sub>2</sub><sup>3</sup> was", "CO2 was"),
        ("BMI (kg/m<sup>2</sup>)<sup>4</sup> was", "BMI (kg/m2) was"),
        ("10<sup>6</sup> cells<sup>6</sup>", "106 cells"),
        ("TNF-α<sup>3</sup>, interferon γ<sup>3</sup>, c-Met<sup>3</sup>", "TNF-α, interferon γ, c-Met"),
        ("in 2010<sup>3</sup> and interleukin 10<sup>3</sup>", "in 2010 and interleukin 10"),
        (
            "<sup>1</sup>Department of gout, <sup>a</sup>Values, <sup>131</sup>Iodine",
            "Department of gout, aValues, 131Iodine",
        ),
        ("gout <sup>3</sup> was", "gout was"),
        ("5 mg<sup>2</sup> of", "5 mg of"),
        ("as described in<sup>2</sup>", "as described in"),
        ("CD4<sup>+</sup> cells<sup>1</sup>", "CD4+ cells"),
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
    shown, count = without_marks([Piece("gout"), Piece("1", Level.RAISED), Piece("and")])
    assert (shown, count) == (["gout", "1", "and"], 0)  # inside a word it is no mark


def jats(texts: Iterable[str]) -> tuple[str, str]:
    linked = {"<a>": '<xref ref-type="bibr" rid="b1">', "</a>": "</xref>"}
    return "a.nxml", f"<article><body>{''.join(f'<p>{replaced(text, linked)}</p>' for text in texts)}</body></article>"


def medline(texts: Iterable[str]) -> tuple[str, str]:
    parts = "".join(f"<AbstractText>{re.sub('</?a>', '', text)}</AbstractText>" for text in texts)
    article = f"<Article><ArticleTitle>T.</ArticleTitle><Abstract>{parts}</Abstract></Article>"
    citation = f"<MedlineCitation><PMID>1</PMID>{article}</MedlineCitation>"
    return "a.xml", f"<PubmedArticleSet><PubmedArticle>{citation}</PubmedArticle></PubmedArticleSet>"


def page(texts: Iterable[str]) -> tuple[str, str]:
    linked = {"<a>": '<a href="#ref-CR1">'}
    content = "".join(f"<p>{replaced(text, linked)}</p>" for text in texts)
    return "a.html", f"<!DOCTYPE html><html><body>{content}</body></html>"


def replaced(text: str, tags: dict[str, str]) -> str:
    return functools.reduce(lambda so_far, tag: so_far.replace(tag, tags[tag]), tags, text)


FORMS = {"jats": jats, "medline": medline, "html": page}


def blocks(folder: Path, form: str, texts: Iterable[str]) -> tuple[list[str], Document]:
    name, content = FORMS[form](texts)
    (folder / name).write_text(content)
    (found,) = read(folder / name)
    return [one for one in found.text.split("\n") if one and one != "T."], found


@pytest.mark.parametrize("form", FORMS)
def test_every_format_keeps_what_belongs_to_a_name(tmp_path: Path, form: str) -> None:
    texts = [f"We measured {construct} in rats." for construct in CONSTRUCTS]
    shown, found = blocks(tmp_path, form, texts)
    assert shown == [" ".join(TAG.sub("", text).split()) for text in texts]
    assert "marks-left-out" not in {event.code for event in found.events}


@pytest.mark.parametrize("form", FORMS)
def test_every_format_leaves_marks_out(tmp_path: Path, form: str) -> None:
    texts = [
        f"We saw {name}<sup>{mark}</sup> here" for name in NAMES for mark in ("3", "<a>3</a>", "<a>1</a>,<a>2</a>")
    ]
    shown, found = blocks(tmp_path, form, texts)
    assert shown == [f"We saw {name} here" for name in NAMES for _ in range(3)]
    (event,) = [event for event in found.events if event.code == "marks-left-out"]
    assert re.match(r"\d+ raised marks", event.message)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_names_before_marks_are_recognised_as_those_without(tmp_path: Path, form: str) -> None:
    model = load("biomed-fast")
    sentences = [f"The role of {name}{{}} in these patients was studied." for name in NAMES]
    shown, found = blocks(tmp_path, form, [text.format("<sup><a>3</a></sup>") for text in sentences])
    assert shown == [text.format("") for text in sentences]
    mentions = {mention.text_in(found.text) for mention in model(found).mentions}
    assert sum(name in mentions for name in NAMES) >= len(NAMES) - 1, set(NAMES) - mentions
