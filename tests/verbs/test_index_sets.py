"""``fascicle index sets``: what makes sets, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.packs import REAL_PARTS, build_small

from fascicle.terms.terms import ConceptRecord, CrossReference, Name

Cli = Callable[..., Any]


def test_pairs_are_listed_with_what_says_them(tmp_path: Path, cli: Cli) -> None:
    names = (Name("asthma", "label"),)
    records = [
        ConceptRecord(
            curie="DOID:1",
            type="Disease",
            names=names,
            references=(CrossReference("MESH:1", "skos:exactMatch"),),
        ),
        ConceptRecord(
            curie="DOID:2",
            type="Disease",
            names=(Name("rash", "label"),),
            references=(CrossReference("MESH:1"),),
        ),
        ConceptRecord(curie="MESH:1", type="Disease", names=names),
    ]
    build_small(tmp_path / "pack", {"one": records}, parts=REAL_PARTS)
    done = cli("index", "sets", tmp_path / "pack")
    assert done.code == 0
    assert [line.split("\t") for line in done.out.splitlines()] == [
        ["DOID:1", "asthma", "MESH:1", "asthma", "exact match", "taken"],
        ["DOID:2", "rash", "MESH:1", "asthma", "single reference", "conflict"],
    ]
    assert "1 pair taken, 1 conflict" in done.err
    first = json.loads(cli("index", "sets", tmp_path / "pack", "--json").out.splitlines()[0])
    assert (first["concept"], first["evidence"], first["taken"]) == ("DOID:1", "exact match", True)
    assert "edges by exact match: 1" in cli("index", "stats", tmp_path / "pack").out
