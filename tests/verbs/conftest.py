"""Running commands in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fascicle.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs ``fascicle`` with some arguments; gives the exit code and what was printed."""

    def run(*argv: object) -> Result:
        capfd.readouterr()
        code = main([str(argument) for argument in argv])
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return run


@pytest.fixture
def refused(cli: Callable[..., Result]) -> Callable[..., str]:
    """Runs what must end with exit code 2 and one sentence, which it gives; nothing else is
    printed.
    """

    def run(*argv: object) -> str:
        result = cli(*argv)
        assert result.code == 2, result
        assert result.out == ""
        assert result.err.startswith("fascicle: error: ")
        assert result.err.count("\n") == 1
        assert "Traceback" not in result.err
        return result.err

    return run


@pytest.fixture(scope="session")
def model(tiny_run: Path) -> Path:
    """A model folder that finds the mentions of the toy corpus."""
    return tiny_run / "best"


@pytest.fixture
def names(tmp_path: Path) -> Path:
    """A small dictionary, which is a model too."""
    path = tmp_path / "names.tsv"
    path.write_text("Chemical\taspirin\nDisease\tlung cancer\nDisease\tfever\n", encoding="utf-8")
    return path
