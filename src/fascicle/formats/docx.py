"""Documents of Word: what is printed, once, in its order. Needs the package python-docx (extra
``office``).

The text has what was inserted and not what was deleted. A paragraph, a text box, a footnote or a
row of a table is a section, and an empty line stands between two. Offsets are those of this text.
ECMA-376, part 1, has the elements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, import_extra
from fascicle.formats.docx_styles import Styles, attribute, is_on, local_tag, properties
from fascicle.formats.extraction import join_sections, package_errors, read_zip_package
from fascicle.formats.fonts import UNKNOWN, shown_sign, shown_text
from fascicle.formats.handlers import EXTRACTED, Reader
from fascicle.formats.report import ReadReport
from fascicle.text.raised import Level, Line, Piece, level_of

_STEP: Final = "docx"
_BETWEEN: Final = "\n\n"
_SIGNS: Final = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Not of the text; those that a reader may miss have a name under which they are counted.
_SKIPPED: Final = {
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
_PARTS: Final = {
    "/header": "headers",
    "/footer": "footers",
    "/comments.": "comments",
    "/charts/chart": "charts",
    "/diagrams/data": "diagrams",
}
_NOTES: Final = {"footnoteReference": "footnote", "endnoteReference": "endnote"}
# codes of fields
_UNSEEN: Final = re.compile(r"\s*(?:XE|TC|TA|RD|SET|ASK|ADDIN|PRIVATE|MACROBUTTON|NEXT|SKIPIF)\b")
_CITING: Final = re.compile(r"\s*(?:ADDIN|CITATION|NOTEREF)\b")
# in the name of a place that a link leads to
_REFERENCE: Final = re.compile("ref|bib|cit|note", re.I)
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


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a file; its id is the name of the file.

    Args:
        source: the file.
        options: none.
        report: not used.

    Raises:
        FormatError: no document of Word, or one that is damaged.
        MissingExtraError: python-docx is not installed.
    """
    package = read_zip_package(source)
    with package_errors(source):
        opened = import_extra("docx.package", extra="office", package="python-docx").Package.open(
            package
        )
        part = opened.main_document_part
        root = _root(part, source)
        # one with macros and a template have other kinds of parts, and this root
        if local_tag(root) != "document":
            raise FormatError("the file holds no document of Word", at=source.path)
        text = _Text(part, source)
        word, sections = join_sections(text.all_blocks(root.body), between=_BETWEEN)
        for other in opened.iter_parts():
            kind = next((kind for name, kind in _PARTS.items() if name in str(other.partname)), "")
            text.left_out[kind] += _size(kind, other, source)
    yield Document(
        id=source.name, text=word, sections=sections, meta=dict(EXTRACTED), events=text.events()
    )


def _join(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def _first(element: Any, name: str) -> Any:
    """Returns the properties of a run or a paragraph, which are its first child; None if it has
    none.
    """
    first = next(iter(element), None)
    return first if first is not None and local_tag(first) == name else None


def _root(part: Any, source: Source) -> Any:
    """Returns the root element of a part.

    Raises:
        FormatError: it declares entities, in an encoding that the check of the package cannot read.
    """
    from docx.oxml import parse_xml

    root = part.element if hasattr(part, "element") else parse_xml(part.blob)
    if root.getroottree().docinfo.internalDTD is not None:
        raise FormatError("the file declares entities, which are not read", at=source.path)
    return root


def _size(kind: str, part: Any, source: Source) -> int:
    """Returns how many comments with a text a part has; for other kinds whether it has a text."""
    if not kind or b"t>" not in part.blob:
        return 0
    if kind in ("charts", "diagrams"):
        return 1
    root = _root(part, source)
    texts = [
        any(text.text for text in each.iter("{*}t"))
        for each in (root if kind == "comments" else [root])
    ]
    return sum(texts)


class _Text:
    """Text of one document, and counts of what is left out."""

    def __init__(self, part: Any, source: Source) -> None:
        roots = {
            link.reltype.rpartition("/")[2]: _root(link.target_part, source)
            for link in part.rels.values()
            if not link.is_external
            and link.reltype.endswith(("/footnotes", "/endnotes", "/styles"))
        }
        self.left_out = Counter[str]()
        self._styles = Styles(roots.get("styles"))
        self._notes = {
            (kind, attribute(note, "id")): note
            for kind in _NOTES.values()
            for note in roots.get(f"{kind}s", ())
        }
        # of the fields around the current place: code, and whether its result began
        self._fields: list[list[Any]] = []
        self._line = Line()
        self._beside: list[Any] = []  # boxes and notes of the current paragraph
        self._at_end: list[Any] = []
        self._style = ""  # of the current paragraph
        self._listed = 0

    def events(self) -> tuple[Event, ...]:
        """Returns the events about what was left out."""
        self.left_out["fields without an end"] += len(self._fields)
        counts = ", ".join(
            f"{what} {count:,}" for what, count in sorted(self.left_out.items()) if what and count
        )
        message = f"these parts are not read: {counts}"
        events = [make_event("parts-left-out", step=_STEP, message=message)] if counts else []
        if self._listed:  # a note, for no text is lost
            message = f"these parts are not read: numbers or signs of lists {self._listed:,}"
            events.append(Event(step=_STEP, kind="note", code="parts-left-out", message=message))
        return (*events, *self._line.events(_STEP))

    def all_blocks(self, body: Any) -> Iterator[tuple[str, str]]:
        """Yields kind and text of what stands in the body, and at last the endnotes."""
        yield from self._blocks(body)
        yield from self._blocks_of(self._at_end)

    def _blocks_of(self, containers: Iterable[Any]) -> Iterator[tuple[str, str]]:
        for container in containers:
            is_note = local_tag(container) in _NOTES.values()
            for kind, text in self._blocks(container):
                yield "footnote" if is_note and kind == "body" else kind, text

    def _blocks(
        self, parent: Any, behind: list[tuple[str, str]] | None = None
    ) -> Iterator[tuple[str, str]]:
        """Yields paragraphs, text boxes, notes and rows.

        Args:
            parent: what has them.
            behind: if it is a cell, receives the tables, boxes and notes in it, which follow its
                row.
        """
        for child in parent:
            name = local_tag(child)
            blocks: Iterable[tuple[str, str]] = ()
            if name == "p":
                self._paragraph(child)
                if not _goes_on(child):
                    yield self._kind(), self._line.take().strip()
                    beside, self._beside = self._beside, []
                    blocks = self._blocks_of(beside)
            elif name in ("oMathPara", "oMath", "r"):
                yield "body", _join(self._characters(child)).strip()
            elif name == "tr":
                blocks = self._row(child)
            elif name == "AlternateContent":
                blocks = self._blocks(_alternative(child), behind)
            elif not self._skips(child):
                yield from self._blocks(child, behind)
            if behind is None or name == "AlternateContent":
                yield from blocks
            else:
                behind.extend(blocks)

    def _row(self, row: Any) -> Iterator[tuple[str, str]]:
        if row.find("{*}trPr/{*}del") is None:
            behind: list[tuple[str, str]] = []
            cells = (
                filter(None, (text for _, text in self._blocks(cell, behind)))
                for cell in _cells(row)
            )
            yield "table", "\t".join(map(" ".join, cells)).strip("\t")
            yield from behind

    def _paragraph(self, paragraph: Any) -> None:
        has = properties(_first(paragraph, "pPr"))
        self._style = attribute(has.get("pStyle"), "val")
        number = (
            has["numPr"].find("{*}numId") if "numPr" in has else self._styles.number(self._style)
        )
        self._listed += attribute(number, "val") not in ("", "0")
        for piece in self._characters(paragraph):
            self._line.add(*piece)

    def _kind(self) -> str:
        name = self._styles.name(self._style).lower()
        return next(
            (kind for kind in ("title", "heading", "caption") if name.startswith(kind)), "body"
        )

    def _skips(self, element: Any) -> bool:
        what = _SKIPPED.get(local_tag(element))
        if what is None and not _KNOWN.match(str(element.tag)):
            what = "parts of other programs"
        if what is not None:
            self.left_out[what] += 1
        return what is not None

    def _characters(self, element: Any) -> Iterator[Piece]:
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
                for text, level in self._characters(child):
                    yield Piece(text, level_of(is_raised=False, is_link=True, around=level))
            elif handle := _HANDLERS.get(name):
                handle(self, child)
            elif name == "AlternateContent":
                yield from self._characters(_alternative(child))
            elif name in _MATHEMATICAL and child.tag.endswith(f"/math}}{name}"):
                yield Piece(self._formula(name, child))
            elif not self._skips(child):
                yield from self._characters(child)

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
        own, has = properties(_first(run, "rPr")), self._styles.run(self._style)
        is_plain = len(run) == 1 + bool(own) and local_tag(run[-1]) == "t"  # as nearly all
        text = self._letters(run[-1]) if is_plain else _join(self._characters(run))
        if own:
            has = {**has, **self._styles.run(attribute(own.get("rStyle"), "val")), **own}
        if not has and not self._fields:
            return Piece(text)
        if is_on(has, "vanish"):
            self.left_out["hidden texts"] += bool(text.strip())
            return Piece("")
        font = attribute(has.get("rFonts"), "ascii") or attribute(has.get("rFonts"), "hAnsi")
        letters = shown_text(font, text)
        self.left_out["signs of other fonts"] += letters.count(UNKNOWN) - text.count(UNKNOWN)
        position = attribute(has.get("position"), "val")
        is_raised = (
            attribute(has.get("vertAlign"), "val") == "superscript" or position.strip("0").isdigit()
        )
        is_link = any(_CITING.match(code) for code, _ in self._fields)
        return Piece(letters, level_of(is_raised=is_raised, is_link=is_link, around=Level.PLAIN))

    def _symbol(self, font: str, code: str) -> str:
        sign = shown_sign(font, int(code, 16) if re.fullmatch("[0-9A-Fa-f]{1,4}", code) else 0)
        self.left_out["signs of other fonts"] += sign == UNKNOWN
        return sign

    def _formula(self, name: str, element: Any) -> str:
        """Returns a formula in one line, as Word writes it when it is typed."""
        has = properties(element.find(f"{{*}}{name}Pr"))
        arguments = [
            _join(self._characters([one] if name == "m" else one))
            for one in element
            if local_tag(one) != f"{name}Pr"
        ]
        if name == "d":
            begin, between, end = (
                attribute(has[one], "val") if one in has else sign
                for one, sign in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
            )
            return begin + between.join(arguments) + end
        if name == "f":
            arguments = [one if one.isalnum() else f"({one})" for one in arguments]
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
        kind = _NOTES[local_tag(reference)]
        note = self._notes.get((kind, attribute(reference, "id")))
        if note is not None:
            (self._beside if kind == "footnote" else self._at_end).append(note)

    def _box(self, content: Any) -> None:
        self._beside.append(content)


_HANDLERS: Final[Mapping[str, Callable[[_Text, Any], None]]] = {
    "fldChar": _Text._field,
    "instrText": _Text._code,
    "txbxContent": _Text._box,
    **dict.fromkeys(_NOTES, _Text._note),
}
_MATHEMATICAL: Final = frozenset({*_BETWEEN_ARGUMENTS, *_BEFORE, "d"})


def _goes_on(paragraph: Any) -> bool:
    """True if no end is printed after a paragraph: it is a drop cap, or its end was deleted,
    moved or hidden.
    """
    has = properties(_first(paragraph, "pPr"))
    is_cap = attribute(has.get("framePr"), "dropCap") in ("drop", "margin")
    mark = properties(has.get("rPr"))
    if not (is_cap or "del" in mark or "moveFrom" in mark or is_on(mark, "vanish")):
        return False
    following = next(paragraph.itersiblings("{*}p", "{*}tbl", "{*}sdt", "{*}sectPr"), None)
    return following is not None and local_tag(following) == "p"


def _cells(parent: Any) -> Iterator[Any]:
    for child in parent:
        if local_tag(child) == "tc":
            yield child
        elif local_tag(child) not in _SKIPPED:
            yield from _cells(child)


def _alternative(content: Any) -> Any:
    """Returns the first of alternatives that Word can show; of those it shows none, the first."""
    parts = list(content)
    fits = (
        part
        for part in parts
        if local_tag(part) == "Fallback"
        or all(
            "/office/" in str(part.nsmap.get(name)) for name in attribute(part, "Requires").split()
        )
    )
    return next(fits, parts[0] if parts else ())


READER: Final = Reader(read=read)
