"""Knowtator as the files of CRAFT have it: spans beside the text, and the class of each mention
by its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from tests.formats.oracle.drafts import Draft, Taste, page
from tests.formats.oracle.format import (
    NO_COLUMNS,
    NO_IDS_OF_CONCEPTS,
    ONE_LINE,
    ONE_PART,
    Files,
    Oracle,
    because,
)
from tests.formats.oracle.hand import SAME_ID, Hand
from tests.formats.oracle.judging import Page


def record(draft: Draft, hand: Hand) -> str:
    """The annotation of one text."""
    text, rows = draft.parts[0], []
    for number, mark in enumerate(draft.marks):
        places = hand.places(text, draft.spans(mark))
        spans = "".join(f'<span start="{start}" end="{end}"/>' for start, end in places)
        words = escape(" ... ".join(draft.pieces(mark)))
        rows += [
            f'<annotation><mention id="E{number}"/><annotator id="A">Someone</annotator>{spans}'
            f"<spannedText>{words}</spannedText></annotation>",
            f'<classMention id="E{number}"><mentionClass '
            f"id={quoteattr(mark.type)}>name</mentionClass></classMention>",
        ]
    body = "\n".join(rows)
    return f"<annotations textSource={quoteattr(f'{draft.id}.txt')}>\n{body}\n</annotations>"


def _files(drafts: Sequence[Draft], hand: Hand) -> Files:
    files: Files = {}
    for draft in drafts:
        files[f"c/corpus/{draft.id}.txt"] = draft.parts[0].encode()
        content = f'<?xml version="1.0" encoding="UTF-8"?>\n{record(draft, hand)}\n'
        files[f"c/saved/{draft.id}.txt.knowtator.xml"] = content.encode()
    return files


def _pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [page(one, "", concept=False) for one in sorted(drafts, key=lambda one: f"{one.id}.txt")]


ORACLES: Final = (
    Oracle(
        name="knowtator",
        reads="knowtator",
        taste=Taste(blanks=(" ", "  ", "\n"), split=True, marked=True),
        write=_files,
        path="c",
        pages=_pages,
        senseless=NO_COLUMNS
        | ONE_PART
        | ONE_LINE
        | NO_IDS_OF_CONCEPTS
        | because("its ids are names of files in one folder", SAME_ID),
    ),
)
