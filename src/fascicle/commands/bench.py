"""``fascicle bench``: a grid of recipes to results files, from which tables are made."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fascicle.commands.console import say
from fascicle.commands.parsing import add_json, add_threads, positive
from fascicle.commands.places import fills, reads
from fascicle.errors import OutputError, UsageError
from fascicle.formats.apart import Inputs

if TYPE_CHECKING:
    from fascicle.experiments.events import GridEvent
    from fascicle.experiments.grid import Grid
    from fascicle.experiments.queue import Planned

TIERS = ("smoke", "cpu", "gpu")


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "grid", type=reads, metavar="GRID.toml", help="the grid: corpora, systems, variants, seeds, or recipe files"
    )
    parser.add_argument("--tier", action="append", choices=TIERS, help="only runs of this tier; may be repeated")
    parser.add_argument("--only", nargs="+", action="extend", metavar="GLOB", help="only runs or recipes of such names")
    parser.add_argument("--runs", type=fills, metavar="FOLDER", help="the run folders; default: runs/GRIDNAME")
    parser.add_argument(
        "-o",
        "--results",
        type=fills,
        metavar="FOLDER",
        help="default: results/GRIDNAME beside grids/, or beside the file",
    )
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="runs at a time; default: 1")
    add_threads(parser)
    parser.add_argument("--minutes", type=positive, metavar="M", help="begin no epoch that would end later than that")
    parser.add_argument("--list", action="store_true", help="show every run and how far it is, and do nothing")
    add_json(parser, what="what was done")


def run(args: argparse.Namespace) -> int:
    """Works off the grid; returns the exit code."""
    from fascicle.experiments.grid import read_grid
    from fascicle.experiments.queue import check_installed, examine, select, tasks_of, work_off

    deadline = None if args.minutes is None else time.time() + 60 * args.minutes
    grid = read_grid(args.grid)
    folder = Path(args.runs or Path("runs") / grid.name)
    results = Path(args.results or grid.results)
    planned = examine(select(grid.runs, tiers=args.tier or (), only=args.only or ()), folder=folder, results=results)
    if args.list:
        sys.stdout.write(_listed(planned, as_json=args.json))
        return 0
    check_installed()
    _check_folder(results)
    _check_results(planned, args.grid, results)
    book = _Book(planned=planned)
    able = _able(_possible(planned, book), named=bool(args.only), book=book)
    tasks = tasks_of(grid, able, results=results, threads=_threads_of(args), deadline=deadline)
    _say_plan(grid, planned, len(tasks))
    for event in work_off([msgspec.structs.replace(task, debug=args.debug) for task in tasks], jobs=args.jobs):
        _report(event, book, verbose=args.verbose)
    rows = book.rows(results)
    for line in _mixed(planned, results):
        say(line)
    sys.stdout.write(_as_json(grid, results, rows) if args.json else _as_text(rows))
    return _said_ends(rows)


def _check_folder(results: Path) -> None:
    """Refuses a place for results where no folder can be, before hours of training."""
    there = next((place for place in (results, *results.parents) if place.exists()), results)
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise OutputError(f"results cannot be written to {results}: {there} is no folder to write in; give another -o")


def _check_results(planned: Sequence[Planned], grid: str, results: Path) -> None:
    """Refuses to write results over anything but results, or over what is read."""
    from fascicle.experiments.results import check_result, files_of_result

    origins = {str(found.run.origin) for found in planned}
    inputs = Inputs.of([grid, *origins, *(path for found in planned for path in found.recipe.files().values())])
    for found in planned:
        if found.state not in ("done", "unable"):
            for path in files_of_result(results, found.run.name):
                inputs.refuse(path, filled=True)
            check_result(results, found.run.name)


@dataclass(frozen=True, kw_only=True)
class _Book:
    """What became of each run.

    Attributes:
        planned: the runs, as they were found.
        ends: name of a run -> ``"trained"``, ``"collected"``, ``"left"``, ``"failed"``.
        errors: name of a run -> why it failed or was left.
    """

    planned: Sequence[Planned]
    ends: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def failed(self, run: str, error: str) -> None:
        """Says so, and writes it down."""
        self.ends[run] = "failed"
        self.errors[run] = error
        say(f"failed: {run}: {error}")

    def rows(self, results: Path) -> list[dict[str, Any]]:
        """One row for each run, with the scores of those that have results now."""
        from fascicle.experiments.results import read_result

        rows = []
        for found in self.planned:
            name = found.run.name
            state = self.ends.get(name, found.state)
            row: dict[str, Any] = {"run": name, "state": state, "hash": found.hash, "tier": found.run.tier}
            if state in ("done", "trained", "collected"):
                row |= _figures(read_result(results, name))
            elif name in self.errors:
                row["reason"] = self.errors[name]
            rows.append(row)
        return rows


def _figures(value: dict[str, Any]) -> dict[str, Any]:
    return {
        "epoch": value.get("epoch"),
        "dev_f1": _f1(value.get("dev")),
        "test_f1": _f1(value.get("test")),
        "seconds": value["seconds"],
        "peak_rss_bytes": value["peak_rss_bytes"],
    }


def _mixed(planned: Sequence[Planned], results: Path) -> Iterator[str]:
    """Sentences about seeds of one recipe that were trained under different conditions."""
    from fascicle.experiments.results import other_conditions, read_result

    cells: dict[str, list[str]] = {}
    for found in planned:
        cells.setdefault(found.run.recipe.name, []).append(found.run.name)
    for name, runs in cells.items():
        values = [value for run in runs if (value := read_result(results, run))]
        if other := other_conditions(values):
            yield f"note: the seeds of {name} were trained under different conditions ({'; '.join(other)})"


def _f1(scores: dict[str, Any] | None) -> float | None:
    """Of recognition; a filter has none, and a span typer only where it finds mentions."""
    found = scores.get("found", scores) if scores else None
    return found[found.get("average", "micro")]["f1"] if found else None


def _possible(planned: Sequence[Planned], book: _Book) -> list[Planned]:
    """Leaves out what cannot be begun.

    Raises:
        UsageError: nothing can, and nothing is done.
    """
    unable = [found for found in planned if found.state == "unable"]
    if unable and len(unable) == len(planned):
        raise UsageError(unable[0].problem)
    for found in unable:
        book.failed(found.run.name, found.problem)
    return [found for found in planned if found.state != "unable"]


def _able(planned: Sequence[Planned], *, named: bool, book: _Book) -> list[Planned]:
    """Leaves out what is meant for an accelerator where there is none, unless it was asked for by name."""
    from fascicle.experiments.queue import has_accelerator

    waiting = [found for found in planned if found.run.tier == "gpu" and found.state not in ("done", "complete")]
    if named or not waiting or has_accelerator():
        return list(planned)
    say(
        f"no accelerator here: {_count(len(waiting))} of the tier gpu left out; name them with --only to run them on "
        "the CPU all the same"
    )
    for found in waiting:
        book.ends[found.run.name] = "left"
        book.errors[found.run.name] = "no accelerator"
    return [found for found in planned if found not in waiting]


def _threads_of(args: argparse.Namespace) -> int | None:
    """As asked for; else the usable cores are shared among the jobs."""
    if args.threads is not None or args.jobs == 1:
        return int(args.threads) if args.threads is not None else None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // int(args.jobs))


def _say_plan(grid: Grid, planned: Sequence[Planned], count: int) -> None:
    done = sum(found.state == "done" for found in planned)
    say(f"grid {grid.name}: {_count(len(planned))}, {done} done before, {count} to do")
    for found in planned:
        if found.stale:
            say(f"{found.run.name}: its results are of another recipe or other data, so it is run again")


def _report(event: GridEvent, book: _Book, *, verbose: bool) -> None:
    """Says how a run goes, and writes down how it ends."""
    from fascicle.experiments.events import Done, EpochEnded, Failed, Left, Said

    match event:
        case EpochEnded():
            place = f", step {event.step}" if event.step else ""
            say(
                f"{event.run}: epoch {event.epoch}/{event.epochs}{place}: loss {event.loss:.4f}, "
                f"{event.figures}, {event.seconds:.0f} s{', best so far' if event.best else ''}"
            )
        case Said() if verbose:
            say(f"{event.run}: {event.text}")
        case Done():
            book.ends[event.run] = "trained" if event.trained else "collected"
            say(f"{event.run}: {'results written' if event.trained else 'results of the run folder collected'}")
        case Left():
            book.ends[event.run] = "left"
            book.errors[event.run] = f"after epoch {event.epoch} of {event.epochs}"
        case Failed():
            book.failed(event.run, event.error)


def _said_ends(rows: Sequence[dict[str, Any]]) -> int:
    """Says what is left and what failed; returns the exit code."""
    left, failed = (sum(row["state"] == state for row in rows) for state in ("left", "failed"))
    if left:
        say(f"{_count(left)} left: the same command goes on")
    if failed:
        say(f"{_count(failed)} failed; the others are done or left")
    return 3 if failed else 0


def _as_json(grid: Grid, results: Path, rows: Sequence[dict[str, Any]]) -> str:
    states = [row["state"] for row in rows]
    value = {
        "grid": grid.name,
        "results": str(results),
        "done": sum(state in ("done", "trained", "collected") for state in states),
        "left": states.count("left"),
        "failed": states.count("failed"),
        "runs": rows,
    }
    return json.dumps(value) + "\n"


def _as_text(rows: Sequence[dict[str, Any]]) -> str:
    head = ("run", "state", "epoch", "dev F1", "test F1", "minutes", "peak MB")
    return _aligned([head, *(_cells(row) for row in rows)])


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "dev_f1" not in row:
        return row["run"], row["state"], "", "", "", "", ""
    epoch, peak = row["epoch"], row["peak_rss_bytes"]
    dev, test = ("" if row[name] is None else f"{100 * row[name]:.2f}" for name in ("dev_f1", "test_f1"))
    return (
        row["run"],
        row["state"],
        "" if epoch is None else str(epoch),
        dev,
        test,
        f"{row['seconds'] / 60:.1f}",
        "" if peak is None else f"{peak / 1e6:.0f}",
    )


def _listed(planned: Sequence[Planned], *, as_json: bool) -> str:
    """Every run with its tier, its hash and how far it is."""
    if as_json:
        rows = [
            {"run": p.run.name, "tier": p.run.tier, "hash": p.hash, "state": p.state, "stale": bool(p.stale)}
            | ({"reason": p.problem} if p.problem else {})
            for p in planned
        ]
        return json.dumps(rows) + "\n"
    return _aligned(
        [("run", "tier", "hash", "state"), *((p.run.name, p.run.tier, p.hash[:12], _state(p)) for p in planned)]
    )


def _state(found: Planned) -> str:
    from fascicle.experiments.queue import epochs_of

    said = {
        "done": "done",
        "complete": "trained, results not written",
        "interrupted": f"interrupted after epoch {found.epoch} of {epochs_of(found.recipe)}",
        "new": "not run",
        "unable": f"cannot be begun: {found.problem}",
    }[found.state]
    return f"{said}; its results are stale" if found.stale else said


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)


def _count(number: int) -> str:
    return f"{number:,} {'run' if number == 1 else 'runs'}"
