"""Formats without mentions: plain texts, pages, tables, and the articles of PubMed, PubMed
Central and GROBID.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from random import Random
from typing import Final

from tests.formats.oracle.drafts import Draft, Taste
from tests.formats.oracle.format import (
    NO_COLUMNS,
    NO_MARKS,
    NO_NAMES,
    ONE_LINE,
    Files,
    Oracle,
    because,
)
from tests.formats.oracle.hand import CRLF, NO_END, SAME_ID, UNEVEN, Hand
from tests.formats.oracle.judging import Page


def _plain(drafts: Sequence[Draft], hand: Hand) -> Files:
    return {"a.txt": hand.lines(drafts[0].parts[0].split("\n"))}


def _plain_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [Page(hand.lines(drafts[0].parts[0].split("\n")).decode(), (), "a")]


def _tagged(text: str, random: Random) -> str:
    """The text with tags that show nothing of their own, and blanks that count for one."""
    words = []
    for word in text.split(" "):
        tag = random.choice(("", "", "", "b", "i", "span"))
        words.append(f"<{tag}>{escape(word)}</{tag}>" if tag else escape(word))
    return "".join(
        (random.choice((" ", "\n", "  ")) if at else "") + word for at, word in enumerate(words)
    )


def _html(drafts: Sequence[Draft], hand: Hand) -> Files:
    title, *parts = drafts[0].parts
    body = "".join(f"<p>{_tagged(part, hand.random)}</p>\n" for part in parts)
    head = f"<meta charset=utf-8><title>{escape(title)}</title>"
    return {
        "a.html": f"<!DOCTYPE html>\n<html><head>{head}</head><body>\n{body}</body></html>\n".encode()
    }


def _html_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [Page("\n\n".join(drafts[0].parts))]


def _csv(drafts: Sequence[Draft], hand: Hand) -> Files:
    end = "\n" if hand.fault != CRLF else "\r\n"
    rows = ["id,text,year" + end]
    hand.measure(3)
    for draft in drafts:
        cells = [draft.id, draft.parts[0], "2020"]
        if hand.fault == UNEVEN and hand.random.random() < 0.5:
            cells = hand.random.choice((cells[:2], [*cells, "2021"]))
        hand.measure(len(cells))
        line = io.StringIO()
        csv.writer(line, lineterminator=end).writerow(cells)
        rows.append(line.getvalue())
    text = "".join(rows)
    return {"a.csv": (text.removesuffix(end) if hand.fault == NO_END else text).encode()}


def _tsv(drafts: Sequence[Draft], hand: Hand) -> Files:
    rows = ["id\ttext\tyear", *(hand.row([one.id, one.parts[0], "2020"]) for one in drafts)]
    hand.measure(3)
    return {"a.tsv": hand.lines(rows)}


def _medline(drafts: Sequence[Draft], hand: Hand) -> Files:
    made = []
    for draft in drafts:
        title, *parts = draft.parts
        body = "".join(f"<AbstractText>{_inline(one, hand.random)}</AbstractText>" for one in parts)
        abstract = f"<Abstract>{body}</Abstract>" if parts else ""
        made.append(
            "<PubmedArticle><MedlineCitation><PMID "
            f'Version="1">{_digits(draft)}</PMID><Article><ArticleTitle>'
            f"{_inline(title, hand.random)}</ArticleTitle>{abstract}</Article></MedlineCitation></PubmedArticle>\n"
        )
    return {"a.xml": f"<PubmedArticleSet>\n{''.join(made)}</PubmedArticleSet>\n".encode()}


def _nbib(drafts: Sequence[Draft], hand: Hand) -> Files:
    rows = []
    for draft in drafts:
        title, *abstract = draft.parts
        rows += [f"PMID- {_digits(draft)}", f"TI  - {_cut(title, hand.random)}"]
        rows += [f"AB  - {_cut(one, hand.random)}" for one in abstract] + [""]
    return {"a.nbib": hand.lines("\n".join(rows).split("\n"))}


def _cut(text: str, random: Random) -> str:
    """The text with lines that go on after six blanks."""
    first, *words = text.split(" ")
    return first + "".join(random.choice((" ", " ", "\n      ")) + word for word in words)


def _inline(text: str, random: Random, mark: str = "") -> str:
    """The text with the tags that titles, abstracts and paragraphs may have, and with raised
    citations.
    """
    words = [escape(word, quote=False) for word in text.split(" ")]
    tagged = [f"<sub>{word}</sub>" if random.random() < 0.2 else word for word in words]
    return " ".join(
        word + mark * (word[-1:].isalnum() and random.random() < 0.1) for word in tagged
    )


def _digits(draft: Draft) -> str:
    return draft.id.strip("PMCd-")


def _medline_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [Page("\n".join(one.parts), (), _digits(one)) for one in drafts]


def _nbib_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    """A tag of HTML without its partner is a part of the text."""
    parts = [[part.strip() for part in one.parts] for one in drafts]
    return [
        Page("\n".join(filter(None, text)), (), _digits(one))
        for text, one in zip(parts, drafts, strict=True)
    ]


def _jats(drafts: Sequence[Draft], hand: Hand) -> Files:
    made = []
    for draft in drafts:
        title, *parts = draft.parts
        mark = '<sup><xref ref-type="bibr" rid="b3">3</xref></sup>'
        body = "".join(f"<p>{_inline(one, hand.random, mark)}</p>" for one in parts)
        made.append(
            "<article><front><article-meta><article-id "
            f'pub-id-type="pmc">{_digits(draft)}</article-id><title-group>'
            f"<article-title>{_inline(title, hand.random)}</article-title></title-group></article-meta></front>"
            f"<body>{body}</body></article>\n"
        )
    return {"a.xml": f"<articles>\n{''.join(made)}</articles>\n".encode()}


def _jats_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [Page("\n\n".join(one.parts), (), f"PMC{_digits(one)}") for one in drafts]


def _tei(drafts: Sequence[Draft], hand: Hand) -> Files:
    """Texts as GROBID writes them."""
    texts = []
    for draft in drafts:
        title, *parts = draft.parts
        mark = '<ref type="bibr" target="#b3">3</ref>'
        body = "".join(
            f"<div><p>{_inline(one, hand.random, mark).replace('sub>', 'hi>')}</p></div>"
            for one in parts
        )
        texts.append(
            f"<TEI><teiHeader><fileDesc><titleStmt><title>{escape(title, quote=False)}</title></titleStmt><sourceDesc>"
            "<biblStruct><idno "
            f'type="PMID">{_digits(draft)}</idno></biblStruct></sourceDesc></fileDesc></teiHeader>'
            f"<text><body>{body}</body></text></TEI>\n"
        )
    return {
        "a.xml": f'<teiCorpus xmlns="http://www.tei-c.org/ns/1.0">\n{"".join(texts)}</teiCorpus>\n'.encode()
    }


def _tei_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [Page("\n\n".join(one.parts), (), _digits(one)) for one in drafts]


_XML = NO_MARKS | NO_COLUMNS | ONE_LINE


ORACLES: Final = (
    Oracle(
        name="plain",
        reads="plain",
        taste=Taste(blanks=(" ", "\n", "\t", "  "), typed=False),
        write=_plain,
        path="a.txt",
        pages=_plain_pages,
        senseless=NO_MARKS | NO_COLUMNS | because("a file is one document", SAME_ID),
    ),
    Oracle(
        name="html",
        reads="html",
        taste=Taste(parts=(2, 4), empty=False, typed=False),
        write=_html,
        path="a.html",
        pages=_html_pages,
        senseless=_XML | NO_NAMES,
    ),
    Oracle(
        name="table-csv",
        reads="table",
        taste=Taste(blanks=(" ", "  ", "\n", "\t"), typed=False, empty=False),
        write=_csv,
        path="a.csv",
        senseless=NO_MARKS,
    ),
    Oracle(
        name="table-tsv",
        reads="table",
        taste=Taste(blanks=(" ", "  "), typed=False, empty=False),
        write=_tsv,
        path="a.tsv",
        senseless=NO_MARKS,
    ),
    Oracle(
        name="medline",
        reads="medline",
        taste=Taste(parts=(1, 3), empty=False, typed=False),
        write=_medline,
        path="a.xml",
        pages=_medline_pages,
        senseless=_XML,
    ),
    Oracle(
        name="citations",
        reads="citations",
        taste=Taste(parts=(1, 2), empty=False, typed=False),
        write=_nbib,
        path="a.nbib",
        pages=_nbib_pages,
        senseless=NO_MARKS | NO_COLUMNS,
    ),
    Oracle(
        name="jats",
        reads="jats",
        taste=Taste(parts=(2, 4), empty=False, typed=False),
        write=_jats,
        path="a.xml",
        pages=_jats_pages,
        senseless=_XML,
    ),
    Oracle(
        name="tei",
        reads="tei",
        taste=Taste(parts=(2, 4), empty=False, typed=False),
        write=_tei,
        path="a.xml",
        pages=_tei_pages,
        senseless=_XML,
    ),
)
