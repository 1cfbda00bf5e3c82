"""What calibration does to the shipped model: fitted on the development part of bc5cdr, scored on
its test part.

usage: python -m studies.calibration.measure

``FASCICLE_DATA`` names the corpora. The same as ``fascicle calibrate bc5cdr@1 devel.tsv --f1
--per-type`` does, and then the scores of both models on test, of which nothing is chosen, with the
paired difference of their F1. Writes ``results/calibration.json``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.evaluation.calibration.fitting import Target, fit_calibration
from fascicle.evaluation.calibration.reliability import (
    brier_score,
    expected_calibration_error,
    judged,
    reliability_curve,
)
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.formats.conll import ConllOptions
from fascicle.formats.files import read
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from studies.common import paired, write_result

MODEL = "bc5cdr@1"
PARTS = {"dev": "devel.tsv", "test": "test.tsv"}
Said = dict[str, Sequence[Mention]]


def documents_of(part: str) -> list[Document]:
    """A part of the corpus, a sentence each."""
    path = Path(os.environ["FASCICLE_DATA"]) / "bc5cdr" / "iob" / PARTS[part]
    return list(read(str(path), format="conll", options=ConllOptions(documents="sentence")))


def said(predictor: ModelPredictor, documents: Sequence[Document]) -> Said:
    """What a model predicts without a look at the gold."""
    bare = (msgspec.structs.replace(document, mentions=(), events=()) for document in documents)
    return {document.id: document.mentions for document in predictor.stream(bare)}


def stage(
    name: str, documents: Sequence[Document], predicted: Said
) -> tuple[dict[str, Any], Scores]:
    """A row as ``fascicle calibrate`` prints it, and the scores for a paired difference."""
    gold = layers(documents)
    data, scores = judged(gold, predicted), score(gold, predicted)
    row = {
        "name": name,
        "mentions": sum(map(len, predicted.values())),
        "expected_calibration_error": expected_calibration_error(
            reliability_curve(data.scores, data.right)
        ),
        "brier_score": brier_score(data.scores, data.right),
    }
    micro = scores.as_dict()["micro"]
    return row | {key: micro[key] for key in ("precision", "recall", "f1")}, scores


def main() -> None:
    """Fits, scores, prints and writes the results file."""
    model = load_single(MODEL, threads=1)
    dev, test = documents_of("dev"), documents_of("test")
    data = judged(layers(dev), said(model, dev))
    fitted = fit_calibration(
        data, method="temperature", target=Target(), types=model.types, chosen_on=""
    )
    decision = msgspec.structs.replace(model.manifest.decision, calibration=fitted.calibration)
    better = model.deciding(decision)
    before, first = stage("as it is", test, said(model, test))
    after, second = stage(fitted.stages[-1].name, test, said(better, test))
    value: dict[str, Any] = {
        "what": f"{MODEL}, temperature and a threshold of each type for F1, fitted on bc5cdr dev",
        "calibration": msgspec.to_builtins(fitted.calibration),
        "dev": [one.as_dict() for one in fitted.stages],
        "test": [before, after],
        "test_f1_difference": paired(second, first),
    }
    write_result("calibration", value)
    print(json.dumps(value, indent=1))


if __name__ == "__main__":
    main()
