"""Files and folders named by URLs, such as ``s3://bucket/key``, through fsspec (extra ``remote``).

A file is copied as a whole in either direction. An object store shows a file under its name only
when it is complete, so no temporary name is needed there. There is no limit of size here: the
reader of the copy has its own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final

from fascicle.core.files.temporary import remove_stale, temporary_folder
from fascicle.errors import FascicleError, InputError, OutputError, UsageError, import_extra

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")
_TOGETHER: Final = 256  # files that are fetched in parallel
_PATTERN: Final = re.compile(r"[*?\[]")
_MARKS: Final = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated")


def is_url(path: str) -> bool:
    """True if a path is a URL."""
    return _URL.match(path) is not None


class RemoteFolder:
    """A folder of an object store.

    Attributes:
        url: its URL, without a slash at its end.
    """

    def __init__(self, url: str) -> None:
        """Finds the file system of the URL; makes no connection.

        Raises:
            MissingExtraError: fsspec, or the package for this kind of URL, is not installed.
            UsageError: the kind of URL is unknown.
        """
        self.url = url.rstrip("/")
        self._system, self._path = _system_of(self.url)

    @property
    def near(self) -> str:
        """Path of the folder if the URL is local to this machine; else empty."""
        return self._path if "file" in self._system.protocol else ""

    def make(self) -> None:
        """Makes the folder if the URL is local to this machine; an object store needs none."""
        if self.near:
            with _reaching(self.url, OutputError):
                self._system.makedirs(self._path, exist_ok=True)

    def at(self, name: str) -> str:
        """Returns the URL of a file."""
        return f"{self.url}/{name}"

    def sizes(self) -> dict[str, int]:
        """Returns names and sizes of the files, without those in subfolders; empty if there is no
        folder.

        Raises:
            OutputError: the store cannot be reached.
        """
        with _reaching(self.url, OutputError):
            self._system.invalidate_cache(self._path)
            try:
                entries = self._system.ls(self._path, detail=True)
            except FileNotFoundError:
                return {}
            return {
                str(entry["name"]).rsplit("/", 1)[-1]: int(entry["size"])
                for entry in entries
                if entry["type"] == "file"
            }

    def read(self, names: Sequence[str]) -> Iterator[bytes]:
        """Yields the contents of files, in order; they are fetched in parallel.

        Raises:
            FileNotFoundError: a file is missing.
            OutputError: the store cannot be reached.
        """
        paths = [f"{self._path}/{name}" for name in names]
        for at in range(0, len(paths), _TOGETHER):
            some = paths[at : at + _TOGETHER]
            with _reaching(self.url, OutputError, passing=FileNotFoundError):
                contents = (
                    self._system.cat(some)
                    if len(some) > 1
                    else {some[0]: self._system.cat_file(some[0])}
                )
            yield from (contents[path] for path in some)

    @contextmanager
    def opened(self, name: str) -> Iterator[BufferedReader]:
        """Opens a local copy of a file."""
        with fetch_to_local(self.at(name)) as near, Path(near).open("rb") as stream:
            yield stream

    def remove(self, names: Sequence[str]) -> None:
        """Removes files."""
        for name in names:
            with _reaching(self.at(name), OutputError), suppress(FileNotFoundError):
                self._system.rm_file(f"{self._path}/{name}")

    @contextmanager
    def written(self, name: str) -> Iterator[BinaryIO]:
        """Opens a file that is uploaded when the block ends without an error; it replaces one of
        that name.
        """
        with _copies() as folder:
            near = folder / "copy"
            with near.open("wb") as stream:
                yield stream
            with _reaching(self.at(name), OutputError):
                self._system.put_file(str(near), f"{self._path}/{name}")


@contextmanager
def fetch_to_local(path: str) -> Iterator[str]:
    """Provides a local copy of a file for the block; a path that is no URL is returned unchanged.

    Raises:
        InputError: there is no such file, or it cannot be reached.
    """
    if not is_url(path):
        yield path
        return
    system, place = _system_of(path)
    name = place.rstrip("/").rsplit("/", 1)[-1]
    if name in ("", ".", "..") or "\0" in name or "\\" in name:
        raise InputError(
            f"{path} ends with no name of a file; give the whole URL of a file", file=path
        )
    with _copies() as folder:
        near = str(folder / name)
        with _reaching(path, InputError):
            system.get_file(place, near)
        yield near


def list_url(url: str) -> list[str]:
    """Returns the files that a URL names: itself, matches of its ``*``, or the ``*.txt`` files of a
    folder.

    Raises:
        InputError: there is none, or the store cannot be reached.
    """
    system, path = _system_of(url)
    with _reaching(url, InputError):
        system.invalidate_cache()
        if not _PATTERN.search(path):
            if not url.endswith("/") and system.isfile(path):
                return [url]
            path = f"{path.rstrip('/')}/*.txt"
        paths = sorted(
            name
            for name, facts in system.glob(path, detail=True).items()
            if facts["type"] == "file"
        )
    if not paths:
        raise InputError(
            f"there is no file {url}; give the URL of a file, of a folder of *.txt files with / at "
            "its end, or a pattern with *",
            file=url,
            code="not-found",
        )
    return [system.unstrip_protocol(path) for path in paths]


def url_state(url: str) -> str:
    """Returns a text that changes when a file changes: its size, and its entity tag or its time.

    Raises:
        InputError: there is no such file, or it cannot be reached.
    """
    system, path = _system_of(url)
    with _reaching(url, InputError):
        system.invalidate_cache()
        facts = system.info(path)
    return f"{facts.get('size')} {next((facts[name] for name in _MARKS if facts.get(name)), '')}"


def _system_of(url: str) -> tuple[Any, str]:
    if "::" in url:
        raise UsageError(f"{url} is several URLs in one; give one")
    fsspec = import_extra("fsspec", extra="remote")
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise UsageError(f"{url} needs another package: {error}") from None
    except ValueError as error:
        raise UsageError(
            f"{url} is not a URL that can be used ({error}); give s3://, gs:// or another one"
        ) from None
    except Exception as error:  # from a client that connects at once
        message = (
            f"{url} cannot be reached ({type(error).__name__}: {error}); check it, or give "
            "a path of this machine"
        )
        raise InputError(message, file=url) from error
    return system, path


@contextmanager
def _copies() -> Iterator[Path]:
    """Makes a folder for copies in the temporary folder of the system; removes leftovers of
    killed processes.
    """
    place = Path(tempfile.gettempdir())
    remove_stale(place)
    with temporary_folder(place / "fascicle-copies") as folder:
        yield folder


@contextmanager
def _reaching(
    url: str, kind: type[FascicleError], *, passing: type[Exception] = FascicleError
) -> Iterator[None]:
    """Converts any error of a storage client into one sentence, except errors of the type
    ``passing``.
    """
    try:
        yield
    except (FascicleError, passing):
        raise
    except FileNotFoundError:
        raise kind(f"there is no file {url}; check the URL", file=url, code="not-found") from None
    except Exception as error:
        raise kind(
            f"{url} cannot be reached ({type(error).__name__}: {error})", file=url
        ) from error
