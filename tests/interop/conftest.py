"""Other programs that read what we write, and write what we read: run by `make interop`, left out everywhere else."""

from __future__ import annotations

import os

import pytest
from tests.support.interop import TEXTS, document

from fascicle.core.document import Document

collect_ignore_glob = [] if os.environ.get("FASCICLE_INTEROP") else ["test_*.py"]


@pytest.fixture
def documents() -> list[Document]:
    """Documents to write."""
    return [document(number, text) for number, text in enumerate(TEXTS, 1)]
