"""The runs of the grid ``best`` as they would ship: in 8 bits, with rules for abbreviations that
dev chose.

usage: FASCICLE_DATA=... python -m studies.best.measure --runs FOLDER [--only GLOB]

Every complete run is exported with scales measured on its training texts. It predicts dev and test
sentence by sentence through ONNX Runtime, its mentions are put back into the abstracts, the rules
are fitted on dev, and test is scored without and with them. ``results/best-8-bits.json`` keeps what
is not measured again.

A run that learnt from dev too has no part to fit rules on; it takes those of its twin without dev.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.errors import InputError
from fascicle.formats.predictions import read as read_predictions
from fascicle.loading import load_single
from fascicle.models.export.folders import export_model
from fascicle.runtime.predictor import ModelPredictor
from fascicle.terms.abbreviations.resolving import Found
from fascicle.training.corpus import read_part
from fascicle.training.experiments.grid import GridRun, read_grid
from studies.abbreviations.measure import CORPORA, answers, fitted, in_abstracts, rules_of
from studies.best.tables import FORMS, NAME
from studies.common import GRIDS, paired, result, row, write_result

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
    """One run: as it was trained, in 8 bits, and under the rules.

    Raises:
        InputError: a run that learnt from dev, before its twin was measured.
    """
    corpus = run.resolved().corpus
    with tempfile.TemporaryDirectory() as place:
        export_model(folder, Path(place) / "int8", sample=read_part(corpus, "train"))
        model = load_single(Path(place) / "int8", threads=1)
        sentences = read_part(corpus, "test")
        said = {"whole": _stored(folder), "int8": answers(model, sentences)}
        test = in_abstracts(_corpus(run), "test", sentences, said)
        chosen = (
            _of_twin(run, rows)
            if _learns_dev(run)
            else _fitted(run, model, read_part(corpus, "dev"))
        )
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


def _fitted(run: GridRun, model: ModelPredictor, sentences: Sequence[Document]) -> dict[str, Any]:
    """The rules that are best on dev, and what they are worth there."""
    dev = in_abstracts(_corpus(run), "dev", sentences, {"int8": answers(model, sentences)})
    return {name: value for name, value in fitted(dev, dev.said["int8"]).items() if name != "tried"}


def _of_twin(run: GridRun, rows: Mapping[str, Any]) -> dict[str, Any]:
    """The rules of the run with the same seed that did not learn from dev."""
    twin = run.name.replace(REFIT, "", 1)
    if twin not in rows:
        raise InputError(
            f"{run.name} learnt from dev, and takes the rules of {twin}, which is not measured; "
            "do that first"
        )
    rules: dict[str, Any] = rows[twin]["rules"]
    return rules


def _stored(folder: Path) -> Found:
    """What the run itself said of test."""
    return {
        one.id: one.mentions
        for one in read_predictions(Source(path=str(folder / "predictions" / "test.tsv")))
    }


def _corpus(run: GridRun) -> str:
    return run.corpus.removesuffix(REFIT)


def _learns_dev(run: GridRun) -> bool:
    return run.corpus.endswith(REFIT)


if __name__ == "__main__":
    raise SystemExit(main())
