"""The lists of sources in packs/: every setting fits, and what is shipped may be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fascicle.core.type_names import read_vocabulary
from fascicle.settings.packs import PackSettings, read_pack_settings
from fascicle.terms.curation import read_rules
from fascicle.terms.sources.reading import READERS, check_source

PACKS = Path(__file__).resolve().parents[3] / "packs"
OPEN = re.compile(r"CC0-1\.0|CC-BY-[34]\.0|NCBI-PD|public domain|NLM terms for MeSH.*")


@pytest.fixture(params=["basic", "biomed"])
def pack(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> PackSettings:
    monkeypatch.setenv("FASCICLE_DATA", "/data")
    monkeypatch.setenv("FASCICLE_FRESH", "/data/fresh")
    return read_pack_settings(PACKS / f"{request.param}.toml")


def test_every_source_fits_its_reader_and_says_whose_it_is(pack: PackSettings) -> None:
    types = read_vocabulary().types
    for source in pack.sources.values():
        check_source(source)
        assert source.licence
        assert source.attribution
        assert source.sha256
        assert bool(source.hierarchy) == bool(source.hierarchy_sha256)
        assert source.type in ("", *types)
        assert source.path.startswith(("/data/", str(PACKS)))


def test_only_open_sources_are_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/data")
    monkeypatch.setenv("FASCICLE_FRESH", "/data/fresh")
    for name, source in read_pack_settings(PACKS / "basic.toml").sources.items():
        assert OPEN.fullmatch(source.licence), name
        assert not re.search("bysa|medic|hpo|drugcentral|pharmgkb", source.path), name
        if "biolexica" in source.path:  # which mixes sources of several licences
            assert source.keep, name
            assert source.table.where or source.table.unless, name


def test_the_page_names_every_reader() -> None:
    page = (PACKS.parent / "docs" / "how-to-build-a-pack.md").read_text(encoding="utf-8")
    cells = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    assert {name for cell in cells for name in re.findall("`(\\w+)`", cell)} >= set(READERS)


def test_the_settings_on_the_page_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOCABULARIES", "/data")
    page = (PACKS.parent / "docs" / "how-to-build-a-pack.md").read_text(encoding="utf-8")
    first, umls = re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    for number, text in enumerate((first, umls)):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        for source in read_pack_settings(path).sources.values():
            check_source(source)
    (rules,) = re.findall(r"^```text\n(action.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "rules.tsv").write_text(rules)
    assert [rule.action for rule in read_rules([str(tmp_path / "rules.tsv")])].count("drop") == 1


def test_names_as_people_write_them_have_a_type_and_a_source() -> None:
    lines = (PACKS / "basic-names.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    assert rows[0] == ["id", "name", "kind", "type", "source"]
    assert all(len(row) == 5 and all(row) for row in rows)
    assert len({(row[0], row[1]) for row in rows}) == len(rows)
    short = [row for row in rows if row[3] == "Disease" and row[2] == "abbreviation"]
    assert len(short) >= 130


def test_a_surface_has_one_preferred_meaning_of_each_type() -> None:
    rules = read_rules([str(PACKS / "basic-meanings.tsv")])
    assert {rule.action for rule in rules} == {"prefer", "ner_off"}
    surfaces = [
        (rule.surface, rule.concept.partition(":")[0]) for rule in rules if rule.action == "prefer"
    ]
    assert len(set(surfaces)) == len(surfaces)
