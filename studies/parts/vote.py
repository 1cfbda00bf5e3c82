"""A majority vote of small models of several corpora, on the cells of dev.

usage: python -m studies.parts.vote RUN RUN RUN

Reads what the chosen model of each run says of dev; all runs must have read the same dev documents,
but a part that one of them lacks is left out. Written: ``results/teachers-vote.json``. A cell is a
type of a corpus that annotates it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.core.mention import Mention
from fascicle.formats.predictions import read as read_predictions
from fascicle.runtime.combination.align import System, align
from fascicle.runtime.combination.rules import combine, majority
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.engine.folder import RECIPE
from fascicle.training.experiments.grid import read_grid
from fascicle.training.experiments.results import read_result
from fascicle.training.recogniser.judging import SeveralCorpora
from fascicle.training.recogniser.parts import read_data
from studies.common import GRIDS, RESULTS, write_result
from studies.parts.cells import beside, cells_of
from studies.tables.grids import rows_of

NAME = "teachers-vote"
_SAID = "predictions/dev.tsv"
_COLUMNS = (
    ("teachers", "mpnet"),
    ("six", "shape"),
    ("teachers", "minilm-crf"),
    ("teachers", "minilm-span"),
)
Said = Mapping[str, Sequence[Mention]]


def main() -> None:
    """Votes, and writes F1 of each cell, of the vote and of each member."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", type=Path, nargs="+")
    runs: list[Path] = parser.parse_args().runs
    recipes = [msgspec.json.decode((run / RECIPE).read_bytes(), type=Recipe) for run in runs]
    parts = read_data(recipes[0])
    shared = {
        name
        for name in recipes[0].parts
        if all(r.parts.get(name) and r.parts[name].dev for r in recipes)
    }
    dev = [document for one in parts.several if one.name in shared for document in one.dev]
    annotates = {one.name: one.annotates for one in parts.several if one.name in shared}
    members = {run.name: said(run / _SAID, dev) for run in runs}
    write_result(NAME, {"runs": [run.name for run in runs], **cells(members, dev, annotates)})


def said(path: Path, documents: Sequence[Document]) -> dict[str, tuple[Mention, ...]]:
    """What a run says of these documents; its file does not list those without a mention."""
    found = {
        one.id: one.mentions
        for one in read_predictions(Source(path=str(path)), mention_source="model")
    }
    return {document.id: found.get(document.id, ()) for document in documents}


def cells(
    members: Mapping[str, Said], dev: Sequence[Document], annotates: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """F1 of each cell and their mean, of a vote (``vote``) and of each member."""
    votes = align(
        [System(name=name, mentions=mentions) for name, mentions in members.items()],
        missing="empty",
    )
    judge, systems = (
        SeveralCorpora(annotates=annotates),
        {"vote": combine(votes, majority()), **members},
    )
    told: dict[str, Any] = {}
    for name, mentions in systems.items():
        scores = judge.scores(dev, {document.id: tuple(mentions[document.id]) for document in dev})
        f1 = {cell: counts.rates().f1 for cell, counts in scores.by_type.items() if counts.support}
        told[name] = {"f1": f1, "mean": scores.macro.f1}
    return {"systems": told}


def table(grids: Path = GRIDS, results: Path = RESULTS) -> str:
    """What small models, and their vote, have on the cells of the big teacher."""
    read = {name: read_grid(grids / f"{name}.toml") for name in ("teachers", "six")}
    rows = {
        (name, row.system): row
        for name, grid in read.items()
        for row in rows_of(grid, grid.results)
        if not row.variant
    }
    found = {system: cells_of(rows[name, system]) for name, system in _COLUMNS}
    vote = (read_result(results, NAME) or {}).get("systems", {}).get("vote", {"f1": {}})
    return beside({**found, "vote": {cell: 100 * f1 for cell, f1 in vote["f1"].items()}})


if __name__ == "__main__":
    main()
