"""The bootstrap of types against a loop that draws documents and scores what was drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.evaluation.report import scores_part
from fascicle.evaluation.scoring.inputs import score_system
from fascicle.evaluation.scoring.scores import IN_ONE_DOCUMENT, ONE_DOCUMENT, score
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1, bootstrap_types

from .strategies import Corpus, corpora, sides

Layers = dict[str, tuple[Mention, ...]]


def naive(gold: Layers, said: Layers, type_: str, *, resamples: int, seed: int) -> list[float]:
    """F1 of one type over documents drawn one by one, where it is defined."""
    generator, names, drawn = np.random.default_rng(seed), list(gold), []
    for _ in range(resamples):
        picked = [
            names[at] for at in generator.integers(0, len(names), size=len(names), dtype=np.int64)
        ]
        layers = [
            {str(at): [m for m in side[name] if m.type == type_] for at, name in enumerate(picked)}
            for side in (gold, said)
        ]
        counts = score(*layers).counts
        if counts.support + counts.predicted:
            drawn.append(counts.rates().f1)
    return drawn


@settings(max_examples=50)
@given(corpora(at_most=4), st.integers(0, 3))
def test_equals_a_naive_loop(corpus: Corpus, seed: int) -> None:
    assume(len(corpus) > 1)
    gold, said = sides(corpus)
    scores = score(gold, said)
    found = bootstrap_types(scores, resamples=25, level=0.9, seed=seed)
    for name in scores.by_type:
        documents = sum(any(m.type == name for m in (*gold[key], *said[key])) for key in gold)
        assert (name in found) is (documents > 1)
        if name not in found:
            continue
        drawn, interval = naive(gold, said, name, resamples=25, seed=seed), found[name]
        assert interval.undefined == 25 - len(drawn)
        if drawn:
            assert (interval.low, interval.high) == pytest.approx(
                tuple(np.quantile(drawn, [0.05, 0.95]))
            )
        assert interval.estimate == scores.rates(name).f1


def test_one_type_everywhere_has_the_interval_of_the_whole() -> None:
    gold = {str(i): [Mention(((at, at + 1),), "A") for at in range(1 + i % 3)] for i in range(40)}
    said = {key: list(mentions[: int(key) % 4]) for key, mentions in gold.items()}
    assert bootstrap_types(score(gold, said)) == {"A": bootstrap_f1(score(gold, said))}


@pytest.mark.parametrize(("others", "reason"), [((), ONE_DOCUMENT), (("b",), IN_ONE_DOCUMENT)])
def test_why_there_is_none(others: tuple[str, ...], reason: str) -> None:
    mention = Mention(((0, 1),), "A")
    documents = [
        Document(id="a", text="x", mentions=(mention,)),
        *(Document(id=name, text="x") for name in others),
    ]
    one = score_system(
        "m", documents, predicted={document.id: document.mentions for document in documents}
    )
    row = scores_part(one, resamples=10)["rules"]["strict"]["types"]["A"]
    assert row["f1_interval"] is None
    assert row["undefined"]["f1_interval"] == reason
