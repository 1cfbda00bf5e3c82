"""Exports of reference managers: Web of Science, EndNote in both forms, BibTeX."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from random import Random
from typing import Final

from tests.formats.oracle.drafts import Draft, Taste
from tests.formats.oracle.format import NO_COLUMNS, NO_MARKS, ONE_LINE, Files, Oracle
from tests.formats.oracle.hand import Hand
from tests.formats.oracle.judging import Page


def _number(draft: Draft) -> str:
    return draft.id.strip("PMCd-")


def _pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    parts = [[part.strip() for part in one.parts] for one in drafts]
    return [
        Page("\n\n".join(filter(None, text)), (), _number(one))
        for text, one in zip(parts, drafts, strict=True)
    ]


def _cut(text: str, random: Random) -> str:
    """The text in lines that go on after three blanks, as Web of Science writes it."""
    first, *words = text.split(" ")
    return first + "".join(random.choice((" ", " ", "\n   ")) + word for word in words)


def _web_of_science(drafts: Sequence[Draft], hand: Hand) -> Files:
    rows = ["FN Clarivate Analytics Web of Science", "VR 1.0"]
    for draft in drafts:
        title, *abstract = draft.parts
        rows += ["PT J", f"TI {_cut(title, hand.random)}"]
        rows += [f"AB {_cut(one, hand.random)}" for one in abstract]
        rows += [f"PM {_number(draft)}", "ER", ""]
    return {"a.txt": hand.lines("\n".join([*rows, "EF"]).split("\n"))}


def _enw(drafts: Sequence[Draft], hand: Hand) -> Files:
    rows: list[str] = []
    for draft in drafts:
        title, *abstract = draft.parts
        rows += ["%0 Journal Article", f"%T {title}"]
        rows += [f"%X {one}" for one in abstract]
        rows += [f"%M {_number(draft)}", ""]
    return {"a.enw": hand.lines(rows)}


def _endnote(drafts: Sequence[Draft], hand: Hand) -> Files:
    records = []
    for draft in drafts:
        title, *abstract = (escape(one, quote=False) for one in draft.parts)
        body = "".join(
            f"<abstract><style face='normal'>{one}</style></abstract>" for one in abstract
        )
        records.append(
            f"<record><rec-number>1</rec-number><titles><title><style>{title}</style></title>"
            f"</titles>{body}<accession-num>{_number(draft)}</accession-num></record>"
        )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><xml><records>{"".join(records)}</records></xml>'
    )
    return {"a.xml": content.encode()}


_ESCAPED: Final = {
    "\\": "{\\textbackslash}",
    "~": "{\\textasciitilde}",
    "^": "{\\textasciicircum}",
    **{sign: f"\\{sign}" for sign in "{}$&%#_"},
    "-": "{-}",
    "ö": '{\\"o}',
    "é": "\\'e",
    "β": "$\\beta$",
}


def _bibtex(drafts: Sequence[Draft], hand: Hand) -> Files:
    rows = ["% written by a test", "@comment{ignored, title = {Nothing}}", ""]
    for draft in drafts:
        title, *abstract = (
            "".join(_ESCAPED.get(sign, sign) for sign in one) for one in draft.parts
        )
        opening, closing = hand.random.choice(("{}", '""'))
        if '"' in "".join(draft.parts):
            opening, closing = "{}"
        fields = [f"  title = {opening}{title}{closing}"]
        fields += [f"  abstract = {opening}{one}{closing}" for one in abstract]
        rows += [f"@article{{{_number(draft)},", *",\n".join(fields).split("\n"), "}", ""]
    return {"a.bib": hand.lines(rows)}


_FLAT: Final = Taste(parts=(1, 2), empty=False, typed=False)
ORACLES: Final = (
    Oracle(
        name="web-of-science",
        reads="citations",
        taste=_FLAT,
        write=_web_of_science,
        path="a.txt",
        pages=_pages,
        senseless=NO_MARKS | NO_COLUMNS,
    ),
    Oracle(
        name="endnote-tagged",
        reads="citations",
        taste=_FLAT,
        write=_enw,
        path="a.enw",
        pages=_pages,
        senseless=NO_MARKS | NO_COLUMNS,
    ),
    Oracle(
        name="endnote",
        reads="endnote",
        taste=_FLAT,
        write=_endnote,
        path="a.xml",
        pages=_pages,
        senseless=NO_MARKS | NO_COLUMNS | ONE_LINE,
    ),
    Oracle(
        name="bibtex",
        reads="bibtex",
        taste=_FLAT,
        write=_bibtex,
        path="a.bib",
        pages=_pages,
        senseless=NO_MARKS | NO_COLUMNS,
    ),
)
