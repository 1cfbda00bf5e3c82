"""The script on runs of any size, on a few documents: what it says of a run is true of its
files.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.speed.scale import (
    PIPELINE,
    Asked,
    identity,
    killed,
    sums,
    undisturbed,
    updated,
    write_documents,
)


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    found = Asked(place=tmp_path, documents=150, workers=1, kills=1, changed=3, seed=1)
    found.pipeline.write_text(PIPELINE, encoding="utf-8")
    write_documents(found.source, range(found.documents))
    return found


@pytest.mark.slow
def test_a_run_is_described(asked: Asked) -> None:
    calm, facts = undisturbed(asked)
    assert facts["each_once"]
    assert facts["account"] == {"documents": 150, "done": 150, "quarantined": 0}
    disturbed = killed(asked, calm)
    assert disturbed["same_bytes"]
    assert disturbed["each_once"]
    part = min((asked.place / "killed").glob("part-*"))
    part.write_bytes(part.read_bytes().partition(b"\n")[2])
    assert sums(asked.place / "killed") != calm
    assert not identity(asked.place / "killed", asked.documents)["each_once"]
    again = updated(asked, calm)
    assert again["each_once"]
    assert again["cpu_seconds"]["update"] > 0
