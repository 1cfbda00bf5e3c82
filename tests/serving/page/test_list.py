"""The list of documents: a page at a time, searched, filtered; and its state in the address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from standing import Standing, standing
from tests.serving.page.browsing import Opened, load, opener, press, saved, steps, tally, until

from fascicle.serving.server import PipelineOpener
from fascicle.settings.choices import Choices
from fascicle.settings.serving import ServeSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
COUNT = 230
TYPE = """((words) => {
    const field = document.getElementById('find');
    field.value = words;
    field.dispatchEvent(new Event('input'));
})"""
CHANGE = """((name) => {
    const field = document.getElementById('order');
    field.value = name;
    field.dispatchEvent(new Event('change'));
})"""
OPEN = """((name) => {
    const found = [...document.querySelectorAll('.doc')].find((one) => one.textContent.startsWith(name));
    found.focus();
    found.click();
})"""


def paper(number: int) -> dict[str, Any]:
    mention = {"spans": [[0, 7]], "type": "Chemical", "score": 0.5 + number / 1_000, "source": "m"}
    return {
        "id": f"paper {number:03}",
        "text": f"Aspirin in trial {number}x.",
        "mentions": [mention],
    }


@pytest.fixture
def shelf(small: Path, tmp_path: Path) -> Iterator[Standing]:
    """A service with many documents to curate, for one test: tests finish documents, and run in
    any order.
    """
    settings = ServeSettings(curation=str(tmp_path / "decisions.sqlite"))
    with standing(
        {"small": PipelineOpener(given=str(small), choices=Choices(links=False))}, settings
    ) as service:
        pasted = {
            "id": "text-abc-1",
            "text": "A pasted text about aspirin.\nIts second line.",
            "mentions": [],
        }
        given = [pasted, *map(paper, range(COUNT))]
        for begin in range(0, len(given), 50):
            body = {"documents": given[begin : begin + 50], "who": "Ada"}
            assert service.ask("POST", "/v1/curation/documents", body).status == 200
        yield service


@pytest.fixture
def open_shelf(browser: Browser, shelf: Standing) -> Iterator[Opened]:
    yield from opener(browser, shelf)


def rows(page: Page) -> list[str]:
    return [
        str(one)
        for one in page.locator(".doc bdi").evaluate_all("all => all.map((one) => one.textContent)")
    ]


def resumed(page: Page) -> Page:
    page.click("#resume")
    page.wait_for_selector("#sheet .block", state="attached")
    return page


def test_the_list_is_fetched_page_by_page(open_shelf: Opened) -> None:
    page = open_shelf(curator="Ada")
    asked: list[str] = []
    page.on(
        "request",
        lambda request: (
            asked.append(request.url) if "/v1/curation/document" in request.url else None
        ),
    )
    resumed(page)
    assert len(rows(page)) == 100
    assert page.inner_text(".documents summary") == f"{COUNT + 1} documents"
    assert len([one for one in asked if "/documents?" in one]) == 1
    assert len([one for one in asked if "/document?" in one]) <= 2, (
        "only this text and the next one are fetched"
    )
    page.locator(".doc-list").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    until(page, "document.querySelectorAll('.doc').length > 190")
    page.click("#more")
    until(page, f"document.querySelectorAll('.doc').length === {COUNT + 1}")
    assert len(set(rows(page))) == COUNT + 1
    assert page.locator("#more").is_hidden()
    assert "A pasted text about aspirin." in rows(page)


def test_documents_are_found_by_id_and_text_and_filtered(
    open_shelf: Opened, shelf: Standing
) -> None:
    page = resumed(open_shelf(curator="Ada"))
    page.fill("#find", "trial 17x")
    until(page, "document.querySelector('.documents summary').textContent === '1 document'")
    assert "paper 017" in rows(page)
    page.locator(".doc", has_text="paper 017").click()
    tally(page, "0 of 1")
    press(page, "Shift+F")
    page.wait_for_selector(".whole .flagged")
    saved(page)
    page.fill("#find", "")
    page.select_option("#show", "flagged")
    until(page, "location.hash.includes('show=flagged') && !location.hash.includes('q=')")
    assert rows(page) == ["paper 017"]
    page.select_option("#show", "mine")
    page.select_option("#order", "added")
    until(page, "location.hash.includes('order=added')")
    page.select_option("#show", "open")
    until(
        page,
        f"document.querySelector('.documents summary').textContent === '{COUNT + 1} documents'",
    )
    page.locator(".doc", has_text="paper 017").click()  # the keys leave the field
    press(page, "a", "g")  # finished, and on to the next one
    until(page, "document.querySelector('#heading h2').textContent.startsWith('paper 018')")
    saved(page)
    until(page, "document.querySelector('#panel-head')?.textContent === 'Aspirin'")
    assert [one.get("finished") for one in steps(shelf, "paper%20017")][-1] is True
    press(page, "Shift+G")  # skipped
    until(page, "document.querySelector('#heading h2').textContent.startsWith('paper 019')")
    page.select_option("#show", "all")
    page.select_option("#show", "open")
    until(
        page,
        f"document.querySelector('.documents summary').textContent === '{COUNT - 1} documents'",
    )


def test_nothing_is_left_out_while_documents_leave_the_filter(open_shelf: Opened) -> None:
    page = resumed(open_shelf(curator="Ada"))
    page.select_option("#order", "added")
    page.select_option("#show", "open")
    until(page, "location.hash.includes('show=open') && location.hash.includes('order=added')")
    page.locator(".doc", has_text="paper 000").click()
    for number in range(5):
        until(
            page,
            f"document.querySelector('#heading h2').textContent.startsWith('paper {number:03}')",
        )
        tally(page, "0 of 1")
        press(page, "g")
    saved(page)
    for count in (200, COUNT):
        page.locator("#more").evaluate("one => one.click()")
        until(page, f"document.querySelectorAll('.doc').length >= {count - 20}")
    until(page, "!document.querySelector('#more').checkVisibility()")
    left = {f"paper {number:03}" for number in range(COUNT)} - {"paper 017", "paper 018"}
    assert left - {"paper 000", "paper 001", "paper 002", "paper 003", "paper 004"} <= set(
        rows(page)
    )


def test_the_address_has_document_mention_and_filters(open_shelf: Opened) -> None:
    page = resumed(open_shelf(curator="Ada"))
    page.fill("#find", "paper 12")
    until(page, "document.querySelector('.documents summary').textContent === '10 documents'")
    page.locator(".doc", has_text="paper 123").click()
    until(page, "document.querySelector('#sheet').textContent.startsWith('Aspirin in trial 123x')")
    press(page, "n", "+")
    until(page, "document.querySelector('#panel-head')?.textContent === 'Aspirin'")
    address = page.url
    other = open_shelf(curator="Ben")
    other.goto(address)
    other.reload()
    for one in (page, other):
        one.reload()
        until(one, "document.querySelector('#heading h2')?.textContent.startsWith('paper 123')")
        until(one, "document.querySelector('#panel-head')?.textContent === 'Aspirin'")
        assert one.input_value("#find") == "paper 12"
        assert one.input_value("#least") == "5"
        until(one, "document.querySelector('.documents summary').textContent === '10 documents'")
    page.locator(".doc", has_text="paper 125").click()
    until(page, "document.querySelector('#heading h2').textContent.startsWith('paper 125')")
    page.go_back()
    until(page, "document.querySelector('#heading h2').textContent.startsWith('paper 123')")
    until(page, "document.querySelector('#panel-head')?.textContent === 'Aspirin'")
    page.go_forward()
    until(page, "document.querySelector('#heading h2').textContent.startsWith('paper 125')")


def test_back_leads_back_although_something_changes_at_that_moment(open_shelf: Opened) -> None:
    page = resumed(open_shelf(curator="Ada"))
    page.fill("#find", "paper 12")
    until(page, "document.querySelector('.documents summary').textContent === '10 documents'")
    for number in (123, 125):
        page.locator(".doc", has_text=f"paper {number}").click()
        until(
            page,
            "document.querySelector('#sheet').textContent.startsWith('Aspirin in trial "
            f"{number}x')",
        )
    page.evaluate(
        """addEventListener('popstate', () => {
            const least = document.getElementById('least');
            least.value = '1';
            least.dispatchEvent(new Event('input'));
        })"""
    )
    for go, number in ((page.go_back, 123), (page.go_forward, 125), (page.go_back, 123)):
        go()
        until(
            page,
            "document.querySelector('#sheet').textContent.startsWith('Aspirin in trial "
            f"{number}x')",
        )


def test_a_document_that_failed_is_said_and_loaded_again(open_shelf: Opened) -> None:
    page = resumed(open_shelf(curator="Ada", fails="Failed to load resource"))
    page.fill("#find", "paper 20")
    until(page, "document.querySelector('.documents summary').textContent === '10 documents'")
    page.route("**/v1/curation/document?*", lambda route: route.abort())
    page.locator(".doc", has_text="paper 203").click()
    page.wait_for_selector("#again")
    assert "does not answer" in page.inner_text("#heading")
    assert page.locator("#sheet").evaluate("one => one.textContent") == "", (
        "no other text under this name"
    )
    page.keyboard.press("a")  # there is nothing to decide about
    page.unroute("**/v1/curation/document?*")
    page.click("#again")
    until(page, "document.querySelector('#sheet').textContent.startsWith('Aspirin in trial 203x')")
    tally(page, "0 of 1")
    page.route("**/v1/curation/document?*", lambda route: route.abort())
    page.locator(".doc", has_text="paper 206").click()
    page.wait_for_selector("#again")
    page.locator(".doc", has_text="paper 203").click()
    tally(page, "0 of 1")
    page.unroute("**/v1/curation/document?*")
    page.locator(".doc", has_text="paper 206").click()  # chosen again, it is asked for again
    until(page, "document.querySelector('#sheet').textContent.startsWith('Aspirin in trial 206x')")


def test_nothing_is_exported_where_a_document_could_not_be_fetched(open_shelf: Opened) -> None:
    page = resumed(open_shelf(curator="Ada", fails="Failed to load resource"))
    saves: list[str] = []
    page.on("download", lambda got: saves.append(got.suggested_filename))
    page.fill("#find", "paper 20")
    until(page, "document.querySelector('.documents summary').textContent === '10 documents'")
    page.locator("#sheet").click()  # the keys leave the field
    page.route("**/v1/curation/document?id=paper+207*", lambda route: route.abort())
    press(page, "e")
    page.click("#export-save")
    page.wait_for_selector("dialog .loss .bad")
    assert "“paper 207” could not be fetched" in page.inner_text("dialog .loss")
    page.unroute("**/v1/curation/document?id=paper+207*")
    with page.expect_download() as got:
        page.click("#export-save")
    (lines,) = [Path(got.value.path()).read_text(encoding="utf-8").splitlines()]
    assert sum('"text":"Aspirin in trial 20' in line for line in lines) == 10
    assert len(saves) == 1


def test_documents_that_were_opened_here_are_found_too(open_shelf: Opened) -> None:
    page = open_shelf()
    load(page, *map(paper, range(3)))
    page.fill("#find", "002")
    until(page, "document.querySelectorAll('.doc').length === 1")
    assert page.locator("#show").is_hidden()


def test_a_list_without_documents_keeps_what_was_asked(open_shelf: Opened) -> None:
    page = resumed(open_shelf(curator="Ada"))
    page.fill("#find", "trial 1")
    # words are asked for a moment after the last key
    until(page, "location.hash.includes('q=trial')")
    page.select_option("#show", "flagged")
    until(page, "document.querySelector('.documents summary').textContent === '0 documents'")
    page.locator("#sheet").click()  # the keys leave the field
    press(page, "q")
    until(page, "document.body.textContent.includes('The documents are in order')")
    assert page.locator("#find").is_visible()
    assert [page.input_value(one) for one in ("#find", "#show", "#order")] == [
        "trial 1",
        "flagged",
        "uncertainty",
    ]
    assert page.inner_text(".documents summary") == "0 documents"
    page.select_option("#show", "all")
    until(page, "document.querySelectorAll('.doc').length > 100")
    assert page.input_value("#find") == "trial 1"
    assert sum("1" not in one for one in rows(page)) <= 1  # the open one
    assert "q=trial" in page.url


def test_words_are_kept_that_were_not_asked_for_yet(open_shelf: Opened) -> None:
    page = resumed(open_shelf(curator="Ada"))
    page.focus("#find")
    # at once: the pause after the last key is not over
    page.evaluate(f"{TYPE}('trial 17'); {CHANGE}('added')")
    until(page, "document.querySelector('.documents summary').textContent === '11 documents'")
    until(page, "location.hash.includes('q=trial+17') && location.hash.includes('order=added')")
    assert page.evaluate("document.activeElement.id") == "find", (
        "a filter that changes takes no focus"
    )
    page.evaluate(f"{TYPE}('trial 171'); {OPEN}('paper 170')")
    until(page, "document.querySelector('#heading h2').textContent.startsWith('paper 170')")
    until(page, "location.hash.includes('q=trial+171')")
    assert page.input_value("#find") == "trial 171"
    assert rows(page) == ["paper 170", "paper 171"], "the open document stays"


def test_a_filter_that_could_not_be_asked_for_is_taken_back(open_shelf: Opened) -> None:
    page = resumed(open_shelf(curator="Ada", fails="Failed to load resource"))
    page.route("**/v1/curation/documents?*", lambda route: route.abort())
    page.select_option("#show", "flagged")
    until(page, "document.querySelector('#status').textContent.includes('does not answer')")
    assert page.input_value("#show") == "all", "as the list that is shown"
    page.unroute("**/v1/curation/documents?*")
    page.locator("#more").evaluate("one => one.click()")
    until(page, "document.querySelectorAll('.doc').length > 190")
    page.select_option("#order", "added")
    until(page, "location.hash.includes('order=added')")
    assert page.inner_text(".documents summary") == f"{COUNT + 1} documents"
