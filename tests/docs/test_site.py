"""The site is built offline from every page, and a dead link, a dead anchor or a page outside
the navigation fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.axe import violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

for needed in ("sphinx", "myst_parser", "furo"):
    pytest.importorskip(needed)

ROOT = Path(__file__).resolve().parents[2]
# each kind
SHOWN = ("index", "genindex", "search", "contribute/plugins", "formats/json", "python/settings")
PROBLEMS = {
    "a dead link": "\n[nowhere](nowhere.md)\n",
    "a dead anchor": "\n[nowhere](formats.md#nowhere)\n",
    "a dead picture": "\n![nothing](nothing.svg)\n",
}


def build(repository: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """What ``make docs`` runs, where no proxy and no name server answers."""
    nowhere = dict.fromkeys(
        ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"
    )
    options = [
        "--fail-on-warning",
        "--keep-going",
        "--builder",
        "html",
        "-d",
        str(out / "doctrees"),
    ]
    command = [
        sys.executable,
        "-m",
        "sphinx",
        *options,
        str(repository / "docs"),
        str(out / "html"),
    ]
    return subprocess.run(
        command, env={**os.environ, **nowhere}, capture_output=True, text=True, check=False
    )


@dataclass(frozen=True)
class Site:
    """The site of a copy of the documentation."""

    repository: Path
    out: Path
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A copy of the documentation, beside links to everything else, and what was built of it."""
    folder = tmp_path_factory.mktemp("site")
    copy = folder / "repository"
    copy.mkdir()
    for path in ROOT.iterdir():
        if path.name not in ("docs", "build", ".git"):
            (copy / path.name).symlink_to(path)
    shutil.copytree(ROOT / "docs", copy / "docs")
    return Site(copy, folder / "out", build(copy, folder / "out"))


@pytest.mark.slow
def test_every_page_is_built(site: Site) -> None:
    assert site.done.returncode == 0, site.done.stderr
    pages = [
        path.relative_to(ROOT / "docs").with_suffix(".html")
        for path in (ROOT / "docs").rglob("*.md")
    ]
    assert len(pages) > 30
    assert [str(page) for page in pages if not (site.out / "html" / page).is_file()] == []
    settings = (site.out / "html" / "python" / "settings.html").read_text(encoding="utf-8")
    assert "patience_epochs" in settings


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [375, 1280])
def test_axe_finds_nothing(site: Site, browser: Browser, axe: str, width: int, dark: bool) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
    )
    for name in SHOWN:
        page.goto((site.out / "html" / f"{name}.html").as_uri())
        assert violations(page, axe) == [], name
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
    page.close()


@pytest.mark.slow
def test_dead_references_and_lost_pages_fail(site: Site) -> None:
    """One build finds them all, and names each with its page; it reads only what has changed."""
    page = site.repository / "docs" / "scores.md"
    page.write_text(page.read_text(encoding="utf-8") + "".join(PROBLEMS.values()), encoding="utf-8")
    (site.repository / "docs" / "lost.md").write_text("# Lost\n", encoding="utf-8")
    done = build(site.repository, site.out)
    assert done.returncode != 0
    complaints = [line for line in done.stderr.splitlines() if "WARNING" in line or "ERROR" in line]
    assert len([line for line in complaints if "scores.md" in line]) >= len(PROBLEMS), done.stderr
    for sign in ("nowhere.md", "'formats': 'nowhere'", "nothing.svg", "lost.md"):
        assert any(sign in line for line in complaints), (sign, done.stderr)
