"""What tests of scripts share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def one_thread_of_rayon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some scripts set it for good; a test gives it back."""
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
