"""``fascicle linker`` and ``fascicle link``: links are fitted, written and explained, and bad use is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.linking import build_pack, corpus

import fascicle
from fascicle.formats.outputs import write

Cli = Callable[..., Any]
Refused = Callable[..., str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home")
    build_pack(place / "pack")
    write(place / "gold.jsonl", corpus())
    bare = [one.text for one in corpus(2)]
    lines = [
        f"{number}|t|{text}\n{number}|a|\n{number}\t{text.index('AT')}\t{text.index('AT') + 2}\tAT\tSpecificDisease\n"
        for number, text in enumerate(bare)
    ]
    (place / "mentions.pubtator").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def linker(home: Path) -> Path:
    from fascicle.tasks.linker_fit import fit_folder

    fit_folder(home / "pack", home / "linker", documents=fascicle.read(home / "gold.jsonl"))
    return home / "linker"


def test_fit_says_what_tiers_are_worth(home: Path, linker: Path, tmp_path: Path, cli: Cli, refused: Refused) -> None:
    asked = ("linker", "fit", home / "pack", "--corpus", home / "gold.jsonl", "-o", tmp_path / "linker")
    done = cli(*asked, "--index-of", linker)
    assert done.code == 0
    assert "Disease: 120 mentions" in done.out
    assert (tmp_path / "linker" / "linker.json").read_bytes() == (linker / "linker.json").read_bytes()
    assert "--overwrite" in refused(*asked)
    found = json.loads(cli(*asked, "--overwrite", "--json").out)
    assert found["rankers"]["Disease"]["vocabularies"] == ["MESH"]


def test_links_are_written(home: Path, linker: Path, tmp_path: Path, cli: Cli) -> None:
    files = ("--pack", home / "pack", "--linker", linker)
    done = cli("link", home / "mentions.pubtator", *files, "-o", tmp_path / "linked.jsonl")
    assert done.code == 0, done.err
    found = [link for one in fascicle.read(tmp_path / "linked.jsonl") for each in one.mentions for link in each.links]
    assert [(link.curie, link.tier) for link in found] == [("MESH:D3", "exact")] * 2
    assert all(link.score is not None and link.score > 0.5 for link in found)
    again = list(fascicle.link(fascicle.read(home / "mentions.pubtator"), linker=linker, pack=home / "pack"))
    assert [link for one in again for each in one.mentions for link in each.links] == found


def test_another_ontology_is_nil_without_a_reference(home: Path, linker: Path, cli: Cli, refused: Refused) -> None:
    files = (home / "mentions.pubtator", "--pack", home / "pack", "--linker", linker)
    done = cli("link", *files, "--ontology", "DOID")
    assert done.code == 0
    (link,) = json.loads(done.out.splitlines()[0])["mentions"][0]["links"]
    assert link["nil"]
    assert "DOIT" in refused("link", *files, "--ontology", "DOIT")


def test_why_shows_candidates_and_weights(home: Path, linker: Path, cli: Cli, refused: Refused) -> None:
    files = (home / "mentions.pubtator", "--pack", home / "pack", "--linker", linker)
    done = cli("link", *files, "--why")
    assert done.code == 0
    assert done.out.index("MESH:D3") < done.out.index("MESH:D4")
    first = json.loads(cli("link", *files, "--why", "--json-lines").out.splitlines()[0])
    assert [one["curie"] for one in first["candidates"]] == ["MESH:D3", "MESH:D4"]
    assert sum(one["probability"] for one in first["candidates"]) + first["nil"] == pytest.approx(1)
    assert "--why" in refused("link", *files, "--why", "--ontology", "DOID")


def test_without_texts_the_order_of_tiers_decides(home: Path, tmp_path: Path, cli: Cli) -> None:
    done = cli("linker", "fit", home / "pack", "-o", tmp_path / "linker")
    assert done.code == 0
    assert "order of tiers" in done.out
    done = cli("link", home / "mentions.pubtator", "--pack", home / "pack", "--linker", tmp_path / "linker")
    (link,) = json.loads(done.out.splitlines()[0])["mentions"][0]["links"]
    assert "score" not in link
    assert link["curie"] in ("MESH:D3", "MESH:D4")


def test_bad_use_is_refused(home: Path, linker: Path, tmp_path: Path, refused: Refused) -> None:
    assert "fit" in refused("linker")
    assert "linker" in refused("link", home / "mentions.pubtator", "--pack", home / "pack", "--linker", tmp_path)
    assert "pack" in refused("link", home / "mentions.pubtator", "--pack", linker, "--linker", linker)
    few = tmp_path / "few.jsonl"
    write(few, corpus(2))
    assert "20 mentions" in refused("linker", "fit", home / "pack", "--corpus", few, "-o", tmp_path / "linker")
    assert [path.name for path in tmp_path.iterdir()] == ["few.jsonl"]
