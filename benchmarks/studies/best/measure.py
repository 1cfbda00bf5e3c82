"""The runs of the grid ``best`` as they would ship: in 8 bits, with rules for abbreviations that dev chose.

usage: FASCICLE_DATA=... python -m benchmarks.studies.best.measure --runs FOLDER [--only GLOB]

Every complete run is exported with scales measured on its training texts. It predicts dev and test sentence by sentence
through ONNX Runtime, its mentions are put back into the abstracts, the rules are fitted on dev, and test is scored
without and with them. ``results/best-8-bits.json`` keeps what is not measured again.

A run that learnt from dev too has no part to fit rules on; it takes those of its twin without dev.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchmarks.common import GRIDS, paired, result, row, write_result
from benchmarks.studies.abbreviations.measure import CORPORA, Joined, fitted, in_abstracts, rules_of
from benchmarks.studies.best.tables import FORMS, NAME
from fascicle.core.document import Document
from fascicle.experiments.grid import GridRun, read_grid
from fascicle.files.source import Source
from fascicle.formats.predictions import read as read_predictions
from fascicle.knowledge.abbreviations.fitting import Found
from fascicle.loading import load
from fascicle.models.export.folders import export_model
from fascicle.training.corpus import read_part

if TYPE_CHECKING:
    from fascicle.text.annotator import Annotator

REFIT = "-refit"  # the name of a corpus whose train part has dev too ends so


def main() -> int:
    """Measures the runs at hand, those without dev first."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--only", default="*")
    args = parser.parse_args()
    rows: dict[str, Any] = dict(result(NAME).get("runs", {}))
    wanted = [run for run in read_grid(GRIDS / "best.toml").runs if _corpus(run) in CORPORA]
    done = [
        run
        for run in sorted(wanted, key=_learns_dev)
        if fnmatch.fnmatch(run.name, args.only) and (args.runs / run.name / "scores.json").exists()
    ]
    if not done:
        sys.stderr.write(f"{args.runs} has no complete run named {args.only!r}\n")
        return 2
    for run in done:
        rows[run.name] = measured(run, args.runs / run.name, rows)
        print(
            run.name,
            {form: round(rows[run.name][form]["micro"]["f1"], 4) for form in FORMS},
            flush=True,
        )
        write_result(NAME, {"runs": rows})
    return 0


def measured(run: GridRun, folder: Path, rows: Mapping[str, Any]) -> dict[str, Any]:
    """One run: as it was trained, in 8 bits, and under the rules."""
    with tempfile.TemporaryDirectory() as place:
        corpus = run.resolved().corpus
        export_model(folder, Path(place) / "int8", sample=read_part(corpus, "train"))
        model = load(Path(place) / "int8", threads=1)
        test = _joined(run, "test", {"whole": _stored(folder), "int8": _answers(model, read_part(corpus, "test"))})
        twin = rows.get(_twin(run), {}) if _learns_dev(run) else {}
        chosen = twin.get("rules") or _fitted(_joined(run, "dev", {"int8": _answers(model, read_part(corpus, "dev"))}))
    whole, int8 = (test.score(test.said[name]) for name in ("whole", "int8"))
    after = test.score(test.under(test.said["int8"], rules_of(chosen)))
    return {
        "corpus": _corpus(run),
        "system": run.system,
        "refit": _learns_dev(run),
        "seed": run.recipe.seed,
        "rules": chosen,
        "whole": row(whole),
        "int8": row(int8),
        "resolved": row(after),
        "int8_less_whole": paired(int8, whole),
        "resolved_less_int8": paired(after, int8),
    }


def _fitted(dev: Joined) -> dict[str, Any]:
    """The rules that are best on dev, and what they are worth there."""
    return {name: value for name, value in fitted(dev, dev.said["int8"]).items() if name != "tried"}


def _joined(run: GridRun, name: str, said: Mapping[str, Found]) -> Joined:
    return in_abstracts(_corpus(run), name, read_part(run.resolved().corpus, name), said)


def _answers(model: Annotator, documents: Sequence[Document]) -> Found:
    """What a model says of each document, without its gold."""
    bare = [msgspec.structs.replace(one, mentions=()) for one in documents]
    return {one.id: patch.add for one, patch in zip(bare, model.predict(bare), strict=True)}


def _stored(folder: Path) -> Found:
    """What the run itself said of test."""
    return {one.id: one.mentions for one in read_predictions(Source(path=str(folder / "predictions" / "test.tsv")))}


def _corpus(run: GridRun) -> str:
    return run.corpus.removesuffix(REFIT)


def _learns_dev(run: GridRun) -> bool:
    return run.corpus.endswith(REFIT)


def _twin(run: GridRun) -> str:
    """The run with the same seed that did not learn from dev."""
    return run.name.replace(REFIT, "", 1)


if __name__ == "__main__":
    raise SystemExit(main())
