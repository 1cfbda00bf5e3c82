"""One row of the page of papers, and what it shows: state, numbers, remark, table, command,
results and cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from studies.common import RESULTS
from studies.papers.rule import NOT_AT_HAND, NOT_RUN, Compared, Counted, Evidence, state_of
from studies.papers.settling import OPEN, needs
from studies.tables.grids import markdown

HEAD: Final = (
    "what",
    "state",
    "the paper, and here",
    "remark",
    "our table",
    "command",
    "results",
    "cost",
    "what would settle it",
)


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """A result of a paper.

    Attributes:
        what: the table or figure, and the part of it.
        found: its comparisons.
        said: a state that claims no agreement, where nothing is compared.
        remark: one sentence on how it was measured, or what is missing.
        table: address of our table; empty if there is none.
        commands: that repeat the numbers.
        results: files of ``studies/results/`` that they are in.
        needs: file that would make the row run, where its data are not at hand.
    """

    what: str
    found: tuple[Evidence, ...] = ()
    said: str = ""
    remark: str
    table: str = ""
    commands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    needs: str = ""

    @property
    def state(self) -> str:
        """What follows from the comparisons."""
        return state_of(self.found, self.said)

    def cells(self) -> list[str]:
        """The row of the table."""
        missing = f" It needs {self.needs}." if self.needs else ""
        return [
            self.what,
            self.state,
            "; ".join(map(told, self.found)),
            self.remark + missing,
            f"[table]({self.table})" if self.table else "none",
            ", ".join(map(_linked, self.commands)) or "none",
            ", ".join(f"[{name}](../results/{name})" for name in self.results) or "none",
            self.cost(),
            self.settling(),
        ]

    def settling(self) -> str:
        """What would settle the row if the numbers here are the true ones."""
        if self.state == NOT_AT_HAND:
            return "the file"
        if self.state == NOT_RUN:
            return "a run"
        return "; ".join(needs(self.found)) if self.state in OPEN else "settled"

    def cost(self) -> str:
        """Minutes of training behind the comparisons; a run that serves several of them counts
        once.
        """
        runs = {
            run: spent
            for one in self.found
            if isinstance(one, Compared)
            for run, spent in one.minutes.items()
        }
        spent = sum(runs.values())
        return (
            f"{spent:,.0f} min of training"
            if spent
            else "no training of its own"
            if self.found
            else "none"
        )


def _linked(command: str) -> str:
    """A command with the file that it runs, from the page; a verb of Fascicle has none."""
    if " " in command:
        return f"`{command}`"
    file = command if command.endswith(".toml") else f"{command.replace('.', '/')}.py"
    return f"[`{command}`](../../{file})"


def told(one: Evidence) -> str:
    """A comparison in words: what, both numbers, the interval, seeds, a corpus that is not of
    the paper, a doubt.
    """
    if isinstance(one, Counted):
        return f"{one.what}: {one.paper:,}, and {one.here:,}"
    paper = _printed(one)
    ends = one.interval
    within = f" ({_number(one, ends[0])} to {_number(one, ends[1])})" if ends else " (no interval)"
    trained = (
        f", {one.seeds} seed{'s' if one.seeds > 1 else ''}" if one.minutes or one.seeds > 1 else ""
    )
    where = f", on {one.corpus}" if one.corpus and one.elsewhere else ""
    doubt = f", {one.doubt}" if one.doubt else ""
    return f"{one.what}: {paper}, and {_number(one, one.here)}{within}{trained}{where}{doubt}"


def _printed(one: Compared) -> str:
    if one.paper is None:
        return "no number in the paper"
    return ("above" if one.paper > 0 else "below") if one.drawn else _number(one, one.paper)


def _number(one: Compared, value: float) -> str:
    return {"points": f"{value:+.2f}", "times": f"{value:.2f} times", "level": f"{value:.2f}"}[
        one.unit
    ]


def table(rows: Sequence[PaperRow]) -> str:
    """The table of a paper."""
    return markdown(HEAD, [row.cells() for row in rows])


def archive(name: str) -> str:
    """The file of a grid's results."""
    packed = f"{name}.tar.xz"
    return packed if (RESULTS / packed).is_file() else f"{name}.json"
