"""What each row of Table 1 of *comparing-and-combining* gains over each single system, in
precision, recall and F1.

usage: python -m studies.combining.gains

Reads the stored predictions in ``results/combining/runs`` (unpack them with ``python -m
studies.results_packs unpack``) and the test parts below ``FASCICLE_DATA`` and ``FASCICLE_GENIA``
(see ``genia_resplit``). The tables of ``measure`` hold F1 over the system that was best on dev; the
paper is compared on the same system on both sides, whichever was best in it. Writes
``results/combining-gains.json``: points, each with the ends of its 95 % interval. It also has F1 of
filters less that of the same filters without the mistakes of earlier epochs.
"""

from __future__ import annotations

from typing import Any, Final

from fascicle.evaluation.scoring.scores import Scores
from fascicle.evaluation.uncertainty.intervals import MEASURES, Measure, bootstrap_difference
from fascicle.training.experiments.grid import Grid, read_grid
from studies.combining.measure import SYSTEMS, Part, combinations, name_of, part_of, singles
from studies.common import GRIDS, RESULTS, write_result

NAME: Final = "combining-gains"
CORPORA: Final = ("ncbi-disease", "genia-events", "genia-resplit", "bc5cdr")
ALONE: Final = tuple(SYSTEMS)
META: Final = name_of("meta2")
UNION: Final = "SpanPred ∪ SEQ"
Points = list[float]  # difference, lower and upper end


def scores_of(part: Part) -> dict[str, Scores]:
    """Of the three single systems, of their combinations, and of the filter over two of them if
    it was trained.
    """
    said = {name: found for name, found in singles(part).items() if name in SYSTEMS}
    rows = said | combinations(said)
    if (kept := part.said("meta2")) is not None:
        rows[name_of("meta2")] = kept
    return {name: part.score(found) for name, found in rows.items()}


def gains(part: Part) -> dict[str, dict[str, dict[str, Points]]]:
    """Row -> single system, and of the filter also the union that it reads -> measure ->
    difference with its interval.
    """
    scores = scores_of(part)
    return {
        name: {
            other: {measure: _points(of, scores[other], measure) for measure in MEASURES}
            for other in (*ALONE, *([UNION] if name == META else []))
            if other != name
        }
        for name, of in scores.items()
    }


def earlier_epochs(part: Part) -> Points | None:
    """F1 of the filter over three systems less that of one taught without the mistakes of
    earlier epochs.
    """
    with_them, without = (part.said(kind) for kind in ("meta3", "meta3-best"))
    if with_them is None or without is None:
        return None
    return _points(part.score(with_them), part.score(without), "f1")


def _points(first: Scores, second: Scores, measure: Measure) -> Points:
    found = bootstrap_difference(first, second, measure=measure)
    return [round(100 * end, 3) for end in (found.estimate, found.low, found.high)]


def measured(grid: Grid, corpus: str) -> dict[str, Any]:
    """What the results file holds of one corpus."""
    part = part_of(grid, corpus, "test", RESULTS / "combining" / "runs")
    return {
        "test_sha256": part.sha256,
        "gains": gains(part),
        "earlier_epochs": earlier_epochs(part),
    }


def main() -> None:
    """Measures and writes the results file."""
    grid = read_grid(GRIDS / "combining.toml")
    write_result(NAME, {"corpora": {corpus: measured(grid, corpus) for corpus in CORPORA}})


if __name__ == "__main__":
    main()
