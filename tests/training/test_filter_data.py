"""Parts that share no document, and batches of examples."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import InputError
from fascicle.settings.recipes.filter import FilterSettings
from fascicle.text.marked import EncodedMention
from fascicle.training.filter.data import FilterSet, split_documents
from fascicle.training.filter.judging import Confusion


@given(
    identifiers=st.lists(st.text(min_size=1, max_size=4), min_size=3, max_size=60, unique=True),
    held=st.floats(0.01, 0.45),
    apart=st.floats(0.01, 0.45),
    seed=st.integers(0, 5),
)
def test_no_document_is_in_two_parts(
    identifiers: list[str], held: float, apart: float, seed: int
) -> None:
    settings = FilterSettings(held_out=held, threshold_part=apart)
    for dev in (True, False):
        split = split_documents(identifiers, settings, seed=seed, dev=dev)
        parts = [split.learn, split.held_out, split.threshold]
        assert sorted(i for part in parts for i in part) == sorted(identifiers)
        assert split == split_documents(identifiers[::-1], settings, seed=seed, dev=dev)
        assert abs(len(split.held_out) - held * len(identifiers)) <= 1
        assert bool(split.threshold) == dev
        assert split.learn
    half = FilterSettings(threshold="half", threshold_part=apart)
    assert not split_documents(identifiers, half, seed=seed, dev=True).threshold


def test_another_seed_draws_others() -> None:
    names = [str(i) for i in range(40)]
    drawn = {
        split_documents(names, FilterSettings(), seed=seed, dev=True).held_out for seed in range(5)
    }
    assert len(drawn) == 5


def test_dev_needs_three_documents() -> None:
    with pytest.raises(InputError, match="dev has 2 documents, but a filter needs 3 or more"):
        split_documents(["1", "2"], FilterSettings(), seed=1, dev=True)
    greedy = FilterSettings(held_out=0.5, threshold_part=0.4)
    split = split_documents(["1", "2", "3"], greedy, seed=1, dev=True)
    assert [len(part) for part in (split.learn, split.held_out, split.threshold)] == [1, 1, 1]


def data_of(labels: list[int], positives: int = 0) -> FilterSet:
    inputs = [
        EncodedMention(ids=np.arange(1, 3 + at % 5), cropped=False, cut=False)
        for at in range(len(labels))
    ]
    for at, one in enumerate(inputs):
        one.ids[0] = 100 + at  # tells which it is
    return FilterSet(inputs=inputs, labels=np.array(labels), pad=0, positives=positives)


@pytest.mark.parametrize("positives", [0, 1, 3, 50])
def test_an_epoch_has_all_incorrect_and_as_many_correct_examples(positives: int) -> None:
    labels = [1] * 40 + [0] * 6
    data = data_of(labels, positives)
    wanted = min(40, 6 * positives) if positives else 40
    seen: Counter[int] = Counter()
    for epoch in range(8):
        batches = list(data.batches(size=4, seed=1, epoch=epoch))
        again = list(data.batches(size=4, seed=1, epoch=epoch))
        assert all(
            torch.equal(a[0]["input_ids"], b[0]["input_ids"])
            for a, b in zip(batches, again, strict=True)
        )
        assert len(batches) == data.count(4)
        found = [
            (int(row[0]) - 100, int(y))
            for x, t in batches
            for row, y in zip(x["input_ids"], t["filter"], strict=True)
        ]
        assert all(labels[i] == y for i, y in found)
        assert len(set(found)) == len(found) == 6 + wanted
        assert sum(y for _, y in found) == wanted
        seen.update(i for i, _ in found)
    assert set(seen) == set(range(46)) or positives == 1  # correct examples are drawn anew


@pytest.mark.parametrize(("label", "said"), [(1, "made no mistake"), (0, "hold no gold mention")])
def test_one_class_alone_teaches_nothing(label: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        data_of([label] * 3)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), max_size=30))
def test_verdicts(judged: list[tuple[float, int]]) -> None:
    verdict = Confusion.of(
        np.array([p for p, _ in judged]), np.array([y for _, y in judged], dtype=np.int64)
    )
    right = sum((p >= 0.5) == bool(y) for p, y in judged)
    assert verdict.accuracy == (right / len(judged) if judged else 0.0)
    kept, true = sum(p >= 0.5 for p, _ in judged), sum(y for _, y in judged)
    both = sum(p >= 0.5 and y for p, y in judged)
    assert verdict.f1 == pytest.approx(2 * both / (kept + true) if kept + true else 0.0)
