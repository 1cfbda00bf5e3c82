from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.runtime.decoding.edges import neutral_span

# Text with the range in vertical bars, its type, and what the range becomes.
CASES = [
    ("the | -BRCA1, |gene", "Gene", "BRCA1"),
    ("of |alpha(1|)-adrenoceptor", "Gene", "alpha(1)"),
    ("[|3H]GABA| binding", "Chemical", "[3H]GABA"),
    ("(2S,|3R)-butanol| is", "Chemical", "(2S,3R)-butanol"),
    ("|(-)-epicatechin| is", "Chemical", "(-)-epicatechin"),
    ("|insulin (INS|) is", "Gene", "insulin"),
    ("|insulin (INS| alone", "Gene", "insulin"),
    ("(see |IL-2) receptors A| now", "Gene", "receptors A"),
    ("the |transporter| of", "Gene", None),
    ("two |Kinases| and", "Gene", "Kinases"),
    ("the |receptor kinase| of", "Gene", "receptor kinase"),
    ("|Ca|(2+) flux", "Chemical", "Ca(2+)"),
    ("|Ca(2+)| flux", "Chemical", "Ca(2+)"),
    ("|Ca2|+ flux", "Chemical", "Ca2+"),
    ("|Na+| and", "Chemical", "Na+"),
    ("|NAD+|, a", "Chemical", "NAD+"),
    ("|Cl-| ions", "Chemical", "Cl-"),
    ("|Na-|K pump", "Chemical", "Na"),
    ("|CD4+| cells", "Gene", "CD4"),
    ("|HIV|-1 infection", "Species", "HIV-1"),
    ("|COVID|-19.", "Disease", "COVID-19"),
    ("|SARS-CoV|-2 is", "Species", "SARS-CoV-2"),
    ("|Insulin|-1 is", "Gene", "Insulin"),
    ("|HIV|-100 is", "Species", "HIV"),
    ("|Pinus spp.| in", "Species", "Pinus spp."),
    ("|Pinus spp|. in", "Species", "Pinus spp."),
    ("|Bacillus| sp. nov. was", "Species", "Bacillus sp. nov."),
    ("|Fusarium oxysporum| f. sp. cubense", "Species", "Fusarium oxysporum f. sp."),
    ("of |Xanthomonas oryzae pv|. oryzae", "Species", "Xanthomonas oryzae pv."),
    ("the |mice| sp. were", "Species", "mice"),
    ("a |mouse.| In", "Species", "mouse"),
    ("of |tributyl|(vinyl)tin, and", "Chemical", "tributyl(vinyl)tin"),
    ("the |drug|(s) of", "Chemical", "drug"),
    ("|K| channel", "Chemical", "K"),
    ("|K| channel", "Gene", None),
    ("|-| and", "Gene", None),
    ("of |Lp|(a) from", "Gene", "Lp(a)"),
    ("|vitamin D|(3) is", "Chemical", "vitamin D(3)"),
    ("|tumor|(s) of", "Disease", "tumor"),
    ("|H(2)O|(2), and", "Chemical", "H(2)O(2)"),
    (
        "|8-cyclopentyl-1|,3-dipropylxanthine (DPCPX)",
        "Chemical",
        "8-cyclopentyl-1,3-dipropylxanthine",
    ),
    ("dietary 1,|25-dihydroxycholecalciferol| and", "Chemical", "1,25-dihydroxycholecalciferol"),
    ("(1,|3-butadiene|)", "Chemical", "1,3-butadiene"),
    ("of |IL-1|,2 and", "Gene", "IL-1"),
    ("of 1,|2 genes|", "Gene", "2 genes"),
    (
        "a non-insulin-|dependent diabetes mellitus|.",
        "Disease",
        "non-insulin-dependent diabetes mellitus",
    ),
    ("of (drug-|induced hepatitis|)", "Disease", "drug-induced hepatitis"),
    ("a THC-|morphine| mix", "Chemical", "morphine"),
    ("and Aedes |albopictus| were", "Species", "Aedes albopictus"),
    ("anti-H |pylori| drugs", "Species", "H pylori"),
    ("of H. |pylori| in", "Species", "H. pylori"),
    ("All |mice| were", "Species", "mice"),
    ("the |5HT|(1A) receptor", "Gene", "5HT(1A)"),
    ("of 5HT|(1A) receptors| in", "Gene", "5HT(1A) receptors"),
    ("after |H|. pylori", "Chemical", None),
    ("cure for |Helicobacter| pylori infection", "Disease", "Helicobacter pylori"),
    ("of |Calcium| and", "Chemical", "Calcium"),
    ("active type |1 diabetic| patients", "Disease", "type 1 diabetic"),
    ("of |the| hip", "Disease", None),
    ("Notophthalmus |viridescens|. We", "Species", "Notophthalmus viridescens"),
    ("Helicobacter |pylori infection| in", "Disease", "Helicobacter pylori infection"),
    ("Most |bacteria| are", "Species", "bacteria"),
    ("The A |gambiae| mosquito", "Species", "A gambiae"),
    ("and A |baumannii|.", "Species", "A baumannii"),
    ("A |fungus| grew", "Species", "fungus"),
    ("In |chickens|, the", "Species", "chickens"),
    ("Adult |kittens| were", "Species", "kittens"),
    ("Healthy |humans| were", "Species", "humans"),
    ("In |rhesus monkeys| and", "Species", "rhesus monkeys"),
    ("From |coronavirus| and", "Species", "coronavirus"),
    ("in |BALB|/c mice", "Chemical", "BALB/c"),
    ("of |heroin|/cocaine", "Chemical", "heroin"),
    ("with H. |pylori infection| for", "Disease", "H. pylori infection"),
    ("of vitamin C. |Insulin| was", "Gene", "Insulin"),
    ("0.05), R,|S-labetalol| was", "Chemical", "R,S-labetalol"),
    ("the d,|l-sotalol| group", "Chemical", "d,l-sotalol"),
    ("ratio ((11)|C-verapamil| brain", "Chemical", "(11)C-verapamil"),
    ("and (1)|aspirin| (2)", "Chemical", "aspirin"),
    ("effects. |3. Clozapine| induced", "Chemical", "Clozapine"),
    ("|impaired verbal memory in| posttrau", "Disease", "impaired verbal memory"),
    ("score, |Olz10|.0 was", "Chemical", "Olz10.0"),
    ("the |omega|-3 group", "Chemical", "omega-3"),
    ("the |GABA|-1 group", "Chemical", "GABA-1"),
    ("of ELITE-|II|, BEST", "Chemical", None),
    ("angiotensin-|converting| enzyme", "Chemical", None),
    ("angiotensin-|converting enzyme| was", "Gene", "angiotensin-converting enzyme"),
    ("Most |fungi| are", "Species", "fungi"),
    ("|12%| of", "Chemical", None),
    ("the |293| cells", "CellLine", "293"),
    ("of |293|/uPAR cells", "CellLine", "293"),
    ("of |293| cells", "Chemical", None),
    ("in TX-|100| and", "CellLine", None),
    ("of |100|,000 cells", "CellLine", None),
    ("the |12| cells", "CellLine", None),
    ("|| of", "Chemical", None),
]


@pytest.mark.parametrize(("marked", "kind", "expected"), CASES)
def test_edges_of_names(marked: str, kind: str, expected: str | None) -> None:
    before, inside, after = marked.split("|")
    text = before + inside + after
    found = neutral_span(text, (len(before), len(before) + len(inside)), kind=kind)
    assert (None if found is None else text[slice(*found)]) == expected


TEXTS = st.text(alphabet="aBHVC1 2-+()[]{}.,'\u00e9\u0301\n", max_size=40)
KINDS = st.sampled_from(["Chemical", "Gene", "Species"])


@st.composite
def ranges(draw: st.DrawFn) -> tuple[str, tuple[int, int], str]:
    text = draw(TEXTS)
    start = draw(st.integers(0, len(text)))
    return text, (start, draw(st.integers(start, len(text)))), draw(KINDS)


@given(ranges())
def test_no_edge_is_put_between_two_letters(one: tuple[str, tuple[int, int], str]) -> None:
    text, span, kind = one
    found = neutral_span(text, span, kind=kind)
    if found is None:
        return
    assert 0 <= found[0] < found[1] <= len(text)
    for place in {*found} - {*span}:
        assert not (text[place - 1 : place].isalpha() and text[place : place + 1].isalpha())


@given(ranges())
def test_edges_in_order_stay(one: tuple[str, tuple[int, int], str]) -> None:
    text, span, kind = one
    found = neutral_span(text, span, kind=kind)
    if found is not None:
        assert neutral_span(text, found, kind=kind) == found


@given(ranges())
def test_brackets_are_in_pairs_and_a_letter_is_left(one: tuple[str, tuple[int, int], str]) -> None:
    text, span, kind = one
    found = neutral_span(text, span, kind=kind)
    if found is None:
        return
    said = text[slice(*found)]
    assert any(character.isalpha() for character in said) or (
        kind == "CellLine" and said.isdecimal()
    )
    for begin, close in ("()", "[]", "{}"):
        depth = 0
        for character in said:
            depth += (character == begin) - (character == close)
            assert depth >= 0
        assert depth == 0
