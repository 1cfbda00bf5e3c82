"""Writes docs/what-others-do.md from the table beside the tests that run real libraries.

python docs/_scripts/others_table.py
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
TABLE: Final = ROOT / "tests/reality/others.toml"
OUT: Final = ROOT / "docs/what-others-do.md"
COLUMNS: Final = ("one would expect", "what it does", "Fascicle", "source")
_KEYS: Final = ("expected", "does", "fascicle", "source")
_HEAD: Final = """# What other libraries do

Where files cross between Fascicle and a library, a good guess can be wrong. `make reality` runs \
each library of this
table on valid input, with Fascicle beside it. Libraries with more users come first.
"""


def rows() -> list[dict[str, str]]:
    """Returns the rows of the table."""
    return list(tomllib.loads(TABLE.read_text(encoding="utf-8"))["row"])


def page(table: Iterable[Mapping[str, str]]) -> str:
    """Returns the page with the table."""
    head = [f"| library | {' | '.join(COLUMNS)} |", f"|---{'|---' * len(COLUMNS)}|"]
    lines = [
        f"| {one['library']} {one['version']} | {' | '.join(one[key] for key in _KEYS)} |"
        for one in table
    ]
    return "\n".join([_HEAD, *head, *lines, ""])


def main(arguments: Sequence[str]) -> int:
    """Writes the page; returns the exit code."""
    out = Path(arguments[0]) if arguments else OUT
    out.write_text(page(rows()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
