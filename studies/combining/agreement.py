"""A filter without a network over systems of *comparing-and-combining*, Table 1: the plan, and what
measures it.

usage: python -m studies.combining.agreement CORPUS [--runs FOLDER]

The plan, committed before it was run:

- question: does a logistic regression over agreement, scores and rivals (``agreement_filter``) beat
  the best vote, where the learned filter of the paper does not?
- corpora: ncbi-disease, genia-events, bc5cdr; genia-resplit and livingner-resplit were added when
  the others were measured, before their members were trained, and are no part of the bar
- the predictions are those of ``studies/grids/combining.toml``, seed 1, packed in
  ``studies/results/combining.tar.xz``
- filters: over SpanPred and SEQ, over the three of Table 1, and over the members that
  ``CORPUS.choice.json`` names
- fitted on dev alone: five folds of documents, penalties 0.1, 1, 10 and 100, seed 1; nothing else
  is tried
- measured on test, once: strict micro F1, and its difference to what was chosen on dev (the best
  vote) and to the single system that was best on dev, paired, with a 95 % bootstrap interval over
  abstracts
- it counts as a gain where the interval of the difference to the best vote lies above 0; the bar is
  two of three corpora
- limits: the epochs of the members were chosen on dev, so their scores are a little surer there
  than on test; a sentence is a document on two corpora, so neighbours may be in two folds

Writes ``results/combining/CORPUS.agreement.json``, and refuses to open test before
``CORPUS.choice.json`` is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fascicle.core.document import Mention
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.runtime.combination.align import System, Votes, align
from fascicle.runtime.combination.rules import majority
from fascicle.training.experiments.grid import read_grid
from studies.combining.agreement_filter import AgreementFilter, fit_agreement
from studies.combining.measure import (
    PLACE,
    SYSTEMS,
    Found,
    Part,
    combined,
    part_of,
    rule_of,
    singles,
)
from studies.common import GRIDS, row, write_result

Key = tuple[str, str, object]


def main() -> int:
    """Fits on dev and measures on test; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--runs", type=Path, default=PLACE / "runs")
    parser.add_argument("--grid", type=Path, default=GRIDS / "combining.toml")
    args = parser.parse_args()
    place = PLACE / f"{args.corpus}.choice.json"
    if not place.is_file():
        sys.stderr.write(f"{place} is not there: choose on dev first, and commit what was chosen\n")
        return 2
    chosen = json.loads(place.read_text(encoding="utf-8"))
    grid = read_grid(args.grid)
    dev, test = (part_of(grid, args.corpus, name, args.runs) for name in ("dev", "test"))
    write_result(f"combining/{args.corpus}.agreement", measured(dev, test, chosen))
    return 0


def measured(dev: Part, test: Part, chosen: Mapping[str, Any]) -> dict[str, object]:
    """One row for each set of members."""
    on_dev, on_test = singles(dev), singles(test)
    vote = test.score(combined(on_test, chosen["members"], rule_of(chosen["rule"])))
    single = test.score(on_test[chosen["single"]])
    gold = keys_of(layers(test.documents))
    rows = {}
    for members in dict.fromkeys((("SpanPred", "SEQ"), tuple(SYSTEMS), tuple(chosen["members"]))):
        fitted = fit_agreement(votes_of(on_dev, members), layers(dev.documents))
        kept = fitted.kept(votes_of(on_test, members))
        scores = test.score(kept)
        systems = [keys_of(on_test[name]) for name in members]
        majority_vote = combined(on_test, members, majority())
        rows[" ∪ ".join(members)] = {
            **row(scores),
            "over_vote": bootstrap_difference(scores, vote).as_dict(),
            "over_single": bootstrap_difference(scores, single).as_dict(),
            "fit": facts_of(fitted),
            "by_systems": {
                "union": by_systems({key for one in systems for key in one}, systems, gold),
                "vote": by_systems(keys_of(majority_vote), systems, gold),
                "filter": by_systems(keys_of(kept), systems, gold),
            },
        }
    return {
        "corpus": test.corpus,
        "dev_sha256": dev.sha256,
        "test_sha256": test.sha256,
        "rows": rows,
    }


def votes_of(said: Mapping[str, Found], members: Sequence[str]) -> Votes:
    """Some of the systems side by side."""
    return align([System(name=name, mentions=said[name]) for name in members])


def keys_of(found: Mapping[str, Sequence[Mention]]) -> set[Key]:
    """Mentions by document, type and place."""
    return {(i, m.type, m.spans) for i, mentions in found.items() for m in mentions}


def by_systems(kept: set[Key], systems: Sequence[set[Key]], gold: set[Key]) -> list[dict[str, int]]:
    """What is kept of the mentions that one system predicts, two systems, and so on: right and
    wrong ones.
    """
    found = [{"right": 0, "wrong": 0} for _ in systems]
    for key in kept:
        found[sum(key in one for one in systems) - 1]["right" if key in gold else "wrong"] += 1
    return found


def facts_of(fitted: AgreementFilter) -> dict[str, object]:
    """What was chosen on dev."""
    return {
        "penalty": fitted.penalty,
        "threshold": fitted.threshold,
        "f1_of_unseen_dev": fitted.unseen_f1,
    }


if __name__ == "__main__":
    sys.exit(main())
