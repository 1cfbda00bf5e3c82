"""The Makefile asks for what a target needs before it builds an environment."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_OF_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "FASCICLE_DATA", "BESIDE", "ROOM")

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


def make(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs make with no Python that could build something."""
    command = ["make", "PYTHON=false", f"VENV={tmp_path}/venv", f"RATIOS={tmp_path}/ratios"]
    environment = {name: value for name, value in os.environ.items() if name not in _OF_MAKE}
    return subprocess.run(
        [*command, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(("target", "name"), [("ratios", "FASCICLE_DATA"), ("room", "ROOM")])
def test_a_target_without_what_it_needs_ends_with_a_sentence(
    tmp_path: Path, target: str, name: str
) -> None:
    result = make(tmp_path, target)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"make {target} needs {name}" in result.stderr.splitlines()[0]
    assert not list(tmp_path.iterdir())


def test_ratios_are_measured_on_unpacked_results_and_say_what_ran_beside_them(
    tmp_path: Path,
) -> None:
    lines = make(tmp_path, "-n", "ratios", "FASCICLE_DATA=data", "BESIDE=two trainings").stdout
    assert '--beside "two trainings"' in lines
    assert lines.index("studies.results_packs unpack") < lines.index("studies.speed.ratios")
