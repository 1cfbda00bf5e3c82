"""Documents of GATE in XML: nodes in the text, and annotations from node to node.

Written from https://gate.ac.uk/userguide/sec:creole:loading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from tests.formats.oracle.drafts import Draft, Taste, page
from tests.formats.oracle.format import (
    NO_COLUMNS,
    NO_IDS_OF_CONCEPTS,
    OFFSETS,
    ONE_LINE,
    Files,
    Oracle,
    because,
)
from tests.formats.oracle.hand import SAME_ID, Hand
from tests.formats.oracle.judging import Page


def gate_xml(draft: Draft, hand: Hand) -> str:
    """A document, with its mentions in the set `Key` or in the set without a name."""
    text, spans = draft.parts[0], [draft.span(mark) for mark in draft.marks]
    first = hand.random.choice((0, 7))  # numbers of nodes need not be offsets
    places = sorted({0, len(text), *(place for span in spans for place in span)})
    body = "".join(
        f'<Node id="{place + first}"/>{escape(text[place:end])}'
        for place, end in zip(places, [*places[1:], len(text)], strict=True)
    )
    rows = "".join(
        f'<Annotation Id="{number}" Type={quoteattr(mark.type)} StartNode="{start + first}" '
        f'EndNode="{end + first}">\n</Annotation>\n'
        for number, (mark, (start, end)) in enumerate(zip(draft.marks, spans, strict=True))
    )
    name = hand.random.choice(("", ' Name="Key"'))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<GateDocument version="3">\n'
        "<GateDocumentFeatures>\n</GateDocumentFeatures>\n"
        f"<TextWithNodes>{body}</TextWithNodes>\n"
        f"<AnnotationSet{name}>\n{rows}</AnnotationSet>\n</GateDocument>\n"
    )


def _files(drafts: Sequence[Draft], hand: Hand) -> Files:
    return {"a.xml": gate_xml(drafts[0], hand).encode()}


def _pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [replace(page(drafts[0], "", concept=False), id="a")]


ORACLES: Final = (
    Oracle(
        name="gate-xml",
        reads="gate-xml",
        taste=Taste(blanks=(" ", "  ", "\n"), marked=True),
        write=_files,
        path="a.xml",
        pages=_pages,
        named=False,
        senseless=because("its nodes stand in the text and count nothing", *OFFSETS)
        | NO_COLUMNS
        | ONE_LINE
        | NO_IDS_OF_CONCEPTS
        | because("a file is one document, named after it", SAME_ID),
    ),
)
