"""Breaks each guard of ``mutants.toml`` in a copy of the sources, and runs the tests that should
notice it.

``python -m tests.mutants [WORD ...]``: the mutants whose names have one of these words, by default
all. A mutant is caught if a test fails or takes far too long. The exit code is 1 if one is not
caught, and 2 if one cannot be tried."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_name("mutants.toml")
COPIED = ("src", "tests")
LEFT = shutil.ignore_patterns("__pycache__", "interop", "reality")
LONGEST = 150.0  # seconds for the tests of one mutant, ...
LONGEST_OF_ALL = 3_600.0  # ... and for all tests without a change
CAUGHT, MISSED, UNTRIED = "caught", "NOT CAUGHT", "cannot be tried"


class Mutant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change that breaks a guard.

    Attributes:
        name: of the guard.
        kind: of the guard, as in CONTRIBUTING.md.
        file: below ``src/fascicle``.
        old: text that occurs once in the file.
        new: in its place.
        tests: that hold the guard, as pytest takes them.
    """

    name: str
    kind: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def changed(self, content: str) -> str:
        """Returns the content of the file with the change."""
        if content.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: the text to change is {content.count(self.old)} times in {self.file}"
            )
        return content.replace(self.old, self.new)


def read_mutants() -> list[Mutant]:
    """Returns all mutants, in their order."""
    tables = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutants"]
    return msgspec.convert(tables, list[Mutant])


def copy_tree(folder: Path) -> None:
    """Copies the sources and the tests; everything else is linked."""
    for path in ROOT.iterdir():
        if path.name in COPIED:
            shutil.copytree(path, folder / path.name, ignore=LEFT, symlinks=True)
        elif not path.name.startswith("."):
            (folder / path.name).symlink_to(path)


def run_tests(folder: Path, tests: tuple[str, ...], *, seconds: float) -> tuple[str, str]:
    """Runs tests in a copy, for some seconds at most; returns what came of it, and the end of
    the output.
    """
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    command += ["--basetemp", str(folder / "temporary")]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "HYPOTHESIS_PROFILE": "mutants"}
    # compiling everything anew for each mutant takes most of the time
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return CAUGHT, "by the time that it takes"
    last = (done.stdout.strip().splitlines() or [done.stderr[-500:]])[-1]
    if done.returncode == 1 and " failed" not in f" {last}":
        return UNTRIED, last  # what a test needs could not be made
    return {0: MISSED, 1: CAUGHT}.get(done.returncode, UNTRIED), last


def try_mutant(folder: Path, mutant: Mutant, *, seconds: float) -> tuple[str, str]:
    """Breaks a guard in a copy, runs its tests for some seconds at most, and mends it."""
    path = folder / "src" / "fascicle" / mutant.file
    content = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutant.changed(content), encoding="utf-8")
        return run_tests(folder, mutant.tests, seconds=seconds)
    finally:
        path.write_text(content, encoding="utf-8")


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(words: list[str]) -> int:
    """Tries the mutants; returns the exit code."""
    chosen = [one for one in read_mutants() if not words or any(word in one.name for word in words)]
    counts = dict.fromkeys((CAUGHT, MISSED, UNTRIED), 0)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        copy_tree(folder)
        tests = tuple(dict.fromkeys(test for one in chosen for test in one.tests))
        started = time.monotonic()
        verdict, said = run_tests(folder, tests, seconds=LONGEST_OF_ALL)
        # a busy machine takes longer for all
        seconds = max(LONGEST, time.monotonic() - started)
        if verdict != MISSED:
            say(f"the tests fail without any change: {said}")
            return 2
        for one in chosen:
            begun = time.monotonic()
            verdict, said = try_mutant(folder, one, seconds=seconds)
            counts[verdict] += 1
            say(f"{verdict:11} {time.monotonic() - begun:5.1f} s  {one.name} ({said})")
    say(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 2 if counts[UNTRIED] else 1 if counts[MISSED] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
