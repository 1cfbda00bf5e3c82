"""Distinct concepts over many shards, against plain sets."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.axe import violations

from fascicle.pipeline.running.records import hash_concepts
from fascicle.pipeline.running.report import Distinct
from fascicle.verbs.tasks.run import run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

KINDS = st.sampled_from(["Chemical", "Disease"])
SHARDS = st.lists(
    st.dictionaries(
        KINDS, st.lists(st.integers(0, 40).map("MESH:D{}".format), min_size=1, max_size=30)
    )
)


@given(shards=SHARDS, together=st.integers(1, 50))
def test_the_count_is_that_of_plain_sets(shards: list[dict[str, list[str]]], together: int) -> None:
    naive: defaultdict[str, set[str]] = defaultdict(set)
    distinct = Distinct(together=together)
    for shard in shards:
        for kind, identifiers in shard.items():
            naive[kind].update(identifiers)
        distinct.add({kind: hash_concepts(identifiers) for kind, identifiers in shard.items()})
    assert distinct.counts() == {kind: len(found) for kind, found in sorted(naive.items())}
    assert distinct.counts() == distinct.counts()


def test_many_concepts_have_many_hashes() -> None:
    distinct, count = Distinct(together=1_000), 20_000
    for shard in range(0, count, 500):  # half of each shard was in the one before
        distinct.add(
            {
                "Gene": hash_concepts(
                    f"NCBIGene:{at}" for at in range(shard, min(shard + 1_000, count))
                )
            }
        )
    assert distinct.counts() == {"Gene": count}
    assert hash_concepts(["b", "a", "b"]) == hash_concepts(["a", "b"])
    assert len(hash_concepts(["a", "b"])) == 16
    with pytest.raises(AttributeError):
        hash_concepts([1])  # type: ignore[list-item]


@pytest.fixture
def report_page(tmp_path: Path) -> Path:
    """The page of a run that found a name and a very long word."""
    texts, names = tmp_path / "texts", tmp_path / "names.tsv"
    texts.mkdir()
    (texts / f"{'long' * 20}.txt").write_text(
        f"Lung cancer and {'long' * 20} syndrome.", encoding="utf-8"
    )
    names.write_text(f"Disease\tlung cancer\nDisease\t{'long' * 20} syndrome\n", encoding="utf-8")
    pipeline = (
        'name = "mine"\n[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n'
    )
    (tmp_path / "pipeline.toml").write_text(pipeline, encoding="utf-8")
    run(str(texts), tmp_path / "run", pipeline=tmp_path / "pipeline.toml")
    return tmp_path / "run" / "report.html"


def test_the_page_has_one_main_part_and_no_empty_header(report_page: Path) -> None:
    found = report_page.read_text(encoding="utf-8")
    assert found.count("<main>") == 1
    assert '<th class="w">mentions</th>' in found
    assert "<th></th>" not in found


def test_words_of_cells_break_only_where_they_are_long(report_page: Path) -> None:
    page = report_page.read_text(encoding="utf-8")
    assert ".w{overflow-wrap:normal}" in page
    wide = [
        words
        for shape, words in re.findall(r"<td( class=.w.)?>(?:<bdi>)?([^<]*)", page)
        if not shape
    ]
    assert wide
    assert all(max(map(len, words.split())) > 30 for words in wide)


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [375, 1280])
def test_axe_finds_nothing_in_the_page(
    report_page: Path, browser: Browser, axe: str, width: int, dark: bool
) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
    )
    page.goto(report_page.as_uri())
    assert violations(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.close()
