"""Five tasks of a curator, as somebody does them who sees the page for the first time: each in at
most six steps, by what the page shows.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from standing import Standing
from tests.serving.page.browsing import Opened, rest, until
from tests.serving.page.test_safety import overflow
from tests.support.axe import violations

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
    # a name that no other test keeps, as the service has what they keep
    (tmp_path / "a.txt").write_text("A wobbly turn was seen.", "utf-8")
    steps.click("Names")
    steps.write("Name", "wobbly turn")
    steps.click("Try on a folder…")
    steps.write("Another concept: the beginning of a name, or an identifier", "tremor")
    with steps.page.expect_file_chooser() as choosing:
        steps.click("Choose files…")
    choosing.value.set_files(tmp_path / "a.txt")
    steps.wait("A [wobbly turn] was seen.")
    until(steps.page, "document.activeElement.id === 'names-keep'")


@pytest.mark.parametrize("width", [375, 1280])
def test_a_file_that_cannot_be_read_blocks_no_other(
    opened: Opened, axe: str, width: int, tmp_path: Path
) -> None:
    (tmp_path / "letter.pdf").write_bytes(b"no pdf")
    (tmp_path / "brief.csv").write_text("Titel;Zusammenfassung\nEins;Aspirin hilft\n", "utf-8")
    (tmp_path / "a.txt").write_text("Aspirin is for pain.", "utf-8")
    page = opened(width=width, fails="422")
    page.set_input_files("input[aria-label='Files to annotate']", sorted(tmp_path.iterdir()))
    page.get_by_text("2 files could not be read").wait_for()
    table, letter = page.locator(".unreadable").all()
    assert "choose the format table and its column, such as Zusammenfassung" in table.inner_text()
    assert "fields=" not in table.inner_text()
    assert "damaged, or protected by a password" in letter.inner_text()
    assert violations(page, axe) == []
    assert not overflow(page)
    table.get_by_role("button", name="Read again").click()
    table.get_by_text("1 document read.").wait_for()
    page.get_by_role("button", name="Open 2 documents").click()
    page.wait_for_selector("#sheet .block", state="attached")
    assert page.locator(".doc").count() == 2


@pytest.mark.parametrize("annotated", [False, True])
def test_what_a_reader_repairs_and_drops_is_said(opened: Opened, annotated: bool) -> None:
    outside = {"start": 15, "end": 99, "label": "Disease", "text": "tremor"}
    moved = {"start": 1, "end": 6, "label": "Chemical", "text": "Lithium"}
    entities = [moved, outside] if annotated else [outside]
    record = {"id": "a", "text": "Lithium causes tremor", "entities": entities}
    content = f"{json.dumps(record)}\n{{broken\n".encode()
    page = opened()
    page.set_input_files(
        "input[aria-label='Files to annotate']",
        {"name": "mm.jsonl", "mimeType": "", "buffer": content},
    )
    page.wait_for_selector("#sheet .block", state="attached")
    rest(page)
    said = page.inner_text("#status")
    assert "1 document read, 1 not readable. mm.jsonl:2: not JSON" in said
    assert "at ((15, 99),) is not in a text of 21 characters" in said
    assert ("offsets kept" in said) == annotated


@pytest.mark.parametrize("at_second", [False, True])
def test_documents_stay_when_the_service_ends(
    opened: Opened, tmp_path: Path, at_second: bool
) -> None:
    (tmp_path / "a.txt").write_text("Aspirin is for pain.", "utf-8")
    (tmp_path / "b.csv").write_text("Titel;Zusammenfassung\nEins;Aspirin hilft\n", "utf-8")
    page = opened(fails="Failed to load resource")
    failing = "**/v1/read?name=b.csv" if at_second else "**/v1/formats"
    page.route(failing, lambda route: route.abort())
    page.set_input_files("input[aria-label='Files to annotate']", sorted(tmp_path.iterdir()))
    page.get_by_text("The service does not answer").wait_for()
    page.wait_for_selector("#sheet .block", state="attached")
    assert "Aspirin is for pain." in page.inner_text("#sheet")


@pytest.mark.parametrize(
    ("content", "query", "text"),
    [
        (b"Titel;Zusammenfassung\nEins;Aspirin\n", "name=a.csv&format=table&column=Titel", "Eins"),
        (b"Titel;Zusammenfassung\nEins;Aspirin\n", "name=a.csv&column=Titel", "Eins"),
        (gzip.compress(b"Titel;Z\nEins;Aspirin\n", mtime=0), "name=a.csv.gz&column=Titel", "Eins"),
        (b'{"Titel": "Zwei"}\n', "name=a.jsonl&column=Titel", "Zwei"),
        ("пример".encode("windows-1251"), "name=a.txt&encoding=windows-1251", "пример"),
    ],
)
def test_a_file_is_read_by_column_and_encoding(
    served: Standing, content: bytes, query: str, text: str
) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    (document,) = served.ask("POST", f"/v1/read?{query}", content, headers).json["documents"]
    assert document["text"] == text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("name=a.csv&format=table&column=Nope", "name the one with column=Zusammenfassung"),
        ("name=a.csv", "read it with format=table and column=Zusammenfassung"),
        ("name=a.txt&encoding=utf-99", "utf-99"),
        ("name=a.csv&fields=x", "there is no parameter"),
    ],
)
def test_wrong_columns_and_encodings_are_named(served: Standing, query: str, message: str) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    content = b"Titel;Zusammenfassung\nEins;Aspirin\n"
    reply = served.ask("POST", f"/v1/read?{query}", content, headers)
    assert reply.status == 422
    assert message in reply.json["detail"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt&column=x", b"Aspirin", "column=NAME is for files of the format records"),
        (
            "a.jsonl",
            b'{"text": "Aspirin", "spans": [{"begin": 0, "fin": 7, "label": "X"}]}\n',
            "does not read it; change the file, or convert it first with the command fascicle",
        ),
        (
            "a.tsv",
            b"text\tstart\tend\nAspirin\t0\t7\n",
            "one column, change the file, or convert it first with the command fascicle",
        ),
    ],
)
def test_advice_names_no_code(served: Standing, name: str, content: bytes, message: str) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    reply = served.ask("POST", f"/v1/read?name={name}", content, headers)
    assert reply.status == 422
    assert message in reply.json["detail"]
    assert "fields=" not in reply.json["detail"]
