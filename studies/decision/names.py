"""Names given alone and in rows of a table: how often the shipped models find them, with the right
type and ends.

usage: python -m studies.decision.names [MODEL ...] [--show]

1,000 names of BioRED, drawn by hash from all that people marked in it, each once; and cells that
head the columns of tables, which are no names. Each is given alone, and in rows of four cells with
TABs between them; without the decision of documents, and with it. Writes
``results/decision-names.json``. ``FASCICLE_DATA`` names the corpora.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.document import Document
from fascicle.formats import read
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from studies.common import MODELS, write_result
from studies.decision.development import BIORED

DRAWN: Final = 1000
ROW: Final = 4  # cells
FILES: Final = ("Train.PubTator.gz", "Dev.PubTator", "Test.PubTator")
HEADS: Final = (
    *(
        "p",
        "SD",
        "ID",
        "yes",
        "no",
        "n",
        "N",
        "Name",
        "Gene",
        "Disease",
        "Value",
        "P value",
        "p-value",
        "Age",
        "Sex",
        "M",
    ),
    *(
        "F",
        "Mean",
        "SE",
        "OR",
        "HR",
        "CI",
        "95% CI",
        "Count",
        "Total",
        "Group",
        "Control",
        "Type",
        "Date",
        "Score",
        "Unit",
    ),
    *(
        "Dose",
        "mg",
        "kg",
        "ml",
        "Sample",
        "Patient ID",
        "Study",
        "Year",
        "Author",
        "Title",
        "Abstract",
        "PMID",
        "DOI",
    ),
    *(
        "URL",
        "Notes",
        "Comment",
        "Status",
        "Result",
        "Outcome",
        "Method",
        "Source",
        "Reference",
        "Description",
        "Class",
    ),
    *(
        "Category",
        "Label",
        "Start",
        "End",
        "Length",
        "Position",
        "Chromosome",
        "Strand",
        "ref",
        "alt",
        "freq",
        "AF",
    ),
    *(
        "MAF",
        "FDR",
        "logFC",
        "t",
        "df",
        "R2",
        "r",
        "beta",
        "SEM",
        "Median",
        "IQR",
        "Min",
        "Max",
        "Range",
        "Yes",
        "No",
    ),
    *(
        "NA",
        "N/A",
        "-",
        "+",
        "true",
        "false",
        "1",
        "0.05",
        "<0.001",
        "Male",
        "Female",
        "Weight",
        "Height",
        "BMI",
    ),
)
Found = list[set[tuple[str, int, int]]]  # of each cell: type, start and end of each mention


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument(
        "--show", action="store_true", help="print the names that are not found as they should be"
    )
    args = parser.parse_args(argv)
    gold = names()
    rows: dict[str, Any] = {}
    for name in args.models:
        model = load_single(name, threads=1)
        rows[name] = dict(measured(model, gold))
        print(name, rows[name])
        if args.show:
            for text, found in zip(gold, alone(model, list(gold)), strict=True):
                if not is_right(text, found, gold[text]):
                    print(text, sorted(gold[text]), sorted(found), sep="\t")
    write_result(
        "decision-names",
        {"names": len(gold), "heads": len(HEADS), "cells_in_a_row": ROW, "models": rows},
    )
    return 0


def names() -> dict[str, set[str]]:
    """The names that were drawn, with the types that people gave them."""
    types: dict[str, set[str]] = defaultdict(set)
    for file in FILES:
        for document in read(Path(os.environ["FASCICLE_DATA"]) / "biored" / file):
            for one in document.mentions:
                if one.type in BIORED and len(one.spans) == 1:
                    types[document.text[one.start : one.end]].add(BIORED[one.type])
    drawn = sorted(types, key=lambda name: hashlib.sha256(name.encode()).digest())[:DRAWN]
    return {name: types[name] for name in drawn}


def measured(model: ModelPredictor, gold: Mapping[str, set[str]]) -> Iterator[tuple[str, Any]]:
    """The shares of each way to give names and heads, without the decision of documents and with
    it.
    """
    plain = model.with_document(msgspec.UNSET)
    for word, predictor in (("before", plain), ("after", model)):
        for way, ask in (("alone", alone), ("in_rows", in_rows)):
            found, heads = ask(predictor, list(gold)), ask(predictor, HEADS)
            yield (
                f"{word}_{way}",
                {**shares(gold, found), "heads_empty": sum(not one for one in heads) / len(HEADS)},
            )


def shares(gold: Mapping[str, set[str]], found: Found) -> dict[str, float]:
    """Names that were found as a whole with their type; with another type alone; not at all."""
    pairs = list(zip(gold.items(), found, strict=True))
    return {
        "right": sum(is_right(name, one, types) for (name, types), one in pairs) / len(pairs),
        "other_type": sum(
            bool(one) and not {kind for kind, *_ in one} & types for (_, types), one in pairs
        )
        / len(pairs),
        "nothing": sum(not one for one in found) / len(pairs),
    }


def is_right(name: str, found: set[tuple[str, int, int]], types: set[str]) -> bool:
    """Whether a mention is all of a name, and has one of its types."""
    return any(kind in types and (start, end) == (0, len(name)) for kind, start, end in found)


def alone(model: ModelPredictor, texts: Sequence[str]) -> Found:
    """Mentions of each text."""
    patches = model.predict([Document(id="", text=text) for text in texts])
    return [{(one.type, one.start, one.end) for one in patch.add} for patch in patches]


def in_rows(model: ModelPredictor, texts: Sequence[str]) -> Found:
    """Mentions of each cell, where four cells are a text with TABs between them."""
    rows = [texts[at : at + ROW] for at in range(0, len(texts), ROW)]
    patches = model.predict([Document(id="", text="\t".join(row)) for row in rows])
    found: Found = []
    for row, patch in zip(rows, patches, strict=True):
        start = 0
        for text in row:
            inside = [one for one in patch.add if start < one.end and one.start < start + len(text)]
            found.append({(one.type, one.start - start, one.end - start) for one in inside})
            start += len(text) + 1
    return found


if __name__ == "__main__":
    raise SystemExit(main())
