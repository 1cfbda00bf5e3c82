"""The page about plug-ins is followed: its package is built, installed and used in processes of
its own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "contribute" / "plugins.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^A new file `([^`]+)`:\n\n```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILES = dict(_FILE.findall(PAGE))
MOST_LINES = 60


@dataclass(frozen=True, kw_only=True)
class Place:
    """A folder to work in, where the package is installed."""

    folder: Path
    installed: Path

    def run(self, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        python = os.pathsep.join([str(ROOT / "src"), str(self.installed)])
        env = {**os.environ, "PATH": path, "PYTHONPATH": python}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
        return done

    def fascicle(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        return self.run("fascicle", *args, code=code)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("plugins")
    package, installed = folder / "package", folder / "installed"
    package.mkdir()
    for name, content in FILES.items():
        (package / name).write_text(content, encoding="utf-8")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    pip += ["--disable-pip-version-check", "--target", str(installed), str(package)]
    subprocess.run(pip, check=True, capture_output=True, timeout=120)
    program = folder / "bin" / "fascicle"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fascicle "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return Place(folder=folder, installed=installed)


def test_the_page_makes_a_package_of_few_lines() -> None:
    assert set(FILES) == {"pyproject.toml", "made_up.py"}
    written = [line for line in FILES["made_up.py"].splitlines() if line.strip()]
    assert len(written) <= 2 * MOST_LINES
    parts = re.split(r"^class ", FILES["made_up.py"], flags=re.MULTILINE)[1:]
    assert all(len(part.splitlines()) < MOST_LINES for part in parts)


def test_the_blocks_of_the_page_run(place: Place) -> None:
    before = PAGE[: PAGE.index("## Inside the project")]
    run = [
        (language, content)
        for language, content in _BLOCK.findall(before)
        if content not in FILES.values()
    ]
    assert [language for language, _ in run] == ["sh", "python"]
    for language, content in run:
        place.run(*(["bash", "-euc"] if language == "sh" else [sys.executable, "-c"]), content)
    assert (place.folder / "out.made").read_text() == "doc-1\tAspirin changes DNA.\t16-19 Acronym\n"


def test_the_format_is_like_one_of_ours(place: Place) -> None:
    (place.folder / "a.made").write_text(
        "1\ta b\t0-1 X\n1\tc\nbad\n2\tabc\t0-9 X\n", encoding="utf-8"
    )
    done = place.fascicle("corpus", "convert", "a.made", "-o", "a.jsonl", code=3)
    assert "a.made:3" in done.stderr
    assert "a.made:4" in done.stderr
    found = [json.loads(line) for line in (place.folder / "a.jsonl").read_text().splitlines()]
    assert [(one["id"], len(one.get("mentions", []))) for one in found] == [("1", 1), ("1#2", 0)]
    python = "import fascicle; list(fascicle.read('a.made'))"
    assert "a.made:3" in place.run(sys.executable, "-c", python, code=1).stderr
    place.fascicle("corpus", "convert", "a.jsonl", "-o", "c.txt", "--format", "made-up")
    assert (place.folder / "c.txt").read_text() == "1\ta b\t0-1 X\n1#2\tc\n"
    place.fascicle("corpus", "stats", "c.txt", "--input-format", "made-up")


def test_what_the_format_does_not_hold_is_counted_and_refused(place: Place) -> None:
    mention = {"spans": [[0, 1]], "type": "X", "score": 0.5}
    (place.folder / "d.jsonl").write_text(
        json.dumps({"fascicle": 2, "id": "1", "text": "ab", "mentions": [mention]})
    )
    done = place.fascicle("corpus", "convert", "d.jsonl", "-o", "d.made")
    assert "scores" in done.stderr
    place.fascicle("corpus", "convert", "d.jsonl", "-o", "e.made", "--strict", code=2)
    assert not (place.folder / "e.made").exists()
    (place.folder / "f.jsonl").write_text(json.dumps({"fascicle": 2, "id": "1", "text": "a\tb"}))
    place.fascicle("corpus", "convert", "f.jsonl", "-o", "f.made", code=2)


def test_an_unknown_format_is_still_refused_with_the_nearest(place: Place) -> None:
    done = place.fascicle(
        "corpus", "convert", "a.made", "-o", "g.jsonl", "--input-format", "conl", code=2
    )
    assert "conll" in done.stderr
    done = place.run(
        sys.executable, "-c", "import fascicle; fascicle.read('a.made', format='made-upp')", code=1
    )
    assert "made-up" in done.stderr


def test_a_reader_of_several_lines_sets_aside_one_document(tmp_path: Path) -> None:
    (block,) = (
        content
        for _, content in _BLOCK.findall(PAGE[PAGE.index("## Documents of several lines") :])
    )
    assert len(block.splitlines()) < MOST_LINES
    (tmp_path / "blocks.py").write_text(block, encoding="utf-8")
    info = tmp_path / "blocks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: blocks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fascicle.readers]\nblocks = blocks:Blocks\n")
    lines = [
        "## a",
        "Fine.",
        "0..4=X",
        "",
        "## b",
        "## text",
        "0..2=X",
        "## c",
        "Bad.",
        "0..9=X",
        "## d",
        "0..1=X",
        "odd",
    ]
    (tmp_path / "a.blocks").write_text(
        "\n".join([*lines, "## e", "Bad.", "3..3=X", "## f", ""]), encoding="utf-8"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(tmp_path)])}
    command = [sys.executable, "-m", "fascicle", "corpus", "convert", "a.blocks", "-o", "b.jsonl"]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 3, done.stderr
    found = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [(one["id"], one["text"]) for one in found] == [("a", "Fine."), ("b", "## text")]
    assert re.findall(r"a\.blocks:(\d+): no document", done.stderr) == ["8", "13", "16", "17"]


def test_the_same_class_is_a_format_of_ours(tmp_path: Path) -> None:
    """The lines and the row of the page, in a copy of the package."""
    shutil.copytree(
        ROOT / "src" / "fascicle",
        tmp_path / "fascicle",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    inside = PAGE[PAGE.index("## Inside the project") : PAGE.index("## A step")]
    lines, row = (content for _, content in _BLOCK.findall(inside))
    name = re.search(r"`src/(fascicle/\S+/made_up\.py)`", inside)
    table = re.search(r"A new row in `src/(\S+)`", inside)
    assert name is not None
    assert table is not None
    made_up = FILES["made_up.py"][: FILES["made_up.py"].index("class Capitals")]
    (tmp_path / name[1]).write_text(made_up + lines, encoding="utf-8")
    catalogue = tmp_path / table[1]
    before = catalogue.read_text(encoding="utf-8")
    catalogue.write_text(
        before.replace("_ROWS: Final = (\n", f"_ROWS: Final = (\n{row.rstrip()},\n", 1),
        encoding="utf-8",
    )
    (tmp_path / "a.made").write_text("1\ta b\t0-1 X\n", encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "fascicle", "corpus", "convert", "a.made", "-o", "b.made"]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b.made").read_text() == "1\ta b\t0-1 X\n"
