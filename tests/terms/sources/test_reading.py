"""What is common to all sources: filters, types, hashes, limits of names."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import FormatError, InputError, Place, RecipeError
from fascicle.settings.packs import SourceSettings, read_pack_settings
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack
from fascicle.terms.sources.drafts import SourceReport, clean_name
from fascicle.terms.sources.reading import (
    READERS,
    check_hash,
    find_reader,
    make_name_filter,
    read_sources,
)
from fascicle.terms.terms import Name
from fascicle.verbs.tasks.index_build import build_pack

TREE = """[Term]
id: A:1
name: root
[Term]
id: A:2
name: inner
is_a: A:1
[Term]
id: A:3
name: leaf
is_a: A:2
is_a: A:3
[Term]
id: B:4
name: other
is_a: B:5
[Term]
id: B:5
name: cycle
is_a: B:4
"""


@pytest.mark.parametrize(
    ("settings", "kept", "lost"),
    [
        ({"below": ["A:2"]}, {"A:2", "A:3"}, {"below": 3}),
        ({"below": ["B:4"]}, {"B:4", "B:5"}, {"below": 3}),
        ({"not_below": ["A:2"]}, {"A:1", "B:4", "B:5"}, {"below": 2}),
        ({"below": ["A:1"], "not_below": ["A:3"]}, {"A:1", "A:2"}, {"below": 3}),
        ({"keep": ["A:"]}, {"A:1", "A:2", "A:3"}, {"prefix": 2}),
        ({"drop": ["A:", "B:5"]}, {"B:4"}, {"prefix": 4}),
    ],
)
def test_concepts_are_filtered(
    read: Callable[..., Any], settings: dict[str, Any], kept: set[str], lost: dict[str, int]
) -> None:
    found = read(TREE, "obo", **settings)
    assert {record.curie for record in found.records} == kept
    assert found.losses() == lost


def test_names_are_filtered(read: Callable[..., Any]) -> None:
    text = "id\tname\tkind\tlang\na:1\tx\tlabel\ten\na:1\txyzzy\texact\tde\na:1\txyz\trelated\ten\na:1\txyzz\texact\tEN\n"
    columns = {"id": "id", "name": "name", "kind": "kind", "language": "lang"}
    found = read(
        text,
        "table",
        columns=columns,
        min_length=2,
        max_length=4,
        kinds=["label", "exact"],
        languages=["en"],
    )
    assert found["a:1"].names == (Name("xyzz"),)
    assert found.losses() == {"too-short": 1, "too-long": 1, "kind": 1}
    found = read(text, "table", columns=columns, languages=["de"])
    assert found["a:1"].names == (Name("xyzzy", "exact", "de"),)


UNFIT = """id\tname\tkind
a:1\tdiabetes mellitus, type 2\tlabel
a:1\ttype 2 diabetes mellitus\texact
a:1\tdiabetes, adult-onset\texact
a:1\tβ-cell failure of the late adult\texact
a:2\tAbnormalities, Severe\tlabel
a:2\tx, y\texact
a:3\tIL-2\tlabel
"""
UNFIT_COLUMNS = {"id": "id", "name": "name", "kind": "kind"}


def test_names_that_no_text_has_are_left_out_but_for_labels_of_others(
    read: Callable[..., Any],
) -> None:
    found = read(UNFIT, "table", columns=UNFIT_COLUMNS, without=[", ", "^LOC"], max_tokens=4)
    assert found.names("a:1") == {
        "diabetes mellitus, type 2": "label",
        "type 2 diabetes mellitus": "exact",
    }
    assert [record.curie for record in found.records] == ["a:1", "a:3"]
    assert found.losses() == {"without": 2, "tokens": 1, "few-names": 1}
    assert found.names("a:3") == {"IL-2": "label"}
    assert not read(UNFIT, "table", columns=UNFIT_COLUMNS, max_tokens=1).records
    found = read(UNFIT, "table", columns=UNFIT_COLUMNS, max_tokens=3, min_names=2)
    assert [record.curie for record in found.records] == ["a:2"]
    assert (
        len(read(UNFIT, "table", columns=UNFIT_COLUMNS, without=["d.*e"], min_names=2).records) == 1
    )


def test_obsolete_concepts_are_left_out_if_they_are_not_wanted(read: Callable[..., Any]) -> None:
    text = (
        "[Term]\nid: A:1\nname: old\nis_obsolete: true\n\n[Term]\nid: A:2\nname: new\nalt_id: A:3\n"
    )
    assert [record.curie for record in read(text, "obo").records] == ["A:1", "A:2", "A:3"]
    found = read(text, "obo", obsolete=False)
    assert [record.curie for record in found.records] == ["A:2"]
    assert found.losses() == {"obsolete": 2}


@given(surface=st.text(min_size=1, max_size=12), most=st.integers(min_value=1, max_value=8))
def test_tokens_are_those_of_the_key(surface: str, most: int) -> None:
    report = SourceReport()
    settings = SourceSettings(path="x", reader="table", max_tokens=most)
    fit = make_name_filter(settings)([Name(surface)], report, Place("x"))
    assert bool(fit) == (len(key(surface, 2).split(" ")) <= most)
    assert report.losses == ({} if fit else {"tokens": 1})


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "(" * 5_000 + ")" * 5_000])
def test_a_pattern_that_is_none_is_refused(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(
        f'name = "p"\n[sources.a]\npath = "x"\nreader = "pairs"\nwithout = ["{pattern}"]\n'
    )
    with pytest.raises(RecipeError, match="not a regular expression"):
        read_pack_settings(path)


def test_a_pattern_without_end_is_refused(
    read: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fascicle.terms.sources.reading._SECONDS", 0.2)
    text = f"id\tname\tkind\na:1\t{'a' * 200}b\texact\n"
    with pytest.raises(InputError, match=r"a:1.*without"):
        read(text, "table", columns=UNFIT_COLUMNS, without=["(a+)+$"])


def test_species_are_filtered(read: Callable[..., Any]) -> None:
    text = "id\tname\ttax\na:1\tx\t9606\na:2\ty\t10090\na:3\tz\t\n"
    found = read(
        text, "table", columns={"id": "id", "name": "name", "taxon": "tax"}, taxa=["NCBITaxon:9606"]
    )
    assert [record.curie for record in found.records] == ["a:1", "a:3"]


def test_genes_of_one_species_get_it(read: Callable[..., Any]) -> None:
    text = "id\tname\ttax\na:1\tx\t9606\na:2\ty\t\n"
    found = read(
        text, "table", columns={"id": "id", "name": "name", "taxon": "tax"}, taxon="NCBITaxon:10116"
    )
    assert [record.taxon for record in found.records] == ["NCBITaxon:9606", "NCBITaxon:10116"]


def test_records_of_few_names_are_left_out(read: Callable[..., Any]) -> None:
    text = "HeLa\tCVCL_0030\nHela\tCVCL_0030\nGM1\tCVCL_0001\n"
    found = read(text, "pairs", min_names=2)
    assert {record.curie for record in found.records} == {"cellosaurus:CVCL_0030"}
    assert found.losses() == {"few-names": 1}


def test_references_and_definitions_are_filtered(read: Callable[..., Any]) -> None:
    text = '[Term]\nid: A:1\nname: x\ndef: "y" []\nxref: MESH:D000001\nxref: OMIM:100000\n'
    assert [c.curie for c in read(text, "obo")["A:1"].references] == ["MESH:D000001", "OMIM:100000"]
    assert [c.curie for c in read(text, "obo", references=["MESH:"])["A:1"].references] == [
        "MESH:D000001"
    ]
    bare = read(text, "obo", references=[], definitions=False)["A:1"]
    assert (bare.references, bare.definition) == ((), "")


def test_gzip_is_unpacked_and_damage_is_told(read: Callable[..., Any]) -> None:
    packed = gzip.compress(TREE.encode())
    assert read(packed, "obo")["A:1"].names == (Name("root", "label"),)
    with pytest.raises(FormatError, match="cut off"):
        read(packed[:-9], "obo")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"reader": "oboe"}, "did you mean 'obo'"),
        ({"type": "gene"}, "Gene"),
        ({"type": "CL"}, "CellType"),
        ({"below": ["mesh:D1"]}, "CURIE"),
        ({"taxon": "10116"}, "CURIE"),
        ({"below": ["mesh:D000001"]}, "MESH:D000001"),
        ({"columns": {"id": 0}}, "columns"),
        ({"hierarchy": "x"}, "hierarchy"),
        ({"reader": "mesh_names", "branches": ["C"]}, "tree numbers"),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    read: Callable[..., Any], settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(RecipeError, match=said):
        read(TREE, **{"reader": "obo", **settings})


def test_a_type_of_ones_own_is_allowed(read: Callable[..., Any]) -> None:
    assert read(TREE, "obo", type="Instrument").records[0].type == "Instrument"


def test_the_hash_is_checked(read: Callable[..., Any], tmp_path: Path) -> None:
    right = hashlib.sha256(TREE.encode()).hexdigest()
    assert len(read(TREE, "obo", sha256=right).records) == 5
    with pytest.raises(FormatError, match="SHA-256"):
        read(TREE, "obo", sha256="0" * 64)
    with pytest.raises(InputError):
        check_hash(str(tmp_path / "nothing"), "")


def test_several_sources_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "a.obo").write_text(TREE)
    (tmp_path / "b.tsv").write_text("water\tCHEBI:15377\n")
    file = tmp_path / "sources.toml"
    text = (
        'name = "x"\n[sources.z]\npath = "a.obo"\nreader = "obo"\n[sources.a]\npath = '
        '"b.tsv"\nreader = "pairs"\n'
    )
    file.write_text(text)
    reports: dict[str, SourceReport] = {}
    found = list(read_sources(read_pack_settings(file), reports=reports))
    assert [name for name, _ in found] == ["z"] * 5 + ["a"]
    assert reports["z"].records == 5
    file.write_text(text.replace('"pairs"', '"pears"'))
    with pytest.raises(RecipeError, match=r"sources\.a: .*'pairs'"):
        next(read_sources(read_pack_settings(file)))


def test_every_row_of_the_catalogue_says_what_it_reads() -> None:
    assert all(find_reader(name).name == name and READERS[name].means for name in READERS)


@given(st.text(max_size=12))
def test_cleaned_names_stay_as_they_are(text: str) -> None:
    found = clean_name(text)
    assert clean_name(found) == found
    assert found == found.strip()
    assert "\n" not in found
    if any(sign.isalnum() for sign in text) and text.isprintable():
        assert found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (" a\u00a0b\t c ", "a b c"),
        ("a\x00b", ""),
        ("\u0301", ""),
        (" ", ""),
        ("β", "β"),
        ("5-HT₂", "5-HT₂"),
        ("a\ud800", ""),
    ],
)
def test_names_are_cleaned(text: str, wanted: str) -> None:
    assert clean_name(text) == wanted


def test_a_source_may_only_say_which_name_is_shown(tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text(
        "boy\t9606\nHomo sapiens\t9606\nrat\t10116\n", encoding="utf-8"
    )
    taxa = '[Term]\nid: NCBITaxon:9606\nname: Homo sapiens\nsynonym: "man" EXACT []\n'
    taxa += "[Term]\nid: NCBITaxon:10116\nname: Rattus norvegicus\nis_a: NCBITaxon:9606\n"
    (tmp_path / "taxa.obo").write_text(taxa, encoding="utf-8")
    (tmp_path / "sources.toml").write_text(
        'name = "t@1"\n[sources.a]\npath = "names.tsv"\nreader = "pairs"\ntype = '
        '"Species"\nprefix = "NCBITaxon"\n'
        '[sources.b]\npath = "taxa.obo"\nreader = "obo"\ntype = "Species"\nshows = true\n',
        encoding="utf-8",
    )
    build_pack(tmp_path / "sources.toml", output=tmp_path / "pack")
    pack = Pack.open(tmp_path / "pack")
    assert pack.concept("NCBITaxon:9606").label == "Homo sapiens"
    assert pack.concept("NCBITaxon:10116").label == "rat"  # a source that shows adds no name
    assert not list(pack.rows(["man", "rattus norvegicus"])[1])
    assert pack.parents("NCBITaxon:10116") == ("NCBITaxon:9606",)


@pytest.mark.parametrize("path", ["pipe", "/dev/zero"])
def test_what_can_be_read_without_end_is_no_source(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="into a file"):
        check_hash(str(tmp_path / path), "")
