"""Annotation stores of STAM in JSON: texts, and annotations that point at them.

The model is described at https://github.com/annotation/stam. Its offsets count code points.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source, is_file, read_whole_text
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.errors import BROKEN, FormatError
from fascicle.formats.collect import MentionCollector, text_facts
from fascicle.formats.handlers import TEXT, FormatReader
from fascicle.formats.report import ReadReport

MARK: Final = re.compile(r'"@type"\s*:\s*"AnnotationStore"')

_BROKEN: Final = (*BROKEN, KeyError, TypeError, AttributeError)
_STEP: Final = "stam"
_TYPE: Final = "type"  # key of the datum that is the type of a mention
_TEXT: Final = "TextSelector"
_ANNOTATION: Final = "AnnotationSelector"
_TOGETHER: Final = "CompositeSelector"  # its parts are one target
_EACH: Final = "MultiSelector"  # each of its parts is a target


_Fields = dict[str, Any]


class _Store(msgspec.Struct):
    resources: list[dict[str, Any]] = []
    annotationsets: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields a document for each text of a store, in the order of the store.

    A mention is an annotation of a text. Its type is the value of the key ``type``, or else of its
    first datum; other data are attributes, and so are data of annotations of a whole annotation.
    Other targets, such as sets, are reported (``relations-left-out``).

    Args:
        source: a store. Texts in files of their own (``@include``) are in its folder.
        options: none.
        report: a text that is not there sets its document aside.

    Raises:
        FormatError: no store, or parts of it are in other files.
    """
    text = read_whole_text(source)
    if not text.strip():
        return
    try:
        store = msgspec.json.decode(text, type=_Store)
        content = _content_of(store, source.path)
    except _BROKEN as error:
        raise _refusal(error, source.path) from None
    left_out = content.left_out
    for resource in store.resources:
        with report.aside.one():
            try:
                document = _document(resource, content, source)
            except _BROKEN as error:
                raise _refusal(error, source.path) from None
            yield _with_note(document, left_out)
            left_out = 0


def _refusal(error: Exception, path: str) -> FormatError:
    message = f"this is no annotation store of STAM ({type(error).__name__}: {error})"
    return FormatError(message, at=path)


@dataclass(frozen=True, kw_only=True)
class _Content:
    """Annotations of a store by what they are about.

    Attributes:
        data: key and value of each datum, by its set and its id.
        of_texts: annotations with their offsets, by the id of the text.
        of_annotations: annotations of whole annotations, by the id of these.
        left_out: how many are about something else.
    """

    data: Mapping[tuple[str, str | None], tuple[str, Any]]
    of_texts: Mapping[str, list[tuple[_Fields, list[_Fields]]]]
    of_annotations: Mapping[str, list[_Fields]]
    left_out: int


def _content_of(store: _Store, path: str) -> _Content:
    of_texts, of_annotations = defaultdict(list), defaultdict(list)
    left_out = 0
    for annotation in store.annotations:
        target = annotation["target"]
        if target["@type"] == _ANNOTATION and _is_whole(target):
            of_annotations[target["annotation"]].append(annotation)
            continue
        places = list(_places(target))
        left_out += not places
        for resource, offsets in places:
            of_texts[resource].append((annotation, offsets))
    return _Content(
        data=_data_of(store, path),
        of_texts=of_texts,
        of_annotations=of_annotations,
        left_out=left_out,
    )


def _with_note(document: Document, left_out: int) -> Document:
    """Returns a document with a note of annotations about no text."""
    if not left_out:
        return document
    message = f"{plural(left_out, 'annotation')} of other annotations, texts or sets are left out"
    event = make_event("relations-left-out", step=_STEP, message=message)
    return document.having(events=(*document.events, event))


def _data_of(store: _Store, path: str) -> Mapping[tuple[str, str | None], tuple[str, Any]]:
    """Returns key and value of each datum, by its set and its id."""
    data = {}
    for part in store.annotationsets:
        if "@include" in part:
            message = "a set of annotations is in a file of its own; save the store as one file"
            raise FormatError(message, at=path)
        for datum in part.get("data", ()):
            data[part["@id"], datum.get("@id")] = (datum["key"], datum["value"].get("value"))
    return data


def _is_whole(target: _Fields) -> bool:
    offset = target.get("offset")
    if offset is None:
        return True
    begin, end = offset["begin"], offset["end"]
    is_end = end["value"] == 0 and end["@type"] == "EndAlignedCursor"
    return is_end and bool(begin["value"] == 0)


def _places(target: _Fields) -> Iterator[tuple[str, list[_Fields]]]:
    """Yields the resource and the offsets of each text that a selector points at."""
    parts = target.get("selectors") or []
    kind = target.get("@type")
    if kind == _TEXT:
        yield target["resource"], [target["offset"]]
    elif kind == _EACH:
        for part in parts:
            yield from _places(part)
    elif kind == _TOGETHER and all(part.get("@type") == _TEXT for part in parts):
        resources = {part["resource"] for part in parts}
        if len(resources) == 1:
            yield resources.pop(), [part["offset"] for part in parts]


def _document(resource: _Fields, content: _Content, source: Source) -> Document:
    identifier = str(resource.get("@id") or resource.get("@include") or "")
    text = _text_of(resource, source)
    collector, events = MentionCollector(text, step=_STEP), []
    for annotation, offsets in content.of_texts.get(identifier, ()):
        about = content.of_annotations.get(str(annotation.get("@id")), ())
        values = _values([annotation, *about], content.data)
        if kind := _take_type(values):
            spans = [_span(offset, len(text)) for offset in offsets]
            collector.add(spans, kind, attributes=tuple(_texts_by_key(values).items()))
        else:
            message = "an annotation has no data, and so no type"
            events.append(make_event("mention-without-type", step=_STEP, message=message))
    return collector.document(identifier.removesuffix(TEXT), at=source.path, events=events)


def _take_type(values: dict[str, list[Any]]) -> str:
    """Takes the type out of some data: a text, or the key of the first datum, which may be Null."""
    if any(values.get(_TYPE, ())):
        return str(values[_TYPE].pop(0))
    key, stated = next(iter(values.items()), ("", [""]))
    if stated == [None]:
        del values[key]
    return stated[0] if isinstance(stated[0], str) else key


def _texts_by_key(values: Mapping[str, list[Any]]) -> dict[str, str]:
    """Returns the data as texts, with | between several of one key; Null is true."""
    texts_of = {}
    for key, stated in values.items():
        texts = text_facts(
            {str(at): True if value is None else value for at, value in enumerate(stated)}
        )
        if texts:
            texts_of[key] = "|".join(texts.values())
    return texts_of


def _values(
    annotations: Sequence[_Fields], data: Mapping[tuple[str, str | None], tuple[str, Any]]
) -> dict[str, list[Any]]:
    """Returns the different values of some annotations by their keys; Null is ``None``."""
    values: defaultdict[str, list[Any]] = defaultdict(list)
    for annotation in annotations:
        for datum in annotation.get("data", ()):
            if "value" in datum:  # stated in its place, perhaps without an id
                key, value = datum["key"], datum["value"].get("value")
            else:
                key, value = data[datum["set"], datum["@id"]]
            if value not in values[key]:
                values[key].append(value)
    return values


def _text_of(resource: _Fields, source: Source) -> str:
    if "text" in resource:
        return msgspec.convert(resource["text"], str)
    name = msgspec.convert(resource.get("@include"), str)
    folder = Path(source.path).parent.resolve()
    path = (folder / name).resolve()
    if not (is_file(path) and path.is_relative_to(folder)):
        message = f"the text {name} is not in the folder of the store; put it there"
        raise FormatError(message, at=source.path)
    return read_whole_text(Source(path=os.fspath(path), encoding=source.encoding))


def _span(offset: _Fields, length: int) -> Span:
    start, end = (_position(offset[name], length) for name in ("begin", "end"))
    return start, end


def _position(cursor: _Fields, length: int) -> int:
    """Returns the offset of a cursor, which may count from the end of the text, as -1 or 0."""
    value = int(cursor["value"])
    return length + value if cursor["@type"] == "EndAlignedCursor" else value


READER: Final = FormatReader(read=read)
