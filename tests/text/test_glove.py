"""GloVe against loops over cells, against finite differences, and on text whose neighbours are
known.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import InputError
from fascicle.text.glove import (
    CellBatch,
    GloveSettings,
    Side,
    cell_weights,
    count_cooccurrence,
    gradient,
    train_glove,
)

texts = st.lists(st.lists(st.sampled_from("abcde"), max_size=9), min_size=1, max_size=5)


@given(texts, st.integers(1, 4), st.integers(1, 3))
def test_counts_are_those_of_a_loop_over_pairs(
    sequences: list[list[str]], window: int, least: int
) -> None:
    total = defaultdict(int)
    for text in sequences:
        for word in text:
            total[word] += 1
    expected: dict[tuple[str, str], float] = defaultdict(float)
    for text in sequences:
        kept = [word for word in text if total[word] >= least]
        for i in range(len(kept)):
            for j in range(i + 1, min(i + window, len(kept) - 1) + 1):
                expected[kept[i], kept[j]] += 1 / (j - i)
                expected[kept[j], kept[i]] += 1 / (j - i)
    if not expected:
        with pytest.raises(InputError, match="occur near each other"):
            count_cooccurrence(sequences, window=window, least=least)
        return
    table = count_cooccurrence(sequences, window=window, least=least)
    names = [
        (table.words[i], table.words[j]) for i, j in zip(table.rows, table.columns, strict=True)
    ]
    assert len(set(names)) == len(names)
    # A word beside itself is counted from both sides by the loop too.
    assert dict(zip(names, table.values, strict=True)) == pytest.approx(dict(expected))
    assert list(zip(table.rows, table.columns, strict=True)) == sorted(
        zip(table.rows, table.columns, strict=True)
    )


def sides(chance: np.random.Generator, *sizes: int) -> list[Side]:
    return [Side(chance.normal(size=(n, 3)), chance.normal(size=n)) for n in sizes]


def loss_by_loops(first: Side, second: Side, cells: CellBatch) -> float:
    total = 0.0
    for i, j, log, weight in zip(*cells, strict=True):
        product = sum(first.vectors[i][k] * second.vectors[j][k] for k in range(3))
        total += 0.5 * weight * (product + first.biases[i] + second.biases[j] - log) ** 2
    return total


def test_the_gradient_is_that_of_finite_differences() -> None:
    chance = np.random.default_rng(3)
    first, second = sides(chance, 3, 4)
    places = np.array([(0, 0), (0, 3), (1, 1), (2, 3), (2, 0)])
    cells = CellBatch(places[:, 0], places[:, 1], chance.normal(size=5), chance.random(5))
    loss, *slopes = gradient(first, second, cells)
    assert loss == pytest.approx(loss_by_loops(first, second, cells))
    for side, slope in zip((first, second), slopes, strict=True):
        for values, expected in zip(side, slope, strict=True):
            for place in np.ndindex(values.shape):
                kept = values[place]
                ends = []
                for step in (1e-6, -1e-6):
                    values[place] = kept + step
                    ends.append(loss_by_loops(first, second, cells))
                values[place] = kept
                assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(expected[place], abs=1e-6)


def test_the_weight_is_the_published_one() -> None:
    found = cell_weights(np.array([1.0, 50.0, 100.0, 1000.0]), GloveSettings())
    assert found.tolist() == pytest.approx([0.01**0.75, 0.5**0.75, 1.0, 1.0])


def test_training_is_adagrad_over_blocks_of_rows_of_each_side_in_turn() -> None:
    table = count_cooccurrence([list("abcabdace"), list("edcba")], window=3)
    settings = GloveSettings(dimension=3, passes=2, block=2, x_max=2.0, learning_rate=0.1)
    chance, size = np.random.default_rng(settings.seed), len(table.words)
    sides = [
        Side(*((chance.random(shape) - 0.5) / 3 for shape in ((size, 3), size))) for _ in range(2)
    ]
    squares = [Side(np.ones((size, 3)), np.ones(size)) for _ in range(2)]
    cells = list(
        zip(
            table.rows,
            table.columns,
            np.log(table.values),
            cell_weights(table.values, settings),
            strict=True,
        )
    )
    for first, second in ((0, 1), (1, 0)):
        order = chance.permutation(size)
        for rows in (order[start : start + 2] for start in range(0, size, 2)):
            slopes = [Side(np.zeros((size, 3)), np.zeros(size)) for _ in range(2)]
            one, two = sides[first], sides[second]
            for i, j, log, weight in (cell for cell in cells if cell[0] in rows):
                error = weight * (
                    one.vectors[i] @ two.vectors[j] + one.biases[i] + two.biases[j] - log
                )
                slopes[first].vectors[i] += error * two.vectors[j]
                slopes[second].vectors[j] += error * one.vectors[i]
                slopes[first].biases[i] += error
                slopes[second].biases[j] += error
            for side, total, slope in zip(sides, squares, slopes, strict=True):
                for values, sums, change in zip(side, total, slope, strict=True):
                    sums += change**2
                    values -= 0.1 * change / np.sqrt(sums)
    expected = sides[0].vectors + sides[1].vectors
    np.testing.assert_allclose(
        train_glove(table, settings).matrix[:-1], expected, rtol=1e-4, atol=1e-5
    )


def test_training_fits_the_logarithms_of_a_small_table() -> None:
    # With as many dimensions as words every table can be fitted, so the loss must fall to nearly
    # nothing.
    table = count_cooccurrence([list("abcabdace"), list("edcba")], window=3)
    seen: list[float] = []
    settings = GloveSettings(dimension=8, passes=800, block=2, x_max=2.0)
    vectors = train_glove(table, settings, tell=lambda _, loss: seen.append(loss))
    assert seen[-1] < 1e-4 < seen[0]
    assert vectors.words == (*table.words, "<unk>")
    assert np.allclose(vectors.unknown, vectors.matrix[:-1].mean(axis=0), atol=1e-6)
    assert np.array_equal(vectors.matrix, train_glove(table, settings).matrix)


def test_words_of_the_same_surroundings_become_neighbours() -> None:
    chance = np.random.default_rng(1)
    drugs, diseases = ["aspirin", "ibuprofen", "caffeine"], ["fever", "pain", "cancer"]
    sentences = []
    for _ in range(400):
        sentences.append(["they", "took", str(chance.choice(drugs)), "tablets", "daily"])
        sentences.append(["he", "suffered", "from", str(chance.choice(diseases)), "badly"])
    table = count_cooccurrence(sentences, window=3)
    vectors = train_glove(table, GloveSettings(dimension=12, passes=120, block=4))
    units = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    for group, others in ((drugs, diseases), (diseases, drugs)):
        for word in group:
            cosines = dict(zip(vectors.words, units @ units[vectors.index[word]], strict=True))
            assert min(cosines[name] for name in group if name != word) > max(
                cosines[name] for name in others
            )
