"""Case policies of names."""

from __future__ import annotations

import pytest

from fascicle.terms.keys.characters import (
    CasePolicy,
    case_fits,
    cased_letters,
    is_inflected,
    is_mixed,
)


@pytest.mark.parametrize(
    ("found", "surface", "policies"),
    [
        ("CAT", "CAT", "any initial exact symbol"),
        ("cat", "CAT", "any"),
        ("CATs", "CAT", "any initial exact"),
        ("CATS", "CAT", ""),
        ("RNA", "RNAs", "any initial exact"),
        ("Cat", "cat", "any initial"),
        ("CAt", "cat", "any"),
        ("IL2", "IL-2", "any initial exact symbol"),
        ("IL 2", "IL2", "initial exact"),
        ("IL 2", "IL 2", "any initial exact symbol"),
        ("MUC 16", "MUC16", "any initial exact"),
        ("CI -30", "CI30", "initial exact"),
        ("CI-30", "CI30", "any initial exact symbol"),
        ("il-2", "IL-2", "any"),
        ("TNF-α", "TNFalpha", "any initial exact symbol"),
        ("TNF\u2010α", "TNFα", "any initial exact symbol"),
        ("Äb", "äB", "any"),
        ("äb", "Ab", "any initial"),
        ("did", "DIDS", ""),
        ("dids", "DIDS", "any"),
        ("8", "VIII", ""),
        ("VIIIs", "VIII", "any initial exact"),
        ("bmpr2", "BMPR-II", "any"),
        ("was 1", "WAS1", ""),
        ("WAS 1", "WAS1", "initial exact"),
        ("was-1", "WAS1", "any"),
        ("per 1", "Per1", "initial"),
        ("or 10", "Or10", "initial"),
        ("Trp 53", "Trp53", "any initial exact"),
        ("trp53", "Trp53", "any initial"),
        ("5 fluorouracil", "5-FLUOROURACIL", "any"),
        ("cataract", "CATARACTS", "any"),
    ],
)
def test_which_policies_a_case_fits(found: str, surface: str, policies: str) -> None:
    assert " ".join(one.name for one in CasePolicy if case_fits(found, surface, one)) == policies


@pytest.mark.parametrize(
    ("found", "surface", "other"),
    [
        ("serum", "SERA", True),
        ("man", "MEN", True),
        ("Car", "CARS", True),
        ("CARS", "CAR", True),
        ("CARs", "CAR", False),
        ("cars", "CAR", False),
        ("sera", "SERA", False),
        ("SERA", "SERA", False),
        ("SE-RA", "SERA", False),
        ("8", "VIII", True),
        ("sera", "serum", False),
        ("SERA", "serum", False),
        ("cataract", "CATARACTS", False),
        ("mouse", "Mice", False),
        ("CI 30", "CI30", False),
    ],
)
def test_symbols_have_no_other_forms(found: str, surface: str, other: bool) -> None:
    assert is_inflected(found, surface) is other


@pytest.mark.parametrize(
    ("text", "mixed"),
    [
        ("CaP", True),
        ("tPA", True),
        ("t-PA", True),
        ("AEDs", True),
        ("5-Fu", True),
        ("TPA", False),
        ("tpa", False),
        ("Tpa", False),
        ("MiraLAX", False),
        ("", False),
    ],
)
def test_a_short_form_has_small_and_capital_letters(text: str, mixed: bool) -> None:
    assert is_mixed(text) is mixed


def test_case_of_folded_letters() -> None:
    assert cased_letters("Sjo\u0308Gren-Ø ﬁΔ9") == "SjoGrenOfidelta9"
