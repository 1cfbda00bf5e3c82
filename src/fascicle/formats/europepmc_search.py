"""Results of searches of Europe PMC, as JSON or XML: citations with HTML in title and abstract.

They are described at https://europepmc.org/RestfulWebService (``resultType=core``). Each ``<h4>``
in an abstract begins a part, which becomes a section, as a part of an abstract of MEDLINE does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from xml.etree.ElementTree import Element

from fascicle.core.document import Document
from fascicle.core.wording import unescape_html
from fascicle.errors import FormatError, Place
from fascicle.formats.extraction import Part, collapse, element_text, join_sections, part_kind
from fascicle.formats.handlers import EXTRACTED
from fascicle.formats.inline import read_markup
from fascicle.text.raised import Line

STEP: Final = "europepmc-search"
RESULT: Final = "result"  # its element
# a heading has none inside, so that no part of an abstract is looked at again
_HEADING: Final = re.compile(r"(?i)<h([1-6])\b[^<>]*+>((?:[^<]++|<(?!/?h[1-6]\b))*+)</h\1\s*+>")
_ESCAPED: Final = re.compile(r"(?i)&lt;/?[a-z]")
_FACTS: Final = {
    "pmid": "pmid",
    "pmc": "pmcid",
    "doi": "doi",
    "journal": "journalInfo/journal/title",
    "year": "pubYear",
    "language": "language",
}


def from_result(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document of a result: its title, and the parts of its abstract.

    Args:
        record: with ``abstractText``, and perhaps ``title``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a title or an abstract that is no text.
    """
    title, abstract = (record.get(name) or "" for name in ("title", "abstractText"))
    if not isinstance(title, str) or not isinstance(abstract, str):
        raise ValueError("title and abstractText of a search of Europe PMC are texts")
    line = Line()
    parts = [Part("title", read_markup(_unescape(title), line)), *_abstract(abstract, line)]
    text, sections = join_sections(parts, between="\n")
    facts = {**meta, **EXTRACTED}
    events = tuple(line.events(STEP))
    return Document(id=identifier, text=text, sections=sections, meta=facts, events=events)


def from_element(result: Element, place: Place) -> Document:
    """Makes a document of a result in XML.

    Raises:
        FormatError: it has no id.
    """
    identifier = element_text(result.find("id"))
    if not identifier:
        raise FormatError("a result has no id; fetch the file again", at=place)
    facts = {
        name: value for name, path in _FACTS.items() if (value := element_text(result.find(path)))
    }
    record = {name: _markup(result.find(name)) for name in ("title", "abstractText")}
    return from_result(record, identifier, meta=facts)


def _markup(element: Element | None) -> str:
    """Returns the characters and tags in an element; tags of HTML may be elements or escaped."""
    if element is None:
        return ""
    inside = (f"<{part.tag}>{_markup(part)}</{part.tag}>{part.tail or ''}" for part in element)
    return (element.text or "") + "".join(inside)


def _unescape(text: str) -> str:
    return unescape_html(text) if _ESCAPED.search(text) else text


def _abstract(abstract: str, line: Line) -> Iterator[Part]:
    first, *pieces = _HEADING.split(_unescape(abstract))
    headings = ("", *(collapse(read_markup(text, line)).rstrip(" .:") for text in pieces[1::3]))
    for heading, markup in zip(headings, (first, *pieces[2::3]), strict=True):
        if text := read_markup(markup, line).strip():
            kind = part_kind(heading)
            yield Part(
                f"abstract-{kind}" if kind else "abstract",
                f"{heading}: {text}" if heading else text,
                (("Label", heading),) if heading else (),
            )
