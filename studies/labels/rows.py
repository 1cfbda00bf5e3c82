"""Strict F1 of models on each row, a type of a corpus: with intervals, and the paired difference to
the first arm.

usage: python -m studies.labels.rows RUNS [--arms soft-bio,hard-bio,soft-io,hard-io] [--part dev]

RUNS is the folder of the run folders of the grid ``labels``, ``sample-ARM-sSEED``. Predictions of a
type that a row does not ask for are neither right nor wrong there. With several seeds the F1 is
their mean, and the interval that of the first one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fascicle.core.document import Document, Mention
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.formats import read
from fascicle.loading import load
from fascicle.training.experiments.results import read_result
from studies.common import paired, write_result
from studies.common import row as facts_of
from studies.tables.grids import NOT_RUN, markdown

ARMS = ("soft-bio", "hard-bio", "soft-io", "hard-io")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A type of a corpus.

    Attributes:
        corpus: its name.
        files: part -> file in ``$FASCICLE_DATA``.
        label: in the gold.
        type: of the model.
    """

    corpus: str
    files: Mapping[str, str]
    label: str
    type: str

    @property
    def name(self) -> str:
        """For a person."""
        return f"{self.corpus} {self.label}"


def _iob(corpus: str) -> dict[str, str]:
    return {"dev": f"{corpus}/iob/devel.tsv", "test": f"{corpus}/iob/test.tsv"}


_BC5CDR = {
    part: f"bc5cdr/pubtator/CDR_{name}Set.PubTator.txt"
    for part, name in (("dev", "Development"), ("test", "Test"))
}
_NCBI = {part: f"ncbi-disease/pubtator/{part}.PubTator.txt" for part in ("dev", "test")}
_JNLPBA = {"dev": "jnlpba/iob2/devel.iob2", "test": "jnlpba/iob2/test.iob2"}
ROWS = (
    Row(corpus="bc2gm", files=_iob("bc2gm"), label="GENE", type="Gene"),
    # a wider guideline than that of bc2gm
    Row(corpus="jnlpba", files=_JNLPBA, label="protein", type="Gene"),
    Row(corpus="ncbi-disease", files=_NCBI, label="*", type="Disease"),  # four classes of disease
    Row(corpus="bc5cdr", files=_BC5CDR, label="Disease", type="Disease"),
    Row(corpus="bc5cdr", files=_BC5CDR, label="Chemical", type="Chemical"),
    Row(corpus="jnlpba", files=_JNLPBA, label="cell_line", type="CellLine"),
    Row(corpus="jnlpba", files=_JNLPBA, label="cell_type", type="CellType"),
    Row(corpus="linnaeus", files=_iob("linnaeus"), label="*", type="Species"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Scores, stores the numbers, and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    args = parser.parse_args(argv)
    data, arms = Path(os.environ["FASCICLE_DATA"]), args.arms.split(",")
    folders = {arm: sorted(args.runs.glob(f"sample-{arm}-s*")) for arm in arms}
    missing = [arm for arm, found in folders.items() if not found]
    if missing:
        parser.error(f"{args.runs} has no run of {', '.join(missing)}")
    scores = {
        arm: [scores_of(folder, data, part=args.part) for folder in found]
        for arm, found in folders.items()
    }
    value = {"arms": arms, "rows": facts(scores)}
    write_result(f"labels-rows-{args.part}", value)
    sys.stdout.write(table(value) + "\n")
    return 0


def scores_of(model: Path, data: Path, *, part: str) -> dict[str, Scores]:
    """Name of each row -> scores of a model.

    Args:
        model: a run folder.
        data: folder of the corpora.
        part: dev or test.
    """
    predictor, found, read_before = (
        load(model, links=False),
        dict[str, Scores](),
        dict[str, list[tuple[Document, tuple[Mention, ...]]]](),
    )
    for row in ROWS:
        path = row.files[part]
        if path not in read_before:
            documents = list(read(data / path))
            said = [patch.add for patch in predictor.predict(documents)]
            read_before[path] = list(zip(documents, said, strict=True))
        found[row.name] = row_scores(row, read_before[path])
    return found


def row_scores(row: Row, pairs: Sequence[tuple[Document, Sequence[Mention]]]) -> Scores:
    """Scores of one row.

    Args:
        row: which type.
        pairs: documents with their gold, and predictions.
    """
    gold = layers(document for document, _ in pairs)
    asked = {
        key: [_as(row, m) for m in mentions if row.label in ("*", m.type)]
        for key, mentions in gold.items()
    }
    said = {
        document.id: [_as(row, m) for m in mentions if m.type == row.type]
        for document, mentions in pairs
    }
    return score(asked, said)


def _as(row: Row, mention: Mention) -> Mention:
    return Mention(mention.spans, row.type, source=mention.source)


def facts(
    scores: Mapping[str, Sequence[Mapping[str, Scores]]],
) -> dict[str, dict[str, dict[str, object]]]:
    """All numbers, ready for JSON: row -> arm -> those of each seed, and the paired difference to
    the first arm.

    Args:
        scores: arm -> of each seed, name of a row -> scores.
    """
    first, *others = scores
    return {
        name: {
            arm: {
                "seeds": [facts_of(one[name]) for one in seeds],
                **(
                    {"less_first": paired(seeds[0][name], scores[first][0][name])}
                    if arm in others
                    else {}
                ),
            }
            for arm, seeds in scores.items()
        }
        for name in scores[first][0]
    }


def table(value: Mapping[str, Any]) -> str:
    """A line for each row and one for their mean; a column for each arm, and one for what it has
    more than the first.

    Args:
        value: of a results file.
    """
    first, *others = value["arms"]
    head = [
        "strict F1",
        first,
        *others,
        *(f"{arm} less {first} (95%, first seed)" for arm in others),
    ]
    body, all_f1 = list[list[str]](), list[dict[str, float]]()
    for name, arms in value["rows"].items():
        f1 = {
            arm: 100 * statistics.mean(one["micro"]["f1"] for one in arms[arm]["seeds"])
            for arm in (first, *others)
        }
        shown = [f"{f1[arm] - f1[first]:+.2f} ({_span(arms[arm]['less_first'])})" for arm in others]
        body.append([name, *(f"{share:.2f}" for share in f1.values()), *shown])
        all_f1.append(f1)
    means = {arm: statistics.mean(f1[arm] for f1 in all_f1) for arm in (first, *others)}
    less = [f"{means[arm] - means[first]:+.2f}" for arm in others]
    body.append(["mean", *(f"{share:.2f}" for share in means.values()), *less])
    return markdown(head, body)


def stored(results: Path, *, part: str) -> str:
    """The table of a results file, or that it was not run."""
    value = read_result(results, f"labels-rows-{part}")
    return table(value) if value else NOT_RUN


def _span(difference: Mapping[str, float | int]) -> str:
    return f"{100 * difference['low']:+.1f} to {100 * difference['high']:+.1f}"


if __name__ == "__main__":
    raise SystemExit(main())
