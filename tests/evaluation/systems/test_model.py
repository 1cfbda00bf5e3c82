"""A model in the place of a prediction file: one answer with and without a file of
distributions.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

from fascicle.core.document import Document
from fascicle.evaluation.systems.model import ModelRequest, predict
from fascicle.formats.account import EventCounts
from fascicle.loading import load
from fascicle.settings.choices import Choices
from fascicle.settings.decision import Ends

TEXT = "the patient has lung cancer. aspirin caused pain ."


@pytest.mark.parametrize("ends", [None, "corpus"])
def test_types_apart_are_scored_and_counted_alike_with_distributions(
    tiny_run: Path, tmp_path: Path, ends: Ends | None
) -> None:
    folder = Path(shutil.copytree(tiny_run / "best", tmp_path / "model"))
    mentions = load(folder)(TEXT).mentions
    kind, strict = mentions[0].type, {"low": 1.0, "alone": 1.0}
    described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    described["decision"] |= {"apart": [kind], "document": {"types": {kind: strict}}}
    (folder / "model.json").write_text(json.dumps(described), encoding="utf-8")
    gold, answers = [Document(id="1", text=TEXT, mentions=mentions)], []
    for place in ("", str(tmp_path / "found.jsonl")):
        events = EventCounts()
        found = predict(
            ModelRequest(model=str(folder), choices=Choices(ends=ends), distributions=place),
            gold,
            events=events,
        )
        answers.append((tuple(found.mentions["1"]), dict(events.counts)))
    assert answers[0] == answers[1]
    assert bool(answers[0][1]) is (ends == "corpus")
