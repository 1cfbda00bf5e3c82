"""Annotations in the Web Annotation Data Model of the W3C (JSON-LD), beside their texts.

The model is described at https://www.w3.org/TR/annotation-model/. Its positions count code points.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from fascicle.core.document import Document, Link
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source, is_file, read_whole_text
from fascicle.core.mention import Span, parse_link
from fascicle.errors import FormatError
from fascicle.formats.collect import MentionCollector
from fascicle.formats.europepmc import Quote, quoted_places
from fascicle.formats.handlers import TEXT, FormatReader
from fascicle.formats.offset_units import AUTO
from fascicle.formats.report import ReadReport

_STEP: Final = "web-annotation"
MARK: Final = re.compile(r'"@context"\s*:\s*(?:\[[^\]]*)?"https?://www\.w3\.org/ns/anno')
_OF_BYTES: Final = "DataPositionSelector"
_CHARACTERS: Final = re.compile(r"char=(\d{1,12}),(\d{1,12})")  # of plain text, RFC 5147
_REMARKS: Final = (
    "commenting",
    "describing",
    "replying",
    "questioning",
    "editing",
    "moderating",
    "assessing",
)


class _Target(NamedTuple):
    """What an annotation is about: an address, and selectors of its text."""

    source: str
    selectors: list[Any]


class _Body(NamedTuple):
    """What an annotation says of it."""

    type: str
    links: tuple[Link, ...]
    attributes: tuple[tuple[str, str], ...]


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields a document for each text that the annotations of a file are about, in the order of the
    file.

    The text is the file in the same folder that has the last name of the address; the id is that
    name without suffix. The first tag is the type, and further ones are attributes; resources are
    links. Without a tag, the type is the vocabulary of the first resource. Selections inside a
    selection (``refinedBy``) are left out (``offset-outside``).

    Args:
        source: an annotation, a page or a collection of them, a list, or JSON Lines.
        options: none.
        report: a text that is not there sets its document aside.

    Raises:
        FormatError: no JSON.
    """
    from fascicle.formats.records import read_records  # late: it imports the readers of tools

    by_address: dict[str, list[tuple[Mapping[str, Any], _Target]]] = defaultdict(list)
    for place, value in read_records(source):
        with report.aside.one():
            if isinstance(value, FormatError):
                raise value
            for annotation in _annotations(value):
                for target in _targets(annotation, place):
                    by_address[target.source].append((annotation, target))
    for address, stated in by_address.items():
        with report.aside.one():
            yield _document(address, stated, source)


def _annotations(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yields the annotations in a value: itself, or the items of a page, of the first page, or
    of a graph.
    """
    if isinstance(value, list):
        for part in value:
            yield from _annotations(part)
    elif isinstance(value, dict):
        for name in ("items", "first", "@graph"):
            if isinstance(value.get(name), list | dict):
                yield from _annotations(value[name])
                return
        yield value


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _address(value: Any) -> str:
    """Returns the address of a resource: itself, or that of an object."""
    if isinstance(value, dict):
        value = value.get("source") or value.get("id") or value.get("@id") or ""
    return _address(value) if isinstance(value, dict) else str(value)


def _targets(annotation: Mapping[str, Any], place: str) -> Iterator[_Target]:
    for target in _as_list(annotation.get("target")):
        address, _, fragment = _address(target).partition("#")
        if not address:
            raise FormatError(
                "a target of an annotation has no source; give the address of its text", at=place
            )
        selectors = _as_list(target.get("selector")) if isinstance(target, dict) else []
        yield _Target(address, [*selectors, {"value": fragment}] if fragment else selectors)
    if "target" not in annotation:
        raise FormatError(
            "an annotation has no target; give annotations as the W3C describes them", at=place
        )


def _document(
    address: str, stated: list[tuple[Mapping[str, Any], _Target]], source: Source
) -> Document:
    name = PurePosixPath(unquote(urlsplit(address).path)).name
    path = _text_path(name, address, source)
    text = read_whole_text(Source(path=os.fspath(path), encoding=source.encoding))
    collector, events = MentionCollector(text, step=_STEP, unit=AUTO), []
    for annotation, target in stated:
        body, (span, quoted) = _body(annotation), _span(target, text)
        if span is None:
            collector.drop(f"an annotation of {address} selects no place of the text")
        elif body.type:
            collector.add(
                [span], body.type, expected=quoted, links=body.links, attributes=body.attributes
            )
        else:
            message = "an annotation has no tag, and no resource whose vocabulary is known"
            events.append(make_event("mention-without-type", step=_STEP, message=message))
    return collector.document(
        Path(name).stem if name.endswith(TEXT) else name, at=os.fspath(path), events=events
    )


def _text_path(name: str, address: str, source: Source) -> Path:
    """Returns the file with the text of an address, beside the file of annotations."""
    stem = name.removesuffix(TEXT)
    own = Path(source.path)
    for beside in (name, f"{stem}{TEXT}", f"{Path(name).stem}{TEXT}") if stem else ():
        path = own.parent / beside
        if is_file(path) and path.resolve() != own.resolve():
            return path
    message = (
        f"the text of the annotations of {address} is not here; put it beside them as "
        f"{stem or 'NAME'}{TEXT}"
    )
    raise FormatError(message, at=source.path)


def _span(target: _Target, text: str) -> tuple[Span | None, str | None]:
    """Returns the range of characters that a target selects, and the text that it quotes."""
    selectors = [selector for selector in target.selectors if isinstance(selector, dict)]
    # whose offsets are those inside the outer selection
    if any("refinedBy" in selector for selector in selectors):
        return None, None
    quotes = (selector for selector in selectors if isinstance(selector.get("exact"), str))
    quote = next(quotes, {})
    exact = quote.get("exact")
    for selector in selectors:
        if span := _position(selector, text):
            return span, exact
    if exact is None:
        return None, None
    prefix, suffix = (str(quote.get(name) or "") for name in ("prefix", "suffix"))
    query = Quote(exact=exact, prefix=prefix, postfix=suffix)
    return next(quoted_places(query, text), None), None


def _position(selector: Mapping[str, Any], text: str) -> Span | None:
    """Returns the range in a selector of positions, or in a fragment of an address."""
    start, end = selector.get("start"), selector.get("end")
    if type(start) is int and type(end) is int:
        data = text.encode() if selector.get("type") == _OF_BYTES else b""
        if not 0 <= start <= end <= len(data):
            return start, end
        return len(data[:start].decode(errors="ignore")), len(data[:end].decode(errors="ignore"))
    match = _CHARACTERS.search(str(selector.get("value", "")))
    return (int(match[1]), int(match[2])) if match else None


def _body(annotation: Mapping[str, Any]) -> _Body:
    """Returns type, links and attributes: of a tag, of resources, and of further values and
    remarks.
    """
    tags, links, attributes = list[str](), list[Link](), list[tuple[str, str]]()
    values = [{"value": value} for value in _as_list(annotation.get("bodyValue"))]
    for body in (*_as_list(annotation.get("body")), *values):
        facts = body if isinstance(body, dict) else {}
        value = facts.get("value")
        if not isinstance(value, str | int | float):
            if address := _address(body):
                links.append(_link(address))
            continue
        purpose = str(facts.get("purpose") or annotation.get("motivation") or "")
        if purpose in _REMARKS:
            attributes.append((purpose, str(value)))
        else:
            tags.append(str(value))

    if links and not tags and links[0].ontology:
        tags.append(links[0].ontology)
    attributes += [("tag", tag) for tag in tags[1:]]
    return _Body(tags[0] if tags else "", tuple(links), tuple(attributes))


def _link(address: str) -> Link:
    from fascicle.terms.terms import curie  # late: not all annotations have resources

    return parse_link(curie(address) or address)


READER: Final = FormatReader(read=read)
