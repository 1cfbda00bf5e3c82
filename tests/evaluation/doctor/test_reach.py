"""The gold that a kind of model can find at best, against every sequence of tags and every
choice of mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Fragments
from fascicle.core.tags import SCHEMES
from fascicle.errors import ModelError
from fascicle.evaluation.doctor.checks.reach import (
    Row,
    count_unreachable,
    lost_together,
    most_disjoint,
)
from fascicle.runtime.decoding.kinds import head_limits
from fascicle.runtime.decoding.tagger import tag_runs
from fascicle.runtime.places import find_model
from fascicle.settings.folders.manifest import Manifest, ScoreDecision, read_manifest
from fascicle.settings.heads import (
    HEADS,
    AnyHead,
    BinderSettings,
    HeadSettings,
    SoftmaxSettings,
    SpanSettings,
)
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.targets import HeadLimits

UNITS = 5
ROWS = st.sets(
    st.tuples(st.integers(0, UNITS - 1), st.integers(1, UNITS), st.integers(0, 1)).filter(
        lambda row: row[0] < row[1]
    ),
    max_size=7,
)


@settings(max_examples=40)
@given(ROWS, st.sampled_from(["IO", "BIO"]), st.sets(st.integers(1, UNITS - 1)))
def test_no_sequence_of_tags_gives_more(rows: set[Row], name: str, breaks: set[int]) -> None:
    scheme = SCHEMES[name]
    inside = {row for row in rows if not any(row[0] < at < row[1] for at in breaks)}
    borders = np.array(sorted(breaks), dtype=np.int64)
    best = max(
        len(
            inside
            & {tuple(row) for row in tag_runs(np.array(tags), scheme, borders=borders).tolist()}
        )
        for tags in product(range(scheme.count(2)), repeat=UNITS)
    )
    assert most_disjoint(inside, apart=name == "IO", breaks=breaks) == best


@given(ROWS)
def test_no_choice_without_overlaps_is_larger(rows: set[Row]) -> None:
    def disjoint(chosen: Sequence[Row]) -> bool:
        return all(a[1] <= b[0] or b[1] <= a[0] for a, b in combinations(chosen, 2))

    sizes = [
        n
        for n in range(len(rows) + 1)
        if any(disjoint(chosen) for chosen in combinations(sorted(rows), n))
    ]
    assert most_disjoint(rows) == max(sizes)


@given(ROWS, st.booleans())
def test_types_that_do_not_compete_are_lost_one_by_one(rows: set[Row], separates: bool) -> None:
    """Against every subset of the spans that is flat within each type, and whose types do not
    touch themselves.
    """

    def allowed(chosen: Sequence[Row]) -> bool:
        gap = 0 if separates else 1
        pairs = ((a, b) for a, b in combinations(chosen, 2) if a[2] == b[2])
        return all(a[1] + gap <= b[0] or b[1] + gap <= a[0] for a, b in pairs)

    lost = lost_together(rows, [(0, UNITS)], HeadLimits(across_types=True, separates=separates))
    sizes = [
        n
        for n in range(len(rows) + 1)
        if any(allowed(chosen) for chosen in combinations(sorted(rows), n))
    ]
    assert len(rows) - lost.total() == max(sizes)
    assert (
        lost_together(rows, [(0, UNITS)], HeadLimits(nested=True, across_types=True)).total() == 0
    )


TEXT = "acute renal failure with pain pain in ratpancreas. Aspirin helps."
WORDS = {
    "acute renal failure": (0, 19),
    "renal": (6, 11),
    "failure": (12, 19),
    "pain": (25, 29),
    "pain2": (30, 34),
}


def manifest(head: AnyHead) -> Manifest:
    shipped = read_manifest(find_model("biomed"))
    decision = ScoreDecision(answer="h", decoding=head.decoding)
    reading = ReadingSettings(unit="sentence", max_length=64)
    values = {
        "reading": reading,
        "types": ("Chemical", "Disease"),
        "heads": {"h": head},
        "decision": decision,
    }
    return msgspec.structs.replace(shipped, **values)


def reached(head: AnyHead, *gold: tuple[Fragments, str]) -> dict[str, Any]:
    document = Document(
        id="1", text=TEXT, mentions=tuple(Mention(spans, kind) for spans, kind in gold)
    )
    return count_unreachable(
        [document],
        manifest(head),
        PieceTokenizer.from_file(find_model("biomed") / "tokenizer.json"),
    )


def span(name: str, kind: str = "Disease") -> tuple[Fragments, str]:
    return (WORDS[name],), kind


@pytest.mark.parametrize(
    ("head", "gold", "reasons"),
    [
        (SoftmaxSettings(), [span("renal"), span("pain")], {}),
        (
            SoftmaxSettings(),
            [span("acute renal failure"), span("renal"), span("failure")],
            {"overlapped": 1},
        ),
        (SoftmaxSettings(), [span("pain"), span("pain2")], {}),
        (SoftmaxSettings(scheme="IO"), [span("pain"), span("pain2")], {"touching": 1}),
        (SoftmaxSettings(scheme="IO"), [span("pain"), span("pain2", "Chemical")], {}),
        (SoftmaxSettings(), [span("pain"), span("pain", "Chemical")], {"overlapped": 1}),
        (
            SpanSettings(width=3, decoding="nested"),
            [span("acute renal failure"), span("renal")],
            {},
        ),
        (
            SpanSettings(width=2, decoding="nested"),
            [span("acute renal failure"), span("renal")],
            {"too-wide": 1},
        ),
        (
            SpanSettings(width=3, decoding="nested"),
            [span("pain"), span("pain", "Chemical")],
            {"same-span": 1},
        ),
        (BinderSettings(decoding="nested"), [span("pain"), span("pain", "Chemical")], {}),
        (
            BinderSettings(width=1, decoding="nested"),
            [span("acute renal failure")],
            {"too-wide": 1},
        ),
        (SoftmaxSettings(), [span("pain", "Gene"), span("renal")], {"other-type": 1}),
        (SoftmaxSettings(), [(((0, 5), (12, 19)), "Disease")], {"discontinuous": 1}),
        (
            SoftmaxSettings(),
            [(((38, 41),), "Disease"), (((38, 49),), "Disease")],
            {"inside-word": 1},
        ),
        (SoftmaxSettings(), [(((38, 58),), "Disease")], {"crosses-segment": 1}),
    ],
)
def test_reasons(head: AnyHead, gold: list[tuple[Fragments, str]], reasons: dict[str, int]) -> None:
    found = reached(head, *gold)
    assert {name: row["count"] for name, row in found["reasons"].items()} == reasons
    assert found["recall_ceiling"] == 1 - sum(reasons.values()) / len(gold)


def test_the_value_for_json() -> None:
    value = reached(SoftmaxSettings(), span("pain", "Gene"), span("renal"))
    assert value["reasons"] == {
        "other-type": {"count": 1, "means": "has a type that the model does not know"}
    }
    assert (value["gold"], value["unreachable"], value["recall_ceiling"]) == (2, 1, 0.5)
    empty = reached(SoftmaxSettings())
    assert (empty["recall_ceiling"], empty["undefined"]) == (
        None,
        {"recall_ceiling": "there is no gold mention"},
    )


def test_every_family_has_limits() -> None:
    assert all(isinstance(head_limits(kind()), HeadLimits) for kind in HEADS.values())
    with pytest.raises(ModelError, match="HeadSettings"):
        head_limits(HeadSettings())
