"""Series of files in time order, such as the baseline and update files of PubMed: each document is read once.

A later file replaces the documents that it has again, and withdraws others
(https://www.nlm.nih.gov/databases/download/pubmed_medline.html).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.formats.files import ORIGINAL_ID, read
from fascicle.formats.report import ReadReport

_VERSION: Final = "version"  # in the meta of a citation, unless it is the first
_AGAIN: Final = "duplicate-id"


def latest(
    paths: Sequence[str | Path],
    *,
    format: str = "auto",  # noqa: A002 - the name of the option everywhere
    report: ReadReport | None = None,
) -> Iterator[Document]:
    """Streams each document in its latest state, in the order of the files.

    Of several versions of a citation in one file the highest is used, and of equal ones the last. A document that a
    file withdraws is left out, unless a later file has it again. The files are read twice, and memory holds the ids of
    all documents.

    Args:
        paths: of files, the oldest first.
        format: a name of `FORMATS`, or ``"auto"``.
        report: counts the yielded documents, and collects the withdrawn ids.

    Returns:
        An iterator; each id occurs once.

    Raises:
        InputError: see `fascicle.formats.read`.
    """
    report = ReadReport() if report is None else report
    places = _places(paths, format=format, report=report)
    for number, path in enumerate(paths):
        for position, document in enumerate(read(path, format=format, report=_like(report))):
            if places.get(_id(document)) == (number, position):
                found = _named(document)
                report.observe(found)
                yield found


def _places(paths: Sequence[str | Path], *, format: str, report: ReadReport) -> dict[str, tuple[int, int]]:  # noqa: A002
    """Returns the number of the file, and the place in it, of the latest state of each id."""
    places: dict[str, tuple[int, int]] = {}
    for number, path in enumerate(paths):
        own, versions = _like(report), dict[str, int]()
        for position, document in enumerate(read(path, format=format, report=own)):
            identifier, version = _id(document), version_of(document)
            if version >= versions.get(identifier, version):
                versions[identifier] = version
                places[identifier] = number, position
        for file, withdrawn in own.deleted.items():
            report.deleted.setdefault(file, []).extend(withdrawn)
            for identifier in withdrawn:
                places.pop(identifier, None)
        report.aside.count += own.aside.count
        report.aside.errors += own.aside.errors
    return places


def _like(report: ReadReport) -> ReadReport:
    """Returns an empty report with the same error handling as another one, and without messages to users."""
    own = ReadReport()
    own.aside.keep_going = report.aside.keep_going
    return own


def _id(document: Document) -> str:
    return document.meta.get(ORIGINAL_ID, document.id)


def version_of(document: Document) -> int:
    """Returns the version of a citation, from 1; see `latest`."""
    told = document.meta.get(_VERSION, "1")
    return int(told) if told.isdecimal() else 1


def _named(document: Document) -> Document:
    """Returns a document with the original id from its file."""
    if ORIGINAL_ID not in document.meta:
        return document
    meta = {key: value for key, value in document.meta.items() if key != ORIGINAL_ID}
    events = tuple(event for event in document.events if event.code != _AGAIN)
    return msgspec.structs.replace(document, id=document.meta[ORIGINAL_ID], meta=meta, events=events)
