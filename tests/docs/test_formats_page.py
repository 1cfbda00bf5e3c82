"""The pages of formats name every format, what is read and written, every suffix and every
shape.
"""

from __future__ import annotations

import re
from pathlib import Path

from fascicle.formats.catalogue import FORMATS, format_to_write
from fascicle.formats.shapes import SHAPES

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = "\n\n".join(
    (DOCS / name).read_text(encoding="utf-8") for name in ("formats.md", "formats/json.md")
)


def rows(first: str) -> list[list[str]]:
    """The cells of the table whose first column has this heading, below the heading."""
    part = PAGE.partition(f"| {first} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[2:]]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_format_with_what_is_read() -> None:
    told = {name: row[1] for row in rows("name") for name in names(row[0])}
    assert told.keys() == FORMATS.keys()
    assert {name for name, read in told.items() if read == "yes"} == {
        n for n, one in FORMATS.items() if one.reads
    }


def test_every_suffix_with_its_format() -> None:
    told = {}
    for suffixes, formats in rows("suffix"):
        ends, called = names(suffixes), names(formats)
        told |= dict(zip(ends, called * len(ends) if len(called) == 1 else called, strict=True))
    assert told.keys() == {end for one in FORMATS.values() if one.writes for end in one.suffixes}
    assert {end: format_to_write(f"a{end}") for end in told} == told
    assert format_to_write("a") == "jsonl"


def test_every_shape() -> None:
    assert {name for row in rows("shape") for name in names(row[0])} == SHAPES.keys()
