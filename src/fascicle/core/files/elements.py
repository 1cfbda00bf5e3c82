"""Safe streaming of large files: the records of XML, and the parts of JSON, one of them in memory
at a time.

No entity of XML is declared or fetched. A part of JSON is one field of an object or one element of
an array.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext, suppress
from html.entities import html5
from typing import BinaryIO, Final, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from fascicle.core.files.encodings import AUTO
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, Place

MAX_RECORD: Final = 2**24  # characters and elements of one record
_MAX_DEPTH: Final = 100
_CHUNK: Final = 2**16


def elements(source: Source, tags: Collection[str]) -> Iterator[tuple[Place, Element]]:
    """Streams the elements of some names, the outer ones if they are nested, each as a tree with
    its place.

    An external document type is never fetched. Named characters (``&alpha;``) are those of HTML; a
    name that HTML does not have is kept as written.

    Args:
        source: the file; gzip is unpacked. If the encoding of the source is ``"auto"``, the XML
            declaration gives it.
        tags: names of the elements.

    Raises:
        FormatError: no well-formed XML, a declaration of an entity, an element or a tag that is too
            large or too deep.
    """
    path, size = source.path, 0
    parser = expat.ParserCreate(None if source.encoding == AUTO else source.codec)
    records = _Records(path, frozenset(tags), parser)
    with source.open() as stream:
        more = True
        while more:
            data = stream.read(_CHUNK)
            more, size = bool(data), size + len(data)
            if not size:
                return  # an empty file has no elements
            try:
                parser.Parse(data, not more)
            except FormatError:
                yield from records.done
                raise
            except (expat.ExpatError, LookupError, ValueError) as error:
                yield from records.done  # records before the damage are complete
                message = f"the file is no well-formed XML ({error}); fetch it again"
                raise FormatError(message, at=Place(path, parser.CurrentLineNumber)) from None
            yield from records.done
            records.done.clear()
            records.check()
            if size - parser.CurrentByteIndex > MAX_RECORD:
                message = f"a tag or a comment has more than {MAX_RECORD:,} bytes; is this XML?"
                raise FormatError(
                    message, at=Place(path, parser.CurrentLineNumber), code="too-large"
                )


def elements_in(text: str, tags: Collection[str], *, path: str) -> list[tuple[Place, Element]]:
    """Returns the elements of a file that was read already, see `elements`.

    Args:
        text: of the file.
        tags: names of the elements.
        path: of the file, for messages.

    Raises:
        FormatError: see `elements`.
    """
    parser = expat.ParserCreate("utf-8")
    records = _Records(path, frozenset(tags), parser)
    try:
        parser.Parse(text.encode(), True)
    except (expat.ExpatError, ValueError) as error:
        message = f"the file is no well-formed XML ({error}); fetch it again"
        raise FormatError(message, at=Place(path, parser.CurrentLineNumber)) from None
    return records.done


def refuse_entities(content: bytes, source: Source, *, is_xml: bool = True) -> None:
    """Raises a `FormatError` for XML that has a document type, in which entities are declared, in
    any encoding.

    Args:
        content: of a file, or of a part of one.
        source: for the message.
        is_xml: false for a part that may be of any kind, such as a picture or a web page: it may
            have a document type without entities, and need not be XML.
    """

    def refuse(*_: object) -> NoReturn:
        raise FormatError("the file declares entities, which are not read", at=source.path)

    parser = expat.ParserCreate()
    if is_xml:
        parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    with nullcontext() if is_xml else suppress(expat.ExpatError, LookupError, ValueError):
        parser.Parse(content, True)


def _nothing(*_: object) -> None:
    """Does nothing."""


class _Records:
    """Handlers of the parser that collect the elements of the requested names."""

    def __init__(self, path: str, tags: frozenset[str], parser: expat.XMLParserType) -> None:
        self.done: list[tuple[Place, Element]] = []
        self._path, self._tags, self._parser = path, tags, parser
        self._builder: TreeBuilder | None
        self._open: Callable[[str, dict[str, str]], object]
        self._close: Callable[[str], object]
        self._place = Place(path, 1)
        self._depth = self._size = self._began = 0
        self._leave()
        parser.buffer_text = True
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._entity_reference
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def check(self) -> None:
        """Counts what a record has from here, if it has so many bytes that it may have too much."""
        if self._builder is not None and self._bytes > MAX_RECORD:
            self._parser.CharacterDataHandler, self._parser.StartElementHandler = (
                self._text,
                self._start_counted,
            )

    @property
    def _bytes(self) -> int:
        """Bytes of the record so far."""
        return self._parser.CurrentByteIndex - self._began

    def _leave(self) -> None:
        """Goes on outside of records, where elements are only counted."""
        self._builder, self._inside = None, -1
        self._open = self._close = _nothing
        self._parser.CharacterDataHandler, self._parser.StartElementHandler = (
            None,
            self._start_outside,
        )

    def _start_outside(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in self._tags:
            self._builder, self._place, self._size, self._inside = (
                TreeBuilder(),
                self._current_place(),
                0,
                self._depth,
            )
            self._began = self._parser.CurrentByteIndex
            self._open, self._close = self._builder.start, self._builder.end
            # no function of ours, which would be called often
            self._parser.CharacterDataHandler = self._builder.data
            self._parser.StartElementHandler = self._start
        self._start(tag, attributes)

    # this and the next are called for every element
    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise FormatError(
                f"elements lie more than {_MAX_DEPTH} deep in each other", at=self._current_place()
            )
        self._open(tag, attributes)

    def _end(self, tag: str) -> None:
        self._close(tag)
        self._depth -= 1
        if self._depth == self._inside:
            self._finish()

    def _start_counted(self, tag: str, attributes: dict[str, str]) -> None:
        self._grow(1)
        self._start(tag, attributes)

    def _finish(self) -> None:
        assert self._builder is not None
        record = self._builder.close()
        if self._bytes > MAX_RECORD:  # of characters and elements there are fewer
            self._size = 0
            self._grow(
                sum(
                    1 + len(element.text or "") + len(element.tail or "")
                    for element in record.iter()
                )
            )
        self.done.append((self._place, record))
        self._leave()

    def _text(self, text: str) -> None:
        if self._builder is not None:
            self._grow(len(text))
            self._builder.data(text)

    def _entity_reference(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._text(html5.get(f"{name};", f"&{name};"))

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_RECORD:
            raise FormatError(
                f"a record has more than {MAX_RECORD:,} characters",
                at=self._place,
                code="too-large",
            )

    def _entity(self, name: str, *_: object) -> NoReturn:
        message = (
            f"the file declares an entity, {name!r}, which may make it endless; remove the "
            "declaration"
        )
        raise FormatError(message, at=self._current_place())

    def _current_place(self) -> Place:
        return Place(self._path, self._parser.CurrentLineNumber)


_MAX_PART: Final = 2**24  # most characters of a value that is read as a whole
_BYTES: Final = 2**16  # bytes
_BLANK: Final = " \t\r\n"
_NUMBER: Final = re.compile(r"[-+.0-9eE]*")
_CLOSED: Final = {"{": "}", "[": "]"}
# Numbers stay strings, so that none is too large; the reader of a part checks control characters.
_SCANNER: Final = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)


class JsonParts:
    """Cursor over one JSON value. The caller consumes each field or element by a method before the
    next one.

    It raises errors of JSON syntax; the content of a part that `text` returns is for the caller to
    check.
    """

    def __init__(self, stream: BinaryIO, *, at: Place | str, most: int = _MAX_PART) -> None:
        """Starts at the first value of a file.

        Args:
            stream: bytes in UTF-8, with or without a byte order mark.
            at: path or place of the file, for messages.
            most: most characters of one part.
        """
        self._stream, self._where, self._most = stream, at, most
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text, self._at, self._ended = "", 0, False

    def fields(self) -> Iterator[str]:
        """Yields the names of the fields of an object, in their order.

        Raises:
            FormatError: the value is no object, or no JSON.
        """
        for _ in self._inside("{"):
            name = json.loads(self.text(), strict=False) if self._next() == '"' else None
            if name is None or self._next() != ":":
                raise self._broken("an object has names in quotes, each with a colon and a value")
            self._at += 1
            yield name

    def elements(self) -> Iterator[None]:
        """Yields ``None`` for each element of an array.

        Raises:
            FormatError: the value is no array, or no JSON.
        """
        yield from self._inside("[")

    def text(self) -> str:
        """Returns the source text of a value.

        Raises:
            FormatError: the value is no JSON, or has more than ``most`` characters.
        """
        self._next()
        while True:
            end = self._end()
            if end - self._at > self._most or (end < 0 and len(self._text) - self._at > self._most):
                raise FormatError(
                    f"a value has more than {self._most:,} characters, or does not end; divide "
                    "it, or fetch it again",
                    at=self._where,
                    code="too-large",
                )
            if end >= 0:
                part, self._at = self._text[self._at : end], end
                return part
            if self._ended:
                raise self._broken("a value does not end, or is none")
            self._more()

    def skip(self) -> None:
        """Skips a value; an object or an array may have any size."""
        opening = self._next()
        if opening not in _CLOSED:
            self.text()
        for _ in self.fields() if opening == "{" else self.elements() if opening == "[" else ():
            self.text()

    def close(self) -> None:
        """Checks that the input is used up.

        Raises:
            FormatError: other characters than blanks follow the value.
        """
        if self._next():
            raise self._broken("something stands behind its end")

    def _end(self) -> int:
        """Returns the end of the current value; -1 if it is not yet known."""
        try:
            end = _SCANNER.raw_decode(self._text, self._at)[1]
        except RecursionError:
            raise self._broken("values lie too deep in each other") from None
        except ValueError:
            return -1
        # 1 may be the beginning of 1.5
        may_go_on = not self._ended and _NUMBER.fullmatch(self._text, end)
        return -1 if may_go_on else end

    def _inside(self, opening: str) -> Iterator[None]:
        if self._next() != opening:
            raise self._broken(
                f"a value begins with {self._next()!r} where {opening!r} is expected"
            )
        self._at += 1
        closing = _CLOSED[opening]
        if self._next() == closing:
            self._at += 1
            return
        while True:
            yield
            following = self._next()
            self._at += 1
            if following == closing:
                return
            if following != ",":
                raise self._broken(
                    f"a value ends with {following!r} where ',' or {closing!r} is expected"
                )

    def _next(self) -> str:
        """Returns the next character that is not blank, and moves to it; empty at the end of the
        file.
        """
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Reads more input; larger chunks for long parts, so that their beginning is not scanned
        too often.
        """
        if self._ended:
            return False
        data = self._stream.read(max(_BYTES, len(self._text) - self._at))
        try:
            self._text, self._at = self._text[self._at :] + self._decode(data, final=not data), 0
        except UnicodeDecodeError:
            raise self._broken("it is not in UTF-8") from None
        self._ended = not data
        return bool(data)

    def _broken(self, what: str) -> FormatError:
        return FormatError(
            f"the file is not JSON of this form: {what}; fetch it again, or save a list of names "
            "as CSV",
            at=self._where,
        )
