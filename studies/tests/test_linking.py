"""The study of linking: what rivals are given, what is ranked first without parts, and its
tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.linking import build_index, build_pack, corpus, document

from fascicle.evaluation.link_report import LinkSystem
from fascicle.evaluation.link_scores import LinkCase
from fascicle.linking.index import NameIndex
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.tasks.link_cases import Reference
from studies.linking import measure, rivals, tables


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pack, NameIndex]:
    pack = build_pack(tmp_path_factory.mktemp("pack") / "pack")
    return pack, build_index(tmp_path_factory.mktemp("index"), pack)


def test_rivals_have_the_names_of_the_pack_and_those_that_references_bring(
    opened: tuple[Pack, NameIndex],
) -> None:
    pack, index = opened
    found = {(one.text, one.curie) for one in rivals.entries_of(pack, index, "Disease", ("MESH",))}
    own = {
        (term.surface, curie)
        for curie in ("MESH:D1", "MESH:D2", "MESH:D3", "MESH:D4", "MESH:D5", "MESH:D9")
        for term in pack.names(curie)
    }
    assert own < found
    assert found - own == {("mammary carcinoma", "MESH:D1"), ("mammary duct carcinoma", "MESH:D1")}
    genes = {
        (one.curie, one.taxon) for one in rivals.entries_of(pack, index, "Gene", ("NCBIGene",))
    }
    assert ("NCBIGene:2", "NCBITaxon:10090") in genes


def test_rivals_are_asked_for_long_forms_and_ranked(
    opened: tuple[Pack, NameIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    pack, index = opened
    text = "ataxia telangiectasia (ATX), and ATX in mice"
    one = document(text, ("ATX", "Disease", "MESH:D3"))
    start, end = text.index("ATX"), text.index("ATX") + 3
    paired = type(one)(
        id="1", text=text, mentions=one.mentions, abbreviations=(((start, end), (0, 21)),)
    )
    asked: list[rivals.Ask] = []

    def made(entries: Any) -> rivals.Rank:
        known = {entry.text: entry.curie for entry in entries}

        def rank(asks: Any) -> rivals.Ranks:
            asked.extend(asks)
            return {ask: (known[ask[0]],) if ask[0] in known else () for ask in asks}

        return rank

    monkeypatch.setattr(rivals, "RIVALS", {"equal": made})
    reference = Reference(documents=[paired], packs=(pack,))
    (system,) = rivals.Rivals(pack, index).systems(
        reference, {"Disease": ("MESH",), "Gene": ("NCBIGene",)}
    )
    assert [(case.answer, case.right()) for case in system.cases] == [
        (frozenset({"MESH:D3"}), True)
    ]
    assert asked == [("ataxia telangiectasia", ("NCBITaxon:10090", "NCBITaxon:9606"))]


def test_tables_are_written(tmp_path: Path, opened: tuple[Pack, NameIndex]) -> None:
    pack, _ = opened
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
    reference = Reference(documents=corpus(2), packs=(pack,))
    report = measure.report_of(systems, reference)
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
