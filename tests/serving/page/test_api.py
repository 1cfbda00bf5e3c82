"""The page of the API: it has every route and shape that the service describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from standing import Standing

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.loopback]


@pytest.mark.parametrize("width", [375, 1280])
def test_every_route_and_shape_is_shown(browser: Browser, shown: Standing, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    said: list[Any] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"http://127.0.0.1:{shown.port}/page/api.html")
    page.wait_for_selector("details")
    described = shown.ask("GET", "/openapi.json").json
    heads = page.locator("summary code").all_text_contents()
    routes = [
        f"{method.upper()} {path}" for path, one in described["paths"].items() for method in one
    ]
    assert heads == [*routes, *described["components"]["schemas"]]
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    text = page.inner_text("#api")
    assert "undefined" not in text
    assert "[object" not in text
    wide = (
        "[...document.querySelectorAll('*')].filter((one) => "
        "one.getBoundingClientRect().right > innerWidth)"
    )
    assert page.evaluate(f"{wide}.map((one) => one.outerHTML.slice(0, 99))") == []
    assert said == []
    page.close()


def test_axe_finds_nothing(browser: Browser, shown: Standing, axe: str) -> None:
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{shown.port}/page/api.html")
    page.wait_for_selector("details")
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    assert [one["id"] for one in found["violations"]] == []
    context.close()
