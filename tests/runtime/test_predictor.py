"""What a predictor says about text that the network did not see."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("torch")

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.loading import load
from fascicle.settings.decision import Calibration
from fascicle.settings.folders.manifest import read_manifest, write_manifest


def codes(run: Path, document: Document) -> list[str]:
    (patch,) = load(run / "best", links=False).predict([document])
    return [event.code for event in patch.events]


def test_text_outside_the_given_sentences_is_read_too(tiny_run: Path) -> None:
    text = "the patient has lung cancer. no fever, no pain."
    document = Document(id="1", text=text, sentences=((0, 28),))
    (whole,) = load(tiny_run / "best", links=False).predict([document])
    assert {(m.start, m.end) for m in whole.add} >= {(16, 27), (32, 37), (42, 46)}
    assert whole.events == ()


def test_text_outside_the_given_words_is_told(tiny_run: Path) -> None:
    assert codes(tiny_run, Document(id="1", text="lung cancer", words=((0, 4),))) == ["unread-text"]
    assert codes(tiny_run, Document(id="1", text="lung cancer .", words=((0, 4), (5, 11)))) == []


def test_words_without_known_letters_are_told(tiny_run: Path) -> None:
    assert codes(tiny_run, Document(id="1", text="the xyzzy has cancer")) == ["unknown-word"]
    assert codes(tiny_run, Document(id="1", text="the cancer 😀")) == []


def test_a_mention_exactly_at_the_threshold_is_kept(tiny_run: Path, tmp_path: Path) -> None:
    document = Document(id="1", text="aspirin caused pain in the patient .")
    (every,) = load(tiny_run / "best").predict([document])
    least = min(mention.score or 0.0 for mention in every.add)
    shutil.copytree(tiny_run / "best", tmp_path / "model")
    manifest = read_manifest(tmp_path / "model")
    for threshold, lost in ((least, 0), (least + 1e-6, 1)):
        calibration = Calibration(threshold=threshold, chosen_on="")
        decision = msgspec.structs.replace(manifest.decision, calibration=calibration)
        write_manifest(tmp_path / "model", msgspec.structs.replace(manifest, decision=decision))
        (patch,) = load(tmp_path / "model", links=False).predict([document])
        assert len(patch.add) == len(every.add) - lost
        assert [event.code for event in patch.events] == ["below-threshold"] * lost


@pytest.mark.parametrize("bad", [["a\ud800"], [Document(id="1", text="a")], [3]])
def test_what_is_no_text_is_refused(tiny_run: Path, bad: list[object]) -> None:
    with pytest.raises(InputError):
        load(tiny_run / "best").annotate(bad)  # type: ignore[arg-type]
