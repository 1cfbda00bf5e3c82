"""Pages for contributors name files, classes and functions that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "fascicle"
PAGES = ("architecture.md", "how-to-add-a-model.md", "contribute/heads.md")
_BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_MADE = re.compile(r"^A new file `[^`]+`:$", re.MULTILINE)  # by the reader of an example
_PATH = re.compile(r"(?:[a-z_]+/)*[a-z_0-9]+\.py")
_NAME = re.compile(r"_[A-Za-z]\w+|[A-Z][a-z]+\w*|[A-Z]{2,}[A-Z_]*|[a-z]\w*_\w+")
_OF_EXAMPLES = {"B", "T", "U", "NAME"}


def named(page: str) -> list[str]:
    """What a page has between single backticks, outside its blocks of code and its new files."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return _CODE.findall(_MADE.sub("", _BLOCK.sub("", text)))


def missing_files(codes: list[str]) -> Iterator[str]:
    """Paths that are neither in the package nor in the repository, nor the end of the path of a
    module.
    """
    for code in codes:
        if _PATH.fullmatch(code):
            is_there = any((place / code).exists() for place in (PACKAGE, ROOT))
            if not is_there and not any(PACKAGE.rglob(code)):
                yield code


def missing_names(codes: list[str], words: frozenset[str]) -> Iterator[str]:
    """Names of classes, constants and functions that no module has."""
    for code in codes:
        name = code.partition("(")[0]
        if _NAME.fullmatch(name) and name not in words | _OF_EXAMPLES:
            yield code


@pytest.fixture(scope="module")
def words() -> frozenset[str]:
    texts = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    return frozenset(word for text in texts for word in re.findall(r"\w+", text))


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_name_of_a_page_is_there(page: str, words: frozenset[str]) -> None:
    codes = named(page)
    assert len(codes) > 20
    assert list(missing_files(codes)) == []
    assert list(missing_names(codes, words)) == []


def test_what_is_missing_is_found(words: frozenset[str]) -> None:
    codes = [
        "core/files/atomic.py",
        "core/gone.py",
        "gone.py",
        "core/",
        "gone/",
        "Document",
        "_tagz(chain=False)",
        "GONE",
    ]
    assert list(missing_files(codes)) == ["core/gone.py", "gone.py"]
    assert list(missing_names(codes, words)) == ["_tagz(chain=False)", "GONE"]


def test_the_records_for_each_sort_of_head_are_there() -> None:
    page = (ROOT / "docs/how-to-add-a-model.md").read_text(encoding="utf-8")
    table = page[page.index("| the head |") :].split("\n\n")[0].splitlines()
    records = [name for row in table for name in _CODE.findall(row.split("|")[-2])]
    kinds = (PACKAGE / "runtime/decoding/kinds.py").read_text(encoding="utf-8")
    defined = set(re.findall(r"^(?:def |class )?(\w+)", kinds, re.MULTILINE))
    assert len(records) == 3
    assert [name for name in records if name.partition("(")[0] not in defined] == []
