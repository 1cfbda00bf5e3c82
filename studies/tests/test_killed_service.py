"""A service that is killed with all its processes, and started again: nothing that it had
accepted is lost.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.serving.curation.store import GivenStep, Store
from studies.speed.killed_service import _missing, disturb, faults

pytest.importorskip("httpx2")
pytestmark = pytest.mark.loopback


@pytest.mark.slow
def test_nothing_is_lost(tmp_path: Path) -> None:
    found = disturb(tmp_path, kills=3, seed=2, pause=4)
    assert faults(found) == [], found
    assert min(found["answers"], found["jobs"], found["decisions"]) > 0


def test_what_is_lost_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "decisions.sqlite"
    store = Store.open(path)
    store.add([Document(id="a", text="pain")], "Ada")
    step = store.save(GivenStep(document="a", id="0" * 32, who="Ada", after=0, finished=True))
    store.close()
    assert _missing(path, {"0" * 32: (step.number, "a", [])}) == set()
    assert _missing(path, {"0" * 32: (step.number, "a", [{"item": "x"}])}) == {"0" * 32}
    assert _missing(path, {"0" * 32: (step.number, "b", [])}) == {"0" * 32}
    assert _missing(path, {"1" * 32: (step.number, "a", [])}) == {"1" * 32}
