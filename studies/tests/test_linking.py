"""The tables of the study of linking."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.linking import build_pack, corpus

from fascicle.evaluation.link_report import LinkSystem, links_report
from fascicle.evaluation.link_scores import LinkCase
from fascicle.verbs.tasks.link_cases import Reference
from studies.linking import tables


def test_tables_are_written(tmp_path: Path) -> None:
    right = LinkCase(
        document="0",
        type="Disease",
        surface="AT",
        gold=frozenset({"MESH:D3"}),
        parts=(("MESH:D3",),),
        answer=frozenset({"MESH:D3"}),
        score=0.9,
        tier="exact",
        alone=True,
    )
    names = ("ours", "theirs", "others")
    systems = [LinkSystem(name=name, cases=(right,), has_candidates=True) for name in names]
    reference = Reference(documents=corpus(2), packs=(build_pack(tmp_path / "pack"),))
    report = links_report(
        systems,
        documents=[one.id for one in reference.documents],
        concepts=reference.concepts,
        is_trained=True,
        examples=0,
        resamples=100,
    )
    for name in (tables.NAME, tables.RAW):
        told = {
            "links": report,
            "recogniser": "pack",
            "least": 0.1,
            "found": {"gold": 4, "found": 4, "right": 2},
        }
        (tmp_path / f"{name}.json").write_text(json.dumps({"corpus": told}), encoding="utf-8")
    change = {"estimate": -0.01, "low": -0.02, "high": 0.0}
    row = {
        "all": {"estimate": 0.9},
        "without": {"tiers": change},
    }
    (tmp_path / f"{tables.ABLATION}.json").write_text(json.dumps({"corpus": row}), encoding="utf-8")
    made = (
        tables.figures,
        tables.systems,
        tables.tiers,
        tables.unseen,
        tables.errors,
        tables.ablation,
        tables.raw,
    )
    for make in made:
        lines = make(tmp_path).splitlines()
        assert len({line.count("|") for line in lines}) == 1
        assert make(tmp_path / "none") == tables.NOT_RUN
    assert "**100.0** (100.0 to 100.0)" in tables.figures(tmp_path)
    assert "100.0 of 50.0" not in tables.tiers(tmp_path)
    assert "-1.0 (-2.0 to +0.0)" in tables.ablation(tmp_path)
