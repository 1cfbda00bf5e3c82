"""The page on many documents is followed literally: its commands, its line, its Python."""

from __future__ import annotations

import contextlib
import io
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pages import blocks

from fascicle.settings.folders.shipped import shipped_models

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to-annotate-many.md").read_text(encoding="utf-8")
WALK = [shlex.split(line)[1:] for block in blocks(PAGE, "sh") for line in block.splitlines()]

pytestmark = pytest.mark.skipif(not shipped_models(), reason="the model is not in this checkout")


def test_the_walk(cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    said = [cli(*command) for command in WALK]
    assert [result.code for result in said] == [0] * len(WALK)
    assert said[0].err.splitlines()[-1] in PAGE
    assert sorted(path.name for path in Path("annotated").glob("[!.]*")) == sorted(
        path.with_suffix(".jsonl").name for path in Path("examples/abstracts").glob("*.txt")
    )
    assert Path("long.jsonl").read_bytes() == Path("annotated.jsonl").read_bytes()
    rows = [
        line.split("\t")
        for line in Path("diseases.tsv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert {row[1] for row in rows} == {"Disease"}
    assert min(float(row[4]) for row in rows) >= 0.9
    own, both = (
        Path(name).read_text(encoding="utf-8").splitlines()
        for name in ("only-mine.tsv", "with-mine.tsv")
    )
    assert len(both) > len(own) > 1
    assert {tuple(row.split("\t")[:4]) for row in own} <= {
        tuple(row.split("\t")[:4]) for row in both
    }


def test_the_python() -> None:
    names: dict[str, Any] = {}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for code in blocks(PAGE, "python"):
            exec(compile(code, "how-to-annotate-many.md", "exec"), names)
    assert said.getvalue().splitlines()[0].startswith("pmid-1 [('Chemical', 'Lithium')")
    assert said.getvalue().splitlines()[-1] == "['text-1', 'text-3'] 1"
