"""The cells of Markdown tables: what tests look at, whatever the layout."""

from __future__ import annotations


def rows(text: str) -> list[dict[str, str]]:
    """Each row of the tables in a text, by the titles of its columns; lines that are no table
    are passed over.
    """
    found: list[dict[str, str]] = []
    head: list[str] = []
    for line in text.splitlines():
        cells = [
            cell.strip().replace("\0", "|")
            for cell in line.replace("\\|", "\0").strip("|").split("|")
        ]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = cells
        elif set(cells) != {"---"}:
            found.append(dict(zip(head, cells, strict=True)))
    return found


def cells(text: str) -> list[list[str]]:
    """The same rows without the titles."""
    return [list(row.values()) for row in rows(text)]
