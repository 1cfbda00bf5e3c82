"""How the files of a format are read and written: what a module of a format gives to the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.files.atomic import check_target
from fascicle.files.source import STDIN, Source
from fascicle.formats.losses import Holds
from fascicle.formats.report import ReadReport
from fascicle.formats.writing import Encode, Put


@dataclass(frozen=True, kw_only=True)
class Reader:
    """How files of a format are read.

    Attributes:
        read: streams the documents of a source.
        options: class of its options, if it has any.
        may_be_empty: whether a file without documents is no error.
    """

    read: Callable[[Source, Any, ReadReport], Iterator[Document]]
    options: type[Any] | None = None
    may_be_empty: bool = False


@contextmanager
def _as_it_is(stream: BinaryIO, encode: Encode) -> Iterator[Put]:
    yield stream.write


def _check_file(path: str, *, overwrite: bool) -> None:
    if path != STDIN:
        check_target(path, overwrite=overwrite)


@dataclass(frozen=True, kw_only=True)
class Writer:
    """How files of a format are written.

    Attributes:
        holds: what of a document they hold.
        encoder: takes options, and gives the function that makes of one document what is written of it.
        options: class of the options, if there are any.
        into: opens a stream for what that function, its second argument, makes; bytes are written as they are by
            default.
        into_folder: the same for an empty folder, for a format of several files; ``into`` then writes a zip.
        check: says early whether a path can be written.
        prepare: gives a document what the format needs, if it lacks it.
        grows: whether a later run can go on with a file, since nothing stands between two documents.
    """

    holds: Holds
    encoder: Callable[[Any], Encode]
    options: type[Any] | None = None
    into: Callable[[BinaryIO, Encode], AbstractContextManager[Put]] = _as_it_is
    into_folder: Callable[[Path], AbstractContextManager[Put]] | None = None
    check: Callable[..., None] = _check_file
    prepare: Callable[[Document], Document] | None = None
    grows: bool = True


def check_options(options: Any, allowed: type[Any] | None, name: str) -> None:
    """Refuses options that are of another class than those of a format.

    Args:
        options: as given; ``None`` for none.
        allowed: class of the options of its reader or writer, if it has any.
        name: of the format.

    Raises:
        UsageError: they are.
    """
    if options is None or (allowed is not None and isinstance(options, allowed)):
        return
    rule = f"they must be {allowed.__name__}" if allowed is not None else "it has none"
    raise UsageError(f"{type(options).__name__} are not options of the format {name!r}: {rule}")
