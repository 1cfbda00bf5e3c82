"""The site is built offline from every page, and a dead link, a dead anchor or a page outside the navigation fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

for needed in ("sphinx", "myst_parser", "furo"):
    pytest.importorskip(needed)

ROOT = Path(__file__).resolve().parents[2]
PROBLEMS = {
    "a dead link": "\n[nowhere](nowhere.md)\n",
    "a dead anchor": "\n[nowhere](formats.md#nowhere)\n",
    "a dead picture": "\n![nothing](nothing.svg)\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of the documentation, beside links to everything else."""
    copy = tmp_path / "repository"
    copy.mkdir()
    for path in ROOT.iterdir():
        if path.name not in ("docs", "build", ".git"):
            (copy / path.name).symlink_to(path)
    shutil.copytree(ROOT / "docs", copy / "docs")
    return copy


def build(repository: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """What ``make docs`` runs, where no proxy and no name server answers."""
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    options = ["--fail-on-warning", "--keep-going", "--builder", "html", "-d", str(out / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(repository / "docs"), str(out / "html")]
    return subprocess.run(command, env={**os.environ, **nowhere}, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_page_is_built(repository: Path, tmp_path: Path) -> None:
    done = build(repository, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    pages = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 30
    assert [str(page) for page in pages if not (tmp_path / "out" / "html" / page).is_file()] == []
    settings = (tmp_path / "out" / "html" / "python" / "settings.html").read_text(encoding="utf-8")
    assert "patience_epochs" in settings


@pytest.mark.slow
@pytest.mark.parametrize("problem", sorted(PROBLEMS))
def test_a_dead_reference_fails(problem: str, repository: Path, tmp_path: Path) -> None:
    page = repository / "docs" / "scores.md"
    page.write_text(page.read_text(encoding="utf-8") + PROBLEMS[problem], encoding="utf-8")
    done = build(repository, tmp_path / "out")
    assert done.returncode != 0
    assert "scores" in done.stderr
    assert "noth" in done.stderr or "nowhere" in done.stderr


@pytest.mark.slow
def test_a_page_outside_the_navigation_fails(repository: Path, tmp_path: Path) -> None:
    (repository / "docs" / "lost.md").write_text("# Lost\n", encoding="utf-8")
    done = build(repository, tmp_path / "out")
    assert done.returncode != 0
    assert "lost" in done.stderr
