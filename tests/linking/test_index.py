"""The index of a pack: names in another order, references between vocabularies, and what is
refused.
"""

from __future__ import annotations

import json
import shutil
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.files.owned import file_facts
from fascicle.errors import PackError
from fascicle.linking.index import MANIFEST, NameIndex, type_bit, write_index
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import ConceptRecord, CrossReference, Name

RECORDS = {
    "diseases": (
        ConceptRecord(
            curie="MESH:D1",
            type="Disease",
            names=(
                Name("Breast Neoplasms, Male", "label"),
                Name("type II diabetes"),
                Name("male breast neoplasm"),
            ),
            references=(
                CrossReference("DOID:1", "skos:exactMatch"),
                CrossReference("DOID:1"),
                CrossReference("DOID:3", "skos:broadMatch"),
            ),
        ),
        ConceptRecord(
            curie="DOID:1",
            type="Disease",
            names=(Name("neoplasm of the male breast", "label"),),
            references=(
                CrossReference("MONDO:1"),
                CrossReference("UMLS:C1"),
                CrossReference("NCBIGene:1"),
            ),
        ),
        ConceptRecord(curie="DOID:3", type="Disease", names=(Name("mammary disease", "label"),)),
        ConceptRecord(
            curie="MONDO:1", type="Disease", names=(Name("breast neoplasm of men", "label"),)
        ),
        ConceptRecord(
            curie="NCBIGene:1", type="Gene", names=(Name("BRCA", "label"), Name("mammary disease"))
        ),
    )
}


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    return build_small(tmp_path_factory.mktemp("pack") / "pack", RECORDS, parts=REAL_PARTS)


@pytest.fixture(scope="module")
def index(pack: Pack, tmp_path_factory: pytest.TempPathFactory) -> NameIndex:
    folder = tmp_path_factory.mktemp("index")
    write_index(folder, pack)
    return NameIndex.open(folder, pack)


def test_names_are_found_in_any_order(index: NameIndex) -> None:
    names = [
        "male breast neoplasm",
        "diabetes type 2",
        "brca",
        "mammary disease",
        "neoplasm, breast",
        "",
    ]
    asked = [" ".join(order) for name in names for order in permutations(name.split())]
    keys = [key(one, 2) for one in asked]
    own = index.pack.active.keys.strings
    wanted = [
        (place, row)
        for place, one in enumerate(asked)
        for row in range(len(own))
        if key(one, 3) == key(own[row], 3)
    ]
    places, rows = index.in_any_order(keys)
    assert list(zip(places.tolist(), rows.tolist(), strict=True)) == wanted
    assert len(wanted) > 10


def test_references_lead_both_ways_between_concepts_of_one_type(index: NameIndex) -> None:
    pack = index.pack

    def reached(curie: str) -> dict[str, int]:
        found = index.equivalents.of(np.array([pack.row(curie)]))
        return {
            pack.curie(row): int(far)
            for row, far in zip(found.rows.tolist(), found.distance, strict=True)
        }

    assert reached("MESH:D1") == {"MESH:D1": 0, "DOID:1": 1}
    assert reached("DOID:1") == {"DOID:1": 0, "MESH:D1": 1, "MONDO:1": 2}
    assert reached("MONDO:1") == {"MONDO:1": 0, "DOID:1": 2}
    assert reached("DOID:3") == {"DOID:3": 0}
    assert reached("NCBIGene:1") == {"NCBIGene:1": 0}


def test_vocabularies_are_those_of_the_curies(pack: Pack) -> None:
    assert [pack.prefixes[number] for number in pack.prefix_rows.tolist()] == [
        pack.curie(row).partition(":")[0] for row in range(len(pack))
    ]


def test_slips_are_found_within_a_type(index: NameIndex) -> None:
    pack = index.pack
    disease, gene = (type_bit(pack.types.index(kind)) for kind in ("Disease", "Gene"))
    asked = [key("mamary disease", 2), key("neoplasm of the male brest", 2)] * 2
    found = index.near(asked, np.array([disease, disease, gene, gene], dtype=np.uint64))
    names = pack.active.keys.strings.take(found.rows)
    assert list(zip(found.owners.tolist(), names, strict=True)) == [
        (0, key("mammary disease", 2)),
        (1, key("neoplasm of the male breast", 2)),
        (2, key("mammary disease", 2)),
    ]


def test_the_same_pack_gives_the_same_bytes(pack: Pack, index: NameIndex, tmp_path: Path) -> None:
    assert write_index(tmp_path, pack) == index.manifest


def test_the_index_of_another_pack_is_refused(index: NameIndex, tmp_path: Path) -> None:
    other = build_small(tmp_path / "other", {"diseases": RECORDS["diseases"][:2]}, parts=REAL_PARTS)
    with pytest.raises(PackError, match="belongs to the pack small"):
        NameIndex.open(index.folder, other)


@pytest.mark.parametrize("damage", ["cut", "missing", "flipped", "manifest", "none"])
def test_damage_is_found(pack: Pack, index: NameIndex, tmp_path: Path, damage: str) -> None:
    folder = Path(shutil.copytree(index.folder, tmp_path / "index"))
    for name in index.manifest.files if damage in ("cut", "missing", "flipped") else [MANIFEST]:
        place = folder / name
        content = place.read_bytes()
        if damage == "missing":
            place.unlink()
        elif content:
            place.write_bytes(
                content[:-1] if damage == "cut" else bytes([content[0] ^ 1]) + content[1:]
            )
        with pytest.raises(PackError):
            NameIndex.open(folder if damage != "none" else tmp_path, pack).verify()
        place.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [("equal.starts.u4", 1, 99), ("equal.rows.u4", 0, 1_000), ("trigrams.starts.u4", 1, 1 << 31)],
)
def test_numbers_that_lead_nowhere_are_refused(
    pack: Pack, index: NameIndex, tmp_path: Path, name: str, place: int, value: int
) -> None:
    folder = Path(shutil.copytree(index.folder, tmp_path / "index"))
    values = np.fromfile(folder / name, dtype="<u4")
    values[place] = value
    values.tofile(folder / name)
    with pytest.raises(PackError, match="was changed"):
        NameIndex.open(folder, pack)


@pytest.mark.parametrize("name", ["trigrams.rows.u4", "sorted.rows.u4"])
def test_a_name_that_there_is_not_is_refused_when_it_is_met(
    pack: Pack, index: NameIndex, tmp_path: Path, name: str
) -> None:
    folder = Path(shutil.copytree(index.folder, tmp_path / "index"))
    values = np.fromfile(folder / name, dtype="<u4")
    (values + 1_000).tofile(folder / name)
    with pytest.raises(PackError, match="was changed"):
        NameIndex.open(folder, pack)
    told = json.loads((folder / MANIFEST).read_text())
    told["files"][name]["sha256"] = file_facts(folder / name)[1]  # whoever wrote it was wrong
    (folder / MANIFEST).write_text(json.dumps(told))
    found = NameIndex.open(folder, pack)
    asked = [key("mamary disease", 2), key("breast male neoplasm", 2)]
    types = np.full(2, (1 << 63) - 1, dtype=np.uint64)
    with pytest.raises(PackError, match="was changed"):
        found.near(asked, types) if name == "trigrams.rows.u4" else found.in_any_order(asked)


def test_an_index_without_one_of_its_files_is_refused(
    pack: Pack, index: NameIndex, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(index.folder, tmp_path / "index"))
    told = json.loads((folder / MANIFEST).read_text())
    del told["files"]["trigrams.rows.u4"]
    (folder / MANIFEST).write_text(json.dumps(told))
    with pytest.raises(PackError, match="was changed"):
        NameIndex.open(folder, pack)


@pytest.mark.parametrize("name", ["trigrams.codes.u4", "keys.types.u8", "equal.starts.u4"])
def test_half_a_value_is_refused_though_the_manifest_says_so(
    pack: Pack, index: NameIndex, tmp_path: Path, name: str
) -> None:
    folder = Path(shutil.copytree(index.folder, tmp_path / "index"))
    content = (folder / name).read_bytes()[:-1]
    (folder / name).write_bytes(content)
    told = json.loads((folder / MANIFEST).read_text())
    told["files"][name]["size"] = len(content)
    (folder / MANIFEST).write_text(json.dumps(told))
    with pytest.raises(PackError, match="was changed"):
        NameIndex.open(folder, pack)
