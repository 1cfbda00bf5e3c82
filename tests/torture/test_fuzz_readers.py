"""Damaged files of every kind: read or refused in one sentence, and nothing changes without a
word.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from fascicle.core.document import Document, Mention
from fascicle.errors import FormatError
from fascicle.formats.report import FailedDocuments

SCRIPT = Path(__file__).with_name("fuzz_readers.py")


@pytest.fixture(scope="module")
def fuzz() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("fuzz_readers", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_damaged_files(count: int) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [
        sys.executable,
        "-m",
        "tests.torture.fuzz_readers",
        "--count",
        str(count),
        "--processes",
        "2",
    ]
    done = subprocess.run(
        command, env=environment, cwd=SCRIPT.parents[2], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_damaged_file_can_be_made_again(fuzz: ModuleType, tmp_path: Path) -> None:
    for name, target in fuzz.TARGETS.items():
        found = []
        for place in ("one", "two"):
            folder = tmp_path / name / place
            folder.mkdir(parents=True)
            target.make(folder, fuzz.random.Random(f"{name} 3"))
            found.append(
                {
                    file.relative_to(folder): file.read_bytes()
                    for file in folder.rglob("*.*")
                    if file.is_file()
                }
            )
        assert found[0] == found[1]


DOCUMENT = Document(
    id="1", text="ab", mentions=(Mention(((0, 1),), "X", score=0.5),), meta={"a": "b"}
)
CHANGES: list[dict[str, Any]] = [
    {"id": "2"},
    {"text": "ac"},
    {"mentions": ()},
    {"mentions": (Mention(((0, 1),), "Y", score=0.5),)},
    {"mentions": (Mention(((0, 2),), "X", score=0.5),)},
    {"mentions": (Mention(((0, 1),), "X"),)},
    {"meta": {}},
    {"words": ((0, 1),)},
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_difference_is_seen_unless_it_is_reported(
    fuzz: ModuleType, change: dict[str, Any]
) -> None:
    other = msgspec.structs.replace(DOCUMENT, **change)
    assert fuzz.kept(DOCUMENT, Counter()) != fuzz.kept(other, Counter())
    lost = {
        "id": "ids",
        "text": "text-between-words",
        "mentions": "mentions",
        "meta": "meta",
        "words": "words",
    }
    named = Counter({lost[name]: 1 for name in change})
    assert fuzz.kept(DOCUMENT, named) == fuzz.kept(other, named)


def _reader(items: list[Any]) -> Any:
    def read(aside: FailedDocuments | None = None) -> Iterator[Any]:
        for item in items:
            with (aside or FailedDocuments()).one():
                if isinstance(item, Exception):
                    raise item
                yield item

    return read


def test_a_reader_that_goes_on_is_held_to_its_account(fuzz: ModuleType) -> None:
    good = _reader([1, FormatError("bad"), 2])
    assert fuzz.check_going_on(good, good) == [1, 2]
    for other in ([1, 2], [2, FormatError("bad")], []):
        with pytest.raises(fuzz.BrokenRuleError):
            fuzz.check_going_on(good, _reader(other))
    with pytest.raises(fuzz.BrokenRuleError):
        fuzz.check_going_on(_reader([1]), good)
    with pytest.raises(ZeroDivisionError):
        fuzz.check_going_on(_reader([ZeroDivisionError()]), good)
