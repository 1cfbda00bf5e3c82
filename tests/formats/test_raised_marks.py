"""Raised text in files: marks of citations and notes are left out, and what belongs to a name stays."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.text.raised import CONSTRUCTS, NAMES

from fascicle import load
from fascicle.core.document import Document
from fascicle.formats import read

TAG = re.compile(r"<(/?)(sup|sub|a)>")


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


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["³", "¹,²", "⁴⁻⁶"])
def test_names_before_raised_digits_of_unicode_are_recognised(mark: str) -> None:
    found = load("biomed-fast")(
        "\n\n".join(f"The role of {name}{mark} in these patients was studied." for name in NAMES)
    )
    mentions = {mention.text_in(found.text) for mention in found.mentions}
    assert sum(name in mentions for name in NAMES) >= len(NAMES) - 1, set(NAMES) - mentions
