"""Opening what comes from outside: gzip or not, encodings, binary files, lines without end."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats.pipes import opened

MAX_LINE: Final = 64 * 2**20  # bytes (or characters, where the encoding is not UTF-8)
MAX_FILE: Final = 512 * 2**20  # what is read as a whole: a plain text, a JSON array
STDIN: Final = "-"
GZIP: Final = b"\x1f\x8b"
_BOM: Final = codecs.BOM_UTF8
MAX_DIGITS: Final = 18  # of an integer; more than any offset has
GIVE_ENCODING: Final = "give its encoding with --encoding, or as encoding in a recipe"


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file to read.

    Attributes:
        path: the file; ``"-"`` is standard input.
        encoding: of the text, ``"utf-8"`` by default; a byte order mark at its start is skipped.
        name: what document ids are made from; the file name without its suffixes by default.
    """

    path: str
    encoding: str = "utf-8"
    name: str = ""

    def __post_init__(self) -> None:
        """Checks the encoding, and names the source after its file."""
        try:
            "".encode(self.encoding)  # codecs.lookup would also find base64 and others that are not of text
        except (LookupError, UnicodeError):
            raise UsageError(
                f"the encoding {self.encoding!r} is not known; give one that Python knows, such as utf-8 or latin-1"
            ) from None
        if not self.name:
            object.__setattr__(self, "name", stem(self.path))

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes can be read line by line and decoded after."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig", "ascii")


def stem(path: str) -> str:
    """The name of a file without its folders and its suffix (and without ``.gz``)."""
    if path == STDIN:
        return "stdin"
    name = Path(path).name
    if name.endswith(".gz"):
        name = name[: -len(".gz")]
    return Path(name).stem or name


def telling_folders(paths: Sequence[str], names: Sequence[str]) -> list[str]:
    """Of each file the nearest folder above it that differs among the files of one name; its own where none does."""
    above = [Path(path).resolve().parent.parts[::-1] for path in paths]
    found = []
    for folders, name in zip(above, names, strict=True):
        alike = [others for others, other in zip(above, names, strict=True) if other == name]
        levels = (at for at, column in enumerate(zip(*alike, strict=False)) if len(set(column)) == len(alike))
        found.append(folders[next(levels, 0)])
    return found


@contextmanager
def open_bytes(path: str) -> Iterator[BinaryIO]:
    """Opens a file for reading, unpacked if it is gzip (told by its first bytes, not by its name).

    Raises:
        InputError: the file cannot be opened.
        FormatError: the gzip data are damaged or cut off (raised while reading).
    """
    try:
        raw = sys.stdin.buffer if path == STDIN else opened(Path(path))  # closed below
    except OSError as error:
        raise InputError(f"the file {path} cannot be read: {error.strerror}; check the path") from None
    try:
        buffered = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, raw))
        packed = buffered.peek(2)[:2] == GZIP
        yield cast(BinaryIO, gzip.GzipFile(fileobj=buffered, mode="rb") if packed else buffered)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(f"{path}: the gzip data are damaged or cut off ({error}); fetch the file again") from None
    finally:
        if path != STDIN:
            raw.close()


def lines(source: Source) -> Iterator[tuple[int, str]]:
    r"""Streams a file as ``(line number from 1, line)``, without line ends.

    Only ``\n`` and ``\r\n`` end a line: tokens may hold other characters that Unicode calls line breaks.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a binary file, another encoding, a line beyond `MAX_LINE`.
    """
    with open_bytes(source.path) as stream:
        decoded = _decoded_lines(stream, source) if source.is_utf8 else _text_lines(stream, source)
        for number, line in enumerate(decoded, 1):
            yield number, line[:-1] if line.endswith("\r") else line


def whole_text(source: Source) -> str:
    """Reads a whole file as text; nothing but a byte order mark is left out or changed.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a binary file, another encoding, a file beyond `MAX_FILE`.
    """
    with open_bytes(source.path) as stream:
        data = stream.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise FormatError(f"{source.path} has more than {MAX_FILE:,} bytes; split it into files below that")
    if not source.is_utf8:
        return _decode_other(data, source)
    return _decode(data.removeprefix(_BOM), source, offset=len(_BOM) if data.startswith(_BOM) else 0)


def is_integer(text: str) -> bool:
    """Whether a column holds an integer; `int` would also take digits of other scripts, blanks and underscores."""
    digits = text.removeprefix("-")
    return len(digits) <= MAX_DIGITS and digits.isascii() and digits.isdigit()


def _decoded_lines(stream: BinaryIO, source: Source) -> Iterator[str]:
    number, offset = 0, 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise _too_long(source, number)
        body = line.removesuffix(b"\n")
        if number == 1 and body.startswith(_BOM):
            yield _decode(body[len(_BOM) :], source, offset=len(_BOM), line=1)
        else:
            yield _decode(body, source, offset=offset, line=number)
        offset += len(line)


def _text_lines(stream: BinaryIO, source: Source) -> Iterator[str]:
    text = io.TextIOWrapper(stream, encoding=source.encoding, newline="\n")
    number = 0
    try:
        while line := text.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise _too_long(source, number)
            if "\0" in line:
                raise binary(source.path, f"in line {number}")
            yield line.removesuffix("\n").removeprefix("\ufeff" if number == 1 else "")
    except UnicodeError as error:
        raise FormatError(
            f"{source.path}: after line {number} the text is not {source.encoding} ({error}); {GIVE_ENCODING}"
        ) from None
    finally:
        text.detach()


def _decode(data: bytes, source: Source, *, offset: int, line: int | None = None) -> str:
    zero = data.find(b"\0")
    if zero >= 0:
        raise binary(source.path, f"at byte {offset + zero}")
    try:
        return data.decode("ascii" if source.encoding == "ascii" else "utf-8")
    except UnicodeDecodeError as error:
        place = f" (line {line})" if line is not None else ""
        raise FormatError(
            f"{source.path} is not {source.encoding} text: byte {offset + error.start}{place} is "
            f"0x{data[error.start]:02x}; if it is text, {GIVE_ENCODING}"
        ) from None


def _decode_other(data: bytes, source: Source) -> str:
    try:
        text = data.decode(source.encoding).removeprefix("\ufeff")
    except UnicodeError as error:
        raise FormatError(f"{source.path} is not {source.encoding} text ({error}); {GIVE_ENCODING}") from None
    if "\0" in text:
        raise binary(source.path, f"at character {text.index(chr(0))}")
    return text


def binary(path: str, where: str) -> FormatError:
    """What to say of a file that has a NUL, and where it has it."""
    return FormatError(
        f"{path} is a binary file or text in another encoding (a NUL {where}); if it is text, {GIVE_ENCODING} "
        "(utf-16, for example)"
    )


def _too_long(source: Source, number: int) -> FormatError:
    return FormatError(
        f"{source.path}: line {number} is longer than {MAX_LINE:,} bytes; is this the format you named? "
        "If so, split the line"
    )
