"""Distinct concepts over many shards, against plain sets."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.html_reader import HtmlReader
from tests.evaluation.made_reports import rich_report
from tests.support.axe import violations
from tests.support.words import broken_words

from fascicle.evaluation.reports.page.page import page as evaluation_page
from fascicle.pipeline.running.records import hash_concepts
from fascicle.pipeline.running.report import Distinct, Suspect, Totals
from fascicle.pipeline.running.report import _page as page_of
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


LONG = "long" * 20


@pytest.fixture
def report_page(tmp_path: Path) -> Path:
    """The page of a run that found names of a long type, and a very long word."""
    texts, names = tmp_path / "texts", tmp_path / "names.tsv"
    texts.mkdir()
    (texts / f"{LONG}.txt").write_text(f"Lung cancer and {LONG} syndrome.", encoding="utf-8")
    names.write_text(
        f"Disease\tlung cancer\nCellularComponentOrganization\tcancer\nDisease\t{LONG} syndrome\n",
        encoding="utf-8",
    )
    pipeline = (
        'name = "mine"\n[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n'
    )
    (tmp_path / "pipeline.toml").write_text(pipeline, encoding="utf-8")
    run(str(texts), tmp_path / "run", pipeline=tmp_path / "pipeline.toml")
    return tmp_path / "run" / "report.html"


def test_every_table_is_a_section_of_the_contents(report_page: Path) -> None:
    page = report_page.read_text(encoding="utf-8")
    reader = HtmlReader(page)
    assert reader.open_at_end == []
    assert reader.tags["main"] == reader.tags["script"] == 1
    sections = [value for tag, name, value in reader.attributes if (tag, name) == ("section", "id")]
    links = [value for tag, name, value in reader.attributes if (tag, name) == ("a", "href")]
    assert links == [f"#{anchor}" for anchor in (sections[0], *sections)]
    assert {"account", "shards-with-odd-counts", "origins-of-the-links"} <= set(sections)
    assert reader.tables["Account"][:2] == [["what", "number"], ["documents", "1"]]
    assert reader.tables["Slowest documents"][1][0] == f"{LONG}.txt"[:80]
    assert page.count('<p class="nothing">None.</p>') == len(sections) - len(reader.tables)
    assert '<td class="number" data-label="number">1</td>' in page


def test_notes_and_odd_shards_have_their_text_at_the_left() -> None:
    shard = Suspect(shard="s1", last="s2", type="a/Gene", mentions=0, expected=1234.5)
    totals = empty_totals(suspects=(shard,), events=(("repair", "overlap", 1000, "d1: <b>"),))
    reader = HtmlReader(page_of(totals))
    assert reader.tables == {
        "Account": reader.tables["Account"],
        "Notes about documents": [
            ["kind", "code", "first", "number"],
            ["repair", "overlap", "d1: <b>", "1,000"],
        ],
        "Shards with odd counts": [
            ["first shard", "last shard", "source/type", "mentions", "expected"],
            ["s1", "s2", "a/Gene", "0", "1,234.5"],
        ],
    }


def empty_totals(**values: Any) -> Totals:
    """Totals of a run without documents, except these values."""
    names = ("documents", "done", "quarantined", "characters", "seconds", "shards")
    maps = ("steps", "mentions", "reasons", "losses", "names", "links", "concepts")
    lists = ("events", "suspects", "slowest", "origins", "parts")
    empty: dict[str, Any] = {name: {} for name in maps}
    empty |= dict.fromkeys(names, 0) | dict.fromkeys(lists, ())
    return Totals(**empty | values)


def test_the_style_and_the_policy_are_those_of_an_evaluation() -> None:
    shared = re.compile(r"<style>.*?</style>|<meta [^>]*>|<script>.*?</script>", re.DOTALL)
    parts = shared.findall(page_of(empty_totals()))
    assert len(parts) == 5
    assert parts == shared.findall(evaluation_page(rich_report(systems=1)))


@pytest.mark.slow
def test_no_short_word_is_broken(report_page: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(report_page.as_uri())
    assert broken_words(page) == []
    assert broken_words(page, longest=100) != []
    page.close()


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
