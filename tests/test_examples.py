"""Programs and the notebook of ``examples/`` run as they stand."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = sorted(path.name for path in (EXAMPLES / "python").glob("*.py"))
NOTEBOOK = EXAMPLES / "notebook/ten-tasks.ipynb"
MOST_LINES = 5


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A copy, in which examples may write."""
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))


def _cells() -> list[dict[str, Any]]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_the_notebook_has_ten_short_tasks_and_no_outputs() -> None:
    assert len(_cells()) == 10
    for cell in _cells():
        assert len([line for line in cell["source"] if line.strip()]) <= MOST_LINES
        assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_the_notebook_runs(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(examples / "notebook")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {}
    for cell in _cells():
        code = "".join(cell["source"])
        if "import spacy" not in code or find_spec("spacy"):
            exec(compile(code, cell["id"], "exec"), names)
    assert [mention.text for mention in names["diseases"]] == ["nephrogenic diabetes insipidus"]
    assert names["mentions"].num_rows >= 2
    assert len(names["annotated"]) == 2
    assert names["own"].mentions[0].links[0].curie == "OWN:1"
    assert Path("diseases.toml").read_text(encoding="utf-8").count("Disease") == 1


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("own_names.py", "Disease our syndrome OWN:1"),
        ("scores.py", "tagger.dev\tmicro\t0.80"),
        ("workers.py", "lithium-suicidality "),
    ],
)
def test_a_program_runs(name: str, line: str, examples: Path) -> None:
    assert name in PROGRAMS
    command = [sys.executable, str(examples / "python" / name)]
    done = subprocess.run(
        command, cwd=examples.parent, capture_output=True, text=True, check=True, timeout=300
    )
    assert line in done.stdout


def test_each_program_is_run() -> None:
    assert PROGRAMS == ["own_names.py", "scores.py", "workers.py"]


@pytest.mark.slow
def test_type_checkers_accept_the_programs() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null"]
    done = subprocess.run(
        [*command, *(str(EXAMPLES / "python" / name) for name in PROGRAMS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
