"""Command ``fascicle bench``: runs a grid of recipes and writes results files, from which tables
are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec

from fascicle.core.wording import plural
from fascicle.verbs.messages import emit, say, with_options
from fascicle.verbs.options import THREADS, Declared, call, fills, option, positive, reads
from fascicle.verbs.tasks.bench import Benched, BenchSettings, Tier, bench, plan_grid

if TYPE_CHECKING:
    from fascicle.training.experiments.queue import Planned

_CORES: Final = (
    "number of CPU threads of a run; default: the usable cores are shared among the jobs"
)


class Options(Declared):
    """Options of ``fascicle bench``.

    In Python: ``fascicle.verbs.tasks.bench.bench("grid.toml")``

    Attributes:
        grid: the grid: corpora, systems, variants and seeds, or a list of recipe files.
        tier: only runs of this tier; may be repeated.
        only: only runs or recipes whose names fit one of these patterns, e.g. *-crf-*.
        runs: folder of the run folders; default: runs/GRIDNAME.
        results: folder of the results; default: results/GRIDNAME beside GRID.toml, or beside its
            folder if that is named grids.
        jobs: number of runs at the same time; default: 1.
        minutes: start no epoch that would end after M minutes.
        listed: list the runs and their progress, and train nothing.
        json: print the state and the scores of each run as JSON.
    """

    grid: str = option("GRID.toml", reads)
    tier: Sequence[Tier] = option("--tier ...", choices=get_args(Tier))
    only: Sequence[str] = option("--only GLOB +")
    runs: str | None = option("--runs FOLDER", fills)
    results: str | None = option("-o --results FOLDER", fills)
    jobs: int = option("--jobs N", positive, default=1)
    threads: int | None = msgspec.structs.replace(THREADS, help=_CORES)
    minutes: int | None = option("--minutes M", positive)
    listed: bool = option("--list")
    json: bool = option("--json")


def run(args: Options) -> int:
    """Runs the grid; returns the exit code."""
    settings = call(BenchSettings, args, tiers=tuple(args.tier))
    if args.listed:
        planned = plan_grid(args.grid, settings)
        return emit(
            [_row(row) for row in planned],
            _list_runs(planned),
            as_json=args.json,
            ensure_ascii=True,
        )
    result = bench(
        args.grid, settings, tell=say, tell_more=say if args.verbose else lambda sentence: None
    )
    emit(_value(result), _as_text(result.rows), as_json=args.json, ensure_ascii=True)
    return _say_ends(result)


def _say_ends(result: Benched) -> int:
    """Prints the runs that are left or failed; returns the exit code."""
    if result.left:
        say(f"{plural(result.left, 'run')} left: the same command goes on")
    if result.failed:
        say(f"{plural(result.failed, 'run')} failed; the others are done or left")
    return 3 if result.failed else 0


def _value(result: Benched) -> dict[str, Any]:
    states = [row["state"] for row in result.rows]
    return {
        "grid": result.grid,
        "results": str(result.results),
        "done": sum(state in ("done", "trained", "collected") for state in states),
        "left": result.left,
        "failed": result.failed,
        "runs": result.rows,
    }


def _as_text(rows: Sequence[dict[str, Any]]) -> str:
    head = ("run", "state", "epoch", "dev F1", "test F1", "minutes", "peak MB")
    return _aligned([head, *(_cells(row) for row in rows)])


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "dev_f1" not in row:
        return row["run"], row["state"], "", "", "", "", ""
    epoch, peak = row["epoch"], row["peak_rss_bytes"]
    dev, test = (
        "" if row[name] is None else f"{100 * row[name]:.2f}" for name in ("dev_f1", "test_f1")
    )
    return (
        row["run"],
        row["state"],
        "" if epoch is None else str(epoch),
        dev,
        test,
        f"{row['seconds'] / 60:.1f}",
        "" if peak is None else f"{peak / 1e6:.0f}",
    )


def _row(run: Planned) -> dict[str, Any]:
    row = {"run": run.run.name, "tier": run.run.tier, "hash": run.hash, "state": run.state}
    return row | {"stale": bool(run.stale)} | ({"reason": run.problem} if run.problem else {})


def _list_runs(planned: Sequence[Planned]) -> str:
    """Returns a list of all runs with tier, hash and progress."""
    return _aligned(
        [
            ("run", "tier", "hash", "state"),
            *((p.run.name, p.run.tier, p.hash[:12], _state(p)) for p in planned),
        ]
    )


def _state(run: Planned) -> str:
    from fascicle.training.experiments.queue import count_epochs

    words = {
        "done": "done",
        "complete": "trained, results not written",
        "interrupted": f"interrupted after epoch {run.epoch} of {count_epochs(run.recipe)}",
        "new": "not run",
        "waiting": f"not run, starts from {run.after}, which is not complete",
        "unable": f"cannot be begun: {with_options(run.problem)}",
    }[run.state]
    return f"{words}; its results are stale" if run.stale else words


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "".join(f"{line}\n" for line in lines)
