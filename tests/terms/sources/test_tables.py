"""Tables with a map of columns, and the layouts of known makers."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from fascicle.errors import FormatError, RecipeError
from fascicle.terms.terms import CrossReference, Name

from .conftest import read_file

COLUMNS = {"id": "id", "name": "name", "kind": "kind"}


def test_rows_of_one_concept_are_one_record(read: Callable[..., Any]) -> None:
    text = "id\tname\tkind\nD000001\tA\tlabel\nD000001\tB\tsynonym\nD000001\tC\tlabel\n"
    text += "D000002\tD\toboInOwl:hasBroadSynonym\n"
    found = read(text, "table", prefix="MESH", columns=COLUMNS)
    assert found["MESH:D000001"].names == (Name("A", "label"), Name("B"), Name("C"))
    assert found["MESH:D000002"].names == (Name("D", "broad"),)


def test_all_columns_are_read(read: Callable[..., Any]) -> None:
    text = (
        'key;l;e;p;x;d;t;r;o;by;ty\na:1;L;"E, 1 | E2| -";a:2|a:3;12|13; some  text '
        ";9606;species;yes;a:9;gene\n"
    )
    columns = {
        "id": "key",
        "label": ["l"],
        "exact": ["e"],
        "parents": ["p"],
        "references": ["x"],
        "definition": "d",
    }
    columns |= {"taxon": "t", "rank": "r", "obsolete": "o", "replaced_by": ["by"], "type": "ty"}
    found = read(
        text, "table", columns=columns, table={"reference_prefix": "CHEBI"}, types={"gene": "Gene"}
    )
    record = found["a:1"]
    assert record.names == (Name("L", "label"), Name("E, 1"), Name("E2"))
    assert record.parents == ("a:2", "a:3")
    assert record.references == (CrossReference("CHEBI:12"), CrossReference("CHEBI:13"))
    assert (record.definition, record.taxon, record.rank, record.type) == (
        "some text",
        "NCBITaxon:9606",
        "species",
        "Gene",
    )
    assert record.obsolete
    assert record.replaced_by == ("a:9",)


def test_families_of_genes_as_hgnc_publishes_them(read: Callable[..., Any]) -> None:
    text = (
        '"id","abbreviation","name","external_note","pubmed_ids","desc_comment","desc_label","desc_source","desc_go",'
        '"typical_gene"\n"3","FSCN","Fascin family",NULL,"21618240","NULL","","","","FSCN1"\n'
    )
    columns = {"id": "id", "label": ["name"], "abbreviation": ["abbreviation"]}
    found = read(
        text,
        "table",
        prefix="hgnc.genegroup",
        columns=columns,
        type="GeneFamily",
        table={"separator": ","},
    )
    assert found["hgnc.genegroup:3"].names == (
        Name("Fascin family", "label"),
        Name("FSCN", "abbreviation"),
    )
    assert found["hgnc.genegroup:3"].type == "GeneFamily"


def test_numbers_are_columns_without_a_header(read: Callable[..., Any]) -> None:
    found = read(
        "#As(O)\tCHEBI:1\nname only\n\nwater\tCHEBI:2\n", "table", columns={"id": 1, "name": 0}
    )
    assert found.names("CHEBI:1") == {"#As(O)": "exact"}
    assert found.losses() == {"columns": 1}
    assert found.report.first["columns"].line == 2


def test_rows_are_kept_by_the_values_of_columns(read: Callable[..., Any]) -> None:
    text = "id\tname\tkind\tp\nD000001\tA\tlabel\tY\nD000001\tB\tx\tN\nD000001\tC\tlabel\tN\n"
    table = {"where": {"kind": ["label"]}, "unless": {"p": ["Y"]}}
    found = read(text, "table", prefix="MESH", columns=COLUMNS, table=table)
    assert found.names("MESH:D000001") == {"C": "label"}
    assert found.losses() == {"where": 2}


def test_kinds_may_have_other_names(read: Callable[..., Any]) -> None:
    text = "id\tname\tkind\tt\na:1\tA\tTrivialname\t\na:1\tB\tsynonym\tacronym\n"
    columns = {**COLUMNS, "tag": "t"}
    found = read(text, "table", columns=columns, table={"kind_names": {"Trivialname": "related"}})
    assert found.names("a:1") == {"A": "related", "B": "abbreviation"}


def test_rows_that_give_nothing_are_counted(read: Callable[..., Any]) -> None:
    text = b"id\tname\tkind\nx\tA\tlabel\na:1\t\tlabel\na:1\t\x07\tlabel\na:1\t\xff\tlabel\n"
    assert read(text, "table", columns=COLUMNS).losses() == {
        "identifier": 1,
        "no-name": 1,
        "name": 1,
        "encoding": 1,
    }


def test_quotes_go_over_no_line_break(read: Callable[..., Any]) -> None:
    text = 'id,name,kind\na:1,"x, y",label\na:2,"never closed,label\na:3,z,label\n'
    found = read(text, "table", columns=COLUMNS)
    assert found.names("a:1") == {"x, y": "label"}
    assert found.names("a:3") == {"z": "label"}
    assert found.losses() == {"quotes": 1}


def test_the_end_of_a_cell_with_a_line_break_is_no_row(read: Callable[..., Any]) -> None:
    found = read(
        'id,name,kind\na:1,"x\ny",label\na:2,"z ""of"" y",label\n',
        "table",
        columns=COLUMNS,
        prefix="a",
    )
    assert [record.curie for record in found.records] == ["a:2"]
    assert found.losses() == {"quotes": 2}


@given(
    names=st.lists(
        st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1, max_size=6),
        min_size=1,
        max_size=5,
        unique=True,
    ),
    separator=st.sampled_from([",", ";"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_csv_is_read_as_the_standard_library_reads_it(
    read: Callable[..., Any], names: list[str], separator: str
) -> None:
    names = [name for name in names if any(sign.isalnum() for sign in name) and name != "-"]
    written = io.StringIO()
    table = csv.writer(written, delimiter=separator, lineterminator="\n")
    table.writerow(["id", "name", "kind"])
    table.writerows([["a:1", name, "exact"] for name in names])
    # by default, NaN and others are empty cells too
    found = read(written.getvalue(), "table", columns=COLUMNS, table={"empty": ["", "-"]})
    assert found.names("a:1") == dict.fromkeys(names, "exact")


@pytest.mark.parametrize("missing", [r"\N", "NULL", "null", "NA", "<NA>"])
def test_a_missing_value_of_a_dump_is_no_name(read: Callable[..., Any], missing: str) -> None:
    # \N is what PostgreSQL (COPY) and MySQL (SELECT INTO OUTFILE) write for NULL
    text = f"id\tname\tkind\na:1\t{missing}\tlabel\na:1\tNULL allele\texact\n"
    found = read(text, "table", columns=COLUMNS)
    assert found.names("a:1") == {"NULL allele": "exact"}


@pytest.mark.parametrize("column", ["999999999", "²", "-1"])
def test_a_column_beyond_any_table_is_refused(read: Callable[..., Any], column: str) -> None:
    """Each row would be made so wide."""
    columns = {"id": 0, "name": 1}
    with pytest.raises(RecipeError, match="where"):
        read("a:1\tname\n", "table", columns=columns, table={"where": {column: ["x"]}})
    with pytest.raises(msgspec.ValidationError):
        read("a:1\tname\n", "table", columns={**columns, "label": [999_999_999]})


def test_columns_that_are_not_there_are_told(read: Callable[..., Any]) -> None:
    with pytest.raises(FormatError, match="'key'"):
        read("id\tname\n", "table", columns={"id": "key", "name": "name"})
    with pytest.raises(RecipeError, match="columns"):
        read("id\tname\n", "table")
    with pytest.raises(RecipeError, match="'other'"):
        read("id\tname\n", "table", columns={"id": "id"}, table={"where": {"other": ["1"]}})


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id\tname\tsynonyms\na:1\tA\tB\n", {"id": "id", "label": ["name"], "exact": ["synonym"]}),
        ("id\tname\tsynonyms\na:1\tA\tB\n", {"id": "id", "name": "name", "kind": "sort"}),
        ("a:1\tA\tB\na:2\n", {"id": 0, "label": [1], "exact": [3]}),
    ],
)
def test_a_column_that_nobody_has_is_told_however_it_was_asked_for(
    read: Callable[..., Any], text: str, columns: dict[str, Any]
) -> None:
    """All names in it would be missing, without a word."""
    with pytest.raises(FormatError, match=r"'synonym'|'sort'|3"):
        read(text, "table", columns=columns)


def test_rows_may_end_before_a_column_that_others_have(read: Callable[..., Any]) -> None:
    found = read("a:1\tA\na:2\tB\tC\n", "table", columns={"id": 0, "label": [1], "exact": [2]})
    assert (found.names("a:1"), found.names("a:2")) == (
        {"A": "label"},
        {"B": "label", "C": "exact"},
    )


def test_gene_info(read: Callable[..., Any]) -> None:
    text = (
        "# Downloaded from somewhere\n"
        "#tax_id\tGeneID\tSymbol\tLocusTag\tSynonyms\tdbXrefs\tdescription\ttype_of_gene\t"
        "Full_name_from_nomenclature_authority\tOther_designations\n"
        "9606\t7157\tTP53\t-\tBCC7|LFS1|P53\tMIM:191170|HGNC:HGNC:11998\ttumor protein "
        "p53\tprotein-coding\t"
        "tumor protein p53\tcellular tumor antigen p53|antigen NY-CO-13\n"
        "9606\t1\tNEWENTRY\t-\t-\t-\t-\tother\t-\t-\n"
    )
    found = read(text, "gene_info", type="Gene")
    record = found["NCBIGene:7157"]
    assert record.names[0] == Name("TP53", "label")
    assert found.names("NCBIGene:7157")["P53"] == "exact"
    assert found.names("NCBIGene:7157")["antigen NY-CO-13"] == "related"
    assert record.references == (CrossReference("OMIM:191170"), CrossReference("HGNC:11998"))
    assert (record.taxon, record.type) == ("NCBITaxon:9606", "Gene")
    assert found.losses() == {"repeated": 1, "placeholder": 1}


def test_the_official_symbol_of_a_gene_is_its_label(read: Callable[..., Any]) -> None:
    text = (
        "#tax_id\tGeneID\tSymbol\tSynonyms\tdescription\tSymbol_from_nomenclature_authority\tOther_designations\n"
        "9606\t4513\tCOX2\tCOII|NaN\tsubunit II\tMT-CO2\t-\n"
        "4932\t9\tYAL1\t-\tuncharacterized protein\t-\thypothetical protein|the real name\n"
    )
    found = read(text, "gene_info", type="Gene")
    assert found.names("NCBIGene:4513") == {
        "MT-CO2": "label",
        "COX2": "exact",
        "subunit II": "exact",
        "COII": "exact",
        "NaN": "exact",
    }
    assert found.names("NCBIGene:9") == {"YAL1": "label", "the real name": "related"}
    assert found.losses() == {"unnamed": 2}


def test_cells_that_programs_leave_empty_are_no_names(read: Callable[..., Any]) -> None:
    text = "id\tname\tother\tbefore\nX:1\tone\tNA\told\nX:2\tnan\tNone\t<NA>\n"
    columns = {"id": "id", "label": ["name"], "exact": ["other"], "previous": ["before"]}
    found = read(text, "table", type="Gene", columns=columns)
    assert found.names("X:1") == {"one": "label", "old": "previous"}
    assert found.names("X:2") == {}


def test_ctd_diseases(read: Callable[..., Any]) -> None:
    text = (
        "# Fields:\n# "
        "DiseaseName\tDiseaseID\tAltDiseaseIDs\tDefinition\tParentIDs\tTreeNumbers\tSynonyms\n#\n"
        "Aarskog Syndrome\tMESH:C535331\tOMIM:100050|DO:DOID:6683\tA rare "
        "one.\tMESH:D019465|MESH:D000015\tC05\t"
        "AAS|Scott\n"
    )
    record = read(text, "ctd_diseases")["MESH:C535331"]
    assert [name.surface for name in record.names] == ["Aarskog Syndrome", "AAS", "Scott"]
    assert record.parents == ("MESH:D019465", "MESH:D000015")
    assert record.references == (
        CrossReference("OMIM:100050", "skos:exactMatch"),
        CrossReference("DOID:6683", "skos:exactMatch"),
    )


def test_drugbank_with_either_separator(read: Callable[..., Any]) -> None:
    header = "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key"
    row = (
        "DB00002,BIOD00071 | BTD00071,Cetuximab,205923-56-4,PQX0D8J21J,Cetuximab | Cétuximab | "
        "Cetuximabum,"
    )
    found = read(f"{header}\n{row}\n", "drugbank")["drugbank:DB00002"]
    assert found.names == (Name("Cetuximab", "label"), Name("Cétuximab"), Name("Cetuximabum"))
    assert found.references == (CrossReference("cas:205923-56-4"),)
    other = "Column1;Column2\n" + f"{header}\n{row}\n".replace(",", ";")
    assert read(other, "drugbank")["drugbank:DB00002"] == found


def test_biolexica_and_pairs(read: Callable[..., Any]) -> None:
    text = (
        "text\tcurie\tname\tpredicate\tsource\nHela\tcellosaurus:0030\tHeLa\thasRelatedSynonym\tx\n"
    )
    text += "HeLa\tcellosaurus:0030\tHeLa\tlabel\tx\n"
    assert read(text, "ssslm").names("cellosaurus:CVCL_0030") == {
        "Hela": "related",
        "HeLa": "label",
    }
    assert read("mice\t10090\n", "pairs", prefix="NCBITaxon").names("NCBITaxon:10090") == {
        "mice": "exact"
    }


def test_a_release_of_umls_is_a_table(read: Callable[..., Any]) -> None:
    """As docs/how-to-build-a-pack.md has it."""
    text = (
        "C0000005|ENG|P|L0000005|PF|S0007492|Y|A26634265||M0019694|D012711|MSH|PEP|D012711|(131)I-MAA|0|N|256|\n"
        "C0000005|FRE|S|L0270109|PF|S0007491|Y|A1||M1|D012711|MSHFRE|ET|D012711|MAA|0|N||\n"
        'C0000039|ENG|P|L0000039|PF|S0007564|Y|A2||M2|D015060|MSH|MH|D015060|"Quoted" '
        "name|0|N|256|\n"
        "C0000039|ENG|S|L0000040|PF|S0007565|Y|A3||M2|D015060|MSH|ET|D015060|old|0|O|256|\n"
    )
    table = {"separator": "|", "split": "\t", "kind_names": {"MH": "label"}}
    table |= {"where": {"1": ["ENG"]}, "unless": {"16": ["O", "E", "Y"]}}
    found = read(
        text, "table", prefix="umls", columns={"id": 0, "name": 14, "kind": 12}, table=table
    )
    assert found.names("umls:C0000005") == {"(131)I-MAA": "exact"}
    assert found.names("umls:C0000039") == {'"Quoted" name': "label"}
    text = "C0000039|A2|AUI|PAR|C0000001|A9|AUI||R1||MSH|MSH|||N||\n"
    text += "C0000039|A2|AUI|CHD|C0000002|A9|AUI||R1||MSH|MSH|||N||\n"
    table = {"separator": "|", "split": "\t", "where": {"3": ["PAR"]}}
    found = read(text, "table", prefix="umls", columns={"id": 0, "parents": [4]}, table=table)
    assert found["umls:C0000039"].parents == ("umls:C0000001",)


def test_filters_see_cells_as_they_are_written(read: Callable[..., Any]) -> None:
    text = "id\tname\tofficial\nX:1\tone\tone\nX:2\ttwo\t-\nX:3\tthree\t\n"
    columns = {"id": "id", "label": ["name"]}
    found = read(text, "table", type="Gene", columns=columns, table={"unless": {"official": ["-"]}})
    assert {record.curie for record in found.records} == {"X:1", "X:3"}
    found = read(text, "table", type="Gene", columns=columns, table={"where": {"official": [""]}})
    assert {record.curie for record in found.records} == {"X:2", "X:3"}


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def test_parquet_says_what_a_text_says(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "name": "A", "more": ["B|b", "C"], "by": None, "obsolete": False, "n": 1.0},
        {"id": 2, "name": None, "more": [], "by": "mine:1", "obsolete": True, "n": None},
        {"id": 3, "name": "D|E", "more": None, "by": None, "obsolete": False, "n": 2.5},
    ]
    columns = {
        "id": "id",
        "label": ["name"],
        "exact": ["more"],
        "replaced_by": ["by"],
        "obsolete": "obsolete",
    }
    found = read_file(
        write_parquet(tmp_path / "a.parquet", rows), "table", prefix="mine", columns=columns
    )
    assert found.names("mine:1") == {"A": "label", "B|b": "exact", "C": "exact"}
    assert (found["mine:2"].obsolete, found["mine:2"].replaced_by) == (True, ("mine:1",))
    assert found.names("mine:3") == {"D": "label", "E": "exact"}
    folder = tmp_path / "parts"
    folder.mkdir()
    for at, row in enumerate(rows):
        write_parquet(folder / f"part-{at}.parquet", [rows[0] | row])
    assert read_file(folder, "table", prefix="mine", columns=columns).records == found.records
    by_number = {"id": 0, "label": [1], "exact": [2], "replaced_by": [3], "obsolete": 4}
    assert (
        read_file(tmp_path / "a.parquet", "table", prefix="mine", columns=by_number).records
        == found.records
    )
    kept = read_file(
        tmp_path / "a.parquet",
        "table",
        prefix="mine",
        columns=columns,
        table={"where": {"n": ["1"]}},
    )
    assert [record.curie for record in kept.records] == ["mine:1"]
    with pytest.raises(FormatError, match="no column 'key'; the columns are id, name"):
        read_file(tmp_path / "a.parquet", "table", columns={"id": "key", "name": "name"})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_tables_of_chembl(ending: str, tmp_path: Path) -> None:
    """Columns: schema documentation of ChEMBL 36; CHEMBL25 is aspirin."""
    molecules = [
        {
            "molregno": 1280,
            "pref_name": "ASPIRIN",
            "chembl_id": "CHEMBL25",
            "molecule_type": "Small molecule",
        },
        {
            "molregno": 97,
            "pref_name": "PRAZOSIN",
            "chembl_id": "CHEMBL2",
            "molecule_type": "Small molecule",
        },
        {
            "molregno": 5,
            "pref_name": None,
            "chembl_id": "CHEMBL6329",
            "molecule_type": "Small molecule",
        },
    ]
    names = [
        {
            "molregno": 1280,
            "syn_type": "TRADE_NAME",
            "molsyn_id": 1,
            "synonyms": "Bufferin, tablets",
        },
        {"molregno": 1280, "syn_type": "OTHER", "molsyn_id": 2, "synonyms": "Acetylsalicylic acid"},
        {"molregno": 4, "syn_type": "INN", "molsyn_id": 3, "synonyms": "nobody"},
    ]
    paths = []
    for name, rows in (("molecule_dictionary", molecules), ("molecule_synonyms", names)):
        paths.append(tmp_path / f"{name}.{ending}")
        if ending == "parquet":
            write_parquet(paths[-1], rows)
        else:
            with paths[-1].open("w", newline="") as stream:
                writer = csv.DictWriter(stream, rows[0])
                writer.writeheader()
                writer.writerows(rows)
    found = read_file(
        paths[0], "chembl", hierarchy=str(paths[1]), types={"Small molecule": "Chemical"}
    )
    wanted = {"ASPIRIN": "label", "Bufferin, tablets": "exact", "Acetylsalicylic acid": "exact"}
    assert found.names("chembl.compound:CHEMBL25") == wanted
    assert found.names("chembl.compound:CHEMBL2") == {"PRAZOSIN": "label"}
    assert found.losses() == {"identifier": 1}
    assert {record.type for record in found.records if record.names} <= {"Chemical", ""}
