"""What `careful` changes: mentions of one shipped model stay only if the other has them too.

usage: python -m studies.decision.careful SCORES

SCORES is the folder of ``studies.decision.scores``, with those of both shipped models. Rows are
those of ``studies.decision.measure`` whose corpora taught nothing. Each is scored strictly without
and with the choice; intervals of differences are paired over documents. No value is chosen here.
Writes ``results/decision-careful.json``.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from fascicle.core.document import GOLD, Document, Mention, Patch
from fascicle.evaluation.scoring.scores import score
from fascicle.loading import load_single
from fascicle.runtime.agreeing import AgreedPredictor
from fascicle.text.annotator import Annotator
from studies.common import paired, write_result
from studies.decision.measure import ROWS, Found, Measured, answers, taught_sentences

MODELS: Final = ("biomed", "biomed-fast")


class Stored(Annotator):
    """A model that repeats the answers which it gave before."""

    kind = "stored answers"

    def __init__(self, name: str, said: Found, types: Sequence[str]) -> None:
        """Takes the mentions of each document by its id."""
        self._name, self._said, self._types = name, said, tuple(types)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the model."""
        return self._types

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """The mentions again."""
        return [Patch(add=self._said[one.id]) for one in documents]


def main(argv: Sequence[str] | None = None) -> None:
    """Scores, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scores", type=Path)
    args = parser.parse_args(argv)
    models = [load_single(name, threads=1) for name in MODELS]
    taught = taught_sentences(Path(os.environ["FASCICLE_DATA"]))
    rows: dict[str, Any] = {}
    for row in (row for row in ROWS if row.foreign):
        said = [
            answers(args.scores / m.manifest.name / f"{row.file}.jsonl", row, m, taught=taught)
            for m in models
        ]
        stored = [
            Stored(model.name, one.after, model.types)
            for model, one in zip(models, said, strict=True)
        ]
        careful = AgreedPredictor(stored[0], stored[1], [row.type]).predict(said[0].documents)
        rows[row.name] = _numbers(
            row,
            said[0].documents,
            said[0].after,
            {one.id: patch.add for one, patch in zip(said[0].documents, careful, strict=True)},
        )
        figures = (rows[row.name][name]["f1"] for name in ("plain", "careful"))
        print(row.name, *(f"{100 * figure:.1f}" for figure in figures), flush=True)
    write_result("decision-careful", {"models": [m.manifest.name for m in models], "rows": rows})


def _numbers(
    row: Measured, documents: Sequence[Document], plain: Found, careful: Found
) -> dict[str, Any]:
    gold = {
        one.id: tuple(
            {
                m.spans: Mention(m.spans, row.type) for m in one.layer(GOLD) if m.type in row.labels
            }.values()
        )
        for one in documents
    }
    strict = [
        score(gold, {key: tuple(m for m in said if m.type == row.type) for key, said in of.items()})
        for of in (plain, careful)
    ]
    return {
        "type": row.type,
        "mentions": sum(map(len, gold.values())),
        **{
            name: {key: getattr(one.micro, key) for key in ("precision", "recall", "f1")}
            for name, one in zip(("plain", "careful"), strict, strict=True)
        },
        "difference": paired(strict[1], strict[0]),
    }


if __name__ == "__main__":
    main()
