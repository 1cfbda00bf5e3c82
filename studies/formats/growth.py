"""By how many tokens the package grew for texts and files as they arrive, commit by commit.

usage: python -m studies.formats.growth

``growth.txt`` names the commits, and what each is about. A commit that also does something else
counts as a whole. Tokens are those of `tests.density`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.density import code_of, docstring_lines

from studies.common import write_result

_COMMITS = Path(__file__).with_name("growth.txt")


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@cache
def _tokens(blob: str) -> int:
    """Returns the tokens of a module as git stores it; none of one that is not there."""
    if not blob.strip("0"):
        return 0
    text = _git("cat-file", "blob", blob)
    return len(code_of(text, docstring_lines(ast.parse(text)))[0])


def growth(commit: str) -> int:
    """Returns by how many tokens a commit let the package grow."""
    changes = _git(
        "diff-tree", "-r", "--no-renames", "--no-abbrev", f"{commit}^", commit, "--", "src"
    )
    modules = [line.split("\t") for line in changes.splitlines() if line.endswith(".py")]
    return sum(_tokens(facts.split()[3]) - _tokens(facts.split()[2]) for facts, _ in modules)


def _commits() -> Iterator[list[str]]:
    for line in _COMMITS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def main() -> int:
    """Writes the tokens of each subject."""
    tokens = Counter[str]()
    for commit, subject in _commits():
        tokens[subject] += growth(commit)
    result = {"commits": len(list(_commits())), "tokens": tokens.total(), "subjects": dict(tokens)}
    write_result("growth-of-readers", result)
    print(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
