"""Distinct concepts over many shards, against plain sets."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.pipeline.running.records import hash_concepts
from fascicle.pipeline.running.report import Distinct

KINDS = st.sampled_from(["Chemical", "Disease"])
SHARDS = st.lists(st.dictionaries(KINDS, st.lists(st.integers(0, 40).map("MESH:D{}".format), min_size=1, max_size=30)))


@given(shards=SHARDS, together=st.integers(1, 50))
def test_the_count_is_that_of_plain_sets(shards: list[dict[str, list[str]]], together: int) -> None:
    naive: defaultdict[str, set[str]] = defaultdict(set)
    distinct = Distinct(together=together)
    for shard in shards:
        for kind, identifiers in shard.items():
            naive[kind].update(identifiers)
        distinct.add({kind: hash_concepts(identifiers) for kind, identifiers in shard.items()})
    assert distinct.counts() == {kind: len(found) for kind, found in sorted(naive.items())}
    assert distinct.counts() == distinct.counts()


def test_many_concepts_have_many_hashes() -> None:
    distinct, count = Distinct(together=1_000), 20_000
    for shard in range(0, count, 500):  # half of each shard was in the one before
        distinct.add({"Gene": hash_concepts(f"NCBIGene:{at}" for at in range(shard, min(shard + 1_000, count)))})
    assert distinct.counts() == {"Gene": count}
    assert hash_concepts(["b", "a", "b"]) == hash_concepts(["a", "b"])
    assert len(hash_concepts(["a", "b"])) == 16
    with pytest.raises(AttributeError):
        hash_concepts([1])  # type: ignore[list-item]
