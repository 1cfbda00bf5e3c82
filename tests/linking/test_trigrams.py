"""Lists of trigrams, against looking at every string."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.linking import similarities_of

from fascicle.linking import trigrams
from fascicle.linking.trigrams import LEAST, Trigrams, distinct_trigrams, write_trigrams
from fascicle.terms.pack.arrays import Strings, StringsWriter

NAMES = sorted(
    f"{first} {second} {third}"
    for first in ("hereditary", "acute", "chronic", "familial", "renal")
    for second in ("cardio myopathy", "nephritis", "neuropathy", "lymphoma", "anemia")
    for third in ("of infant", "of adult", "with deafness", "syndrome")
)


@given(st.lists(st.text("abc é", max_size=8).map(lambda one: one.encode()), max_size=5))
def test_trigrams_are_those_of_each_string(strings: list[bytes]) -> None:
    wanted = [
        (at, int.from_bytes(one))
        for at, string in enumerate(strings)
        for one in sorted(
            {(b" " + string + b" ")[place : place + 3] for place in range(len(string))}
        )
    ]
    assert (
        list(zip(*(found.tolist() for found in distinct_trigrams(strings)), strict=True)) == wanted
    )


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Trigrams:
    return opened(tmp_path_factory.mktemp("trigrams"), NAMES)


def opened(folder: Path, names: list[str], bits: list[int] | None = None) -> Trigrams:
    writer = StringsWriter(folder, "keys")
    writer.extend([name.encode() for name in names])
    writer.close()
    strings = Strings.open(folder, "keys")
    write_trigrams(folder, strings)
    return Trigrams(folder, strings, np.array(bits or [1] * len(names), dtype=np.uint64))


def near(lists: Trigrams, asked: list[str], *, bits: int = 1) -> list[list[tuple[int, float]]]:
    found = lists.near([one.encode() for one in asked], np.full(len(asked), bits, dtype=np.uint64))
    pairs = [
        (int(row), float(value)) for row, value in zip(found.rows, found.similarity, strict=True)
    ]
    return [
        [pair for pair, owner in zip(pairs, found.owners, strict=True) if owner == at]
        for at in range(len(asked))
    ]


@given(
    st.sampled_from(NAMES).flatmap(
        lambda name: st.tuples(
            st.just(name), st.integers(0, len(name) - 1), st.sampled_from(["", "x", "xy"])
        )
    )
)
def test_a_misspelt_name_finds_what_looking_at_all_names_finds_first(
    lists: Trigrams, case: tuple[str, int, str]
) -> None:
    name, place, put = case
    asked = name[:place] + put + name[place + 1 :]
    values = similarities_of(
        [asked.encode()], [one.encode() for one in NAMES], np.zeros(len(NAMES), dtype=np.int64)
    )
    (found,) = near(lists, [asked])
    assert found[0][1] == pytest.approx(values.max())
    assert all(value == pytest.approx(values[row]) and value >= LEAST for row, value in found)
    assert [value for _, value in found] == sorted((value for _, value in found), reverse=True)


def test_questions_do_not_depend_on_each_other(lists: Trigrams) -> None:
    asked = ["acute nephriitis of adult", "lymphoma", "", "renal anemia sindrome", "zzzzzz"]
    together = near(lists, asked)
    assert together == [near(lists, [one])[0] for one in asked]
    assert together[2] == together[4] == []


def test_what_is_not_allowed_is_not_found(lists: Trigrams) -> None:
    assert near(lists, ["acute nephriitis of adult"])[0]
    assert not near(lists, ["acute nephriitis of adult"], bits=2)[0]


@pytest.mark.parametrize("several", [(1, 2, 4), (1, 1 << 8, 1 << 16), (1 << 63, 1 << 55, 3)])
def test_types_are_told_apart_however_many_there_are(
    tmp_path: Path, several: tuple[int, ...]
) -> None:
    names = [
        f"hereditary nephritis of {who}" for who in ("adult", "adults", "infant", "infants", "both")
    ]
    given = [several[number % 3] for number in range(len(names))]
    lists = opened(tmp_path, names, given)
    for bits in (*several, several[0] | several[2]):
        (found,) = near(lists, ["hereditary nephritiis of adults"], bits=bits)
        assert {row for row, _ in found} == {row for row, own in enumerate(given) if own & bits}


def test_short_names_and_an_empty_list_find_nothing(tmp_path: Path) -> None:
    assert near(opened(tmp_path, []), ["anything"]) == [[]]
    (tmp_path / "short").mkdir()
    assert near(opened(tmp_path / "short", ["cd4", "cd44"]), ["cd44", "cd444"]) == [[], []]


@given(
    st.integers(1, 4).flatmap(
        lambda distinct: st.lists(
            st.tuples(st.integers(1, distinct), st.integers(1, 10)), min_size=60, max_size=400
        )
    ),
    st.randoms(use_true_random=False),
)
def test_of_many_ties_the_first_rows_are_compared(
    rows: list[tuple[int, int]], random: Random
) -> None:
    entries = [(row, float(value)) for row, (value, times) in enumerate(rows) for _ in range(times)]
    random.shuffle(entries)
    found = trigrams._strongest(
        np.array([row for row, _ in entries]),
        np.array([value for _, value in entries], dtype=np.float32),
    )
    assert (
        found.tolist()
        == [row for _, row in sorted((-value, row) for row, (value, _) in enumerate(rows))][:50]
    )
