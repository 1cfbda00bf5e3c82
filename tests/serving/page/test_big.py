"""A text of a megabyte with 20,000 mentions: the page stays as quick as with a short one.

Times are those of the processor that the main thread of the page took, and are compared with those
of a shorter text on the same machine."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.serving.page.browsing import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
CHARACTERS, MENTIONS = 1_000_000, 20_000
SHORTER, MOST = 10, 3  # times; work that grows with the text would take about ten times as long
WORDS = [
    "the",
    "patient",
    "aspirin",
    "😀",
    "severe",
    "kidney",
    "failure",
    "e\u0301",
    "lithium",
    "BRCA1",
    "mutation",
    "carriers",
]
TASKS = {"RunTask", "ThreadControllerImpl::RunTask"}


@pytest.fixture(scope="module")
def big() -> dict[str, Any]:
    return document(CHARACTERS, MENTIONS)


def document(characters: int, most: int) -> dict[str, Any]:
    drawn, parts, mentions, at = random.Random(1), [], [], 0
    while at < characters - 12:
        word = drawn.choice(WORDS)
        if drawn.random() < 0.15 and len(mentions) < most:
            mention = {
                "spans": [[at, at + len(word)]],
                "type": drawn.choice("ABCDEF"),
                "score": round(drawn.random(), 3),
            }
            mentions.append({**mention, "source": drawn.choice("mn")})
        parts += [word, "\n" if drawn.random() < 0.01 else " "]
        at += len(word) + 1
    assert len(mentions) == most
    return {"id": "big", "text": "".join(parts), "mentions": mentions}


def longest_task(page: Page, does: Callable[[], None]) -> float:
    """Milliseconds of the processor that the longest task of the page took."""
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(
        page=page,
        categories=["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline"],
    )
    does()
    page.wait_for_timeout(500)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (one["pid"], one["tid"])
        for one in events
        if one.get("name") == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        one
        for one in events
        if one.get("name") in TASKS and (one["pid"], one["tid"]) in threads and "tdur" in one
    ]
    assert tasks, "the trace has no tasks"
    return float(max(one["tdur"] for one in tasks)) / 1000


def wheel(page: Page) -> None:
    page.mouse.move(560, 600)
    for _ in range(30):
        page.mouse.wheel(0, 900)
        page.wait_for_timeout(30)


def jump(page: Page) -> None:
    for place in (0.9, 0.1, 0.5, 0.75, 0.3, 1.0):
        page.evaluate("place => scrollTo(0, document.documentElement.scrollHeight * place)", place)
        page.wait_for_timeout(200)


def walk(page: Page) -> None:
    for _ in range(20):
        page.keyboard.press("n")


def test_tasks_while_scrolling_do_not_grow_with_the_text(
    opened: Opened, big: dict[str, Any]
) -> None:
    pages = opened(document(CHARACTERS // SHORTER, MENTIONS // SHORTER)), opened(big)
    times = {}
    for does in (wheel, jump, walk):
        times[does.__name__] = [least(page, does) for page in pages]
    for page in pages:
        assert page.evaluate("document.querySelectorAll('.mark').length") > 0
        page.keyboard.press("v")
        page.wait_for_selector(".grid-row")
    times["table"] = [least(page, wheel) for page in pages]
    assert all(long < MOST * short for short, long in times.values()), times


def least(page: Page, does: Callable[[Page], None]) -> float:
    page.bring_to_front()
    times = []
    for _ in range(3):
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(300)
        times.append(longest_task(page, lambda: does(page)))
    return min(times)


def test_few_elements_exist_however_long_the_text_is(opened: Opened, big: dict[str, Any]) -> None:
    page = opened(big)
    page.wait_for_selector(".mark")
    assert page.evaluate("document.querySelectorAll('*').length") < 15_000
    assert page.locator("#sheet").evaluate("one => one.textContent.length") >= CHARACTERS - 12
