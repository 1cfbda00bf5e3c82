"""How far BINDER's lead over the CRF on NCBI-disease depends on which run of the CRF it is
paired with.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.training.experiments.results import read_result, stored_scores
from studies.abstracts import drawing_abstracts
from studies.tables.grids import NOT_RUN, markdown, points

FIRST = "ncbi-disease-binder-s1"
RUNS = (  # plan, run, how its recipe differs from that of the plan `binder`
    ("first", "ncbi-disease-crf-s1", "the same; this is seed 1 of the row SeqCRF"),
    ("combining", "ncbi-disease-crf-s1", "the same, another machine"),
    ("combining", "ncbi-disease-crf-s2", "the same but the seed; this is seed 2 of the row SeqCRF"),
    ("combining", "ncbi-disease-crf-s3", "the same but the seed; this is seed 3 of the row SeqCRF"),
    ("bundling", "ncbi-disease-crf-s1", "words pooled by maximum, 6 epochs instead of 8"),
)


def leads(results: Path) -> str:
    """F1 of BINDER, seed 1, less that of each run of the CRF that is there, paired over
    abstracts.
    """
    parts = read_result(results, "abstracts").get("parts", {})
    ours = read_result(results / "binder", FIRST)
    body = []
    for plan, name, recipe in RUNS:
        other = read_result(results / plan, name)
        cells = (
            _cells(*(drawing_abstracts(value, parts) for value in (ours, other)))
            if ours and other
            else [NOT_RUN] * 2
        )
        body.append([f"`{plan}/{name}`", recipe, *cells])
    return markdown(["run of SeqCRF", "its recipe", "its test F1", "BINDER less it"], body)


def _cells(ours: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    gap = bootstrap_difference(*(stored_scores(value["test_counts"]) for value in (ours, other)))
    return [f"{100 * other['test']['micro']['f1']:.2f}", points(gap)]
