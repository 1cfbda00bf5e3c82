"""Open Targets in small files of our own, in the layouts of its releases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.terms.sources.conftest import Read, read_file

from fascicle.errors import FormatError, InputError
from fascicle.terms.pack.pack import Pack
from fascicle.terms.sources.reading import check_hash
from fascicle.verbs.tasks.index_build import build_pack

Reader = Callable[..., Read]
DISEASES: list[dict[str, Any]] = [
    {
        "id": "EFO_0000400",
        "name": "diabetes mellitus",
        "description": "A disease of glucose.",
        "dbXRefs": ["MESH:D003920", "nothing"],
        "parents": ["EFO_0001379"],
        "synonyms": {
            "hasExactSynonym": ["DM"],
            "hasRelatedSynonym": ["sugar"],
            "hasBroadSynonym": None,
        },
        "obsoleteTerms": ["EFO_0009999"],
    },
    {
        "id": "MONDO_0005148",
        "name": "type 2 diabetes",
        "exactSynonyms": ["T2D"],
        "narrowSynonyms": ["NIDDM"],
    },
]
TARGETS: list[dict[str, Any]] = [
    {
        "id": "ENSG00000157764",
        "approvedSymbol": "BRAF",
        "approvedName": "B-Raf proto-oncogene",
        "biotype": "protein_coding",
        "symbolSynonyms": [{"label": "BRAF1", "source": "HGNC"}],
        "obsoleteSymbols": [{"label": "RAFB1", "source": "HGNC"}],
        "proteinIds": [{"id": "P15056", "source": "uniprot_swissprot"}],
        "dbXrefs": [{"id": "1097", "source": "HGNC"}],
    }
]
MOLECULES: list[dict[str, Any]] = [
    {
        "id": "CHEMBL25",
        "name": "ASPIRIN",
        "synonyms": ["Acetylsalicylic acid"],
        "tradeNames": ["Disprin"],
    },
    {"id": "CHEMBL2", "name": "SALT", "parentId": "CHEMBL25", "drugType": "Small molecule"},
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_biotype_that_types_does_not_name_is_left_out(read: Reader) -> None:
    rows = [*TARGETS, {"id": "ENSG00000000001", "approvedSymbol": "X", "biotype": "pseudogene"}]
    found = read(lines(rows), "open_targets", types={"protein_coding": "Gene"})
    assert [record.curie for record in found.records] == ["ensembl:ENSG00000157764"]
    assert found.losses() == {"type": 1}
    assert (
        len(
            read(lines(rows), "open_targets", type="Gene", types={"protein_coding": "Gene"}).records
        )
        == 2
    )
    drugs = read(lines(MOLECULES), "open_targets", types={"Small molecule": "Chemical"})
    assert {one.curie: one.type for one in drugs.records} == {"chembl.compound:CHEMBL2": "Chemical"}


def test_diseases_of_both_layouts(read: Reader) -> None:
    found = read(lines(DISEASES), "open_targets", type="Disease")
    assert found.names("EFO:0000400") == {
        "diabetes mellitus": "label",
        "DM": "exact",
        "sugar": "related",
    }
    assert found.names("MONDO:0005148") == {
        "type 2 diabetes": "label",
        "T2D": "exact",
        "NIDDM": "narrow",
    }
    one = found["EFO:0000400"]
    assert (one.parents, one.definition) == (("EFO:0001379",), "A disease of glucose.")
    assert [cross.curie for cross in one.references] == ["MESH:D003920"]
    assert found["EFO:0009999"].replaced_by == ("EFO:0000400",)
    assert found.losses() == {"reference": 1}


def test_targets_and_molecules(read: Reader) -> None:
    target = read(lines(TARGETS), "open_targets", types={"protein_coding": "Gene"})[
        "ensembl:ENSG00000157764"
    ]
    assert {one.surface: one.kind for one in target.names} == {
        "BRAF": "label",
        "B-Raf proto-oncogene": "exact",
        "BRAF1": "exact",
        "RAFB1": "previous",
    }
    assert {one.curie for one in target.references} == {"uniprot:P15056", "HGNC:1097"}
    assert target.type == "Gene"
    molecules = read(lines(MOLECULES), "open_targets", type="Chemical")
    assert set(molecules.names("chembl.compound:CHEMBL25")) == {
        "ASPIRIN",
        "Acetylsalicylic acid",
        "Disprin",
    }
    assert molecules["chembl.compound:CHEMBL2"].parents == ("chembl.compound:CHEMBL25",)


def test_parquet_and_folders_of_parts_say_the_same(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "json").mkdir()
    (tmp_path / "parquet").mkdir()
    for number, row in enumerate(DISEASES):
        (tmp_path / f"json/part-{number}.json").write_text(lines([row]), encoding="utf-8")
        parquet.write_table(
            pyarrow.Table.from_pylist([row]), tmp_path / f"parquet/part-{number}.parquet"
        )
    (tmp_path / "json/_SUCCESS").write_text("")
    wanted = read_file(tmp_path / "json", "open_targets").records
    assert read_file(tmp_path / "parquet", "open_targets").records == wanted
    assert len(wanted) == 3


def test_a_pack_is_built_from_a_folder_of_parts_and_the_hash_is_of_all_of_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "parts").mkdir()
    for number, row in enumerate(DISEASES):
        (tmp_path / f"parts/part-{number}.json").write_text(lines([row]), encoding="utf-8")
    file = tmp_path / "sources.toml"
    text = 'name = "x@1"\n[sources.a]\npath = "parts"\nreader = "open_targets"\ntype = "Disease"\n'
    file.write_text(text)
    build_pack(file, output=tmp_path / "pack")
    assert Pack.open(tmp_path / "pack").concept("EFO:0000400").label
    right = check_hash(str(tmp_path / "parts"), "")
    (tmp_path / "parts/_SUCCESS").write_text("")
    (tmp_path / "parts/.part-0.json").write_text("")
    assert check_hash(str(tmp_path / "parts"), right) == right
    (tmp_path / "parts/part-1.json").write_text(lines([DISEASES[0]]))
    file.write_text(text + f'sha256 = "{right}"\n')
    with pytest.raises(FormatError, match="SHA-256"):
        build_pack(file, output=tmp_path / "other")
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="without parts"):
        read_file(tmp_path / "none", "open_targets")


def test_rows_that_are_none_are_counted_and_files_that_are_none_refused(
    read: Reader, tmp_path: Path
) -> None:
    found = read(lines(DISEASES) + '[1]\n{"id": 3}\n{"name": "x"}\n{\n', "open_targets")
    assert found.losses() == {"structure": 2, "identifier": 2, "reference": 1}
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FormatError, match="Parquet"):
        read_file(tmp_path / "a.parquet", "open_targets")
    for name in ("none.parquet", "none.json"):
        with pytest.raises(InputError):
            read_file(tmp_path / name, "open_targets")


@pytest.mark.parametrize(
    ("key", "value", "loss"),
    [
        ("name", 7, "name"),
        ("synonyms", ["a", True, {"text": "b"}], "name"),
        ("symbolSynonyms", [{"label": 7}, {"id": "1", "source": "X"}], "name"),
        ("tradeNames", [["nested"]], "name"),
        ("parents", [7], "reference"),
        ("dbXRefs", [{"id": None, "source": "HGNC"}], "reference"),
        ("obsoleteTerms", ["no identifier"], "reference"),
    ],
)
def test_values_of_another_form_are_counted(read: Reader, key: str, value: Any, loss: str) -> None:
    row = {"id": "EFO_0000400", "name": "diabetes", key: value}
    found = read(lines([row]), "open_targets")
    assert set(found.losses()) == {loss}
    texts = (
        {one for one in value if isinstance(one, str)}
        if isinstance(value, list) and loss == "name"
        else set()
    )
    assert found.names("EFO:0000400").keys() == texts | ({"diabetes"} if key != "name" else set())


def test_a_description_of_another_form_is_none(read: Reader) -> None:
    row = {"id": "EFO_0000400", "name": "diabetes", "description": {"en": "A disease."}}
    assert read(lines([row]), "open_targets")["EFO:0000400"].definition == ""
