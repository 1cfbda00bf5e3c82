"""Names in the page: why one is found, what a row changes in open documents, keep and undo, by keys
alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.serving.page.browsing import Opened, press, until
from tests.serving.page.test_safety import overflow
from tests.support.axe import violations

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
TEXT = {"id": "a", "text": "Lithium can cause tremor, or a shaky upset.", "mentions": []}


@pytest.mark.parametrize("width", [375, 1280])
def test_a_name_is_added_seen_kept_and_undone(
    opened: Opened, axe: str, width: int, tmp_path: Path
) -> None:
    page = opened(TEXT, width=width)
    page.locator("#text").click()
    press(page, "Shift+N")
    page.keyboard.type("shaky upset")
    press(page, "Enter")
    page.wait_for_selector("#names-action")
    assert "is not found in texts: no name of the pack has its key" in page.inner_text(
        "#names-about"
    )
    assert violations(page, axe) == []
    assert not overflow(page)

    page.locator("#names-try").focus()
    press(page, "Enter")
    page.wait_for_selector("#pick-free")
    page.fill("#pick-free", "tremor")
    page.wait_for_selector("[aria-label=Found] button")
    page.locator("[aria-label=Found] button").first.click()
    page.wait_for_selector("#names-count")
    assert "1 open document: 1 appears, 0 vanishes" in page.inner_text("#names-count")
    assert "or a [shaky upset]." in page.inner_text("#names-changes")
    assert violations(page, axe) == []
    assert not overflow(page)

    press(page, "Enter")  # the focus is on Keep
    assert "1 row kept" in page.inner_text("#names-rows")
    page.locator("#names-why").click()
    until(page, "document.getElementById('names-about').textContent.includes('is found in texts.')")
    with page.expect_download() as loading:
        page.click("#names-save")
    loading.value.save_as(tmp_path / "rules.tsv")
    header, row = (tmp_path / "rules.tsv").read_text().splitlines()
    assert header == "action\tsurface\tsource\tconcept\tcase\tnote"
    assert row.startswith("add\tshaky upset\t\tMESH:")
    page.click("#names-undo")
    until(page, "!document.getElementById('names-rows').textContent")


def test_a_name_is_silenced_and_the_change_discarded(opened: Opened) -> None:
    page = opened(TEXT)
    page.click("#names")
    page.fill("#names-name", "tremor")
    press(page, "Enter")
    page.wait_for_selector("#names-about .link")
    assert "is found in texts." in page.inner_text("#names-about")
    page.click("#names-try")
    page.wait_for_selector("#names-count")
    assert "1 vanishes" in page.inner_text("#names-count")
    page.click("#names-discard")
    assert page.inner_text("#names-changes") == ""
    assert page.inner_text("#names-rows") == ""


@pytest.mark.parametrize("width", [375, 1280])
def test_the_table_is_sorted_by_the_words_around(opened: Opened, axe: str, width: int) -> None:
    mentions = [
        {"spans": [[at, at + 7]], "type": "Chemical", "score": 0.5, "source": "m"} for at in (0, 21)
    ]
    text = "Aspirin was tested. \nAspirin and\nothers."
    page = opened({"id": "a", "text": text, "mentions": mentions}, width=width)
    press(page, "v")
    page.click("[data-column=around] button")
    rows = page.locator(".grid-row > :last-child")
    assert rows.all_inner_texts() == [
        "Aspirin was tested. [Aspirin] and others.",
        "[Aspirin] was tested. Aspirin and others.",
    ]
    assert violations(page, axe) == []
    assert not overflow(page)
