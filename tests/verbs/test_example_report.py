"""The example report is what its command makes of the predictions beside it, and these are what
a model said.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from fascicle.formats.files import read

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "report"
PAGE = ROOT / "docs" / "examples" / "report.html"
GUIDE = (FOLDER / "README.md").read_text(encoding="utf-8")
PINNED = re.search(
    r"^matplotlib==(\S+)", (ROOT / "constraints-dev.txt").read_text(encoding="utf-8"), re.MULTILINE
)
PICTURE = re.compile(r"<svg.*?</svg>", re.DOTALL)
Cli = Callable[..., Any]


def test_the_page_is_what_its_command_makes(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (command,) = re.findall(r"^fascicle (evaluate .*)$", GUIDE, re.MULTILINE)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "docs" / "examples").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    result = cli(*shlex.split(command))
    assert result.code == 0, result.err
    made, kept = (
        (folder / PAGE.relative_to(ROOT)).read_text(encoding="utf-8") for folder in (tmp_path, ROOT)
    )
    assert PICTURE.sub("", made) == PICTURE.sub("", kept), (
        "docs/examples/report.html: run the command again"
    )
    assert len(PICTURE.findall(made)) == len(PICTURE.findall(kept)) > 10
    assert PINNED is not None
    if mpl.__version__ == PINNED[1]:  # another Matplotlib draws the same with other bytes
        assert made == kept, "docs/examples/report.html: run the command again"


def test_the_page_is_small_and_complete() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(page.encode()) < 1_000_000
    for part in (
        "Is the difference real?",
        "Can the scores be trusted?",
        "Where does it fail?",
        "bc5cdr",
        "first-model",
    ):
        assert part in page
    assert "http://" not in page
    assert "No picture" not in page


def test_the_guide_counts_its_text() -> None:
    documents = list(read(FOLDER / "gold.pubtator"))
    mentions = sum(len(one.mentions) for one in documents)
    sentences = sum(len(re.findall(r"\.(?= |$)", one.text)) for one in documents)
    assert f"{len(documents)} invented case notes, {sentences} sentences" in GUIDE
    assert f"{mentions} mentions" in GUIDE
