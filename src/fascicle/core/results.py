"""Results as people read them in Python: one line, and a table for notebooks and data frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

Cell = str | int | float | None
TableRow = dict[str, Cell]


class Tabular(ABC):
    """Base class of results that are tables."""

    @abstractmethod
    def table(self) -> list[TableRow]:
        """Returns a row for each line of the result, as ``pandas.DataFrame`` takes them."""

    def _repr_html_(self) -> str:
        """Returns the table as HTML, for notebooks."""
        return html_table(self.table())


def html_table(rows: Sequence[TableRow]) -> str:
    """Returns rows with the same columns as a table in HTML."""
    head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
    lines = [_html_row(row.values()) for row in rows]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _html_row(cells: Iterable[Cell]) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell_text(cell))}</td>' for cell in cells)}</tr>"


def cell_text(cell: Cell) -> str:
    """Returns a value of a table as text: a share with four decimals, ``-`` for what is
    undefined.
    """
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return "-" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def list_first(items: Sequence[object], *, most: int = 5) -> str:
    """Returns the first items with commas between them, and the number of the others."""
    words = [str(item) for item in islice(items, most)]
    rest = len(items) - len(words)
    return ", ".join([*words, f"{rest:,} more"] if rest else words)
