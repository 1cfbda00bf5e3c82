"""Safe streaming of the records of an XML file: no entity is declared or fetched, and memory is bounded."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from html.entities import html5
from typing import Final, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from fascicle.core.files.encodings import AUTO
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, Place

MAX_RECORD: Final = 2**24  # characters and elements of one record
_MAX_DEPTH: Final = 100
_CHUNK: Final = 2**16


def elements(source: Source, tags: Collection[str]) -> Iterator[tuple[Place, Element]]:
    """Streams the elements of some names, the outer ones if they are nested, each as a tree with its place.

    An external document type is never fetched. Named characters (``&alpha;``) are those of HTML; a name that HTML does
    not have is kept as written.

    Args:
        source: the file; gzip is unpacked. If the encoding of the source is ``"auto"``, the XML declaration gives it.
        tags: names of the elements.

    Raises:
        FormatError: no well-formed XML, a declaration of an entity, an element or a tag that is too large or too deep.
    """
    path, read = source.path, 0
    parser = expat.ParserCreate(None if source.encoding == AUTO else source.codec)
    records = _Records(path, frozenset(tags), parser)
    with source.open() as stream:
        more = True
        while more:
            data = stream.read(_CHUNK)
            more, read = bool(data), read + len(data)
            if not read:
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
            if read - parser.CurrentByteIndex > MAX_RECORD:
                message = f"a tag or a comment has more than {MAX_RECORD:,} bytes; is this XML?"
                raise FormatError(message, at=Place(path, parser.CurrentLineNumber), code="too-large")


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


def refuse_entities(content: bytes, source: Source) -> None:
    """Raises a `FormatError` for XML that has a document type, in which entities are declared, in any encoding."""

    def refuse(*_: object) -> NoReturn:
        raise FormatError("the file declares entities, which are not read", at=source.path)

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(content, True)


class _Records:
    """Handlers of the parser that collect the elements of the requested names."""

    def __init__(self, path: str, tags: frozenset[str], parser: expat.XMLParserType) -> None:
        self.done: list[tuple[Place, Element]] = []
        self._path, self._tags, self._parser = path, tags, parser
        self._builder: TreeBuilder | None = None
        self._place = Place(path, 1)
        self._depth = self._size = self._inside = self._began = 0
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._named
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def check(self) -> None:
        """Counts the characters of a record from here, if it has so many bytes that it may have too many."""
        if self._builder is not None and self._bytes > MAX_RECORD:
            self._parser.CharacterDataHandler = self._text

    @property
    def _bytes(self) -> int:
        """Bytes of the record so far."""
        return self._parser.CurrentByteIndex - self._began

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise FormatError(f"elements lie more than {_MAX_DEPTH} deep in each other", at=self._here())
        if self._builder is None:
            if tag not in self._tags:
                return
            self._builder, self._place, self._size, self._inside = TreeBuilder(), self._here(), 0, self._depth
            self._began = self._parser.CurrentByteIndex
            self._parser.CharacterDataHandler = self._builder.data  # no function of ours, which would be called often
        self._grow(1)
        self._builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        if self._builder is not None:
            self._builder.end(tag)
            if self._depth == self._inside:
                self._finish(self._builder.close())
        self._depth -= 1

    def _finish(self, record: Element) -> None:
        if self._bytes > MAX_RECORD:  # of characters there are fewer
            self._size = 0
            self._grow(sum(1 + len(one.text or "") + len(one.tail or "") for one in record.iter()))
        self.done.append((self._place, record))
        self._parser.CharacterDataHandler = self._builder = None

    def _text(self, text: str) -> None:
        if self._builder is not None:
            self._grow(len(text))
            self._builder.data(text)

    def _named(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._text(html5.get(f"{name};", f"&{name};"))

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_RECORD:
            raise FormatError(f"a record has more than {MAX_RECORD:,} characters", at=self._place, code="too-large")

    def _entity(self, name: str, *_: object) -> NoReturn:
        message = f"the file declares an entity, {name!r}, which may make it endless; remove the declaration"
        raise FormatError(message, at=self._here())

    def _here(self) -> Place:
        return Place(self._path, self._parser.CurrentLineNumber)
