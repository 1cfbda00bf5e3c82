"""Documents of Word: what is printed, once, in its order. Needs the package python-docx (extra
``office``).

The text has what was inserted and not what was deleted. A paragraph, a text box, a footnote or a
row of a table is a section, and an empty line stands between two. Offsets are those of this text.
ECMA-376, part 1, has the elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, import_extra
from fascicle.formats.docx_runs import NOTES, SKIPPED, RunReader, first_alternative, join_pieces
from fascicle.formats.docx_styles import (
    Styles,
    attribute,
    first_child,
    is_on,
    local_tag,
    properties,
)
from fascicle.formats.extraction import join_sections, package_errors, read_zip_package
from fascicle.formats.handlers import EXTRACTED, FormatReader
from fascicle.formats.report import ReadReport
from fascicle.text.raised import Line

_STEP: Final = "docx"
_BETWEEN: Final = "\n\n"
_PARTS: Final = {
    "/header": "headers",
    "/footer": "footers",
    "/comments.": "comments",
    "/charts/chart": "charts",
    "/diagrams/data": "diagrams",
}


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
        word, sections = join_sections(text.blocks(root.body), between=_BETWEEN)
        for other in opened.iter_parts():
            kind = next((kind for name, kind in _PARTS.items() if name in str(other.partname)), "")
            text.left_out[kind] += _size(kind, other, source)
    yield Document(
        id=source.name, text=word, sections=sections, meta=dict(EXTRACTED), events=text.events()
    )


def _root(part: Any, source: Source) -> Any:
    """Returns the root element of a part.

    Raises:
        FormatError: it declares entities, in an encoding that the check of the package cannot read.
    """
    from docx.oxml import parse_xml

    root = part.element if hasattr(part, "element") else parse_xml(part.blob)
    if root.getroottree().docinfo.internalDTD is not None:
        raise FormatError("the file declares entities, which are not read", at=source.path)
    etree = import_extra("lxml.etree", extra="office", package="lxml")
    etree.strip_tags(root, etree.Comment, etree.PI)  # so that they divide no text
    return root


def _size(kind: str, part: Any, source: Source) -> int:
    """Returns how many comments with a text a part has; for other kinds whether it has a text."""
    if not kind or b"t>" not in part.blob:
        return 0
    if kind in ("charts", "diagrams"):
        return 1
    root = _root(part, source)
    parts = root if kind == "comments" else [root]
    return sum(any(map(_has_characters, content.iter("{*}t"))) for content in parts)


def _has_characters(element: Any) -> bool:
    return bool(element.text)


class _Text:
    """Text of one document, and counts of what is left out."""

    def __init__(self, part: Any, source: Source) -> None:
        roots = {
            link.reltype.rpartition("/")[2]: _root(link.target_part, source)
            for link in part.rels.values()
            if not link.is_external
            and link.reltype.endswith(("/footnotes", "/endnotes", "/styles"))
        }
        notes = {
            (kind, attribute(note, "id")): note
            for kind in NOTES.values()
            for note in roots.get(f"{kind}s", ())
        }
        self._styles = Styles(roots.get("styles"))
        self._runs = RunReader(self._styles, notes)
        self._line = Line()
        self._list_items = 0
        self.left_out = self._runs.left_out

    def events(self) -> tuple[Event, ...]:
        """Returns the events about what was left out."""
        self.left_out["fields without an end"] += self._runs.open_fields
        counts = ", ".join(
            f"{what} {count:,}" for what, count in sorted(self.left_out.items()) if what and count
        )
        message = f"these parts are not read: {counts}"
        events = [make_event("parts-left-out", step=_STEP, message=message)] if counts else []
        if self._list_items:  # a note, for no text is lost
            message = f"these parts are not read: numbers or signs of lists {self._list_items:,}"
            events.append(Event(step=_STEP, kind="note", code="parts-left-out", message=message))
        return (*events, *self._line.events(_STEP))

    def blocks(self, body: Any) -> Iterator[tuple[str, str]]:
        """Yields kind and text of what stands in the body, and at last the endnotes."""
        yield from self._blocks(body)
        yield from self._blocks_of(self._runs.at_end)

    def _blocks_of(self, containers: Iterable[Any]) -> Iterator[tuple[str, str]]:
        for container in containers:
            is_note = local_tag(container) in NOTES.values()
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
                    beside, self._runs.beside = self._runs.beside, []
                    blocks = self._blocks_of(beside)
            elif name in ("oMathPara", "oMath", "r"):
                yield "body", join_pieces(self._runs.characters(child)).strip()
            elif name == "tr":
                blocks = self._row(child)
            elif name == "AlternateContent":
                blocks = self._blocks(first_alternative(child), behind)
            elif not self._runs.skips(child):
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
        has = properties(first_child(paragraph, "pPr"))
        self._runs.style = attribute(has.get("pStyle"), "val")
        number = (
            has["numPr"].find("{*}numId")
            if "numPr" in has
            else self._styles.number(self._runs.style)
        )
        self._list_items += attribute(number, "val") not in ("", "0")
        for piece in self._runs.characters(paragraph):
            self._line.add(*piece)

    def _kind(self) -> str:
        name = self._styles.name(self._runs.style).lower()
        return next(
            (kind for kind in ("title", "heading", "caption") if name.startswith(kind)), "body"
        )


def _goes_on(paragraph: Any) -> bool:
    """True if no end is printed after a paragraph: it is a drop cap, or its end was deleted,
    moved or hidden.
    """
    has = properties(first_child(paragraph, "pPr"))
    is_cap = attribute(has.get("framePr"), "dropCap") in ("drop", "margin")
    mark = properties(has.get("rPr"))
    if not (is_cap or "del" in mark or "moveFrom" in mark or is_on(mark, "vanish")):
        return False
    following = next(paragraph.itersiblings("{*}p", "{*}tbl", "{*}sdt", "{*}sectPr"), None)
    return following is not None and local_tag(following) == "p"


def _cells(parent: Any) -> Iterator[Any]:
    for child in parent:
        if local_tag(child) != "tc":
            if local_tag(child) not in SKIPPED:
                yield from _cells(child)
        elif child.find("{*}tcPr/{*}cellDel") is None:
            yield child


READER: Final = FormatReader(read=read)
