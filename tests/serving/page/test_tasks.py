"""Five tasks of a curator, as somebody does them who sees the page for the first time: each in at
most six steps, by what the page shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.serving.page.browsing import Opened, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
TEXT = "Aspirin helped. Caffeine did not help against a shaky upset, nor did Aspirin help for pain."
MOST = 6  # steps


class Steps:
    """Steps of a user, who finds everything by its visible words."""

    def __init__(self, page: Page) -> None:
        self.page, self.count = page, 0

    def click(self, words: str) -> None:
        self.count += 1
        self.page.get_by_role("button", name=words, exact=True).last.click()

    def write(self, label: str, words: str) -> None:
        self.count += 1
        self.page.get_by_label(label, exact=True).last.fill(words)
        self.page.keyboard.press("Enter")

    def wait(self, words: str) -> None:
        """Waits until the page shows some words."""
        self.page.get_by_text(words).last.wait_for()


@pytest.fixture
def steps(opened: Opened) -> Iterator[Steps]:
    """The first page, on which a text was pasted and annotated; the task begins then."""
    page = opened()
    page.fill("#given", TEXT)
    page.click("#annotate")
    page.wait_for_selector("#sheet .block", state="attached")
    given = Steps(page)
    yield given
    assert given.count <= MOST


def test_mentions_are_sorted_by_the_words_around_them(steps: Steps) -> None:
    steps.click("Table")
    steps.click("Words around")
    rows = steps.page.locator(".grid-row > :last-child .behind").all_text_contents()
    assert [row.partition("] ")[2] for row in rows] == sorted(
        row.partition("] ")[2] for row in rows
    )
    first = steps.page.locator(".around .behind").first.bounding_box()
    cell = steps.page.locator(".around").first.bounding_box()
    assert first is not None
    assert cell is not None
    assert first["x"] < cell["x"] + cell["width"] / 2  # the mention is in sight


def test_a_colleague_gets_a_spreadsheet(steps: Steps, tmp_path: Path) -> None:
    steps.click("Export")
    with steps.page.expect_download() as loading:
        steps.click("Mentions as a spreadsheet")
    loading.value.save_as(tmp_path / "mentions.xlsx")
    assert loading.value.suggested_filename == "documents.xlsx"
    assert len(sheet(tmp_path / "mentions.xlsx")) > 3


def sheet(path: Path) -> list[Any]:
    from openpyxl import load_workbook

    return list(load_workbook(path).active.iter_rows(values_only=True))


def test_a_colleague_gets_the_decisions(steps: Steps, tmp_path: Path) -> None:
    steps.click("Curate")
    steps.write("Your name, kept with each decision", "Ada")
    steps.wait("You curate as Ada")
    steps.click("Export")
    with steps.page.expect_download() as loading:
        steps.click("Every decision as a spreadsheet")
    loading.value.save_as(tmp_path / "decisions.xlsx")
    assert "open" in {cell for row in sheet(tmp_path / "decisions.xlsx") for cell in row}


def test_a_name_that_is_missed_is_explained(steps: Steps) -> None:
    steps.click("Names")
    steps.write("Name", "shaky upset")
    steps.wait("is not found by its name: no name of the pack is spelled like it")


def test_a_name_is_added(steps: Steps) -> None:
    steps.click("Names")
    steps.write("Name", "shaky upset")
    steps.click("Show what changes")
    steps.write("Another concept: the beginning of a name, or an identifier", "tremor")
    steps.wait("1 open document: 1 appears")
    steps.click("Keep")
    steps.write("Your name, kept with each decision", "Ada")
    steps.wait("1 row kept")


def test_it_is_seen_what_a_name_changes(steps: Steps, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A shaky upset was seen.", "utf-8")
    steps.click("Names")
    steps.write("Name", "shaky upset")
    steps.click("Try on a folder…")
    steps.write("Another concept: the beginning of a name, or an identifier", "tremor")
    with steps.page.expect_file_chooser() as choosing:
        steps.click("Choose files…")
    choosing.value.set_files(tmp_path / "a.txt")
    steps.wait("A [shaky upset] was seen.")
    until(steps.page, "document.activeElement.id === 'names-keep'")
