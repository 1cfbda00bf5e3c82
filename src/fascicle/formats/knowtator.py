"""Annotation of Knowtator beside its texts, as CRAFT publishes it
(https://github.com/UCDenver-ccp/CRAFT).

A corpus is a folder or a zip with texts and files ``NAME.txt.knowtator.xml``, in any folders below
it; several files of one text are one document. Files of Knowtator 2, whose outer element is
``knowtator-project``, are read too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final
from xml.etree.ElementTree import Element

from fascicle.core.document import Document, Event, Link
from fascicle.core.effects import make_event
from fascicle.core.files.elements import elements_in
from fascicle.core.files.source import Source, is_integer
from fascicle.core.files.tree import Tree, lower_suffix, open_tree
from fascicle.core.mention import Span, is_curie, parse_link
from fascicle.errors import FormatError, InputError
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import TEXT, FormatReader
from fascicle.formats.offset_units import BY_WORDS
from fascicle.formats.report import ReadReport

_STEP: Final = "knowtator"
_XML: Final = ".xml"
_OBO: Final = "http://purl.obolibrary.org/obo/"
# an element for each text, in Knowtator and in Knowtator 2
_OUTER: Final = ("annotations", "document")
_Records = dict[str, list[Element]]  # by the name of the text


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the texts of a folder or zip, sorted by name, with their annotation.

    The id of a document is the name of its text without the suffix. A class such as ``CHEBI:35222``
    is a link, and its prefix is the type; any other class is the type. Values of slots are
    attributes; slots of other mentions are counted (``relations-left-out``).

    Args:
        source: the place.
        options: none.
        report: a bad file sets its document aside.

    Raises:
        InputError: a place that cannot be read, or two texts of one name.
        FormatError: no text, or no annotation of one.
    """
    with open_tree(source.path, suffixes=(TEXT, _XML)) as tree:
        texts = _texts(tree)
        records = _records(tree, texts, source, report)
        if not records:
            message = (
                "no file of Knowtator (.xml) with a text of its name is in this folder; "
                "give the folder of both"
            )
            raise FormatError(message, at=source.path)
        votes = report.offset_votes[source.path]
        for name, place in sorted(texts.items()):
            with report.aside.one():
                yield _document(tree, place, records.pop(name, []), source, votes=votes)


def _texts(tree: Tree) -> dict[str, str]:
    """Returns the places of the text files by their names."""
    texts: dict[str, str] = {}
    for place in tree.names:
        if lower_suffix(place) != TEXT:
            continue
        if (other := texts.setdefault(PurePosixPath(place).name, place)) != place:
            message = (
                f"{tree.place(place)} and {other} are two texts of one name; give one "
                "of their folders"
            )
            raise InputError(message)
    return texts


def _records(tree: Tree, texts: Mapping[str, str], source: Source, report: ReadReport) -> _Records:
    """Returns the annotation of each text; files without a text are set aside."""
    records: _Records = {}
    for name in tree.names:
        if lower_suffix(name) != _XML:
            continue
        place = tree.place(name)
        with report.aside.one():
            for _, record in elements_in(tree.text(name, source)[0], _OUTER, path=place):
                records.setdefault(_text_of(record, texts, place), []).append(record)
    return records


def _text_of(record: Element, texts: Mapping[str, str], place: str) -> str:
    """Returns the name of the text that a record is about."""
    path = record.get("textSource") or record.get("text-file") or ""
    name = PurePosixPath(path).name
    for text in (name, f"{name}{TEXT}"):
        if text in texts:
            return text
    message = f"there is no text {name or '(without a name)'}; put it into this folder"
    raise FormatError(message, at=place)


def _document(
    tree: Tree, place: str, records: list[Element], source: Source, *, votes: Counter[str]
) -> Document:
    text, _ = tree.text(place, source)
    collector = MentionCollector(text, step=_STEP, unit=BY_WORDS, votes=votes)
    pairs = [
        (annotation, classes)
        for record, classes in zip(records, map(_Classes, records), strict=True)
        for annotation in record.iterfind("annotation")
    ]
    annotators = {_annotator(annotation) for annotation, _ in pairs}
    # of Knowtator 2, whose graphs have a triple for each relation
    relations = sum(len(record.findall("graph-space/triple")) for record in records)
    untyped = 0
    for annotation, classes in pairs:
        entry = classes.of(annotation)
        relations += entry.relations
        if len(annotators) > 1:
            entry = entry.by(_annotator(annotation))
        untyped += not _add(collector, annotation, entry, tree.place(place))
    events = list(_events(untyped, relations, "" if records else place))
    return collector.document(PurePosixPath(place).stem, at=tree.place(place), events=events)


def _add(collector: MentionCollector, annotation: Element, entry: _Class, place: str) -> bool:
    """Adds a mention; returns false for an annotation without a class."""
    spans = [_span(span, place) for span in annotation.iterfind("span")]
    kind, links = entry.type_and_links
    if kind:
        collector.add(
            spans,
            kind,
            expected=_text_at(annotation),
            is_standoff=True,
            links=links,
            attributes=entry.attributes,
        )
    return bool(kind)


def _text_at(annotation: Element) -> str | None:
    """Returns the text that a file states beside the spans of an annotation, if any."""
    texts = (span.text for span in annotation.iterfind("span"))
    return annotation.findtext("spannedText") or " ... ".join(filter(None, texts)) or None


def _events(untyped: int, relations: int, unannotated: str) -> Iterator[Event]:
    """Yields the events of a document.

    Args:
        untyped: number of annotations without a class.
        relations: number of relations: slots with other mentions, and those of graphs.
        unannotated: name of the text, if no record is about it.
    """
    for _ in range(untyped):
        message = "an annotation has no class"
        yield make_event("mention-without-type", step=_STEP, message=message)
    if unannotated:
        message = f"{unannotated} has no annotation"
        yield Event(step=_STEP, kind="note", code="no-annotation", message=message)
    if relations:
        message = f"relations between mentions are not read ({relations:,})"
        yield make_event("relations-left-out", step=_STEP, message=message)


@dataclass(frozen=True, kw_only=True)
class _Class:
    """Class of an annotation, and the content of its slots.

    Attributes:
        name: id of the class.
        label: its name for people.
        attributes: values of slots, each after the name of its slot.
        relations: number of values that are other mentions.
    """

    name: str = ""
    label: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    relations: int = 0

    def by(self, annotator: str) -> _Class:
        """Returns the class with the name of its annotator as a further attribute."""
        return replace(self, attributes=(*self.attributes, ("annotator", annotator)))

    @property
    def type_and_links(self) -> tuple[str, tuple[Link, ...]]:
        """Type of a mention of the class, and its link if the class is an entry of an ontology."""
        name, label = self.name, self.label
        curie = name.removeprefix(_OBO).replace("_", ":", 1) if name.startswith(_OBO) else name
        if is_curie(curie):
            return curie.partition(":")[0], (parse_link(curie, name=label),)
        if "://" in name:
            return label or name.rpartition("#")[2].rpartition("/")[2], (Link(id=name, name=label),)
        return name, ()


class _Classes:
    """Classes and slots of one record, which its annotations name by their ids."""

    def __init__(self, record: Element) -> None:
        self._by_id = {child.get("id"): child for child in record if child.tag.endswith("Mention")}

    def of(self, annotation: Element) -> _Class:
        """Returns the class of an annotation, with the content of its slots."""
        element = annotation.find("class")  # of Knowtator 2
        if element is not None:
            return _Class(name=element.get("id", ""), label=(element.get("label") or "").strip("'"))
        reference = annotation.find("mention")
        mention = self._by_id.get(reference.get("id") if reference is not None else None)
        element = mention.find("mentionClass") if mention is not None else None
        if mention is None or element is None:
            return _Class()
        attributes, relations = self._slots(mention)
        return _Class(
            name=element.get("id", ""),
            label=(element.text or "").strip(),
            attributes=tuple(attributes),
            relations=relations,
        )

    def _slots(self, mention: Element) -> tuple[list[tuple[str, str]], int]:
        """Returns the values of slots with their names, and the number of other mentions there."""
        attributes, relations = list[tuple[str, str]](), 0
        for reference in mention.iterfind("hasSlotMention"):
            if (slot := self._by_id.get(reference.get("id"))) is None:
                continue
            values = [
                child.get("value", "") for child in slot if child.tag.endswith("SlotMentionValue")
            ]
            if slot.tag in ("complexSlotMention", "classSlotMention"):
                relations += len(values)
                continue
            element = slot.find("mentionSlot")
            name = "" if element is None else element.get("id", "")
            attributes += [(name, value) for value in values]
        return attributes, relations


def _annotator(annotation: Element) -> str:
    """Returns the name of an annotator: the text of the element, or an attribute in Knowtator 2."""
    return (annotation.findtext("annotator") or annotation.get("annotator") or "").strip()


def _span(span: Element, place: str) -> Span:
    start, end = span.get("start", ""), span.get("end", "")
    if not (is_integer(start) and is_integer(end)):
        raise FormatError(
            f"a span has the offsets {start!r} and {end!r}; they must be integers", at=place
        )
    return int(start), int(end)


READER: Final = FormatReader(read=read)
