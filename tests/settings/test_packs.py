"""The file of sources: what it says, and what is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.errors import RecipeError
from fascicle.settings.packs import read_pack_settings

GOOD = """
name = "basic@1"
curation = ["rules.tsv"]
[sources.gene]
path = "$HERE/genes.gz"
reader = "gene_info"
type = "Gene"
date = 2019-04-01
[sources.own]
path = "own.tsv"
reader = "table"
date = "2024-05"
columns = { id = "id", label = ["name"] }
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sources.toml"
    path.write_text(text)
    return path


def test_paths_and_dates_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "/data")
    settings = read_pack_settings(written(tmp_path, GOOD))
    assert settings.sources["gene"].path == "/data/genes.gz"
    assert settings.sources["own"].path == str(tmp_path / "own.tsv")
    assert settings.curation == (str(tmp_path / "rules.tsv"),)
    assert (settings.sources["gene"].date, settings.sources["own"].date) == (
        "2019-04-01",
        "2024-05",
    )


@pytest.mark.parametrize("date", ["2024", '"2024"'])
def test_a_year_may_be_a_number(tmp_path: Path, date: str) -> None:
    settings = read_pack_settings(
        written(tmp_path, GOOD.replace('"2024-05"', date).replace("$HERE/", ""))
    )
    assert settings.sources["own"].date == "2024"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('reader = "table"', 'raeder = "table"', "sources.own.raeder"),
        ("curation", "curaton", "curaton"),
        ('name = "basic@1"', 'name = "../x"', "name"),
        ('"2024-05"', '"May"', "sources.own.date"),
        ('id = "id"', "id = 0", "sources.own.columns"),
        ("[sources.own]", "[sources]\nown = 1\n[sources.other]", "sources.own"),
        ('type = "Gene"', "min_length = 0", "sources.gene.min_length"),
        ('type = "Gene"', "min_length = 9\nmax_length = 8", "sources.gene"),
        ('type = "Gene"', 'kinds = ["lable"]', "sources.gene.kinds[0]"),
        ('type = "Gene"', 'branches = ["C"]', "sources.gene"),
        ('type = "Gene"', 'type = "Gene"\nadds = true', "sources.gene"),
        ("$HERE", "$NOWHERE", "sources.gene.path"),
        ('reader = "gene_info"', "", "sources.gene"),
        ('type = "Gene"', 'type = "Gene\\tX"', "sources.gene"),
        ('type = "Gene"', 'types = { a = "Gene\\n" }', "sources.gene"),
        ("[sources.own]", '[sources."o\\twn"]', "sources"),
        ('"2024-05"', '"2024-13"', "sources.own"),
        ('"2024-05"', "2024-05-01T00:00:00Z", "sources.own.date"),
    ],
)
def test_mistakes_are_one_sentence_with_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, key: str
) -> None:
    monkeypatch.setenv("HERE", "/data")
    monkeypatch.delenv("NOWHERE", raising=False)
    if new.startswith("[sources]"):
        text = 'name = "x"\n[sources]\nown = 1\n'
    else:
        assert old in GOOD
        text = GOOD.replace(old, new, 1)
    with pytest.raises(RecipeError) as error:
        read_pack_settings(written(tmp_path, text))
    assert error.value.key == key
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", 'name = "x"', 'name = "x"\nsources = 1', "name ="])
def test_a_file_without_sources_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(RecipeError):
        read_pack_settings(written(tmp_path, text))
