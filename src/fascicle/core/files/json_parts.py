"""Parser for JSON of any size, part by part: one field of an object or one element of an array in memory at a time."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from fascicle.errors import FormatError, Place

_MAX_PART: Final = 2**24  # most characters of a value that is read as a whole
_CHUNK: Final = 2**16  # bytes
_BLANK: Final = " \t\r\n"
_NUMBER: Final = re.compile(r"[-+.0-9eE]*")
_CLOSED: Final = {"{": "}", "[": "]"}
# Numbers stay strings, so that none is too large; the reader of a part checks control characters.
_SCANNER: Final = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)


class JsonParts:
    """Cursor over one JSON value. The caller consumes each field or element by a method before the next one.

    It raises errors of JSON syntax; the content of a part that `text` returns is for the caller to check.
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
                    f"a value has more than {self._most:,} characters, or does not end; divide it, or fetch it again",
                    at=self._where,
                    code="too-large",
                )
            if end >= 0:
                found, self._at = self._text[self._at : end], end
                return found
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
        may_go_on = not self._ended and _NUMBER.fullmatch(self._text, end)  # 1 may be the beginning of 1.5
        return -1 if may_go_on else end

    def _inside(self, opening: str) -> Iterator[None]:
        if self._next() != opening:
            raise self._broken(f"a value begins with {self._next()!r} where {opening!r} is expected")
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
                raise self._broken(f"a value ends with {following!r} where ',' or {closing!r} is expected")

    def _next(self) -> str:
        """Returns the next character that is not blank, and moves to it; empty at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Reads more input; larger chunks for long parts, so that their beginning is not scanned too often."""
        if self._ended:
            return False
        data = self._stream.read(max(_CHUNK, len(self._text) - self._at))
        try:
            self._text, self._at = self._text[self._at :] + self._decode(data, final=not data), 0
        except UnicodeDecodeError:
            raise self._broken("it is not in UTF-8") from None
        self._ended = not data
        return bool(data)

    def _broken(self, what: str) -> FormatError:
        return FormatError(f"the file is no JSON of this form: {what}; fetch it again", at=self._where)
