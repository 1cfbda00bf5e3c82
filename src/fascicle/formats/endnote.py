"""References in the XML of EndNote: a document for each, of its title and its abstract.

The elements are in the document type RSXML, which EndNote installs. Their texts are in elements
``style``, which are read through.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

from fascicle.core.document import Document
from fascicle.core.files.elements import elements
from fascicle.core.files.source import Source
from fascicle.formats.extraction import (
    collapse,
    element_text,
    field_note,
    join_sections,
    unread_fields,
)
from fascicle.formats.fonts import shown_text
from fascicle.formats.handlers import FormatReader
from fascicle.formats.report import ReadReport
from fascicle.text.raised import Level, Line

_STEP: Final = "endnote"
_BETWEEN: Final = "\n\n"  # as in RIS
_META: Final = MappingProxyType(
    {
        "doi": "electronic-resource-num",
        "journal": "periodical/full-title",
        "year": "dates/year",
        "language": "language",
        "keywords": "keywords/keyword",
    }
)
_OPEN: Final = frozenset({"titles", "periodical", "dates", "keywords"})
_READ: Final = frozenset(
    {*(path.rpartition("/")[2] for path in _META.values())}
    | {"title", "abstract", "accession-num", "rec-number", "foreign-keys", "database"}
    | {"source-app", "ref-type"}
)


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the references of a file.

    The id is the accession number, else the DOI, else the number of the reference.

    Args:
        source: the file.
        options: none.
        report: not used.

    Raises:
        FormatError: no well-formed XML.
    """
    for number, (_, record) in enumerate(elements(source, ("record",)), 1):
        yield _document(record, f"{source.name}:{number}")


def _document(record: Element, name: str) -> Document:
    line = Line()
    parts = [
        ("title", _style_text(record.find("titles/title"), line)),
        ("abstract", _style_text(record.find("abstract"), line)),
    ]
    text, sections = join_sections(parts, between=_BETWEEN)
    facts = {
        fact: "|".join(filter(None, map(element_text, record.iterfind(path))))
        for fact, path in _META.items()
    }
    meta = {fact: value for fact, value in facts.items() if value}
    identifier = element_text(record.find("accession-num")) or meta.get("doi", "") or name
    unread = sorted(set(unread_fields(record, opened=_OPEN, is_read=_is_read)))
    events = (*field_note(unread, step=_STEP), *line.events(_STEP))
    return Document(id=identifier, text=text, sections=sections, meta=meta, events=events)


def _style_text(element: Element | None, line: Line) -> str:
    """Returns the text of the styles in an element, without raised marks."""
    for style in () if element is None else element.iter():
        is_raised = "superscript" in style.get("face", "")
        text = shown_text(style.get("font", ""), style.text or "")
        line.add(text, Level.RAISED if is_raised else Level.PLAIN)
        line.add(style.tail)
    return collapse(line.take())


def _is_read(element: Element) -> bool:
    return element.tag in _READ


READER: Final = FormatReader(read=read)
