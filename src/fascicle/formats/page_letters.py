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
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from fascicle.formats.page_marks import PageMarks, Sign, pdfium, with_texts
from fascicle.formats.page_parts import DOWN, NOTHING, UP, PrintedPiece, turns_of
from fascicle.formats.page_tables import whole_lines

_FARTHEST: Final = 1e6  # from the corner of a page
_GAP: Final = 0.8  # of the height of letters: a wider one may be the space between two columns
_SMALL: Final = 0.85  # of the height of other letters
_RAISED: Final = 0.15
_SLANT: Final = 0.06  # of a quarter of a turn
_LARGE: Final = 1.6  # of the height of other letters
_OVER: Final = 0.5  # of the narrower one of an accent and its letter
_ACCENTS: Final = MappingProxyType(
    dict(
        zip(
            "`´ˆ˜¯˘˙¨˚˝ˇ¸˛",
            "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328",
            strict=True,
        )
    )
)
_WITH_DOT: Final = MappingProxyType({"ı": "i", "ȷ": "j"})
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_THICK: Final = 3.0  # units: a line that is drawn is thinner
_MOST_RULES: Final = 2_000  # of a page; one with more has a drawing
_EMPTY: Final = 2  # bytes of an empty text of PDFium
_HYPHENS: Final = frozenset("\x02\ufffe")  # what PDFium makes of a hyphen at the end of a line


class Page(NamedTuple):
    """Page: the pieces of its lines in the order of the file, its height as it is read, and what
    else it has.

    ``rules`` are level lines that are drawn, and the upper and lower sides of boxes; ``artifacts``
    is the number of lines that the file marks as no content.
    """

    pieces: list[PrintedPiece]
    height: float
    has_pictures: bool
    left_out: Counter[str]
    rules: list[PrintedPiece]
    artifacts: int


def letters_of(page: Any) -> Page:
    """Returns the pieces of lines of a page of PDFium, and counts what is not read."""
    left_out, marks = Counter(_notes(page)), PageMarks(page)
    left_out["texts of hidden layers"] = marks.hidden
    artifacts: set[int] = set()
    signs = _signs(page, marks, left_out, artifacts)
    if marks.texts:
        signs = with_texts(signs, marks.texts)
    pieces = whole_lines(_with_caps(_pieces(_with_accents(signs))))
    left, bottom, right, top = page.get_bbox()
    turn = sum(turns_of(pieces)[:1])
    return Page(
        pieces=pieces,
        height=right - left if turn % 2 else top - bottom,
        has_pictures=next(page.get_objects(max_depth=2), None) is not None,
        left_out=left_out,
        rules=list(islice(_rules(page, turn), _MOST_RULES)),
        artifacts=len(artifacts),
    )


def _pieces(signs: Iterable[Sign]) -> list[PrintedPiece]:
    """Returns the pieces of lines that letters make, in the order of the letters."""
    pieces: list[PrintedPiece] = []
    is_open = has_blank = False  # whether the last piece may go on, and after a blank
    for sign, box in signs:
        if sign.isspace() or box is None:
            has_blank = True
            is_open = is_open and sign not in "\r\n"
            continue
        if is_open and _goes_on(pieces[-1], box):
            pieces[-1] = _extend(pieces[-1], box, " " * has_blank)
        else:
            pieces.append(box)
        is_open, has_blank = True, False
    return pieces


def _extend(piece: PrintedPiece, letter: PrintedPiece, blank: str) -> PrintedPiece:
    """Returns a piece with a further letter at its end."""
    before, sign = piece.text + blank, letter.text
    if _is_above(letter, piece):
        sign = f"{UP}{sign}{DOWN}"
    elif _is_above(piece, letter):  # all letters so far
        before = f"{UP}{before}{DOWN}"
    tall = max(piece, letter, key=attrgetter("height"))
    right = max(piece.right, letter.right)
    return PrintedPiece(piece.left, tall.bottom, right, tall.top, before + sign, letter.turn)


def _rules(page: Any, turn: int) -> Iterator[PrintedPiece]:
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


def _goes_on(piece: PrintedPiece, box: PrintedPiece) -> bool:
    if len(piece.text) == 1 and piece.height > _LARGE * box.height and box.top > piece.middle:
        return False  # a large letter at the start of a paragraph
    is_level = piece.turn == box.turn and abs(piece.middle - box.middle) < 0.5 * max(
        piece.height, box.height
    )
    return is_level and -piece.height < box.left - piece.right < _GAP * piece.height


def _with_accents(
    signs: Iterable[Sign],
) -> Iterator[Sign]:
    """Yields signs; an accent that is printed over a letter is one with it, as TeX makes such
    letters.
    """
    pending: tuple[str, PrintedPiece | None] = "", None
    for sign, box in signs:
        letter = _accented(*pending, sign, box) or _accented(sign, box, *pending)
        if letter is None and pending[0]:
            yield pending
        pending = letter or (sign, box)
    if pending[0]:
        yield pending


def _accented(
    accent: str, over: PrintedPiece | None, letter: str, box: PrintedPiece | None
) -> tuple[str, PrintedPiece] | None:
    mark = _ACCENTS.get(accent)
    if mark is None or over is None or box is None or over.turn != box.turn:
        return None
    sign = unicodedata.normalize("NFC", _WITH_DOT.get(letter, letter) + mark)
    beside = min(over.right, box.right) - max(over.left, box.left)
    is_over = beside > _OVER * min(over.right - over.left, box.right - box.left)
    return (sign, box._replace(text=sign)) if len(sign) == 1 and is_over else None


def _with_caps(pieces: Sequence[PrintedPiece]) -> list[PrintedPiece]:
    """Returns pieces; a large letter at the start of a paragraph is one with the line beside its
    top.
    """
    caps = [piece for piece in pieces if len(piece.text) == 1 and piece.text.isupper()]
    lines = list(pieces)
    for cap in caps:
        for number, line in enumerate(lines):
            if _is_cap_of(cap, line):
                is_word = cap.text in ("A", "I") and line.left - cap.right > 0.3 * line.height
                lines[number] = line._replace(text=f"{cap.text}{' ' * is_word}{line.text}")
                lines.remove(cap)
                break
    return lines


def _is_cap_of(cap: PrintedPiece, line: PrintedPiece) -> bool:
    """True if a letter is larger than those of a line, and stands at its start and top."""
    return (
        line.turn == cap.turn
        and abs(cap.top - line.top) < 0.5 * line.height
        and cap.height > _LARGE * line.height
        and -0.5 * line.height < line.left - cap.right < line.height
    )


def _is_above(letter: PrintedPiece, line: PrintedPiece) -> bool:
    """True if a letter is smaller than others, and stands above their line."""
    return (
        letter.height < _SMALL * line.height and letter.bottom - line.bottom > _RAISED * line.height
    )


def _signs(
    page: Any, marks: PageMarks, left_out: Counter[str], artifacts: set[int]
) -> Iterator[Sign]:
    """Yields the characters of a page with their places; those without a place are blanks
    between words and lines. One that a text replaces is `NOTHING` and the address of its mark.

    Args:
        page: the page.
        marks: those of the page.
        left_out: counts what is not read.
        artifacts: receives the places of lines that the file marks as no content.
    """
    raw, text = pdfium().raw, page.get_textpage()
    rectangle, sides = raw.FS_RECTF(), page.get_bbox()
    has_marks = bool(marks.artifacts or marks.spans)
    for number, sign in _characters(text):
        if raw.FPDFText_IsGenerated(text, number) == 1 and sign != "-":
            yield sign if sign.isspace() else " ", None
        elif raw.FPDFText_GetLooseCharBox(text, number, ctypes.byref(rectangle)):
            place = marks.object_at(text, number, rectangle) if has_marks else 0
            if place and place in marks.artifacts:
                artifacts.add(round((rectangle.bottom + rectangle.top) / 2))
                yield "\n", None
                continue
            quarters = _quarters(text, number, raw)
            is_straight = abs(quarters - round(quarters)) < _SLANT
            is_inside = _is_inside(rectangle, sides)
            if sign.isspace() or (is_straight and is_inside):
                box = _turned(rectangle, sides, round(quarters) % 4, sign)
                if place and place in marks.spans:
                    sign = "" if sign.isspace() else f"{NOTHING}{marks.spans[place]}"
                left_out["signs without a letter"] += sign == "\ufffd"
                yield sign, box
            else:
                left_out["slanted signs" if is_inside else "signs outside of the page"] += 1


def _quarters(text: Any, number: int, raw: Any) -> float:
    """Returns by how many quarters the line of a character is turned, whatever its slant."""
    quarters: float = raw.FPDFText_GetCharAngle(text, number) / (math.pi / 2)
    if abs(quarters - round(quarters)) < _SLANT:
        return quarters
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(text, number, ctypes.byref(matrix))
    return math.atan2(matrix.b, matrix.a) / (math.pi / 2)


def _characters(text: Any) -> Iterator[tuple[int, str]]:
    """Yields the characters of a page with their numbers; U+FFFD stands for an unknown one."""
    raw = pdfium().raw
    signs = [chr(raw.FPDFText_GetUnicode(text, number)) for number in range(text.count_chars())]
    for number, sign in enumerate(signs):
        # two halves of a character of UTF-16
        if _PAIR.fullmatch(pair := "".join(signs[number : number + 2])):
            signs[number + 1] = pair.encode("utf-16", "surrogatepass").decode("utf-16")
        elif (
            "\ud800" <= sign <= "\udfff"
            or sign in ("\0", UP, DOWN, NOTHING)
            or raw.FPDFText_HasUnicodeMapError(text, number) == 1
        ):
            yield number, "\ufffd"
        else:
            yield number, "-" if sign in _HYPHENS else sign


def _is_inside(box: Any, page: Sequence[float]) -> bool:
    left, bottom, right, top = page
    return not (box.right < left or box.left > right or box.top < bottom or box.bottom > top)


def _turned(box: Any, page: Sequence[float], turn: int, sign: str) -> PrintedPiece:
    """Returns the place of a letter on its page turned back, so that it stands upright."""
    left, bottom, right, top = map(_bounded, (box.left, box.bottom, box.right, box.top))
    x, y, far, high = page
    if not turn:
        return PrintedPiece(left - x, bottom - y, right - x, top - y, sign)
    sides = (
        (high - top, left - x, high - bottom, right - x),
        (far - right, high - top, far - left, high - bottom),
        (bottom - y, far - right, top - y, far - left),
    )[turn - 1]
    return PrintedPiece(*sides, sign, turn)


def _bounded(place: float) -> float:
    """Returns a place that can be calculated with: a damaged file may have letters that are
    nowhere.
    """
    if abs(place) < _FARTHEST:
        return place
    return 0.0 if math.isnan(place) else math.copysign(_FARTHEST, place)
