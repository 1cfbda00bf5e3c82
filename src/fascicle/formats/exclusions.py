r"""Exclusion lists: documents that training must leave out, because they are copies of others. They
hold no text.

TSV with a header, one row for each document. Training applies a list in this way:

* A document is left out if a row has its id and the SHA-256 of its text.
* If the row says that it is a copy of a document of test or dev (``of_part``), the hash is enough,
  whatever the id: no document with this text may be used for training. (Of two copies inside the
  training data, one may remain.)

TABs, line breaks and backslashes in names are written ``\t``, ``\n``, ``\r`` and ``\\``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.files.atomic import open_output
from fascicle.core.files.source import Source, read_lines
from fascicle.core.wording import plural
from fascicle.errors import FormatError, Place

REASONS: Final = ("duplicate", "near-duplicate", "shared-sentence")
_ESCAPES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_UNESCAPED: Final = {escape: sign for sign, escape in _ESCAPES.items()}
_SHA256: Final = re.compile("[0-9a-f]{64}")


class Exclusion(msgspec.Struct, frozen=True, kw_only=True):
    """Document to leave out.

    Attributes:
        corpus: file of the document.
        part: ``"train"``, ``"dev"`` or ``"test"``; ``"corpus"`` for a corpus without parts;
            ``"against"`` for another one that was compared.
        document: its id.
        sha256: of its text in UTF-8, in hexadecimal.
        reason: one of `REASONS`.
        similarity: 1 for duplicates, Jaccard for near duplicates, ``None`` for shared sentences.
        of_corpus: file of the document that it is a copy of.
        of_part: part of that document.
        of_document: id of that document.
    """

    corpus: str
    part: str
    document: str
    sha256: str
    reason: str
    similarity: float | None
    of_corpus: str
    of_part: str
    of_document: str


HEADER: Final = Exclusion.__struct_fields__
PROTECTED: Final = ("test", "dev")  # parts that may not be used for training


def write_exclusions(
    path: str | Path, rows: Iterable[Exclusion], *, overwrite: bool = False
) -> int:
    """Writes an exclusion list.

    Args:
        path: where; ``"-"`` is standard output.
        rows: may be a stream.
        overwrite: replace an existing file.

    Returns:
        The number of rows.

    Raises:
        OutputError: the file exists, or the place cannot be written.
    """
    count = 0
    with open_output(path, overwrite=overwrite) as stream:
        stream.write("\t".join(HEADER).encode() + b"\n")
        for row in rows:
            stream.write("\t".join(_columns(row)).encode() + b"\n")
            count += 1
    return count


def read_exclusions(source: Source) -> Iterator[Exclusion]:
    """Streams the rows of an exclusion list.

    Args:
        source: the file.

    Raises:
        InputError: the file cannot be opened.
        FormatError: another header, or a row that breaks the rules.
    """
    for number, line in read_lines(source):
        columns = line.split("\t")
        place = Place(source.path, number)
        if number == 1:
            if tuple(columns) != HEADER:
                message = (
                    f"not an exclusion list; its first line must be {' '.join(HEADER)} "
                    "(TAB-separated)"
                )
                raise FormatError(message, at=place)
        elif line:
            yield _exclusion(columns, place)


def exclusions_by_key(rows: Iterable[Exclusion]) -> dict[tuple[str, str], Exclusion]:
    """Returns id and hash of each document to leave out, with its row; the id is empty where the
    hash is sufficient.

    Args:
        rows: of a list.
    """
    by_key: dict[tuple[str, str], Exclusion] = {}
    for row in rows:
        by_key.setdefault((row.document, row.sha256), row)
        if row.of_part in PROTECTED:
            by_key.setdefault(("", row.sha256), row)
    return by_key


def _columns(row: Exclusion) -> Iterator[str]:
    for name in HEADER:
        value = getattr(row, name)
        if name == "similarity":
            yield "" if value is None else f"{value:.4f}"
        else:
            yield re.sub(r"[\\\t\n\r]", lambda match: _ESCAPES[match[0]], value)


def _exclusion(columns: list[str], place: str) -> Exclusion:
    if len(columns) != len(HEADER):
        raise FormatError(
            f"{plural(len(columns), 'column')}; allowed are the {len(HEADER)} of the header",
            at=place,
        )
    values = {
        name: re.sub(r"\\.", lambda match: _UNESCAPED.get(match[0], match[0]), value)
        for name, value in zip(HEADER, columns, strict=True)
    }
    similarity = values.pop("similarity")
    if not _SHA256.fullmatch(values["sha256"]):
        message = (
            f"{values['sha256']!r} is no SHA-256, which has 64 hexadecimal digits in lower case"
        )
        raise FormatError(message, at=place)
    if values["reason"] not in REASONS:
        message = f"the reason {values['reason']!r} is not known; it is one of {', '.join(REASONS)}"
        raise FormatError(message, at=place, code="unknown-name")
    try:
        return Exclusion(similarity=float(similarity) if similarity else None, **values)
    except ValueError:
        raise FormatError(f"the similarity {similarity!r} is not a number", at=place) from None
