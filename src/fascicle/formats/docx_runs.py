"""Characters in documents of Word: those of runs, fields, symbols and formulas."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from fascicle.formats.docx_styles import (
    Styles,
    attribute,
    first_child,
    is_on,
    local_tag,
    properties,
)
from fascicle.formats.fonts import UNKNOWN, shown_sign, shown_text
from fascicle.text.raised import Level, Piece, level_of

_SIGNS: Final = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Not of the text; those that a reader may miss have a name under which they are counted.
SKIPPED: Final = {
    **dict.fromkeys(
        ("del", "moveFrom", "pPr", "rPr", "sectPr", "tblPr", "trPr", "tcPr", "rubyPr", "sdtPr"), ""
    ),
    "rt": "ruby",
    "altChunk": "chunks of other files",
    "subDoc": "chunks of other files",
    "object": "objects",
    "textpath": "texts in drawings",
    **dict.fromkeys(
        ("dayShort", "dayLong", "monthShort", "monthLong", "yearShort", "yearLong", "pgNum"),
        "dates and page numbers",
    ),
}
_KNOWN: Final = re.compile(
    r"\{(?:https?://(?:schemas\.(?:openxmlformats|microsoft)|purl\.oclc)|urn:schemas-microsoft)|(?!\{)"
)
NOTES: Final = {"footnoteReference": "footnote", "endnoteReference": "endnote"}
# codes of fields
_UNSEEN: Final = re.compile(r"\s*(?:XE|TC|TA|RD|SET|ASK|ADDIN|PRIVATE|MACROBUTTON|NEXT|SKIPIF)\b")
_CITING: Final = re.compile(r"\s*(?:ADDIN|CITATION|NOTEREF)\b")
# In the name of a place that a link leads to. `_Ref1234` is that of a caption or a heading.
_REFERENCE: Final = re.compile(r"^(?!_Ref\d).*(?:ref|bib|cit|note)", re.I)
_SPACE: Final = "{http://www.w3.org/XML/1998/namespace}space"
_BLANK: Final = re.compile("[\r\n]+")
# of a formula
_BETWEEN_ARGUMENTS: Final = {
    "f": "/",
    "func": " ",
    "nary": " ",
    "mr": " ",
    "m": "; ",
    "eqArr": "; ",
}
_BEFORE: Final = {"nary": "∫", "rad": "√"}


def join_pieces(pieces: Iterable[Piece]) -> str:
    """Returns the text of pieces."""
    return "".join(piece.text for piece in pieces)


def first_alternative(content: Any) -> Any:
    """Returns the first of alternatives that Word can show; of those it shows none, the first."""
    parts = list(content)
    return next(filter(_is_shown, parts), parts[0] if parts else ())


def _is_ignorable(element: Any) -> bool:
    """True if the document says that a program which does not know an element leaves it out
    (ECMA-376, part 3, 7.2).
    """
    root = element.getroottree().getroot()
    names = attribute(root, "Ignorable").split()
    return any(str(element.tag).startswith(f"{{{root.nsmap.get(name)}}}") for name in names)


def _is_shown(part: Any) -> bool:
    names = attribute(part, "Requires").split()
    is_of_office = all("/office/" in str(part.nsmap.get(name)) for name in names)
    return is_of_office or local_tag(part) == "Fallback"


class RunReader:
    """Reader of what paragraphs hold.

    Attributes:
        left_out: counts of what is left out.
        style: id of the style of the current paragraph.
        beside: boxes and footnotes of the current paragraph.
        at_end: endnotes of the document.
    """

    def __init__(self, styles: Styles, notes: Mapping[tuple[str, str], Any]) -> None:
        """Creates a reader for a document with these styles, and notes by their kinds and ids."""
        self.left_out = Counter[str]()
        self.style = ""
        self.beside: list[Any] = []
        self.at_end: list[Any] = []
        self._styles, self._notes = styles, notes
        # of the fields around the current place: code, and whether its result began
        self._fields: list[list[Any]] = []

    @property
    def open_fields(self) -> int:
        """Number of fields without an end."""
        return len(self._fields)

    def skips(self, element: Any) -> bool:
        """True if an element is not of the text; counts it."""
        what = SKIPPED.get(local_tag(element))
        if what is None and not _KNOWN.match(str(element.tag)):
            what = "" if _is_ignorable(element) else "parts of other programs"
        if what is not None:
            self.left_out[what] += 1
        return what is not None

    def characters(self, element: Any) -> Iterator[Piece]:
        """Yields the characters of a run, of a formula, or of what has runs."""
        for child in element:
            name = local_tag(child)
            if name == "r":
                yield self._run(child)
            elif name == "t":
                yield Piece(self._letters(child))
            elif name in _SIGNS:
                yield Piece(_SIGNS[name] * self._is_printed())
            elif name == "sym":
                yield Piece(
                    self._symbol(attribute(child, "font"), attribute(child, "char"))
                    * self._is_printed()
                )
            elif name == "hyperlink" and _REFERENCE.search(attribute(child, "anchor")):
                for text, level in self.characters(child):
                    yield Piece(text, level_of(is_raised=False, is_link=True, around=level))
            elif handle := _HANDLERS.get(name):
                handle(self, child)
            elif name == "AlternateContent":
                yield from self.characters(first_alternative(child))
            elif name in _MATHEMATICAL and child.tag.endswith(f"/math}}{name}"):
                yield Piece(self._formula(name, child))
            elif not self.skips(child):
                yield from self.characters(child)

    def _is_printed(self) -> bool:
        return not self._fields or all(has_result for _, has_result in self._fields)

    def _letters(self, element: Any) -> str:
        if "drawingml" in element.tag:
            self.left_out["texts in drawings"] += 1
            return ""
        if not self._is_printed():
            return ""
        text = element.text or ""
        if text != text.strip():  # XML has this attribute for blanks that are meant
            spaces = (ancestor.get(_SPACE) for ancestor in (element, *element.iterancestors()))
            text = text if next(filter(None, spaces), "") == "preserve" else text.strip(" \t\r\n")
        return _BLANK.sub(" ", text)

    def _run(self, run: Any) -> Piece:
        own = properties(first_child(run, "rPr"))
        is_plain = len(run) == 1 + bool(own) and local_tag(run[-1]) == "t"  # as nearly all
        text = self._letters(run[-1]) if is_plain else join_pieces(self.characters(run))
        has = self._styles.run(self.style)
        if own:
            has = {**has, **self._styles.run(attribute(own.get("rStyle"), "val")), **own}
        if not has and not self._fields:
            return Piece(text)
        if is_on(has, "vanish"):
            self.left_out["hidden texts"] += bool(text.strip())
            return Piece("")
        is_link = any(_CITING.match(code) for code, _ in self._fields)
        level = level_of(is_raised=_is_raised(has), is_link=is_link, around=Level.PLAIN)
        return Piece(self._in_font(has, text), level)

    def _in_font(self, has: Mapping[str, Any], text: str) -> str:
        """Returns the text that the font of a run shows."""
        fonts = has.get("rFonts")
        letters = shown_text(attribute(fonts, "ascii") or attribute(fonts, "hAnsi"), text)
        self.left_out["signs of other fonts"] += letters.count(UNKNOWN) - text.count(UNKNOWN)
        return letters

    def _symbol(self, font: str, code: str) -> str:
        sign = shown_sign(font, int(code, 16) if re.fullmatch("[0-9A-Fa-f]{1,4}", code) else 0)
        self.left_out["signs of other fonts"] += sign == UNKNOWN
        return sign

    def _formula(self, name: str, element: Any) -> str:
        """Returns a formula in one line, as Word writes it when it is typed."""
        has = properties(element.find(f"{{*}}{name}Pr"))
        arguments = [
            join_pieces(self.characters([child] if name == "m" else child))
            for child in element
            if local_tag(child) != f"{name}Pr"
        ]
        if name == "d":
            begin, between, end = (
                attribute(has[part], "val") if part in has else sign
                for part, sign in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
            )
            return begin + between.join(arguments) + end
        if name == "f":
            arguments = [part if part.isalnum() else f"({part})" for part in arguments]
        before = attribute(has.get("chr"), "val") or _BEFORE.get(name, "")
        return before + _BETWEEN_ARGUMENTS.get(name, "").join(filter(None, arguments))

    def _field(self, mark: Any) -> None:
        kind = attribute(mark, "fldCharType")
        if kind == "begin":
            self._fields.append(["", False])
        elif self._fields and kind == "separate":
            self._fields[-1][1] = True
        elif self._fields and kind == "end":
            code, has_result = self._fields.pop()
            is_due = not has_result and not _UNSEEN.match(code) and self._is_printed()
            self.left_out["fields without a result"] += is_due

    def _code(self, element: Any) -> None:
        if self._fields:
            self._fields[-1][0] += element.text or ""

    def _note(self, reference: Any) -> None:
        kind = NOTES[local_tag(reference)]
        note = self._notes.get((kind, attribute(reference, "id")))
        if note is not None:
            (self.beside if kind == "footnote" else self.at_end).append(note)

    def _box(self, content: Any) -> None:
        self.beside.append(content)


def _is_raised(has: Mapping[str, Any]) -> bool:
    position = attribute(has.get("position"), "val")
    return attribute(has.get("vertAlign"), "val") == "superscript" or position.strip("0").isdigit()


_HANDLERS: Final[Mapping[str, Callable[[RunReader, Any], None]]] = {
    "fldChar": RunReader._field,
    "instrText": RunReader._code,
    "txbxContent": RunReader._box,
    **dict.fromkeys(NOTES, RunReader._note),
}
_MATHEMATICAL: Final = frozenset({*_BETWEEN_ARGUMENTS, *_BEFORE, "d"})
