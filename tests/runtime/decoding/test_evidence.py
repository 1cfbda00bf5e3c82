from __future__ import annotations

import time
from collections.abc import Collection, Mapping

import pytest

from fascicle.core.document import Document, Mention, Patch, in_order
from fascicle.core.lexicon import lexicon
from fascicle.runtime.decoding.deciding import all_decided
from fascicle.runtime.decoding.evidence import with_evidence
from fascicle.runtime.decoding.retyping import with_own_types
from fascicle.settings.decision import DocumentDecision, TypeDecision
from fascicle.text.borders import without_wraps
from fascicle.text.characters import plain_text
from fascicle.text.segment import segmenter

KINDS = ("CellLine", "CellType", "Chemical", "Disease", "Gene", "Species")
RULES = DocumentDecision(types=dict.fromkeys(KINDS, TypeDecision()), pack="basic@2")
PACK = {
    "hepatitis B virus": "Species",
    "Drosophila melanogaster": "Species",
    "mice": "Species",
    "human": "Species",
    "human cytomegalovirus": "Species",
    "transgenic mice": "Species",
    "neu": "Gene",
    "HER-2/neu": "Gene",
    "BaF3": "CellLine",
    "iron overload": "Disease",
    "BID": "Gene",
    "PC12": "CellLine",
    **dict.fromkeys(("HeLa", "SH-SY5Y", "TOC1"), "CellLine"),
    "Mmm1": "CellLine",
    "MEC 4": "CellLine",
    "hESCs": "CellType",
    "DLBCL": "Disease",
    "HLH": "Disease",
    "Zika": "Disease",
    "cholera": "Disease",
    "variola": "Disease",
    "herpes zoster": "Disease",
    "Ixodes ricinus": "Species",
    "ticks": "Species",
    "I. ricinus": "Species",
    **dict.fromkeys(("rice", "wheat", "rabbits", "chinchilla"), "Species"),
    "ricinus": "Species",  # in any case: the genus Ricinus
    "triple-negative breast cancer": "Disease",
    "SON": "Gene",
    "CLOCK": "Gene",
    "IVD": "Gene",
    "CCl4": "Gene",  # as Ccl4 of the mouse, in any case
    "CCL4": "Gene",
    "strabismus": "Disease",
    "CMC": "Disease",
    "glottis": "Anatomy",
    "epiphyses": "Anatomy",
    "stippled epiphyses": "Disease",
    "honey": "Anatomy",
    "Chlamydia trachomatis": "Species",
    "cocoa": "Species",
    "Cocoa": "Species",
    "C. difficile": "Species",
    "measles": "Disease",
    "schistosomiasis": "Disease",
    "swine fever": "Disease",
    "African swine fever": "Disease",
    "spotted fever": "Disease",
    "Japanese spotted fever": "Disease",
    "nephropathy": "Disease",
    "IgA nephropathy": "Disease",
    "poisoning": "Disease",
    "lead poisoning": "Disease",
    "allergy": "Disease",
    "latex allergy": "Disease",
    "pancreatitis": "Disease",
    "acute pancreatitis": "Disease",
    "Acute pancreatitis": "Disease",
    "breast cancer": "Disease",
    "urea": "Chemical",
    "iodine": "Chemical",
    "lactate": "Chemical",
    "metformin": "Chemical",
    "polysorbate": "Chemical",
    "polysorbate 80": "Chemical",
    "obesity": "Disease",
    "stroke": "Disease",
    "trisomy": "Disease",
    "keratin": "Chemical",
    "asthma": "Disease",
    **dict.fromkeys(
        ("alteplase", "filgrastim", "epoetin alfa", "interferon beta-1a", "Idursulfase"), "Chemical"
    ),
    **dict.fromkeys(("trypsin", "Alcohol"), "Chemical"),
    "RU 486": "Chemical",
    **dict.fromkeys(
        ("TNF-α", "leptin", "PKCβ", "Aβ", "amyloid-β", "hepcidin", "Apelin", "insulin", "insulin1"),
        "Gene",
    ),
    **dict.fromkeys(("BRAF", "SOD1", "factor V", "prothrombin", "TMEM120A", "TME"), "Gene"),
    **dict.fromkeys(("Bacillus subtilis", "H. pylori", "E. coli", "E. coli K-12"), "Species"),
    **dict.fromkeys(("Human papillomavirus", "Salmonella enterica"), "Species"),
}


def knows(names: Collection[str]) -> Mapping[str, str]:
    return {name: PACK[name] for name in names if name in PACK}


def patch_of(
    document: Document, patch: Patch, rules: DocumentDecision = RULES, *, source: str = ""
) -> Patch:
    texts = [without_wraps(plain_text(document.text))]
    (answer,) = with_evidence([document], [patch], rules, texts=texts, knows=knows, source=source)
    return answer


def found(
    text: str, *names: tuple[str, str], rules: DocumentDecision = RULES
) -> list[tuple[str, str]]:
    mentions = [
        Mention(((text.index(name), text.index(name) + len(name)),), kind, score=0.8, source="m")
        for name, kind in names
    ]
    patch = patch_of(Document(id="1", text=text), Patch(add=tuple(mentions)), rules)
    return [(text[m.start : m.end], m.type) for m in patch.add]


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        (
            "of hepatitis B virus in",
            [("hepatitis", "Species"), ("virus", "Species")],
            [("hepatitis B virus", "Species")],
        ),
        (
            "fly Drosophila melanogaster.",
            [("melanogaster", "Species")],
            [("Drosophila melanogaster", "Species")],
        ),
        ("with iron overload", [("overload", "Disease")], [("iron overload", "Disease")]),
        ("with iron\noverload", [("overload", "Disease")], [("iron\noverload", "Disease")]),
        ("a human cytomegalovirus", [("human", "Species")], [("human cytomegalovirus", "Species")]),
        ("of transgenic mice", [("mice", "Species")], [("mice", "Species")]),  # a name by itself
        # of another type
        ("of hepatitis B virus", [("hepatitis", "Disease")], [("hepatitis", "Disease")]),
        ("iron. overload", [("overload", "Disease")], [("overload", "Disease")]),  # no phrase
        (
            "of HER-2/neu",
            [("HER-2", "Gene"), ("neu", "Gene")],
            [("HER-2", "Gene"), ("neu", "Gene")],
        ),
        ("human BID was", [("human", "Species")], [("human", "Species"), ("BID", "Gene")]),
        ("human BID protein", [("human", "Species"), ("BID protein", "Gene")], None),
        ("human PC12 cells", [("human", "Species")], None),  # not a gene by the pack
        ("human neu was", [("human", "Species")], None),  # not written as a symbol
        ("human. BID was", [("human", "Species")], None),
        ("virus BID was", [("virus", "Disease")], None),
        # short forms of something else, tissues and capitals
        ("supraoptic nucleus (SON) fired. Rat SON was cut.", [("Rat", "Species")], None),
        ("of rat IVD tissue", [("rat", "Species")], None),
        ("HUMAN CLOCK AND SLEEP", [("HUMAN", "Species")], None),
        (
            "BH3 interacting death agonist (BID) binds. Human BID binds.",
            [("BH3 interacting death agonist", "Gene"), ("Human", "Species")],
            [
                ("BH3 interacting death agonist", "Gene"),
                ("Human", "Species"),
                ("BID", "Gene"),
            ],
        ),
        ("the TT genotype", [("TT", "Gene")], []),
        ("the A/G allele of TT", [("A/G", "Gene"), ("TT", "Gene")], [("TT", "Gene")]),
        ("blood group A and ABO blood groups", [("ABO", "Gene")], []),
        ("of p.Val600Glu in BRAF", [("Val600Glu", "Gene"), ("BRAF", "Gene")], [("BRAF", "Gene")]),
        ("in SOCl2 at", [("SOCl2", "Gene")], [("SOCl2", "Chemical")]),
        ("mice got CCl4 for", [("CCl4", "Gene")], [("CCl4", "Chemical")]),
        ("mice without CCL4", [("CCL4", "Gene")], None),
        ("BaF3 cells", [("BaF3", "CellLine")], [("BaF3", "CellLine")]),  # a cell line by the pack
    ],
)
def test_evidence(
    text: str, names: list[tuple[str, str]], expected: list[tuple[str, str]] | None
) -> None:
    assert found(text, *names) == (names if expected is None else expected)
    assert found(text, *names, rules=DocumentDecision()) == names  # without a pack nothing changes


@pytest.mark.parametrize(("text", "part"), lexicon("diseases")["examples"]["wholes"].items())
def test_a_disease_has_its_first_word(text: str, part: str) -> None:
    ((name, kind),) = found(text, (part, "Disease"))
    assert name in PACK
    assert (name.endswith(f" {part}"), kind) == (True, "Disease")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("with acute pancreatitis", "pancreatitis"),
        ("Acute pancreatitis was seen.", "pancreatitis"),
        ("It rose. Acute pancreatitis was seen.", "pancreatitis"),
        ("of HER2-positive breast cancer", "breast cancer"),
        ("of BRCA1 breast cancer", "breast cancer"),
        ("In Japanese patients asthma", "asthma"),
    ],
)
def test_a_disease_that_is_a_name_stays_without_other_words(text: str, name: str) -> None:
    assert found(text, (name, "Disease")) == [(name, "Disease")]


@pytest.mark.parametrize(
    ("text", "mention", "expected"),
    [
        ("urea 12 was", ("urea 12", "Chemical"), None),
        ("metformin12 was", ("metformin12", "Chemical"), ("metformin", "Chemical")),
        ("in obesity1 and", ("obesity1", "Disease"), ("obesity", "Disease")),
        ("in stroke6", ("stroke6", "Gene"), ("stroke", "Disease")),
        ("polysorbate 80", ("polysorbate 80", "Chemical"), None),
        ("iodine 131", ("iodine 131", "Chemical"), None),
        ("trisomy 21", ("trisomy 21", "Disease"), None),
        ("keratin 14", ("keratin 14", "Gene"), None),
        ("keratin14", ("keratin14", "Gene"), None),
        ("SN 38 and RU 486", ("RU 486", "Chemical"), None),
        ("claudin1", ("claudin1", "Gene"), None),
        ("of TNF-α13 in", ("TNF-α13", "Gene"), ("TNF-α", "Gene")),
        ("of leptin12 in", ("leptin12", "Gene"), ("leptin", "Gene")),
        ("of insulin12 in", ("insulin12", "Gene"), None),  # a name that may have numbers
        ("of PKCβ2 in", ("PKCβ2", "Gene"), None),  # an isoform
        ("of leptin4 in", ("leptin4", "Gene"), None),
        *(
            (f"{name} rose", (name, "Gene"), None)  # isoforms of peptides, by their length
            for name in ("Aβ42", "Aβ40", "amyloid-β42", "hepcidin25", "Apelin13")
        ),
        ("of Gβ13 in", ("Gβ13", "Gene"), None),  # no name without it
        # results: beside other results, with a unit, or with the symbol of an electrolyte
        ("Na 138, K 4.2, BNP 900", ("BNP 900", "Chemical"), ("BNP", "Chemical")),
        ("K 4.2; CRP 120; Hb 9.8", ("CRP 120", "Gene"), ("CRP", "Gene")),
        ("K 4.2; TSH 12.5; and Hb 9", ("TSH 12.5", "Gene"), ("TSH", "Gene")),
        ("RU 486, SN 38, BNP 9", ("RU 486", "Chemical"), None),  # known with it
        ("CP 12, CP 14, CP 15", ("CP 12", "Chemical"), None),  # members of a series
        ("CP 12, AB 14, CD4", ("CP 12", "Chemical"), None),  # two numbers alone
        ("CRP 12, MCP 120, MMP 900", ("MCP 120", "Gene"), None),  # no unit, no decimal
        ("PEG 400, SPAN 80, agar 0.9%", ("PEG 400", "Chemical"), None),  # the mass of a polymer
        # numbers of a few digits belong to genes and to symbols of chemicals
        ("IL 6, MCP 1, and MMP 9 were", ("MMP 9", "Gene"), None),
        ("IL 6, Ki 67, and MMP 9.5 were", ("Ki 67", "Gene"), None),
        ("PGE 2, LTB 4, and TXA 2 pg/ml.", ("LTB 4", "Chemical"), None),
        ("Serum IL 6 pg/ml, TNF", ("IL 6", "Gene"), None),
        ("got FGF 2 ng/mL daily", ("FGF 2", "Gene"), None),
        ("PGE 2 pg/ml", ("PGE 2", "Chemical"), None),
        ("omega 3 g/day", ("omega 3", "Chemical"), None),
        ("CRP 120 mg/L and", ("CRP 120", "Gene"), ("CRP", "Gene")),
        ("an ALT 80 U/L with", ("ALT 80", "Gene"), ("ALT", "Gene")),
        ("a CK 7 U/L with", ("CK 7", "Gene"), None),
        ("urea 12 mmol/L was", ("urea 12", "Chemical"), ("urea", "Chemical")),
        ("had Na 138 now", ("Na 138", "Chemical"), ("Na", "Chemical")),
        ("had K 4.1 now", ("K 4.1", "Chemical"), ("K", "Chemical")),
        ("had Na 22 now", ("Na 22", "Chemical"), None),  # an isotope
        ("had Ca 125 now", ("Ca 125", "Chemical"), None),  # an antigen
    ],
)
def test_a_number_that_is_no_part_of_a_name_goes(
    text: str, mention: tuple[str, str], expected: tuple[str, str] | None
) -> None:
    assert found(text, mention) == [expected or mention]


def test_numbers_behind_several_names_are_results() -> None:
    names = [("urea 12", "Chemical"), ("iodine 131", "Chemical"), ("lactate 4.5", "Chemical")]
    expected = [("urea", "Chemical"), ("iodine 131", "Chemical"), ("lactate", "Chemical")]
    assert found("urea 12, iodine 131, lactate 4.5", *names) == expected


def test_results_far_into_a_text_are_found_without_reading_it_again() -> None:
    results = "Na 138, K 4.2, BNP 900. "
    text = results * 10_000
    places = range(text.index("BNP"), len(text), len(results))
    mentions = [Mention(((at, at + 7),), "Chemical", score=0.8, source="m") for at in places]
    started = time.perf_counter()
    patch = patch_of(Document(id="1", text=text), Patch(add=tuple(mentions)))
    assert {text[m.start : m.end] for m in patch.add} == {"BNP"}
    assert time.perf_counter() - started < 60.0  # hours if each mention read the whole text


def test_formulas_are_for_models_of_chemicals() -> None:
    rules = DocumentDecision(types={"Gene": TypeDecision()}, pack="basic@2")
    assert found("in SOCl2 at", ("SOCl2", "Gene"), rules=rules) == [("SOCl2", "Gene")]


def test_symbols_behind_species_are_for_models_of_genes() -> None:
    rules = DocumentDecision(types={"Species": TypeDecision()}, pack="basic@2")
    assert found("human BID was", ("human", "Species"), rules=rules) == [("human", "Species")]


def test_a_gene_behind_a_species_is_marked_nowhere_else() -> None:
    """The shipped models keep a known name of 0.5, and mark names of 0.65 everywhere."""
    rule = TypeDecision(low=0.65, high=0.65, alone=0.6, known=0.5)
    rules = DocumentDecision(types={"Gene": rule}, pack="basic@2")
    text = "Human BID was cut. We saw it. BID was read."
    document = Document(id="1", text=text)
    patch = Patch(add=(Mention(((0, 5),), "Species", score=0.8, source="m"),))
    cuts = segmenter("rules@1").sentences
    (answer,) = all_decided([document], [patch], rules, sentences=cuts, knows=knows)
    assert [text[m.start : m.end] for m in answer.add] == ["Human", "BID"]


def test_a_formula_is_found_where_the_network_found_nothing() -> None:
    document = Document(id="1", text="Add SOCl2.")
    patch = patch_of(document, Patch(), source="m")
    assert patch.add == (Mention(((4, 9),), "Chemical", score=0.9, source="m"),)


@pytest.mark.parametrize(
    ("text", "name", "kind", "expected"),
    [
        ("She has strabismus.", "strabismus", "Chemical", "Disease"),
        ("A CMC film.", "CMC", "Chemical", "Chemical"),  # a short form may mean anything
        ("View of the glottis.", "glottis", "Disease", ""),
        ("With stippled epiphyses.", "epiphyses", "Disease", "Disease"),
        ("Fed honey.", "honey", "Chemical", "Chemical"),  # what bodies make may be a chemical
        ("Tested for Chlamydia trachomatis.", "Chlamydia trachomatis", "Disease", "Species"),
        ("They ate cocoa.", "cocoa", "Chemical", "Chemical"),
        ("Cocoa helps.", "Cocoa", "Chemical", "Chemical"),
        ("C. difficile grew.", "C. difficile", "Disease", "Species"),
        ("The measles vaccine.", "measles", "Species", "Species"),  # the virus
        ("Control of schistosomiasis.", "schistosomiasis", "Species", "Disease"),
        ("With no supplement.", "no", "Chemical", ""),
        ("nitric oxide ( no ) synthase", "no", "Chemical", "Chemical"),  # all letters are small
        ("Flies with for alleles.", "for", "Gene", "Gene"),
        ("With PC12 cells.", "PC12", "Gene", "CellLine"),
        ("With HeLa cells.", "HeLa", "Gene", "CellLine"),
        ("We cut SH-SY5Y.", "SH-SY5Y", "Gene", "CellLine"),
        ("In SH-SY5Y+/+ cells.", "SH-SY5Y", "Gene", "Gene"),  # of a genotype
        ("The gene TOC1 of plants.", "TOC1", "Gene", "Gene"),  # of a few letters, and of no cells
        ("The yeast gene Mmm1.", "Mmm1", "Gene", "Gene"),  # MMM-1 is a line
        ("The MEC 4 channel.", "MEC 4", "Gene", "Gene"),
        ("Some hESCs grew.", "hESCs", "CellLine", "CellType"),  # no line has a plural
        ("Adults with DLBCL.", "DLBCL", "Gene", "Disease"),
        # the gene of a disease, alone and in a list
        ("The DLBCL gene.", "DLBCL", "Gene", "Gene"),
        ("A DLBCL protein.", "DLBCL", "Gene", "Gene"),
        ("The DLBCL and TOC1 loci.", "DLBCL", "Gene", "Gene"),
        ("Of DLBCL, MJD1, and TOC1 mutations.", "DLBCL", "Gene", "Gene"),
        ("The DLBCL (ATN1) gene.", "DLBCL", "Gene", "Gene"),
        ("DLBCL, and a gene of it.", "DLBCL", "Gene", "Disease"),
        ("The HLH domain.", "HLH", "Gene", "Gene"),  # three letters may mean anything
        ("Pain of herpes zoster.", "herpes zoster", "Species", "Disease"),
        ("Zika spread in Brazil.", "Zika", "Species", "Disease"),
        ("Zika-infected cells.", "Zika", "Species", "Species"),
        ("Of cholera toxin.", "cholera", "Species", "Species"),
        ("The Zika envelope.", "Zika", "Species", "Species"),
        ("Of variola and vaccinia viruses.", "variola", "Species", "Species"),
    ],
)
def test_a_name_has_its_type_in_the_pack(text: str, name: str, kind: str, expected: str) -> None:
    told = found(text, (name, kind))
    assert [kind for _, kind in told] == ([expected] if expected else [])
    assert all(name in place for place, _ in told)


def test_a_name_that_has_both_types_keeps_its_own() -> None:
    names = [("strabismus", "Chemical"), ("strabismus", "Disease")]
    assert found("She has strabismus.", *names) == [("strabismus", "Disease")]


@pytest.mark.parametrize("kind", ["Gene", "Disease"])
def test_a_biotechnological_drug_is_a_chemical(kind: str) -> None:
    names = ["alteplase", "filgrastim", "epoetin alfa", "interferon beta-1a", "Idursulfase"]
    text = f"of {', '.join(names)}."
    assert found(text, *((name, kind) for name in names)) == [(name, "Chemical") for name in names]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("trypsin", "Gene"),  # of a protein too, though the pack has the chemical alone
        ("Alcohol", "Disease"),
        ("reteplase", "Gene"),  # unknown
        ("interferon beta", "Gene"),
    ],
)
def test_other_genes_and_diseases_stay(name: str, kind: str) -> None:
    assert found(f"of {name} in", (name, kind)) == [(name, kind)]


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("BRAFV600E", "Gene", "BRAF"),
        ("BRAF V600E", "Gene", "BRAF"),
        ("BRAF p.Val600Glu", "Gene", "BRAF"),
        ("SOD1G93A", "Gene", "SOD1"),
        ("factor V G1691A", "Gene", "factor V"),
        ("prothrombin\nG20210A", "Gene", "prothrombin"),
        ("H. pylori CagA", "Species", "H. pylori"),
        ("Bacillus subtilis 168", "Species", "Bacillus subtilis"),
        ("Bacillus subtilis SigB", "Species", "Bacillus subtilis"),
        ("Bacillus subtilis mecA", "Species", "Bacillus subtilis"),
        ("Ixodes ricinus ticks", "Species", "Ixodes ricinus"),
        # known with it, or without it unknown, no gene, or of another form
        ("E. coli K-12", "Species", "E. coli K-12"),
        ("TMEM120A", "Gene", "TMEM120A"),
        ("CYP2C19", "Gene", "CYP2C19"),
        ("XYZV600E", "Gene", "XYZV600E"),
        ("BRAFV600E", "CellLine", "BRAFV600E"),
        ("Ixodes ricinus larvae", "Species", "Ixodes ricinus larvae"),
        ("transgenic mice", "Species", "transgenic mice"),
        ("Human papillomavirus 16", "Species", "Human papillomavirus 16"),
        ("Salmonella enterica Typhimurium", "Species", "Salmonella enterica Typhimurium"),
    ],
)
def test_names_go_on_with_no_variant_or_strain(name: str, kind: str, expected: str) -> None:
    assert found(f"of {name} in", (name, kind)) == [(expected, kind)]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("Ixodes ricinus ticks", "ricinus ticks", "Ixodes ricinus"),
        ("We saw I. ricinus ticks.", "ricinus ticks", "ricinus"),  # its edges get the genus
        ("The indica rice", "indica rice", "indica rice"),  # a cultivar
        ("of durum wheat", "durum wheat", "durum wheat"),
        ("Of chinchilla rabbits", "chinchilla rabbits", "chinchilla rabbits"),  # a breed
    ],
)
def test_a_common_name_goes_behind_a_genus_alone(text: str, name: str, expected: str) -> None:
    assert found(text, (name, "Species")) == [(expected, "Species")]


def test_an_organism_stays_where_its_disease_would_not() -> None:
    rules = DocumentDecision(
        types={
            "Species": TypeDecision(),
            "Disease": TypeDecision(low=0.95, high=0.95, alone=0.9, known=0.85),
        },
        pack="basic@2",
    )
    names = ("Zika", "Species"), ("Zika", "Disease")
    assert found("Zika spread in Brazil.", names[0], rules=rules) == [names[0]]
    text, mentions = (
        "Zika spread.",
        [
            Mention(((0, 4),), kind, score=score, source="m")
            for kind, score in (("Disease", 0.86), ("Species", 0.7))
        ],
    )
    answer = with_own_types(
        mentions, {1: "Zika"}, {"Zika": "Disease"}, allowed=rules.types, text=text
    )
    assert answer == mentions[:1]


def test_a_name_without_its_variant_is_marked_once() -> None:
    names = [("BRAFV600E", "Gene"), ("BRAF", "Gene")]
    assert found("of BRAFV600E in", *names) == [("BRAF", "Gene")]


def test_an_event_counts_the_types_that_change() -> None:
    text = "With no strabismus."
    mentions = (
        Mention(((5, 7),), "Chemical", score=0.8, source="m"),
        Mention(((8, 18),), "Chemical", score=0.8, source="m"),
    )
    patch = patch_of(Document(id="1", text=text), Patch(add=mentions))
    (event,) = patch.events
    assert (event.kind, event.code) == ("note", "types-of-the-pack")
    assert event.message.startswith("2 mentions")


def test_two_types_that_become_one_are_one_mention() -> None:
    names = [("strabismus", "Chemical"), ("strabismus", "CellLine")]
    assert found("She has strabismus.", *names) == [("strabismus", "Disease")]


@pytest.mark.parametrize(("first", "second"), [(0.8, 0.3), (0.3, 0.8), (None, 0.3)])
@pytest.mark.parametrize(
    ("text", "one", "other", "expected"),
    [
        ("Zika spread.", ("Zika", "Species"), ("Zika", "Disease"), ("Zika", "Disease")),
        ("BRAFV600E", ("BRAFV600E", "Gene"), ("BRAF", "Gene"), ("BRAF", "Gene")),
        ("leptin12", ("leptin12", "Gene"), ("leptin", "Gene"), ("leptin", "Gene")),
    ],
)
def test_of_two_mentions_at_one_place_the_best_score_stays(
    text: str,
    one: tuple[str, str],
    other: tuple[str, str],
    expected: tuple[str, str],
    first: float | None,
    second: float,
) -> None:
    mentions = [
        Mention(((0, len(name)),), kind, score=score, source="m")
        for (name, kind), score in ((one, first), (other, second))
    ]
    patch = patch_of(Document(id="1", text=text), Patch(add=in_order(mentions)))
    best = None if first is None else 0.8
    assert [(text[m.start : m.end], m.type) for m in patch.add] == [expected]
    assert patch.add[0].score == best


def test_a_line_that_is_named_often_is_sought_once() -> None:
    part = "PC12 binds. "
    text = part * 20_000
    mentions = [
        Mention(((at, at + 4),), "Gene", score=0.8, source="m")
        for at in range(0, len(text), len(part))
    ]
    names = dict.fromkeys(range(len(mentions)), "PC12")
    started = time.perf_counter()
    assert with_own_types(mentions, names, PACK, allowed=RULES.types, text=text) == mentions
    assert time.perf_counter() - started < 20.0  # minutes if each mention read the whole text


def test_a_type_that_the_model_lacks_is_not_given() -> None:
    rules = DocumentDecision(types={"Chemical": TypeDecision()}, pack="basic@2")
    assert found("Strabismus, strabismus.", ("strabismus", "Chemical"), rules=rules) == [
        ("strabismus", "Chemical")
    ]
