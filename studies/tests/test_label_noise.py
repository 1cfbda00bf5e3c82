"""Noise in labels: as much as was asked for, of the kind that was asked for, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import InputError
from studies.noise import labels as noise

TEXT = "aspirin caused chronic chest pain in old patients"
WORDS = tuple(
    (i, i + len(w)) for i, w in zip((0, 8, 15, 23, 29, 34, 37, 41), TEXT.split(), strict=True)
)


def document(number: int, mentions: list[tuple[int, int, str]]) -> Document:
    gold = tuple(Mention(((WORDS[a][0], WORDS[b][1]),), kind) for a, b, kind in sorted(mentions))
    return Document(
        id=str(number), text=TEXT, sentences=((0, len(TEXT)),), words=WORDS, mentions=gold
    )


RANGES = st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from("XYZ")).filter(
    lambda r: r[0] <= r[1]
)
CORPORA = st.lists(st.lists(RANGES, max_size=4, unique_by=lambda r: r[:2]), min_size=1, max_size=5)


def keys(documents: list[Document]) -> set[tuple[str, str, tuple[tuple[int, int], ...]]]:
    return {(d.id, m.type, m.spans) for d in documents for m in d.layer(GOLD)}


@given(CORPORA, st.sampled_from((0.0, 0.25, 0.5, 1.0)), st.integers(0, 5))
def test_dropped_mentions_are_gone_and_no_others(
    content: list[list[tuple[int, int, str]]], share: float, seed: int
) -> None:
    before = [document(i, rows) for i, rows in enumerate(content)]
    found = noise.with_noise(before, "drop", share, seed=seed)
    assert keys(found.documents) <= keys(before)
    assert (
        len(keys(before)) - len(keys(found.documents))
        == found.changed
        == round(share * len(keys(before)))
    )
    assert [d.text for d in found.documents] == [d.text for d in before]


@given(CORPORA, st.sampled_from(("shift", "flip")), st.integers(0, 5))
def test_changed_mentions_are_as_many_as_before(
    content: list[list[tuple[int, int, str]]], kind: str, seed: int
) -> None:
    """None is lost in another's place; one may come to where another was, so fewer may be new
    than were changed.
    """
    before = [
        document(i, sorted({*rows, (0, 0, "X"), (7, 7, "Y")})) for i, rows in enumerate(content)
    ]
    found = noise.with_noise(before, kind, 0.5, seed=seed)
    old, new = keys(before), keys(found.documents)
    assert len(old) == len(new) == sum(len(d.layer(GOLD)) for d in found.documents)
    assert len(new - old) <= found.changed
    assert found.changed + found.kept == round(0.5 * len(old))
    edges = {a for a, _ in WORDS} | {b for _, b in WORDS}
    assert all({spans[0][0], spans[0][1]} <= edges for _, _, spans in new)
    if kind == "flip":
        assert {(i, s) for i, _, s in old} == {(i, s) for i, _, s in new}
    else:
        assert sorted((i, t) for i, t, _ in old) == sorted((i, t) for i, t, _ in new)


def test_a_shift_moves_one_boundary_by_one_word() -> None:
    (before,) = given_ = [document(0, [(2, 4, "Y")])]
    assert set(noise._moves(before.mentions[0], before)) == {
        (WORDS[1][0], WORDS[4][1]),
        (WORDS[3][0], WORDS[4][1]),
        (WORDS[2][0], WORDS[3][1]),
        (WORDS[2][0], WORDS[5][1]),
    }
    found = noise.with_noise(given_, "shift", 1.0, seed=3)
    assert (found.changed, found.kept) == (1, 0)


@pytest.mark.parametrize("seed", range(10))
def test_no_mention_is_moved_or_turned_into_another(seed: int) -> None:
    nested = [document(0, [(2, 2, "X"), (2, 3, "X"), (1, 2, "X"), (6, 6, "Y")])]
    assert len(keys(noise.with_noise(nested, "shift", 1.0, seed=seed).documents)) == 4
    both = [document(0, [(2, 2, "X"), (2, 2, "Y")])]
    found = noise.with_noise(both, "flip", 1.0, seed=seed)
    assert (found.changed, found.kept, keys(found.documents)) == (0, 2, keys(both))


def test_all_that_are_drawn_are_changed() -> None:
    far = [document(i, [(0, 0, "X"), (4, 5, "Y")]) for i in range(10)]
    for kind in ("shift", "flip"):
        found = noise.with_noise(far, kind, 0.4, seed=1)
        assert (found.changed, len(keys(found.documents) - keys(far))) == (8, 8)


def test_a_mention_that_cannot_be_moved_is_counted() -> None:
    alone = Document(
        id="a",
        text="pain",
        sentences=((0, 4),),
        words=((0, 4),),
        mentions=(Mention(((0, 4),), "X"),),
    )
    found = noise.with_noise([alone], "shift", 1.0, seed=1)
    assert (found.changed, found.kept, found.documents) == (0, 1, [alone])


def test_what_cannot_be_done_is_refused() -> None:
    one = document(0, [(0, 0, "X")])
    with pytest.raises(InputError, match=r"a corpus of one type \(X\) has no other"):
        noise.with_noise([one], "flip", 0.5, seed=1)
    bare = Document(id="b", text="pain", mentions=(Mention(((0, 4),), "X"),))
    with pytest.raises(InputError, match="the document 'b' comes without words"):
        noise.with_noise([bare], "shift", 1.0, seed=1)


def test_the_same_seed_gives_the_same_noise() -> None:
    before = [document(i, [(i, i, "X"), (i + 1, i + 2, "Y")]) for i in range(5)]
    for kind in noise.KINDS:
        first, again, other = (
            noise.with_noise(before, kind, 0.4, seed=s).documents for s in (1, 1, 2)
        )
        assert first == again
        assert keys(first) != keys(other)
