"""Plug-in steps with settings, in this process and in one of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fascicle.errors import InputError, PluginError, RecipeError
from fascicle.pipeline.loading import open_pipeline
from fascicle.pipeline.process import ProgramStep

SOURCE = """
import os, time
from fascicle.core.document import Mention, Patch
from fascicle.errors import InputError
from fascicle.settings.base import Settings


class Finds(Settings, frozen=True, kw_only=True):
    word: str
    where: str = ""


class Finder:
    Settings = Finds
    name = "finder"
    needs = frozenset()
    gives = frozenset({"mentions"})
    drops = frozenset()
    fingerprint = "1"

    def __init__(self, settings, *, name, folder):
        self.word, self.name, self.folder = settings.word, name, folder
        print("on standard output")
        with open(os.path.join(folder, "process"), "a") as file:
            file.write(f"{os.getpid()}\\n")

    def run(self, documents):
        for document in documents:
            print("on standard output")
            if "raise" in document.text:
                raise InputError("cannot")
            if "exit" in document.text:
                os._exit(3)
            if "sleep" in document.text:
                time.sleep(60)
            at = document.text.find(self.word)
            add = (Mention(((at, at + len(self.word)),), "X", source=self.name),) if at >= 0 else ()
            yield Patch(add=add)


class Plain:
    name = "plain"
    needs = gives = drops = frozenset()
    fingerprint = "1"

    def run(self, documents):
        return [Patch() for document in documents]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a step that takes settings and one that takes none."""
    (tmp_path / "step_with_settings.py").write_text(SOURCE, encoding="utf-8")
    info = tmp_path / "step_with_settings-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: step-with-settings\nVersion: 1.0\n"
    )
    lines = "finder = step_with_settings:Finder\nplain = step_with_settings:Plain\n"
    (info / "entry_points.txt").write_text(f"[fascicle.steps]\n{lines}")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "step_with_settings", raising=False)
    return tmp_path


def pipeline(folder: Path, more: str = "", options: str = 'options = { word = "pain" }') -> Path:
    text = f'[[steps]]\nkind = "plugin"\nplugin = "finder"\n{options}\n{more}\n'
    (folder / "pipeline.toml").write_text(f'name = "p"\n{text}', encoding="utf-8")
    return folder


@pytest.mark.parametrize("apart", ["true", "false"])
def test_it_finds_the_same_in_either_process(folder: Path, apart: str) -> None:
    with open_pipeline(pipeline(folder, f'apart = {apart}\nname = "mine"')) as opened:
        (document,) = opened.stream(["no pain"])
        assert isinstance(opened.steps[1], ProgramStep) == (apart == "true")
    assert [(one.text, one.source) for one in document] == [("pain", "mine")]
    own = str(os.getpid()) in (folder / "process").read_text().split()
    assert own == (apart == "false")


def test_a_document_that_fails_kills_or_stalls_costs_no_other(folder: Path) -> None:
    errors: list[InputError] = []
    texts = ["pain", "raise", "pain", "exit", "pain", "sleep", "pain"]
    with open_pipeline(pipeline(folder, "apart = true\nseconds = 3")) as opened:
        good = list(opened.stream(texts, aside=errors.append))
    assert len(good) == 4
    assert len(errors) == 3
    assert all(document.mentions for document in good)


@pytest.mark.parametrize("apart", ["true", "false"])
@pytest.mark.parametrize(
    ("options", "says"),
    [("", "word"), ("options = { word = 3 }", "word"), ('options = { wrd = "x" }', "word")],
)
def test_wrong_settings_are_refused(folder: Path, apart: str, options: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        open_pipeline(pipeline(folder, f"apart = {apart}", options))
    assert not (folder / "process").exists()


def test_a_step_without_settings_takes_none(folder: Path) -> None:
    for line in ('name = "x"', "options = { a = 1 }"):
        (folder / "pipeline.toml").write_text(
            f'[[steps]]\nkind = "plugin"\nplugin = "plain"\n{line}\n'
        )
        with pytest.raises(RecipeError, match="takes no settings"):
            open_pipeline(folder)
    (folder / "pipeline.toml").write_text('[[steps]]\nkind = "plugin"\nplugin = "nobody"\n')
    with pytest.raises(PluginError, match="nobody"):
        open_pipeline(folder)
