"""PubTator, brat, and texts with a table of offsets.

PubTator: ``id|t|title``, ``id|a|abstract``, and rows of id, start, end, text, type and concept; offsets count from the
beginning of the title, with one character between title and abstract. brat: the manual's page on standoff.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.formats.oracle.drafts import Draft, DraftMark, Taste
from tests.formats.oracle.format import (
    NO_COLUMNS,
    NO_IDS_OF_CONCEPTS,
    ONE_PART,
    ONE_PLACE,
    Files,
    Oracle,
    because,
)
from tests.formats.oracle.hand import CRLF, NO_END, SAME_ID, UNEVEN, URL, Hand


def _pubtator(drafts: Sequence[Draft], hand: Hand) -> Files:
    rows: list[str] = []
    for draft in drafts:
        bases, text = draft.bases(" "), " ".join(draft.parts)
        rows += [f"{draft.id}|t|{draft.parts[0]}", f"{draft.id}|a|{draft.parts[1]}"]
        for one in draft.marks:
            start, end = (bases[one.part] + at for at in draft.span(one))
            place = hand.place(text, (start, end), base=bases[one.part])
            cells = [draft.id, *map(str, place), draft.surface(one), one.type]
            rows.append(hand.row([*cells, hand.id(one)] if one.local else cells))
        rows.append("")
    return {"a.pubtator": hand.lines(rows)}


def _brat(drafts: Sequence[Draft], hand: Hand) -> Files:
    files: Files = {}
    for at, draft in enumerate(drafts):
        folder = f"c/{at}" if hand.fault == SAME_ID else "c"
        rows = [row for at, one in enumerate(draft.marks, 1) for row in _annotation(draft, one, hand=hand, at=at)]
        files[f"{folder}/{draft.id}.txt"] = draft.parts[0].encode()
        files[f"{folder}/{draft.id}.ann"] = hand.lines(rows)
    return files


def _annotation(draft: Draft, mark: DraftMark, *, hand: Hand, at: int) -> list[str]:
    start, end = hand.place(draft.parts[0], draft.span(mark))
    row = f"T{at}\t{mark.type} {start} {end}\t{draft.surface(mark)}".replace("\n", " ")
    return [row, f"N{at}\tReference T{at} {hand.id(mark)}\tname"] if mark.local else [row]


def _offsets(drafts: Sequence[Draft], hand: Hand) -> Files:
    files = {f"c/{draft.id}.txt": draft.parts[0].encode() for draft in drafts}
    rows = [hand.row(["document", "start", "end", "type", "text"])] if hand.fault != UNEVEN else []
    for draft in drafts:
        for one in draft.marks:
            start, end = hand.place(draft.parts[0], draft.span(one))
            rows.append(hand.row([draft.id, str(start), str(end), one.type, draft.surface(one)]))
    if hand.fault == UNEVEN:  # the header stays whole
        hand.measure(5)
        rows.insert(0, "document\tstart\tend\ttype\ttext")
    return files | {"c/mentions.tsv": hand.lines(rows)}


ORACLES: Final = (
    Oracle(
        name="pubtator",
        reads="pubtator",
        taste=Taste(parts=(2, 2), blanks=(" ", " ", "  ", "\u00a0"), linked=True),
        write=_pubtator,
        path="a.pubtator",
        senseless=ONE_PLACE,
    ),
    Oracle(
        name="brat",
        reads="brat",
        taste=Taste(blanks=(" ", " ", "  ", "\n", ""), linked=True),
        write=_brat,
        path="c",
        senseless=NO_COLUMNS | ONE_PART | ONE_PLACE,
    ),
    Oracle(
        name="offsets",
        reads="offsets",
        taste=Taste(blanks=(" ", " ", "  ", "")),
        write=_offsets,
        path="c",
        senseless=ONE_PART | NO_IDS_OF_CONCEPTS | because("a folder has a file name once", SAME_ID),
    ),
)
