"""Writes ``packs/basic-headings.sssom.tsv``: which heading of MeSH a concept of DOID or MONDO is by
its label, where mappings name another heading, or none.

usage: python -m studies.packs.headings PACK

Where a mapping names another heading, a label counts if it is a term of the preferred concept of
the right one; where none does, if it has the words of the heading, in any order. ``FASCICLE_DATA``
names the data; the pack is one that was built without the table.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

import numpy as np

from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack
from studies.packs.fresh import rows_of

_TABLE: Final = Path("packs/basic-headings.sssom.tsv")
_COLUMNS: Final = (
    "subject_id",
    "subject_label",
    "predicate_modifier",
    "predicate_id",
    "object_id",
    "mapping_justification",
)
_OF_LABELS: Final = ("DOID:", "MONDO:")
# Its label is a term of another concept of the right heading; read.
_READ: Final = (
    ("DOID:784", "MESH:D007676", "MESH:D051436"),
    ("MONDO:0005300", "MESH:D007676", "MESH:D051436"),
)
Headings = Mapping[str, set[str]]
Set = Mapping[str, str]  # CURIE -> label


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pack")
    args = parser.parse_args()
    pack, data = Pack.open(args.pack), Path(os.environ["FASCICLE_DATA"])
    sets = _sets(pack)
    lines = ["\t".join(_COLUMNS)]
    for curie, label, joined, right in _conflicts(sets, _headings(data, level=2)):
        lines += _lines(curie, label, joined, right, "semapv:LexicalMatching")
    for curie, joined, right in _READ:
        label = pack.label_at(pack.row(curie))
        lines += _lines(curie, label, joined, right, "semapv:ManualMappingCuration")
    for curie, label, right in _unjoined(sets, _headings(data, level=3)):
        lines += _lines(curie, label, "", right, "semapv:LexicalMatching")
    _TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lines(curie: str, label: str, joined: str, right: str, justification: str) -> list[str]:
    """Returns the line of the pair that is not equal, if there is one, and of the pair that is."""
    pairs = (("Not", joined), ("", right))
    return [
        "\t".join((curie, label, modifier, "skos:exactMatch", heading, justification))
        for modifier, heading in pairs
        if heading
    ]


def _headings(data: Path, *, level: Literal[2, 3]) -> Headings:
    """Returns the headings of MeSH by keys: of level 2 of all terms of their preferred concept, or
    of level 3 of the heading itself.
    """
    rows = list(rows_of(data / "dict-mesh-2024" / "mesh-descriptors-2024.tsv.gz"))
    preferred = {row["concept"] for row in rows if row["kind"] == "label"}
    names = [
        (row["name"], row["id"])
        for row in rows
        if row["concept"] in preferred and (level == 2 or row["kind"] == "label")
    ]
    newer = rows_of(data / "fresh-2026" / "mesh-2026-labels.tsv.gz")
    names += [(row["label"], row["id"]) for row in newer]
    headings = defaultdict[str, set[str]](set)
    for name, heading in names:
        headings[key(name, level)].add(f"MESH:{heading}")
    return headings


def _sets(pack: Pack) -> list[Set]:
    """Returns the sets of equal concepts of a pack."""
    rows = np.arange(len(pack))
    members = defaultdict[int, list[int]](list)
    for row, lead in zip(rows.tolist(), pack.leads.of(rows).tolist(), strict=True):
        members[lead].append(row)
    return [{pack.curie(row): pack.label_at(row) for row in own} for own in members.values()]


def _conflicts(sets: Iterable[Set], headings: Headings) -> Iterator[tuple[str, str, str, str]]:
    """Yields concepts with their label, the heading of their set, and the one of the label."""
    for own in sets:
        joined = [curie for curie in own if curie.startswith("MESH:")]
        for curie, label in own.items():
            right = headings.get(key(label, 2), set())
            is_pair = len(joined) == len(right) == 1 and joined[0] not in right
            if is_pair and curie.startswith(_OF_LABELS):
                yield curie, label, joined[0], *right


def _unjoined(sets: Iterable[Set], headings: Headings) -> Iterator[tuple[str, str, str]]:
    """Yields concepts without a heading, with their label and the heading that has its words and
    has no other concept of these vocabularies.
    """
    prefixes = {curie: {each.partition(":")[0] for each in own} for own in sets for curie in own}
    for own in sets:
        if any(curie.startswith("MESH:") for curie in own):
            continue
        for curie, label in own.items():
            right = headings.get(key(label, 3), set())
            if curie.startswith(_OF_LABELS) and len(right) == 1:
                (heading,) = right
                if prefixes.get(heading, prefixes[curie]).isdisjoint(prefixes[curie]):
                    yield curie, label, heading


if __name__ == "__main__":
    main()
