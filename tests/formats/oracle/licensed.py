"""ACE and OntoNotes: texts with entities in XML beside them, and sentences of tokens with names in
tags.

ACE: the offsets of ``charseq`` count the text without its tags, the last character included.
OntoNotes: a line for each sentence, names in ENAMEX tags between the tokens, and the id of a
document as its DOCNO."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from tests.formats.oracle.drafts import Draft, Taste, page
from tests.formats.oracle.format import (
    FLAT,
    NO_COLUMNS,
    NO_IDS_OF_CONCEPTS,
    ONE_LINE,
    ONE_PART,
    TAGS,
    Files,
    Oracle,
    because,
)
from tests.formats.oracle.hand import SAME_ID, Hand
from tests.formats.oracle.judging import Page


def _ace(drafts: Sequence[Draft], hand: Hand) -> Files:
    files: Files = {}
    for draft in drafts:
        entities = []
        for at, one in enumerate(draft.marks):
            start, end = hand.place(draft.parts[0], draft.span(one))
            entities.append(
                f'<entity ID="E{at}" TYPE="{one.type}"><entity_mention ID="E{at}-1" '
                'TYPE="NAM"><extent>'
                f'<charseq START="{start}" '
                f'END="{end - 1}">{html.escape(draft.surface(one))}</charseq>'
                f"</extent></entity_mention></entity>"
            )
        files[f"c/{draft.id}.sgm"] = (
            f"<DOC><TEXT>{html.escape(draft.parts[0])}</TEXT></DOC>".encode()
        )
        files[f"c/{draft.id}.apf.xml"] = (
            f"<source_file><document>{''.join(entities)}</document></source_file>".encode()
        )
    return files


def _ace_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [page(one, "", concept=False) for one in sorted(drafts, key=lambda one: one.id)]


def _ontonotes(drafts: Sequence[Draft], hand: Hand) -> Files:
    rows: list[str] = []
    for draft in drafts:
        rows.append(f'<DOC DOCNO="{draft.id}">')
        for part in range(len(draft.parts)):
            tokens = [html.escape(word, quote=False) for word in draft.said(part)]
            for one in draft.inside(part):
                tokens[one.first] = f'<ENAMEX TYPE="{one.type}">{tokens[one.first]}'
                tokens[one.last] += "</ENAMEX>"
            rows.append(" ".join(tokens))
        rows.append("</DOC>")
    return {"a.name": hand.lines(rows)}


ORACLES: Final = (
    Oracle(
        name="ace",
        reads="ace",
        taste=Taste(blanks=(" ", " ", "  ", "\n", "")),
        write=_ace,
        pages=_ace_pages,
        path="c",
        senseless=NO_COLUMNS
        | ONE_PART
        | ONE_LINE
        | NO_IDS_OF_CONCEPTS
        | because("a folder has a file name once", SAME_ID),
    ),
    Oracle(
        name="ontonotes",
        reads="ontonotes",
        taste=Taste(parts=(1, 3), empty=False, flat=True),
        write=_ontonotes,
        path="a.name",
        senseless=NO_COLUMNS | NO_IDS_OF_CONCEPTS | TAGS | FLAT,
    ),
)
