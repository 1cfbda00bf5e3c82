"""Names as people write them, with the pack and the linker that are shipped."""

from __future__ import annotations

import pytest

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Link
from fascicle.linking.linker import Linker
from fascicle.linking.opening import find
from fascicle.linking.parts import name_readings
from fascicle.settings.steps import LinkStrategy


@pytest.fixture(scope="module")
def linker() -> Linker:
    opened = find("basic").opened()
    assert isinstance(opened, Linker)
    return opened


def links_of(linker: Linker, text: str, name: str, kind: str = "Gene") -> tuple[Link, ...]:
    """Links of the last place of a name."""
    start = text.rindex(name)
    document = Document(id="1", text=text, mentions=(Mention(((start, start + len(name)),), kind),))
    (patch,) = linker.predict([document])
    ((_, links),) = patch.links
    return links


@pytest.mark.parametrize(
    ("text", "name", "curies"),
    [
        (
            "hERG channel block prolongs QT in humans; hERG potassium channels.",
            "hERG",
            ["NCBIGene:3757"],
        ),
        ("Human hIL-6 was added.", "hIL-6", ["NCBIGene:3569"]),
        ("Telomerase in human cells: hTERT.", "hTERT", ["NCBIGene:7015"]),
        ("mTOR signals in human cells.", "mTOR", ["NCBIGene:2475"]),
        ("In patients pSTAT3 was high.", "pSTAT3", ["NCBIGene:6774"]),
        ("In patients p-STAT3 was high.", "p-STAT3", ["NCBIGene:6774"]),
        ("In patients sICAM-1 was high.", "sICAM-1", ["NCBIGene:3383"]),
        ("In patients proBDNF was high.", "proBDNF", ["NCBIGene:627"]),
        ("In patients pERK1/2 was high.", "pERK1/2", ["NCBIGene:5594", "NCBIGene:5595"]),
        ("In patients STAT3/5a was high.", "STAT3/5a", ["NCBIGene:6774", "NCBIGene:6776"]),
        ("In patients STAT3/5a was high.", "5a", ["NCBIGene:6776"]),
        (
            "In patients, 5-HT2A/2C antagonists help.",
            "5-HT2A/2C",
            ["NCBIGene:3356", "NCBIGene:3358"],
        ),
        (
            "Rizatriptan, a novel 5-HT1B/1D agonist, in patients.",
            "5-HT1B/1D",
            ["NCBIGene:3351", "NCBIGene:3352"],
        ),
        ("Rizatriptan, a novel 5-HT1B/1D agonist, in patients.", "1D", ["NCBIGene:3352"]),
        ("In patients IL-1α/β rose.", "IL-1α/β", ["NCBIGene:3552", "NCBIGene:3553"]),
        ("In patients MMP2/9 rose.", "MMP2/9", ["NCBIGene:4313", "NCBIGene:4318"]),
        (
            "Cytochrome P450 2D6 (CYP2D6) metabolizes codeine in patients. CYP2D6 counts.",
            "CYP2D6",
            ["NCBIGene:1565"],
        ),
        ("Human thrombopoietin (TPO) rose. TPO counts.", "TPO", ["NCBIGene:7066"]),
    ],
)
def test_genes_as_they_are_written(linker: Linker, text: str, name: str, curies: list[str]) -> None:
    assert sorted(link.curie for link in links_of(linker, text, name)) == curies


@pytest.mark.parametrize(
    ("name", "curie"),  # MeSH 2026
    [
        ("immunosuppressive drugs", "MESH:D007166"),
        ("beta-adrenergic blocking drugs", "MESH:D000319"),
        ("antimicrobial compounds", "MESH:D000890"),
        ("antidepressant medication", "MESH:D000928"),
        ("diuretic drugs", "MESH:D004232"),
        ("study drug", ""),
    ],
)
def test_classes_of_drugs_are_found_by_other_nouns(linker: Linker, name: str, curie: str) -> None:
    (link,) = links_of(linker, f"We gave {name} to all.", name, "Chemical")
    assert (link.curie or "") == curie


@pytest.mark.parametrize("surface", ["5-HT1B/1D", "PPARα/γ", "GluN2A/2B", "IL-1 and 2C"])
def test_a_part_without_its_stem_is_no_gene(surface: str) -> None:
    for reading in name_readings(surface, bare_endings=False):
        assert not {"1D", "γ", "2B", "2C"} & set(reading)


@pytest.mark.parametrize(
    ("name", "curie"),
    [
        *(
            ("Raf", "fplx:RAF"),
            ("HDL", "fplx:HDL"),
            ("cyclin", "fplx:Cyclin"),
            ("interferon", "fplx:Interferon"),
        ),
        # not one of the genes with this alias
        *(("PI3K", "fplx:PI3K"), ("MEK", "fplx:MEK"), ("Ras", "fplx:RAS")),
        *(("Erk", "fplx:ERK"), ("MEKs", "fplx:MEK"), ("PKCs", "fplx:PKC")),
        *(
            ("interferons", "fplx:Interferon"),
            ("hemoglobins", "fplx:Hemoglobin"),
            ("AMPA receptors", "fplx:GRIA"),
            ("GABA-A receptors", "fplx:GABR"),
        ),
        # plurals of capitals, whose keys differ from those of the singular
        *(("GATAs", "fplx:GATA"), ("RHOs", "fplx:RHO"), ("E2Fs", "fplx:E2F")),
    ],
)
def test_a_family_is_an_answer_and_marked(linker: Linker, name: str, curie: str) -> None:
    (link,) = links_of(linker, f"In human cancer cells {name} was active.", name)
    assert (link.curie, link.tier) == (curie, "family")
    assert link.score is not None
    assert link.score < 0.9


def test_a_family_takes_no_gene_from_a_word_that_begins_a_sentence(linker: Linker) -> None:
    for name in ("Cholinesterase", "troponin-I"):
        (link,) = links_of(linker, f"{name} was active in patients.", name)
        assert link.curie in {"NCBIGene:590", "NCBIGene:7137"}


def test_a_gene_with_the_name_of_a_family_wins_nothing_by_another_that_goes(linker: Linker) -> None:
    # CDC25C and RASGRF1 have the name as an alias, and no text here says which is meant
    pair = "Cdc25 is phosphorylated by Chk1 and binds 14-3-3 proteins."
    assert [link.curie for link in links_of(linker, pair, "Cdc25")] == ["fplx:CDC25"]
    for name, curie in (("Cdc25", "NCBIGene:995"), ("chk", "NCBIGene:1119")):
        (link,) = links_of(linker, f"We transfected HeLa cells with {name}.", name)
        assert link.curie == curie
        assert link.score is not None
        assert link.score < 0.7


@pytest.mark.parametrize(
    ("plural", "singular"),
    [("ERKs", "Erk"), ("interferons", "interferon"), ("caspases", "caspase")],
)
def test_the_plural_of_a_family_is_the_family(linker: Linker, plural: str, singular: str) -> None:
    answers = [links_of(linker, f"In cells {name} acted.", name) for name in (plural, singular)]
    assert len({tuple((link.curie, link.tier) for link in links) for links in answers}) == 1


@pytest.mark.parametrize(
    ("name", "curie"),
    [
        *(
            ("insulin receptor", "NCBIGene:3643"),
            ("VEGF", "NCBIGene:7422"),
            ("Akt", "NCBIGene:207"),
        ),
        # not BRD2 and PLOD1, which have it as an alias too
        *(("FSH", "NCBIGene:2488"), ("LH", "NCBIGene:3972")),
        # BCHE has the name as well; a sentence may begin with it
        ("cholinesterase", "NCBIGene:590"),
    ],
)
def test_a_gene_with_the_name_of_a_family_stays_a_gene(
    linker: Linker, name: str, curie: str
) -> None:
    (link,) = links_of(linker, f"In patients {name} was active.", name)
    assert (link.curie, link.tier) == (curie, "exact")


@pytest.mark.parametrize("name", ["Trp53", "Il6", "Tnf", "Cdkn1a", "albumin"])
def test_a_stated_species_counts_as_one_that_the_text_names(name: str) -> None:
    part = find("basic").parts[0]
    mouse = {"Gene": LinkStrategy(species="NCBITaxon:10090")}
    linker = Linker(part.pack, rankers=part.manifest.rankers, order=("MESH",), strategies=mouse)
    text = "Trp53, Il6, Tnf and Cdkn1a were measured. Insulin and albumin rose."
    stated = links_of(linker, text, name)
    plain = Linker(part.pack, rankers=part.manifest.rankers, order=("MESH",))
    named = links_of(plain, f"{text} All in mice.", name)
    assert [one.curie for one in stated] == [one.curie for one in named]
    assert not stated[0].nil


def test_concepts_that_are_tied_are_equally_probable(linker: Linker) -> None:
    links = links_of(linker, "Many had BPD.", "BPD", "Disease")
    assert {link.curie for link in links} == {"MESH:D001883", "MESH:D001997"}
    assert links[0].score == links[1].score


def test_a_coarser_concept_of_the_only_vocabulary_says_so() -> None:
    mesh = find("basic", ontology="MESH").opened()
    text = "Dravet syndrome and asthma were seen."
    assert isinstance(mesh, Linker)
    (coarser,) = links_of(mesh, text, "Dravet syndrome", "Disease")
    assert (coarser.curie, coarser.tier) == ("MESH:D004831", "broader")
    assert links_of(mesh, text, "asthma", "Disease")[0].tier == "exact"


@pytest.mark.parametrize("score", [None, 0.6, 0.99])
@pytest.mark.parametrize(
    ("name", "kind", "curies"),
    [
        ("BPD", "Disease", {"MESH:D001883", "MESH:D001997"}),
        ("PC12", "CellLine", {"cellosaurus:CVCL_0481"}),
        ("p38", "Gene", {"fplx:p38"}),
        ("AR", "Gene", {"NCBIGene:367"}),  # HGNC:644; an alias of FDXR, AKR1B1 and AREG
    ],
)
def test_an_open_answer_is_the_same_whatever_the_mention_scores(
    linker: Linker, name: str, kind: str, curies: set[str], score: float | None
) -> None:
    text = f"In human cells {name} was seen."
    mention = Mention(((15, 15 + len(name)),), kind, score=score)
    (patch,) = linker.predict([Document(id="1", text=text, mentions=(mention,))])
    ((_, links),) = patch.links
    assert {link.curie for link in links} == curies
    scores = [link.score or 0.0 for link in links]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("name", "curie"), [("retinoic acid", "MESH:D014212"), ("triacylglycerol", "MESH:D014280")]
)
def test_a_descriptor_precedes_loose_names_of_supplementary_records(
    linker: Linker, name: str, curie: str
) -> None:
    (link,) = links_of(
        linker, f"Retinoyl glucuronide, trilinolein and {name} were measured.", name, "Chemical"
    )
    assert link.curie == curie
