"""Running heads and page numbers of printed pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise, takewhile
from math import inf
from statistics import median
from typing import Final

from fascicle.formats.page_parts import PrintedPiece, line_place, turns_of

_ZONE: Final = 0.12  # of the height of a page, at its top and its bottom: where running heads are
# of the space between lines: the space between running heads and the text is wider
_APART: Final = 1.3
_LOOSE: Final = 2.2  # of the height of letters: the widest space between lines of a text
# what may stand at the top of pages
_NUMBERED: Final = re.compile(r"(?:table|fig|box|scheme|panel|appendix)\b", re.I)
# The number of a page stands alone at its place, behind the word for it, or between signs.
_PAGE_NUMBER: Final = re.compile(
    r"(?:^|\t|(?:^|\s)[|·•–—/-]\s+|\b(?:page|p\.|pg\.|seite|s\.)\s*)\d{1,5}"
    r"(?=$|\t|\s+[|·•–—/-](?:\s|$)|\s+of\s|\s*/\s*\d)",
    re.I,
)
_DIGITS: Final = re.compile(r"\d+$")
_ROMAN: Final = {  # the numbers of pages before the text
    f"{tens}{digit}": 10 * at + number
    for at, tens in enumerate(("", "x", "xx", "xxx", "xl"))
    for number, digit in enumerate(["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"])
}
_Mark = tuple[int, str, int]  # what lines that are equal have in common, see `_marks`


def running_heads(
    pages: Sequence[Sequence[PrintedPiece]], heights: Sequence[float]
) -> list[set[int]]:
    """Returns the places of the running heads and page numbers of each page.

    They are the outermost lines, apart from the text, that recur at one place of most pages, or of
    most left or right pages, and are identical but for the number of the page.

    Args:
        pages: the pieces of each page.
        heights: of the pages.
    """
    upright = list(map(_upright, pages))
    lines = list(map(_texts, upright))
    heads = []
    for page, texts, usual, height in zip(upright, lines, _recurring(lines), heights, strict=True):
        letters = median(piece.height for piece in page) if page else 0
        heads.append(set(_outermost(texts, usual, height, letters)))
    is_text = any(
        line_place(piece) not in places
        for page, places in zip(upright, heads, strict=True)
        for piece in page
    )
    return heads if is_text else [set() for _ in pages]


def _recurring(pages: Sequence[dict[int, str]]) -> Iterator[set[int]]:
    """Yields the places of the lines of each page that recur on most pages, or on most of the left
    or right ones.
    """
    counts = _count_marks(pages)
    totals = [sum(map(bool, pages[::2])), sum(map(bool, pages[1::2]))]

    def recurs(place: int, text: str, number: int) -> bool:
        for mark in _marks(place, text, number):
            on_all, on_side = counts[0][mark] + counts[1][mark], counts[number % 2][mark]
            if on_all >= 2 and 2 * on_all > sum(totals):
                return True
            if on_side >= 2 and 2 * on_side > totals[number % 2]:
                return True
        return False

    for number, lines in enumerate(pages):
        yield {place for place, text in lines.items() if recurs(place, text, number)}


def _count_marks(pages: Sequence[dict[int, str]]) -> tuple[Counter[_Mark], Counter[_Mark]]:
    """Counts the marks on pages with even and with odd numbers; on a page each counts once."""
    counts: tuple[Counter[_Mark], Counter[_Mark]] = Counter(), Counter()
    for number, lines in enumerate(pages):
        counts[number % 2].update(
            {mark for place, text in lines.items() for mark in _marks(place, text, number)}
        )
    return counts


def _upright(page: Sequence[PrintedPiece]) -> list[PrintedPiece]:
    turns = turns_of(page)[:1]
    return [piece for piece in page if piece.turn in turns]


def _texts(page: Iterable[PrintedPiece]) -> dict[int, str]:
    """Returns the lines of a page by their places, with a TAB between pieces."""
    lines: dict[int, list[str]] = defaultdict(list)
    for piece in sorted(page):
        lines[line_place(piece)].append(piece.text.strip())
    return {place: "\t".join(cells) for place, cells in lines.items()}


def _marks(place: int, text: str, page: int) -> Iterator[_Mark]:
    """Yields what lines that are equal have in common: the text, or what stands around the
    number of the page.
    """
    if not _NUMBERED.match(text):
        yield place, text, -1
    if roman := _ROMAN.get(text.lower()):
        yield place, "#", roman - page
    for match in _PAGE_NUMBER.finditer(text):
        start = match.start() + _DIGITS.search(match[0]).start()  # type: ignore[union-attr]  # it ends with digits
        number = int(text[start : match.end()])
        if number > page:
            yield place, f"{text[:start]}#{text[match.end() :]}", number - page


def _outermost(
    lines: dict[int, str], usual: set[int], height: float, letters: float
) -> Iterator[int]:
    """Yields the places of usual lines at the edges of a page, if the text is apart from them."""
    places = sorted(lines)
    top = takewhile(
        lambda place: place in usual and 4 * place > height * (1 - _ZONE), reversed(places)
    )
    bottom = takewhile(lambda place: place in usual and 4 * place < height * _ZONE, places)
    edges = [list(top), list(bottom)]
    inner = [place for place in places if place not in chain(*edges)]
    spaces = [4 * (above - below) for below, above in pairwise(inner)]
    space = min(median(spaces), _LOOSE * letters) if spaces else 0
    for edge in filter(None, edges):
        nearest = min((abs(edge[-1] - place) for place in inner), default=inf)
        is_apart = 4 * nearest > _APART * space
        yield from (place for place in edge if is_apart or lines[place].isdigit())
