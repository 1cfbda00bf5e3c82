"""WebAnno TSV 3.3 as the guide of WebAnno describes it: each token of an entity has its value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.formats.oracle.drafts import Draft, Taste, page
from tests.formats.oracle.format import (
    BY_ONE,
    BYTES,
    ITS_FORM,
    NO_COLUMNS,
    NO_NAMES,
    ONE_PART,
    ONE_PLACE,
    UTF16,
    Files,
    Oracle,
    because,
)
from tests.formats.oracle.hand import PASSAGE, SAME_ID, Hand
from tests.formats.oracle.judging import Page

NAMED: Final = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
POS: Final = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
HEAD: Final = (
    "#FORMAT=WebAnno TSV 3.3",
    f"#T_SP={POS}|PosValue",
    f"#T_SP={NAMED}|identifier|value",
    "",
    "",
)
_ESCAPED: Final = "\\[]|_;*\t\n"


def escaped(text: str) -> str:
    """A text with a backslash before the signs that mean something."""
    signs = {"\t": "t", "\n": "n"}
    return "".join(f"\\{signs.get(sign, sign)}" if sign in _ESCAPED else sign for sign in text)


def units(text: str) -> int:
    """The number of UTF-16 units of a text."""
    return len(text.encode("utf-16-le")) // 2


def _tsv(drafts: Sequence[Draft], hand: Hand) -> Files:
    draft = drafts[0]
    text = draft.parts[0]
    cells: list[list[tuple[str, str]]] = [[] for _ in draft.words[0]]
    for number, mark in enumerate(draft.marks, 1):
        for at in range(mark.first, mark.last + 1):
            value = escaped(hand.id(mark)) or "*"
            cells[at].append((f"{value}[{number}]", f"{escaped(mark.type)}[{number}]"))
    rows = [*HEAD, *(f"#Text={escaped(line)}" for line in text.split("\n"))]
    for at, (start, end) in enumerate(draft.words[0]):
        columns = (
            ["|".join(one) for one in zip(*cells[at], strict=True)] if cells[at] else ["_", "_"]
        )
        place = f"{units(text[:start])}-{units(text[:end])}"
        rows.append("\t".join((f"1-{at + 1}", place, text[start:end], "NN", *columns, "")))
    return {"a.tsv": hand.lines(rows)}


def one_page(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    """The first document, without its id."""
    made = page(drafts[0], " ")
    return [Page(made.text, made.marks)]


ORACLES: Final = (
    Oracle(
        name="webanno",
        reads="webanno",
        taste=Taste(blanks=(" ", "  ", "\n"), linked=True, empty=False),
        write=_tsv,
        path="a.tsv",
        pages=one_page,
        senseless=NO_NAMES
        | NO_COLUMNS
        | ONE_PART
        | ONE_PLACE
        | ITS_FORM
        | because(
            "its tokens have offsets, and mentions are columns beside them",
            BY_ONE,
            BYTES,
            UTF16,
            PASSAGE,
        )
        | because("a file is one document", SAME_ID),
    ),
)
