"""BioC records made of documents; written as XML and JSON alike."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from fascicle.core.document import Document, Mention, MentionKey, Section
from fascicle.core.mention import link_text, parse_link
from fascicle.formats.bioc import (
    BETWEEN,
    IDENTIFIER,
    SECTION,
    VOCABULARY,
    read_links,
)
from fascicle.formats.bioc_offsets import BLANKS, touch
from fascicle.formats.bioc_records import (
    CONTROLS,
    TYPE,
    BiocAnnotation,
    BiocDocument,
    BiocPassage,
    Location,
    related,
)
from fascicle.formats.handlers import check_name, separate_sections
from fascicle.formats.losses import HeldFields, count_links, held_fields
from fascicle.formats.pubtator import RAW_ID, concept_column
from fascicle.formats.report import WriteReport

SOURCE: Final = "Fascicle"  # of collections
_WHOLE: Final = "ids text-between-words mentions relations discontinuous nested"


def bioc_fields(name: str, partly: str = "") -> HeldFields:
    """Returns the fields that BioC can hold, with the format's name for messages, and further
    ones held in part.
    """
    partly += " sections section-attributes links link-ontologies link-curies attributes meta"
    return held_fields(name, _WHOLE, partly=partly)


def to_entry(
    document: Document, report: WriteReport, *, can_hold: Callable[[str], bool] = lambda text: True
) -> BiocDocument:
    """Makes the BioC entry of a document: a passage for each section, and one for the text between
    two sections.

    Text of blanks only between two sections is in no passage; unless it is a single blank, it is
    kept in the infon ``blanks-before`` of the next passage. The infon is empty if passages touch.

    Args:
        document: what is to be written.
        report: receives the counts of what cannot be held.
        can_hold: true if the file can hold a text.

    Raises:
        InputError: an id or a type that cannot be written.
    """
    identifier = check_name(document.id, what="the document id")
    maker = _EntryMaker(document, report, can_hold)
    passages = maker.passages()
    keys = maker.add_annotations(passages)
    infons = maker.infons()
    relations = [
        relation
        for stated in document.relations
        if (relation := related(stated, keys, document, report, can_hold))
    ]
    numbered = [replace(relation, id=f"R{at}") for at, relation in enumerate(relations)]
    return BiocDocument(id=identifier, infons=infons, passages=passages, relations=numbered)


@dataclass(frozen=True)
class _EntryMaker:
    """Makes the parts of the entry of one document, and counts what they cannot hold."""

    document: Document
    report: WriteReport
    can_hold: Callable[[str], bool]

    def passages(self) -> list[BiocPassage]:
        """Returns the passages, without annotations."""
        text, passages, end = self.document.text, list[BiocPassage](), 0
        starts = sorted(mention.start for mention in self.document.mentions)
        for section in separate_sections(self.document, self.report):
            gap, infons = text[end : section.start], self._section_infons(section)
            # A mention outside all passages would be a reason to read its offsets in another unit.
            has_mention = bisect_left(starts, end) < bisect_left(starts, section.start)
            if gap.strip() or not self.can_hold(gap) or has_mention:
                passages.append(BiocPassage(offset=end, text=gap))
            elif gap.strip(" "):
                infons[BLANKS] = gap
            content, end = text[section.start : section.end], section.end
            passages.append(BiocPassage(offset=section.start, text=content, infons=infons))
        if end < len(text) or not passages:
            passages.append(BiocPassage(offset=end, text=text[end:]))
        _mark_touching(passages)
        return passages

    def _section_infons(self, section: Section) -> dict[str, str]:
        """Returns the infons of a passage: its name, and the attributes that do not hide it."""
        facts = self._writable(dict(section.attributes))
        for key in (SECTION, BLANKS, CONTROLS):
            facts.pop(key, None)
        if section.name != section.name.lower():
            facts.pop(TYPE, None)
        if losses := len(section.attributes) - len(facts):
            self.report.lose("section-attributes", self.document, count=losses)
        if not self.can_hold(section.name):
            self.report.lose("sections", self.document)
        return {SECTION if TYPE in facts else TYPE: section.name, **facts}

    def infons(self) -> dict[str, str]:
        """Returns the facts about the document."""
        facts = {
            key: value
            for key, value in self.document.meta.items()
            if (key, value) != ("text", "joined")
        }
        infons = self._writable(facts)
        if losses := len(facts) - len(infons):
            self.report.lose("meta", self.document, count=losses)
        return infons

    def _writable(self, facts: dict[str, str]) -> dict[str, str]:
        return {
            key: value
            for key, value in facts.items()
            if self.can_hold(key) and self.can_hold(value)
        }

    def add_annotations(self, passages: list[BiocPassage]) -> dict[MentionKey, str]:
        """Adds each mention to the passage in which it begins, and returns the ids of all."""
        keys: dict[MentionKey, str] = {}
        offsets = [passage.offset for passage in passages]
        for number, mention in enumerate(self.document.mentions):
            keys[mention.key] = str(number)
            passage = passages[max(0, bisect_right(offsets, mention.start) - 1)]
            passage.annotations.append(self._annotation(mention, str(number)))
        return keys

    def _annotation(self, mention: Mention, identifier: str) -> BiocAnnotation:
        what = f"the type of a mention of document {self.document.id!r},"
        infons = {TYPE: check_name(mention.type, what=what), **self._concept_infons(mention)}
        links, raw = read_links(dict(infons))
        count_links(mention, links, self.document, self.report)
        losses = 0
        for key, value in mention.attributes:
            if key == RAW_ID or key in infons or not (self.can_hold(key) and self.can_hold(value)):
                losses += (key, value) not in raw
            else:
                infons[key] = value
        if losses:
            self.report.lose("attributes", self.document, mention, count=losses)
        return BiocAnnotation(
            id=identifier,
            infons=infons,
            text=mention.text_in(self.document.text),
            locations=[Location(start, end - start) for start, end in mention.spans],
        )

    def _concept_infons(self, mention: Mention) -> dict[str, str]:
        """Returns the identifiers of a mention, with their vocabularies if a reader can tell which
        belongs to which.
        """
        concept = concept_column(mention)
        if not concept or not self.can_hold(concept):
            return {}
        infons = {IDENTIFIER: concept}
        names = [parse_link(link_text(link)).ontology or link.ontology for link in mention.links]
        vocabulary = names[0] if len(set(names)) == 1 else BETWEEN.join(names)
        if not all(names) or not vocabulary or not self.can_hold(vocabulary):
            return infons
        if any(BETWEEN in name for name in names):
            return infons
        complete = {**infons, VOCABULARY: vocabulary}
        read_links(rest := dict(complete))
        # What a reader leaves there is a fact to it: the ids are fewer than their vocabularies.
        return infons if VOCABULARY in rest else complete


def _mark_touching(passages: Sequence[BiocPassage]) -> None:
    """Marks passages that touch, between which a reader would put a blank."""
    for before, after in pairwise(passages):
        if touch(before.offset, before.text or "", after.offset, after.text or ""):
            after.infons[BLANKS] = ""
