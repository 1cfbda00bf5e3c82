"""The page in Chromium, at a service on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from standing import Standing, standing
from tests.serving.page.browsing import Opened, opener

from fascicle.serving.server import PipelineOpener
from fascicle.settings.choices import Choices
from fascicle.settings.serving import ServeSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def shown(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service with two pipelines that differ, and a file for decisions."""
    folder = tmp_path_factory.mktemp("shown")
    (folder / "other.tsv").write_text("Chemical\tAspirin\nDisease\tfever\n", encoding="utf-8")
    settings = ServeSettings(curation=str(folder / "decisions.sqlite"))
    pipelines = {
        "small": PipelineOpener(given=str(small)),
        "other": PipelineOpener(given=str(folder / "other.tsv"), choices=Choices(links=False)),
    }
    with standing(pipelines, settings) as found:
        yield found


@pytest.fixture
def opened(browser: Browser, shown: Standing) -> Iterator[Opened]:
    """Opens the page of the service that all tests share."""
    yield from opener(browser, shown)
