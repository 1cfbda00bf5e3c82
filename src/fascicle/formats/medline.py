"""MEDLINE and PubMed in XML, and searches of Europe PMC: a document for each citation.

Elements: https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html. The text is the title,
and the parts of the abstract, each with its label in front (``METHODS: ...``) and after one line
end, so that offsets are those of PubTator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.elements import elements
from fascicle.core.files.source import Source
from fascicle.core.wording import plural
from fascicle.errors import FormatError, Place
from fascicle.formats import europepmc_search
from fascicle.formats.citations import fact_text
from fascicle.formats.extraction import (
    Part,
    element_text,
    field_note,
    join_sections,
    part_kind,
    shown_text,
    unread_fields,
)
from fascicle.formats.handlers import FormatReader
from fascicle.formats.report import ReadReport
from fascicle.text.raised import Line

_STEP: Final = "medline"
_BETWEEN: Final = "\n"
_DELETED: Final = ("DeleteCitation", "DeleteDocument")
_RECORDS: Final = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation")
_NO_LABEL: Final = frozenset({"", "UNASSIGNED", "UNLABELLED"})
# Elements that are read whole, those of which the children are looked at, and ids, which are read
# if they have a type.
_READ: Final = frozenset(
    {
        *(
            "PMID",
            "ArticleTitle",
            "BookTitle",
            "AbstractText",
            "VernacularTitle",
            "OtherAbstract",
            "Title",
            "Year",
        ),
        *(
            "Language",
            "PublicationType",
            "DescriptorName",
            "QualifierName",
            "SupplMeshName",
            "NameOfSubstance",
        ),
        *("Keyword",),
    }
)
_OPEN: Final = frozenset(
    {
        *(
            "MedlineCitation",
            "BookDocument",
            "PubmedData",
            "PubmedBookData",
            "Article",
            "Book",
            "Abstract",
        ),
        *(
            "Journal",
            "JournalIssue",
            "PubDate",
            "PublicationTypeList",
            "MeshHeadingList",
            "MeshHeading",
        ),
        *("SupplMeshList", "ChemicalList", "Chemical", "KeywordList", "ArticleIdList"),
    }
)
_IDS: Final = MappingProxyType(
    {
        "ELocationID": ("EIdType", ("doi",)),
        "ArticleId": ("IdType", ("pubmed", "doi", "pmc", "pmcid")),
    }
)


@dataclass(frozen=True, kw_only=True)
class MedlineOptions:
    """Options for reading citations.

    Attributes:
        others: whether titles and abstracts in other languages, and those for other readers, are
            part of the text; they are counted otherwise.
    """

    others: bool = False


def read(source: Source, options: MedlineOptions, report: ReadReport) -> Iterator[Document]:
    """Streams the citations of a file: a baseline or update file of PubMed, or what its service
    returns.

    The id is the PMID. Citations that the file withdraws are in ``report.deleted``.

    Args:
        source: the file.
        options: what the text consists of.
        report: a citation without a PMID is set aside.

    Raises:
        FormatError: no well-formed XML, or a citation without a PMID.
    """
    for place, element in elements(source, (*_RECORDS, *_DELETED, europepmc_search.RESULT)):
        if element.tag == europepmc_search.RESULT:
            with report.aside.one():
                yield europepmc_search.from_element(element, place)
            continue
        if element.tag in _DELETED:
            report.deleted.setdefault(source.path, []).extend(
                filter(None, map(element_text, element.iter("PMID")))
            )
            continue
        with report.aside.one():
            yield _document(element, place, options)


def _document(record: Element, place: Place, options: MedlineOptions) -> Document:
    citation = _citation(record)
    pmid = citation.find("PMID")
    identifier = element_text(pmid)
    if pmid is None or not identifier:
        raise FormatError("a citation has no PMID; fetch the file again", at=place)

    line = Line()
    # Marks in a text that is not read are not counted.
    further = _further_parts(citation, line if options.others else Line())
    parts = _parts(citation, line)
    text, sections = join_sections(
        [*parts, *further] if options.others else parts, between=_BETWEEN
    )

    unread = sorted(set(unread_fields(record, opened=_OPEN, is_read=_is_read)))
    events = [*field_note(unread, step=_STEP), *line.events(_STEP)]
    if further and not options.others:
        events.append(_other_event(len(further)))
    meta = _facts(record, pmid)
    return Document(id=identifier, text=text, sections=sections, meta=meta, events=tuple(events))


def _facts(record: Element, pmid: Element) -> dict[str, str]:
    facts = {name: value for name, find in _META.items() if (value := find(record))}
    if (version := pmid.get("Version", "1")) != "1":
        facts["version"] = version
    return facts


def _parts(citation: Element, line: Line) -> list[Part]:
    """Returns the title and the parts of the abstract."""
    article = _article(citation)
    title = shown_text(article.find("ArticleTitle"), line)
    title = title or shown_text(article.find("Book/BookTitle"), line)
    return [Part("title", title), *_abstract(article.find("Abstract"), "abstract", line)]


def _further_parts(citation: Element, line: Line) -> list[Part]:
    """Returns the title and the abstracts in other languages, or for other readers."""
    parts = [Part("title-other", shown_text(_article(citation).find("VernacularTitle"), line))]
    for abstract in citation.iter("OtherAbstract"):
        parts += _abstract(abstract, "abstract-other", line)
    return [part for part in parts if part.text]


def _article(citation: Element) -> Element:
    """Returns the element of the title and the abstract."""
    article = citation.find("Article")
    return citation if article is None else article


def _citation(record: Element) -> Element:
    """Returns the element that holds the PMID, the title and the abstract."""
    for name in ("MedlineCitation", "BookDocument"):
        citation = record.find(name)
        if citation is not None:
            return citation
    return record


def _abstract(abstract: Element | None, name: str, line: Line) -> Iterator[Part]:
    if abstract is None:
        return
    for part in abstract.iter("AbstractText"):
        attributes = (*abstract.items(), *part.items())
        facts = tuple((key, value.strip()) for key, value in attributes if value.strip())
        text, label = shown_text(part, line), part.get("Label", "").strip()
        category = part.get("NlmCategory", "")
        kind = part_kind(label if category in _NO_LABEL else category)
        if text and label not in _NO_LABEL:
            text = f"{label}: {text}"
        yield Part(f"{name}-{kind}" if kind else name, text, facts)


def _other_event(count: int) -> Event:
    what = plural(count, "title or part of an abstract", "titles or parts of abstracts")
    message = f"{what} in another language, or for other readers, left out"
    return make_event("other-text-left-out", step=_STEP, message=message)


def _is_read(element: Element) -> bool:
    if element.tag in _READ:
        return True
    if element.tag == "OtherID":
        return element_text(element).startswith("PMC")
    attribute, kinds = _IDS.get(element.tag, ("", ()))
    return element.get(attribute) in kinds


def _all_of(tag: str, *, within: str = "", attribute: str = "") -> Callable[[Element], str]:
    """Returns a function that joins the texts of elements, or an attribute of each, to one text.

    Args:
        tag: of the elements.
        within: tag of the elements whose children they are; by default they are anywhere.
        attribute: attribute of each that is taken in place of its text.
    """

    def find(record: Element) -> str:
        elements: Iterable[Element] = record.iter(within or tag)
        if within:
            elements = (child for parent in elements for child in parent if child.tag == tag)
        values = (
            element.get(attribute, "") if attribute else element_text(element)
            for element in elements
        )
        return "|".join(filter(None, values))

    return find


def _identifiers(kind: str) -> Callable[[Element], str]:
    """Returns a function that finds an id of the article of another kind than PMID."""

    def elements(record: Element) -> Iterator[Element]:
        for element in record.iter("ELocationID"):
            if element.get("EIdType") == kind and element.get("ValidYN") != "N":
                yield element
        for element in record.iterfind("PubmedData/ArticleIdList/ArticleId"):
            if element.get("IdType") == kind:
                yield element
        for element in record.iter("OtherID") if kind == "pmc" else ():
            if element_text(element).startswith("PMC"):
                yield element

    def find(record: Element) -> str:
        values = (element_text(element).partition(" ")[0] for element in elements(record))
        return next(filter(None, values), "")

    return find


def _mesh(record: Element) -> str:
    """Returns headings as ``D005072`` or ``D005072/Q000502*``; a star marks a major topic."""
    headings = ("/".join(map(_mesh_identifier, heading)) for heading in record.iter("MeshHeading"))
    return "|".join(filter(None, headings))


def _mesh_identifier(descriptor: Element) -> str:
    return descriptor.get("UI", "") + "*" * (descriptor.get("MajorTopicYN") == "Y")


def _year(record: Element) -> str:
    date = next(record.iter("PubDate"), None)
    if date is None:
        return ""
    return fact_text(
        "year", [element_text(date.find("Year")) or element_text(date.find("MedlineDate"))]
    )


_META: Final[Mapping[str, Callable[[Element], str]]] = MappingProxyType(
    {
        "doi": _identifiers("doi"),
        "pmc": _identifiers("pmc"),
        "journal": lambda record: element_text(record.find(".//Journal/Title")),
        "year": _year,
        "language": _all_of("Language"),
        "publication-types": _all_of("PublicationType"),
        "mesh": _mesh,
        "mesh-names": _all_of("DescriptorName", within="MeshHeading"),
        "mesh-supplement": _all_of("SupplMeshName", attribute="UI"),
        "chemicals": _all_of("NameOfSubstance", within="Chemical", attribute="UI"),
        "chemical-names": _all_of("NameOfSubstance", within="Chemical"),
        "keywords": _all_of("Keyword", within="KeywordList"),
    }
)

READER: Final = FormatReader(read=read, options=MedlineOptions)
