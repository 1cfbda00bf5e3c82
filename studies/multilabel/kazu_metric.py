"""Scores mentions as the multi-label trainer of Kazu does: for comparison with its numbers, never
with strict ones.

usage: python -m studies.multilabel.kazu_metric GOLD PREDICTIONS

GOLD is a corpus, PREDICTIONS a file of ``fascicle annotate --format predictions`` over it. Two
rules make the numbers high: mentions of one type match if they share a character, and of a document
and type without a prediction no gold counts as missed. The true positives are gold mentions.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.files.source import Source
from fascicle.core.mention import overlaps
from fascicle.evaluation.scoring.scores import Counts
from fascicle.formats import predictions, read


def kazu_counts(
    documents: Iterable[Document], found: Mapping[str, Sequence[Mention]]
) -> dict[str, Counts]:
    """The counts of each type; a document stands for a section of Kazu.

    Args:
        documents: with gold.
        found: document id -> predicted mentions.
    """
    totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for document in documents:
        predicted = found.get(document.id, ())
        for kind in sorted({m.type for m in predicted}):
            ours = [m for m in predicted if m.type == kind]
            gold = [m for m in document.layer(GOLD) if m.type == kind]
            hit = sum(any(_share(g, m) for m in ours) for g in gold)
            wrong = sum(not any(_share(m, g) for g in gold) for m in ours)
            totals[kind].update(tp=hit, fn=len(gold) - hit, fp=wrong)
    return {kind: Counts(**counts) for kind, counts in sorted(totals.items())}


def _share(one: Mention, other: Mention) -> bool:
    return any(overlaps(a, b) for a in one.spans for b in other.spans)


def main() -> int:
    """Prints precision, recall and F1 of each type, and the mean F1; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("gold")
    parser.add_argument("predictions")
    args = parser.parse_args()
    found = {one.id: one.mentions for one in predictions.read(Source(path=args.predictions))}
    counts = kazu_counts(read(args.gold), found)
    for kind, of_kind in counts.items():
        rates = of_kind.rates()
        print(
            f"{kind}\tP {100 * rates.precision:.2f}\tR {100 * rates.recall:.2f}\tF1 "
            f"{100 * rates.f1:.2f}"
        )
    print(f"mean F1 {100 * sum(c.rates().f1 for c in counts.values()) / max(1, len(counts)):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
