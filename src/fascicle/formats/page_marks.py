"""Marks of what a page of a PDF draws (ISO 32000-1, 14.6): what is no content, texts that stand for
letters, and layers.

Needs the package pypdfium2 (extra ``office``).
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from fascicle.errors import import_extra
from fascicle.formats.page_parts import NOTHING, PrintedPiece

_ENDS: Final = 300  # objects at the start and the end of a page, where running heads are written
_LONGEST: Final = 128  # bytes of the name of a mark
_ARTIFACT, _LAYER, _TEXT = b"Artifact", b"OC", b"ActualText"
_COLOUR: Final = bytes((201, 102, 51))
_ENCODINGS: Final = MappingProxyType(
    {b"\xfe\xff": "utf-16-be", b"\xff\xfe": "utf-16-le", b"\xef\xbb\xbf": "utf-8"}
)
_OF_PDF: Final = MappingProxyType(
    dict(enumerate("˘ˇˆ˙˝˛˚˜", 0x18))
    | dict(enumerate("•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\ufffd€", 0x80))
)
_SOFT: Final = "\u00ad"  # a hyphen, if a line ends there
_WORD: Final = re.compile(r"\S+")
Sign = tuple[str, PrintedPiece | None]  # a character, and its place


def pdfium() -> Any:
    """Returns the package.

    Raises:
        MissingExtraError: pypdfium2 is not installed.
    """
    return import_extra("pypdfium2", extra="office")


def address(item: Any) -> int:
    """Returns the address of an object of PDFium, 0 for none."""
    return ctypes.addressof(item.contents) if item else 0


class PageMarks:
    """Marks of a page whose text was not read yet; objects and marks are known by their addresses.

    Attributes:
        artifacts: lower and upper sides of what the file marks as no content (14.8.2.2), as running
            heads are; nothing if it is most of the page.
        spans: objects -> the mark whose text stands for their letters (14.9.4).
        texts: such a mark -> its text.
        hidden: number of texts in layers that are switched off (8.11).
    """

    def __init__(self, page: Any) -> None:
        """Reads the marks, and switches off what is in hidden layers."""
        self._page, self._raw = page, pdfium().raw
        self._names: dict[int, bytes] = {}  # one mark may be that of many objects
        self._off: set[int] = set()
        self._replaced: list[tuple[Any, Any]] = []
        self.artifacts: dict[int, tuple[float, float]] = {}
        self.spans: dict[int, int] = {}
        self.texts: dict[int, str] = {}
        self.hidden = 0
        self._read(list(page.get_objects()))
        self._sides = sorted(set(self.artifacts.values()))
        for item, mark in self._replaced:  # or PDFium would replace some of the letters
            self._raw.FPDFPageObjMark_RemoveParam(item, mark, _TEXT)

    def _read(self, items: Sequence[Any]) -> None:
        outer = [item for item in items if not item.level]
        ends = {address(item.raw) for item in outer[:_ENDS] + outer[-_ENDS:]}
        for item in items:
            count = self._raw.FPDFPageObj_CountMarks(item.raw)
            if count or item.container:
                self._add(item, count, is_end=address(item.raw) in ends)
        if 2 * len(self.artifacts) > len(outer):
            self.artifacts = {}

    def object_at(self, text: Any, number: int, box: Any) -> int:
        """Returns the address of the object of a letter if it may be marked, else 0."""
        middle = (box.bottom + box.top) / 2
        is_marked = any(bottom < middle < top for bottom, top in self._sides)
        if is_marked or self.spans:
            return address(self._raw.FPDFText_GetTextObject(text, number))
        return 0

    def _add(self, item: Any, count: int, *, is_end: bool) -> None:
        marks = [self._raw.FPDFPageObj_GetMark(item.raw, number) for number in range(count)]
        names = {self._name(item, mark) for mark in marks}
        around = item.container and address(item.container.raw)
        if _LAYER in names or around in self._off:
            self._off.add(address(item.raw))
            self.hidden += item.type == self._raw.FPDF_PAGEOBJ_TEXT
            self._raw.FPDFPageObj_SetIsActive(item.raw, False)
        elif _ARTIFACT in names and is_end:
            _, bottom, _, top = item.get_bounds()
            self.artifacts[address(item.raw)] = bottom, top
        elif spans := [
            self.spans.get(place, place)
            for place in (around, *map(address, marks))
            if place in self.texts or place in self.spans
        ]:
            self.spans[address(item.raw)] = spans[0]

    def _name(self, item: Any, mark: Any) -> bytes:
        """Returns the name of a mark; that of a layer is empty if the layer is shown."""
        place = address(mark)
        if place in self._names:
            return self._names[place]
        name, size = ctypes.create_string_buffer(_LONGEST), ctypes.c_ulong()
        letters = ctypes.cast(name, ctypes.POINTER(ctypes.c_ushort))
        self._raw.FPDFPageObjMark_GetName(mark, letters, _LONGEST, ctypes.byref(size))
        kind = name.raw[: min(size.value, _LONGEST)].replace(b"\0", b"")
        self._names[place] = b"" if kind == _LAYER and self._is_shown(mark) else kind
        if self._raw.FPDFPageObjMark_GetParamValueType(mark, _TEXT) == self._raw.FPDF_OBJECT_STRING:
            self._replaced.append((item.raw, mark))
            if text := self._text(mark):
                self.texts[place] = text
        return self._names[place]

    def _text(self, mark: Any) -> str:
        get_blob, size = self._raw.FPDFPageObjMark_GetParamBlobValue, ctypes.c_ulong()
        get_blob(mark, _TEXT, None, 0, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        signs = ctypes.cast(text, ctypes.POINTER(ctypes.c_ubyte))
        get_blob(mark, _TEXT, signs, size.value, ctypes.byref(size))
        return _decoded(text.raw)

    def _is_shown(self, mark: Any) -> bool:
        """True if PDFium draws what is in a layer: a box on the whole page."""
        raw = self._raw
        width, height = self._page.get_size()
        box = raw.FPDFPageObj_CreateNewRect(-1e5, -1e5, 2e5, 2e5)
        raw.FPDFPath_SetDrawMode(box, raw.FPDF_FILLMODE_ALTERNATE, False)
        raw.FPDFPageObj_SetFillColor(box, *_COLOUR, 255)
        raw.FPDFPage_InsertObject(self._page, box)
        raw.FPDFPageObj_AddExistingMark(box, mark)
        try:
            sides = (0, 0, max(0, width - 1), max(0, height - 1))
            return bytes(self._page.render(crop=sides, rev_byteorder=True).buffer)[:3] == _COLOUR
        finally:
            raw.FPDFPage_RemoveObject(self._page, box)
            raw.FPDFPageObj_Destroy(box)


def _decoded(text: bytes) -> str:
    """Decodes a text of a PDF (7.9.2.2), which has a mark of its encoding or that of PDF."""
    for mark, encoding in _ENCODINGS.items():
        if text.startswith(mark):
            return text.removeprefix(mark).decode(encoding, "replace")
    return text.decode("latin-1").translate(_OF_PDF)


def with_texts(signs: Iterable[Sign], texts: Mapping[int, str]) -> Iterator[Sign]:
    """Yields signs; each word of a text that replaces letters is at the place of a letter.

    Args:
        signs: signs; a letter that a text replaces is `NOTHING` and the address of its mark.
        texts: marks -> their texts.
    """
    pairs = [pair for pair in signs if pair[0]]
    counts = Counter(sign for sign, _ in pairs)
    places = Counter[str]()
    words: dict[str, Mapping[int, Sequence[re.Match[str]]]] = {}
    inside = False  # a span of such letters, of which others follow
    for sign, box in pairs:
        if box is not None and sign[0] == NOTHING:
            text = texts[int(sign[1:])]
            if sign not in words:
                words[sign] = _words_by_letter(text, counts[sign])
            is_last = places[sign] == counts[sign] - 1
            yield from _signs_of(text, words[sign].get(places[sign], ()), box, is_last=is_last)
            places[sign] += 1
            inside = places[sign] < counts[sign]
        elif not (inside and sign == " "):
            inside = inside and box is None
            yield sign, box


def _words_by_letter(text: str, count: int) -> Mapping[int, Sequence[re.Match[str]]]:
    """Returns the words of a text by the letter, of so many, at whose place they are."""
    words = defaultdict[int, list[re.Match[str]]](list)
    for word in _WORD.finditer(text):
        words[word.start() * count // len(text)].append(word)
    return words


def _signs_of(
    text: str, words: Iterable[re.Match[str]], box: PrintedPiece, *, is_last: bool
) -> Iterator[Sign]:
    """Yields the words of a text that are at the place of a letter, the last one or another."""
    for word in words:
        yield from [(" ", None)] * (word.start() > 0)
        yield word[0], box._replace(text=word[0])
    yield NOTHING, box._replace(text=NOTHING)
    if is_last and text[-1:].isspace():
        yield " ", None
    elif is_last and box.text == "-" and text[-1:].isalnum():  # the word goes on
        yield _SOFT, box._replace(text=_SOFT)
