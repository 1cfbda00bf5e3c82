"""Small grids of runs, and the results files that tables read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fascicle.evaluation.scoring.scores import Scores
from fascicle.training.experiments.grid import Grid, read_grid
from fascicle.training.experiments.hashes import recipe_hash
from fascicle.training.experiments.results import stored_scores

# true positives, false positives and false negatives of each test unit
Counts = Sequence[Sequence[int]]
Named = Mapping[str, str] | Iterable[str]  # names, with the TOML of each if it has any
RECIPE = 'model.encoder = "tiny"\ncorpus = { train = "a", dev = "b", test = "c" }'
ON_DEV = 'corpus.test = ""'


def grid_text(
    name: str,
    *,
    systems: Named,
    corpora: Named = ("toy",),
    variants: Named = (),
    runs: Iterable[Mapping[str, Any]] = ({},),
    recipe: str = RECIPE,
    compare: str = "",
) -> str:
    """The TOML of a grid; a run is of all corpora and systems, seed 1 and the tier cpu where it
    names no others.
    """
    blocks = [
        f'name = "{name}"\n' + f'compare = "{compare}"' * bool(compare),
        f"[recipe]\n{recipe}",
    ]
    tables = {"corpora": corpora, "systems": systems, "variants": variants}
    for table, named in tables.items():
        bodies = named if isinstance(named, Mapping) else dict.fromkeys(named, "")
        blocks += [f'[{table}."{key}"]\n{body}' for key, body in bodies.items()]
    for run in runs:
        whole = {
            "corpora": list(corpora),
            "systems": list(systems),
            "seeds": [1],
            "tier": "cpu",
            **run,
        }
        blocks.append(
            "\n".join(
                ["[[run]]", *(f"{key} = {json.dumps(value)}" for key, value in whole.items())]
            )
        )
    return "\n".join(blocks) + "\n"


def make_grid(folder: Path, name: str, **parts: Any) -> Grid:
    """A grid as a file of the folder, with an empty folder for its results."""
    path = folder / f"{name}.toml"
    path.write_text(grid_text(name, **parts), encoding="utf-8")
    (folder / "results" / name).mkdir(parents=True, exist_ok=True)
    return read_grid(path)


def store(
    grid: Grid,
    name: str,
    counts: Counts | None = None,
    *,
    head: str = "",
    dev: float = 0.8,
    **more: Any,
) -> None:
    """A results file as far as tables look at it; of another head of a bundle, if one is named;
    ``...`` leaves out.
    """
    run = next(run for run in grid.runs if run.name == name)
    parts = [
        "train",
        "dev",
        *(["test"] if counts else []),
        *(["distant.core"] if run.recipe.distant else []),
    ]
    f1 = stored_scores(counts).micro.f1 if counts else 0.0
    value: dict[str, Any] = {
        "hash": recipe_hash(run.recipe, {part: part for part in parts}),
        "dev": {"micro": {"f1": dev}},
        "test": {"micro": stored_scores(counts).as_dict()["micro"]} if counts else None,
        "test_f1_interval": {"estimate": f1, "low": f1 - 0.1, "high": f1 + 0.1},
        "test_counts": counts,
        "seconds": 600,
        "peak_rss_bytes": 2_340_000_000,
        "facts": {
            "data": {part: {"sha256": part, "documents": 1000, "mentions": 1234} for part in parts}
        },
    }
    kept = {key: of for key, of in {**value, **more}.items() if of is not ...}
    write_json(grid.results / f"{name}{'.' * bool(head)}{head}.json", kept)


def write_json(path: Path, value: object) -> Path:
    """A results file that no grid has made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def shown(interval: Any, digits: int = 1) -> str:
    """A difference in points and its interval, as tables write them."""
    low, high = (f"{100 * end:+.{digits}f}" for end in (interval.low, interval.high))
    return f"{100 * interval.estimate:+.2f} ({low} to {high})"


def both(first: Counts, second: Counts) -> tuple[Scores, Scores]:
    """The scores of two systems."""
    return stored_scores(first), stored_scores(second)
