"""The page on a phone, a tablet and a desk, in light and dark: everything is reached, and axe
finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.serving.page.browsing import Opened, press, tally, until
from tests.serving.page.project import Team, team
from tests.serving.page.test_safety import TINY, overflow
from tests.support.axe import violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
OUTSIDE = """() => [...document.querySelectorAll("button, input, select, summary, a")].filter((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    const scrolls = one.closest(".skip, .wide, .grid");
    return one.checkVisibility() && !scrolls && width && (left < 0 || right > innerWidth + 1);
}).map((one) => one.outerHTML.slice(0, 99))"""
MANY = {
    **TINY,
    "id": "many",
    "mentions": [
        {"spans": [[32 * at, 32 * at + 7]], "type": "Chemical", "score": at / 30, "source": "m"}
        for at in range(30)
    ],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team(tmp_path_factory.mktemp("widths")) as made:
        yield made


def views(page: Page) -> Iterator[str]:
    """Goes through all views of one curator; yields the name of each when it is shown."""

    def go(*keys: str) -> None:
        if page.locator("dialog").count():
            page.keyboard.press("Escape")
            until(page, "!document.querySelector('dialog')")  # keys are its own until then
        press(page, *keys)
        page.wait_for_timeout(200)

    yield "text"
    go("n", "n")
    yield "panel"
    go("v")
    yield "table"
    go("v", "?")
    yield "keys"
    go("e")
    page.wait_for_selector("#export-format")
    yield "export"
    go("k")
    tally(page, "0 of 30")
    go("a", "f", "Shift+F")
    tally(page, "1 of 30")
    yield "curation"
    go("t")
    yield "type"
    go("c")
    page.fill("#pick-free", "aspirin")
    page.wait_for_timeout(600)
    yield "concept"
    go("l")
    yield "note"
    go("s")
    yield "span"
    press(page, "Escape")
    page.evaluate(
        "document.querySelector('.documents').open = document.querySelector('.filters').open = true"
    )
    yield "list"
    page.route("**/v1/curation/steps", lambda route: route.abort())
    go("x")
    page.wait_for_selector("#waiting")
    page.click("#waiting")
    yield "waiting"
    page.unroute("**/v1/curation/steps")


def views_of_a_project(page: Page) -> Iterator[str]:
    """Goes through what reviewers have beside that, and a document that is not there."""
    press(page, "r")
    yield "versions"
    page.check("text=Also what all agree on")
    yield "all versions"
    press(page, "r", "n")
    yield "text of the review"
    page.click("#agreement")
    yield "agreement"
    page.keyboard.press("Escape")
    page.route("**/v1/curation/document?*", lambda route: route.abort())
    page.evaluate("document.querySelector('.documents').open = true")
    page.locator(".doc", has_text="third").click()
    page.wait_for_selector("#again")
    yield "failed"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [375, 768, 1280])
def test_axe_finds_nothing_in_any_view(opened: Opened, axe: str, width: int, dark: bool) -> None:
    kind = {"width": width, "dark": dark, "curator": "Ada", "fails": "Failed to load"}
    page = opened(**kind)
    wrong = [("start", found) for found in violations(page, axe)]
    page = opened({**MANY, "id": f"many {width} {dark}"}, {**TINY, "id": "tiny 3"}, **kind)
    for view in views(page):
        wrong += [(view, found) for found in violations(page, axe)]
        assert overflow(page) <= 0, view
        assert page.evaluate(OUTSIDE) == [], view
    assert wrong == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [375, 768, 1280])
def test_axe_finds_nothing_in_the_views_of_a_project(
    browser: Browser, project: Team, axe: str, width: int, dark: bool
) -> None:
    wrong = []
    with project.page(browser, "Rea", width=width, dark=dark, fails="Failed to load") as page:
        for view in views_of_a_project(page):
            page.wait_for_timeout(500)
            wrong += [(view, found) for found in violations(page, axe)]
            assert overflow(page) <= 0, view
            assert page.evaluate(OUTSIDE) == [], view
    assert wrong == []


def test_a_phone_shows_the_text_first_and_is_enough_to_curate(opened: Opened) -> None:
    page = opened(
        {**MANY, "id": "phone 1"}, {**MANY, "id": "phone 2"}, width=375, height=812, curator="Ada"
    )
    assert page.locator("#sheet").evaluate("one => one.getBoundingClientRect().top") < 812 * 0.6
    page.click("#curate")
    tally(page, "0 of 30")
    page.get_by_role("button", name="Accept", exact=True).click()
    tally(page, "1 of 30")
    page.get_by_role("button", name="Reject", exact=True).click()
    tally(page, "2 of 30")
    page.locator(".documents summary").click()
    page.locator(".doc", has_text="phone 2").click()
    until(page, "document.querySelector('#heading h2').textContent.startsWith('phone 2')")
    tally(page, "0 of 30")
    assert page.evaluate(OUTSIDE) == []
