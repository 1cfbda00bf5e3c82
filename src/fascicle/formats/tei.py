"""Articles in TEI, above all those that GROBID makes of PDFs: a document for each text with a
header.

Elements: https://www.tei-c.org/release/doc/tei-p5-doc/en/html/REF-ELEMENTS.html. They are read as
those of JATS that mean the same, so blocks and sections are those of `fascicle.formats.jats`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

from fascicle.core.document import Document
from fascicle.core.files.elements import elements
from fascicle.core.files.source import Source
from fascicle.formats.citations import fact_text
from fascicle.formats.extraction import (
    element_text,
    field_note,
    has_text,
    local_name,
    unread_fields,
)
from fascicle.formats.handlers import FormatReader
from fascicle.formats.jats import Blocks, JatsOptions
from fascicle.formats.report import ReadReport

_STEP: Final = "tei"
# Elements of TEI -> those of JATS; all others keep their names.
_AS_JATS: Final = MappingProxyType(
    {
        **{
            "head": "title",
            "div": "sec",
            "figure": "fig",
            "figDesc": "caption",
            "note": "fn",
            "item": "list-item",
        },
        **{
            "row": "tr",
            "cell": "td",
            "formula": "disp-formula",
            "quote": "disp-quote",
            "ab": "p",
            "l": "verse-line",
        },
        **{
            "listBibl": "ref-list",
            "biblStruct": "ref",
            "ref": "xref",
            "choice": "alternatives",
            "lb": "break",
        },
        **{"graphic": "inline-graphic", "lg": "verse-group", "sp": "speech"},
    }
)
_PARTS: Final = (
    ("teiHeader/fileDesc/titleStmt/title", "title"),
    ("teiHeader/profileDesc/abstract", "abstract"),
)
_GROUPS: Final = ("text", "group")  # of texts: what is in them is in the order of the file
_DIVISIONS: Final = ("front", "body", "back")
_READ: Final = ("title", "abstract", "term", "date")
_OPEN: Final = (
    *(
        "fileDesc",
        "titleStmt",
        "publicationStmt",
        "sourceDesc",
        "biblStruct",
        "analytic",
        "monogr",
        "imprint",
    ),
    *("profileDesc", "textClass", "keywords"),
)
_IDS: Final = ("PMC", "PMCID", "PMID", "DOI")


def read(source: Source, options: JatsOptions, report: ReadReport) -> Iterator[Document]:
    """Streams the texts of a file.

    The id is that of PubMed Central, else the PMID, else the DOI, else the name of the file.

    Args:
        source: the file.
        options: what the text consists of.
        report: not used; of a damaged file, the texts after the damage are lost.

    Raises:
        FormatError: no well-formed XML, or a text that is too large.
    """
    for _, root in elements(source, ("TEI", "tei:TEI", "TEI.2")):
        yield _document(root, options, source)


def _document(root: Element, options: JatsOptions, source: Source) -> Document:
    for element in root.iter():
        element.tag = local_name(element.tag)
    facts = {name: value for name, find in _META.items() if (value := find(root))}
    header = root.find("teiHeader")
    unread = () if header is None else unread_fields(header, opened=_OPEN, is_read=_is_read)
    notes = field_note(sorted(set(unread)), step=_STEP)

    blocks = _blocks(root, options)
    text, sections = blocks.joined()
    identifier = facts.get("pmc") or facts.get("pmid") or facts.get("doi") or source.name
    events = (*blocks.events(_STEP), *notes)
    return Document(id=identifier, text=text, sections=sections, meta=facts, events=events)


def _blocks(root: Element, options: JatsOptions) -> Blocks:
    """Returns the blocks of the header and of all texts, and counts what is beside them."""
    blocks = Blocks(options=options)
    for path, kind in _PARTS:
        for part in root.iterfind(path):
            _rename(part)
            part.tag = "article-title" if kind == "title" else part.tag
            blocks.add(part, kind)
    for part in root.iterfind("text"):
        for element in _divisions(part, blocks.left_out):
            kind = "back" if element.tag == "back" else "body"
            _rename(element)
            blocks.add(element, kind)
    blocks.left_out.update(
        f"elements {child.tag}" for child in root if child.tag not in ("teiHeader", "text")
    )
    return blocks


def _divisions(text: Element, left_out: Counter[str]) -> Iterator[Element]:
    """Yields the front, body and back of a text, those of the texts in its groups, and the
    headings of groups. Counts other elements with a text, such as running heads.
    """
    for child in text:
        if child.tag in _GROUPS:
            yield from _divisions(child, left_out)
        elif child.tag in _DIVISIONS or (child.tag == "head" and text.tag == "group"):
            yield child
        elif has_text(child):
            left_out[f"elements {child.tag}"] += 1


def _rename(part: Element) -> None:
    """Gives the elements of a part the names that JATS has for them."""
    for figure in part.iter("figure"):
        for label in figure.iterfind("label"):
            label.tag = "object-id"  # its number again, which its heading has
    for paragraph in part.iter("p"):
        for formula in paragraph.iter("formula"):
            formula.tag = "inline-formula"
    for element in part.iter():
        _join_words(element)
        if element.tag == "hi" and "sup" in element.get("rend", element.get("rendition", "")):
            element.tag = "sup"
        if element.tag == "div" and (kind := element.get("type")):
            element.set("sec-type", kind)
        element.tag = _AS_JATS.get(element.tag, element.tag)


def _join_words(parent: Element) -> None:
    """Takes out the blanks around breaks of lines and pages inside a word (``break="no"``),
    which then show nothing.
    """
    before: Element | None = None
    for child in parent:
        if child.get("break") == "no":
            child.tag, child.tail = "milestone", (child.tail or "").lstrip()
            if before is None:
                parent.text = (parent.text or "").rstrip()
            else:
                before.tail = (before.tail or "").rstrip()
        before = child


def _is_read(element: Element) -> bool:
    return element.tag in _READ or (element.tag == "idno" and element.get("type") in _IDS)


def _id(*kinds: str) -> Callable[[Element], str]:
    def find(root: Element) -> str:
        ids = root.iterfind("teiHeader/fileDesc//idno")
        return next((element_text(element) for element in ids if element.get("type") in kinds), "")

    return find


_SOURCE: Final = "teiHeader/fileDesc/sourceDesc/biblStruct/monogr"
_META: Final[Mapping[str, Callable[[Element], str]]] = MappingProxyType(
    {
        "pmc": _id("PMC", "PMCID"),
        "pmid": _id("PMID"),
        "doi": _id("DOI"),
        "journal": lambda root: element_text(root.find(f"{_SOURCE}/title")),
        "year": lambda root: fact_text(
            "year", [date.get("when", "") for date in root.iterfind("teiHeader//date")][:1]
        ),
        "keywords": lambda root: "|".join(
            filter(None, map(element_text, root.iterfind("teiHeader//keywords//term")))
        ),
    }
)

READER: Final = FormatReader(read=read, options=JatsOptions)
