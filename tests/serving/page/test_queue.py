"""Decisions on a broken connection: kept over a reload, sent in order, never doubled, never
about another mention.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from standing import Standing
from tests.serving.page.browsing import Opened, press, saved, steps, tally, until, words

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
STEPS = "**/v1/curation/steps"
NO_ANSWER = "Failed to load resource"


def begun(opened: Opened, name: str, count: int) -> Page:
    page = opened(words(name, count), curator="Ada", fails=NO_ANSWER)
    # requests are asked about before keys are pressed
    page.route("**/nothing", lambda route: route.abort())
    press(page, "k")
    tally(page, f"0 of {count}")
    return page


def waiting(page: Page, wanted: str) -> None:
    """Waits until the bar says what the service does not have; for an empty string, until it
    says nothing.
    """
    until(
        page, "wanted => (document.querySelector('#waiting')?.textContent ?? '') === wanted", wanted
    )


def starts(service: Standing, name: str) -> list[int | None]:
    """Where the mention of each saved edit begins; ``None`` for one that is rejected."""
    return [
        one["after"] and one["after"]["spans"][0][0]
        for step in steps(service, name)
        for one in step["edits"]
    ]


def items(service: Standing, name: str) -> list[int]:
    return [
        json.loads(one["item"])[2][0][0] for step in steps(service, name) for one in step["edits"]
    ]


def test_decisions_wait_for_the_connection_and_survive_a_reload(
    opened: Opened, shown: Standing
) -> None:
    page = begun(opened, "wait", 6)
    press(page, "a")
    saved(page)
    page.route(STEPS, lambda route: route.abort())
    press(page, "x", "a", "x")
    waiting(page, "3 not sent yet")
    until(page, "document.querySelector('.tally').textContent.startsWith('4 of 6')")
    page.reload()
    until(page, "document.querySelector('.tally')?.textContent.startsWith('4 of 6')")
    waiting(page, "3 not sent yet")
    page.click("#waiting")
    assert page.locator(".waiting-list li").count() == 3
    assert "wait" in page.inner_text(".waiting-list li >> nth=0")
    page.unroute(STEPS)
    page.get_by_role("button", name="Send now").click()
    until(page, "document.querySelectorAll('.waiting-list li').length === 0")
    press(page, "Escape")
    waiting(page, "")
    press(page, "a")
    tally(page, "5 of 6")
    assert starts(shown, "wait") == [0, None, 14, None, 28]
    assert items(shown, "wait") == [0, 7, 14, 21, 28]
    page.reload()
    tally(page, "5 of 6")
    assert len(steps(shown, "wait")) == 5


def test_they_are_sent_without_being_asked_when_the_service_answers_again(
    opened: Opened, shown: Standing
) -> None:
    page = begun(opened, "again alone", 3)
    page.route(STEPS, lambda route: route.fulfill(status=502, body="no"))
    press(page, "a", "a")
    waiting(page, "2 not sent yet")
    assert steps(shown, "again%20alone") == []
    page.unroute(STEPS)
    waiting(page, "")
    saved(page)
    assert items(shown, "again%20alone") == [0, 7]


def test_what_is_taken_back_before_it_was_sent_is_sent_too(opened: Opened, shown: Standing) -> None:
    page = begun(opened, "undone", 3)
    page.route(STEPS, lambda route: route.abort())
    press(page, "a", "x", "z")
    until(page, "document.querySelector('.tally').textContent.startsWith('1 of 3')")
    page.reload()
    until(page, "document.querySelector('.tally')?.textContent.startsWith('1 of 3')")
    page.unroute(STEPS)
    waiting(page, "")
    tally(page, "1 of 3")
    press(page, "Shift+Z")
    tally(page, "2 of 3")
    made = steps(shown, "undone")
    assert [one.get("undoes") for one in made] == [None, None, made[1]["number"], made[2]["number"]]


def test_a_decision_of_somebody_else_is_not_overwritten_afterwards(
    opened: Opened, shown: Standing
) -> None:
    page = begun(opened, "clash", 3)
    page.route(STEPS, lambda route: route.abort())
    press(page, "a", "a")
    waiting(page, "2 not sent yet")
    item = json.dumps(["m", "Gene", [[0, 6]]], separators=(",", ":"))
    step = {
        "document": "clash",
        "id": "0" * 32,
        "who": "Bob",
        "after": 0,
        "edits": [{"item": item, "after": None}],
    }
    assert shown.ask("POST", "/v1/curation/steps", step).status == 200
    page.unroute(STEPS)
    waiting(page, "1 refused")
    tally(page, "2 of 3")
    assert starts(shown, "clash") == [None, 7]
    page.reload()
    waiting(page, "1 refused")
    page.click("#waiting")
    assert "Someone else" in page.inner_text(".waiting-list li")
    page.get_by_role("button", name="Discard").click()
    press(page, "Escape")
    waiting(page, "")
    assert (
        page.evaluate(
            "Object.keys(localStorage).filter((one) => one.startsWith('fascicle-step')).length"
        )
        == 0
    )


def test_a_decision_about_another_text_is_not_sent(opened: Opened, shown: Standing) -> None:
    page = begun(opened, "text", 2)
    page.route(STEPS, lambda route: route.abort())
    press(page, "x")
    waiting(page, "1 not sent yet")
    page.evaluate(
        """() => {
            const key = Object.keys(localStorage).find((one) => one.startsWith("fascicle-step"));
            const step = JSON.parse(localStorage.getItem(key));
            localStorage.setItem(key, JSON.stringify({ ...step, text: "text-other-1" }));
        }"""
    )
    page.reload()
    waiting(page, "1 refused")
    page.unroute(STEPS)
    tally(page, "0 of 2")
    assert steps(shown, "text") == []


def test_a_decision_that_was_refused_stays_when_somebody_else_decides_here(opened: Opened) -> None:
    page = opened()
    left = page.evaluate(
        """async () => {
            const { Queue } = await import("/page/code/queue.js");
            const queue = new Queue(() => Promise.reject({ status: 403, message: "no" }), () => {});
            const step = { document: "a", version: null, text: "", seen: 0, edits: [{ item: "added-1", after: null }] };
            for (const who of ["Ada", "Ben", "Ben"]) {
                queue.push({ ...step, who });
                await queue.flush();
            }
            queue.push({ ...step, who: "Ben", version: "" });
            await queue.flush();
            return queue.steps.map(({ who, version }) => [who, version]);
        }"""
    )
    assert left == [["Ada", None], ["Ben", None], ["Ben", ""]]


@pytest.mark.parametrize("seed", range(3))
def test_each_decision_is_saved_once_whatever_breaks(
    opened: Opened, shown: Standing, seed: int
) -> None:
    name, count, drawn = f"broken-{seed}", 24, random.Random(seed)
    page = begun(opened, name, count)
    asked: list[Any] = []

    def breaks(route: Route) -> None:
        asked.append(route)
        how = drawn.random()
        if how < 0.2:
            route.abort()  # the service does not hear of it
        elif how < 0.4:
            route.fetch()
            route.abort()  # the service has it, and the page gets no answer
        else:
            route.continue_()

    page.route(STEPS, breaks)
    for number in range(count):
        page.keyboard.press("ax"[number % 2])
        page.wait_for_timeout(drawn.choice([30, 120, 400]))
        if number % 9 == 8:
            page.reload()
            until(
                page, f"document.querySelector('.tally')?.textContent.startsWith('{number + 1} of')"
            )
            until(
                page,
                f"document.querySelector('#panel-head')?.textContent === 'word{number + 1:02}'",
            )
    page.unroute(STEPS)
    waiting(page, "")
    tally(page, f"{count} of {count}")
    assert len(asked) > 1
    assert items(shown, name) == [7 * number for number in range(count)]
    assert starts(shown, name) == [None if number % 2 else 7 * number for number in range(count)]
