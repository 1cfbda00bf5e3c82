"""Tables of Arrow: their columns, and files of Parquet that are written in batches of rows. Needs
the package pyarrow (extra ``parquet``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, BinaryIO, Final

from fascicle.errors import import_extra
from fascicle.formats.sources import DOCUMENTS, MENTIONS, RELATIONS

ALL: Final = "documents with mentions and relations"  # the table of one file
OF_FOLDERS: Final = (DOCUMENTS, MENTIONS, RELATIONS)
# that are kept before they are written
ROWS: Final = {DOCUMENTS: 500, MENTIONS: 20_000, RELATIONS: 20_000, ALL: 500}
Row = tuple[Any, ...]


def import_arrow() -> Any:
    """Returns the package pyarrow.

    Raises:
        MissingExtraError: it is not installed.
    """
    import_extra("pyarrow.parquet", extra="parquet", package="pyarrow")
    return import_extra("pyarrow", extra="parquet")


def schemas() -> dict[str, Any]:
    """Returns the Arrow schemas of the tables by the names of their files, and of `ALL`.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    pa = import_arrow()
    parts = _document_columns(pa), _mention_columns(pa), _relation_columns(pa)
    lists = [pa.list_(pa.struct(columns[1:])) for columns in parts[1:]]
    whole = [*parts[0], *zip(("mentions", "relations"), lists, strict=True)]
    return dict(zip(ROWS, map(pa.schema, (*parts, whole)), strict=True))


def _document_columns(pa: Any) -> list[tuple[str, Any]]:
    text, facts, span = pa.string(), _facts_type(pa), pa.struct(_ends(pa))
    section = pa.struct([*_ends(pa), ("name", text), ("attributes", facts)])
    pair = pa.struct([("short", span), ("long", span)])
    return [
        ("document", text),
        ("text", text),
        ("sections", pa.list_(section)),
        ("sentences", pa.list_(span)),
        ("words", pa.list_(span)),
        ("abbreviations", pa.list_(pair)),
        ("meta", facts),
    ]


def _mention_columns(pa: Any) -> list[tuple[str, Any]]:
    text, real = pa.string(), pa.float64()
    names = [(name, text) for name in ("id", "ontology", "name", "tier", "curie")]
    link = pa.struct([*names, ("score", real), ("nil", pa.bool_()), ("same", pa.list_(text))])
    return [
        ("document", text),
        ("type", text),
        *_ends(pa),
        ("text", text),
        ("score", real),
        ("source", text),
        ("concept", text),
        ("spans", pa.list_(pa.struct(_ends(pa)))),
        ("links", pa.list_(link)),
        ("attributes", _facts_type(pa)),
    ]


def _relation_columns(pa: Any) -> list[tuple[str, Any]]:
    texts = [(name, pa.string()) for name in ("role", "type", "text", "concept", "source")]
    end = pa.struct([*texts, ("spans", pa.list_(pa.struct(_ends(pa))))])
    names = [(name, pa.string()) for name in ("document", "type")]
    return [*names, ("ends", pa.list_(end)), ("attributes", _facts_type(pa))]


def _ends(pa: Any) -> list[tuple[str, Any]]:
    return [("start", pa.int32()), ("end", pa.int32())]


def _facts_type(pa: Any) -> Any:
    return pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))


def table_of(rows: Sequence[Row], schema: Any) -> Any:
    """Returns an Arrow table of rows, whose cells have the order of the columns of a schema."""
    columns = zip(schema, zip(*rows, strict=True), strict=True)
    arrays = [_column(field.type, cells) for field, cells in columns]
    return import_arrow().Table.from_arrays(arrays, schema=schema)


def _column(kind: Any, cells: tuple[Any, ...]) -> Any:
    """Makes an Arrow column; a list column is built from its parts, as Arrow converts lists of
    structs slowly.
    """
    pa = import_arrow()
    if not pa.types.is_list(kind):
        return pa.array(cells, kind)
    parts = (
        list(zip(*chain.from_iterable(filter(None, cells)), strict=True))
        or [()] * kind.value_type.num_fields
    )
    fields = list(kind.value_type)
    inner = [pa.array(part, field.type) for part, field in zip(parts, fields, strict=True)]
    ends = accumulate((len(cell or ()) for cell in cells), initial=0)
    values = pa.StructArray.from_arrays(inner, fields=fields)
    mask = pa.array([cell is None for cell in cells])
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, type=kind, mask=mask)


@contextmanager
def open_table(
    place: Path | BinaryIO, schema: Any, most: int = ROWS[MENTIONS]
) -> Iterator[Callable[[list[Row]], None]]:
    """Opens a table that is written in batches of rows; yields the function that adds some.

    Args:
        place: a path, or a file that is open.
        schema: of Arrow, or name and type of each column.
        most: rows that are kept before they are written.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    schema = import_arrow().schema(schema)
    with import_arrow().parquet.ParquetWriter(place, schema, compression="zstd") as writer:
        batch: list[Row] = []

        def add(rows: list[Row], least: int = most) -> None:
            batch.extend(rows)
            if len(batch) >= least:
                writer.write_table(table_of(batch, schema))
                batch.clear()

        yield add
        add([], least=1)
