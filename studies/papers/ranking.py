"""The open rows that a run can settle, in the order of what it costs, and a count of the others.

What a row needs is read from its last cell: training has its hours there, a measurement of time has
none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from studies.papers.row import PaperRow
from studies.papers.rule import UNDECIDED, WITHIN_CHANCE
from studies.papers.settling import hours
from studies.papers.summary import TITLES
from studies.tables.grids import markdown

HEAD: Final = ("core hours of training", "paper", "row", "state", "what would settle it")


def ranking(papers: Mapping[str, Sequence[PaperRow]]) -> str:
    """The table of the rows that runs can settle, cheapest first, and how many others are open.

    Args:
        papers: name of a paper -> its rows.
    """
    still_open = list(_open(papers))
    ranked = sorted(
        (row for row in still_open if row[0] is not None), key=lambda row: (row[0], row[1])
    )
    lines = [[f"{cost:.1f}", *cells] for cost, *cells in ranked]
    others = len(still_open) - len(ranked)
    return (
        f"{markdown(HEAD, lines)}\n\nOther rows that are open, which no run can settle: {others}."
    )


def _open(
    papers: Mapping[str, Sequence[PaperRow]],
) -> Iterator[tuple[float | None, *tuple[str, ...]]]:
    for name, rows in papers.items():
        for row in rows:
            if row.state in (UNDECIDED, WITHIN_CHANCE):
                settling = row.settling()
                yield hours(settling), TITLES[name], row.what, row.state, settling
