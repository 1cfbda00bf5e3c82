"""Annotation of Knowtator beside its texts, as CRAFT publishes it
(https://github.com/UCDenver-ccp/CRAFT).

A corpus is a folder or a zip with texts and files ``NAME.txt.knowtator.xml``, in any folders below
it; several files of one text are one document. Files of Knowtator 2, whose outer element is
``knowtator-project``, are read too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
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
from fascicle.formats.handlers import TEXT, Reader
from fascicle.formats.offset_units import BY_WORDS
from fascicle.formats.report import ReadReport

_STEP: Final = "knowtator"
_XML: Final = ".xml"
_OBO: Final = "http://purl.obolibrary.org/obo/"
# an element for each text, in Knowtator and in Knowtator 2
_OUTER: Final = ("annotations", "document")
_Records = defaultdict[str, list[Element]]  # by the name of the text


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
        texts: dict[str, str] = {}
        for name in (one for one in tree.names if lower_suffix(one) == TEXT):
            if (other := texts.setdefault(PurePosixPath(name).name, name)) != name:
                message = (
                    f"{tree.place(name)} and {other} are two texts of one name; give one "
                    "of their folders"
                )
                raise InputError(message)
        found = _records(tree, texts, source, report)
        if not found:
            message = (
                "no file of Knowtator (.xml) with a text of its name is in this folder; "
                "give the folder of both"
            )
            raise FormatError(message, at=source.path)
        for name, place in sorted(texts.items()):
            with report.aside.one():
                yield _document(
                    tree, place, found.pop(name, []), source, votes=report.offset_votes[source.path]
                )


def _records(tree: Tree, texts: Mapping[str, str], source: Source, report: ReadReport) -> _Records:
    """Returns the annotation of each text; files without a text are set aside."""
    found: _Records = defaultdict(list)
    for name in (one for one in tree.names if lower_suffix(one) == _XML):
        with report.aside.one():
            for _, record in elements_in(tree.text(name, source)[0], _OUTER, path=tree.place(name)):
                stated = PurePosixPath(
                    record.get("textSource") or record.get("text-file") or ""
                ).name
                own = next((one for one in (stated, f"{stated}{TEXT}") if one in texts), "")
                if not own:
                    message = (
                        f"there is no text {stated or '(without a name)'}; put it into this folder"
                    )
                    raise FormatError(message, at=tree.place(name))
                found[own].append(record)
    return found


def _document(
    tree: Tree, place: str, records: list[Element], source: Source, *, votes: Counter[str]
) -> Document:
    text, _ = tree.text(place, source)
    collector, events, slots = (
        MentionCollector(text, step=_STEP, unit=BY_WORDS, votes=votes),
        list[Event](),
        0,
    )
    annotators = {
        annotator
        for record in records
        for annotator in map(_annotator, record.iterfind("annotation"))
    }
    for record in records:
        facts = _Facts(record)
        for one in record.iterfind("annotation"):
            name, label, attributes, lost = facts.of(one)
            slots += lost
            kind, links = _class(name, label)
            if len(annotators) > 1:
                attributes = [*attributes, ("annotator", _annotator(one))]
            spans = [_span(span, tree.place(place)) for span in one.iterfind("span")]
            told = one.findtext("spannedText") or " ... ".join(
                span.text for span in one.iterfind("span") if span.text
            )
            if kind:
                collector.add(
                    spans,
                    kind,
                    expected=told or None,
                    is_standoff=True,
                    links=links,
                    attributes=tuple(attributes),
                )
            else:
                events.append(
                    make_event(
                        "mention-without-type", step=_STEP, message="an annotation has no class"
                    )
                )
    if not records:
        message = f"{place} has no annotation"
        events.append(Event(step=_STEP, kind="note", code="no-annotation", message=message))
    if slots:
        message = f"slots with other mentions are not read ({slots:,})"
        events.append(make_event("relations-left-out", step=_STEP, message=message))
    return collector.document(PurePosixPath(place).stem, at=tree.place(place), events=events)


class _Facts:
    """Classes and slots of one record, which its annotations name by their ids."""

    def __init__(self, record: Element) -> None:
        self._by_id = {one.get("id"): one for one in record if one.tag.endswith("Mention")}

    def of(self, annotation: Element) -> tuple[str, str, list[tuple[str, str]], int]:
        """Returns the class of an annotation, its name, the values of slots, and the number of
        other mentions there.
        """
        if (given := annotation.find("class")) is not None:  # of Knowtator 2
            return given.get("id", ""), (given.get("label") or "").strip("'"), [], 0
        reference = annotation.find("mention")
        mention = self._by_id.get(reference.get("id") if reference is not None else None)
        stated = mention.find("mentionClass") if mention is not None else None
        if mention is None or stated is None:
            return "", "", [], 0
        attributes, others = [], 0
        for reference in mention.iterfind("hasSlotMention"):
            if (slot := self._by_id.get(reference.get("id"))) is None:
                continue
            name = slot.find("mentionSlot")
            values = [one.get("value", "") for one in slot if one.tag.endswith("SlotMentionValue")]
            if slot.tag in ("complexSlotMention", "classSlotMention"):
                others += len(values)
            else:
                attributes += [
                    ("" if name is None else name.get("id", ""), value) for value in values
                ]
        return stated.get("id", ""), (stated.text or "").strip(), attributes, others


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


def _class(name: str, label: str) -> tuple[str, tuple[Link, ...]]:
    """Returns the type for a class, and its link if it is an entry of an ontology."""
    curie = name.removeprefix(_OBO).replace("_", ":", 1) if name.startswith(_OBO) else name
    if is_curie(curie) and not curie.partition(":")[2].startswith("//"):
        return curie.partition(":")[0], (parse_link(curie, name=label),)
    if "://" in name:
        return label or name.rpartition("#")[2].rpartition("/")[2], (Link(id=name, name=label),)
    return name, ()


READER: Final = Reader(read=read)
