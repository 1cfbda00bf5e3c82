"""Progress in a notebook, with a stand-in for what IPython displays."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fascicle.core import progress
from fascicle.core.progress import track


class Output:
    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def display(self, made: dict[str, str], **_: Any) -> Output:
        self.shown.append(made)
        return self

    def update(self, made: dict[str, str], **_: Any) -> None:
        self.shown.append(made)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Output:
    found = Output()
    shell, display = ModuleType("IPython"), ModuleType("IPython.display")
    shell.get_ipython = lambda: SimpleNamespace(kernel=1)  # type: ignore[attr-defined]
    display.display = found.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    return found


def test_a_notebook_has_one_output_that_changes(
    notebook: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(track(range(4), of=4)) == [0, 1, 2, 3]
    shares = [
        one["text/html"].partition('value="')[2].partition('"')[0] for one in notebook.shown[:-1]
    ]
    assert shares == ["0.250", "0.500", "0.750", "1.000"]
    assert "50%" in notebook.shown[1]["text/plain"]
    assert "text/html" not in notebook.shown[-1]  # no bar is left
    assert capsys.readouterr().err == ""


def test_a_program_that_has_ipython_but_is_no_notebook_writes_lines(
    notebook: Output, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    monkeypatch.setattr(progress, "NOW_AND_THEN", 0.0)
    assert list(track(iter("ab"))) == ["a", "b"]
    assert notebook.shown == []
    assert "2 documents" in capsys.readouterr().err.splitlines()[-1]


def test_it_ends_when_nobody_asks_for_more(notebook: Output) -> None:
    shown = track(range(9), of=9)
    next(shown)
    next(shown)
    shown.close()  # type: ignore[attr-defined]
    assert notebook.shown[-1] == {"text/plain": "done"}
