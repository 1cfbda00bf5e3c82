"""Files of nodes and edges, row by row, which can be continued where they were complete."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

import msgspec

_NOT_IN_CELLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
Row = Mapping[str, Any]


class RowFile:
    """File of rows, as TSV with a header or as JSON Lines; a context manager that closes it."""

    def __init__(self, path: Path, columns: Sequence[str], *, start: int = 0) -> None:
        """Opens the file.

        Args:
            path: that ends with .tsv or .jsonl.
            columns: names; other cells are not written.
            start: bytes at its beginning that are complete; the rest is written anew.
        """
        self._columns, self._is_json = columns, path.suffix == ".jsonl"
        self._path = path
        self._wide: Path | None = None
        self._stream: BinaryIO = path.open("r+b" if start else "wb")
        self._stream.truncate(start)
        self._stream.seek(start)
        if not start and not self._is_json:
            self._stream.write(_header(columns))

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Closes the file; what was widened gets its name only now, so that rows of an interrupted
        call can be continued.
        """
        self._stream.close()
        if kind is None and self._wide is not None:
            self._wide.replace(self._path)

    def widen(self, columns: Sequence[str]) -> None:
        """Adds columns at the end, which rows so far leave empty."""
        cells, self._columns = b"\t" * len(columns) + b"\n", (*self._columns, *columns)
        if self._is_json:
            return
        self._stream.close()
        self._wide = self._path.with_name(f"{self._path.stem}.wide")
        self._stream = self._wide.open("wb")
        self._stream.write(_header(self._columns))
        with self._path.open("rb") as rows:
            next(rows)
            self._stream.writelines(row.removesuffix(b"\n") + cells for row in rows)

    def add(self, row: Row) -> None:
        """Writes a row."""
        cells = map(row.get, self._columns)
        if self._is_json:
            pairs = zip(self._columns, map(_rounded, cells), strict=True)
            filled = {name: cell for name, cell in pairs if cell not in (None, "", [], ())}
            self._stream.write(msgspec.json.encode(filled) + b"\n")
        else:
            # most cells are texts that stay as they are
            texts = [c if type(c) is str and c.isprintable() else _cell(c) for c in cells]
            self._stream.write(("\t".join(texts) + "\n").encode())

    def sync(self) -> int:
        """Writes all rows to the disk; returns the size of the file."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        return self._stream.tell()


def is_continued(path: Path, columns: Sequence[str], size: int) -> bool:
    """Returns whether a file of rows has these columns, and at least so many bytes."""
    if not path.is_file() or path.stat().st_size < size:
        return False
    with path.open("rb") as stream:
        return path.suffix == ".jsonl" or stream.readline() == _header(columns)


def _header(columns: Sequence[str]) -> bytes:
    return ("\t".join(columns) + "\n").encode()


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "|".join([_text(str(part)).replace("|", " ") for part in value])
    return "" if value is None else _text(str(_rounded(value)))


def _text(cell: str) -> str:
    return cell if cell.isprintable() else _NOT_IN_CELLS.sub(" ", cell)
