"""Web Annotations of the W3C: a position and a quote of each mention, and the texts beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from tests.formats.oracle.drafts import Draft, DraftMark, Taste, page
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


def _annotation(draft: Draft, mark: DraftMark, hand: Hand) -> dict[str, Any]:
    start, end = hand.place(draft.parts[0], draft.span(mark))
    selectors = [
        {"type": "TextPositionSelector", "start": start, "end": end},
        {"type": "TextQuoteSelector", "exact": draft.surface(mark)},
    ]
    return {
        "@context": "http://www.w3.org/ns/anno.jsonld",
        "type": "Annotation",
        "body": {"type": "TextualBody", "value": mark.type, "purpose": "tagging"},
        "target": {"source": f"https://example.org/texts/{draft.id}.txt", "selector": selectors},
    }


def _files(drafts: Sequence[Draft], hand: Hand) -> Files:
    files: Files = {f"c/{draft.id}.txt": draft.parts[0].encode() for draft in drafts}
    stated = [_annotation(draft, mark, hand) for draft in drafts for mark in draft.marks]
    return {
        **files,
        "c/all.json": json.dumps(stated, ensure_ascii=hand.random.random() < 0.3).encode(),
    }


def _pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    """Texts without annotation are not named in the file."""
    return [page(one, "", concept=False) for one in drafts if one.marks]


ORACLES: Final = (
    Oracle(
        name="web-annotation",
        reads="web-annotation",
        taste=Taste(blanks=(" ", "  ", "\n"), marked=True),
        write=_files,
        path="c/all.json",
        pages=_pages,
        senseless=NO_COLUMNS
        | ONE_PART
        | ONE_LINE
        | NO_IDS_OF_CONCEPTS
        | because("its ids are names of files in one folder", SAME_ID),
    ),
)
