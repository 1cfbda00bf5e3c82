"""Draws ``docs/annotated.svg``: an invented paragraph with the mentions that the shipped model
finds in it.

usage: python docs/_scripts/annotated_picture.py

A type is told by its name and by the line around it, not by colour alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import fascicle

OUT = Path(__file__).resolve().parents[1] / "annotated.svg"
TEXT = (
    "Doxorubicin slows the growth of breast cancer cells. Mice without Brca1 developed mammary "
    "tumours, and MCF-7 "
    "cells that lack p53 were resistant to doxorubicin. T lymphocytes of patients with acute "
    "myeloid leukemia "
    "produced more interleukin-2. Hepatitis B virus was found in Huh7 cells."
)
COLUMNS, ADVANCE, LINE, MARGIN, SIZE = 74, 9.0, 50, 20, 15  # characters; the rest in pixels
LOOKS = {  # fill, line, dashes
    "CellLine": ("#fef9c3", "#854d0e", "8 3"),
    "CellType": ("#ffe4e6", "#be123c", "3 1"),
    "Chemical": ("#dbeafe", "#1d4ed8", "none"),
    "Disease": ("#fde8d7", "#b45309", "4 2"),
    "Gene": ("#dcfce7", "#15803d", "1 2"),
    "Species": ("#f3e8ff", "#7e22ce", "6 2 1 2"),
}


@dataclass(frozen=True, kw_only=True)
class Box:
    """What of a mention is in one line.

    Attributes:
        row: of the line.
        start: first column.
        end: after the last column.
        type: of the mention.
        first: whether the mention begins here.
        inside: how many other mentions contain it.
    """

    row: int
    start: int
    end: int
    type: str
    first: bool
    inside: int


def rows(text: str) -> list[tuple[int, int]]:
    """Ranges of the lines, broken at blanks."""
    found, start = [], 0
    while len(text) - start > COLUMNS:
        end = text.rindex(" ", start, start + COLUMNS + 1)
        found.append((start, end))
        start = end + 1
    return [*found, (start, len(text))]


def boxes(document: fascicle.Document) -> Iterator[Box]:
    """The mentions line by line, outer ones first."""
    ordered = sorted(document.mentions, key=lambda mention: (mention.start, -mention.end))
    for row, (begin, end) in enumerate(rows(document.text)):
        for mention in ordered:
            start, stop = max(mention.start, begin), min(mention.end, end)
            if start < stop:
                yield Box(
                    row=row,
                    start=start - begin,
                    end=stop - begin,
                    type=mention.type,
                    first=start == mention.start,
                    inside=sum(_contains(other, mention) for other in ordered),
                )


def _contains(outer: fascicle.Mention, inner: fascicle.Mention) -> bool:
    return (outer.start, outer.end) != (
        inner.start,
        inner.end,
    ) and outer.start <= inner.start <= inner.end <= outer.end


def words(row: int, text: str) -> str:
    """The SVG of the text of a line."""
    at = f'x="{MARGIN:g}" y="{_baseline(row)}" textLength="{len(text) * ADVANCE:g}"'
    return f'<text {at} xml:space="preserve">{escape(text)}</text>'


def drawn(box: Box) -> str:
    """The SVG of a box, and below it, or above it if it is inside another one, the name of the
    type.
    """
    x, y, width = MARGIN + box.start * ADVANCE, _baseline(box.row), (box.end - box.start) * ADVANCE
    fill, line, dashes = LOOKS[box.type]
    less = 2 * min(box.inside, 2)  # in pixels: so that the box around it stays visible
    place = (
        f'x="{x - 2:g}" y="{y - 17 + less}" width="{width + 4:g}" height="{23 - 2 * less}" rx="4"'
    )
    label = (
        f'<text x="{x:g}" y="{y - 20 if box.inside else y + 17}" class="type" '
        f'fill="{line}">{box.type}</text>'
    )
    shape = f'<rect {place} fill="{fill}" stroke="{line}" stroke-dasharray="{dashes}"/>'
    return shape + (label if box.first else "")


def _baseline(row: int) -> int:
    return MARGIN + 26 + row * LINE


def svg(document: fascicle.Document) -> str:
    """The picture of a document."""
    listed = "; ".join(f"{m.type}: {m.text_in(document.text)}" for m in document.mentions)
    lines = rows(document.text)
    width, height = 2 * MARGIN + COLUMNS * ADVANCE, 2 * MARGIN + LINE * len(lines)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" '
            f'width="{width:g}" role="img">',
            "<title>A paragraph with the names of six types marked</title>",
            f"<desc>{escape(listed)}</desc>",
            f"<style>text {{ font: {SIZE}px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', "
            "monospace; } "
            ".type { font: 600 11px system-ui, sans-serif }</style>",
            f'<rect width="{width:g}" height="{height}" rx="8" fill="#ffffff" stroke="#d1d5db"/>',
            *(drawn(box) for box in boxes(document)),
            *(words(row, document.text[begin:end]) for row, (begin, end) in enumerate(lines)),
            "</svg>\n",
        ]
    )


def main(arguments: Sequence[str]) -> int:
    """Writes the picture; returns the exit code."""
    (document,) = fascicle.load("biomed", threads=1).annotate(TEXT)
    out = Path(arguments[0]) if arguments else OUT
    out.write_text(svg(document), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
