"""What a model changes beside another on texts that taught neither, each with its own decision.

usage: python -m studies.decision.beside MODEL OTHER SCORES

SCORES is the folder of ``studies.decision.scores``, with both models. A row is one of
``studies.decision.measure`` that is foreign. Differences are paired over documents. Writes
``results/decision-MODEL-beside.json``, and prints a row for each.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from studies.common import paired, write_result
from studies.decision.measure import ROWS, answers, gold_of, of_type, rows_by_file, taught_sentences

FOREIGN = tuple(row for row in ROWS if row.foreign)


def main(argv: Sequence[str] | None = None) -> int:
    """Scores and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("other")
    parser.add_argument("scores", type=Path)
    args = parser.parse_args(argv)
    taught = taught_sentences(Path(os.environ["FASCICLE_DATA"]))
    models = [load_single(name, threads=1) for name in (args.model, args.other)]
    names = [model.manifest.name for model in models]
    first, second = (scores_of(model, args.scores, taught=taught) for model in models)
    rows: dict[str, dict[str, Any]] = {
        name: {
            "f1": [first[name].micro.f1, second[name].micro.f1],
            "difference": paired(first[name], second[name]),
        }
        for name in first
    }
    mean = fmean(row["difference"]["estimate"] for row in rows.values())
    write_result(f"decision-{names[0]}-beside", {"models": names, "rows": rows, "mean": mean})
    for name, row in rows.items():
        less = row["difference"]
        print(
            f"{name:24}{100 * row['f1'][0]:7.1f}{100 * row['f1'][1]:7.1f}"
            f"{100 * less['estimate']:+7.1f} ({100 * less['low']:+.1f} to {100 * less['high']:+.1f})"
        )
    print(f"mean of the differences: {100 * mean:+.2f}")
    return 0


def scores_of(model: ModelPredictor, folder: Path, *, taught: frozenset[str]) -> dict[str, Scores]:
    """Returns the strict scores of each foreign row by its name."""
    scores = {}
    for file, rows in rows_by_file(FOREIGN).items():
        path = folder / model.manifest.name / f"{file}.jsonl"
        answered = answers(path, rows[0], model, taught=taught)
        for row in rows:
            gold = gold_of(row, answered.documents)
            scores[row.name] = score(gold, of_type(answered.after, row.type))
    return scores


if __name__ == "__main__":
    raise SystemExit(main())
