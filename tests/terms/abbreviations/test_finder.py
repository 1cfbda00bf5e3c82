"""Definitions of short forms in texts: planted ones, repaired ones, hostile texts, and the
annotated abstracts.
"""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.contracts import Step
from fascicle.core.document import Document, Section
from fascicle.core.patches import apply
from fascicle.terms.abbreviations.finder import (
    AbbreviationFinder,
    abbreviations_of,
    find_abbreviations,
)
from fascicle.terms.abbreviations.forms import can_be_short, fold_letters


def found_in(text: str) -> list[tuple[str, str]]:
    pairs = find_abbreviations(text)
    assert pairs == find_abbreviations(Document(id="1", text=text))
    return [(text[slice(*short)], text[slice(*long)]) for short, long in pairs]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Use of tumor necrosis factor (TNF) grew.", [("TNF", "tumor necrosis factor")]),
        ("TNF (tumor necrosis factor) grew.", [("TNF", "tumor necrosis factor")]),
        ("The barrier (blood-brain barrier, BBB) held.", [("BBB", "blood-brain barrier")]),
        ("FDA (Food and Drug Administration) rules", [("FDA", "Food and Drug Administration")]),
        ("D&C (dilation and curettage) helped.", [("D&C", "dilation and curettage")]),
        ("ER (estrogen receptor and a progesterone receptor)", [("ER", "estrogen receptor")]),
        ("p38 MAPK (p38 mitogen-activated protein kinase)", [("p38 MAPK", "p38 mitogen-activated " "protein kinase")]),
        ("TNF-alpha (tumour necrosis factor-α) rose.", [("TNF-alpha", "tumour necrosis factor-α")]),
        ("nuclear factor κB (NF-kappaB) moved.", [("NF-kappaB", "nuclear factor κB")]),
        ("three-dimensional (3D) images", [("3D", "three-dimensional")]),
        ("a four-dimensional (3D) image", []),
        ("Fructose-2,6-bisphosphate (Fru-2,6-P(2)) rose.", [("Fru-2,6-P(2)", "Fructose-2,6-bisphosphate")]),
        ("GFR fell, as did the decreased rate (deltaGFR)", []),
        ('The "heart rate" ("HR") rose.', [("HR", "heart rate")]),
        ("ubiquitin(Ub)/proteasome", [("Ub", "ubiquitin")]),
        ("interleukin 2 [IL2, given daily]", [("IL2", "interleukin 2")]),
        ("heart rate (HR) and blood pressure (BP)", [("HR", "heart rate"), ("BP", "blood pressure")]),
        ("(adjusted odds ratio [AOR] 2.1)", [("AOR", "adjusted odds ratio")]),
        ("high poly(ethylene glycol) (PEG) doses", [("PEG", "poly(ethylene glycol)")]),
        ("4'-(9-acridinylamino)-methanesulfon-m-anisidine (AMSA)",
         [("AMSA", "4'-(9-acridinylamino)-methanesulfon-m-anisidine")]),
        ("defects--persistent truncus arteriosus (PTA)", [("PTA", "persistent truncus arteriosus")]),
        ("Beta cells died. The renal cortex (BC) did not.", []),  # not over the end of a sentence
        ("patients (pain) and doses (p<0.05) of 2 mg (10 mM)", []),
        ("platinum, interacted with Pt(II)", []),
        ("TNF (TNF)", []),
        ("genes of sgk1 knock-out mice (SGK1)", []),
        ("methyl N-[nitrosourea] was given", []),
        ("dose of puromycin aminonucleoside, (PAN)", [("PAN", "puromycin aminonucleoside")]),
        ("The 20-item Toronto Alexithymia Scale (TAS-20)", [("TAS-20", "20-item Toronto " "Alexithymia Scale")]),
        ("inositol 1,4,5-trisphosphate (IP3) and carbon dioxide (CO2)",
         [("IP3", "inositol 1,4,5-trisphosphate"), ("CO2", "carbon dioxide")]),
        ("GTP cyclohydrolase I (GCH1)", [("GCH1", "GTP cyclohydrolase I")]),
        ("PH2 (primary hyperoxaluria type II)", [("PH2", "primary hyperoxaluria type II")]),
        ("APC (for adenomatous polyposis coli)", [("APC", "adenomatous polyposis coli")]),
        ("ET (the effective temperature)", [("ET", "effective temperature")]),
        ("Myotonic dystrophy (DM) and DM", [("DM", "Myotonic dystrophy")]),
        ("nausea and vomiting induced by chemotherapy (CINV)",
         [("CINV", "nausea and vomiting induced by chemotherapy")]),
        ("the corrected QT (QTc)", [("QTc", "corrected QT")]),
        ("END phenomenon positive (END+) and END phenomenon negative (END-)",
         [("END+", "END phenomenon positive"), ("END-", "END phenomenon negative")]),
        ("chlorophyll a/b light-harvesting complex (chl a/b LHC)",
         [("chl a/b LHC", "chlorophyll a/b light-harvesting complex")]),
        ("site-specifically mono-PEGylated mTNF-alpha-K90R (sp-PEG-mTNF-alpha-K90R)",
         [("sp-PEG-mTNF-alpha-K90R", "site-specifically mono-PEGylated mTNF-alpha-K90R")]),
        ("6-hydroxydopamine (6-OHDA) and 25-hydroxyvitamin D [25(OH)D]",
         [("6-OHDA", "6-hydroxydopamine"), ("25(OH)D", "25-hydroxyvitamin D")]),
        ("potassium chloride (KCl) and sodium fluoride (NaF)",
         [("KCl", "potassium chloride"), ("NaF", "sodium fluoride")]),
        ("ovariectomized (OVX) and thyroparathyroidectomized (TPTX) rats, olfactory bulbectomy " "(OBX)",
         [("OVX", "ovariectomized"), ("TPTX", "thyroparathyroidectomized"), ("OBX", "olfactory bulbectomy")]),
        ("groups of ovariectomized female rats (OVX)", []),
        ("for 60 minutes (T60), squirrel monkey (monkeys), month 3 (M3)", []),
        ("the [Leu5]enkephalin (Leu-enkephalin)", []),
        ("", []),
    ],
)  # fmt: skip
def test_definitions(text: str, pairs: list[tuple[str, str]]) -> None:
    assert found_in(text) == pairs


def test_several_definitions_of_one_form_are_all_kept() -> None:
    text = "Mitral stenosis (MS) is no multiple sclerosis (MS)."
    assert found_in(text) == [("MS", "Mitral stenosis"), ("MS", "multiple sclerosis")]


def test_no_definition_reaches_over_the_border_of_a_section() -> None:
    text = "Heart rate (HR)"
    parts = Document(id="1", text=text, sections=(Section(0, 5, "title"), Section(5, 15, "text")))
    assert find_abbreviations(parts) == ()
    assert (
        len(find_abbreviations(Document(id="1", text=text, sections=(Section(0, 15, "all"),)))) == 1
    )


def test_the_finder_is_a_step() -> None:
    step = AbbreviationFinder()
    assert isinstance(step, Step)
    document = Document(id="1", text="The heart rate (HR) rose.")
    (patch,) = step.run([document])
    assert apply(document, patch).abbreviations == (((16, 18), (4, 14)),)


NOUN = st.text(alphabet="bcdfgklm", min_size=6, max_size=8)  # longer than any of the short forms


@given(st.lists(st.lists(NOUN, min_size=2, max_size=5), min_size=1, max_size=4))
def test_what_is_planted_is_found_where_it_is(longs: list[list[str]]) -> None:
    text, expected = "", set[tuple[tuple[int, int], tuple[int, int]]]()
    for nouns in longs:
        text += "We saw the "
        long = (len(text), len(text) + len(" ".join(nouns)))
        text += " ".join(nouns) + " ("
        short = (len(text), len(text) + len(nouns))
        text += "".join(noun[0] for noun in nouns).upper() + ") once more. "
        expected.add((short, long))
    assert set(find_abbreviations(Document(id="1", text=text))) == expected


@given(st.text(alphabet='aAbBİα12 ().,;[]-"\n', max_size=80), st.integers(0, 80))
def test_what_is_found_in_any_text(text: str, cut: int) -> None:
    pairs = find_abbreviations(Document(id="1", text=text))
    for short, long in pairs:
        form, words = text[slice(*short)], text[slice(*long)]
        assert short[1] <= long[0] or long[1] <= short[0]
        assert can_be_short(form)
        assert len(form) < len(words)
        assert words == words.strip()
        letters = Counter(one for one in fold_letters(form) if one.isalpha())
        assert letters <= Counter(fold_letters(words))
    cut = min(cut, len(text))
    sections = (Section(0, cut), Section(cut, len(text)))
    apart = find_abbreviations(Document(id="1", text=text, sections=sections))
    alone = {
        ((short[0] + at, short[1] + at), (long[0] + at, long[1] + at))
        for at, part in ((0, text[:cut]), (cut, text[cut:]))
        for short, long in find_abbreviations(Document(id="1", text=part))
    }
    assert set(apart) == alone


@pytest.mark.parametrize(
    "unit",
    [
        "(",
        ")",
        "()",
        "(A",
        "A)",
        "(AB)",
        " (a b, AB)",
        "[(",
        "(AB) x ",
        "  ",
        "aaaaaaaa(",
        "a b(AB) ",
        ". A",
    ],
)
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    def seconds(repeats: int) -> float:
        document = Document(id="1", text=unit * repeats)
        begun = time.process_time()
        find_abbreviations(document)
        return time.process_time() - begun

    seconds(100)
    short, long = max(seconds(1_000) for _ in range(3)), min(seconds(8_000) for _ in range(3))
    assert long < 8 * 4 * max(short, 0.002)  # a square would be 64 times


def test_places_in_many_sections_take_linear_time() -> None:
    # They take a second; moving all places for each section takes minutes.
    text = "tumour necrosis factor (TNF) " * 6_000
    starts = range(0, len(text), 29)
    document = Document(
        id="1", text=text, sections=tuple(Section(at, at + 28, "part") for at in starts)
    )
    began = time.process_time()
    found = abbreviations_of(document, at=frozenset(at + 23 for at in starts))
    assert len(found) == 6_000
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (
            "Matrix metalloproteinases 2 and 9 (MMP-2 and MMP-9) were high.",
            [("MMP-2", "Matrix metalloproteinases 2")],
        ),
        (
            "We gave eicosapentaenoic and docosahexaenoic acids (EPA + DHA).",
            [("EPA", "eicosapentaenoic"), ("DHA", "docosahexaenoic acids")],
        ),
        (
            "Women took norethindrone 1 mg/ethinyl estradiol 0.035 mg (NE/EE) daily.",
            [("NE", "norethindrone"), ("EE", "ethinyl estradiol")],
        ),
        (
            "Tumour necrosis factor and interleukin 6 (TNF and IL-6) rose.",
            [("TNF", "Tumour necrosis factor"), ("IL-6", "interleukin 6")],
        ),
        (
            "Systolic and diastolic blood pressure (SBP and DBP) fell.",
            [("DBP", "diastolic blood pressure")],
        ),
        (
            "Approved by the Food and Drug Administration (FDA, USA).",
            [("FDA", "Food and Drug Administration")],
        ),
        ("By polymerase chain reaction (PCR and RT-PCR).", [("PCR", "polymerase chain reaction")]),
    ],
)
def test_several_short_forms_in_one_bracket_are_paired_in_order(
    text: str, pairs: list[tuple[str, str]]
) -> None:
    assert [
        (text[slice(*short)], text[slice(*long)]) for short, long in find_abbreviations(text)
    ] == pairs


@pytest.mark.parametrize(
    ("words", "short", "long"),
    [
        ("anti-vascular endothelial growth factor", "VEGF", "vascular endothelial growth factor"),
        ("anti-human immunodeficiency virus", "HIV", "human immunodeficiency virus"),
        ("non-high-density lipoprotein", "HDL", "high-density lipoprotein"),
        ("post-myocardial infarction", "MI", "myocardial infarction"),
        ("HCV-ribonucleic acid", "RNA", "ribonucleic acid"),
        ("non-small cell lung cancer", "NSCLC", "non-small cell lung cancer"),
        ("post-traumatic stress disorder", "PTSD", "post-traumatic stress disorder"),
        ("anti-Müllerian hormone", "AMH", "anti-Müllerian hormone"),
        ("alpha-fetoprotein", "AFP", "alpha-fetoprotein"),
        ("NG-nitro-L-arginine methyl ester", "L-NAME", "NG-nitro-L-arginine methyl ester"),
    ],
)
def test_a_prefix_is_outside_unless_the_short_form_has_it(
    words: str, short: str, long: str
) -> None:
    text = f"We studied {words} ({short})."
    ((_, (start, end)),) = find_abbreviations(text)
    assert text[start:end] == long
