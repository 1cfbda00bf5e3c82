"""The packs inside the package: found by name, whole, small, and with thanks to whom they are
due.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import fascicle
from fascicle.core.document import Document
from fascicle.errors import PackError
from fascicle.runtime.places import find_model
from fascicle.settings.folders import vocabularies
from fascicle.settings.folders.vocabularies import find_pack, shipped_packs
from fascicle.terms.curation import CURATION
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.verifying import verify
from fascicle.terms.pack.why import explain_name, explanation_lines
from fascicle.terms.recognising import PackRecogniser
from fascicle.verbs.tasks.index_build import build_pack

ROOT = Path(__file__).resolve().parents[3]
MOST = 19_000_000  # bytes in a wheel
TYPES = {"Anatomy", "CellLine", "CellType", "Chemical", "Disease", "Gene", "GeneFamily", "Species"}
SHIPPED = pytest.mark.skipif(
    "basic@2" not in shipped_packs(), reason="the pack is not built: see packs/basic.toml"
)


def test_packs_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packs = tmp_path / "packs"
    monkeypatch.setattr(vocabularies, "assets", lambda: tmp_path)
    assert shipped_packs() == ()
    assert find_pack("basic") == Path("basic")
    for name in ("basic@2", "basic@10", "own@1", "empty@1"):
        (packs / name).mkdir(parents=True)
        if name != "empty@1":
            (packs / name / "manifest.json").touch()
    assert shipped_packs() == ("basic@10", "basic@2", "own@1")
    assert find_pack("basic") == packs / "basic@10"
    assert find_pack("basic@2") == packs / "basic@2"
    assert find_pack("basic@3") == Path("basic@3")
    assert find_pack("./basic") == find_pack(Path("basic")) == Path("basic")


@pytest.fixture(scope="module")
def pack() -> Pack:
    return Pack.open("basic")


@SHIPPED
@pytest.mark.parametrize(
    ("curie", "date"),
    [
        ("MESH:D002945", "2026"),  # cisplatin, which the table of own names has too
        ("MESH:D001241", "2026"),
        ("NCBIGene:7157", "2026-06-25"),
        ("NCBITaxon:9606", "2026-05-13"),
    ],
)
def test_the_date_of_a_concept_is_that_of_its_vocabulary(pack: Pack, curie: str, date: str) -> None:
    assert pack.date_at(pack.row(curie)) == date


@SHIPPED
def test_the_shipped_pack_is_whole(pack: Pack) -> None:
    assert pack.manifest.name == "basic@2"
    verify(pack)


@SHIPPED
def test_it_has_the_files_of_its_manifest_alone(pack: Pack) -> None:
    assert {file.name for file in pack.folder.iterdir()} == {*pack.manifest.files, "manifest.json"}


@SHIPPED
@pytest.mark.slow
@pytest.mark.usefixtures("fascicle_data")
@pytest.mark.skipif(
    "FASCICLE_FRESH" not in os.environ, reason="python -m studies.packs.fresh makes its tables"
)
def test_it_is_what_its_sources_give(pack: Pack, tmp_path: Path) -> None:
    assert build_pack(ROOT / "packs" / "basic.toml", tmp_path / "again").full_name == pack.full_name


@SHIPPED
def test_the_name_of_an_earlier_one_is_explained() -> None:
    with pytest.raises(
        PackError, match=r"ships basic@2 in place of basic@1: give basic, or a copy"
    ):
        Pack.open("basic@1")


@SHIPPED
def test_why_says_that_a_name_is_not_found(pack: Pack) -> None:
    *_, last = explanation_lines(explain_name(pack, "MA"))
    assert last == "not found in texts: its case or form is not that of the names like it: ma"


@SHIPPED
@pytest.mark.parametrize(
    ("name", "concept", "kind"),
    [
        ("MT-CO2", "NCBIGene:4513", "label"),
        ("COX-2", "NCBIGene:5743", "exact"),
        ("growth hormone", "NCBIGene:2688", "exact"),
        ("PARK2", "NCBIGene:5071", "previous"),
        ("Drosophila", "NCBITaxon:7215", "label"),
        ("SARS-CoV-2", "NCBITaxon:2697049", "exact"),
        ("MS", "MESH:D009103", "abbreviation"),
        ("CHO", "cellosaurus:CVCL_0213", "exact"),
        ("Semaglutide", "MESH:D000099194", "label"),
    ],
)
def test_it_knows_names_as_people_write_them(
    pack: Pack, name: str, concept: str, kind: str
) -> None:
    assert [term.kind for term in pack.names(concept) if term.surface == name] == [kind]


@SHIPPED
def test_a_record_that_a_heading_replaced_says_so(pack: Pack) -> None:
    gone = pack.concept("MESH:C000591245")
    assert (gone.obsolete, gone.replaced_by) == (True, ("MESH:D000099194",))


@SHIPPED
def test_genes_without_an_official_symbol_are_not_in_it(pack: Pack) -> None:
    assert pack.concept_rows(["NCBIGene:107987479"]).tolist() == [-1]


@SHIPPED
def test_it_is_small(pack: Pack) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:  # as a wheel is packed
        for file in pack.folder.iterdir():
            packed.write(file, file.name)
    assert len(content.getvalue()) <= MOST


@SHIPPED
def test_it_has_terms_of_every_type(pack: Pack) -> None:
    counts = np.bincount(pack.type_rows[pack.active.concept], minlength=len(pack.types))
    assert {
        kind for kind, count in zip(pack.types, counts.tolist(), strict=True) if count > 1_000
    } == TYPES


@SHIPPED
def test_nothing_is_in_it_that_may_not_be_passed_on(pack: Pack) -> None:
    named = np.unique(np.concatenate([pack.active.concept, pack.silent.concept])).tolist()
    # identifiers alone are those of open mappings
    prefixes = {pack.curie(row).partition(":")[0] for row in named}
    assert not prefixes & {"HP", "OMIM", "UMLS", "SNOMEDCT", "MEDDRA", "DRUGBANK", "CHEMBL"}


@SHIPPED
@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("aspirin", "MESH:D001241"),
        ("Parkinson's disease", "MESH:D010300"),
        ("TP53", "NCBIGene:7157"),
        ("E. coli", "NCBITaxon:562"),
        ("HeLa", "cellosaurus:CVCL_0030"),
        ("hippocampus", "UBERON:0001954"),
    ],
)
def test_it_knows_what_everybody_does(pack: Pack, name: str, concept: str) -> None:
    assert any(term.surface.casefold() == name.casefold() for term in pack.names(concept))


@SHIPPED
def test_species_have_what_is_above_them(pack: Pack) -> None:
    assert "NCBITaxon:40674" in pack.ancestors("NCBITaxon:10090")
    assert pack.concept("NCBITaxon:10090").rank == "species"


@SHIPPED
@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Renal insulin was measured in HeLa cells.", {"insulin": "Gene", "HeLa": "CellLine"}),
        ("Fig. 2 shows the SSBs of a scooter at 5 ml min-1.", {}),
        (
            "Mice without EGFR had IL-6, MMP-9 and TDF.",
            {"Mice": "Species", "EGFR": "Gene", "IL-6": "Gene", "MMP-9": "Gene"},
        ),
        ("Beta blockers and late roots of the case 4.", {"Beta blockers": "Chemical"}),
    ],
)
def test_it_is_careful_with_words_and_acronyms(
    pack: Pack, text: str, kinds: dict[str, str]
) -> None:
    (patch,) = PackRecogniser({"basic": pack}).predict([Document(id="1", text=text)])
    assert {text[one.start : one.end]: one.type for one in patch.add} == kinds


@SHIPPED
def test_it_is_loaded_by_its_name(pack: Pack) -> None:
    assert find_model("basic") == pack.folder
    document = fascicle.load("basic")("Aspirin was given.")
    (mention,) = document
    assert (mention.type, mention.source, mention.links[0].curie) == (
        "Chemical",
        "basic@2",
        "MESH:D001241",
    )
    (origin,) = document.origins
    assert "MESH" in origin


@SHIPPED
def test_the_notice_names_every_source(pack: Pack) -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    for source in pack.manifest.sources:
        if source.name == CURATION:
            continue
        assert source.licence
        for said in (source.name, source.attribution, source.url, source.licence, source.date):
            assert said in notice, (source.name, said)
