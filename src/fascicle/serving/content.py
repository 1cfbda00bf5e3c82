"""Parsing of requests: content within size limits, names, parameters, and the media type of the
response.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from fascicle.errors import FormatError, Place, UsageError
from fascicle.formats.catalogue import Format, format_named
from fascicle.serving.messages import Options
from fascicle.serving.problems import ProblemError
from fascicle.serving.records import OLDER, twice_named
from fascicle.settings.base import in_words
from fascicle.settings.serving import ServeSettings
from fascicle.terms.curation import HEADER, CurationRule, make_rule

SLOWEST: Final = (
    # minimum bytes per second from a client, or to it, in addition to the allowed seconds of
    # silence
    4_096
)
_GRACE: Final = 0.1  # seconds of silence before a request may be cancelled
_TRIES: Final = 5
_GZIP: Final = 31  # what zlib calls the format of gzip, with the largest window
_UNPACKED: Final = 1 << 16  # bytes that are unpacked at once


class SlowError(Exception):
    """Error raised if the content of a request arrives too slowly, or if its place is needed for
    another request.
    """


class WaitingRequests:
    """Requests that wait for content from their clients, ordered by the time they have been
    silent, longest first.
    """

    def __init__(self) -> None:
        """Creates an empty collection."""
        self._since: dict[asyncio.Timeout, float] = {}

    async def pieces(
        self, stream: AsyncGenerator[bytes, None], *, idle: float, paced: bool = True
    ) -> AsyncGenerator[bytes, None]:
        """Yields the pieces of a content; only the time spent on waiting for the client counts for
        the limit.

        Args:
            stream: source of the pieces.
            idle: seconds that the client may be silent.
            paced: whether the whole content has a time limit, which grows with the bytes received.

        Raises:
            SlowError: the content did not arrive in time.
        """
        loop, waited, size = asyncio.get_running_loop(), 0.0, 0
        async with aclosing(stream):
            while True:
                begun = loop.time()
                seconds = idle + size / SLOWEST - waited if paced else idle
                try:
                    async with asyncio.timeout(min(idle, seconds)) as limit:
                        self._since[limit] = begun
                        try:
                            piece = await anext(stream)
                        finally:
                            self._since.pop(limit, None)
                except TimeoutError:
                    raise SlowError from None
                except StopAsyncIteration:
                    return
                waited, size = waited + loop.time() - begun, size + len(piece)
                yield piece

    async def make_room(self) -> bool:
        """Cancels the request that has been silent longest; returns true if there was one."""
        now = asyncio.get_running_loop().time
        for _ in range(_TRIES):
            limit = next(iter(self._since), None)
            if limit is not None and now() - self._since[limit] >= _GRACE:
                del self._since[limit]
                limit.reschedule(now())
                return True
            await asyncio.sleep(_GRACE / 2)
        return False


_T = TypeVar("_T")
Score = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Candidates = Annotated[int, msgspec.Meta(ge=0, le=50)]


async def read_chunks(
    request: Request, settings: ServeSettings, *, most: int, paced: bool = True
) -> AsyncIterator[bytes]:
    """Yields the content of a request, piece by piece.

    Args:
        request: to read.
        settings: how long a client may be silent.
        most: bytes at most.
        paced: whether the whole content has a limit in time.

    Raises:
        ProblemError: it is too long, also when it is unpacked; it is packed in another way; or it
            does not arrive.
    """
    coding = request.headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity", "gzip"):
        raise ProblemError(
            415, f"the content is packed ({coding[:50]!r}); send it as it is, or as gzip"
        )
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and len(length) < 20 and int(length) > most:
        raise _too_long(most)
    size = 0
    try:
        pieces = request.state.waiting.pieces(request.stream(), idle=settings.idle, paced=paced)
        async for chunk in _unpack(pieces, most) if coding == "gzip" else pieces:
            size += len(chunk)
            if size > most:
                raise _too_long(most)
            yield chunk
    except SlowError:
        raise ProblemError(408, "the content came too slowly; send it again, and faster") from None
    except ClientDisconnect:
        raise ProblemError(400, "the connection ended before the content did") from None
    except (zlib.error, EOFError):
        raise ProblemError(
            400, "the content is not complete gzip, although its header says so; send it again"
        ) from None


async def _unpack(pieces: AsyncIterator[bytes], most: int) -> AsyncIterator[bytes]:
    """Unpacks gzip in small pieces, so that a bomb is refused before it takes memory.

    Raises:
        zlib.error: it is damaged.
        EOFError: its end is missing.
        ProblemError: it is too long as it is, which empty parts may be without end.
    """
    unpacker, size = zlib.decompressobj(_GZIP), 0
    async for piece in pieces:
        rest, size = piece, size + len(piece)
        if size > most:
            raise _too_long(most)
        while rest:
            if unpacker.eof:
                unpacker = zlib.decompressobj(_GZIP)
            yield unpacker.decompress(rest, _UNPACKED)
            rest = unpacker.unconsumed_tail or unpacker.unused_data
    yield unpacker.flush()
    if not unpacker.eof:
        raise EOFError


def _too_long(most: int) -> ProblemError:
    return ProblemError(
        413, f"the content has more than {most:,} bytes, which is the limit; send less at once"
    )


async def read_content(request: Request, settings: ServeSettings) -> bytes:
    """Returns the whole content of a request; see `read_chunks`."""
    return b"".join([chunk async for chunk in read_chunks(request, settings, most=settings.body)])


async def save_content(request: Request, settings: ServeSettings, path: Path, *, most: int) -> None:
    """Writes the content of a request into a file; see `read_chunks`."""
    with path.open("wb") as stream:
        async for chunk in read_chunks(request, settings, most=most):
            stream.write(chunk)


async def read_json(request: Request, settings: ServeSettings, kind: type[_T]) -> _T:
    """Reads the content of a request and decodes it as an object.

    Raises:
        ProblemError: no JSON, or another object.
    """
    return _decode_json(await read_content(request, settings), kind)


def _decode_json(content: bytes, kind: type[_T]) -> _T:
    """Decodes JSON as an object.

    Raises:
        ProblemError: no JSON, or another object.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except RecursionError:
        raise ProblemError(400, "the content is nested too deeply") from None
    except msgspec.ValidationError as error:
        raise ProblemError(
            422, f"the content is not as the description of this route says: {in_words(str(error))}"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProblemError(400, f"the content is not JSON: {error}") from None


def query_value(request: Request, name: str, kind: Any, default: _T) -> _T:
    """Returns the value of a query parameter.

    Raises:
        ProblemError: it has another type.
    """
    params = request.query_params
    text = params.get(name, params.get(OLDER.get(name, name)))
    if text is None:
        return default
    try:
        value: _T = msgspec.convert(text, type=kind, strict=False)
        return value
    except msgspec.ValidationError as error:
        raise ProblemError(
            422, f"the parameter {name} is not allowed: {in_words(str(error))}"
        ) from None


def check_once(request: Request) -> None:
    """Raises an error for a query parameter that is given more than once; only lists of types may
    be.

    Raises:
        ProblemError: there is one.
    """
    lists = ("only", OLDER["only"])
    counts = Counter(name for name, _ in request.query_params.multi_items() if name not in lists)
    if sentence := twice_named(request.query_params):
        raise ProblemError(422, sentence)
    if twice := sorted(name for name, count in counts.items() if count > 1):
        raise ProblemError(
            422, f"the parameter {twice[0][:100]} is given {counts[twice[0]]} times; give it once"
        )


def check_names(request: Request, names: Sequence[str]) -> None:
    """Raises an error for query parameters that a route does not have.

    Raises:
        ProblemError: there is one.
    """
    older = {OLDER.get(name, name) for name in names}
    if unknown := sorted(set(request.query_params) - older.union(names)):
        allowed = ", ".join(names) or "none"
        raise ProblemError(
            422, f"there is no parameter {unknown[0][:100]!r}; this route has {allowed}"
        )


def read_options(request: Request) -> Options:
    """Returns the options of a request.

    Raises:
        ProblemError: a parameter that is not allowed.
    """
    only, steps = (_names_in(request, *names) for names in (("only", OLDER["only"]), ("steps",)))
    return Options(
        threshold=query_value(request, "threshold", Score, 0.0),
        only=tuple(sorted(set(only))),
        links=query_value(request, "links", bool, True),
        candidates=query_value(request, "candidates", Candidates, 0),
        steps=tuple(steps),
    )


def _names_in(request: Request, *names: str) -> list[str]:
    """Returns the values of parameters, which may be repeated, or have commas between them."""
    lists = chain.from_iterable(map(request.query_params.getlist, names))
    return [value for value in ",".join(lists).split(",") if value]


def rules_of(rows: Sequence[Mapping[str, str]]) -> Iterator[CurationRule]:
    """Yields the rules of rows of curation.

    Raises:
        ProblemError: a row is none.
    """
    for number, row in enumerate(rows, start=1):
        if unknown := sorted(row.keys() - {*HEADER}):
            raise ProblemError(
                422, f"row {number} has the column {unknown[0][:100]!r}; give {', '.join(HEADER)}"
            )
        try:
            yield make_rule({"action": "", "surface": "", **row}, Place("row", number))
        except FormatError as error:
            raise ProblemError(422, str(error)) from None


def media_type(request: Request, offered: Sequence[str]) -> str:
    """Returns the media type of the response that the client prefers; the first one if it has no
    preference.

    Raises:
        ProblemError: the client accepts none of them.
    """
    accepted = request.headers.get("accept", "").lower()
    if not accepted.strip():
        return offered[0]
    ranges = sorted(map(_weighted, accepted.split(",")), key=lambda offer: -offer[0])
    refused = {name for weight, name in ranges if not weight > 0}
    for name in (name for weight, name in ranges if weight > 0):
        for offer in offered:
            fitting = (offer, f"{offer.partition('/')[0]}/*", "*/*")
            # a range does not count for what a narrower one refuses
            if name in fitting and refused.isdisjoint(fitting[: fitting.index(name)]):
                return offer
    raise ProblemError(
        406, f"this route answers as {', '.join(offered)}, and the request takes none of them"
    )


def takes_gzip(request: Request) -> bool:
    """Returns whether the client takes content that is packed with gzip."""
    accepted = request.headers.get("accept-encoding", "").lower()
    return any(
        name == "gzip" and weight > 0 for weight, name in map(_weighted, accepted.split(","))
    )


def _weighted(part: str) -> tuple[float, str]:
    """Returns the weight and the name of a media type or coding in a header such as ``Accept``."""
    name, *facts = (field.strip() for field in part.split(";"))
    weight = next((fact[2:] for fact in facts if fact.startswith("q=")), "1")
    try:
        return float(weight), name
    except ValueError:
        return 0.0, name


# The formats that a client may ask for by the media type of the answer.
MEDIA_TYPES: Final = MappingProxyType(
    {
        "application/vnd.bioc+json": "bioc-json",
        "application/vnd.bioc+xml": "bioc",
        "application/vnd.pubtator3+json": "pubtator3",
        "text/x-pubtator": "pubtator",
    }
)
# controls, signs that turn or hide others, and signs that some file systems do not take
_PLAIN: Final = re.compile(
    '[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff<>:"|?*]+'
)
# bytes of a name: file systems take 255, and more may come before or behind it
_LONGEST: Final = 200


def plain_name(path: str) -> str:
    """Returns a safe file name from the end of a given name: no path, no option and no hidden
    file; the ids of documents are made from it, so that other signs stay.
    """
    plain = _PLAIN.sub("_", path.replace("\\", "/").rpartition("/")[2])
    return plain.encode()[-_LONGEST:].decode(errors="ignore").lstrip(" .-") or "file"


def find_writable(name: str) -> Format:
    """Returns a format that can be written.

    Raises:
        ProblemError: there is none of this name.
    """
    form = _format_named(name)
    if not form.writes:
        raise ProblemError(
            422, f"files of the format {name} are read and not written", code="unknown-name"
        )
    return form


def check_readable(name: str) -> str:
    """Returns the name of a format that can be read, or ``"auto"``.

    Raises:
        ProblemError: there is none of this name.
    """
    if name == "auto":
        return name
    form = _format_named(name)
    if not form.reads:
        raise ProblemError(
            422,
            f"files of the format {name} hold no texts, so they are not read",
            code="unknown-name",
        )
    return form.name


def _format_named(name: str) -> Format:
    try:
        return format_named(name)
    except UsageError as error:
        raise ProblemError(422, str(error), code="unknown-name") from None


def format_suffix(form: Format) -> str:
    """Returns the suffix of a file in a format; brat files are written as one zip."""
    return form.suffixes[0]
