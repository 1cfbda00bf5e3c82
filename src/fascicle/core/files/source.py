"""Opening of input files: gzip, encodings, binary files, very long lines."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import msgspec

from fascicle.core.files.encodings import (
    AUTO,
    BY_MARK,
    GUESSED,
    HEAD,
    WESTERN,
    binary_kind,
    bom_encoding,
    is_western,
)
from fascicle.core.files.pipes import is_pipe, long_line, open_file, raw_lines, unreadable
from fascicle.errors import FormatError, UsageError

MAX_LINE: Final = 64 * 2**20  # bytes (or characters, where the encoding is not UTF-8)
MAX_FILE: Final = 512 * 2**20  # for files read as a whole: a plain text, a JSON array
STDIN: Final = "-"
LONGEST_NAME: Final = 255  # bytes of the name of a file; what file systems allow
GZIP: Final = b"\x1f\x8b"
_BLOCK: Final = 2**16  # bytes whose lines are decoded at once
_BOM: Final = codecs.BOM_UTF8
_MAX_DIGITS: Final = 18  # most digits of an integer; more than any offset has
Line = str | FormatError  # its text, or the error if it has none
GIVE_ENCODING: Final = "give its encoding with encoding=NAME, or as encoding in a recipe"


class Meter(msgspec.Struct, kw_only=True):
    """Counter of the bytes read from files, compressed as they are.

    Attributes:
        read: number of bytes so far.
    """

    read: int = 0


class _Metered(io.RawIOBase):
    """A file that counts the bytes read from it."""

    def __init__(self, raw: io.RawIOBase, meter: Meter) -> None:
        self._raw, self._meter = raw, meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._raw.readinto(buffer) or 0
        self._meter.read += count
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file to read.

    Attributes:
        path: the file; ``"-"`` is standard input.
        encoding: encoding of the text; a byte order mark at its start is skipped. ``"auto"`` is the
            encoding of the byte order mark, else UTF-8, else Windows-1252 if `is_western` accepts
            it and ``told`` is given.
        name: prefix for document ids; by default the file name without its suffixes.
        told: function that is called with the encoding, and how it was found, if ``"auto"`` is not
            UTF-8.
        meter: counter of the bytes read, if the path is a regular file.
        bad: function that is called with the error of a part with bad bytes, which is then read
            with U+FFFD for them.
    """

    path: str
    encoding: str = AUTO
    name: str = ""
    told: Callable[[str, str], None] | None = None
    meter: Meter | None = None
    bad: Callable[[FormatError], None] | None = None

    def __post_init__(self) -> None:
        """Checks the encoding, and sets the name from the file."""
        try:
            # codecs.lookup would also accept base64 and others that are no text encodings
            "".encode(self.codec)
            b"a".decode(self.codec, errors="replace")  # fails for IDNA, which is for host names
        except (LookupError, UnicodeError):
            raise UsageError(
                f"the encoding {self.encoding!r} is not known; give one that Python knows, such "
                "as utf-8 or latin-1",
                code="unknown-name",
            ) from None
        if not self.name:
            object.__setattr__(self, "name", stem(self.path))

    @property
    def is_utf8(self) -> bool:
        """True if the bytes can be split into lines before decoding."""
        return self.codec in ("utf-8", "ascii")

    @property
    def codec(self) -> str:
        """Python's name of the encoding; a byte order mark of UTF-8 is handled elsewhere."""
        return (
            "utf-8"
            if self.encoding == AUTO
            else codecs.lookup(self.encoding).name.removesuffix("-sig")
        )

    @property
    def is_bytewise(self) -> bool:
        """True if a bad byte affects only its line: UTF-8, and encodings of one byte for each
        character.
        """
        if self.is_utf8:
            return True
        decoded = bytes(range(256)).decode(self.codec, errors="replace")
        return len(decoded) == 256 and decoded[:128] == bytes(range(128)).decode("ascii")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Iterates over numbered lines; see the function `read_lines`."""
        return read_lines(self)

    def text(self) -> str:
        """Reads the whole file; see `read_whole_text`."""
        return read_whole_text(self)

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Opens the bytes of the file; see `open_bytes`."""
        return open_bytes(self.path, meter=self.meter)


def stem(path: str) -> str:
    """Returns the name of a file without its folders and its suffix (and without ``.gz``)."""
    if path == STDIN:
        return "stdin"
    name = Path(path).name
    if name.endswith(".gz"):
        name = name[: -len(".gz")]
    return Path(name).stem or name


def suffix(path: str) -> str:
    """Returns the suffix of a file in lower case, without ``.gz``."""
    name = path.lower().removesuffix(".gz")
    return Path(name).suffix


def distinguishing_folders(paths: Sequence[str], names: Sequence[str]) -> list[str]:
    """Returns for each file the nearest parent folder that distinguishes files of one name; else
    its own folder.
    """
    above = [Path(path).resolve().parent.parts[::-1] for path in paths]
    suffixes = []
    for folders, name in zip(above, names, strict=True):
        alike = [parents for parents, other in zip(above, names, strict=True) if other == name]
        levels = (
            at
            for at, column in enumerate(zip(*alike, strict=False))
            if len(set(column)) == len(alike)
        )
        suffixes.append(folders[next(levels, 0)])
    return suffixes


def file_bytes(path: str) -> bytes:
    """Reads the content of a small file unchanged.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


@contextmanager
def open_bytes(path: str, *, meter: Meter | None = None) -> Iterator[BinaryIO]:
    """Opens a file for reading, unpacked if it is gzip (detected by its first bytes, not by its
    name).

    Raises:
        InputError: the file cannot be opened.
        FormatError: the gzip data are damaged or cut off (raised while reading).
    """
    try:
        raw = sys.stdin.buffer if path == STDIN else _opened(path, meter)
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        buffered = (
            raw
            if isinstance(raw, io.BufferedReader)
            else io.BufferedReader(cast(io.RawIOBase, raw))
        )
        packed = buffered.peek(2)[:2] == GZIP
        yield cast(BinaryIO, gzip.GzipFile(fileobj=buffered, mode="rb") if packed else buffered)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"the gzip data are damaged or cut off ({error}); fetch the file again"
        raise FormatError(message, at=path, code="damaged") from None
    finally:
        if path != STDIN:
            raw.close()


def _opened(path: str, meter: Meter | None) -> BinaryIO:
    if meter is None or is_pipe(path):  # the length of a pipe is unknown
        return open_file(Path(path))
    return cast(BinaryIO, _Metered(Path(path).open("rb", buffering=0), meter))


def read_lines(source: Source) -> Iterator[tuple[int, str]]:
    r"""Streams a file as ``(line number from 1, line)``, without line ends.

    A line ends with ``\n``, ``\r\n`` or ``\r``: tokens may hold other characters that Unicode calls
    line breaks. A byte order mark that begins a line is removed: files with a mark were joined.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a binary file, another encoding, a line beyond `MAX_LINE`.
    """
    for number, line in read_lines_or_errors(source):
        yield number, line_text(line)


def read_lines_or_errors(source: Source) -> Iterator[tuple[int, Line]]:
    """Iterates like `read_lines`, but yields the error of a line that is too long or invalid, and
    continues.

    Raises:
        InputError: the file cannot be opened.
        FormatError: damaged gzip data, or an encoding after whose errors reading cannot continue.
    """
    return enumerate(chain.from_iterable(read_blocks(source)), 1)


def read_blocks(source: Source) -> Iterator[Sequence[Line]]:
    """Iterates over the lines of `read_lines_or_errors`, some at a time."""
    with open_bytes(source.path, meter=source.meter) as stream:
        source = _looked_at(stream, source)
        if source.is_bytewise:
            yield from _byte_blocks(stream, source)
        else:
            yield from zip(_text_lines(stream, source))


def line_text(line: Line) -> str:
    """Returns the text of a line.

    Raises:
        FormatError: the error of the line.
    """
    if isinstance(line, FormatError):
        raise line
    return line


def read_whole_text(source: Source) -> str:
    """Reads a whole file as text; only a byte order mark is removed.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a binary file, another encoding, a file beyond `MAX_FILE`.
    """
    with open_bytes(source.path, meter=source.meter) as stream:
        source = _looked_at(stream, source)
        data = stream.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        message = f"{source.path} has more than {MAX_FILE:,} bytes; split it into files below that"
        raise FormatError(message, file=source.path, code="too-large")
    if not source.is_utf8:
        return _decode_other(data, source)
    offset = len(_BOM) if data.startswith(_BOM) else 0
    return line_text(_Decoder(source).decoded(data[offset:], offset=offset))


def is_file(path: Path) -> bool:
    """True if there is a file; false too if the name, which content may state, is too long for
    one.
    """
    with suppress(OSError):
        return path.is_file()
    return False


def is_integer(text: str) -> bool:
    """True if a column holds an integer; `int` would also accept other digits, blanks and
    underscores.
    """
    digits = text.removeprefix("-")
    return len(digits) <= _MAX_DIGITS and digits.isascii() and digits.isdigit()


def _byte_blocks(stream: BinaryIO, source: Source) -> Iterator[Sequence[Line]]:
    decoder, number, offset, rest = _Decoder(source), 1, 0, b""
    # a pipe gives what it has, so that nothing waits for a whole block
    read_some = cast(io.BufferedReader, stream).read1
    while len(rest) < _BLOCK and (more := read_some(_BLOCK)):
        data = rest + more
        end = data.rfind(b"\n") + 1
        block, rest = data[:end], data[end:]
        if (plain := decoder.plain_lines(block)) is not None:
            yield plain
            number += len(plain)
        else:
            for line in _odd_lines(io.BytesIO(block).readline, decoder, (number, offset)):
                yield (line,)
                number += 1
        offset += end
    readline = partial(_read_on, io.BytesIO(rest), stream)
    yield from zip(_odd_lines(readline, decoder, (number, offset)))


def _read_on(head: BinaryIO, tail: BinaryIO, most: int) -> bytes:
    """Reads a line of two streams that follow each other."""
    line = head.readline(most)
    is_whole = line.endswith(b"\n") or len(line) == most
    return line if is_whole else line + tail.readline(most - len(line))


def _odd_lines(
    readline: Callable[[int], bytes], decoder: _Decoder, start: tuple[int, int]
) -> Iterator[Line]:
    """Yields lines of any kind; ``start`` is the number of the first, and its offset in the
    file.
    """
    number, offset = start
    for raw, dropped in raw_lines(readline, most=MAX_LINE, ends=(b"\n", b"\r")):
        if dropped:
            yield long_line(decoder.path, number, most=MAX_LINE)
            number, offset = number + 1, offset + dropped
            continue
        # "\r\r\n" comes from a program that changed "\n" in "\r\n" to "\r\n".
        body = raw.removesuffix(b"\n").rstrip(b"\r")
        at = offset
        for part in body.split(b"\r") if b"\r" in body else (body,):
            yield _without_mark(decoder.decoded(part, offset=at, line=number))
            number += 1
            at += len(part) + 1
        offset += len(raw)


def _without_mark(line: Line) -> Line:
    return line.lstrip("\ufeff") if isinstance(line, str) else line


def _text_lines(stream: BinaryIO, source: Source) -> Iterator[Line]:
    text = io.TextIOWrapper(stream, encoding=source.encoding, newline="\n")
    number = 0
    try:
        for raw, dropped in raw_lines(text.readline, most=MAX_LINE, ends=("\n", "\r")):
            if dropped:
                number += 1
                yield long_line(source.path, number, most=MAX_LINE)
                continue
            for part in raw.removesuffix("\n").rstrip("\r").split("\r"):
                number += 1
                line = nul_error(source.path, f"in line {number}") if "\0" in part else part
                yield _without_mark(line)
    except UnicodeError as error:
        message = (
            f"after line {number} the text is not {source.encoding} ({error}); {GIVE_ENCODING}"
        )
        raise FormatError(message, at=source.path, code="encoding") from None
    finally:
        text.detach()


class _Decoder:
    """Decoder of the bytes of a file, part by part, that guesses the encoding if requested and
    needed.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._codec = source.codec
        self.path = source.path
        self._may_guess = (
            source.encoding == AUTO and source.told is not None and source.path != STDIN
        )

    def plain_lines(self, block: bytes) -> list[str] | None:
        """Returns the lines of a block, without their ends; ``None`` if some need a closer look.

        Args:
            block: whole lines, with their ends.
        """
        is_odd = b"\0" in block or block.count(b"\r") != block.count(b"\r\n")
        if is_odd or len(block) > MAX_LINE:
            return None
        try:
            text = block.decode(self._codec)
        except UnicodeDecodeError:
            return None
        return None if "\ufeff" in text else text.replace("\r\n", "\n").split("\n")[:-1]

    def decoded(self, data: bytes, *, offset: int, line: int | None = None) -> Line:
        """Returns the text of some bytes, or the error if they have none.

        Args:
            data: some bytes of the file.
            offset: their offset in the file.
            line: line number, if they are a line.
        """
        path, place = self.path, f" (line {line})" if line is not None else ""
        zero = data.find(b"\0")
        if zero >= 0:
            return self._bad(data, nul_error(path, f"at byte {offset + zero}{place}"))
        try:
            return data.decode(self._codec)
        except UnicodeDecodeError as error:
            bad = error.start
        if self._guess():
            return self.decoded(data, offset=offset, line=line)
        message = (
            f"{path} is not {self._source.codec} text: byte {offset + bad}{place} is "
            f"0x{data[bad]:02x}; if it is text, {GIVE_ENCODING}"
        )
        return self._bad(data, FormatError(message, file=path, line=line, code="encoding"))

    def _bad(self, data: bytes, error: FormatError) -> Line:
        if self._source.bad is None:
            return error
        self._source.bad(error)
        return data.decode(self._codec, errors="replace").replace("\0", "\ufffd")

    def _guess(self) -> bool:
        if not self._may_guess:
            return False
        self._may_guess = False  # the decision holds to the end of the file, guessed or not
        with open_bytes(self._source.path) as stream:
            if not is_western(iter(partial(stream.readline, MAX_LINE), b"")):
                return False
        self._codec = WESTERN
        _tell(self._source, WESTERN, GUESSED)
        return True


def _looked_at(stream: BinaryIO, source: Source) -> Source:
    """Returns the source with the encoding of its byte order mark; raises an error for a file
    that is no text.
    """
    head = cast(io.BufferedReader, stream).peek(HEAD)[:HEAD]
    if kind := binary_kind(head):
        raise FormatError(f"{source.path} is {kind}", file=source.path)
    encoding = bom_encoding(head) if source.encoding == AUTO else ""
    if not encoding:
        return source
    _tell(source, encoding, BY_MARK)
    return replace(source, encoding=encoding)


def _tell(source: Source, encoding: str, how: str) -> None:
    if source.told is not None:
        source.told(encoding, how)


def _decode_other(data: bytes, source: Source) -> str:
    try:
        text = data.decode(source.encoding).removeprefix("\ufeff")
    except UnicodeError as error:
        message = f"{source.path} is not {source.encoding} text ({error}); {GIVE_ENCODING}"
        raise FormatError(message, file=source.path, code="encoding") from None
    if "\0" in text:
        raise nul_error(source.path, f"at character {text.index(chr(0))}")
    return text


def nul_error(path: str, where: str) -> FormatError:
    """Returns the error for a file that contains a NUL character."""
    return FormatError(
        f"{path} is a binary file or text in another encoding (a NUL {where}); if it is text, "
        f"{GIVE_ENCODING} (utf-16, for example)",
        file=path,
        code="encoding",
    )
