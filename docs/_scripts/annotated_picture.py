"""Draws ``docs/annotated.svg``: an invented case note with the mentions that the shipped model finds in it.

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
    "A woman with bipolar disorder had taken lithium for ten years when polyuria led to the diagnosis of nephrogenic "
    "diabetes insipidus. Lithium was replaced by valproate, and amiloride reduced the polyuria within a week. Her "
    "chronic renal failure did not improve."
)
COLUMNS, ADVANCE, LINE, MARGIN, SIZE = 74, 9.0, 46, 20, 15  # characters; the rest in pixels
LOOKS = {"Chemical": ("#dbeafe", "#1d4ed8", "none"), "Disease": ("#fde8d7", "#b45309", "4 2")}  # fill, line, dashes


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A run of characters in one line, of one mention or of none."""

    row: int
    column: int
    text: str
    type: str = ""
    first: bool = True


def rows(text: str) -> list[tuple[int, int]]:
    """Ranges of the lines, broken at blanks."""
    found, start = [], 0
    while len(text) - start > COLUMNS:
        end = text.rindex(" ", start, start + COLUMNS + 1)
        found.append((start, end))
        start = end + 1
    return [*found, (start, len(text))]


def pieces(document: fascicle.Document) -> Iterator[Piece]:
    """The text line by line, cut at the borders of mentions, which do not overlap."""
    for row, (begin, end) in enumerate(rows(document.text)):
        at = begin
        for mention in document.mentions:
            start, stop = max(mention.start, begin), min(mention.end, end)
            if start >= stop:
                continue
            yield Piece(row=row, column=at - begin, text=document.text[at:start])
            words = document.text[start:stop]
            yield Piece(row=row, column=start - begin, text=words, type=mention.type, first=start == mention.start)
            at = stop
        yield Piece(row=row, column=at - begin, text=document.text[at:end])


def drawn(piece: Piece) -> str:
    """The SVG of a piece: its words and, of a mention, a box and the name of the type."""
    x, y, width = MARGIN + piece.column * ADVANCE, MARGIN + 22 + piece.row * LINE, len(piece.text) * ADVANCE
    words = f'<text x="{x:g}" y="{y}" textLength="{width:g}" xml:space="preserve">{escape(piece.text)}</text>'
    if not piece.type:
        return words
    fill, line, dashes = LOOKS[piece.type]
    box = f'<rect x="{x - 2:g}" y="{y - 17}" width="{width + 4:g}" height="23" rx="4" fill="{fill}" stroke="{line}"'
    label = f'<text x="{x:g}" y="{y + 17}" class="type" fill="{line}">{piece.type}</text>' if piece.first else ""
    return f'{box} stroke-dasharray="{dashes}"/>{words}{label}'


def svg(document: fascicle.Document) -> str:
    """The picture of a document."""
    listed = "; ".join(f"{m.type}: {m.text_in(document.text)}" for m in document.mentions)
    width, height = 2 * MARGIN + COLUMNS * ADVANCE, 2 * MARGIN + LINE * len(rows(document.text)) - 4
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" role="img">',
        "<title>A case note with its chemicals and diseases marked</title>",
        f"<desc>{escape(listed)}</desc>",
        f"<style>text {{ font: {SIZE}px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }} "
        ".type { font: 600 11px system-ui, sans-serif }</style>",
        f'<rect width="{width:g}" height="{height}" rx="8" fill="#ffffff" stroke="#d1d5db"/>',
        *(drawn(piece) for piece in pieces(document) if piece.text),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Writes the picture; returns the exit code."""
    (document,) = fascicle.load("bc5cdr", threads=1).annotate(TEXT)
    out = Path(arguments[0]) if arguments else OUT
    out.write_text(svg(document), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
