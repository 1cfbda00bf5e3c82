"""Messages are one line, whatever they quote."""

from __future__ import annotations

import pickle

import pytest

from fascicle.errors import FascicleError, FormatError, InputError, MissingExtraError


@pytest.mark.parametrize("kind", [FascicleError, InputError, FormatError])
def test_one_line(kind: type[FascicleError]) -> None:
    said = str(kind("a.txt:1: the type 'a\nb\r\0\x85\u2028\ud800' is bad; rename it"))
    assert said.isprintable()
    assert said.startswith("a.txt:1: the type 'a\\nb\\r")
    assert said.endswith("is bad; rename it")
    assert str(kind("Größe — “fine” 😀")) == "Größe — “fine” 😀"


def test_bounded() -> None:
    said = str(FormatError(f"a.txt:1: the type {'x' * 100_000!r} is bad; rename it"))
    assert len(said) < 1_100
    assert said.startswith("a.txt:1: the type 'x")
    assert said.endswith("x' is bad; rename it")


def test_an_error_from_another_process() -> None:
    error = pickle.loads(pickle.dumps(FormatError("a\nb")))
    assert str(error) == "a\\nb"
    assert "pip install" in str(MissingExtraError("train", "torch"))
