"""What is looked up for a mention."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.linking.asking import (
    LookupString,
    Query,
    make_pair_query,
    make_query,
    make_units,
)
from fascicle.linking.induced import _INDUCED, _inducing
from fascicle.linking.parts import name_readings, numbered_names, with_stem
from fascicle.linking.spellings import as_looked_up
from fascicle.terms.abbreviations.pairs import Pairs

_SEPARATE = [
    "induced",
    "-induced ",
    " induced\n",
    "-",
    "\u2011",
    " ",
    "\x1c",
    "\u00a0",
    "(",
    "]",
    ",",
    "a",
    "é",
    "1",
    "un",
]


@given(st.lists(st.sampled_from(_SEPARATE), max_size=14).map("".join))
def test_words_that_induce_are_those_of_a_search_from_every_place(text: str) -> None:
    assert [one.span() for one in _inducing(text)] == [
        one.span() for one in _INDUCED.finditer(text)
    ]


@pytest.mark.parametrize(
    ("surface", "parts"),
    [
        ("breast and ovarian cancer", ("breast cancer", "ovarian cancer")),
        (
            "breast, lung, and ovarian cancers",
            ("breast cancers", "lung cancers", "ovarian cancers"),
        ),
        ("BRCA1/2", ("BRCA1", "BRCA2")),
        ("STAT3/5", ("STAT3", "STAT5")),
        ("CYP2C9, 2C19 and 3A4", ("CYP2C9", "CYP2C19", "CYP3A4")),
        ("STAT3/5a", ("STAT3", "STAT5a")),
        ("IL12A/12B", ("IL12A", "IL12B")),
        ("IL-1 and -6", ("IL-1", "IL-6")),
        ("TGF-β1, -β2 and -β3", ("TGF-β1", "TGF-β2", "TGF-β3")),
        ("TGF-β1/β2", ("TGF-β1", "TGF-β2")),
        ("HIF-1α and -2α", ("HIF-1α", "HIF-2α")),
        ("HIF1α/2α", ("HIF1α", "HIF2α")),
        ("IL-1β and TNF-α", ("IL-1β", "TNF-α")),
        ("PGE2 and PGF2α", ("PGE2", "PGF2α")),
        ("C3a and C5a", ("C3a", "C5a")),
        ("integrin αvβ3 and α5β1", ("integrin αvβ3", "integrin α5β1")),
        ("vitamin A and E", ("vitamin A", "vitamin E")),
        ("vitamins B6, B12 and D", ("vitamin B6", "vitamin B12", "vitamin D")),
        ("types 1 and 2 diabetes", ("type 1 diabetes", "type 2 diabetes")),
        ("bipolar I or II disorder", ("bipolar I disorder", "bipolar II disorder")),
        ("hepatitis B and C viruses", ("hepatitis B viruses", "hepatitis C viruses")),
        ("influenza A and B viruses", ("influenza A viruses", "influenza B viruses")),
        ("TNF/NGF", ("TNF", "NGF")),
        ("nausea or vomiting", ("nausea", "vomiting")),
    ],
)
def test_composite_mentions_can_be_read_in_parts(surface: str, parts: tuple[str, ...]) -> None:
    assert parts in name_readings(surface)


@pytest.mark.parametrize(
    ("before", "member", "name"),
    [
        ("vitamins E and ", "C", "vitamin C"),
        ("the vitamins A,\nD, or ", "E", "vitamin E"),
        ("vitamin E and ", "C", "C"),
        ("vitamins E ", "C", "C"),
        ("vitamins, and ", "C", "C"),
        ("5-HT1B/", "1D", "5-HT1D"),
        ("of CYP2C9, ", "2C19", "CYP2C19"),
        ("of CYP2C9, 2C19,\nand ", "3A4", "CYP3A4"),
        ("UGT1A1 or ", "2B7", "UGT2B7"),
        ("CYP1A2, CYP2D6 and ", "3A4", "CYP3A4"),
        ("CYP2C9/", "2C19", "CYP2C19"),
        ("CYP2C9 of rats and ", "2C19", "2C19"),
        ("CYP2C9 and ", "19", "19"),
        ("P5A1 and ", "2C19", "2C19"),
    ],
)
def test_members_of_series_have_the_stem_before_them(before: str, member: str, name: str) -> None:
    assert with_stem(before + member, len(before), member) == name


@given(st.text("ab1 /,-&", max_size=300))
def test_parts_are_never_empty(surface: str) -> None:
    assert all(
        len(reading) > 1 and all(part.strip() for part in reading)
        for reading in name_readings(surface)
    )


@pytest.mark.parametrize("surface", ["breast cancer", "", "and", "/", "a/b/c/d/e/f/g/h/i"])
def test_what_names_one_thing_has_no_parts(surface: str) -> None:
    assert name_readings(surface) == ()


def question(text: str, words: str, kind: str = "Gene") -> Query:
    start = text.rindex(words)
    pair, _ = Pairs(Document(id="1", text=text)).of(words, (start, start + len(words)))
    return make_query(words, kind) if pair is None else make_pair_query(pair, kind)


def asked(words: str, kind: str = "Gene") -> tuple[LookupString, ...]:
    return question(words, words, kind).strings


def test_both_forms_of_a_pair_ask_for_the_long_one_and_then_for_the_short_one() -> None:
    text = "ataxia telangiectasia (AT) is seen. Ataxia telangiectasia is AT; an AT mouse"
    for words in ("ataxia telangiectasia", "Ataxia telangiectasia", "AT"):
        found = question(text, words, "Disease")
        assert found.name == "ataxia telangiectasia"
        assert found.strings == (LookupString("ataxia telangiectasia"),)
        assert found.short == (LookupString("AT", "short"),)
        assert not found.distinctive
    other = question(text, "AT mouse", "Disease")
    assert (other.name, other.strings, other.short) == ("AT mouse", (LookupString("AT mouse"),), ())


def test_the_bare_form_of_a_short_form_is_asked_for_too() -> None:
    text = "human telomerase subunit (hTS) and hTS"
    found = question(text, "hTS")
    assert found.strings == (
        LookupString("human telomerase subunit"),
        LookupString("telomerase subunit", "bare", "NCBITaxon:9606"),
    )
    assert [one.surface for one in found.short] == ["hTS", "TS"]
    assert {one.way for one in found.short} == {"short"}


def test_species_in_names_of_genes() -> None:
    human = "NCBITaxon:9606"
    assert LookupString("TERT", "bare", human) in asked("hTERT")
    assert asked("mTOR")[0] == LookupString("mTOR")  # its own name comes first
    assert LookupString("p53", "bare", human) in asked("human p53 protein")
    assert asked("hTERT", "Disease") == (LookupString("hTERT"),)
    assert LookupString("HeLa", "bare") in asked("HeLa cells", "CellLine")


@pytest.mark.parametrize(
    ("words", "kind", "other"),
    [
        ("TGF-b1", "Gene", "TGF-beta1"),
        ("TNF-a", "Gene", "TNF-alpha"),
        ("interferon-g", "Gene", "interferon-gamma"),
        ("IL-1b", "Gene", "IL-1beta"),
        ("b-catenin", "Gene", "beta-catenin"),
        ("b-estradiol", "Chemical", "beta-estradiol"),
        ("M-CSF", "Gene", "MCSF"),
        ("tumor necrosis factor (TNF)-a", "Gene", "tumor necrosis factor-alpha"),
        ("Von Hippel-Lindau (VHL) disease", "Disease", "Von Hippel-Lindau disease"),
        ("human immunodeficiency virus type 1", "Species", "human immunodeficiency virus 1"),
        ("Thrombocytopaenia", "Disease", "Thrombocytopenia"),
        ("neutropaenias", "Disease", "neutropenias"),
        ("periventricular leucomalacia", "Disease", "periventricular leukomalacia"),
        ("varicocoeles", "Disease", "varicoceles"),
        ("thyrotrophin", "Gene", "thyrotropin"),
        ("chorionic gonadotrophin", "Chemical", "chorionic gonadotropin"),
        ("haem oxygenase-1", "Gene", "heme oxygenase-1"),
        ("caeruloplasmin", "Gene", "ceruloplasmin"),
    ],
)
def test_other_spellings_are_asked_for_behind_the_own_one(
    words: str, kind: str, other: str
) -> None:
    assert asked(words, kind)[0] == LookupString(words)
    assert LookupString(other, "bare") in asked(words, kind)[1:]


# MEDLINE wrote lowered and raised text in brackets until about 2016; these are no other spellings.
@pytest.mark.parametrize(
    ("words", "kind", "own"),
    [
        ("K(+)", "Chemical", "K+"),
        ("HCO(3)(-)", "Chemical", "HCO3-"),
        ("1,25-(OH)(2)D(3)", "Chemical", "1,25-(OH)2D3"),
        ("PGF(2alpha)", "Chemical", "PGF2alpha"),
        ("(99m)Tc", "Chemical", "99mTc"),
        ("Ca[2+]", "Chemical", "Ca2+"),
        ("[Fe(CN)6]", "Chemical", "[Fe(CN)6]"),
        ("[(3)H]thymidine", "Chemical", "[3H]thymidine"),
        ("Na(v)1.7", "Gene", "Nav1.7"),
        ("K(ir)6.2", "Gene", "K(ir)6.2"),
        ("CD4(+) T cells", "CellType", "CD4+ T cells"),
    ],
)
def test_lowered_text_in_brackets_is_the_name_itself(words: str, kind: str, own: str) -> None:
    names = dict.fromkeys((words, own))
    assert asked(words, kind)[: len(names)] == tuple(map(LookupString, names))
    assert not {string.surface for string in asked(words, kind)[len(names) :]} & {*names}


@pytest.mark.parametrize(("words", "other"), [("H(1)", "H1"), ("Rh(e)", "Rhe")])
def test_short_symbols_in_brackets_are_other_spellings(words: str, other: str) -> None:
    assert [string.surface for string in asked(words) if string.way == "own"] == [words]
    assert LookupString(other, "bare") in asked(words)


def test_an_oxidase_of_two_molecules_is_named_without_brackets() -> None:
    assert LookupString("NADPH oxidase 4") in asked("NAD(P)H oxidase 4")


def test_a_shorter_name_is_asked_for_once() -> None:
    shorter = make_query("Ca(v)1.2 a1", "Gene").shorter
    assert shorter == (LookupString("a1", "shorter"),)


@pytest.mark.parametrize(
    "words",
    ["interleukin (2)", "NAD(P)H", "poly(lactic acid)", "gene(s)", "tumor necrosis factor (TNF)-a"],
)
def test_other_brackets_stay(words: str) -> None:
    assert [string.way for string in asked(words)].count("own") == 1


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        *(("vitamin A", "Chemical"), ("a-b", "Gene"), ("p-a", "Gene"), ("b-1", "Gene")),
        *(("neurotrophin-3", "Gene"), ("utrophin", "Gene"), ("haemopexin", "Gene")),
        *(("leucovorin", "Chemical"), ("leucine", "Chemical"), ("leucopenia", "Disease")),
        *(("leucoplakia", "Disease"), ("coeliac disease", "Disease")),
    ],
)
def test_letters_that_belong_to_a_name_stay(words: str, kind: str) -> None:
    assert asked(words, kind) == (LookupString(words),)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("IL-1ß", "IL-1β"),
        ("TGFß1", "TGFβ1"),
        ("17ß-estradiol", "17β-estradiol"),
        ("amyloid-ß", "amyloid-β"),
        ("ß-thalassaemia", "β-thalassaemia"),
        ("IFN-ɣ", "IFN-γ"),
        ("Größe", "Größe"),
        ("Weiß", "Weiß"),
        ("Fuß", "Fuß"),
        ("thrombo-\ncytopenia", "thrombo-cytopenia"),
        ("cyclo-\n  sporine A", "cyclo-sporine A"),
        ("interleu-\nkin-6", "interleu-kin-6"),
        ("small-\ncell lung cancer", "small-cell lung cancer"),
        ("non-\nHodgkin lymphoma", "non- Hodgkin lymphoma"),
        ("alpha-\nand beta-thalassemia", "alpha- and beta-thalassemia"),
        ("breast\ncancer", "breast cancer"),
    ],
)
def test_letters_and_hyphens_that_stand_for_others(words: str, name: str) -> None:
    assert as_looked_up(words) == name


@pytest.mark.parametrize(
    ("adjective", "noun"),
    [
        ("nephrotoxic", "nephrotoxicity"),
        ("hypothermic", "hypothermia"),
        ("akinetic", "akinesia"),
        ("cirrhotic", "cirrhosis"),
        ("arthritic", "arthritis"),
        ("epileptic", "epilepsy"),
        ("thromboembolic", "thromboembolism"),
        ("asthmatic", "asthma"),
        ("hypertensive", "hypertension"),
        ("carcinogenic", "carcinogenesis"),
        ("HIV-infected", "HIV-infection"),
    ],
)
def test_nouns_of_adjectives_are_asked_for_if_nothing_else_is_found(
    adjective: str, noun: str
) -> None:
    found = question(adjective, adjective, "Disease")
    assert found.strings == (LookupString(adjective),)
    assert LookupString(noun, "bare") in found.shorter
    assert LookupString(noun, "bare") not in question(adjective, adjective, "Gene").shorter


def induced(text: str, words: str, kind: str = "Disease") -> list[tuple[str, str]]:
    """Names that are asked for the last of some words, each with the word of the text that must
    be a chemical.
    """
    start = text.rindex(words)
    mention = Mention(((start, start + len(words)),), kind)
    (unit,) = make_units([Document(id="1", text=text)], [[mention]])
    for one in unit.induced:
        own, *chemicals = one.needs
        assert own == (one.name, kind)
        assert [kind for _, kind in chemicals] == ["Chemical"] * len(chemicals)
    return [(one.name, "".join(name for name, _ in one.needs[1:])) for one in unit.induced]


@given(
    st.lists(st.sampled_from(["fever", "high fever", "the", "a mild", "fevers", "."]), max_size=6)
)
def test_what_a_word_induces_stands_right_behind_it(words: list[str]) -> None:
    text = f"{' '.join(words)} aspirin-induced {' '.join(words)} fever. A high fever"
    follows = (" ".join(words) + " fever").split()
    first = " ".join(follows[:1]), " ".join(follows[:2])
    assert bool(induced(text, "fever")) == (follows[0] in ("fever", "fevers"))
    assert bool(induced(text, "high fever")) == (first[1] in ("high fever", "high fevers"))
    assert not induced(text.replace("aspirin-induced", "aspirin and"), "fever")


def test_the_cause_is_that_of_the_text() -> None:
    text = "Cocaine- or (heparin-induced fever), and stress-induced fever."
    assert induced(text, "fever") == [
        (f"{one}-induced fever", cause)
        for cause in ("heparin", "stress")
        for one in ("drug", "substance")
    ]
    assert not induced(text, "fever", "Chemical")
    assert induced("Drug-induced fever.", "fever") == [
        ("drug-induced fever", ""),
        ("substance-induced fever", ""),
    ]
    assert {cause for _, cause in induced("LPS-induced fever (LIF) and LIF", "LIF")} == {"LPS"}


@pytest.mark.parametrize(
    ("surface", "kind", "name"),
    [
        ("chronic heart failure", "Disease", "heart failure"),
        ("Severe, recurrent pain", "Disease", None),
        ("severe recurrent pain", "Disease", "pain"),
        ("nephrotoxic", "Disease", "nephrotoxicity"),
        ("cirrhosis of the liver", "Disease", "liver cirrhosis"),
        ("abscess of brain", "Disease", "brain abscess"),
        ("Ca2+", "Chemical", "calcium"),
        ("Ca(2+)", "Chemical", "calcium"),
        ("Na(+)", "Chemical", "sodium"),
        ("K", "Chemical", "potassium"),
        ("KCl", "Chemical", "potassium chloride"),
        ("MgCl2", "Chemical", "magnesium chloride"),
        ("Ca(OH)2", "Chemical", "calcium hydroxide"),
        ("Na2SO4", "Chemical", "sodium sulfate"),
        ("CO2", "Chemical", "carbon dioxide"),
        ("fexofenadine hydrochloride", "Chemical", "fexofenadine"),
        ("candesartan cilexetil", "Chemical", "candesartan"),
        ("antifungal drugs", "Chemical", "antifungal agents"),
        ("drugs", "Chemical", None),
        ("antifungal drugs", "Disease", None),
        ("cyclo-oxygenase-2", "Gene", "cyclooxygenase-2"),
        ("tri-iodo-thyronine", "Chemical", "triiodothyronine"),
        ("IL-6", "Gene", None),
        ("1-methyl", "Chemical", None),
        ("Kd", "Chemical", None),
        ("na", "Chemical", None),
        ("K", "Gene", None),
        ("acute", "Disease", None),
        ("sodium", "Chemical", None),
    ],
)
def test_what_is_asked_where_a_name_is_not_known(surface: str, kind: str, name: str | None) -> None:
    query = make_query(surface, kind)
    found = [one.surface for one in (*query.strings, *query.shorter) if one.way == "bare"]
    assert (name in found) if name else not found
    assert len({one.surface for one in make_query(surface, kind).shorter}) == len(
        make_query(surface, kind).shorter
    )


def test_words_for_diseases_in_general_are_not_asked_for() -> None:
    for name in ("trophoblastic disease", "a lupus-like Syndrome", "inherited bleeding disorders"):
        shorter = {one.surface for one in question(name, name, "Disease").shorter}
        assert not shorter & {"disease", "Syndrome", "disorders"}
    assert LookupString("bleeding disorders", "shorter") in question(name, name, "Disease").shorter


@pytest.mark.parametrize(
    ("text", "surface", "whole"),
    [
        ("vitamins E and C", "C", "vitamin C"),
        ("interleukins 2 and 4", "4", "interleukin 4"),
        ("factors VIII and IX", "IX", "factor IX"),
        ("serum proteins C3 and C4", "C4", "C4"),
        ("the nutrients N, P and K", "K", "K"),
    ],
)
def test_a_member_of_a_series_has_its_head_where_it_needs_it(
    text: str, surface: str, whole: str
) -> None:
    assert with_stem(text, text.rindex(surface), surface) == whole


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("herpes viruses 1 and 2", ("herpes virus 1", "herpes virus 2")),
        ("diabetes 1 and 2", ("diabetes 1", "diabetes 2")),
        ("types 1 and 2 diabetes", ("type 1 diabetes", "type 2 diabetes")),
    ],
)
def test_the_head_of_a_series_is_singular(name: str, parts: tuple[str, ...]) -> None:
    assert numbered_names(name) == parts
