"""Every class of settings has a whole record of its own, and a class from elsewhere can have one
too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import numpy as np
import pytest
from msgspec.structs import fields
from tests.support.reading import TYPES, manifest_of

from fascicle.core.document import Document, Mention
from fascicle.errors import ModelError, UsageError
from fascicle.formats.distributions import DistributionsHeader
from fascicle.runtime.decoding.decoders import Tables
from fascicle.runtime.decoding.kinds import (
    KINDS,
    Definition,
    HeadKind,
    find_kind,
    head_limits,
    make_decoder,
    make_prober,
    probability_definition,
)
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.manifest import check_open_types
from fascicle.settings.heads import (
    HEADS,
    BinderSettings,
    CrfSettings,
    HeadSettings,
    MultiLabelSettings,
    Needs,
    SoftmaxSettings,
    SpanHeadSettings,
    SpanSettings,
)
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import read_documents
from fascicle.text.targets import HeadLimits
from fascicle.text.windows import Batch


class DerivedTagger(SoftmaxSettings, frozen=True, kw_only=True, tag="derived-tagger"):
    """Settings that inherit from those of a family."""


class DerivedSpans(SpanHeadSettings, frozen=True, kw_only=True, tag="derived-spans"):
    """Settings that inherit from those of all span heads."""


class ToySettings(MultiLabelSettings, frozen=True, kw_only=True, tag="toy"):
    """A class of another package; its record is that of a family."""


@pytest.mark.parametrize("family", sorted(HEADS))
def test_every_family_has_a_whole_record(family: str) -> None:
    head = HEADS[family]()
    if head.needs.width:
        head = msgspec.structs.replace(head, width=3)
    record, manifest = KINDS[HEADS[family]], manifest_of(head)
    assert all(getattr(record, field.name) for field in fields(HeadKind) if field.name != "tags")
    assert (record.tags is None) == head_limits(head).of_spans
    assert isinstance(head_limits(head), HeadLimits)
    assert isinstance(head.needs, Needs)
    assert probability_definition(manifest) in get_args(Definition)
    assert make_decoder(manifest).decide([], []) == []
    prober = record.prober(head, manifest.decision, len(TYPES), [])
    assert prober.probabilities([], []) == []


def test_what_a_probability_means_is_the_same_in_files() -> None:
    assert get_type_hints(DistributionsHeader)["definition"] == Definition


@pytest.mark.parametrize(
    "head", [DerivedTagger(), DerivedSpans(width=3)], ids=lambda head: head.family
)
def test_a_class_without_a_record_never_passes_as_the_one_it_inherits_from(
    head: Any, tiny_encoder: Path
) -> None:
    tokenizer = PieceTokenizer.from_file(tiny_encoder / "tokenizer.json")
    manifest = manifest_of(head, tokenizer)
    read = read_documents(
        [Document(id="d", text="pain")], tokenizer, reading=manifest.reading, level="word"
    )
    for call in (
        lambda: find_kind(head),
        lambda: head_limits(head),
        lambda: probability_definition(manifest),
        lambda: make_decoder(manifest),
        lambda: make_prober(manifest, read, [()]),
    ):
        with pytest.raises(ModelError, match=head.family):
            call()


@pytest.mark.parametrize(
    ("head", "needs"),
    [
        (SoftmaxSettings(), {}),
        (CrfSettings(), {}),
        (MultiLabelSettings(), {"soft": True}),
        (SpanSettings(), {"width": True}),
        (SpanSettings(width=3), {}),
        (BinderSettings(), {"opening": True, "reads": "name"}),
        (BinderSettings(type_view="atomic"), {"opening": True}),
        (
            BinderSettings(
                type_view="keyword", types="t.toml", windows="mentions", thresholds="dev"
            ),
            {
                "opening": True,
                "reads": "keyword",
                "types": "t.toml",
                "windows": "mentions",
                "threshold": "one",
            },
        ),
        (
            BinderSettings(type_view="instances", instances=5, thresholds="dev-by-type"),
            {"opening": True, "reads": "instances", "drawn": 5, "threshold": "types"},
        ),
    ],
    ids=repr,
)
def test_needs(head: HeadSettings, needs: dict[str, Any]) -> None:
    asked = {
        field.name: getattr(head.needs, field.name)
        for field in fields(Needs)
        if field.name != "fixed"
    }
    nothing = {
        "width": False,
        "opening": False,
        "types": "",
        "drawn": 0,
        "reads": "",
        "windows": "all",
        "threshold": "",
    }
    assert asked == nothing | {"masks": True, "soft": False} | needs


@pytest.mark.parametrize(
    ("head", "named"),
    [
        (SoftmaxSettings(), "softmax"),
        (SpanSettings(width=3), "span"),
        (BinderSettings(type_view="atomic"), "atomic"),
        (BinderSettings(thresholds="global"), "global"),
        (BinderSettings(thresholds="dev"), "dev"),
    ],
    ids=repr,
)
def test_a_head_with_fixed_types_says_why(head: HeadSettings, named: str) -> None:
    with pytest.raises(UsageError, match=f"(?s)m.*{named}"):
        check_open_types(Path("m"), manifest_of(head))
    check_open_types(Path("m"), manifest_of(BinderSettings()))


# A kind that is registered from outside

WITH_TOY = {**KINDS, ToySettings: KINDS[MultiLabelSettings]}


@dataclass(frozen=True, kw_only=True)
class ByWord:
    """Every word says which types it has."""

    scores: dict[int, tuple[float, float]]

    def run(self, inputs: Batch) -> Tables:
        words = np.take_along_axis(inputs["input_ids"], inputs["first_piece"], axis=1).tolist()
        return {
            "emissions": np.array(
                [[(0.0, *self.scores.get(word, (-3.0, -3.0))) for word in row] for row in words]
            )
        }


def test_a_kind_from_elsewhere_predicts_and_probes(tiny_encoder: Path) -> None:
    tokenizer = PieceTokenizer.from_file(tiny_encoder / "tokenizer.json")
    words = {"lung": (-1.0, 2.0), "cancer": (2.0, 2.0), "pain": (2.0, -2.0), "aspirin": (1.0, -4.0)}
    ids = {int(tokenizer.encode([word])[0][0][0]): scores for word, scores in words.items()}
    gold = (
        Mention(((0, 11),), "Disease"),
        Mention(((5, 16),), "Chemical"),
        Mention(((0, 2),), "Disease"),
    )
    text = Document(id="d", text="lung cancer pain , aspirin", sentences=((0, 26),), mentions=gold)
    manifest = manifest_of(ToySettings(scheme="IO"), tokenizer)
    model = ModelPredictor(manifest, tokenizer, ByWord(scores=ids), kinds=WITH_TOY)
    for one in (model, model.with_nothing(0.0)):
        found = {(m.start, m.end, m.type) for m in one.predict([text])[0].add}
        assert found == {(0, 11, "Disease"), (5, 16, "Chemical"), (19, 26, "Chemical")}
    (probed,) = model.probe([text])
    said = {one.mention.spans[0]: one for one in probed.gold}
    assert [said[span].unreachable for span in ((0, 11), (5, 16), (0, 2))] == [
        "",
        "",
        "inside-word",
    ]
    first = said[0, 11].probabilities
    assert first is not None
    lung, cancer = 1 / (1 + np.exp(1.0)), 1 / (1 + np.exp(-2.0))
    assert first[1:].tolist() == pytest.approx([np.sqrt(lung * cancer), cancer])
    with pytest.raises(ModelError, match="toy"):
        ModelPredictor(manifest, tokenizer, ByWord(scores=ids)).predict([text])
