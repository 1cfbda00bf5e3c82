"""Letters of the pages of a PDF, and the pieces of lines that they make.

Needs the package pypdfium2 (extra ``office``), which finds the place of each letter.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from fascicle.errors import import_extra
from fascicle.formats.page_parts import Piece, turns_of, whole_lines

_FARTHEST: Final = 1e6  # from the corner of a page
_GAP: Final = 0.8  # of the height of letters: a wider one may be the space between two columns
UP, DOWN = "\ufdd0", "\ufdd1"  # around raised letters: no text has these, as Unicode promises
_SMALL: Final = 0.85  # of the height of other letters
_RAISED: Final = 0.15
_SLANT: Final = 0.06  # of a quarter of a turn
_LARGE: Final = 1.6  # of the height of other letters
_OVER: Final = 0.5  # of the narrower one of an accent and its letter
_ACCENTS: Final = MappingProxyType(
    {
        **{
            "`": "\u0300",
            "´": "\u0301",
            "ˆ": "\u0302",
            "˜": "\u0303",
            "¯": "\u0304",
            "˘": "\u0306",
            "˙": "\u0307",
        },
        **{
            "¨": "\u0308",
            "˚": "\u030a",
            "˝": "\u030b",
            "ˇ": "\u030c",
            "¸": "\u0327",
            "˛": "\u0328",
        },
    }
)
_WITH_DOT: Final = MappingProxyType({"ı": "i", "ȷ": "j"})
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_THICK: Final = 3.0  # units: a line that is drawn is thinner
_MOST_RULES: Final = 2_000  # of a page; one with more has a drawing
_EMPTY: Final = 2  # bytes of an empty text of PDFium
_HYPHENS: Final = frozenset("\x02\ufffe")  # what PDFium makes of a hyphen at the end of a line


def pdfium() -> Any:
    """Returns the package.

    Raises:
        MissingExtraError: pypdfium2 is not installed.
    """
    return import_extra("pypdfium2", extra="office")


class Page(NamedTuple):
    """Page: the pieces of its lines in the order of the file, its height as it is read, and what
    else it has.

    ``rules`` are level lines that are drawn, and the upper and lower sides of boxes.
    """

    pieces: list[Piece]
    height: float
    has_pictures: bool
    left_out: Counter[str]
    rules: list[Piece]


def letters_of(page: Any) -> Page:
    """Returns the pieces of lines of a page of PDFium, and counts what is not read."""
    pieces: list[Piece] = []
    open_piece: Piece | None = None
    is_apart = False
    left_out = Counter(_notes(page))
    for sign, box in _with_accents(_signs(page, left_out)):
        if sign.isspace() or box is None:
            is_apart = True
            if sign in "\r\n" and open_piece is not None:
                pieces.append(open_piece)
                open_piece = None
            continue
        if open_piece is not None and _goes_on(open_piece, box):
            tall = max(open_piece, box, key=lambda one: one.height)
            before, letter = open_piece.text + " " * is_apart, sign
            if _is_above(box, open_piece):
                letter = f"{UP}{sign}{DOWN}"
            elif _is_above(open_piece, box):  # all that stood before
                before = f"{UP}{before}{DOWN}"
            right = max(open_piece.right, box.right)
            open_piece = Piece(
                open_piece.left, tall.bottom, right, tall.top, before + letter, box.turn
            )
        else:
            pieces += [open_piece] if open_piece is not None else []
            open_piece = box
        is_apart = False
    pieces += [open_piece] if open_piece is not None else []
    pieces = whole_lines(_with_caps(pieces))
    left, bottom, right, top = page.get_bbox()
    turn = sum(turns_of(pieces)[:1])
    height = right - left if turn % 2 else top - bottom
    has_pictures = next(page.get_objects(max_depth=2), None) is not None
    return Page(
        pieces, height, has_pictures, left_out, list(islice(_rules(page, turn), _MOST_RULES))
    )


def _rules(page: Any, turn: int) -> Iterator[Piece]:
    """Yields the level lines that are drawn on a page, seen as its letters stand."""
    raw = pdfium().raw
    sides = page.get_bbox()
    for drawn in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1):
        left, bottom, right, top = drawn.get_bounds()
        box = _turned(raw.FS_RECTF(left=left, bottom=bottom, right=right, top=top), sides, turn, "")
        if box.right - box.left > _THICK:
            yield box._replace(bottom=box.top)
            if box.height > _THICK:
                yield box._replace(top=box.bottom)


def _notes(page: Any) -> Iterator[str]:
    """Yields the kinds of what readers see beside the text of a page: comments, and fields that
    are filled.
    """
    raw = pdfium().raw
    for at in range(raw.FPDFPage_GetAnnotCount(page)):
        note = raw.FPDFPage_GetAnnot(page, at)
        kind = (
            "fields of forms"
            if raw.FPDFAnnot_GetSubtype(note) == raw.FPDF_ANNOT_WIDGET
            else "comments"
        )
        key = b"V" if kind == "fields of forms" else b"Contents"
        if raw.FPDFAnnot_GetStringValue(note, key, None, 0) > _EMPTY:
            yield kind
        raw.FPDFPage_CloseAnnot(note)


def _goes_on(piece: Piece, box: Piece) -> bool:
    if len(piece.text) == 1 and piece.height > _LARGE * box.height and box.top > piece.middle:
        return False  # a large letter at the start of a paragraph
    is_level = piece.turn == box.turn and abs(piece.middle - box.middle) < 0.5 * max(
        piece.height, box.height
    )
    return is_level and -piece.height < box.left - piece.right < _GAP * piece.height


def _with_accents(signs: Iterable[tuple[str, Piece | None]]) -> Iterator[tuple[str, Piece | None]]:
    """Yields signs; an accent that is printed over a letter is one with it, as TeX makes such
    letters.
    """
    held: tuple[str, Piece | None] = "", None
    for sign, box in signs:
        letter = _accented(*held, sign, box) or _accented(sign, box, *held)
        if letter is None and held[0]:
            yield held
        held = letter or (sign, box)
    if held[0]:
        yield held


def _accented(
    accent: str, over: Piece | None, letter: str, box: Piece | None
) -> tuple[str, Piece] | None:
    mark = _ACCENTS.get(accent)
    if mark is None or over is None or box is None or over.turn != box.turn:
        return None
    made = unicodedata.normalize("NFC", _WITH_DOT.get(letter, letter) + mark)
    beside = min(over.right, box.right) - max(over.left, box.left)
    is_over = beside > _OVER * min(over.right - over.left, box.right - box.left)
    return (made, box._replace(text=made)) if len(made) == 1 and is_over else None


def _with_caps(pieces: Sequence[Piece]) -> list[Piece]:
    """Returns pieces; a large letter at the start of a paragraph is one with the line beside its
    top.
    """
    caps = [one for one in pieces if len(one.text) == 1 and one.text.isupper()]
    joined = list(pieces)
    for cap in caps:
        for at, line in enumerate(joined):
            space = line.left - cap.right
            is_beside = line.turn == cap.turn and abs(cap.top - line.top) < 0.5 * line.height
            if (
                is_beside
                and cap.height > _LARGE * line.height
                and -0.5 * line.height < space < line.height
            ):
                is_word = cap.text in ("A", "I") and space > 0.3 * line.height
                joined[at] = line._replace(text=f"{cap.text}{' ' * is_word}{line.text}")
                joined.remove(cap)
                break
    return joined


def _is_above(letter: Piece, others: Piece) -> bool:
    """True if a letter is smaller than others, and stands above their line."""
    return (
        letter.height < _SMALL * others.height
        and letter.bottom - others.bottom > _RAISED * others.height
    )


def _signs(page: Any, left_out: Counter[str]) -> Iterator[tuple[str, Piece | None]]:
    """Yields the characters of a page with their places; those without a place are blanks
    between words and lines.
    """
    raw, text = pdfium().raw, page.get_textpage()
    rectangle, sides = raw.FS_RECTF(), page.get_bbox()
    signs = [chr(raw.FPDFText_GetUnicode(text, at)) for at in range(text.count_chars())]
    for at, sign in enumerate(signs):
        # two halves of a character of UTF-16
        if _PAIR.fullmatch(pair := "".join(signs[at : at + 2])):
            signs[at + 1] = pair.encode("utf-16", "surrogatepass").decode("utf-16")
            continue
        sign = "-" if sign in _HYPHENS else sign
        if (
            "\ud800" <= sign <= "\udfff"
            or sign in ("\0", UP, DOWN)
            or raw.FPDFText_HasUnicodeMapError(text, at) == 1
        ):
            sign = "\ufffd"
        is_made = raw.FPDFText_IsGenerated(text, at) == 1
        if is_made and sign != "-":
            yield sign if sign.isspace() else " ", None
        elif raw.FPDFText_GetLooseCharBox(text, at, ctypes.byref(rectangle)):
            quarters = raw.FPDFText_GetCharAngle(text, at) / (math.pi / 2)
            is_straight, is_inside = (
                abs(quarters - round(quarters)) < _SLANT,
                _is_inside(rectangle, sides),
            )
            if sign.isspace() or (is_straight and is_inside):
                left_out["signs without a letter"] += sign == "\ufffd"
                yield sign, _turned(rectangle, sides, round(quarters) % 4, sign)
            else:
                left_out["slanted signs" if is_inside else "signs outside of the page"] += 1


def _is_inside(box: Any, page: Sequence[float]) -> bool:
    left, bottom, right, top = page
    return not (box.right < left or box.left > right or box.top < bottom or box.bottom > top)


def _turned(box: Any, page: Sequence[float], turn: int, sign: str) -> Piece:
    """Returns the place of a letter on its page turned back, so that it stands upright."""
    left, bottom, right, top = map(_bounded, (box.left, box.bottom, box.right, box.top))
    x, y, far, high = page
    if not turn:
        return Piece(left - x, bottom - y, right - x, top - y, sign)
    sides = (
        (high - top, left - x, high - bottom, right - x),
        (far - right, high - top, far - left, high - bottom),
        (bottom - y, far - right, top - y, far - left),
    )[turn - 1]
    return Piece(*sides, sign, turn)


def _bounded(place: float) -> float:
    """Returns a place that can be calculated with: a damaged file may have letters that are
    nowhere.
    """
    return 0.0 if math.isnan(place) else max(-_FARTHEST, min(_FARTHEST, place))
