"""Zero-shot models, as far as no program is needed; ``tests/interop`` has the programs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import fascicle
from fascicle.errors import MissingExtraError, UsageError
from fascicle.runtime.places import from_anywhere, split_zero_shot
from fascicle.settings.choices import Choices


def test_names_of_zero_shot_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert split_zero_shot("gliner:owner/name") == ("gliner", "owner/name")
    assert split_zero_shot("gliner2:folder") == ("gliner2", "folder")
    assert split_zero_shot("gliner:") is split_zero_shot("biomed") is None
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    assert from_anywhere("gliner:folder") == f"gliner:{tmp_path / 'folder'}"
    assert from_anywhere("gliner:owner/name") == "gliner:owner/name"


def test_words_for_types_are_no_paths() -> None:
    assert Choices(types=("disease",)).paths == ()
    assert Choices(types="types.toml").paths == ("types.toml",)


@pytest.mark.parametrize("types", [None, [], ["a", "a=B"], "a,,b"])
def test_types_that_say_nothing_or_are_named_twice(types: list[str] | str | None) -> None:
    with pytest.raises(UsageError, match="does not name each once"):
        fascicle.load("gliner:folder", types=types)


def test_a_program_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gliner2", None)
    with pytest.raises(MissingExtraError, match=r"fascicle\[gliner2\]"):
        fascicle.load("gliner2:folder", types="disease")


def test_words_are_for_zero_shot_models_alone() -> None:
    with pytest.raises(UsageError, match="zero-shot models"):
        fascicle.load("biomed-fast", types=["disease"])
