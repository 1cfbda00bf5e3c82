"""F1 of last characters less F1 of first ones, with an interval (*binder* Table 8), from stored
predictions.

usage: python -m studies.binder.borders

``FASCICLE_DATA`` names the corpora. Abstracts are drawn; those of the whole of GENIA, whose files
name none, are told by their text (``studies/abstracts.py``).
Written: ``results/binder-borders.json``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.formats.predictions import read
from fascicle.training.corpus import read_part
from fascicle.training.experiments.grid import read_grid
from studies.abstracts import KNOWN, abstracts_in, by_abstract
from studies.common import GRIDS, RESULTS, paired, write_result

NAME = "binder-borders"
RUNS = ("genia-binder-nested-s1", "genia-events-binder-nested-s1")


def ends_less_starts(
    documents: Sequence[Document], said: Sequence[Document], abstracts: Mapping[str, str]
) -> dict[str, float]:
    """F1 of last characters less F1 of first ones, on the same draws of abstracts, or of what is of
    none.
    """
    mentions = {one.id: one.mentions for one in said}
    predicted = {one.id: mentions.get(one.id, ()) for one in documents}
    gold = layers(documents)
    ends, starts = (
        by_abstract(score(gold, predicted, rule=rule), abstracts) for rule in ("end", "start")
    )
    return paired(ends, starts)


def main() -> None:
    """Scores the runs, and writes their differences."""
    runs = {run.name: run for run in read_grid(GRIDS / "binder.toml").runs}
    rows = {}
    for name in RUNS:
        documents = read_part(runs[name].resolved().corpus, "test")
        path = RESULTS / "binder" / "predictions" / f"{name}.test.tsv.gz"
        corpus = runs[name].corpus
        data = Path(os.environ["FASCICLE_DATA"])
        abstracts = abstracts_in(corpus, documents, data) if corpus in KNOWN else {}
        rows[name] = ends_less_starts(documents, list(read(Source(path=str(path)))), abstracts)
    write_result(NAME, {"what": "F1 of ends less F1 of starts", "runs": rows})


if __name__ == "__main__":
    main()
