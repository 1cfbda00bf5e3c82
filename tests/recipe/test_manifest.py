"""``model.json``: what is written reads back, what makes no sense is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from fascicle.recipe.heads import SoftmaxSettings
from fascicle.recipe.manifest import Decision, Manifest, TokenizerFacts
from fascicle.recipe.settings import ReadingSettings


def manifest(**changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "name": "m",
        "fascicle": "0.1.0",
        "runtime": "torch",
        "types": ("Chemical", "Disease"),
        "heads": {"tagger": SoftmaxSettings(level="piece", specials="include")},
        "reading": ReadingSettings(unit="packed", max_length=128),
        "tokenizer": TokenizerFacts(sha256="0" * 64, prefix=(101,), suffix=(102,), pad=0),
        "decision": Decision(answer="tagger", decoding="strict", chosen_on="f" * 64),
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
    with pytest.raises(msgspec.ValidationError, match=r"the answering head 'other' is not one of \['tagger'\]"):
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
