"""A small pipeline of two dictionaries."""

from __future__ import annotations

from pathlib import Path

import pytest

FIRST = "Chemical\tAspirin\nDisease\theadache\nDisease\tpain\n"
SECOND = "Chemical\tAspirin\nDisease\tsevere headache\n"
TOML = """
name = "small"

[[steps]]
kind = "recogniser"
name = "one"
model = "first.tsv"

[[steps]]
kind = "recogniser"
name = "two"
model = "second.tsv"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds all of a pipeline."""
    (tmp_path / "first.tsv").write_text(FIRST, encoding="utf-8")
    (tmp_path / "second.tsv").write_text(SECOND, encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text(TOML, encoding="utf-8")
    return tmp_path
