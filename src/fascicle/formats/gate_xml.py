"""XML of GATE: a text with nodes, and sets of annotations from one node to another.

The format is described at https://gate.ac.uk/userguide/sec:creole:loading. A node stands for its
place in the text, whatever its number, as in GATE itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final
from xml.etree.ElementTree import Element

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.elements import elements
from fascicle.core.files.source import Source
from fascicle.core.wording import plural
from fascicle.errors import FormatError, Place, explain_errors
from fascicle.formats.gate import (
    STEP,
    GateAnnotation,
    GateDocument,
    GateSet,
    make_document,
)
from fascicle.formats.handlers import FormatReader
from fascicle.formats.report import ReadReport

_ITEMS: Final = "itemClassName"  # of a list, whose items stand between semicolons


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a file, see `fascicle.formats.gate.make_document`.

    Relations are counted (``relations-left-out``).

    Args:
        source: the file; its name is the id of its document.
        options: none.
        report: a document that cannot be read is set aside.

    Raises:
        FormatError: no well-formed XML, or an annotation without its nodes or its type.
    """
    for place, root in elements(source, ("GateDocument",)):
        with report.aside.one(), explain_errors("no document of GATE", at=place):
            yield _document(root, source.name, place)


def _document(root: Element, identifier: str, place: Place) -> Document:
    text, nodes = _text_of(root)
    sets: defaultdict[str, GateSet] = defaultdict(GateSet)
    for part in root.iterfind("AnnotationSet"):
        layer = sets[part.get("Name", "")].annotations
        layer.extend(_annotation(one, nodes, place) for one in part.iterfind("Annotation"))
    features = root.find("GateDocumentFeatures")
    stated = GateDocument(
        text=text,
        annotation_sets=dict(sets),
        features={} if features is None else _features(features),
    )
    return make_document(stated, identifier, meta={}, events=_relations(root))


def _text_of(root: Element) -> tuple[str, dict[str, int]]:
    """Returns the text, and the offset of each node."""
    content = root.find("TextWithNodes")
    if content is None:
        return "", {}
    parts, length, nodes = [content.text or ""], len(content.text or ""), {}
    for node in content:
        nodes[node.get("id", "")] = length
        parts.append(node.tail or "")
        length += len(parts[-1])
    return "".join(parts), nodes


def _annotation(element: Element, nodes: Mapping[str, int], place: Place) -> GateAnnotation:
    start, end = element.get("StartNode", ""), element.get("EndNode", "")
    for node in (start, end):
        if node not in nodes:
            message = f"an annotation has the node {node!r}, which is not in the text"
            raise FormatError(message, at=place)
    return GateAnnotation(
        type=element.get("Type", ""),
        start=nodes[start],
        end=nodes[end],
        features=_features(element),
    )


def _features(element: Element) -> dict[str, Any]:
    """Returns the features of an annotation or of a document."""
    features: dict[str, Any] = {}
    for feature in element.iterfind("Feature"):
        value = feature.find("Value")
        if value is not None:
            text = value.text or ""
            items = text.split(";") if text else []
            features[feature.findtext("Name", "")] = items if _ITEMS in value.attrib else text
    return features


def _relations(root: Element) -> Iterator[Event]:
    """Yields an event of the relations, if there are any."""
    if count := sum(1 for _ in root.iter("Relation")):
        message = f"{plural(count, 'relation')} of GATE are left out"
        yield make_event("relations-left-out", step=STEP, message=message)


READER: Final = FormatReader(read=read)
