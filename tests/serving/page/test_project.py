"""A project in the page: guidelines, remarks, versions side by side, and agreement."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.serving.page.browsing import press, saved, tally, until
from tests.serving.page.project import TEXT, Team, team

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team(tmp_path_factory.mktemp("project")) as made:
        yield made


def show(page: Page, name: str) -> None:
    page.locator(".doc", has_text=name).click()
    until(page, "name => document.querySelector('#heading h2').textContent.startsWith(name)", name)
    page.wait_for_selector(".tally")


def test_guidelines_stand_beside_the_type(browser: Browser, project: Team) -> None:
    with project.page(browser, "Ada") as page:
        show(page, "third")
        press(page, "n")
        assert page.inner_text("#panel .guideline >> nth=0") == "Names of drugs count.\nBrands too."
        page.locator("#panel summary", has_text="all types").click()
        assert "longest" in page.inner_text("#panel details .guideline")
        press(page, "t")
        assert "Names of drugs" in page.inner_text("dialog .choice >> nth=0")
        press(page, "Escape", "n")
        until(page, "document.querySelector('#panel-head').textContent === 'headache'")
        assert page.locator("#panel .card > .guideline").count() == 0


def test_notes_flags_and_skipping_are_kept_and_taken_back(browser: Browser, project: Team) -> None:
    with project.page(browser, "Ada") as page:
        show(page, "third")
        press(page, "n", "f", "l")
        page.keyboard.type("Is it the brand?")
        press(page, "Enter", "Shift+L")
        page.keyboard.type("Old paper")
        press(page, "Enter")
        until(page, "document.querySelector('#panel .note')?.textContent === 'Is it the brand?'")
        saved(page)
        page.reload()
        until(page, "document.querySelector('.whole .note')?.textContent === 'Old paper'")
        until(page, "document.querySelector('#panel .note')?.textContent === 'Is it the brand?'")
        assert page.locator("#panel .flagged").count() == 1
        press(page, "f")
        until(page, "!document.querySelector('#panel .flagged')")
        press(page, "z")
        until(page, "document.querySelector('#panel .flagged')")
        press(page, "Shift+G")
        until(
            page,
            "document.querySelector('.doc[aria-current=true] "
            "span:last-child').textContent.includes('skipped')",
        )
        saved(page)
    steps = project.ask("Ada", "GET", "/v1/curation/document?id=third").json["steps"]
    assert [step["remark"] for step in steps if "remark" in step][-1] == {"skipped": True}
    assert not any(step.get("edits") for step in steps), "a remark decides nothing"


def test_a_reviewer_decides_between_versions(browser: Browser, project: Team) -> None:
    with project.page(browser, "Rea") as page:
        show(page, "first")
        tally(page, "2 of 5")  # both have Aspirin and headache
        press(page, "r")
        page.wait_for_selector("table.versions")
        heads = page.locator("table.versions thead th").all_text_contents()
        assert [one[:3] for one in heads] == ["Tex", "Ada", "Ben", "Dec"]
        cells = page.locator("table.versions tbody tr").evaluate_all(
            "all => all.map((row) => [...row.cells].map((one) => "
            "one.querySelector('.chip')?.textContent ?? ''))"
        )
        assert [row[1:3] for row in cells] == [["Disease", "Chemical"], ["Gene", ""]]
        press(page, "j", "2")  # as Ben: caffeine is a chemical
        tally(page, "4 of 5")
        until(page, "document.querySelector('#panel-head')?.textContent === 'BRCA1'")
        press(page, "1")  # as Ada: it is a gene
        tally(page, "5 of 5")
        press(page, "z")
        tally(page, "4 of 5")
        row = page.locator(".doc", has_text="first").locator("span:last-child")
        assert row.text_content() == "1 ≠ 1 open"
        page.get_by_role("button", name="Take what Ben says of BRCA1").click()
        tally(page, "5 of 5")
        assert row.text_content() == "✓ finished", "as the service has it"
        page.check("text=Also what all agree on")
        assert page.locator("table.versions tbody tr").count() == 4
    steps = project.ask("Rea", "GET", "/v1/curation/document?id=first&version=").json["steps"]
    assert {step["version"] for step in steps} == {""}
    gold = project.ask("Rea", "GET", "/v1/curation/export?version=").content.decode().splitlines()
    (found,) = [one for one in map(json.loads, gold) if one["id"] == "first"]
    types = {
        TEXT[one["spans"][0][0] : one["spans"][0][1]]: one["type"] for one in found["mentions"]
    }
    assert types == {"Aspirin": "Chemical", "headache": "Disease", "caffeine": "Chemical"}


def test_a_reviewer_reads_for_whom_a_document_waits(browser: Browser, project: Team) -> None:
    def row(page: Page) -> str | None:
        return page.locator(".doc", has_text="third").locator("span:last-child").text_content()

    with project.page(browser, "Rea") as page:
        assert row(page) == "waits for 2 curators"
        show(page, "third")
        assert row(page) == "waits for 2 curators"
        assert page.inner_text(".tally").endswith("waits for Ada, Ben")
        assert page.locator(".progress i").evaluate("one => one.style.width") == "0%"
        press(page, "e")
        page.wait_for_selector("#export-state")
        said = page.inner_text("#export-state")
        assert "1 document waits for curators." in said
        assert "Every mention" not in said
        press(page, "Escape")
        project.decide("Ada", "third", {})
        page.reload()
        until(page, "document.querySelector('.tally')?.textContent.includes('waits for Ben')")
        assert row(page) == "4 open, waits for 1 curator"
    with project.page(browser, "Ben") as page:
        assert row(page) == "4 open", "what others did is private"
    told = project.ask("Ben", "GET", "/v1/curation/documents?q=third").json["documents"][0]
    assert (told["done"], told["waiting"]) == ([], 0)


def test_a_reviewer_sees_what_curators_did_since_the_document_was_opened(
    browser: Browser, project: Team
) -> None:
    with project.page(browser, "Rea") as page:
        show(page, "third")
        tally(page, "0 of 0")
        show(page, "first")
        tally(page, "2 of 5")
        project.decide("Ada", "third", {})
        project.decide("Ben", "third", {"caffeine": "Chemical"})
        opened = {
            "document": "first",
            "id": "e" * 32,
            "who": "Rea",
            "version": "Ben",
            "finished": False,
        }
        after = project.ask("Rea", "GET", "/v1/curation/document?id=first&version=Ben").json[
            "steps"
        ][-1]["number"]
        assert (
            project.ask("Rea", "POST", "/v1/curation/steps", {**opened, "after": after}).status
            == 200
        )
        show(page, "third")
        tally(page, "3 of 5")
        page.select_option("#order", "added")
        until(page, "location.hash.includes('order=added')")
        assert (
            page.locator(".doc", has_text="first").locator("span:last-child").text_content()
            == "4 open, waits for 1 curator"
        )
        show(page, "first")
        until(page, "document.querySelector('.tally').textContent.includes('waits for Ben')")


def test_a_curator_sees_others_when_they_are_done_and_decides_in_their_own_version(
    browser: Browser, project: Team
) -> None:
    with project.page(browser, "Ada", fails="403") as page:
        show(page, "third")
        press(page, "r")
        until(page, "document.querySelector('#status').textContent !== ''")
        assert page.locator("table.versions").count() == 0
        assert page.locator("#sheet").inner_text().startswith("Aspirin")
        show(page, "first")
        press(page, "r")
        page.wait_for_selector("table.versions")
        press(page, "j", "1")
        until(page, "document.querySelector('#status').textContent.includes('Reviewers')")
        press(page, "r")
        until(
            page,
            "!document.querySelector('table.versions') && document.querySelector('#sheet .block')",
        )
        tally(page, "4 of 4")
        assert page.locator("#agreement").count() == 0
    assert project.ask("Rea", "GET", "/v1/curation/document?id=first&version=").json["steps"] == []


def test_a_finished_version_is_private_and_nothing_about_it_waits_to_be_refused(
    browser: Browser, project: Team
) -> None:
    with project.page(browser, "Ada") as page:
        show(page, "first")
        for key in ("x", "g", "z"):
            press(page, "n", key)
            until(
                page,
                "document.querySelector('#status').textContent.includes('A reviewer can open it "
                "again')",
            )
            page.evaluate("document.querySelector('#status').textContent = ''")
        assert page.locator("#waiting").count() == 0
        press(page, "f")  # remarks are allowed
        page.wait_for_selector("#panel .flagged")
        saved(page)
    steps = project.ask("Ada", "GET", "/v1/curation/document?id=first").json["steps"]
    assert ["edits" in one or "finished" in one for one in steps] == [True, True, False]


def test_a_reviewer_opens_a_version_again(browser: Browser, project: Team) -> None:
    with project.page(browser, "Rea") as page:
        show(page, "second")
        press(page, "r")
        page.get_by_role("button", name="Open again: the version of Ben").click()
        until(page, "document.querySelector('#status').textContent.includes('Ben can change')")
        page.wait_for_selector("text=not finished")
    assert (
        project.ask("Ben", "GET", "/v1/curation/document?id=second").json["steps"][-1]["finished"]
        is False
    )


def test_agreement_is_shown_to_reviewers(browser: Browser, project: Team) -> None:
    told = project.ask("Rea", "GET", "/v1/curation/agreement").json
    with project.page(browser, "Rea") as page:
        page.click("#agreement")
        page.wait_for_selector("dialog table")
        said = page.inner_text("dialog")
        assert "Ada and Ben: 2 documents" in said
        rows = told["pairs"][0]["mentions"].values()
        values = [one["value"] for one in (*(row["f1"] for row in rows), *told["alpha"].values())]
        shown = [f"{value:.3f}" for value in values if value is not None]
        assert len(shown) > 2
        for value in set(shown):
            assert said.count(value) >= shown.count(value)


def test_what_a_curator_left_in_the_browser_waits_for_their_token(
    browser: Browser, project: Team
) -> None:
    def made(who: str) -> list[tuple[str, list[str]]]:
        told = project.ask("Rea", "GET", f"/v1/curation/document?id=third&version={who}").json[
            "steps"
        ]
        return [(step["who"], [one["item"] for one in step.get("edits", [])]) for step in told]

    with project.page(browser, "Ada", fails="Failed to load resource") as page:
        show(page, "third")
        page.route("**/v1/curation/steps", lambda route: route.abort())
        press(page, "j", "a", "x")
        page.wait_for_selector("#waiting")
        left = page.context.storage_state()
    with project.page(browser, "Ben", left=left) as page:
        until(page, "document.querySelector('#waiting')?.textContent === '2 of others'")
        show(page, "third")
        tally(page, "0 of 4")
        press(page, "j", "a")
        saved(page)
        page.click("#waiting")
        assert page.locator(".waiting-list li").count() == 0, "what Ada decided is private"
        assert "2 decisions of Ada" in page.inner_text("dialog")
        assert page.get_by_role("button", name="Discard").count() == 0
        page.get_by_role("button", name="Send now").click()
        press(page, "Escape")
        left = page.context.storage_state()
    assert ([who for who, _ in made("Ben")], made("Ada")) == (["Ben"], [])
    with project.page(browser, "Ada", left=left) as page:
        until(page, "document.querySelector('#waiting') === null")
        show(page, "third")
        tally(page, "2 of 4")
    assert [who for who, _ in made("Ada")] == ["Ada", "Ada"]
    assert len({items[0] for _, items in made("Ada")}) == 2
