"""Scores of models of six types on each row of ``corpora.py``: strict, and as seqeval counts by
default.

usage: python -m studies.six.rows NAME=FOLDER [NAME=FOLDER ...] [--table table-2]

A folder is of a run or a model. Each is scored on the test part with the words and sentences of the
corpus, and on its raw text, where the data have these forms. With several folders each one but the
first also has the paired difference to the first one: an 8-bit model to its 32-bit form, for
example. The numbers go into ``results/six-rows.json`` beside those of other names.

Intervals are over documents; over sentences where a corpus does not mark documents.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from seqeval.metrics import f1_score, precision_score, recall_score

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import Span
from fascicle.evaluation.scoring.scores import Scores
from fascicle.formats import read
from fascicle.loading import load_all_types
from fascicle.text.annotator import Annotator
from fascicle.text.segment import words as words_of
from studies.common import RESULTS, paired, write_result
from studies.common import row as facts_of
from studies.labels.rows import Row, row_scores
from studies.six.corpora import EVERY, TABLE_2, ScoredRow
from studies.six.tables import TABLES

NAME: Final = "six-rows"
Pair = tuple[Document, tuple[Mention, ...]]
Answers = Mapping[tuple[str, str], Sequence[Pair]]
FORMS: Final = ("given", "raw")


def main(argv: Sequence[str] | None = None) -> int:
    """Scores, stores the numbers, and prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--table", choices=sorted(TABLES), default="table-2")
    parser.add_argument(
        "--only", choices=("table-2", "all"), default="all", help="rows of the paper alone, or all"
    )
    parser.add_argument("--threads", type=int)
    args = parser.parse_args(argv)
    folders = dict(given.partition("=")[::2] for given in args.models)
    if bad := [name for name, folder in folders.items() if not name or not folder]:
        parser.error(f"write NAME=FOLDER, not {bad[0]!r}")
    rows = TABLE_2 if args.only == "table-2" else EVERY
    found = {
        name: scores_of(load_all_types(folder, threads=args.threads), rows)
        for name, folder in folders.items()
    }
    value = with_systems(stored(), {name: facts(name, found) for name in found})
    write_result(NAME, value)
    sys.stdout.write(TABLES[args.table](value) + "\n")
    return 0


def stored() -> dict[str, Any]:
    """The results so far."""
    path = RESULTS / f"{NAME}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def with_systems(value: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, object]:
    """Results with further systems; a system that was there is replaced."""
    return {"systems": {**value.get("systems", {}), **new}}


def scores_of(
    model: Annotator, rows: Sequence[ScoredRow]
) -> dict[str, dict[str, tuple[Scores, dict[str, float]]]]:
    """Name of each row -> form -> strict scores, and what seqeval says.

    Args:
        model: rows of types that it does not have are left out.
        rows: each file is read once.
    """
    rows = [row for row in rows if row.row.type in model.types]
    answers = answers_of(model, rows)
    return {
        row.name: {
            form: (row_scores(row.row, pairs), seqeval_scores(row.row, pairs))
            for form in FORMS
            if (pairs := answers.get((form, getattr(row, form))))
        }
        for row in rows
    }


def answers_of(model: Annotator, rows: Sequence[ScoredRow]) -> Answers:
    """Form and file -> documents with their gold, and what a model finds; it sees raw text bare."""
    data = Path(os.environ["FASCICLE_DATA"])
    found: dict[tuple[str, str], Sequence[Pair]] = {}
    for form in FORMS:
        for path in dict.fromkeys(getattr(row, form) for row in rows if getattr(row, form)):
            documents = list(read(data / path))
            shown = [bare(one) for one in documents] if form == "raw" else documents
            said = [patch.add for patch in model.predict(shown)]
            found[form, path] = list(zip(documents, said, strict=True))
    return found


def bare(document: Document) -> Document:
    """A document as a user has it: without sentences, words and mentions."""
    return Document(id=document.id, text=document.text)


def facts(name: str, found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The numbers of one system, ready for JSON.

    Args:
        name: of the system.
        found: name -> of each system, see `scores_of`; the first one is that of the paired
            differences.
    """
    first = next(iter(found))
    rows: dict[str, Any] = {}
    for row, forms in found[name].items():
        rows[row] = {
            form: {"strict": facts_of(strict), "seqeval": said}
            for form, (strict, said) in forms.items()
        }
        if name != first:
            for form, (strict, _) in forms.items():
                rows[row][form]["less_first"] = paired(strict, found[first][row][form][0])
    return {"rows": rows, **({"first": first} if name != first else {})}


def seqeval_scores(row: Row, pairs: Sequence[Pair]) -> dict[str, float]:
    """Precision, recall and F1 of seqeval in its default mode, of one row.

    Gold and predictions are written as BIO tags of this type alone, as *tinybern2-kazu* §4.2.1
    collects each type separately. A text without words is cut into words as Fascicle cuts it, so
    that marks stand alone.

    Args:
        row: which type.
        pairs: documents with their gold, and predictions.
    """
    gold, said = [], []
    for document, mentions in pairs:
        words = document.words if document.words is not None else words_of(document.text)
        gold.append(tags([m for m in document.layer(GOLD) if row.label in ("*", m.type)], words))
        said.append(tags([m for m in mentions if m.type == row.type], words))
    measures = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
    return {name: float(measure(gold, said, zero_division=0)) for name, measure in measures.items()}


def tags(mentions: Sequence[Mention], words: Sequence[Span]) -> list[str]:
    """BIO tags of words: a word belongs to a mention that has a character of it, the longest one
    where several have.

    Args:
        mentions: of one type.
        words: in their order.
    """
    found = ["O"] * len(words)
    starts = [start for start, _ in words]
    for mention in sorted(mentions, key=lambda m: (m.start - m.end, m.start)):
        inside = _inside(words, starts, mention)
        if all(found[at] == "O" for at in inside):
            for at in inside:
                found[at] = "I-X" if at > inside.start else "B-X"
    return found


def _inside(words: Sequence[Span], starts: Sequence[int], mention: Mention) -> range:
    first = bisect_right(starts, mention.start) - 1
    if first < 0 or words[first][1] <= mention.start:
        first += 1
    return range(first, max(first, bisect_left(starts, mention.end)))


if __name__ == "__main__":
    raise SystemExit(main())
