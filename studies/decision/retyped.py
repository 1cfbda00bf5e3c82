"""What the types of the pack change: mentions that come and go, right and wrong, on the texts of
``measure``.

usage: python -m studies.decision.retyped SCORES [MODEL]

SCORES is the folder of ``studies.decision.scores``. The rule was chosen on 1,100 texts without gold,
whose changes were read. Writes ``results/decision-retyped.json``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from fascicle.core.document import Document, Patch
from fascicle.formats import read
from fascicle.loading import load_single
from fascicle.runtime.decoding import deciding, evidence
from fascicle.runtime.predictor import ModelPredictor
from fascicle.runtime.ruled import known_names
from fascicle.text.segment import segmenter
from studies.common import write_result
from studies.decision.measure import ROWS, Measured, gold_of, rows_by_file, without_decision


def main(argv: Sequence[str] | None = None) -> None:
    """Decides twice, compares, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scores", type=Path)
    parser.add_argument("model", nargs="?", default="biomed")
    args = parser.parse_args(argv)
    model = load_single(args.model, threads=1)
    rows: dict[str, dict[str, int]] = {}
    for file, of_file in rows_by_file(ROWS).items():
        documents = list(read(args.scores / model.name / f"{file}.jsonl"))
        for row in of_file:
            changes = _changes(row, documents, model)
            print(row.name, changes, flush=True)
            if changes:
                rows[row.name] = changes
    write_result("decision-retyped", {"model": model.name, "rows": rows})


def _changes(row: Measured, documents: Sequence[Document], model: ModelPredictor) -> dict[str, int]:
    """How many mentions of a type come and go, and how many of them gold has."""
    gold = gold_of(row, documents)
    counts: Counter[str] = Counter()
    before, after = _decided(row, documents, model)
    for one, first, second in zip(documents, before, after, strict=True):
        marked = {mention.spans for mention in gold[one.id]}
        old, new = (
            {mention.spans for mention in patch.add if mention.type == row.type}
            for patch in (first, second)
        )
        counts["come"] += len(new - old)
        counts["come, in gold"] += len((new - old) & marked)
        counts["go"] += len(old - new)
        counts["go, in gold"] += len((old - new) & marked)
    return dict(counts) if counts.total() else {}


def _decided(
    row: Measured, documents: Sequence[Document], model: ModelPredictor
) -> tuple[list[Patch], list[Patch]]:
    """The answers without the types of the pack, and with them."""
    shown, patches = without_decision(documents, row, model.manifest)
    rules: Any = model.manifest.decision.document
    how: Any = {"sentences": segmenter(model.segmenter).sentences, "knows": known_names(rules)}
    with mock.patch.object(evidence, "with_own_types", lambda mentions, *_, **__: mentions):
        before = deciding.all_decided(shown, patches, rules, **how)
    return before, deciding.all_decided(shown, patches, rules, **how)


if __name__ == "__main__":
    main()
