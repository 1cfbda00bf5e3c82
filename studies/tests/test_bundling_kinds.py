"""F1 by kind of mention: counts of all intervals are those of the whole, and differences are
those of the counts.
"""

from __future__ import annotations

import numpy as np
import pytest

from fascicle.core.document import Document, Mention
from fascicle.evaluation.breakdown.attributes import ATTRIBUTES, Ruler
from fascicle.evaluation.breakdown.layout import read_lexicon
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from studies.bundling.kinds import FEWEST, MEAN, Kinds, differences
from studies.families.reports import PAPER

TEXT = "one two three four five six seven"
ONE, LONG, OTHER = Mention(((0, 3),), "A"), Mention(((4, 27),), "A"), Mention(((28, 33),), "A")


def documents() -> list[Document]:
    return [Document(id=str(at), text=TEXT, mentions=(ONE, LONG)) for at in range(4)]


def kinds(abstracts: dict[str, str] | None = None) -> Kinds:
    ruler = Ruler(documents(), training=read_lexicon(documents()))
    return Kinds(documents(), ruler, abstracts=abstracts or {})


def test_the_counts_of_each_attribute_are_those_of_the_whole() -> None:
    said = {"0": (ONE, LONG), "1": (ONE, OTHER), "2": (), "3": (LONG,)}
    table = kinds().table(said)
    whole = score(layers(documents()), said).by_document.values()
    first = 0
    for name in PAPER:
        intervals = len(ATTRIBUTES[name].ranges)
        counts = table[:, first : first + intervals].sum(axis=(0, 1))
        assert counts.tolist() == [
            sum(getattr(one, key) for one in whole) for key in ("tp", "fp", "fn")
        ]
        first += intervals
    assert first == table.shape[1]
    by_length = dict(zip(kinds().labels, table.sum(axis=0).tolist(), strict=True))
    assert by_length["length", "1"] == [2, 1, 2]
    assert by_length["length", "5+"] == [2, 0, 2]


def test_documents_of_one_abstract_are_drawn_together() -> None:
    said = {"0": (ONE,), "1": (ONE,)}
    apart, together = (
        kinds().table(said),
        kinds({"0": "a", "1": "a", "2": "b", "3": "b"}).table(said),
    )
    assert (len(apart), len(together)) == (4, 2)
    assert (apart.sum(axis=0) == together.sum(axis=0)).all()
    assert (together[0] == apart[:2].sum(axis=0)).all()


def counted(right: tuple[int, ...], missed: tuple[int, ...], texts: int) -> np.ndarray:
    """So many found and missed mentions of each interval in each text."""
    return np.array(
        [[[tp, 0, fn] for tp, fn in zip(right, missed, strict=True)]] * texts, dtype=float
    )


def test_a_difference_is_that_of_f1_and_small_intervals_do_not_count() -> None:
    texts = FEWEST
    first, second = counted((1, 1, 0), (0, 0, 0), texts), counted((1, 0, 0), (0, 1, 0), texts)
    labels = [("length", "1"), ("length", "2"), ("length", "3-4")]
    found = differences(np.array([[first, second], [first, second]]), labels, draws=50)
    # of the third there is no gold
    assert found["length"] == {"1": [0.0, 0.0, 0.0], "2": [100.0, 100.0, 100.0]}
    assert found[MEAN] == {"points": [50.0, 50.0, 50.0], "intervals": 2, "above": 1}


def test_the_interval_has_the_chance_between_seeds_and_texts_in_it() -> None:
    chance = np.random.default_rng(1)
    hits = chance.integers(0, 2, size=(2, 2, 60))
    tables = np.stack([hits, np.zeros_like(hits), 1 - hits], axis=-1)[:, :, :, None, :].astype(
        float
    )
    estimate, low, high = differences(tables, [("length", "1")], draws=400)["length"]["1"]
    assert low < estimate < high
    tp = tables.sum(axis=2)[:, :, 0]
    f1 = 200 * tp[..., 0] / (2 * tp[..., 0] + tp[..., 2])
    assert estimate == pytest.approx((f1[:, 0] - f1[:, 1]).mean(), abs=1e-3)
    alone = differences(tables[:1], [("length", "1")], draws=400)["length"]["1"]
    assert alone[0] != estimate
