"""The how-to of a new model is followed literally: in a copy of the repository its example
passes the suite.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import fields

from fascicle.models.heads.contract import Head
from fascicle.models.nn.contrast import ContrastForm, ContrastiveScorer
from fascicle.runtime.decoding.chains import ChainScores
from fascicle.runtime.decoding.kinds import HeadKind
from fascicle.runtime.decoding.spans import candidate_spans
from fascicle.text.targets import HeadLimits

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to-add-a-model.md").read_text(encoding="utf-8")
CONTRACT = (ROOT / "docs" / "contribute" / "heads.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PLACE = re.compile(r"^A (?:new file|change of) `([^`]+)`:$", re.MULTILINE)
MOST_LINES = 90  # of at most 100 columns


@dataclass(frozen=True, kw_only=True)
class Step:
    """A file to make, or a change of one: a hunk with its context, without line numbers."""

    path: str
    language: str
    content: str

    @property
    def added(self) -> list[str]:
        """The lines that the newcomer writes."""
        lines = self.content.splitlines()
        return (
            [line[1:] for line in lines if line.startswith("+")]
            if self.language == "diff"
            else lines
        )

    def apply(self, root: Path) -> None:
        """Makes the change, unless a reader of the page has made it already."""
        path = root / self.path
        if self.language == "python":
            if path.exists():
                assert path.read_text(encoding="utf-8") == self.content, (
                    f"{self.path} is there, and is another"
                )
            path.write_text(self.content, encoding="utf-8")
            return
        assert all(line[0] in " +-" for line in self.content.splitlines())
        old, new = (
            "".join(line[1:] for line in self.content.splitlines(keepends=True) if line[0] in signs)
            for signs in (" -", " +")
        )
        text = path.read_text(encoding="utf-8")
        if text.count(new) == 1 and text.count(old) == new.count(old):
            return
        assert text.count(old) == 1, f"the page changes what does not stand in {self.path}:\n{old}"
        path.write_text(text.replace(old, new), encoding="utf-8")


def steps() -> Iterator[Step]:
    """What the page tells to write, in order; a block belongs to the file that was named last."""
    places = [(found.end(), found[1]) for found in _PLACE.finditer(PAGE)]
    for block in _BLOCK.finditer(PAGE):
        if block[1] in ("python", "diff"):
            yield Step(
                path=[path for end, path in places if end < block.start()][-1],
                language=block[1],
                content=block[2],
            )


def blocks(language: str) -> list[str]:
    return [found[2] for found in _BLOCK.finditer(PAGE) if found[1] == language]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of what the suite needs, with the changes of the page."""
    for name in ("src", "tests"):
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "assets")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for step in steps():
        step.apply(tmp_path)
    return tmp_path


def run(repository: Path, *command: str) -> str:
    """Runs a module of Python with the copy of the package; returns what it printed."""
    path = os.pathsep.join([str(repository / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *command],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_changes_of_the_page_fit_the_code_and_are_few(repository: Path) -> None:
    written = [line for step in steps() for line in step.added]
    assert 0 < len(written) < MOST_LINES, f"the worked example has {len(written)} lines"
    assert 'tag="dot"' in (repository / "src" / "fascicle" / "settings" / "heads.py").read_text(
        encoding="utf-8"
    )


def test_the_page_names_the_whole_contract_and_every_table() -> None:
    contract = {name for name in vars(Head) if not name.startswith("_")} | {
        "limits",
        "axes",
        "Head",
    }
    methods = {
        "outputs",
        "inputs",
        "gold",
        "without",
        "targets",
        "scores",
        "loss",
        "look_for",
        "forget",
    }
    methods |= {"soft_gold", "imitation", "imitates", "scheme"}
    assert contract == {"Head", "limits", "axes", *methods}
    assert contract <= set(re.findall(r"^\| `(\w+)", CONTRACT, re.MULTILINE))
    record = CONTRACT.partition("| field of `HeadKind` |")[2].partition("\n\n")[0]
    assert all(
        re.search(rf"^\| [^|]*\b{field.name}\b", record, re.MULTILINE) for field in fields(HeadKind)
    )
    assert all(f"`{field.name}`" in CONTRACT for field in fields(HeadLimits))
    with pytest.raises(
        ValueError, match="a span head has the tables starts, ends, widths, spans, "
    ) as refused:
        candidate_spans({}, [], longest=1)
    of_spans = str(refused.value).split("tables ")[1].split(", one")[0].split(", ")
    of_taggers = ["emissions", *ChainScores.__annotations__]
    listed = re.findall(r"^\|[^|]*\|([^|]*)\| `\[", CONTRACT, re.MULTILINE)
    both = ContrastiveScorer(ContrastForm(), width=8, types=1).outputs
    assert re.findall(r"`(\w+)`", "".join(listed)) == [*of_taggers, *of_spans, *both]


@pytest.mark.slow
def test_the_worked_example_passes_the_contract_suite(repository: Path) -> None:
    written = sorted({step.path for step in steps()})
    run(repository, "-m", "ruff", "check", *written)
    run(repository, "-m", "ruff", "format", "--check", *written)
    (recipe,) = blocks("toml")
    given = f"name = 'x'\n[corpus]\ntrain = 'a'\ndev = 'b'\n{recipe}"
    code = (
        "import sys, tomllib; from fascicle.settings.recipes.any import parse_recipe;"
        "print(parse_recipe(tomllib.loads(sys.argv[1]), origin='page').model.head)"
    )
    assert run(repository, "-c", code, given).startswith("DotSettings(")
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    (command,) = (line for line in commands if line.startswith("pytest "))
    said = run(repository, "-m", *shlex.split(command), "-p", "no:cacheprovider", "-q")
    counts = {
        what: int(count) for count, what in re.findall(r"(\d+) (passed|skipped|failed|error)", said)
    }
    assert counts.keys() == {"passed"}
    assert counts["passed"] > 20, said
