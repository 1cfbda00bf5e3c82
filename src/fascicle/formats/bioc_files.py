"""BioC in XML and in JSON, read and written as a stream of documents.

A file of JSON is a collection, several in an array, or one document per line as PubTator provides
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any, Final
from xml.etree.ElementTree import Element

import msgspec

from fascicle.core.absent import decode_present
from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.elements import elements
from fascicle.core.files.source import (
    MAX_FILE,
    Line,
    Source,
    is_integer,
    line_text,
    read_lines_or_errors,
)
from fascicle.core.marks import escape_exactly
from fascicle.core.wording import shorten
from fascicle.errors import BROKEN, FormatError, Place, explain_errors
from fascicle.formats.bioc import from_entry
from fascicle.formats.bioc_records import (
    CONTROLS,
    STEP,
    BiocAnnotation,
    BiocDocument,
    BiocPassage,
    Location,
    Node,
    Related,
    Sentence,
    controls_in,
)
from fascicle.formats.bioc_write import SOURCE, bioc_fields, to_entry
from fascicle.formats.handlers import FormatReader, FormatWriter, open_frame
from fascicle.formats.report import ReadReport, WriteReport
from fascicle.formats.unread import find_unread_fields

_OF_COLLECTION: Final = ("source", "date", "key", "infon")
_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
    f"<collection><source>{SOURCE}</source><date></date><key></key>\n"
).encode()
_IN_ATTRIBUTES: Final = re.compile("[\t\n]")
# XML 1.0, 2.2
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_DOCUMENTS: Final = ("documents", "PubTator3")
_OF_ENTRY: Final = frozenset(BiocDocument.__struct_fields__)
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
_ENTRY: Final = msgspec.json.Decoder(BiocDocument, strict=False)
_ENCODER: Final = msgspec.json.Encoder()
_OBJECT_HEAD: Final = _ENCODER.encode({"source": SOURCE, "date": "", "key": "", "infons": {}})


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a collection.

    Args:
        source: the file.
        options: none.
        report: a document with wrong numbers, or without an id, is set aside.

    Raises:
        FormatError: no well-formed XML, or a document that is none of BioC.
    """
    facts: list[str] = []
    for place, element in elements(source, ("document", *_OF_COLLECTION)):
        if element.tag != "document":
            if (text := _text(element).strip()) and text != SOURCE:
                facts.append(f"{element.get('key', element.tag)}: {text}")
            continue
        with report.aside.one():
            document = from_entry(_entry(element, place), at=place)
            yield document.with_events(_note_collection(facts)) if facts else document
            facts = []


def _note_collection(facts: list[str]) -> Event:
    message = f"what the collection says of itself is not kept: {'; '.join(facts)}"
    return Event(step=STEP, kind="note", code="collection-left-out", message=message[:300])


def _entry(element: Element, place: Place) -> BiocDocument:
    return BiocDocument(
        id=_child_text(element, "id"),
        infons=_infons(element),
        passages=[_passage(child, place) for child in element.findall("passage")],
        annotations=_annotations(element, place),
        relations=_relations(element),
    )


def _passage(element: Element, place: Place) -> BiocPassage:
    own = _part(element, place)
    return BiocPassage(
        **own, sentences=[Sentence(**_part(child, place)) for child in element.findall("sentence")]
    )


def _part(element: Element, place: Place) -> dict[str, Any]:
    """Returns the fields that passages and sentences share."""
    return {
        "offset": _number(_child_text(element, "offset") or "0", place),
        "infons": _infons(element),
        "text": _child_text(element, "text"),
        "annotations": _annotations(element, place),
        "relations": _relations(element),
    }


def _relations(element: Element) -> list[Related | None]:
    return [_relation(child) for child in element.findall("relation")]


def _relation(element: Element) -> Related | None:
    """Reads a relation; ``None`` if a node refers to nothing."""
    nodes = [(node.get("refid"), node.get("role")) for node in element.findall("node")]
    named = [Node(identifier, role) for identifier, role in nodes if identifier is not None]
    return Related(infons=_infons(element), nodes=named) if len(named) == len(nodes) else None


def _annotations(element: Element, place: Place) -> list[BiocAnnotation]:
    return [_annotation(child, place) for child in element.findall("annotation")]


def _annotation(element: Element, place: Place) -> BiocAnnotation:
    """Reads an annotation in one pass over its parts, of which files have the most."""
    infons: dict[str, str] = {}
    text, locations = None, []
    for part in element:
        tag = part.tag
        if tag == "infon":
            _add_infon(infons, part)
        elif tag == "location":
            offset, length = part.get("offset", ""), part.get("length", "")
            locations.append(Location(_number(offset, place), _number(length, place)))
        elif tag == "text" and text is None:
            text = _text(part)
    return BiocAnnotation(id=element.get("id"), infons=infons, text=text, locations=locations)


def _infons(element: Element) -> dict[str, str]:
    infons: dict[str, str] = {}
    for child in element.findall("infon"):
        _add_infon(infons, child)
    return infons


def _add_infon(infons: dict[str, str], element: Element) -> None:
    key, value = element.get("key", ""), _text(element)
    # No key should be there twice; where one is, as for two concepts, neither value is lost.
    if infons.setdefault(key, value) != value:
        infons[key] += f"|{value}"


def _child_text(element: Element, name: str) -> str | None:
    child = element.find(name)
    return None if child is None else _text(child)


def _text(element: Element) -> str:
    return "".join(element.itertext()) if len(element) else element.text or ""


def _number(text: str, place: Place) -> int:
    if not is_integer(text.strip()):
        raise FormatError(
            f"an offset or a length is {shorten(text)!r}; it must be an integer", at=place
        )
    return int(text)


def _encode(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as an XML element.

    A symbol replaces each control character of the text, and the infon ``control-characters`` says
    where and which.

    Raises:
        InputError: an id or a type that cannot be written.
    """
    entry = to_entry(document, report, can_hold=lambda text: not _NOT_IN_XML.search(text))
    for passage in entry.passages:
        if controls := controls_in(passage.text or "", _NOT_IN_XML):
            passage.infons[CONTROLS] = controls
    head = f"<document><id>{_escape(str(entry.id))}</id>{_facts(entry.infons)}"
    return "".join(
        [
            head,
            *map(_encode_passage, entry.passages),
            *map(_encode_relation, entry.relations),
            "</document>\n",
        ]
    ).encode()


def _encode_passage(passage: BiocPassage) -> str:
    annotations = "".join(
        f'<annotation id="{annotation.id}">{_facts(annotation.infons)}'
        + "".join(
            f'<location offset="{at.offset}" length="{at.length}"/>' for at in annotation.locations
        )
        + f"<text>{_escape(annotation.text or '')}</text></annotation>"
        for annotation in passage.annotations
    )
    text = f"<offset>{passage.offset}</offset><text>{_escape(passage.text or '')}</text>"
    return f"<passage>{_facts(passage.infons)}{text}{annotations}</passage>"


def _encode_relation(relation: Related) -> str:
    nodes = "".join(
        f'<node refid="{node.refid}" role="{_quote(node.role or "")}"/>' for node in relation.nodes
    )
    return f'<relation id="{relation.id}">{_facts(relation.infons)}{nodes}</relation>'


def _facts(infons: dict[str, str]) -> str:
    return "".join(
        f'<infon key="{_quote(key)}">{_escape(value)}</infon>' for key, value in infons.items()
    )


def _escape(text: str) -> str:
    return escape_exactly(text, forbidden=_NOT_IN_XML).replace("\x85", "&#133;")


def _quote(text: str) -> str:
    return _IN_ATTRIBUTES.sub(_code, _escape(text))


def _code(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


_INTO_XML: Final = partial(open_frame, head=_HEAD, tail=b"</collection>\n")
READER: Final = FormatReader(read=read)
WRITER: Final = FormatWriter(
    holds=bioc_fields("BioC XML", "relations"), encoder=lambda _: _encode, into=_INTO_XML
)


def _read_json(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a collection; the whole file is read first unless it has one
    document per line.

    Args:
        source: the file.
        options: none.
        report: a document of another form is set aside.

    Raises:
        FormatError: no JSON, or no document of BioC.
    """
    lines = read_lines_or_errors(source)
    numbered = (
        (number, line) for number, line in lines if not isinstance(line, str) or line.strip()
    )
    first = next(numbered, None)
    if first is None:
        return
    if _is_document(first[1]):
        for number, line in chain((first,), numbered):
            with report.aside.one():
                yield _document(line_text(line).encode(), Place(source.path, number))
        return
    place = Place(source.path, first[0])
    for raw, facts in _documents_in(_whole(first[1], numbered, place), place):
        with report.aside.one():
            document = _document(bytes(raw), place)
            yield document.with_events(_note_collection(facts)) if facts else document


def _is_document(line: Line) -> bool:
    """True if a line is a whole document."""
    try:
        return "passages" in _OBJECT.decode(line_text(line))
    except (FormatError, *BROKEN):
        return False


def _whole(first: Line, numbered: Iterator[tuple[int, Line]], place: Place) -> str:
    parts, size = [line_text(first)], 0
    for _, line in numbered:
        parts.append(line_text(line))
        size += len(parts[-1]) + 1
        if size > MAX_FILE:
            message = (
                f"the collection has more than {MAX_FILE:,} characters; write one document "
                "on each line"
            )
            raise FormatError(message, at=place, code="too-large")
    return "\n".join(parts)


_RawDocument = tuple[msgspec.Raw, list[str]]  # and the facts of its collection, if it is the first


def _documents_in(text: str, place: Place) -> Iterator[_RawDocument]:
    """Yields the documents of a collection, or of an array of collections or documents."""
    advice = "; it is an object with documents, and each has passages"
    with explain_errors("no collection of BioC", at=place, advice=advice):
        collections = (
            _LIST.decode(text) if text.lstrip().startswith("[") else [msgspec.Raw(text.encode())]
        )
        for collection in collections:
            yield from _documents_of(collection)


def _documents_of(raw: msgspec.Raw) -> Iterator[_RawDocument]:
    fields = _OBJECT.decode(raw)
    key = next((name for name in _DOCUMENTS if name in fields), "")
    if not key and "passages" not in fields:
        raise ValueError("neither documents nor passages are among its fields")
    if not key:
        yield raw, []
        return
    head: dict[str, Any] = {
        name: msgspec.json.decode(fields[name]) for name in _OF_COLLECTION if name in fields
    }
    infons = msgspec.json.decode(fields.get("infons", b"{}"))
    head |= infons if isinstance(infons, dict) else {"infons": infons}
    facts = [f"{name}: {value}" for name, value in head.items() if value and value != SOURCE]
    for document in _LIST.decode(fields[key]):
        yield document, facts
        facts = []


def _document(data: bytes, place: Place) -> Document:
    with explain_errors("no document of BioC", at=place):
        entry = decode_present(_ENTRY, data)
        unknown = {name: raw for name, raw in _OBJECT.decode(data).items() if name not in _OF_ENTRY}
        values = {name: msgspec.json.decode(raw) for name, raw in unknown.items()}
    unread = [*find_unread_fields(values, known=()), *({"text"} & values.keys())]
    document = from_entry(entry, at=place)
    if not unread:
        return document
    message = f"these fields of a document are not read: {', '.join(unread)}"
    return document.with_events(make_event("parts-left-out", step=STEP, message=message))


def _encode_json(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as a JSON object.

    Raises:
        InputError: an id or a type that cannot be written.
    """
    return _ENCODER.encode(to_entry(document, report))


def _encode_answer(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as an object of a PubTator 3 response: BioC with the ids of the article.

    Raises:
        InputError: an id or a type that cannot be written.
    """
    entry = to_entry(document, report)
    ids = {
        "pmid": int(document.id) if is_integer(document.id) else None,
        "pmcid": document.meta.get("pmc"),
    }
    return _ENCODER.encode(
        {"_id": f"{document.id}|{ids['pmcid']}", **msgspec.to_builtins(entry), **ids}
    )


_INTO_ARRAY: Final = partial(open_frame, first=b"\n", between=b",\n", tail=b"\n]}\n")
_INTO_COLLECTION: Final = partial(_INTO_ARRAY, head=_OBJECT_HEAD[:-1] + b',"documents":[')
_INTO_ANSWER: Final = partial(_INTO_ARRAY, head=b'{"PubTator3":[')
BIOC_JSON_READER: Final = FormatReader(read=_read_json)
BIOC_JSON_WRITER: Final = FormatWriter(
    holds=bioc_fields("BioC JSON"),
    encoder=lambda _: _encode_json,
    into=_INTO_COLLECTION,
    grows=False,
)
PUBTATOR3_READER: Final = BIOC_JSON_READER
PUBTATOR3_WRITER: Final = FormatWriter(
    holds=bioc_fields("PubTator 3 JSON"),
    encoder=lambda _: _encode_answer,
    into=_INTO_ANSWER,
    grows=False,
)
