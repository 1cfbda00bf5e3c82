"""Scores on flat mentions, against seqeval and nervaluate."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from nervaluate import Evaluator
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as default_mode
from seqeval.metrics.v1 import precision_recall_fscore_support as strict_mode
from seqeval.scheme import IOB2

from fascicle.core.document import Mention
from fascicle.core.tags import decode_tags
from fascicle.evaluation.scoring.scores import Scores, score

TYPES = ("Cell", "Gene", "Org")
Ranges = list[tuple[int, int, str]]
Corpus = list[tuple[int, Ranges, Ranges]]  # words of a text, gold and predicted mentions in words


def random_flat(chance: random.Random, length: int) -> Ranges:
    found, at = [], 0
    while at < length:
        width = chance.randint(1, 3)
        if chance.random() < 0.4 and at + width <= length:
            found.append((at, at + width, chance.choice(TYPES)))
            at += width
        else:
            at += 1
    return found


def disturbed(chance: random.Random, gold: Ranges, length: int) -> Ranges:
    """Gold with some mentions lost, moved, renamed, and others where there is room."""
    kept: Ranges = []
    for start, end, type_ in sorted(
        [*gold, *random_flat(chance, length)], key=lambda _: chance.random()
    ):
        if chance.random() < 0.3:
            start, end = (
                max(0, start - chance.randint(0, 1)),
                min(length, end + chance.randint(0, 1)),
            )
        if chance.random() < 0.2:
            type_ = chance.choice(TYPES)
        if chance.random() < 0.8 and all(end <= a or b <= start for a, b, _ in kept):
            kept.append((start, end, type_))
    return sorted(kept)


def random_case(seed: int) -> Corpus:
    chance = random.Random(seed)
    corpus = []
    for _ in range(chance.randint(1, 5)):
        length = chance.randint(1, 14)
        gold = random_flat(chance, length)
        corpus.append((length, gold, disturbed(chance, gold, length)))
    return corpus


def tags(length: int, mentions: Ranges) -> list[str]:
    found = ["O"] * length
    for start, end, type_ in mentions:
        found[start:end] = [f"B-{type_}", *[f"I-{type_}"] * (end - start - 1)]
    return found


def ours(corpus: Corpus, **options: object) -> Scores:
    sides = [
        {str(i): [Mention(((a, b),), t) for a, b, t in row[side]] for i, row in enumerate(corpus)}
        for side in (1, 2)
    ]
    return score(sides[0], sides[1], **options)  # type: ignore[arg-type]


def check_seqeval(corpus: Corpus, scores: Scores) -> None:
    gold = [tags(length, mentions) for length, mentions, _ in corpus]
    said = [tags(length, mentions) for length, _, mentions in corpus]
    if not scores.by_type:
        return
    rows = strict_mode(gold, said, scheme=IOB2, zero_division=0)
    for at, (_, counts) in enumerate(sorted(scores.by_type.items())):
        rates = counts.rates()
        assert (rates.precision, rates.recall, rates.f1) == pytest.approx(
            tuple(row[at] for row in rows[:3])
        )
        assert counts.support == rows[3][at]
    micro = strict_mode(gold, said, scheme=IOB2, average="micro", zero_division=0)
    assert (scores.micro.precision, scores.micro.recall, scores.micro.f1) == pytest.approx(
        micro[:3]
    )
    if all(counts.support for counts in scores.by_type.values()):
        macro = strict_mode(gold, said, scheme=IOB2, average="macro", zero_division=0)
        assert (scores.macro.precision, scores.macro.recall, scores.macro.f1) == pytest.approx(
            macro[:3]
        )


def check_nervaluate(corpus: Corpus, scores: Mapping[str, Scores]) -> None:
    made = [
        [[{"label": t, "start": a, "end": b - 1} for a, b, t in row[side]] for row in corpus]
        for side in (1, 2)
    ]
    types = sorted(scores["strict"].by_type)
    found = Evaluator(made[0], made[1], tags=types, loader="dict").evaluate()
    pairs = [
        (found["overall"], scores["strict"].counts, "strict"),
        (found["overall"], scores["span"].counts, "exact"),
    ]
    pairs += [(found["entities"][t], scores["strict"].by_type[t], "strict") for t in types]
    for theirs, counts, name in pairs:
        row = theirs[name]
        assert (row.correct, row.actual, row.possible) == (
            counts.tp,
            counts.predicted,
            counts.support,
        )
        rates = counts.rates()
        assert (row.precision, row.recall, row.f1) == pytest.approx(
            (rates.precision, rates.recall, rates.f1)
        )
    # Greedy pairs are never more than the most that can be made.
    assert found["overall"]["ent_type"].correct <= scores["loose"].counts.tp
    for name in types:
        assert found["entities"][name]["ent_type"].correct <= scores["loose"].by_type[name].tp


@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_random_cases(first: int) -> None:
    for seed in range(first, first + 250):
        corpus = random_case(seed)
        scores = {rule: ours(corpus, rule=rule) for rule in ("strict", "span", "loose")}
        check_seqeval(corpus, scores["strict"])
        check_nervaluate(corpus, scores)


def test_the_random_cases_are_not_trivial() -> None:
    counts = [ours(random_case(seed)).counts for seed in range(1000)]
    assert all(sum(getattr(c, name) > 0 for c in counts) > 700 for name in ("tp", "fp", "fn"))


def test_repaired_tags_score_as_in_the_default_mode_of_seqeval() -> None:
    """What *tinybern2-kazu* reports: tags are read leniently, mentions still match as a whole."""
    for seed in range(300):
        chance = random.Random(seed)
        pool = ["O", "O", *(f"{prefix}-{type_}" for prefix in "BI" for type_ in TYPES)]
        sides = [[[chance.choice(pool) for _ in range(9)] for _ in range(3)] for _ in range(2)]
        corpus = [(9, decode_tags(g), decode_tags(p)) for g, p in zip(*sides, strict=True)]
        found = ours(corpus)
        rows = default_mode(sides[0], sides[1], zero_division=0)
        for at, name in enumerate(sorted(found.by_type)):
            rates = found.by_type[name].rates()
            assert (rates.precision, rates.recall, rates.f1) == pytest.approx(
                tuple(row[at] for row in rows[:3])
            )
