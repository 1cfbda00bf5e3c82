"""What tests of the page do again and again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from standing import Standing

if TYPE_CHECKING:
    from playwright.sync_api import Page

Opened = Callable[..., "Page"]


def load(page: Page, *documents: dict[str, Any]) -> None:
    """Opens documents in the native format, as a file."""
    lines = "".join(json.dumps({"fascicle": 2, **one}) + "\n" for one in documents)
    page.set_input_files(
        "input[aria-label='Files to annotate']", {"name": "given.jsonl", "mimeType": "", "buffer": lines.encode()}
    )
    page.wait_for_selector("#sheet .block", state="attached")


def until(page: Page, condition: str, given: Any = None) -> None:
    """Waits until an expression, or a function of what is given, is true.

    Playwright's own ``wait_for_function`` asks for ``eval`` in the page, which its policy rightly forbids.
    """
    end = time.monotonic() + 30
    while not page.evaluate(condition, given):
        assert time.monotonic() < end, f"never true: {condition}, {given!r}"
        page.wait_for_timeout(50)


def press(page: Page, *keys: str) -> None:
    """Presses keys one after the other, each when the page has shown what the one before did."""
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(150)


def tally(page: Page, wanted: str) -> None:
    """Waits until so many mentions are decided, and all decisions are saved."""
    until(page, "wanted => document.querySelector('.tally')?.textContent.startsWith(wanted)", wanted)
    saved(page)


def saved(page: Page) -> None:
    until(page, "!document.querySelector('.saving')")


def slow(page: Page, milliseconds: int) -> None:
    """Lets each request of the page wait before it leaves."""
    page.evaluate(
        """milliseconds => {
            const now = window.fetch.bind(window);
            const later = () => new Promise((resolve) => setTimeout(resolve, milliseconds));
            window.fetch = async (...given) => { await later(); return now(...given); };
        }""",
        milliseconds,
    )


def words(name: str, count: int) -> dict[str, Any]:
    """A document with many mentions, each of its own words."""
    parts = [f"word{number:02}" for number in range(count)]
    mentions = [
        {"spans": [[7 * number, 7 * number + 6]], "type": "Gene", "score": 0.6, "source": "m"}
        for number in range(count)
    ]
    return {"id": name, "text": " ".join(parts), "mentions": mentions}


def steps(service: Standing, name: str) -> list[dict[str, Any]]:
    return list(service.ask("GET", f"/v1/curation/document?id={name}").json["steps"])
