"""What is said of a value that no pattern allows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import pytest

import fascicle
from fascicle.settings.base import WORDS, in_words, locate_error

PACKAGE = Path(fascicle.__file__).parent


def patterns() -> Iterator[str]:
    """Every pattern that the package gives to ``Meta``."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield from (
                    ast.literal_eval(one.value) for one in node.keywords if one.arg == "pattern"
                )


def error_of(pattern: str, value: str) -> msgspec.ValidationError:
    form = msgspec.defstruct("form", [("key", Annotated[str, msgspec.Meta(pattern=pattern)])])
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert({"key": value}, type=form)
    return caught.value


def test_every_pattern_of_the_package_has_its_words() -> None:
    assert set(patterns()) == set(WORDS)


@pytest.mark.parametrize("pattern", WORDS)
def test_an_error_says_the_words_and_the_place_and_no_pattern(pattern: str) -> None:
    bad = next(value for value in ("\n \x00!", "") if not re.search(pattern, value))
    what, key = locate_error(error_of(pattern, bad))
    assert key == "key"
    assert "regex" not in what
    assert what.endswith(WORDS[pattern])
    assert in_words(str(error_of(pattern, bad))).endswith("- at `$.key`")


@pytest.mark.parametrize(
    "message", ["", "Expected `str`, got `int`", "Expected `str` matching regex 'unknown'"]
)
def test_other_messages_stay(message: str) -> None:
    assert in_words(message) == message
