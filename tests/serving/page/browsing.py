"""What tests of the page do again and again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from standing import Standing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Opened = Callable[..., "Page"]
# Counts the requests of the page that have no answer yet, and lets each wait before it leaves.
COUNTED = """(() => {
    const now = window.fetch.bind(window);
    Object.assign(window, { underWay: 0, asked: 0, delay: 0 });
    window.fetch = async (...given) => {
        window.underWay += 1;
        window.asked += 1;
        try {
            if (window.delay) await new Promise((resolve) => setTimeout(resolve, window.delay));
            const answer = await now(...given);
            await answer.clone().arrayBuffer();
            return answer;
        } finally {
            window.underWay -= 1;
        }
    };
})()"""
# Whether two frames were painted, and nothing was asked of the service meanwhile.
AT_REST = """async () => {
    const { asked } = window;
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
    return !window.underWay && window.asked === asked;
}"""


def opener(browser: Browser, service: Standing) -> Iterator[Opened]:
    """Opens the page; at the end nothing but the service was asked, and nothing was complained
    of.
    """
    contexts, asked, said = [], [], []

    def open_page(
        *documents: dict[str, Any],
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        curator: str = "",
        fails: str = "-",
        token: str = "",
        left: Any = None,  # by whoever had this browser before
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            storage_state=left,
        )
        contexts.append(context)
        context.add_init_script(COUNTED)
        if token:
            context.add_init_script(f"sessionStorage.setItem('fascicle-token', {token!r})")
        page = context.new_page()
        # of milliseconds; how long a page takes depends on who else is at work
        page.set_default_timeout(120_000)
        page.on("request", lambda request: asked.append(request.url))
        # A browser complains of each answer that is no success; tests name those that they want.
        page.on(
            "console", lambda message: None if fails in message.text else said.append(message.text)
        )
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(f"http://127.0.0.1:{service.port}/")
        page.wait_for_selector("#pipelines option", state="attached")
        if curator:
            page.evaluate("name => localStorage.setItem('fascicle-curator', name)", curator)
        if documents:
            load(page, *documents)
        return page

    yield open_page
    for context in contexts:
        context.close()
    here = f"http://127.0.0.1:{service.port}/"
    assert [url for url in asked if not url.startswith((here, "blob:"))] == []
    assert said == []


def load(page: Page, *documents: dict[str, Any]) -> None:
    """Opens documents in the native format, as a file."""
    lines = "".join(json.dumps({"fascicle": 2, **one}) + "\n" for one in documents)
    page.set_input_files(
        "input[aria-label='Files to annotate']",
        {"name": "given.jsonl", "mimeType": "", "buffer": lines.encode()},
    )
    page.wait_for_selector("#sheet .block", state="attached")


def until(page: Page, condition: str, given: Any = None) -> None:
    """Waits until an expression, or a function of what is given, is true.

    Playwright's own ``wait_for_function`` asks for ``eval`` in the page, which its policy rightly
    forbids."""
    end = time.monotonic() + 120
    while not holds(page, condition, given):
        assert time.monotonic() < end, f"never true: {condition}, {given!r}"
        page.wait_for_timeout(50)


def holds(page: Page, condition: str, given: Any = None) -> bool:
    """Whether an expression is true now; not while the page is being loaded again."""
    try:
        return bool(page.evaluate(condition, given))
    except Exception as error:
        if "context was destroyed" in str(error):
            return False
        raise


def press(page: Page, *keys: str) -> None:
    """Presses keys one after the other, each when the page has shown what the one before did."""
    for key in keys:
        page.keyboard.press(key)
        rest(page)


def rest(page: Page) -> None:
    """Waits until the page has the answers to all that it asked, and shows them."""
    until(page, AT_REST)


def tally(page: Page, wanted: str) -> None:
    """Waits until so many mentions are decided, and all decisions are saved."""
    until(
        page, "wanted => document.querySelector('.tally')?.textContent.startsWith(wanted)", wanted
    )
    saved(page)


def saved(page: Page) -> None:
    until(page, "!document.querySelector('.saving')")


def slow(page: Page, milliseconds: int) -> None:
    """Lets each request of the page wait before it leaves."""
    page.evaluate("milliseconds => void (window.delay = milliseconds)", milliseconds)


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
