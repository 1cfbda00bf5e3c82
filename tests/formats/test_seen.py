"""Ids that were there: of many, as of few, each is made unique as a plain set would."""

from __future__ import annotations

import tracemalloc
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.formats.files import IdSet, unique_ids

IDS = st.lists(
    st.sampled_from(["a", "b", "a#2", "a#2#2", "b#3", "é"]) | st.text(max_size=3).filter(bool),
    max_size=60,
)


def naive(ids: list[str]) -> list[str]:
    """By the rule: the first id that is free of ``id``, ``id#2``, ``id#3`` and so on, counted on
    for each id.
    """
    found: list[str] = []
    copies: Counter[str] = Counter()
    for original in ids:
        name = original
        while name in found:
            copies[original] = max(copies[original], 1) + 1
            name = f"{original}#{copies[original]}"
        found.append(name)
    return found


@given(ids=IDS, few=st.integers(0, 70))
def test_duplicates_are_found_however_many_ids_there_are(ids: list[str], few: int) -> None:
    seen = IdSet(few=few)
    assert [seen.add(one) for one in ids] == [one not in ids[:at] for at, one in enumerate(ids)]
    documents = [Document(id=one, text="x") for one in ids]
    assert [one.id for one in unique_ids(documents, seen=IdSet(few=few))] == naive(ids)


def test_tables_that_grow_forget_nothing() -> None:
    seen, count = IdSet(few=100), 60_000
    assert all(seen.add(str(number)) for number in range(count))
    assert not any(seen.add(str(number)) for number in range(0, count, 7))
    assert all(seen.add(str(number)) for number in range(count, count + 1_000))


def test_an_id_takes_few_bytes() -> None:
    count = 100_000
    tracemalloc.start()
    try:
        seen = IdSet(few=1_000)
        for number in range(count):
            seen.add(f"pubmed26n0001-{number:012d}")
        taken = tracemalloc.get_traced_memory()[0] / count
    finally:
        tracemalloc.stop()
    assert 16 < taken < 40  # two thirds of the places are taken, each of 16 bytes
