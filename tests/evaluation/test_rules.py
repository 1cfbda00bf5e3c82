"""Rules of matching, against a search through all ways of pairing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.core.mention import Fragments
from fascicle.errors import UsageError
from fascicle.evaluation.scoring.rules import RULES, RuleName, overlapping_pairs
from fascicle.evaluation.scoring.scores import score

from .strategies import Corpus, characters, corpora, fragments, sides

Pair = Callable[[Mention, Mention], bool]
MATCH: dict[str, Pair] = {
    "strict": lambda a, b: a.type == b.type and a.spans == b.spans,
    "start": lambda a, b: a.type == b.type and min(characters(a.spans)) == min(characters(b.spans)),
    "end": lambda a, b: a.type == b.type and max(characters(a.spans)) == max(characters(b.spans)),
    "loose": lambda a, b: a.type == b.type and bool(characters(a.spans) & characters(b.spans)),
    "span": lambda a, b: a.spans == b.spans,
    "type": lambda a, b: a.type == b.type,
}


def most_pairs(edges: list[list[int]], used: frozenset[int] = frozenset(), at: int = 0) -> int:
    """The size of a maximum matching, by trying everything."""
    if at == len(edges):
        return 0
    best = most_pairs(edges, used, at + 1)
    for other in edges[at]:
        if other not in used:
            best = max(best, 1 + most_pairs(edges, used | {other}, at + 1))
    return best


def brute(gold: Sequence[Mention], said: Sequence[Mention], match: Pair) -> int:
    return most_pairs([[j for j, b in enumerate(said) if match(a, b)] for a in gold])


@pytest.mark.parametrize("rule", RULES)
@given(corpora(at_most=4))
def test_true_positives_are_a_maximum_matching(rule: RuleName, corpus: Corpus) -> None:
    gold, said = sides(corpus)
    found = score(gold, said, rule=rule)
    assert found.rule == rule
    for key, counts in found.by_document.items():
        assert counts.tp == brute(gold[key], said[key], MATCH[rule])
        assert (counts.support, counts.predicted) == (len(gold[key]), len(said[key]))
    assert found.counts.tp == sum(c.tp for c in found.by_document.values())
    if rule == "span":
        assert found.by_type == {}
        return
    for name, counts in found.by_type.items():
        of_type = [
            ([m for m in gold[k] if m.type == name], [m for m in said[k] if m.type == name])
            for k in gold
        ]
        assert counts.tp == sum(brute(g, p, MATCH[rule]) for g, p in of_type)
        assert counts.support == sum(len(g) for g, _ in of_type)
        assert counts.predicted == sum(len(p) for _, p in of_type)
    assert set(found.by_type) == {
        m.type for side in (gold, said) for listed in side.values() for m in listed
    }


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), max_size=7), st.data())
def test_sweeping_finds_as_many_pairs_as_trying_everything(
    ranges: list[tuple[int, int]], data: st.DataObject
) -> None:
    one = [((start, start + length),) for start, length in ranges]
    size = data.draw(st.integers(0, len(one)))
    first, second = one[:size], one[size:]
    expected = most_pairs(
        [[j for j, b in enumerate(second) if characters(a) & characters(b)] for a in first]
    )
    assert overlapping_pairs(first, second) == overlapping_pairs(second, first) == expected


@given(st.lists(fragments(length=14), max_size=5), st.lists(fragments(length=14), max_size=5))
def test_pairs_of_discontinuous_mentions(first: list[Fragments], second: list[Fragments]) -> None:
    expected = most_pairs(
        [[j for j, b in enumerate(second) if characters(a) & characters(b)] for a in first]
    )
    assert overlapping_pairs(first, second) == expected


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'partial'.*strict, start, end, loose, span, type"):
        score({}, {}, rule="partial")  # type: ignore[arg-type]
