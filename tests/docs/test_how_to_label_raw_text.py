"""The page on labelling raw text is followed literally."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from tests.pages import blocks

from fascicle.cli import main
from fascicle.verbs.label import read_label_facts

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to-label-raw-text.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples" / "abstracts", tmp_path / "examples" / "abstracts")
    monkeypatch.chdir(tmp_path)


def test_the_commands(capfd: pytest.CaptureFixture[str]) -> None:
    for block in blocks(PAGE, "sh"):
        for line in block.splitlines():
            assert main(shlex.split(line)[1:]) == 0
    assert "biomed" in capfd.readouterr().out
    whole, safe = read_label_facts("abstracts.labels").end, read_label_facts("safe.labels").end
    assert (whole.documents, safe.documents, safe.left_out) == (7, 6, {"same-id": 1})


def test_the_python(capfd: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks(PAGE, "python")
    exec(compile(code, "page", "exec"), {})
    said = capfd.readouterr().out.splitlines()
    assert said[0].startswith("7 ")
    assert len(said) == 8
