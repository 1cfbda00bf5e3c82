"""Rows of Parquet files, and folders of parts. It needs the extra ``parquet``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from fascicle.errors import FormatError, InputError, Place, import_extra
from fascicle.terms.sources.drafts import SourceReport

_TOGETHER: Final = 1_000  # rows
_PARTS: Final = (".json", ".jsonl", ".parquet", ".gz")


def parts_of(place: Path) -> list[Path]:
    """Returns the files of a source: the parts in a folder, sorted by name, or the file itself.

    Raises:
        InputError: a folder without parts.
    """
    if not place.is_dir():
        return [place]
    parts = sorted(
        part for part in place.iterdir() if part.name.endswith(_PARTS) and part.name[0] not in "._"
    )
    if not parts:
        message = (
            f"is a folder without parts ({', '.join(_PARTS)}); give a file, or the folder of "
            "the parts"
        )
        raise InputError(f"{place} {message}", file=str(place), code="unreadable")
    return parts


def parquet_columns(path: str) -> list[str]:
    """Returns the names of the columns of a file.

    Raises:
        MissingExtraError: pyarrow is not installed.
        InputError: there is no such file.
        FormatError: it is no Parquet.
    """
    with _open(path) as file:
        return list(file.schema_arrow.names)


def parquet_rows(path: str, report: SourceReport) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yields the rows of a file, by column, and counts them; raises as `parquet_columns`."""
    with _open(path) as file:
        for batch in file.iter_batches(batch_size=_TOGETHER):
            for row in batch.to_pylist():
                report.rows += 1
                yield Place(path, shown=f"{path}, row {report.rows}"), row


@contextmanager
def _open(path: str) -> Iterator[Any]:
    arrow = import_extra("pyarrow", extra="parquet")
    parquet = import_extra("pyarrow.parquet", extra="parquet", package="pyarrow")
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except FileNotFoundError:
        raise InputError(
            f"{path} is not there; correct path", file=path, code="not-found"
        ) from None
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise FormatError(
            f"no Parquet file ({' '.join(str(error).split())}); fetch it again", at=path
        ) from None
