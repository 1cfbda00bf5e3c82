"""The study of sequence variants: gold identifiers as HGVS names, and its tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import Document, Link, Mention
from studies.variants.measure import met, named, wilson
from studies.variants.tables import identifiers, mentions, read_one_by_one


@pytest.mark.parametrize(
    ("identifier", "kind", "name"),
    [
        ("p|SUB|V|600|E", "p|SUB", "p.Val600Glu"),
        ("p|SUB|Q|298|X", "p|SUB", "p.Gln298Ter"),
        ("p|SUB|S|216|S", "p|SUB", "p.Ser216="),
        ("c|SUB|T|1799|A", "c|SUB", "c.1799T>A"),
        ("c|SYB|C|+8365|T", "c|SUB", "c.8365C>T"),
        ("c|SUB|G|IVS3+1|A", "c|SUB", "c.IVS3+1G>A"),
        ("c|SUB|Q|223|K", "c|SUB", "p.Gln223Lys"),
        ("rs6232", "rs", "rs6232"),
        ("c|SUB|G||A", "", ""),
        ("c|SUB|G|CODON158|C", "", ""),
        ("c|DEL|1494|6", "", ""),
    ],
)
def test_gold_identifiers_as_names(identifier: str, kind: str, name: str) -> None:
    assert named(identifier) == (kind, name)


def test_an_identifier_is_met_once_a_document() -> None:
    links = (Link(id="p|SUB|V|600|E"),), (Link(id="rs12"),), (Link(id="p|SUB|V|600|E"),)
    gold = tuple(
        Mention(((at, at + 1),), "SequenceVariant", links=one) for at, one in enumerate(links)
    )
    ours = Mention(
        ((0, 1),), "SequenceVariant", links=(Link(id="NM_1.2:p.Val600Glu", ontology="HGVS"),)
    )
    found = met([Document(id="a", text="V600E, rs123", mentions=gold)], {"a": (ours,)})
    assert {kind: counts[:2] for kind, counts in found.items()} == {"p|SUB": (1, 1), "rs": (0, 1)}


def test_the_interval_of_a_share() -> None:
    assert wilson(5, 10) == [0.2366, 0.7634]  # of Wilson 1927, as statsmodels gives it
    assert wilson(0, 20)[0] == 0.0


def test_tables(tmp_path: Path) -> None:
    results = Path(__file__).resolve().parents[2] / "studies" / "results"
    assert len(mentions(results).splitlines()) == 2 + 3
    assert len(identifiers(results).splitlines()) == 2 + 4
    assert len(read_one_by_one(results).splitlines()) == 2 + 1
    assert all("not run" in table(tmp_path) for table in (mentions, identifiers, read_one_by_one))
