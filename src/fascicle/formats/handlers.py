"""Interface between a format module and the catalogue: how files of the format are read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from fascicle.core.document import Document, Section
from fascicle.core.files.atomic import check_target
from fascicle.core.files.source import STDIN, Source
from fascicle.core.wording import shortened
from fascicle.errors import InputError, UsageError
from fascicle.formats.losses import LENIENT, HeldFields, LossPolicy, Said, representable_part
from fascicle.formats.report import ReadReport, WriteReport

Encode = Callable[[Any, WriteReport], Any]
Put = Callable[[Any], object]
_NOT_IN_NAMES: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MARK: Final = "\ufeff"


def write_each(
    documents: Iterable[Said],
    encode: Encode,
    put: Put,
    *,
    holds: HeldFields,
    report: WriteReport,
    strictness: LossPolicy = LENIENT,
) -> None:
    """Writes documents one by one.

    Nothing of a document is written before all of it is encoded. A document that cannot be encoded is set aside if the
    report allows it; errors of reading the documents are never caught here.

    Args:
        documents: may be a stream; predictions are written in the same way.
        encode: makes what is written of one document; counts its mentions and losses in the report that it is given.
        put: writes that.
        holds: what the format holds; the rest is counted.
        report: receives the counts of the documents that are written.
        strictness: whether a document is refused that would lose something.

    Raises:
        LossError: a document would lose something, and that is refused.
        InputError: a document that the format cannot hold at all.
    """
    for document in documents:
        with report.aside.one():
            part = WriteReport()
            content = _encoded(representable_part(document, holds, part), encode, part)
            strictness.check(document, part, format_name=holds.format)
            put(content)
            part.documents = 1
            report.add(part)


def checked_name(value: str, *, what: str, forbidden: str = "", trimmed: bool = True, advice: str = "rename it") -> str:
    """Returns an id or a type unchanged; raises an error if a line cannot hold it.

    Args:
        value: the id or type.
        what: for the message, e.g. ``"the type"``.
        forbidden: characters that it may not hold, beside control characters and ends of lines.
        trimmed: whether readers leave out blanks at its ends.
        advice: what to do.

    Raises:
        InputError: it is empty, has blanks at its ends (where that matters), begins with U+FEFF (which readers take for
            a byte order mark), or holds what it may not hold.
    """
    bad = _NOT_IN_NAMES.search(value) or any(sign in value for sign in forbidden)
    if bad or not value or value.startswith(_MARK) or (trimmed and value != value.strip()):
        signs = "".join(f", {sign!r}" for sign in forbidden)
        blanks = ", nor begin or end with a blank" if trimmed else ""
        raise InputError(
            f"{what} {shortened(repr(value), most=100)} cannot be written in this format: it may not be empty, hold "
            f"TAB, line breaks or other control characters{signs}, begin with U+FEFF{blanks}; {advice}"
        )
    return value


def _encoded(document: Said, encode: Encode, part: WriteReport) -> Any:
    try:
        return encode(document, part)
    except UnicodeEncodeError as error:
        raise InputError(
            f"document {document.id!r} holds {error.object[error.start : error.end]!r}, half of a character, in its id "
            "or its annotation, which no file can hold; repair the source"
        ) from None


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reader of files in a format.

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
    """Writer of files in a format.

    Attributes:
        holds: fields of a document that the files hold.
        encoder: takes options, and returns the function that encodes one document.
        options: class of the options, if there are any.
        into: opens a stream for what that function, its second argument, makes; bytes are written as they are by
            default.
        into_folder: the same for an empty folder, for a format of several files; ``into`` then writes a zip.
        check: raises early an error if a path cannot be written.
        prepare: adds to a document what the format needs and the document lacks.
        grows: whether a later run can append to a file, because documents need no separator or closing part.
    """

    holds: HeldFields
    encoder: Callable[[Any], Encode]
    options: type[Any] | None = None
    into: Callable[[BinaryIO, Encode], AbstractContextManager[Put]] = _as_it_is
    into_folder: Callable[[Path], AbstractContextManager[Put]] | None = None
    check: Callable[..., None] = _check_file
    prepare: Callable[[Document], Document] | None = None
    grows: bool = True


def check_options(options: Any, allowed: type[Any] | None, name: str) -> None:
    """Raises an error if options are not of the class that a format takes.

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


def separate_sections(document: Document, report: WriteReport) -> list[Section]:
    """Returns the sections that can be passages: named, not empty, without overlap; counts the others as losses."""
    kept: list[Section] = []
    for section in sorted(set(document.sections or ()), key=lambda one: (one.start, -one.end)):
        fits = section.name == section.name.strip() != "" and section.start < section.end
        if fits and section.start >= (kept[-1].end if kept else 0):
            kept.append(section)
    if lost := len(document.sections or ()) - len(kept):
        report.lose("sections", document, count=lost)
    return kept
