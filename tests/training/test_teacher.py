"""What a label file teaches, against loops over units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.core.tags import SCHEMES
from fascicle.formats.weak_labels import Header, Labels
from fascicle.text.annotator import document_words, map_to_words
from fascicle.training.labelling import UNTOLD, SoftTags, soft_tags, with_answer_as_gold

TEXT = "no lung cancer pain took aspirin"
DOCUMENT = Document(
    id="d", text=TEXT, mentions=(Mention(((0, 2),), "Old"), Mention(((0, 2),), "X", source="other"))
)
WORDS = document_words(DOCUMENT, "rules@1")


def header(scheme: str) -> Header:
    return Header(
        model="t",
        sha256="",
        release="1",
        types=("A", "B"),
        scheme=scheme,
        meaning="marginal",
        segmenter="rules@1",
        floor=0.1,
    )


def labels(scheme: str, mentions: list[Mention]) -> Labels:
    found = map_to_words(mentions, WORDS, types=("A", "B"))
    width = SCHEMES[scheme]
    shape = {"words": len(WORDS), "types": 2}
    return Labels(
        document=DOCUMENT,
        words=WORDS,
        tags=found.tags(width, **shape),
        probabilities=found.table(width, **shape).astype(np.float32),
    )


@pytest.mark.parametrize("scheme", ["BIO", "IO"])
def test_answers_are_gold_under_the_names_of_the_model(scheme: str) -> None:
    mentions = [Mention(((3, 14),), "B"), Mention(((15, 19),), "A"), Mention(((3, 7),), "A")]
    found = with_answer_as_gold(
        labels(scheme, mentions), header(scheme), {"B": "Disease", "A": "A"}
    )
    assert {(m.start, m.end, m.type) for m in found.layer("gold")} == {
        (3, 7, "A"),
        (3, 14, "Disease"),
        (15, 19, "A"),
    }
    assert [m.type for m in found.layer("other")] == ["X"]
    assert [
        m.type
        for m in with_answer_as_gold(labels(scheme, mentions), header(scheme), {"A": "A"}).layer(
            "gold"
        )
    ] == ["A", "A"]


def test_mentions_that_touch_stay_apart_in_bio_alone() -> None:
    mentions = [Mention(((3, 7),), "A"), Mention(((8, 14),), "A")]
    for scheme, count in (("BIO", 2), ("IO", 1)):
        assert (
            len(
                with_answer_as_gold(labels(scheme, mentions), header(scheme), {"A": "A"}).layer(
                    "gold"
                )
            )
            == count
        )


_TABLES = st.lists(st.lists(st.integers(0, 255), min_size=4, max_size=4), min_size=6, max_size=6)
_UNITS = st.lists(st.integers(0, 40), unique=True, max_size=12).map(sorted)


@given(_TABLES, _UNITS, st.sampled_from(["BIO", "IO"]))
def test_units_have_what_is_said_of_the_word_that_they_begin_in(
    steps: list[list[int]], starts: list[int], wanted: str
) -> None:
    scheme = SCHEMES[wanted]
    soft = SoftTags(
        words=WORDS, steps=np.array(steps, dtype=np.uint8), types=("B", "A"), scheme=SCHEMES["BIO"]
    )
    units = np.array([(a, a + 1) for a in starts], dtype=np.int64).reshape(-1, 2)
    found = soft.at(units, types=("A", "B", "C"), scheme=scheme).reshape(
        len(units), 3, scheme.width
    )
    assert (found[:, 2] == UNTOLD).all()
    for (start, _), row in zip(units.tolist(), found, strict=True):
        word = [n for n, (a, b) in enumerate(WORDS.tolist()) if a <= start < b]
        if not word:
            assert (row == UNTOLD).all()
            continue
        for place, kind in ((1, 0), (0, 1)):
            b, i = (steps[word[0]][2 * kind + at] / 255 for at in range(2))
            inside = min(1.0, b + i)
            begins = start == WORDS[word[0], 0]
            expected = [inside] if wanted == "IO" else [b, i] if begins else [0.0, inside]
            assert row[place].tolist() == pytest.approx(expected, abs=1e-6)


def test_probabilities_of_some_types_are_kept_to_the_step() -> None:
    given_labels = labels(
        "BIO", [Mention(((3, 14),), "B", score=0.4), Mention(((15, 19),), "A", score=1.0)]
    )
    soft = soft_tags(given_labels, header("BIO"), {"B": "Disease"})
    assert soft.types == ("Disease",)
    np.testing.assert_array_equal(soft.steps[:, 0], [0, 102, 0, 0, 0, 0])
    np.testing.assert_array_equal(soft.steps[:, 1], [0, 0, 102, 0, 0, 0])


def test_where_mentions_begin_cannot_be_made_up() -> None:
    soft = SoftTags(
        words=WORDS, steps=np.zeros((6, 2), dtype=np.uint8), types=("A", "B"), scheme=SCHEMES["IO"]
    )
    assert soft.at(WORDS, types=("A", "B"), scheme=SCHEMES["IO"]).shape == (6, 2)
    with pytest.raises(ValueError, match="IO"):
        soft.at(WORDS, types=("A", "B"), scheme=SCHEMES["BIO"])
