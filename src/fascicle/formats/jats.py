"""Articles in JATS, the XML of PubMed Central, and in the NLM document types before it: a document
for each article.

Elements: https://jats.nlm.nih.gov/archiving/tag-library/. A block (a title, a paragraph, a caption)
is a section of the text, and an empty line stands between two blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

from fascicle.core.document import Document, Event, Section
from fascicle.core.effects import make_event
from fascicle.core.files.archive import xml_members
from fascicle.core.files.elements import elements
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, Place
from fascicle.formats.extraction import (
    RAISING,
    Part,
    collapse,
    element_text,
    field_note,
    has_text,
    join_sections,
    level_in,
    local_name,
    part_kind,
    unread_fields,
)
from fascicle.formats.handlers import FormatReader
from fascicle.formats.report import ReadReport
from fascicle.text.borders import without_wraps
from fascicle.text.raised import Level, Line

_STEP: Final = "jats"
_BETWEEN: Final = "\n\n"
# Elements that end the paragraph around them: those with lines of text, and those with such
# elements.
_LINES: Final = (
    "p title subtitle list-item def-item disp-quote verse-group verse-line speech statement "
    "boxed-text attrib preformat table-wrap-foot tr disp-formula question answer code"
)
_CONTAINERS: Final = (
    "sec caption fn ack list fig fig-group table-wrap table-wrap-group supplementary-material app "
    "glossary def-list abstract trans-abstract notes fn-group app-group bio floats-group table "
    "array"
)
_BLOCKS: Final = frozenset(f"{_LINES} {_CONTAINERS}".split())
_KINDS: Final = MappingProxyType(
    {
        "title": "heading",
        **dict.fromkeys(("caption", "fig", "table-wrap"), "caption"),
        **dict.fromkeys(("table", "array"), "table"),
        **dict.fromkeys(("fn", "table-wrap-foot"), "footnote"),
        "ack": "acknowledgements",
        "glossary": "abbreviations",
        "app": "appendix",
        "bio": "biography",
        "disp-formula": "formula",
        "trans-abstract": "abstract-other",
    }
)
# Elements that are left out -> their name in the event.
_OUT: Final = MappingProxyType(
    {
        "tex-math": "formulas as TeX",
        # of MathML: the formula that stands before them, in other forms
        **dict.fromkeys(("annotation", "annotation-xml"), ""),
        "object-id": "ids of objects",
        "permissions": "permissions of figures",
        **dict.fromkeys(("alt-text", "long-desc"), "descriptions of pictures"),
        "inline-graphic": "pictures in lines",
        "rt": "readings of characters",
        "rp": "",
        **dict.fromkeys(("sub-article", "response"), "articles inside"),
    }
)
# Elements of the front that are read whole, those of which the children are looked at, and the
# kinds of ids in meta.
_READ: Final = frozenset(
    [
        "article-title",
        "subtitle",
        "abstract",
        "trans-abstract",
        "year",
        "kwd",
        "license",
        "journal-title",
    ]
)
_OPEN: Final = frozenset(
    [
        "journal-meta",
        "journal-title-group",
        "article-meta",
        "title-group",
        "pub-date",
        "kwd-group",
        "permissions",
    ]
)
_IDS: Final = ("pmc", "pmcid", "pmid", "doi")
_FACTS: Final = ("sec-type", "abstract-type", "notes-type")  # of elements, for the sections in them
_BREAK: Final = "\x1e"  # which XML cannot hold
_AFTER: Final = MappingProxyType({"break": _BREAK, "label": " ", "inline-graphic": " ", "s": " "})
_SPECIAL: Final = frozenset({*_OUT, *_BLOCKS, *_AFTER, "alternatives", "fn", "table", "ref-list"})
_HEADED: Final = frozenset({"caption", "footnote", "formula", "table", "biography"})


_PARTS: Final = (
    ("front/article-meta/title-group/article-title", "title"),
    ("front/article-meta/title-group/subtitle", "title"),
    ("front/article-meta/abstract", "abstract"),
    ("front/article-meta/trans-abstract", "abstract-other"),
    ("body", "body"),
    ("floats-group", "body"),
    ("floats-wrap", "body"),
    ("back", "back"),
)
_CHILDREN: Final = frozenset(
    {"processing-meta", *("front", "body", "back", "floats-group", "floats-wrap")}
    | {"sub-article", "response"}
)


@dataclass(frozen=True, kw_only=True)
class JatsOptions:
    """Options for reading articles.

    Attributes:
        tables: whether the cells of tables are part of the text; the captions and the notes of
            tables always are.
    """

    tables: bool = False


def read(source: Source, options: JatsOptions, report: ReadReport) -> Iterator[Document]:
    """Streams the articles of a file.

    The id is the one of PubMed Central (``PMC123``), else the PMID, else the DOI, else the name of
    the file.

    Args:
        source: the file.
        options: what the text consists of.
        report: a damaged member of a tar archive is set aside; of another damaged file, the
            articles after the damage are lost.

    Raises:
        FormatError: no well-formed XML, an article of another kind than JATS, or one that is too
            large.
    """
    for file, article in _articles(source, report):
        blocks = Blocks(options=options)
        for name, kind in _PARTS:
            for part in article.iterfind(name):
                blocks.add(part, kind)
        blocks.left_out.update(
            _OUT.get(name, f"elements {name}")
            for child in article
            if (name := local_name(child.tag)) in _OUT or name not in _CHILDREN
        )
        text, sections = blocks.joined()
        facts = _facts(article)
        identifier = facts.get("pmc") or facts.get("pmid") or facts.get("doi") or file.name
        events = (*blocks.events(_STEP), *_fields_left_out(article))
        yield Document(id=identifier, text=text, sections=sections, meta=facts, events=events)


def _articles(source: Source, report: ReadReport) -> Iterator[tuple[Source, Element]]:
    """Yields each article, with its file; of a tar archive, with its member."""
    for part in xml_members(source):
        with report.aside.one() if part is not source else nullcontext():
            for place, article in elements(part, ("article",)):
                _refuse_others(article, place)
                yield part, article


def _refuse_others(article: Element, place: Place) -> None:
    """Raises a `FormatError` for an article of another kind, such as that of Elsevier or DocBook:
    its texts are in elements that JATS does not have.
    """
    names = [name for child in article if (name := local_name(child.tag)) not in _CHILDREN]
    if names and article.find("front") is None:
        message = (
            f"an article with the element {names[0]} is not in JATS, which has front, body and "
            "back; fetch it as JATS, for example from PubMed Central, or take the texts out of it"
        )
        raise FormatError(message, at=place)


@dataclass(kw_only=True)
class Blocks:
    """Builder that divides an article into blocks.

    Attributes:
        options: what belongs to the text.
        parts: the blocks, in the order of the file; a block inside several elements has the
            attributes of all.
        left_out: what was left out, and how often.
    """

    options: JatsOptions
    parts: list[Part] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    _line: Line = field(default_factory=Line)
    _notes: list[Element] = field(default_factory=list)  # in the paragraph that is open
    _facts: tuple[tuple[str, str], ...] = ()

    def add(self, element: Element, kind: str) -> None:
        """Adds an element that is a block, and all blocks inside it."""
        name = local_name(element.tag)
        self._end(kind)
        around, kind = self._facts, self._kind(element, name, kind)
        if element.attrib:
            own = ((key, value) for key in _FACTS if (value := element.get(key, "").strip()))
            self._facts = tuple(dict.fromkeys((*around, *own)))
        if name == "def-item":
            self._line.add(" - ".join(filter(None, map(self._whole, element))))
        elif name == "tr":
            self._line.add("\t".join(map(self._whole, element)))
        else:
            self._inside(element, kind, Level.PLAIN)
        self._end(kind)
        notes, self._notes = self._notes, []
        for note in notes:
            self.add(note, kind)
        self._facts = around

    def _whole(self, element: Element) -> str:
        """Returns the text of a cell or of a part of an entry, with a blank between its blocks."""
        inner = Blocks(options=self.options, left_out=self.left_out, _line=self._line)
        inner.add(element, "")
        return " ".join(part.text for part in inner.parts)

    def _inside(self, element: Element, kind: str, level: Level) -> None:
        if element.text:
            self._line.add(element.text, level)
        for child in element:
            self._child(child, kind, level)
            if child.tail:
                self._line.add(child.tail, level)

    def _child(self, child: Element, kind: str, level: Level) -> None:
        # as `local_name`, which would be called for every element
        name = child.tag.rpartition(":")[2]
        if name not in _SPECIAL:
            self._inside(child, kind, level_in(child, level) if name in RAISING else level)
        elif name in _OUT:
            self.left_out[_OUT[name]] += 1
            self._line.add(_AFTER.get(name))
        elif name == "alternatives":
            self._first_alternative(child, kind, level)
        elif name == "fn" and self._line.is_open:
            self._notes.append(child)
        elif name == "table" and not self.options.tables:
            self.left_out["tables"] += 1
        elif name == "ref-list":
            self.left_out["references"] += max(1, _references_in(child))
        elif name in _BLOCKS:
            self.add(child, kind)
        else:
            self._inside(child, kind, level)
            self._line.add(_AFTER.get(name))

    def _first_alternative(self, element: Element, kind: str, level: Level) -> None:
        """Adds the first of several forms of the same content that has a text, so that nothing is
        left out; counts all of them if none has.
        """
        readable = (
            child for child in element if local_name(child.tag) not in _OUT and has_text(child)
        )
        first = next(readable, None)
        for child in element if first is None else (first,):
            self._child(child, kind, level)

    def _kind(self, element: Element, name: str, kind: str) -> str:
        """Returns the kind of the blocks of an element, from its name, type and title and from
        its parent.
        """
        if name in _KINDS and not (name == "title" and kind in _HEADED):
            return _KINDS[name]
        if name not in ("sec", "notes", "abstract", "fn-group"):
            return kind
        special = part_kind(element.get("sec-type", "")) or part_kind(
            element_text(element.find("title"))
        )
        if kind.startswith("abstract"):
            return f"abstract-{special}" if special and name == "sec" else kind
        return special if special and kind in ("body", "back") else kind

    def _end(self, kind: str) -> None:
        text = self._line.take()
        if not text:
            return
        if kind == "table":
            text = text.replace(_BREAK, " ").strip(" \n")
        elif _BREAK in text:
            text = without_wraps("\n".join(filter(None, map(collapse, text.split(_BREAK)))))
        else:
            text = collapse(text)
        if not text:
            return
        if kind == "table" and self.parts and self.parts[-1].name == "table":
            self.parts[-1] = self.parts[-1]._replace(text=f"{self.parts[-1].text}\n{text}")
        else:
            self.parts.append(Part(kind, text, self._facts))

    def joined(self) -> tuple[str, tuple[Section, ...]]:
        """Returns the text of the blocks, with its sections."""
        return join_sections(self.parts, between=_BETWEEN)

    def events(self, step: str) -> Iterator[Event]:
        """Yields events for the parts and marks that were left out; ``step`` is the format that
        was read.
        """
        yield from self._line.events(step)
        parts = sorted((what, count) for what, count in self.left_out.items() if what)
        if parts:
            counts = ", ".join(f"{what} {count}" for what, count in parts)
            yield make_event(
                "parts-left-out", step=step, message=f"these parts are not read: {counts}"
            )


def _references_in(element: Element) -> int:
    return sum(local_name(child.tag) == "ref" for child in element.iter())


def _fields_left_out(article: Element) -> Iterator[Event]:
    """Yields an event for the fields of the front matter that are neither in the text nor in
    ``meta``.
    """
    front = article.find("front")
    if front is None:
        return
    names = sorted(set(unread_fields(front, opened=_OPEN, is_read=_is_read)))
    yield from field_note(names, step=_STEP)


def _is_read(element: Element) -> bool:
    return local_name(element.tag) in _READ or element.get("pub-id-type") in _IDS


def _facts(article: Element) -> dict[str, str]:
    """Returns ids and further facts about an article."""
    ids: dict[str, str] = {}
    for identifier in article.iterfind("front/article-meta/article-id"):
        ids.setdefault(identifier.get("pub-id-type", ""), element_text(identifier))
    pmc = ids.get("pmc") or ids.get("pmcid", "")
    words = map(element_text, article.iterfind("front/article-meta/kwd-group//kwd"))
    facts = {
        "pmc": f"PMC{pmc}" if pmc.isdigit() else pmc,
        "pmid": ids.get("pmid"),
        "doi": ids.get("doi"),
        "journal": element_text(article.find("front/journal-meta//journal-title")),
        "year": element_text(article.find("front/article-meta/pub-date/year")),
        "article-type": article.get("article-type"),
        "keywords": "|".join(filter(None, words)),
        "licence": element_text(article.find("front/article-meta/permissions/license")),
    }
    return {name: value for name, value in facts.items() if value}


READER: Final = FormatReader(read=read, options=JatsOptions)
