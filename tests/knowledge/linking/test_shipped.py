"""The linker that is shipped: known answers, and no name of a corpus in it."""

from __future__ import annotations

import pytest

import fascicle
from fascicle.core.document import Document, Mention
from fascicle.knowledge.linking.opening import Found, find
from fascicle.settings.folders.vocabularies import find_linker, shipped_linkers, shipped_packs

SHIPPED = pytest.mark.skipif("basic@1" not in shipped_linkers(), reason="run python -m benchmarks.ship_linker")
MOST = 100_000  # bytes
FITTED = {"Disease", "Chemical", "Gene", "Species", "CellLine", "CellType", "Anatomy"}


@pytest.fixture(scope="module")
def found() -> Found:
    return find("basic")


def test_every_shipped_linker_has_a_shipped_pack() -> None:
    assert set(shipped_linkers()) <= set(shipped_packs())


@SHIPPED
def test_it_is_small_and_keeps_no_text(found: Found) -> None:
    (part,) = found.parts
    assert part.pack.manifest.name == part.manifest.place == "basic@1"
    assert sum(path.stat().st_size for path in part.folder.iterdir()) < MOST
    assert (part.folder / "names.tsv").read_bytes() == b""
    assert part.folder == find_linker("basic@1") == find_linker("basic")
    assert not part.manifest.indexed
    assert part.manifest.hash == part.manifest.fingerprint


@SHIPPED
def test_types_without_gold_have_no_ranker(found: Found) -> None:
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
        ("Nephroblastoma is rare.", "Nephroblastoma", "Disease", "MESH:D009396"),
        ("Serum lipids rose.", "lipids", "Chemical", "MESH:D008055"),
        ("We gave aspirin daily.", "aspirin", "Chemical", "MESH:D001241"),
        ("Serum creatinine rose.", "creatinine", "Chemical", "MESH:D003404"),
        ("Mutations of human BRCA1 in patients.", "BRCA1", "Gene", "NCBIGene:672"),
        ("TP53 was mutated in these women.", "TP53", "Gene", "NCBIGene:7157"),
        ("Mice were fed.", "Mice", "Species", "NCBITaxon:10090"),
        ("Cultures of Escherichia coli grew.", "Escherichia coli", "Species", "NCBITaxon:562"),
        ("HeLa cells were grown.", "HeLa", "CellLine", "cellosaurus:CVCL_0030"),
        ("The hepatocytes were grown.", "hepatocytes", "CellType", "CL:0000182"),
        ("The liver was removed.", "liver", "Anatomy", "UBERON:0002107"),
        ("An ERK inhibitor.", "ERK", "GeneFamily", "fplx:ERK"),
    ],
)
def test_known_answers(found: Found, text: str, words: str, kind: str, curie: str) -> None:
    start = text.index(words)
    document = Document(id="1", text=text, mentions=(Mention(((start, start + len(words)),), kind),))
    (done,) = fascicle.link([document])
    (link,) = done.mentions[0].links
    assert link.curie == curie
    assert (link.score is None) == (kind == "GeneFamily")
    assert link.name
    assert link.tier


@SHIPPED
def test_what_it_does_not_know_is_nil(found: Found) -> None:
    document = Document(id="1", text="the xyzzy syndrome", mentions=(Mention(((4, 18),), "Disease"),))
    (done,) = fascicle.link([document])
    assert done.mentions[0].links[0].nil
