"""``model.json``: what is written reads back, what makes no sense is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from fascicle.settings.decision import Calibration, IsotonicCurve, TemperatureCurve
from fascicle.settings.folders.manifest import Manifest, ScoreDecision
from fascicle.settings.heads import SoftmaxSettings
from fascicle.settings.inputs import TokenizerFacts
from fascicle.settings.recipes.recogniser import ReadingSettings


def manifest(**changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "name": "m",
        "fascicle": "0.1.0",
        "runtime": "torch",
        "types": ("Chemical", "Disease"),
        "heads": {"tagger": SoftmaxSettings(level="piece", specials="include")},
        "reading": ReadingSettings(unit="packed", max_length=128),
        "tokenizer": TokenizerFacts(sha256="0" * 64, prefix=(101,), suffix=(102,), pad=0),
        "decision": ScoreDecision(answer="tagger", decoding="strict", chosen_on="f" * 64),
    }
    return Manifest(**{**values, **changes})


def test_it_reads_back_as_it_was_written() -> None:
    assert msgspec.json.decode(msgspec.json.encode(manifest()), type=Manifest) == manifest()


def test_the_decision_overrides_the_decoding_of_the_head() -> None:
    head = manifest().heads["tagger"]
    assert head.decoding == "viterbi"
    assert manifest().answering == msgspec.structs.replace(head, decoding="strict")


def test_an_answer_that_no_head_gives_is_refused() -> None:
    content = msgspec.json.encode(manifest()).replace(b'"answer":"tagger"', b'"answer":"other"')
    with pytest.raises(
        msgspec.ValidationError, match=r"the answering head 'other' is not one of \['tagger'\]"
    ):
        msgspec.json.decode(content, type=Manifest)


@pytest.mark.parametrize("language", ["de", "german", ""])
def test_a_language_that_no_text_is_compared_with_is_refused(language: str) -> None:
    assert manifest(language="German").language == "German"
    content = msgspec.json.encode(manifest(language="German")).replace(
        b'"German"', msgspec.json.encode(language)
    )
    with pytest.raises(msgspec.ValidationError, match="write one of English, French, German"):
        msgspec.json.decode(content, type=Manifest)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"format":1', b'"format":0'),
        (b'"runtime":"torch"', b'"runtime":"jax"'),
        (b'"pad":0', b'"pad":0,"padding":1'),
        (b'"decoding":"strict"', b'"decoding":"greedy"'),
        (b'"level":"piece"', b'"level":"word"'),
    ],
)
def test_what_this_release_does_not_know_is_refused(old: bytes, new: bytes) -> None:
    content = msgspec.json.encode(manifest())
    assert old in content
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(content.replace(old, new), type=Manifest)


CALIBRATION = Calibration(
    curve=IsotonicCurve(scores=(0.25, 0.5), values=(0.125, 0.75)),
    threshold=0.5,
    thresholds={"Disease": 0.75},
    wanted="precision 0.9",
    chosen_on="a" * 64,
)


def with_calibration(calibration: Calibration) -> Manifest:
    return manifest(
        decision=ScoreDecision(answer="tagger", decoding="strict", calibration=calibration)
    )


def test_a_calibration_reads_back_as_it_was_written() -> None:
    for curve in (None, TemperatureCurve(temperature=1.5), CALIBRATION.curve):
        given = with_calibration(msgspec.structs.replace(CALIBRATION, curve=curve))
        assert msgspec.json.decode(msgspec.json.encode(given), type=Manifest) == given


def test_a_model_without_calibration_is_written_as_before_there_was_any() -> None:
    content = msgspec.json.decode(msgspec.json.encode(manifest()))
    assert content["decision"] == {
        "answer": "tagger",
        "decoding": "strict",
        "nothing": 0.0,
        "touching": 0.0,
        "chosen_on": "f" * 64,
    }
    assert not msgspec.convert(content, Manifest).decision.calibration


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"Disease":0.75', b'"Drug":0.75'),
        (b'"Disease":0.75', b'"Disease":1.5'),
        (b'"threshold":0.5', b'"threshold":-1'),
        (b'"threshold":0.5', b'"threshold":0.5,"margin":1'),
        (b'"method":"isotonic"', b'"method":"platt"'),
        (b'"scores":[0.25,0.5]', b'"scores":[0.5,0.5]'),
        (b'"scores":[0.25,0.5]', b'"scores":[0.25]'),
        (b'"values":[0.125,0.75]', b'"values":[0.75,0.125]'),
        (b'"values":[0.125,0.75]', b'"values":[0.125,2]'),
    ],
)
def test_a_calibration_that_makes_no_sense_is_refused(old: bytes, new: bytes) -> None:
    content = msgspec.json.encode(with_calibration(CALIBRATION))
    assert old in content
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(content.replace(old, new), type=Manifest)


@pytest.mark.parametrize("temperature", [0.0, -1.0, 1000.0])
def test_temperatures_have_bounds(temperature: float) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"method": "temperature", "temperature": temperature}, TemperatureCurve)
