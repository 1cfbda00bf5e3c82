"""The price of generality: what ships beside the same student that learnt from one corpus alone, on
its test part.

usage: python -m studies.six.alone RUN [RUN ...] [--beside biomed@2]

A run is one of the system ``alone``. It is exported in 8 bits, as what ships is. Both read the
words of the corpus. Written: ``results/six-alone.json``, with what was stored of other runs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fascicle.evaluation.uncertainty.intervals import Difference
from fascicle.loading import load
from fascicle.text.annotator import Annotator
from fascicle.verbs.export import export
from studies.common import BIOMED, RESULTS, paired, result, write_result
from studies.common import row as facts_of
from studies.six.corpora import TABLE_2, ScoredRow
from studies.six.rows import scores_of
from studies.tables.grids import NOT_RUN, markdown, points

NAME: Final = "six-alone"
_FORM: Final = "given"


def main(argv: Sequence[str] | None = None) -> None:
    """Scores both on the rows of each run, and stores the numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--beside", default=BIOMED)
    args = parser.parse_args(argv)
    shipped = load(args.beside, links=False)
    found = {run.name: compared(run, shipped) for run in args.runs}
    write_result(NAME, {"beside": args.beside, "runs": {**result(NAME).get("runs", {}), **found}})


def compared(run: Path, shipped: Annotator) -> dict[str, Any]:
    """Name of each row of the corpus of a run -> F1 of the run and of what ships, and what the
    latter has more.
    """
    parts = json.loads((run / "recipe.json").read_text(encoding="utf-8"))["parts"]
    with tempfile.TemporaryDirectory() as folder:
        export(run, Path(folder) / "int8", int8=True)
        model = load(Path(folder) / "int8", links=False)
        rows = rows_of(parts, model.types)
        alone, general = scores_of(model, rows), scores_of(shipped, rows)
    told = {}
    for row in rows:
        (one, _), (other, _) = alone[row.name][_FORM], general[row.name][_FORM]
        told[row.name] = {
            "alone": facts_of(one),
            "shipped": facts_of(other),
            "less": paired(other, one),
        }
    return told


def rows_of(corpora: Mapping[str, object], types: Sequence[str]) -> list[ScoredRow]:
    """The rows of the paper of these corpora and types."""
    return [row for row in TABLE_2 if row.row.corpus in corpora and row.row.type in types]


def table(results: Path = RESULTS) -> str:
    """A line for each row."""
    value = result(NAME, results)
    if not value:
        return NOT_RUN
    body = []
    for rows in value["runs"].values():
        for name, one in rows.items():
            f1 = [f"{100 * one[key]['micro']['f1']:.2f}" for key in ("alone", "shipped")]
            body.append([name, *f1, points(Difference(**one["less"]))])
    return markdown(["strict F1, test", "alone", value["beside"], "difference (95 %)"], body)


if __name__ == "__main__":
    main()
