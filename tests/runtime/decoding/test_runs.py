from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.tags import decode_tags, tag_scheme
from fascicle.runtime.decoding.tagger import tag_runs

TYPES = ("x", "y")
BIO, IO = tag_scheme("BIO"), tag_scheme("IO")


def literal_strict(labels: list[str]) -> list[tuple[int, int, str]]:
    """The strict rule as a loop, clause by clause."""
    spans: list[tuple[int, int, str]] = []
    start, kind = 0, ""
    for at, label in enumerate([*labels, "O"]):
        if label.startswith("I-") and label[2:] == kind:
            continue
        if kind:
            spans.append((start, at, kind))
        start, kind = at, label[2:] if label.startswith("B-") else ""
    return spans


def named(spans: np.ndarray) -> list[tuple[int, int, str]]:
    return [(start, end, TYPES[kind]) for start, end, kind in spans.tolist()]


@given(st.lists(st.integers(0, 4), max_size=14))
def test_bio_rules_equal_their_definitions(ids: list[int]) -> None:
    tags = np.array(ids, dtype=np.int64)
    labels = [BIO.labels(TYPES)[tag] for tag in ids]
    assert named(tag_runs(tags, BIO)) == literal_strict(labels)
    assert named(tag_runs(tags, BIO, repair="lenient")) == decode_tags(labels)


@given(st.lists(st.integers(0, 2), max_size=14))
def test_io_runs(ids: list[int]) -> None:
    tags = np.array(ids, dtype=np.int64)
    expected = decode_tags([IO.labels(TYPES)[tag] for tag in ids])
    assert named(tag_runs(tags, IO)) == named(tag_runs(tags, IO, repair="lenient")) == expected


@pytest.mark.parametrize("scheme", [BIO, IO])
@pytest.mark.parametrize("repair", ["strict", "lenient"])
@given(texts=st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=6))
def test_borders_separate_texts(scheme, repair, texts: list[list[int]]) -> None:
    arrays = [np.array(ids, dtype=np.int64) % scheme.count(2) for ids in texts]
    starts = np.cumsum([0, *map(len, arrays)])
    together = tag_runs(
        np.concatenate([np.zeros(0, np.int64), *arrays]), scheme, repair=repair, borders=starts
    )
    shifts = [[start, start, 0] for start in starts]
    apart = [
        tag_runs(ids, scheme, repair=repair) + shift
        for ids, shift in zip(arrays, shifts, strict=False)
    ]
    assert np.array_equal(together, np.concatenate([np.zeros((0, 3), np.int64), *apart]))


def test_unknown_rule() -> None:
    with pytest.raises(ValueError, match="choose 'strict' or 'lenient'"):
        tag_runs(np.zeros(3, dtype=np.int64), BIO, repair="viterbi")
