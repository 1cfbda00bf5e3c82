"""Other programs that read what we write, and write what we read: run by `make interop`, left
out everywhere else.
"""

from __future__ import annotations

import os

import pytest
from tests.support.interop import TEXTS, document
from tests.support.steps import declare

from fascicle.core.document import Document

collect_ignore_glob = [] if os.environ.get("FASCICLE_INTEROP") else ["test_*.py"]


@pytest.fixture
def documents() -> list[Document]:
    """Documents to write."""
    return [document(number, text) for number, text in enumerate(TEXTS, 1)]


@pytest.fixture
def entry_points(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """The entry points that pyproject.toml declares, where this process and those that it starts
    find them.
    """
    folder = tmp_path_factory.mktemp("installed")
    declared = declare(folder)
    # afterwards, because what was found on a path is remembered
    monkeypatch.syspath_prepend(str(folder))
    return declared
