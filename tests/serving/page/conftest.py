"""The page in Chromium, at a service on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from standing import Standing, standing
from tests.serving.page.browsing import Opened, load

from fascicle.serving.server import PipelineOpener
from fascicle.settings.serving import ServeSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="package")
def shown(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service with two pipelines that differ, and a file for decisions."""
    folder = tmp_path_factory.mktemp("shown")
    (folder / "other.tsv").write_text("Chemical\tAspirin\nDisease\tfever\n", encoding="utf-8")
    settings = ServeSettings(curation=str(folder / "decisions.sqlite"))
    pipelines = {
        "small": PipelineOpener(given=str(small)),
        "other": PipelineOpener(given=str(folder / "other.tsv"), link=None),
    }
    with standing(pipelines, settings) as found:
        yield found


@pytest.fixture
def opened(browser: Browser, shown: Standing) -> Iterator[Opened]:
    """Opens the page; at the end nothing but the service was asked, and nothing was complained of."""
    contexts, asked, said = [], [], []

    def open_page(
        *documents: dict[str, Any],
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        curator: str = "",
        fails: str = "-",
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)  # of milliseconds; how long a page takes depends on who else is at work
        page.on("request", lambda request: asked.append(request.url))
        # A browser complains of each answer that is no success; tests name those that they want.
        page.on("console", lambda message: None if fails in message.text else said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(f"http://127.0.0.1:{shown.port}/")
        page.wait_for_selector("#pipelines option", state="attached")
        if curator:
            page.evaluate("name => localStorage.setItem('fascicle-curator', name)", curator)
        if documents:
            load(page, *documents)
        return page

    yield open_page
    for context in contexts:
        context.close()
    here = f"http://127.0.0.1:{shown.port}/"
    assert [url for url in asked if not url.startswith((here, "blob:"))] == []
    assert said == []


@pytest.fixture(scope="package")
def axe() -> str:
    """The script of axe-core, which is not ours to keep here."""
    path = Path(__file__).parents[3] / "build" / "axe" / "package" / "axe.min.js"
    if not path.is_file():
        pytest.skip("axe-core is not there: mkdir -p build/axe && cd build/axe && npm pack axe-core && tar xzf *.tgz")
    return path.read_text(encoding="utf-8")
