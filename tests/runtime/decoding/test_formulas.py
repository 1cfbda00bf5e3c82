from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.mention import Mention
from fascicle.runtime.decoding.formulas import find_formulas, with_formulas


@pytest.mark.parametrize(
    "formula",
    [
        *(
            "THF",
            "DMSO",
            "n-BuLi",
            "NaCl",
            "NaOH",
            "KBr",
            "KOtBu",
            "LiHMDS",
            "CDCl3",
            "SOCl2",
            "EDTA",
            "HEPES",
            "AgNO3",
            "Cs2CO3",
            "PPh3",
        ),
        *("CCl4", "LY294002", "SB-203580", "EGCG", "ABT-737", "H2DCFDA", "5-aza-dC", "2-DG"),
        *(
            "H2SO4",
            "HNO3",
            "K2CO3",
            "KOH",
            "CO2",
            "NH4Cl",
            "LiAlH4",
            "TiO2",
            "Fe3O4",
            "Na2S2O3",
            "CH3CN",
            "BF3\u00b7OEt2",
        ),
        *(
            "NaBO3\u00b74H2O",
            "CuSO4 \u00b7 5H2O",
            "Co(NO3)2\u00b76H2O",
            "Pd(PPh3)4",
            "K3[Fe(CN)6]",
            "[Ru(bpy)3]Cl2",
        ),
    ],
)
def test_formulas_and_reagents_are_whole(formula: str) -> None:
    text = f"in {formula}, at 20 C"
    assert [text[a:b] for a, b in find_formulas(text)] == [formula]


@pytest.mark.parametrize(
    "other",
    [
        *(
            "BRCA1",
            "PI3K",
            "H3K4",
            "HeLa",
            "CaCo-2",
            "Caco-2",
            "SARS-CoV-2",
            "MERS-CoV",
            "InsP3",
            "CaV1.2",
            "PaCO2",
            "MeCP2",
        ),
        *(
            "AsPC-1",
            "AsPC1",
            "Bcl2",
            "Nos2",
            "Sox2",
            "COPD",
            "HF",
            "KI",
            "NOS",
            "CO",
            "NO",
            "H2AX",
            "BH3",
            "IP3",
            "Co",
            "In",
        ),
        *(
            "CNS",
            "HIV",
            "SiHa",
            "PrPSc",
            "C3",
            "CD4",
            "H2O",
            "CoA",
            "p53",
            "Hb",
            "CuZnSOD",
            "NaV1.5",
            "BeWo",
            "IL-2",
        ),
    ],
)
def test_genes_lines_and_words_are_no_formulas(other: str) -> None:
    assert list(find_formulas(f"of {other} in")) == []


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("washed with EtOAc/hexane", ["EtOAc"]),
        ("in TFA/TIS/H2O", ["TFA"]),
        ("a THF/MeOH mixture", ["THF", "MeOH"]),
        ("a SiO2/TiO2 ratio", ["SiO2", "TiO2"]),
        ("hexane/EtOAc/acetone, KCl /NaCl and H_2O/NaCl", ["EtOAc", "KCl", "NaCl", "NaCl"]),
        ("the PI3K/AKT pathway of CD4/CD8 cells", []),
    ],
)
def test_a_slash_is_the_border_of_a_formula(text: str, formulas: list[str]) -> None:
    assert [text[a:b] for a, b in find_formulas(text)] == formulas


@pytest.mark.parametrize(
    "address",
    [
        "https://doi.org/10.1000/CuO2/x",
        "doi:10.1000/CuO2",
        "www.example.org/NaCl",
        "/data/NaCl/run1",
        "(~/NaCl/x)",
        "C:/NaCl/x",
        "data/NaCl/run1.",
        "data/run_1/NaCl",
        "results/NaCl.csv",
        "InChI=1S/C2H6ClNO2/c1-2",
    ],
)
def test_a_part_of_an_address_or_a_path_is_no_formula(address: str) -> None:
    text = f"NaCl see {address} and KBr"
    assert [text[a:b] for a, b in find_formulas(text)] == ["NaCl", "KBr"]


@given(st.text(st.sampled_from("NaClCO23()[]\u00b7H Fe.-"), max_size=60))
def test_formulas_are_in_order_and_apart(text: str) -> None:
    spans = list(find_formulas(text))
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert all(text[slice(*span)].strip() == text[slice(*span)] for span in spans)


def test_a_formula_takes_the_place_of_its_parts_and_none_of_a_longer_name() -> None:
    text = "RuCl3 and sodium NaCl in CuSO4"
    mentions = [
        Mention(((0, 5),), "Gene", score=0.8, source="m"),
        Mention(((10, 21),), "Chemical", score=0.7, source="m"),
        Mention(((25, 30),), "Chemical", score=0.97, source="m"),
    ]
    found = with_formulas(mentions, list(find_formulas(text)), source="m")
    assert {(text[m.start : m.end], m.type, m.score) for m in found} == {
        ("RuCl3", "Chemical", 0.9),
        ("sodium NaCl", "Chemical", 0.7),
        ("CuSO4", "Chemical", 0.97),
    }
