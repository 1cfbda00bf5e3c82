"""Mentions on words, as hard tags and as probabilities, against loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, Patch
from fascicle.core.tags import SCHEMES, decode_tags
from fascicle.text.annotator import (
    bio_to_io,
    document_words,
    map_to_words,
    tag_by_mentions,
    unit_rows_to_words,
)

TYPES = ("A", "B")
WORDS = np.array([(0, 2), (3, 5), (5, 6), (8, 10), (11, 15)])
_SCORES = st.sampled_from([None, 0.0, 0.25, 0.5, 1.0])
_MENTIONS = st.lists(
    st.tuples(st.integers(0, 15), st.integers(1, 6), st.sampled_from((*TYPES, "C")), _SCORES),
    max_size=6,
)


def mention(start: int, end: int, kind: str, score: float | None = None) -> Mention:
    return Mention(((start, end),), kind, score=score)


@given(_MENTIONS, st.sampled_from(sorted(SCHEMES)))
def test_mentions_are_on_the_words_that_they_touch(
    rows: list[tuple[int, int, str, float | None]], name: str
) -> None:
    scheme = SCHEMES[name]
    mentions = [mention(a, a + width, kind, score) for a, width, kind, score in rows]
    found = map_to_words(mentions, WORDS, types=TYPES)
    table = found.table(scheme, words=len(WORDS), types=2)
    tags = found.tags(scheme, words=len(WORDS), types=2)
    taken: set[tuple[int, str]] = set()
    expected = np.zeros((len(WORDS), 2 * scheme.width))
    lost = 0
    best_first = sorted(
        mentions, key=lambda m: (-(1.0 if m.score is None else m.score), m.start - m.end, m.start)
    )
    for one in best_first:
        inside = [at for at, (a, b) in enumerate(WORDS.tolist()) if a < one.end and one.start < b]
        if not inside or one.type == "C" or any((at, one.type) in taken for at in inside):
            lost += 1
            continue
        taken |= {(at, one.type) for at in inside}
        lost += WORDS[inside[0], 0] != one.start or WORDS[inside[-1], 1] != one.end
        for at in inside:
            prefix = 0 if at == inside[0] else scheme.width - 1
            expected[at, scheme.width * TYPES.index(one.type) + prefix] = (
                1.0 if one.score is None else one.score
            )
    np.testing.assert_array_equal(table, expected)
    assert found.lost.total() == lost
    assert {(at, kind) for at, kind in taken} == {
        (w, TYPES[c // scheme.width]) for w, c in zip(*np.nonzero(tags), strict=True)
    }
    for kind in range(2):
        own = tags[:, scheme.width * kind : scheme.width * (kind + 1)]
        names = ["O" if not row.any() else f"{'I' if row[-1] else 'B'}-x" for row in own]
        if name == "BIO":
            spans = [(a, b) for a, b, _ in decode_tags(names)]
            assert spans == [(a, b) for a, b, k in found.spans.tolist() if k == kind]


def test_a_mention_of_several_fragments_is_lost() -> None:
    found = map_to_words([Mention(((0, 2), (5, 6)), "A")], WORDS, types=TYPES)
    assert dict(found.lost) == {"discontinuous": 1}
    assert not len(found.spans)


def test_words_are_those_of_the_document_or_the_segmenter() -> None:
    assert document_words(Document(id="d", text="no pain."), "rules@1").tolist() == [
        [0, 2],
        [3, 7],
        [7, 8],
    ]
    assert document_words(
        Document(id="d", text="no pain.", words=((0, 7),)), "rules@1"
    ).tolist() == [[0, 7]]
    assert document_words(Document(id="d", text=""), "rules@1").shape == (0, 2)


@given(
    st.lists(st.integers(0, 20), unique=True, max_size=8).map(sorted),
    st.lists(st.integers(0, 20), unique=True, max_size=8).map(sorted),
)
def test_a_word_has_the_row_of_the_first_unit_in_it(
    word_starts: list[int], unit_starts: list[int]
) -> None:
    words = np.array(
        [(a, b) for a, b in zip(word_starts, [*word_starts[1:], 22], strict=False)]
    ).reshape(-1, 2)
    units = np.array([(a, a + 1) for a in unit_starts]).reshape(-1, 2)
    table = np.arange(1, 1 + len(units), dtype=np.float64)[:, None]
    found = unit_rows_to_words(words, units, table)
    for (start, end), row in zip(words.tolist(), found[:, 0].tolist(), strict=True):
        inside = [
            value
            for (a, _), value in zip(units.tolist(), table[:, 0].tolist(), strict=True)
            if start <= a < end
        ]
        assert row == (inside[0] if inside else 0.0)


def test_b_and_i_exclude_each_other() -> None:
    table = np.array([[0.5, 0.25, 0.0, 1.0], [0.75, 0.75, 0.0, 0.0]])
    np.testing.assert_array_equal(bio_to_io(table), [[0.75, 1.0], [1.0, 0.0]])


def test_a_predictor_of_mentions_says_their_scores() -> None:
    document = Document(id="d", text="no lung pain")
    patch = Patch(add=(mention(3, 12, "B", 0.5), mention(3, 7, "A")))
    tagged = tag_by_mentions(document, patch, rules="rules@1", types=TYPES)
    assert tagged.patch is patch
    np.testing.assert_array_equal(
        tagged.probabilities, [[0, 0, 0, 0], [1, 0, 0.5, 0], [0, 0, 0, 0.5]]
    )
