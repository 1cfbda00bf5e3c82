"""PubTator, brat, and texts with a table of offsets.

PubTator: ``id|t|title``, ``id|a|abstract``, and rows of id, start, end, text, type and concept;
offsets count from the beginning of the title, with one character between title and abstract. brat:
the manual's page on standoff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.formats.oracle.drafts import Draft, DraftMark, Span, Taste, page
from tests.formats.oracle.format import (
    NO_COLUMNS,
    NO_IDS_OF_CONCEPTS,
    ONE_PART,
    ONE_PLACE,
    Files,
    Oracle,
    because,
)
from tests.formats.oracle.hand import CRLF, SAME_ID, Hand
from tests.formats.oracle.judging import Page


def _pubtator(drafts: Sequence[Draft], hand: Hand) -> Files:
    rows: list[str] = []
    for draft in drafts:
        bases, text = draft.bases(" "), " ".join(draft.parts)
        rows += [f"{draft.id}|t|{draft.parts[0]}", f"{draft.id}|a|{draft.parts[1]}"]
        for one in draft.marks:
            start, end = (bases[one.part] + at for at in draft.span(one))
            place = hand.place(text, (start, end), base=bases[one.part])
            cells = [draft.id, *map(str, place), draft.surface(one)]
            # PubTator has rows without a concept and rows with more cells behind it: only a loss
            # before it can be seen.
            facts = [one.type, hand.id(one) or "-"]
            rows.append(
                "\t".join((hand.row(cells, twice=False), *(facts if one.local else facts[:1])))
            )
        rows.append("")
    return {"a.pubtator": hand.lines(rows)}


def _brat(drafts: Sequence[Draft], hand: Hand) -> Files:
    files: Files = {}
    for at, draft in enumerate(drafts):
        folder = f"c/{at}" if hand.fault == SAME_ID else "c"
        # or else the line ends of the text count as one
        as_two = hand.fault == CRLF and hand.random.random() < 0.5
        rows = []
        for number, one in enumerate(draft.marks, 1):
            spans = (
                [_with_crlf(draft.parts[0], span) for span in draft.spans(one)]
                if as_two
                else draft.spans(one)
            )
            rows += _annotation(
                draft,
                one,
                places=hand.places(draft.parts[0], spans),
                at=number,
                concept=hand.id(one),
            )
        files[f"{folder}/{draft.id}.txt"] = _text(draft, hand).encode()
        files[f"{folder}/{draft.id}.ann"] = hand.lines(rows)
    return files


def _pubtator_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    """No blank stands behind a title without an abstract."""
    made = [page(one, " ") for one in drafts]
    return [
        Page(one.text if draft.parts[1] else draft.parts[0], one.marks, one.id)
        for one, draft in zip(made, drafts, strict=True)
    ]


def _brat_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    """In the order of their names; where two files have one name, their folders are in their
    ids.
    """
    if hand.fault == SAME_ID and len(drafts) > 1:
        return [page(replace(one, id=f"{at}/{one.id}"), "") for at, one in enumerate(drafts)]
    made = [page(one, "") for one in sorted(drafts, key=lambda one: one.id)]
    return list(map(_page_with_crlf, made)) if hand.fault == CRLF else made


def _page_with_crlf(made: Page) -> Page:
    marks = [
        replace(one, spans=tuple(_with_crlf(made.text, span) for span in one.spans))
        for one in made.marks
    ]
    return replace(made, text=made.text.replace("\n", "\r\n"), marks=tuple(marks))


def _offsets_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [page(one, "", concept=False) for one in sorted(drafts, key=lambda one: one.id)]


def _annotation(
    draft: Draft, mark: DraftMark, *, places: Sequence[Span], at: int, concept: str
) -> list[str]:
    place = ";".join(f"{start} {end}" for start, end in places)
    row = f"T{at}\t{mark.type} {place}\t{draft.surface(mark)}".replace("\n", " ")
    return [row, f"N{at}\tReference T{at} {concept}\tname"] if concept else [row]


def _text(draft: Draft, hand: Hand) -> str:
    return draft.parts[0].replace("\n", "\r\n") if hand.fault == CRLF else draft.parts[0]


def _with_crlf(text: str, span: Span) -> Span:
    """Where a span stands when all line ends of the text are CRLF."""
    return span[0] + text.count("\n", 0, span[0]), span[1] + text.count("\n", 0, span[1])


def _offsets(drafts: Sequence[Draft], hand: Hand) -> Files:
    files = {f"c/{draft.id}.txt": draft.parts[0].encode() for draft in drafts}
    hand.measure(5)
    rows = ["filename\toff0\toff1\tlabel\tspan"]  # other names are those of a table of predictions
    for draft in drafts:
        for one in draft.marks:
            starts, ends = zip(*hand.places(draft.parts[0], draft.spans(one)), strict=True)
            cells = [
                ";".join(map(str, starts)),
                ";".join(map(str, ends)),
                one.type,
                draft.surface(one),
            ]
            rows.append(hand.row([draft.id, *cells]))
    return files | {"c/mentions.tsv": hand.lines(rows)}


ORACLES: Final = (
    Oracle(
        name="pubtator",
        reads="pubtator",
        taste=Taste(parts=(2, 2), blanks=(" ", " ", "  ", "\u00a0"), linked=True),
        write=_pubtator,
        pages=_pubtator_pages,
        path="a.pubtator",
        senseless=ONE_PLACE,
    ),
    Oracle(
        name="brat",
        reads="brat",
        taste=Taste(blanks=(" ", " ", "  ", "\n", ""), linked=True, split=True),
        write=_brat,
        pages=_brat_pages,
        path="c",
        senseless=NO_COLUMNS | ONE_PART | ONE_PLACE,
    ),
    Oracle(
        name="offsets",
        reads="offsets",
        # a table without rows names no text
        taste=Taste(blanks=(" ", " ", "  ", ""), marked=True, split=True),
        write=_offsets,
        pages=_offsets_pages,
        path="c",
        senseless=ONE_PART | NO_IDS_OF_CONCEPTS | because("a folder has a file name once", SAME_ID),
    ),
)
