"""The linker that is shipped: known answers, and no name of a corpus in it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

import fascicle
from fascicle.core.document import Document, Link, Mention
from fascicle.core.mention import Span
from fascicle.linking.decisions import distinct
from fascicle.linking.equivalents import Namesakes
from fascicle.linking.linker import Linker
from fascicle.linking.opening import LinkerWithPacks, find
from fascicle.linking.ranking import Ranked
from fascicle.settings.folders.vocabularies import find_linker, shipped_linkers, shipped_packs
from fascicle.terms.abbreviations.finder import find_abbreviations
from fascicle.terms.pack.pack import Pack

SHIPPED = pytest.mark.skipif(
    "basic@2" not in shipped_linkers(), reason="run python -m studies.ship_linker"
)
MOST = 100_000  # bytes
FITTED = {"Disease", "Chemical", "Gene", "Species", "CellLine", "CellType", "Anatomy"}


@pytest.fixture(scope="module")
def found() -> LinkerWithPacks:
    return find("basic")


def test_every_shipped_linker_has_a_shipped_pack() -> None:
    assert set(shipped_linkers()) <= set(shipped_packs())


@SHIPPED
def test_it_is_small_and_keeps_no_text(found: LinkerWithPacks) -> None:
    (part,) = found.parts
    assert part.pack.manifest.name == part.manifest.place == "basic@2"
    assert sum(path.stat().st_size for path in part.folder.iterdir()) < MOST
    assert (part.folder / "names.tsv").read_bytes() == b""
    assert part.folder == find_linker("basic@2") == find_linker("basic")
    assert not part.manifest.indexed
    assert part.manifest.hash == part.manifest.fingerprint


@SHIPPED
def test_types_without_gold_have_no_ranker(found: LinkerWithPacks) -> None:
    assert set(found.parts[0].manifest.rankers) == FITTED
    assert set(found.parts[0].pack.types) - FITTED == {"GeneFamily"}


@SHIPPED
@pytest.mark.parametrize(
    ("text", "words", "kind", "curie"),
    [
        ("Patients with asthma improved.", "asthma", "Disease", "MESH:D001249"),
        ("Parkinson's disease is common.", "Parkinson's disease", "Disease", "MESH:D010300"),
        ("A tumor was found.", "tumor", "Disease", "MESH:D009369"),
        ("Her cancer was treated.", "cancer", "Disease", "MESH:D009369"),
        ("Many had infections.", "infections", "Disease", "MESH:D007239"),
        ("Nephroblastoma is rare.", "Nephroblastoma", "Disease", "DOID:2154"),
        ("Serum lipids rose.", "lipids", "Chemical", "MESH:D008055"),
        ("We gave aspirin daily.", "aspirin", "Chemical", "MESH:D001241"),
        (
            "A venous thrombo-embolism was seen.",
            "venous thrombo-embolism",
            "Disease",
            "MESH:D054556",
        ),
        ("Cyclo-oxygenase-2 (COX-2) was inhibited.", "COX-2", "Gene", "NCBIGene:5743"),
        ("Serum creatinine rose.", "creatinine", "Chemical", "MESH:D003404"),
        ("Mutations of human BRCA1 in patients.", "BRCA1", "Gene", "NCBIGene:672"),
        ("TP53 was mutated in these women.", "TP53", "Gene", "NCBIGene:7157"),
        ("Mice were fed.", "Mice", "Species", "NCBITaxon:10090"),
        ("Cultures of Escherichia coli grew.", "Escherichia coli", "Species", "NCBITaxon:562"),
        ("HeLa cells were grown.", "HeLa", "CellLine", "cellosaurus:CVCL_0030"),
        ("The hepatocytes were grown.", "hepatocytes", "CellType", "CL:0000182"),
        ("The liver was removed.", "liver", "Anatomy", "UBERON:0002107"),
        ("An ERK inhibitor.", "ERK", "GeneFamily", "fplx:ERK"),
        (
            "L-dopa-induced dyskinesia was rated. Severe dyskinesias fell",
            "dyskinesias",
            "Disease",
            "MESH:D004409",
        ),
        (
            "After cocaine-induced psychosis, the psychosis ended",
            "psychosis",
            "Disease",
            "MESH:D011605",
        ),
        (
            "Levodopa-induced dyskinesia was rated",
            "Levodopa-induced dyskinesia",
            "Disease",
            "MESH:D004409",
        ),
        ("Levodopa-induced dyskinesia (LID) fell. LID", "LID", "Disease", "MESH:D004409"),
        (
            "Exercise-induced dyskinesia is rare. The dyskinesia",
            "dyskinesia",
            "Disease",
            "MESH:D020820",
        ),
        ("Lithium-induced tremor was seen. The tremor", "tremor", "Disease", "MESH:D014202"),
        (
            "Levodopa relieves what stress induced: dyskinesia",
            "dyskinesia",
            "Disease",
            "MESH:D020820",
        ),
    ],
)
def test_known_answers(
    found: LinkerWithPacks, text: str, words: str, kind: str, curie: str
) -> None:
    start = text.rindex(words)
    document = Document(
        id="1", text=text, mentions=(Mention(((start, start + len(words)),), kind),)
    )
    (done,) = fascicle.link([document])
    (link,) = done.mentions[0].links
    assert link.curie == curie
    assert (link.score is None) == (kind == "GeneFamily")
    assert link.name
    assert link.tier


# New drugs of `found-by-use`, as DrugBank's open vocabulary numbers them.
@SHIPPED
@pytest.mark.parametrize(
    ("name", "curie"),
    [
        ("pembrolizumab", "drugbank:DB09037"),
        ("atezolizumab", "drugbank:DB11595"),
        ("durvalumab", "drugbank:DB11714"),
        ("dupilumab", "drugbank:DB12159"),
        ("tocilizumab", "drugbank:DB06273"),
        ("lecanemab", "drugbank:DB14580"),
        ("aducanumab", "drugbank:DB12274"),
        ("evolocumab", "drugbank:DB09303"),
        ("upadacitinib", "drugbank:DB15091"),
        ("edoxaban", "drugbank:DB09075"),
        ("alteplase", "MESH:D010959"),
        ("abatacept", "MESH:D000069594"),
        ("Keytruda", "drugbank:DB09037"),
        ("CBD", "MESH:D002185"),
    ],
)
def test_drugs_of_the_last_years_have_a_concept(
    found: LinkerWithPacks, name: str, curie: str
) -> None:
    assert answer(f"She was given {name} for weeks.", name, "Chemical") == curie


# Short forms of MeSH in capitals: TPA is a phorbol ester, CAP pneumonia, and AEDS a syndrome; tPA is
# plasminogen activator, CaP cancer of the prostate, and AEDs are drugs.
@SHIPPED
@pytest.mark.parametrize(
    ("text", "name", "kind", "curie"),
    [
        ("He received intravenous tPA early.", "tPA", "Chemical", ""),
        ("Cells were stimulated with TPA.", "TPA", "Chemical", "MESH:D013755"),
        ("He received intravenous tPA early.", "tPA", "Gene", "NCBIGene:5327"),
        ("Men with CaP were treated with docetaxel.", "CaP", "Disease", ""),
        ("MEN WITH CAP WERE TREATED.", "CAP", "Disease", "MESH:D000098968"),
        ("Two AEDs were given.", "AEDs", "Disease", ""),
        ("men had copd.", "copd", "Disease", "MESH:D029424"),
        ("AChE was inhibited.", "AChE", "Disease", ""),
        ("Patients with vWD bled.", "vWD", "Disease", "MONDO:0024574"),
        ("They took 5-Fu daily.", "5-Fu", "Chemical", "MESH:D005472"),
        ("Levels of 5-Ht fell.", "5-Ht", "Chemical", "MESH:D012701"),
        ("They took d4T daily.", "d4T", "Chemical", "MESH:D018119"),
        ("They took 3Tc daily.", "3Tc", "Chemical", "MESH:D019259"),
        ("Rats received 4-Ap.", "4-Ap", "Chemical", "MESH:D015761"),
        ("Rats received 3-Ma.", "3-Ma", "Chemical", "MESH:C025946"),
        ("Rats received 2-Dg.", "2-Dg", "Chemical", "MESH:D003847"),
        ("Rats received 2-Me.", "2-Me", "Chemical", "MESH:D008623"),
        ("U2Os cells grew.", "U2Os", "CellLine", "cellosaurus:CVCL_0042"),
        ("Men with MTb were treated.", "MTb", "Species", "NCBITaxon:1773"),
    ],
)
def test_a_short_form_is_not_one_in_another_case(
    found: LinkerWithPacks, text: str, name: str, kind: str, curie: str
) -> None:
    assert answer(text, name, kind) == curie


# The pack has genes of people, mice and rats.
@SHIPPED
@pytest.mark.parametrize(
    ("text", "name", "curie"),
    [
        ("In zebrafish, sox10 marks the neural crest.", "sox10", ""),
        ("In chickens, SOX9 is expressed.", "SOX9", ""),
        ("Hearts beat. In the chick, SOX9 is expressed.", "SOX9", ""),
        ("In C. elegans, TP53 is expressed.", "TP53", ""),
        ("We studied zebrafish sox10.", "sox10", ""),
        ("Xenopus BMP4 was injected.", "BMP4", ""),
        ("Xenopus laevis BMP4 was injected.", "BMP4", ""),
        ("Cells had chicken SOX9.", "SOX9", ""),
        ("They cloned bovine CSN2.", "CSN2", ""),
        ("In zebrafish, all was well. KCNQ1 was lost.", "KCNQ1", "NCBIGene:3784"),
        ("The host was Xenopus. BMP4 was injected.", "BMP4", "NCBIGene:652"),
        ("Chicken IL4 rose in HeLa cells.", "IL4", "NCBIGene:3565"),
        ("In zebrafish and mice, Sox10 was lost.", "Sox10", "NCBIGene:20665"),
        ("In zebrafish, human SOX9 was active.", "SOX9", "NCBIGene:6662"),
        ("In zebrafish, hSOX9 was active.", "hSOX9", "NCBIGene:6662"),
        ("SOX9 is expressed.", "SOX9", "NCBIGene:6662"),
    ],
)
def test_a_gene_of_an_animal_without_genes_in_the_pack_is_none(
    found: LinkerWithPacks, text: str, name: str, curie: str
) -> None:
    assert answer(text, name, "Gene") == curie


# NCBI Gene: symbols of genes of Homo sapiens.
@SHIPPED
@pytest.mark.parametrize(
    ("text", "genes"),
    [
        (
            "MCF-7 cells were grown in fetal bovine serum. BRCA1 was silenced.",
            {"BRCA1": "672"},
        ),
        ("KCNQ1 was expressed in Xenopus oocytes.", {"KCNQ1": "3784"}),
        ("Xenopus oocytes expressed KCNQ1.", {"KCNQ1": "3784"}),
        (
            "Cells were blocked with bovine serum albumin and stained for CD4 and FOXP3.",
            {"CD4": "920", "FOXP3": "50943"},
        ),
        ("Fetal calf serum was added. p53 was induced.", {"p53": "7157"}),
        (
            "Transgenic Drosophila that express SNCA or MAPT die early.",
            {"SNCA": "6622", "MAPT": "4137"},
        ),
        (
            "A novel mutation in MYH7 causes cardiomyopathy. Zebrafish hearts were studied.",
            {"MYH7": "4625"},
        ),
        (
            "Chicken eggs and cow milk are allergens; IL4 and IL13 rose.",
            {"IL4": "3565", "IL13": "3596"},
        ),
    ],
)
def test_a_reagent_or_host_of_an_animal_gives_it_no_gene_of_people(
    found: LinkerWithPacks, text: str, genes: dict[str, str]
) -> None:
    places = [(text.index(name), text.index(name) + len(name)) for name in genes]
    (links,) = answers([(text, places, "Gene")])
    assert [first.id for _, (first, *_) in links] == list(genes.values())


@SHIPPED
def test_the_gene_of_people_is_a_candidate_for_one_of_zebrafish(found: LinkerWithPacks) -> None:
    text = "In zebrafish, sox10 marks the neural crest."
    document = Document(id="1", text=text, mentions=(Mention(((14, 19),), "Gene"),))
    ((decision,),) = found.opened().explained([document])
    assert decision.candidates[0].curie == "NCBIGene:6663"
    assert decision.nil == pytest.approx(
        1 - sum(one.probability or 0 for one in decision.candidates), abs=1e-6
    )
    assert decision.nil > 0.9


# NCBI Taxonomy: Pseudomonas syringae is 317, Fusarium oxysporum 5507; the pack has no pathovar.
@SHIPPED
@pytest.mark.parametrize(
    ("name", "curie"),
    [
        ("Pseudomonas syringae pv. tomato", "NCBITaxon:317"),
        ("Pseudomonas syringae pv tomato DC3000", "NCBITaxon:317"),
        ("P. syringae pathovar tomato", "NCBITaxon:317"),
        ("Pseudomonas syringae pv. Tomato", "NCBITaxon:317"),
        ("Pseudomonas syringae PV tomato", "NCBITaxon:317"),
        ("PSEUDOMONAS SYRINGAE PV. TOMATO", "NCBITaxon:317"),
        ("Pseudomonas Syringae Pathovar Tomato", "NCBITaxon:317"),
        ("FUSARIUM OXYSPORUM F. SP. MELONIS", "NCBITaxon:5507"),
        ("Fusarium oxysporum f. sp. melonis", "NCBITaxon:5507"),
        ("Fusarium oxysporum f.sp. melonis", "NCBITaxon:5507"),
        ("Nonesuchia nulla pv. tomato", ""),
    ],
)
def test_a_pathovar_is_its_species_and_not_its_host(
    found: LinkerWithPacks, name: str, curie: str
) -> None:
    assert answer(f"The leaves had {name} on them.", name, "Species") == curie


# The heading of MeSH that has the name as a term, not the one that mappings of MONDO name.
@SHIPPED
@pytest.mark.parametrize(
    ("name", "curie"),
    [
        ("chronic kidney disease", "MESH:D051436"),
        ("CKD", "MESH:D051436"),
        ("lung adenocarcinoma", "MESH:D000077192"),
        ("oppositional defiant disorder", "MESH:D000096865"),
        ("rumination disorder", "MESH:D000079562"),
        ("anosmia", "MESH:D000086582"),
        ("dystonia", "MESH:D004421"),
        ("traumatic brain injury", "MESH:D000070642"),
        ("allergic rhinitis", "MESH:D065631"),
        ("HCV infection", "MESH:D006526"),
        ("H. pylori infection", "MESH:D016481"),
        ("UTIs", "MESH:D014552"),
    ],
)
def test_a_disease_is_the_heading_that_has_its_name(
    found: LinkerWithPacks, name: str, curie: str
) -> None:
    assert answer(f"The patient had {name} last year.", name, "Disease") == curie


@SHIPPED
@pytest.mark.parametrize(
    ("name", "curie"),
    [
        ("β-actin", "NCBIGene:60"),
        ("beta actin", "NCBIGene:60"),
        ("PSA", "NCBIGene:354"),
        ("CEA", "NCBIGene:1048"),
        ("TTF-1", "NCBIGene:7080"),
        ("GH", "NCBIGene:2688"),
        ("mu-opioid receptor", "NCBIGene:4988"),
        ("TSH", "NCBIGene:7252"),
        ("activin", "fplx:Activin"),
        ("IgA", ""),
        ("IgM", ""),
    ],
)
def test_a_protein_is_not_a_gene_that_once_had_its_name(
    found: LinkerWithPacks, name: str, curie: str
) -> None:
    assert answer(f"Serum {name} was measured in human patients.", name, "Gene") == curie


# MEDLINE wrote raised and lowered text in brackets.
@SHIPPED
@pytest.mark.parametrize(
    ("name", "kind", "curie"),
    [
        ("H(2)O(2)", "Chemical", "MESH:D006861"),
        ("CO(2)", "Chemical", "MESH:D002245"),
        ("Cl(-)", "Chemical", "MESH:D002712"),
        ("Ca(2+)", "Chemical", "MESH:D002118"),
        ("K(+)", "Chemical", "MESH:D011188"),
        ("HCO(3)(-)", "Chemical", "MESH:D001639"),
        ("PGF(2alpha)", "Chemical", "MESH:D015237"),
        ("1,25-(OH)(2)D(3)", "Chemical", "MESH:D002117"),
        ("CD4(+) T cells", "CellType", "CL:0000624"),
        ("MgSO(4)", "Chemical", "MESH:D008278"),
        ("vitamin B(12)", "Chemical", "MESH:D014805"),
        ("PGE(2)", "Chemical", "MESH:D015232"),
        ("5-HT(1A) receptor", "Gene", "NCBIGene:3350"),
        ("D(2) receptor", "Gene", "NCBIGene:1813"),
        ("beta(1)-adrenoceptor", "Gene", "NCBIGene:153"),
        ("alpha(1)-antitrypsin", "Gene", "NCBIGene:5265"),
    ],
)
def test_raised_text_in_brackets_belongs_to_the_name(
    found: LinkerWithPacks, name: str, kind: str, curie: str
) -> None:
    assert answer(f"We measured {name} in human patients.", name, kind) == curie


# A sharp s of German for a Greek letter, words that the end of a line divides, British spellings.
@SHIPPED
@pytest.mark.parametrize(
    ("name", "kind", "curie"),
    [
        ("IL-1ß", "Gene", "NCBIGene:3553"),
        ("TGF-ß1", "Gene", "NCBIGene:7040"),
        ("ß-actin", "Gene", "NCBIGene:60"),
        ("IFN-ɣ", "Gene", "NCBIGene:3458"),
        ("17ß-estradiol", "Chemical", "MESH:D004958"),
        ("ß-carotene", "Chemical", "MESH:D019207"),
        ("amyloid-ß", "Gene", "NCBIGene:351"),
        ("ß2-microglobulin", "Gene", "NCBIGene:567"),
        ("ß-thalassaemia", "Disease", "MESH:D017086"),
        ("thrombo-\ncytopenia", "Disease", "MESH:D013921"),
        ("hydro-\nchlorothiazide", "Chemical", "MESH:D006852"),
        ("hyper-\ntension", "Disease", "MESH:D006973"),
        ("osteo-\nporosis", "Disease", "MESH:D010024"),
        ("hypo-\nglycemia", "Disease", "MESH:D007003"),
        ("dexa-\nmethasone", "Chemical", "MESH:D003907"),
        ("cyclo-\nsporine A", "Chemical", "MESH:D016572"),
        ("interleu-\nkin-6", "Gene", "NCBIGene:3569"),
        ("non-\nHodgkin lymphoma", "Disease", "MESH:D008228"),
        ("beta-\ncatenin", "Gene", "NCBIGene:1499"),
        ("T-\ncell lymphoma", "Disease", "MESH:D016399"),
        ("small-\ncell lung cancer", "Disease", "MESH:D055752"),
        ("insulin-\ndependent diabetes", "Disease", "MESH:D003922"),
        ("Thrombocytopaenia", "Disease", "MESH:D013921"),
        ("leucoencephalopathy", "Disease", "MESH:D056784"),
        ("varicocoeles", "Disease", "MESH:D014646"),
        ("thyrotrophin", "Gene", "NCBIGene:7252"),
        ("haem oxygenase-1", "Gene", "NCBIGene:3162"),
        ("caeruloplasmin", "Gene", "NCBIGene:1356"),
        ("neurotrophin-3", "Gene", "NCBIGene:4908"),
        ("chorionic gonadotrophin", "Chemical", "MESH:D006063"),
    ],
)
def test_spellings_hide_no_name(found: LinkerWithPacks, name: str, kind: str, curie: str) -> None:
    assert answer(f"We studied {name} in human patients.", name, kind) == curie


@SHIPPED
def test_the_long_form_of_a_pair_is_read_so_too() -> None:
    text = (
        "Human transforming growth factor-ß1 (TGF-ß1) and hyper-\ntension (HPN). HPN, TGF-ß1 rose"
    )
    assert answer(text, "HPN", "Disease") == "MESH:D006973"
    assert answer(text, "TGF-ß1", "Gene") == "NCBIGene:7040"


# Everyday names; the concepts are those of the vocabulary's own heading or record.
@SHIPPED
@pytest.mark.parametrize(
    ("name", "kind", "curie"),
    [
        ("HK-2", "CellLine", "cellosaurus:CVCL_0302"),
        ("LX-2", "CellLine", "cellosaurus:CVCL_5792"),
        ("AGS", "CellLine", "cellosaurus:CVCL_0139"),
        ("T24", "CellLine", "cellosaurus:CVCL_0554"),
        ("NIH/3T3", "CellLine", "cellosaurus:CVCL_0594"),
        ("C4-2", "CellLine", "cellosaurus:CVCL_4782"),
        ("PC12", "CellLine", "cellosaurus:CVCL_0481"),
        ("MG132", "Chemical", "MESH:C072553"),
        ("LY294002", "Chemical", "MESH:C085911"),
        ("SB203580", "Chemical", "MESH:C093642"),
        ("trichostatin A", "Chemical", "MESH:C012589"),
        ("CCl4", "Chemical", "MESH:D002251"),
        ("H2SO4", "Chemical", "MESH:C033158"),
        ("BPA", "Chemical", "MESH:C006780"),
        ("benzo[a]pyrene", "Chemical", "MESH:D001564"),
        ("CDDP", "Chemical", "MESH:D002945"),
        ("BCG", "Species", "NCBITaxon:33892"),
        ("Clostridioides difficile", "Species", "NCBITaxon:1496"),
        ("A. muciniphila", "Species", "NCBITaxon:239935"),
        ("M. pneumoniae", "Species", "NCBITaxon:2104"),
        ("EV71", "Species", "NCBITaxon:39054"),
        ("DENV-2", "Species", "NCBITaxon:11060"),
        ("DKD", "Disease", "MESH:D003928"),
        ("IgAN", "Disease", "MESH:D005922"),
        ("SNHL", "Disease", "MESH:D006319"),
        ("PCa", "Disease", "MESH:D011471"),
        ("DILI", "Disease", "MESH:D056486"),
        ("satellite cells", "CellType", "CL:0000594"),
        ("Th17", "CellType", "CL:0000899"),
        ("ILC2s", "CellType", "CL:0001069"),
        ("hippocampus", "Anatomy", "UBERON:0002421"),
        ("HIF-1", "Gene", "NCBIGene:3091"),
        ("Drp1", "Gene", "NCBIGene:10059"),
        ("MDR1", "Gene", "NCBIGene:5243"),
        ("RORγt", "Gene", "NCBIGene:6097"),
    ],
)
def test_everyday_names_have_their_concept(
    found: LinkerWithPacks, name: str, kind: str, curie: str
) -> None:
    assert answer(f"We studied {name} in human patients.", name, kind) == curie


@SHIPPED
@pytest.mark.parametrize("name", ["T24", "AGS", "HK-2", "TSA", "PR", "OK", "CTL"])
def test_names_for_linking_alone_are_not_looked_for(name: str) -> None:
    types = {mention.type for mention in fascicle.load("basic")(f"The {name} was high.")}
    assert types.isdisjoint({"CellLine", "CellType", "Chemical"})


def answer(text: str, words: str, kind: str) -> str:
    start = text.index(words)
    mention = Mention(((start, start + len(words)),), kind)
    (done,) = fascicle.link([Document(id="1", text=text, mentions=(mention,))])
    links = done.mentions[0].links
    assert len(links) == 1
    return links[0].curie


@SHIPPED
def test_what_it_does_not_know_is_nil(found: LinkerWithPacks) -> None:
    document = Document(
        id="1", text="the xyzzy syndrome", mentions=(Mention(((4, 18),), "Disease"),)
    )
    (done,) = fascicle.link([document])
    assert done.mentions[0].links[0].nil


REPORTED = (  # long form, short form, type
    ("Follicle-stimulating hormone", "FSH", "Gene"),
    ("C-reactive protein", "CRP", "Gene"),
    ("androgen receptor", "AR", "Gene"),
    ("aldose reductase", "AR", "Gene"),
    ("progesterone receptor", "PR", "Gene"),
    ("tissue factor", "TF", "Gene"),
    ("renin", "REN", "Gene"),
    ("aspartate aminotransferase", "AST", "Gene"),
    ("angiotensin receptor blocker", "ARB", "Gene"),
    ("patient-controlled analgesia", "PCA", "Chemical"),
    ("naproxen", "NAP", "Gene"),
    ("continuous positive airway pressure", "CPAP", "Gene"),
    ("topiramate", "TPM", "Gene"),
    ("familial hypercholesterolemia", "FH", "Disease"),
    ("thyroid hormone receptor beta", "TR-beta", "Gene"),
    ("ropivacaine-fentanyl", "RF", "Chemical"),
    ("heated humidifier", "HH", "Chemical"),
    ("Transforming growth factor beta", "TGF-beta", "Gene"),  # names of families, as the next two
    ("creatine kinase", "CK", "Gene"),
    ("histone deacetylase", "HDAC", "Gene"),
)
Answers = list[tuple[Span, tuple[Link, ...]]]


def answers(texts: Sequence[tuple[str, Sequence[Span], str]]) -> list[Answers]:
    """What the shipped linker says of spans of texts, in the order of the texts."""
    documents = [
        Document(
            id=str(number), text=text, mentions=tuple(Mention((span,), kind) for span in spans)
        )
        for number, (text, spans, kind) in enumerate(texts)
    ]
    return [
        [(mention.spans[0], mention.links) for mention in one.mentions]
        for one in fascicle.link(documents)
    ]


def whole(names: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The concepts that the shipped linker gives to names, each with a type, by all their words."""
    documents = [
        Document(id="1", text=f"{name} was high.", mentions=(Mention(((0, len(name)),), kind),))
        for name, kind in names
    ]
    told = find("basic").opened().explained(documents)
    return [
        [one.link.curie for one in own if one.answer and one.candidates[0].ways != ("shorter",)]
        for own in told
    ]


def check_pairs(pairs: Sequence[tuple[str, str, str]]) -> int:
    """Both forms of pairs have one answer; what a long form means alone, it means beside a short
    form.

    A long form that is a name only without its first words may mean more: what its short form is a
    name of.

    Returns:
        How many pairs have a concept.
    """
    texts = [(f"{long} ({short}) was high.", long, short, kind) for long, short, kind in pairs]
    places = [
        ((0, len(long)), (len(long) + 2, len(long) + 2 + len(short))) for _, long, short, _ in texts
    ]
    kept = [
        (text, spans, kind)
        for (text, _, _, kind), spans in zip(texts, places, strict=True)
        if (spans[1], spans[0]) in find_abbreviations(text)
    ]
    together = answers(kept)
    alone = whole([(text[spans[0][0] : spans[0][1]], kind) for text, spans, kind in kept])
    found = 0
    for (text, _, _), ((_, long), (_, short)), own in zip(kept, together, alone, strict=True):
        assert long == short, text
        if own:
            assert [link.curie for link in long] == own, text
        found += not long[0].nil
    assert len(kept) > 0.8 * len(pairs)
    return found


@SHIPPED
def test_short_forms_have_no_concept_that_their_long_forms_do_not_have() -> None:
    check_pairs(REPORTED)


def made_pairs(pack: Pack, count: int) -> list[tuple[str, str, str]]:
    """Names of a pack with their initials as short forms, where these are found as such."""
    active, random, pairs = pack.active, Random(7), dict[tuple[str, str, str], None]()
    while len(pairs) < count:
        rows = np.array([random.randrange(len(active)) for _ in range(4 * count)])
        types = pack.type_rows[active.concept[rows]].tolist()
        for name, kind in zip(active.surfaces.take(active.surface[rows]), types, strict=True):
            short = "".join(word[0] for word in name.split()).upper()
            if (
                short.isalpha()
                and 2 <= len(short) <= 6
                and len(find_abbreviations(f"{name} ({short}) was high.")) == 1
            ):
                pairs[name, short, pack.types[kind]] = None
    return list(pairs)[:count]


@SHIPPED
def test_made_pairs_of_the_pack_have_one_answer(found: LinkerWithPacks) -> None:
    assert check_pairs(made_pairs(found.parts[0].pack, 5_000)) > 2_000


def by_mention(ranked: Ranked) -> dict[tuple[int, int], object]:
    """All that is said of each thing of each mention, in the order of the candidates."""
    found = ranked.candidates
    told: dict[tuple[int, int], object] = {}
    for number, unit in enumerate(found.units):
        rows = ranked.order[np.isin(ranked.order, np.flatnonzero(found.owners == number))]
        said = (found.concepts, found.tiers, found.priors, ranked.scores, ranked.features)
        of_unit = (ranked.nil[number], ranked.alike[number], ranked.answered[number])
        told |= {
            (at, unit.part): repr((unit.surface, of_unit, [one[rows] for one in said]))
            for at in unit.mentions
        }
    return told


@SHIPPED
@pytest.mark.parametrize("seed", range(20))
def test_mentions_that_share_a_unit_are_answered_as_if_each_had_its_own(
    found: LinkerWithPacks, seed: int
) -> None:
    kinds = {"asthma": "Disease", "lung and breast cancer": "Disease", "lithium": "Chemical"}
    names = [*kinds, "TNF", "interleukin 6", "IL-6", "BRCA1 and BRCA2", "nonsense", "TNF"]
    between = [" in mice. ", " of rats; ", ", ", " (", ") in human cells. ", " with "]
    draw, text, mentions = Random(seed), "", []
    for _ in range(30):
        name = draw.choice(names)
        spans = ((len(text), len(text) + len(name)),)
        mentions.append(
            Mention(spans=spans, type=kinds.get(name, "Gene"), score=draw.choice([None, 0.4, 0.9]))
        )
        text += name + draw.choice(between)
    document = Document(id="1", text=text, mentions=tuple(mentions))
    linker = found.opened()
    assert isinstance(linker, Linker)
    together, apart = (linker.ranked([document], [mentions], each=each) for each in (False, True))
    assert len(together.candidates.units) < len(apart.candidates.units)
    assert by_mention(together) == by_mention(apart)
    decisions = linker.decisions([document], [mentions])[0]
    assert [(one.mention, one.part) for one in decisions] == sorted(by_mention(apart))
    links = dict(linker.predict([document])[0].links)
    assert [links[one.key] for one in mentions] == [
        distinct([link for told in decisions if told.mention == at for link in told.links])
        for at in range(len(mentions))
    ]


@SHIPPED
@pytest.mark.parametrize("curie", ["NCBIGene:2597", "NCBIGene:324", "NCBIGene:4609"])
def test_namesakes_have_the_same_letters(found: LinkerWithPacks, curie: str) -> None:
    """GAPDHS, APCS and Mycs, whose keys are those of GAPDH, APC and MYC, are other genes."""
    pack = found.parts[0].pack
    row = pack.row(curie)
    namesakes = Namesakes(pack).of(np.array([row])).rows
    assert len(namesakes)
    assert {pack.label_at(one).lower() for one in namesakes} == {pack.label_at(row).lower()}
