"""Names from vocabularies of 2026 that take the places of mentions in training texts.

Four kinds are read: symbols of human genes that make a protein (HGNC), cell lines whose name has a
letter and a digit (Cellosaurus), drugs by the stems of international names (ChEBI), and diseases
(MONDO). The taxa of 2026 have no virus, so species have no table.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

_DRUG: Final = re.compile(
    r"[a-z]{3,}(?:mab|tinib|ciclib|parib|lisib|rafenib|gliptin|gliflozin|glutide|vir|prazole|sartan"
    r"|statin|platin|taxel|rubicin|mycin|cillin|oxacin|azole|olol|dipine|prost|setron|triptan)"
)
_CELL_LINE: Final = re.compile(r"(?=.*[A-Za-z])(?=.*\d)\S(?:.{2,14})\S")
_LONGEST: Final = 40
_MOST_WORDS: Final = 4

Row = Mapping[str, str]


def _gene(row: Row) -> bool:
    coding = row["locus_type"] == "gene with protein product"
    return coding and len(row["symbol"]) > 2


def _cell_line(row: Row) -> bool:
    return _CELL_LINE.fullmatch(row["label"]) is not None


def _drug(row: Row) -> bool:
    return _DRUG.fullmatch(row["label"]) is not None


def _disease(row: Row) -> bool:
    return "," not in row["label"] and not row["label"].startswith("obsolete")


_TABLES: Final[Mapping[str, tuple[str, str, Callable[[Row], bool]]]] = MappingProxyType(
    {
        "Gene": ("hgnc.tsv.gz", "symbol", _gene),
        "CellLine": ("cellosaurus-labels.tsv.gz", "label", _cell_line),
        "Chemical": ("chebi-labels.tsv.gz", "label", _drug),
        "Disease": ("mondo.tsv.gz", "label", _disease),
    }
)


def fresh_names(folder: Path) -> dict[str, list[str]]:
    """Type -> names of the tables of a folder, in the order of the tables, each once."""
    return {
        kind: list(dict.fromkeys(_names(folder / table, column, keep)))
        for kind, (table, column, keep) in _TABLES.items()
    }


def _names(path: Path, column: str, keep: Callable[[Row], bool]) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            name = row[column]
            short = len(name) <= _LONGEST and len(name.split()) <= _MOST_WORDS
            if short and row.get("deprecated", "0") == "0" and keep(row):
                yield name
