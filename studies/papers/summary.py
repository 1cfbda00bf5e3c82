"""What the five papers claim, and what became of it here: one line for each claim, with the numbers
of the row that tests it, and a count of the rows of each paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from studies.papers.row import PaperRow, told
from studies.papers.rule import (
    DIFFERS,
    DRAWN,
    NOT_AT_HAND,
    OTHER_SIZE,
    REPRODUCED,
    TESTED,
    UNDECIDED,
    WITHIN_CHANCE,
)
from studies.tables.grids import markdown


class Claim(NamedTuple):
    """A sentence of a paper, and the row that tests it.

    Attributes:
        paper: name in `PAPERS`.
        words: the claim, in a sentence.
        row: name of the row.
        number: place among the comparisons of the row of the number that is shown.
    """

    paper: str
    words: str
    row: str
    number: int = 0


TITLES: Final[Mapping[str, str]] = {
    "comparing": "comparing and combining",
    "bundling": "bundling",
    "binder": "BINDER",
    "typing": "span typing",
    "tinybern2": "TinyBERN2",
}
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "same direction, beyond chance": (REPRODUCED, OTHER_SIZE),
    "differs": (DIFFERS,),
    "same direction, within chance": (WITHIN_CHANCE,),
    "undecided": (UNDECIDED,),
    "not at hand": (NOT_AT_HAND,),
    "tested here, or drawn": (TESTED, DRAWN),
}
CLAIMS: Final = (
    Claim(
        "comparing",
        "Span prediction is the best single system.",
        "Table 1, NCBI-Disease: the single systems",
        1,
    ),
    Claim(
        "comparing",
        "A vote of three is better than span prediction.",
        "Table 1, NCBI-Disease: vote of three",
    ),
    Claim(
        "comparing",
        "A learnt filter gains over the union that it reads.",
        "Table 1, Genia, its documents with events: Meta over its union",
    ),
    Claim(
        "comparing",
        "The same, on all of GENIA in the shares of the paper.",
        "Table 1, Genia in 50/25/25 per cent: Meta over its union",
    ),
    Claim("bundling", "A bundle is better than its span model.", "Table 3, BC5CDR: BL-SpanNER"),
    Claim("bundling", "A bundle is better than its tagger.", "Table 3, BC5CDR: BL-SeqNER"),
    Claim("binder", "BINDER is better than a tagger on diseases.", "Table 2, NCBI"),
    Claim(
        "binder",
        "BINDER learns more from a dictionary than the dictionary marks.",
        "Table 3, BINDER from a dictionary",
    ),
    Claim(
        "binder",
        "A learnt threshold is better than a tuned one.",
        "Table 6, learnt above tuned thresholds",
    ),
    Claim("typing", "A marked span gets its type in 92 of 100 cases (GENIA).", "Table 2, GENIA"),
    Claim(
        "tinybern2",
        "A student of a third of the layers loses 2 points.",
        "Table 2, TinyBERN2 beside WS-BERN2",
    ),
    Claim("tinybern2", "Soft labels teach more than hard ones.", "Table 3, hard or soft labels"),
)


def claims(papers: Mapping[str, Sequence[PaperRow]]) -> str:
    """The table of the claims.

    Args:
        papers: name of a paper -> its rows.
    """
    lines = []
    for claim in CLAIMS:
        (row,) = (row for row in papers[claim.paper] if row.what == claim.row)
        numbers = told(row.found[claim.number])
        lines.append([TITLES[claim.paper], claim.words, row.state, numbers, row.settling()])
    head = ("paper", "claim", "state", "the paper, and here", "what would settle it")
    return markdown(head, lines)


def counts(papers: Mapping[str, Sequence[PaperRow]]) -> str:
    """The table of the rows of each paper by state."""
    lines = [_counted(TITLES[name], rows) for name, rows in papers.items()]
    everything = [row for rows in papers.values() for row in rows]
    return markdown(("paper", *GROUPS, "rows"), [*lines, _counted("all", everything)])


def _counted(title: str, rows: Sequence[PaperRow]) -> list[str]:
    states = Counter(row.state for row in rows)
    groups = [sum(states[state] for state in group) for group in GROUPS.values()]
    return [title, *map(str, groups), str(len(rows))]
