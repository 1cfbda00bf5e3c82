"""The list of guards: each change fits to the sources, each test is there, and CONTRIBUTING.md
has every kind.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.mutants import ROOT, Mutant, read_mutants

MUTANTS = read_mutants()
ROW = re.compile(r"^\| ([a-z ]+) \| [^|]+ \| (`test_\w+`(?:, `test_\w+`)*) \|$", re.MULTILINE)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_a_mutant_fits_to_the_sources(mutant: Mutant) -> None:
    content = (ROOT / "src" / "fascicle" / mutant.file).read_text(encoding="utf-8")
    ast.parse(mutant.changed(content))
    for test in mutant.tests:
        path, _, name = test.partition("::")
        assert (
            f"def {name}" in (ROOT / path).read_text(encoding="utf-8")
            if name
            else (ROOT / path).exists()
        )


def test_every_kind_of_guard_is_explained() -> None:
    rows = dict(ROW.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    assert rows.keys() == {one.kind for one in MUTANTS}
    assert len({one.name for one in MUTANTS}) == len(MUTANTS) >= 43
    tests = "".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py")
    )
    for name in re.findall(r"test_\w+", " ".join(rows.values())):
        assert f"def {name}(" in tests, name
