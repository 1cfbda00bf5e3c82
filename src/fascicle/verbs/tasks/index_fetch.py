"""Fetches public vocabularies from their publishers (``fascicle index fetch``), with limits of
size and time.
"""

from __future__ import annotations

import datetime
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec

from fascicle.core.arguments import AnyPath, validate_arguments
from fascicle.core.files.atomic import atomic_writer, check_target
from fascicle.core.files.owned import file_facts
from fascicle.core.files.part import PartFile, part_paths
from fascicle.core.wording import near_hint
from fascicle.errors import FormatError, InputError, OutputError, UsageError
from fascicle.settings.base import Name, Positive, Settings
from fascicle.settings.packs import SourceSettings
from fascicle.settings.pipeline import toml_value
from fascicle.settings.recipes.strict import convert_values, read_toml
from fascicle.terms.sources import releases
from fascicle.version import VERSION

PUBLIC: Final = Path(releases.__file__).with_name("public.toml")
_RECORD: Final = "fetched.json"
_TRIES: Final = 4
_STALL: Final = 60.0  # seconds of silence
_PIECE: Final = 1 << 16
_SAVED: Final = 4 << 20  # bytes that a cut connection loses at most
_LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_HEADERS: Final = {"User-Agent": f"fascicle/{VERSION}", "Accept-Encoding": "identity"}


_Row = TypeVar("_Row")


class PublicFile(Settings, frozen=True, kw_only=True):
    """A file that its publisher gives to everybody.

    Attributes:
        title: of it.
        page: of its publisher, with the address and the licence.
        url: of the file.
        licence: of its content.
    """

    title: Name
    page: Name
    url: Name
    licence: Name

    @property
    def file(self) -> str:
        """Name of the file."""
        return urlsplit(self.url).path.rpartition("/")[2]

    def check(self) -> None:
        """Refuses an address that is not fetched, or that names no file.

        Raises:
            UsageError: see above.
        """
        _check(self.url, begun=self.url)
        if not self.file.strip(".") or self.file == _RECORD:
            raise UsageError(
                f"{_host_of(self.url)} ends with no name of a file; give the whole address of a "
                "file"
            )


class PublicVocabulary(PublicFile, frozen=True, kw_only=True):
    """A public vocabulary.

    Attributes:
        source: how it is read, as in a ``sources.toml``.
    """

    source: dict[str, Any]


class FetchLimits(Settings, frozen=True, kw_only=True):
    """What a fetch may cost.

    Attributes:
        mebibytes: size of the file.
        seconds: of the whole fetch; what was fetched by then is kept, and the next fetch goes on
            with it.
    """

    mebibytes: Positive = 8_192
    seconds: Positive = 7_200


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was fetched.

    Attributes:
        path: of it.
        url: the address from which it was fetched.
        size: in bytes.
        sha256: of it.
        state: what the publisher calls this version: its entity tag, or its time.
        date: of the file, as the publisher says, else of the fetch.
        fetched: day of the first fetch of this version.
        page: see `PublicFile`, also for what follows.
        licence: see above.
    """

    path: str
    url: str
    size: int
    sha256: str
    state: str
    date: str
    fetched: str
    page: str = ""
    licence: str = ""


class _Remote(NamedTuple):
    """What a publisher says of a file: its size in bytes, its version, and its day or an empty
    text.
    """

    size: int
    state: str
    date: str


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to addresses that are allowed."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        _check(newurl, begun=req.full_url)
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None:
            request.method = req.method  # HEAD stays HEAD
        return request


def vocabularies(table: AnyPath = PUBLIC) -> dict[str, PublicVocabulary]:
    """Returns the vocabularies of a table by their names: those that Fascicle knows, or those of a
    TOML file.

    Raises:
        RecipeError: no such file, or a row that is not as `PublicVocabulary`.
        UsageError: an address that is not allowed.
    """
    values = read_toml(Path(table), what="table of vocabularies")
    rows = {
        name: convert_values(row, PublicVocabulary, origin=str(table), place=name)
        for name, row in values.items()
    }
    for name, row in rows.items():
        row.check()
        convert_values(
            {"path": row.file, **row.source},
            SourceSettings,
            origin=str(table),
            place=f"{name}.source",
        )
    return rows


@validate_arguments
def fetch(
    name: str,
    folder: AnyPath | None = None,
    *,
    table: AnyPath = PUBLIC,
    limits: FetchLimits = FetchLimits(),  # noqa: B008 - frozen
    overwrite: bool = False,
    told: Callable[[str], None] = lambda sentence: None,
) -> Fetched | None:
    """Fetches a vocabulary into a folder; without a folder, only says what would be fetched, and
    how large it is.

    The hash of the file is recorded beside it at the first fetch. Another file is refused
    afterwards. A fetch that was cut goes on where it ended, if the publisher still has the same
    version.

    Args:
        name: of the vocabulary.
        folder: made if it is missing.
        table: see `vocabularies`.
        limits: of size and time.
        overwrite: take another file than the one that was fetched before, or that is there.
        told: called with what is fetched before it is.

    Raises:
        UsageError: there is no such vocabulary.
        InputError: it cannot be reached, is too large or takes too long, or is another file than
            before.
        OutputError: the folder cannot be written, or has another file of this name.
    """
    row = row_of(name, vocabularies(table), kind="vocabulary")
    return fetch_file(name, row, folder, limits=limits, overwrite=overwrite, told=told)


def row_of(name: str, rows: Mapping[str, _Row], *, kind: str) -> _Row:
    """Returns the row of a table with a name.

    Raises:
        UsageError: there is none; the message names the kind of the rows, and all of them.
    """
    if name not in rows:
        raise UsageError(
            f"there is no {kind} {name!r}{near_hint(name, rows)}; known are {', '.join(rows)}"
        )
    return rows[name]


def fetch_file(
    name: str,
    row: PublicFile,
    folder: AnyPath | None,
    *,
    limits: FetchLimits,
    overwrite: bool,
    told: Callable[[str], None],
) -> Fetched | None:
    """Fetches a file, see `fetch`.

    Args:
        name: under which it is recorded.
        row: of it.
        folder: see `fetch`, also for what follows.
        limits: see above.
        overwrite: see above.
        told: see above.
    """
    end = time.monotonic() + limits.seconds
    remote = _ask(row.url)
    told(
        f"{row.title}: {remote.size:,} bytes from {_host_of(row.url)}; licence: {row.licence}; see "
        f"{row.page}"
    )
    if remote.size > limits.mebibytes << 20:
        raise InputError(
            f"{_host_of(row.url)} has {remote.size:,} bytes, and {limits.mebibytes:,} MiB are "
            "allowed; raise the limit"
        )
    return (
        None
        if folder is None
        else _keep(name, row, remote, Path(folder), end=end, overwrite=overwrite)
    )


def _keep(
    name: str, row: PublicFile, remote: _Remote, folder: Path, *, end: float, overwrite: bool
) -> Fetched:
    """Returns what is there, or fetches it and records it; see `fetch`.

    Args:
        name: of the vocabulary.
        row: of it.
        remote: what the publisher says of the file.
        folder: made if it is missing.
        end: time until when the file must be there.
        overwrite: see `fetch`.
    """
    _make(folder)
    record, path = folder / _RECORD, folder / row.file
    before = _records(record).get(name)
    is_ours = before is not None and _is_unchanged(path, before)
    if before is not None and is_ours and _is_current(before, remote):
        # the folder may have moved
        return msgspec.structs.replace(before, path=str(path), page=row.page, licence=row.licence)
    check_target(path, overwrite=overwrite or is_ours)
    part = _part(path, row.url, remote, overwrite=overwrite or is_ours)
    with part.opened(path) as stream:
        part.begin()
        _receive(row.url, remote, stream, part, end=end)
        sha256 = file_facts(part_paths(path)[0])[1]
        if before is not None and not overwrite:
            _check_same(row, before, sha256)
    fetched = _facts(row, remote, path, sha256, before)
    _add_record(record, name, fetched)
    return fetched


def _is_unchanged(path: Path, fetched: Fetched) -> bool:
    return path.is_file() and file_facts(path) == (fetched.size, fetched.sha256)


def _facts(
    row: PublicFile, remote: _Remote, path: Path, sha256: str, before: Fetched | None
) -> Fetched:
    """Returns what is recorded of a file; it was fetched before if it is the same as then."""
    now = datetime.datetime.now(datetime.UTC).date().isoformat()
    is_same = before is not None and before.sha256 == sha256
    return Fetched(
        path=str(path),
        url=_host_of(row.url),
        size=remote.size,
        sha256=sha256,
        state=remote.state,
        date=remote.date or now,
        fetched=before.fetched if before is not None and is_same else now,
        page=row.page,
        licence=row.licence,
    )


def _make(folder: Path) -> None:
    """Makes a folder with those above it.

    Raises:
        OutputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder} cannot be made a folder: {error.strerror}; give another place",
            file=str(folder),
        ) from None


def _is_current(before: Fetched, remote: _Remote) -> bool:
    """True if the publisher still has the version that was fetched."""
    return bool(remote.state) and (remote.size, remote.state) == (before.size, before.state)


def _check_same(row: PublicFile, before: Fetched, sha256: str) -> None:
    """Refuses a file whose content is not that of the fetch before.

    Raises:
        InputError: it is another one.
    """
    if before.sha256 != sha256:
        raise InputError(
            f"{_host_of(row.url)} is another file than on {before.fetched} (SHA-256 {sha256}, "
            f"before {before.sha256}); see {row.page} for what changed, and take it with "
            "overwrite=True",
            code="damaged",
        )


def _add_record(record: Path, name: str, fetched: Fetched) -> None:
    content = msgspec.json.encode({**_records(record), name: fetched})
    with atomic_writer(record, overwrite=True) as stream:
        stream.write(msgspec.json.format(content, indent=2) + b"\n")


def source_table(name: str, found: Fetched, *, table: AnyPath = PUBLIC) -> str:
    """Returns the table of a fetched vocabulary for a ``sources.toml``."""
    row = vocabularies(table)[name]
    values = {"path": found.path, **row.source, "licence": row.licence, "url": row.page}
    values |= {"date": found.date, "sha256": found.sha256}
    return f"[sources.{toml_value(name)}]\n" + "".join(
        f"{key} = {toml_value(value)}\n" for key, value in values.items()
    )


def _records(record: Path) -> dict[str, Fetched]:
    try:
        return msgspec.json.decode(record.read_bytes(), type=dict[str, Fetched])
    except FileNotFoundError:
        return {}
    except msgspec.MsgspecError as error:
        raise FormatError(
            f"it is not a record of fetched files ({error}); move it elsewhere", at=str(record)
        ) from None


def _part(path: Path, url: str, remote: _Remote, *, overwrite: bool) -> PartFile:
    """Opens the part of a file: that of a fetch which was cut, if it is of the same version,
    else a new one.
    """
    made_by = {"address": _host_of(url), "version": remote.state, "size": str(remote.size)}
    if remote.state:
        with suppress(OutputError):  # of another version, or one that opening it anew raises again
            return PartFile(path, made_by=made_by, overwrite=overwrite, resume=True, every=0.0)
    return PartFile(path, made_by=made_by, overwrite=overwrite, every=0.0)


class _CutError(InputError):
    """Error of a connection that was cut, or could not be made."""


def _receive(url: str, remote: _Remote, stream: BinaryIO, part: PartFile, *, end: float) -> None:
    """Writes what is missing of a file, with a few tries.

    Raises:
        InputError: the file is not complete.
    """
    for number in range(_TRIES):
        time.sleep(0.1 * (4**number - 1))
        start = int(part.done["bytes"]) if part.done else 0
        if start == remote.size:
            return
        buffer = bytearray()
        try:
            for piece in _pieces(url, remote, start=start):
                buffer += piece
                if time.monotonic() > end:
                    break
                if len(buffer) >= _SAVED:
                    _save(buffer, stream, part)
        except _CutError:
            pass
        finally:
            _save(buffer, stream, part)
        if time.monotonic() > end:
            raise InputError(
                f"{_host_of(url)} takes longer than the limit; run the same command again to "
                "continue"
            )
    if not part.done or part.done["bytes"] != remote.size:
        raise InputError(
            f"the connection to {_host_of(url)} was interrupted {_TRIES} times; run the same "
            "command again to continue"
        )


def _save(buffer: bytearray, stream: BinaryIO, part: PartFile) -> None:
    """Writes bytes, and records that they are there."""
    if buffer:
        stream.write(buffer)
        part.keep(dict)
        buffer.clear()


def _pieces(url: str, remote: _Remote, *, start: int) -> Iterator[bytes]:
    """Yields a file from a place on; where the publisher sends all of it, its beginning is left
    out.

    Raises:
        InputError: it is no longer the same version, or not the part that was asked for.
    """
    headers = {"Range": f"bytes={start}-", "If-Range": remote.state} if start else {}
    with closing(_opened(url, headers)) as reply:
        whole = reply.status == 200
        content_range = reply.headers.get("Content-Range", "")
        if (whole and _remote_of(url, reply) != remote) or not (
            whole or content_range.startswith(f"bytes {start}-")
        ):
            raise _changed(url)
        skip, remaining = start if whole else 0, remote.size - start
        while piece := _read_reply(reply, url):
            if (remaining := remaining - len(piece[skip:])) < 0:
                raise _changed(url)  # and never more bytes than are allowed
            yield piece[skip:]
            skip = max(0, skip - len(piece))


def _changed(url: str) -> InputError:
    return InputError(f"{_host_of(url)} changed while it was fetched; give the same command again")


def _ask(url: str) -> _Remote:
    with closing(_opened(url, {}, method="HEAD")) as reply:
        return _remote_of(url, reply)


def _remote_of(url: str, reply: HTTPResponse) -> _Remote:
    size, changed = reply.headers.get("Content-Length", ""), reply.headers.get("Last-Modified", "")
    if not size.isdigit():
        raise InputError(
            f"{_host_of(url)} does not say how large its file is, so it is not fetched; fetch it "
            "by other means"
        )
    date = ""
    with suppress(ValueError):
        date = parsedate_to_datetime(changed).date().isoformat()
    return _Remote(int(size), reply.headers.get("ETag", "") or changed, date)


def _opened(url: str, headers: Mapping[str, str], *, method: str = "GET") -> HTTPResponse:
    request = urllib.request.Request(url, headers={**_HEADERS, **headers}, method=method)
    try:
        reply: HTTPResponse = urllib.request.build_opener(_SafeRedirects()).open(
            request, timeout=_STALL
        )
    except urllib.error.HTTPError as error:
        error.close()
        if error.code < 400:
            _check(error.headers.get("Location", ""), begun=url)
        kind = _CutError if error.code >= 500 or error.code == 429 else InputError
        raise kind(
            f"{_host_of(url)} answers with the state {error.code}; look at the page of the "
            "publisher, or try later"
        ) from None
    # a redirect may lead to what is no address
    except (OSError, HTTPException, ValueError) as error:
        raise _unreached(url, error) from None
    return reply


def _read_reply(reply: HTTPResponse, url: str) -> bytes:
    try:
        return reply.read1(_PIECE)
    except (OSError, HTTPException) as error:
        raise _unreached(url, error) from None


def _unreached(url: str, error: Exception) -> _CutError:
    reason = getattr(error, "reason", error)
    return _CutError(
        f"{_host_of(url)} cannot be reached ({type(reason).__name__}); check the network, and try "
        "again"
    )


def _check(url: str, *, begun: str) -> None:
    """Raises an error for an address that is not fetched: only https is, and http of this machine
    to itself.

    Args:
        url: address.
        begun: the one that led there.

    Raises:
        UsageError: the address is not fetched.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(
            f"{url[:200]!r} is not an address ({error}); give one with https://"
        ) from None
    is_local = parts.scheme == "http" and {parts.hostname, urlsplit(begun).hostname} <= _LOCAL
    if parts.scheme != "https" and not is_local:
        raise UsageError(
            f"{_host_of(begun)} leads to {_host_of(url)[:200]!r}, and only addresses with https:// "
            "are fetched"
        )


def _host_of(url: str) -> str:
    """Returns an address without a name, password or query, which may be a key of the user."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
