"""Writing BioC: what of a document XML and JSON write in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fascicle.core.document import Document, Mention, Section
from fascicle.core.mention import link_of, told
from fascicle.formats.bioc import (
    BETWEEN,
    BLANKS,
    IDENTIFIER,
    TYPE,
    VOCABULARY,
    Annotation,
    Entry,
    Location,
    Passage,
    read_links,
)
from fascicle.formats.handlers import checked_name
from fascicle.formats.losses import Holds
from fascicle.formats.pubtator import RAW_ID, concept_column, count_links
from fascicle.formats.report import WriteReport

SOURCE: Final = "Fascicle"  # of collections
_PARTLY: Final = frozenset({"sections", "links", "link-ontologies", "link-curies", "attributes", "meta"})
FIELDS: Final = _PARTLY | {"ids", "text-between-words", "mentions", "discontinuous", "nested"}


def holds_of(name: str) -> Holds:
    """What BioC holds; ``name`` is what it is called in sentences."""
    return Holds(format=name, fields=FIELDS, partly=_PARTLY)


def entry_of(document: Document, report: WriteReport, *, can_hold: Callable[[str], bool]) -> Entry:
    """Makes what is written of a document: a passage for each section, and one for the text between two sections.

    Blanks alone between two sections stand in no passage; what is no simple blank among them is noted in the fact
    ``blanks-before`` of the passage after them.

    Args:
        document: what is to be written.
        report: receives the counts of what cannot be held.
        can_hold: whether the file can hold a fact.

    Raises:
        InputError: an id or a type that cannot be written.
    """
    identifier = checked_name(document.id, what="the document id")
    report.mentions += len(document.mentions)
    passages = _passages(document, report)
    for number, mention in enumerate(document.mentions):
        home = next((one for one in reversed(passages) if one.offset <= mention.start), passages[0])
        home.annotations.append(_annotation(mention, number, document, report, can_hold))
    facts = {key: value for key, value in document.meta.items() if (key, value) != ("text", "joined")}
    infons = {key: value for key, value in facts.items() if can_hold(key) and can_hold(value)}
    if lost := len(facts) - len(infons):
        report.lose("meta", document, count=lost)
    return Entry(id=identifier, infons=infons, passages=passages)


def _passages(document: Document, report: WriteReport) -> list[Passage]:
    text, found, at = document.text, [], 0
    for section in separate_sections(document, report):
        gap, infons = text[at : section.start], {TYPE: section.name}
        if gap.strip():
            found.append(Passage(offset=at, text=gap, annotations=[], infons={}))
        elif gap.strip(" "):
            infons[BLANKS] = gap
        found.append(
            Passage(offset=section.start, text=text[section.start : section.end], annotations=[], infons=infons)
        )
        at = section.end
    if at < len(text) or not found:
        found.append(Passage(offset=at, text=text[at:], annotations=[], infons={}))
    return found


def separate_sections(document: Document, report: WriteReport) -> list[Section]:
    """The sections that can be passages: with a name and a text, none in another; counts the others."""
    kept: list[Section] = []
    for section in sorted(set(document.sections or ()), key=lambda one: (one.start, -one.end)):
        fits = section.name == section.name.strip() != "" and section.start < section.end
        if fits and section.start >= (kept[-1].end if kept else 0):
            kept.append(section)
    if lost := len(document.sections or ()) - len(kept):
        report.lose("sections", document, count=lost)
    return kept


def _annotation(
    mention: Mention, number: int, document: Document, report: WriteReport, can_hold: Callable[[str], bool]
) -> Annotation:
    kind = checked_name(mention.type, what=f"the type of a mention of document {document.id!r},")
    infons, lost = {TYPE: kind}, 0
    concept = concept_column(mention)
    concept = concept if can_hold(concept) else ""
    if concept:
        infons[IDENTIFIER] = concept
        names = [link_of(told(link)).ontology or link.ontology for link in mention.links]
        vocabulary = names[0] if len(set(names)) == 1 else BETWEEN.join(names)
        if names and all(names) and can_hold(vocabulary) and not any(BETWEEN in name for name in names):
            infons[VOCABULARY] = vocabulary
    links, raw = read_links(rest := dict(infons))
    if rest.pop(VOCABULARY, ""):  # it would be read as a fact: the ids are fewer than their vocabularies
        del infons[VOCABULARY]
        links, raw = read_links(dict(infons))
    count_links(mention, links, document, report)
    for key, value in mention.attributes:
        if key == RAW_ID or key in infons or not (can_hold(key) and can_hold(value)):
            lost += (key, value) not in raw
        else:
            infons[key] = value
    if lost:
        report.lose("attributes", document, mention, count=lost)
    locations = [Location(start, end - start) for start, end in mention.spans]
    text = mention.text_in(document.text)
    return Annotation(id=str(number), infons=infons, text=text, locations=locations)
