"""What strings find in a pack, against looking at every term."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.packs import REAL_PARTS, build_small

from fascicle.linking import finding
from fascicle.linking.candidates import TIERS
from fascicle.linking.finding import Finder, FoundTerms
from fascicle.linking.index import NameIndex, write_index
from fascicle.terms.keys.key import key
from fascicle.terms.terms import ConceptRecord, Name

NAMES = {
    "MESH:D1": ("Disease", ["Breast Neoplasms", "breast neoplasm", "neoplasm of the breast"]),
    "MESH:D2": ("Disease", ["Type 1 diabetes mellitus", "IDDM"]),
    "MESH:D3": ("Disease", ["Type 2 diabetes mellitus", "NIDDM", "diabetes mellitus, type II"]),
    "MESH:D4": ("Disease", ["Catalase deficiency", "CAT"]),
    "NCBIGene:1": ("Gene", ["CAT", "catalase"]),
    "NCBIGene:2": ("Gene", ["Cat", "Catalase", "TNF-α"]),
    "NCBIGene:3": ("Gene", ["SERA", "HARD", "RENIN", "Was"]),
    "NCBIGene:4": ("Gene", ["renin", "CARS"]),
    "MESH:D5": ("Disease", ["DIABETES"]),
    "MESH:D6": ("Disease", ["CAP", "AEDS"]),
    "NCBIGene:5": ("Gene", ["CAP"]),
    "MESH:C7": ("Chemical", ["AED", "ApoB", "TPA", "KCL", "VWD", "D4T"]),
    "NCBIGene:6": ("Gene", ["tPA"]),
    "NCBIGene:7": ("Gene", ["ACHE"]),
    "MESH:D8": ("Disease", ["Ache"]),
}
RECORDS = {
    "all": [
        ConceptRecord(curie=curie, type=kind, names=tuple(Name(name) for name in names))
        for curie, (kind, names) in NAMES.items()
    ]
}


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    pack = build_small(tmp_path_factory.mktemp("pack") / "pack", RECORDS, parts=REAL_PARTS)
    folder = tmp_path_factory.mktemp("index")
    write_index(folder, pack)
    return Finder(pack, NameIndex.open(folder, pack))


def told(finder: Finder, found: FoundTerms) -> list[tuple[int, str, str, str]]:
    terms = [finder.pack.term(finder.pack.active, row) for row in found.terms.tolist()]
    return sorted(
        (place, TIERS[tier], term.surface, term.concept)
        for place, tier, term in zip(
            found.places.tolist(), found.tiers.tolist(), terms, strict=True
        )
    )


def expected(surfaces: list[str], types: list[str]) -> list[tuple[int, str, str, str]]:
    return sorted(
        (
            place,
            "exact"
            if name == surface
            else "folded"
            if key(name, 1) == key(surface, 1)
            else "canonical",
            name,
            one,
        )
        for place, (surface, kind) in enumerate(zip(surfaces, types, strict=True))
        for one, (own, names) in NAMES.items()
        for name in names
        if own == kind and key(name, 2) == key(surface, 2) != ""
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "CAT",
                    "cat",
                    "catalases",
                    "TNFalpha",
                    "tnf-α",
                    "iddm",
                    "breast neoplasms",
                    "x",
                    "",
                    "-",
                ]
            ),
            st.sampled_from(["Disease", "Gene", "Species"]),
        ),
        max_size=8,
    )
)
def test_equal_keys_find_the_terms_of_the_type(
    finder: Finder, asked: list[tuple[str, str]]
) -> None:
    surfaces, types = [one for one, _ in asked], [kind for _, kind in asked]
    assert told(finder, finder.find(surfaces, types)) == expected(surfaces, types)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("serum", []),
        ("sera", []),
        ("SERA", ["SERA"]),
        ("car", []),
        ("cars", []),
        ("hard", []),
        ("Hard", []),
        ("HARD", ["HARD"]),
        ("was", []),
        ("Was", ["Was"]),
        ("renin", ["renin"]),
        ("RENIN", ["RENIN", "renin"]),
    ],
)
def test_a_word_is_no_symbol_with_its_key(finder: Finder, given: str, names: list[str]) -> None:
    found = finder.find([given], ["Gene"])
    assert [name for _, _, name, _ in told(finder, found)] == sorted(names)


@pytest.mark.parametrize(
    ("words", "kind", "names"),
    [
        ("CaP", "Disease", []),
        ("CaP", "Gene", ["CAP"]),
        ("cap", "Disease", ["CAP"]),
        ("CAPs", "Disease", ["CAP"]),
        ("AEDs", "Disease", []),
        ("AEDS", "Disease", ["AEDS"]),
        ("AEDs", "Chemical", ["AED"]),
        ("tPA", "Chemical", []),
        ("tpa", "Chemical", ["TPA"]),
        ("KCl", "Chemical", ["KCL"]),
        ("vWD", "Chemical", ["VWD"]),
        ("d4T", "Chemical", ["D4T"]),
        ("aPoB", "Chemical", ["ApoB"]),
        ("AChE", "Disease", []),
        ("Aches", "Disease", ["Ache"]),
    ],
)
def test_a_short_form_in_small_and_capital_letters_is_no_other_one(
    finder: Finder, words: str, kind: str, names: list[str]
) -> None:
    assert [name for _, _, name, _ in told(finder, finder.find([words], [kind]))] == names


def test_a_word_in_capitals_is_a_word(finder: Finder) -> None:
    assert [one for *_, one in told(finder, finder.find(["diabetes"], ["Disease"]))] == ["MESH:D5"]


def test_words_in_another_order_are_found(finder: Finder) -> None:
    found = finder.find_reordered(
        ["diabetes mellitus type 1", "nothing", "diabetes mellitus type 1"], ["Disease"] * 3
    )
    assert told(finder, found) == [
        (place, "reordered", "Type 1 diabetes mellitus", "MESH:D2") for place in (0, 2)
    ]


def test_slips_are_found_but_no_other_number(finder: Finder) -> None:
    asked = ["type 2 diabetis mellitus", "brest neoplasm", "catalase deficiancy", "zzzzzz"]
    found = finder.find_near(asked, ["Disease"] * 4)
    concepts = {
        (place, concept) for place, tier, _, concept in told(finder, found) if tier == "near"
    }
    assert concepts == {(0, "MESH:D3"), (1, "MESH:D1"), (2, "MESH:D4")}
    assert np.all((found.similarity < 1) & (found.similarity > 0.7))


def test_what_was_asked_for_before_changes_nothing(
    finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["brest neoplasm", "zzzzzz", "catalase deficiancy", "iddmm"]
    first = told(finder, finder.find_near(asked, ["Disease"] * 4))
    monkeypatch.setattr(finding, "_REMEMBERED", 3)
    fresh = Finder(finder.pack, finder.index)
    for one in asked:
        fresh.find_near([one], ["Disease"])
    assert told(fresh, fresh.find_near(asked, ["Disease"] * 4)) == first
    assert told(finder, finder.find_near(asked, ["Disease"] * 4)) == first


def test_without_an_index_only_keys_count(finder: Finder, tmp_path: Path) -> None:
    bare = Finder(finder.pack)
    assert told(bare, bare.find(["iddm"], ["Disease"])) == [(0, "folded", "IDDM", "MESH:D2")]
    assert not len(bare.find_near(["brest neoplasm"], ["Disease"]).terms)
    assert not len(bare.find_reordered(["diabetes mellitus type 1"], ["Disease"]).terms)
