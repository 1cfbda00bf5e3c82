"""F1 of last characters less F1 of first ones, with an interval (*binder* Table 8), from stored
predictions.

usage: python -m studies.binder.borders

``FASCICLE_DATA`` names the corpora. Documents are drawn: abstracts of the documents with events,
and sentences of the whole of GENIA, whose files name no abstracts.
Written: ``results/binder-borders.json``.
"""

from __future__ import annotations

from collections.abc import Sequence

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.formats.predictions import read
from fascicle.training.corpus import read_part
from fascicle.training.experiments.grid import read_grid
from studies.common import GRIDS, RESULTS, paired, write_result

NAME = "binder-borders"
RUNS = ("genia-binder-nested-s1", "genia-events-binder-nested-s1")


def ends_less_starts(documents: Sequence[Document], said: Sequence[Document]) -> dict[str, float]:
    """F1 of last characters less F1 of first ones, on the same draws of documents."""
    mentions = {one.id: one.mentions for one in said}
    predicted = {one.id: mentions.get(one.id, ()) for one in documents}
    gold = layers(documents)
    return paired(score(gold, predicted, rule="end"), score(gold, predicted, rule="start"))


def main() -> None:
    """Scores the runs, and writes their differences."""
    runs = {run.name: run for run in read_grid(GRIDS / "binder.toml").runs}
    rows = {}
    for name in RUNS:
        documents = read_part(runs[name].resolved().corpus, "test")
        path = RESULTS / "binder" / "predictions" / f"{name}.test.tsv.gz"
        rows[name] = ends_less_starts(documents, list(read(Source(path=str(path)))))
    write_result(NAME, {"what": "F1 of ends less F1 of starts", "runs": rows})


if __name__ == "__main__":
    main()
