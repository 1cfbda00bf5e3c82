"""Every script can be imported: what it needs of the library is there, and importing it runs
nothing.
"""

from __future__ import annotations

import importlib
import sys

import pytest

from studies.common import HERE, ROOT

MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (*HERE.glob("[!_]*.py"), *HERE.glob("*/[!_]*.py"))
    if path.parent != HERE / "tests"
)


@pytest.mark.parametrize("name", MODULES)
def test_a_script_is_a_module(name: str) -> None:
    assert importlib.import_module(name) is sys.modules[name]
