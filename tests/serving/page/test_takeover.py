"""Several curators at one browser: what waits to be saved is sent only as what it is, and by its
own curator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from standing import Standing
from tests.serving.page.browsing import COUNTED, Opened, press, saved, steps, tally, until, words
from tests.serving.page.project import Team, team

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
STEPS = "**/v1/curation/steps"
KEPT = "Object.keys(localStorage).filter((one) => one.startsWith('fascicle-step')).length"


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team(tmp_path_factory.mktemp("project")) as made:
        yield made


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One browser, with what it keeps for the pages of a service."""
    made = browser.new_context()
    made.add_init_script(COUNTED)
    yield made
    made.close()


def sit_down(context: BrowserContext, project: Team, who: str) -> Page:
    """Opens a new tab, gives the token of a member, and continues curation at the third
    document.
    """
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"http://127.0.0.1:{project.service.port}/")
    page.fill("#pick-free", project.tokens[who])
    press(page, "Enter")
    page.click("#resume")
    page.locator(".doc", has_text="third").click()
    until(page, "document.querySelector('#heading h2').textContent.startsWith('third')")
    page.wait_for_selector(".tally")
    return page


def bar(page: Page) -> str:
    return page.locator("#waiting").inner_text() if page.locator("#waiting").count() else ""


def whose(project: Team, who: str) -> list[str]:
    """Who made the steps of the version of a curator of the third document."""
    told = project.ask("Rea", "GET", f"/v1/curation/document?id=third&version={who}").json
    return [step["who"] for step in told["steps"]]


def test_decisions_wait_for_the_token_of_their_curator(
    context: BrowserContext, project: Team
) -> None:
    page = sit_down(context, project, "Ada")
    context.route(STEPS, lambda route: route.abort())
    press(page, "n", "a", "x")
    until(page, "document.querySelector('#waiting')?.textContent === '2 not sent yet'")
    page.close()
    context.unroute(STEPS)

    page = sit_down(context, project, "Ben")
    assert page.inner_text(".tally").startswith("0 of 4"), "what Ada decided is private"
    press(page, "n", "x")
    tally(page, "1 of 4")
    assert (whose(project, "Ada"), whose(project, "Ben")) == ([], ["Ben"])
    assert bar(page) == "2 of others"
    page.click("#waiting")
    assert page.locator(".waiting-list li").count() == 0, (
        "neither shown to Ben, nor discarded by him"
    )
    assert "2 decisions of Ada: sent when" in page.inner_text("dialog")
    page.get_by_role("button", name="Send now").click()
    press(page, "Escape")
    saved(page)
    assert whose(project, "Ada") == []
    assert page.evaluate(KEPT) == 2
    page.close()

    page = sit_down(context, project, "Ada")
    tally(page, "2 of 4")
    until(page, "!document.querySelector('#waiting')")
    assert (whose(project, "Ada"), whose(project, "Ben")) == (["Ada", "Ada"], ["Ben"])
    assert page.evaluate(KEPT) == 0


def test_another_curator_goes_on_in_the_same_tab_with_a_token(
    context: BrowserContext, project: Team
) -> None:
    page = sit_down(context, project, "Ada")
    press(page, "n", "x")
    tally(page, "1 of 4")
    page.click("#who")
    press(page, "Escape")
    assert page.text_content("#who") == "Curator: Ada"
    page.click("#who")
    page.fill("#pick-free", project.tokens["Ben"])
    press(page, "Enter")
    until(page, "document.querySelector('#who')?.textContent === 'Curator: Ben'")
    tally(page, "0 of 4")
    press(page, "n", "a")
    tally(page, "1 of 4")
    assert (whose(project, "Ada"), whose(project, "Ben")) == (["Ada"], ["Ben"])


def test_a_name_is_that_of_who_decided_though_another_goes_on(
    opened: Opened, shown: Standing
) -> None:
    page = opened(words("handed over", 4), curator="Ada", fails="Failed to load resource")
    page.route(STEPS, lambda route: route.abort())
    press(page, "k")
    tally(page, "0 of 4")
    press(page, "a", "a")
    until(page, "document.querySelector('#waiting')?.textContent === '2 not sent yet'")
    page.click("#who")
    page.fill("#pick-free", "Ben")
    press(page, "Enter", "x", "p", "p", "x")  # the third mention, and one about which Ada decided
    until(page, "document.querySelector('#waiting')?.textContent === '4 not sent yet'")
    page.unroute(STEPS)
    until(page, "!document.querySelector('#waiting')")
    saved(page)
    made = steps(shown, "handed%20over")
    assert [one["who"] for one in made] == ["Ada", "Ada", "Ben", "Ben"]
    assert [bool(one["edits"][0]["after"]) for one in made] == [True, True, False, False]


def test_nothing_of_a_curator_stays_when_the_page_asks_for_another_token(
    context: BrowserContext, project: Team
) -> None:
    page = sit_down(context, project, "Ada")
    press(page, "n", "x")
    tally(page, "1 of 4")
    page.evaluate("sessionStorage.setItem('fascicle-token', 'withdrawn')")
    press(page, "o")
    page.fill("#given", "Aspirin")
    page.click("#annotate")
    page.fill("#pick-free", project.tokens["Ben"])
    press(page, "Enter")
    page.click("#resume")
    page.locator(".doc", has_text="third").click()
    until(page, "document.querySelector('#who')?.textContent === 'Curator: Ben'")
    tally(page, "0 of 4")
