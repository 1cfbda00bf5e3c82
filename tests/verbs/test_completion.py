"""Completion in a real shell, by the script of shtab that the documentation names."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BASH = shutil.which("bash")
_ASK = """
complete() { return; }  # there is no line editor
source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shtab_fascicle
printf "%s\\n" "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("shtab")
    path = tmp_path_factory.mktemp("shell") / "fascicle.bash"
    command = [sys.executable, "-m", "shtab", "--shell", "bash", "fascicle.cli.build_parser"]
    path.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    return path


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ann",), {"annotate"}),
        (("annotate", "--over"), {"--overwrite"}),
        (("annotate", "--format", "pubt"), {"pubtator", "pubtator3"}),
        (("annotate", "--output", "my-"), {"my-notes.txt"}),
        (("annotate", "my-"), {"my-notes.txt"}),
        (("run", "--output", "my-"), {"my-notes.txt"}),
        (("corpus", "check", "my-"), {"my-notes.txt"}),
    ],
)
def test_bash_completes_commands_options_values_and_files(
    script: Path, tmp_path: Path, words: tuple[str, ...], expected: set[str]
) -> None:
    (tmp_path / "my-notes.txt").touch()
    command = ["bash", "-c", _ASK, str(script), "fascicle", *words]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (set(result.stdout.split()), result.stderr) == (expected, "")


def test_the_command_of_earlier_versions_names_shtab(refused: Callable[..., str]) -> None:
    message = refused("completion", "bash")
    assert "'fascicle[completion]'" in message
    assert "source <(shtab --shell bash fascicle.cli.build_parser)" in message
    assert "did you mean" not in message
