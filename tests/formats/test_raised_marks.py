"""Raised text in files: marks of citations and notes are left out, and what belongs to a name
stays.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.formats.oracle.office import package, rewritten, workbook
from tests.formats.oracle.papers import printed
from tests.text.raised import CONSTRUCTS, NAMES

from fascicle import load
from fascicle.core.document import Document
from fascicle.formats import read

GREEK = "αω"
TAG = re.compile(r"<(/?)(sup|sub|a)>")


def jats(texts: Iterable[str]) -> tuple[str, str]:
    linked = {"<a>": '<xref ref-type="bibr" rid="b1">', "</a>": "</xref>"}
    return (
        "a.nxml",
        f"<article><body>{''.join(f'<p>{replaced(text, linked)}</p>' for text in texts)}</body></article>",
    )


def tei(texts: Iterable[str]) -> tuple[str, str]:
    tags = {
        "<a>": '<ref type="bibr" target="#b1">',
        "</a>": "</ref>",
        "<sub>": '<hi rend="subscript">',
    }
    tags |= {"</sub>": "</hi>", "<sup>": '<hi rend="superscript">', "</sup>": "</hi>"}
    body = "".join(f"<p>{replaced(text, tags)}</p>" for text in texts)
    space = "http://www.tei-c.org/ns/1.0"
    return "a.tei.xml", f'<TEI xmlns="{space}"><teiHeader/><text><body>{body}</body></text></TEI>'


def medline(texts: Iterable[str]) -> tuple[str, str]:
    parts = "".join(f"<AbstractText>{re.sub('</?a>', '', text)}</AbstractText>" for text in texts)
    article = f"<Article><ArticleTitle>T.</ArticleTitle><Abstract>{parts}</Abstract></Article>"
    citation = f"<MedlineCitation><PMID>1</PMID>{article}</MedlineCitation>"
    return (
        "a.xml",
        f"<PubmedArticleSet><PubmedArticle>{citation}</PubmedArticle></PubmedArticleSet>",
    )


def page(texts: Iterable[str]) -> tuple[str, str]:
    linked = {"<a>": '<a href="#ref-CR1">'}
    content = "".join(f"<p>{replaced(text, linked)}</p>" for text in texts)
    return "a.html", f"<!DOCTYPE html><html><body>{content}</body></html>"


def word(texts: Iterable[str]) -> tuple[str, bytes]:
    """Citations are results of a field of EndNote."""
    begin, middle, end = (
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
    )
    field = {"a": f"{begin}<w:r><w:instrText>ADDIN EN.CITE</w:instrText></w:r>{middle}", "/a": end}

    def shown(text: str, level: str) -> str:
        raised = f'<w:rPr><w:vertAlign w:val="{level}script"/></w:rPr>' * bool(level)
        return f'<w:r>{raised}<w:t xml:space="preserve">{text}</w:t></w:r>'

    return "a.docx", package("".join(f"<w:p>{runs(text, shown, field)}</w:p>" for text in texts))


def sheet(texts: Iterable[str]) -> tuple[str, bytes]:
    """Cells of runs."""

    def shown(text: str, level: str) -> str:
        raised = f'<rPr><vertAlign val="{level}script"/></rPr>' * bool(level)
        return f'<r>{raised}<t xml:space="preserve">{text}</t></r>'

    items = [f"<is>{runs(text, shown)}</is>" for text in texts]
    made = workbook([["text"], *([f"CELL{at}."] for at in range(len(items)))])

    def change(name: str, part: bytes) -> tuple[str, bytes]:
        for at, item in enumerate(items if b"sheetData" in part else ()):
            part = part.replace(
                f'<is><t xml:space="preserve">CELL{at}.</t></is>'.encode(), item.encode()
            )
        return name, part

    return "a.xlsx", rewritten(made, change)


def pdf(texts: Iterable[str]) -> tuple[str, bytes]:
    """Lines with smaller letters above or below them; other letters than those of ASCII have
    codes from 176 to 255.
    """
    content = list(texts)
    others = sorted(
        {sign for text in content for sign in text if not sign.isascii() or sign == "'"}
    )
    codes = {sign: chr(176 + at) for at, sign in enumerate(others)} | {
        one: f"\\{one}" for one in "()"
    }
    codes |= dict(zip(GREEK, "aw", strict=True))  # in the font Symbol

    def shown(text: str, level: str) -> str:
        size, rise = {"super": (6, 4), "sub": (6, -2), "": (10, 0)}[level]
        parts = re.split(f"([{GREEK}]+)", text)
        letters = ("".join(codes.get(one, one) for one in part) for part in parts)
        fonts = (f"/F{1 + at % 2} {size} Tf ({part}) Tj" for at, part in enumerate(letters))
        return f"{rise} Ts {' '.join(fonts)} "

    lines = [
        f"BT 54 {5900 - 20 * at} Td {runs(text, shown)} ET\n" for at, text in enumerate(content)
    ]
    names = " ".join(f"/uni{ord(sign):04X}" for sign in others)
    made = printed("".join(lines).encode("latin-1"), more=[b"/MediaBox [0 0 612 6000]"])
    return "a.pdf", made.replace(b"/fi /fl]", f"/fi /fl {names}]".encode())


def runs(
    text: str, shown: Callable[[str, str], str], tags: Mapping[str, str] = MappingProxyType({})
) -> str:
    """A text as runs; its tags say the level of each."""
    made, levels = "", [""]
    for at, part in enumerate(re.split("<(.*?)>", text)):
        if at % 2 == 0:
            made += shown(part, levels[-1]) if part else ""
        elif part.endswith("a"):
            made += tags.get(part, "")
        elif part.startswith("/"):
            levels.pop()
        else:
            levels.append({"sup": "super"}.get(part, part))
    return made


def replaced(text: str, tags: dict[str, str]) -> str:
    return functools.reduce(lambda so_far, tag: so_far.replace(tag, tags[tag]), tags, text)


FORMS: dict[str, Callable[[Iterable[str]], tuple[str, str | bytes]]] = {
    "jats": jats,
    "tei": tei,
    "medline": medline,
    "html": page,
    "docx": word,
    "xlsx": sheet,
    "pdf": pdf,
}


def blocks(folder: Path, form: str, texts: Iterable[str]) -> tuple[list[str], Document]:
    name, content = FORMS[form](texts)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    documents = list(read(folder / name))
    shown = [
        one for document in documents for one in document.text.split("\n") if one and one != "T."
    ]
    return shown, Document(id="a", text="\n\n".join(shown), events=documents[0].events)


@pytest.mark.parametrize("form", FORMS)
def test_every_format_keeps_what_belongs_to_a_name(tmp_path: Path, form: str) -> None:
    texts = [f"We measured {construct} in rats." for construct in CONSTRUCTS]
    shown, found = blocks(tmp_path, form, texts)
    assert shown == [" ".join(TAG.sub("", text).split()) for text in texts]
    assert "marks-left-out" not in {event.code for event in found.events}


@pytest.mark.parametrize("form", FORMS)
def test_every_format_leaves_marks_out(tmp_path: Path, form: str) -> None:
    texts = [
        f"We saw {name}<sup>{mark}</sup> here"
        for name in NAMES
        for mark in ("3", "<a>3</a>", "<a>1</a>,<a>2</a>")
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
    shown, found = blocks(
        tmp_path, form, [text.format("<sup><a>3</a></sup>") for text in sentences]
    )
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


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hidden", ["\u00ad", "\u200b", "\u2060", "\ufeff", "\u200e"])
def test_mentions_over_characters_that_print_nothing_are_whole(
    tmp_path: Path, form: str, hidden: str
) -> None:
    names = [f"dia{hidden}betes", f"lung\u00a0can{hidden}cer", f"asth{hidden}ma"]
    shown, found = blocks(tmp_path, form, [f"A patient had {name} for years." for name in names])
    mentions = [mention.text_in(found.text) for mention in load("biomed-fast")(found).mentions]
    printed_names = ["diabetes", "lung cancer", "asthma"]
    assert [one for one in map(plain, mentions) if one != "patient"] == printed_names
    assert all(mention in "\n".join(shown) for mention in mentions)


def plain(text: str) -> str:
    return re.sub("[\u00ad\u200b\u2060\ufeff\u200e]", "", text).replace("\u00a0", " ")
