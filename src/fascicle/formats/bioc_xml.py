"""BioC in XML, read and written as a stream of documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final
from xml.etree.ElementTree import Element

from fascicle.core.document import Document, Event
from fascicle.core.files.elements import elements
from fascicle.core.files.source import Source, is_integer
from fascicle.core.marks import FORBIDDEN, faithful
from fascicle.core.wording import shortened
from fascicle.errors import FormatError, Place
from fascicle.formats.bioc import (
    SOURCE,
    STEP,
    Annotation,
    Entry,
    Location,
    Passage,
    Sentence,
    document_of,
    entry_of,
    holds_of,
)
from fascicle.formats.handlers import Encode, Put, Reader, Writer
from fascicle.formats.report import ReadReport, WriteReport

_OF_COLLECTION: Final = ("source", "date", "key", "infon")
_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
    f"<collection><source>{SOURCE}</source><date></date><key></key>\n"
)
_IN_ATTRIBUTES: Final = re.compile("[\t\n]")


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a collection.

    Args:
        source: the file.
        options: none.
        report: a document with wrong numbers, or without an id, is set aside.

    Raises:
        FormatError: no well-formed XML, or a document that is none of BioC.
    """
    told: list[str] = []
    for place, element in elements(source, ("document", *_OF_COLLECTION)):
        if element.tag != "document":
            if (said := _text(element).strip()) and said != SOURCE:
                told.append(f"{element.get('key', element.tag)}: {said}")
            continue
        with report.aside.one():
            document = document_of(_entry(element, place), at=place)
            yield document.with_events(_collection(told)) if told else document
            told = []


def _collection(told: list[str]) -> Event:
    message = f"what the collection says of itself is not kept: {'; '.join(told)}"
    return Event(step=STEP, kind="note", code="collection-left-out", message=message[:300])


def _entry(element: Element, place: Place) -> Entry:
    return Entry(
        id=_said(element, "id"),
        infons=_infons(element),
        passages=[_passage(one, place) for one in element.iterfind("passage")],
        annotations=_annotations(element, place),
        relations=element.findall("relation"),
    )


def _passage(element: Element, place: Place) -> Passage:
    own = _part(element, place)
    return Passage(**own, sentences=[Sentence(**_part(one, place)) for one in element.iterfind("sentence")])


def _part(element: Element, place: Place) -> dict[str, Any]:
    """Returns the fields that passages and sentences share."""
    return {
        "offset": _number(_said(element, "offset") or "0", place),
        "infons": _infons(element),
        "text": _said(element, "text"),
        "annotations": _annotations(element, place),
        "relations": element.findall("relation"),
    }


def _annotations(element: Element, place: Place) -> list[Annotation]:
    return [
        Annotation(
            id=one.get("id"),
            infons=_infons(one),
            text=_said(one, "text"),
            locations=[
                Location(_number(at.get("offset", ""), place), _number(at.get("length", ""), place))
                for at in one.iterfind("location")
            ],
        )
        for one in element.iterfind("annotation")
    ]


def _infons(element: Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in element.iterfind("infon"):
        key, value = one.get("key", ""), _text(one)
        # No key should be there twice; where one is, as for two concepts, neither value is lost.
        found[key] = f"{found[key]}|{value}" if found.get(key, value) != value else value
    return found


def _said(element: Element, name: str) -> str | None:
    found = element.find(name)
    return None if found is None else _text(found)


def _text(element: Element) -> str:
    return "".join(element.itertext())


def _number(text: str, place: Place) -> int:
    if not is_integer(text.strip()):
        raise FormatError(f"an offset or a length is {shortened(text)!r}; it must be an integer", at=place)
    return int(text)


def encode(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as an XML element; control characters are replaced by Unicode control pictures and counted.

    Raises:
        InputError: an id or a type that cannot be written.
    """
    entry = entry_of(document, report, can_hold=lambda text: not FORBIDDEN.search(text))
    if count := len(FORBIDDEN.findall(document.text)):
        report.lose("control-characters", document, count=count)
    made = f"<document><id>{faithful(str(entry.id))}</id>{_facts(entry.infons)}"
    return "".join([made, *map(_written, entry.passages), "</document>\n"]).encode()


def _written(passage: Passage) -> str:
    annotations = "".join(
        f'<annotation id="{one.id}">{_facts(one.infons)}'
        + "".join(f'<location offset="{at.offset}" length="{at.length}"/>' for at in one.locations)
        + f"<text>{faithful(one.text or '')}</text></annotation>"
        for one in passage.annotations
    )
    text = f"<offset>{passage.offset}</offset><text>{faithful(passage.text or '')}</text>"
    return f"<passage>{_facts(passage.infons)}{text}{annotations}</passage>"


def _facts(infons: dict[str, str]) -> str:
    return "".join(
        f'<infon key="{_IN_ATTRIBUTES.sub(_code, faithful(key))}">{faithful(value)}</infon>'
        for key, value in infons.items()
    )


def _code(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


@contextmanager
def into_collection(stream: BinaryIO, encode: Encode) -> Iterator[Put]:
    """Opens a collection and yields the function that adds a document; the collection is closed at the end.

    Args:
        stream: a file.
        encode: makes the documents.
    """
    stream.write(_HEAD.encode())
    yield stream.write
    stream.write(b"</collection>\n")


READER: Final = Reader(read=read)
WRITER: Final = Writer(holds=holds_of("BioC XML"), encoder=lambda _: encode, into=into_collection)
