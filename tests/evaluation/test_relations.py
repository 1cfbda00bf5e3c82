"""Scores of relations, against an oracle that compares pair by pair."""

from __future__ import annotations

from random import Random

import pytest
from tests.formats.test_made_relations import made

from fascicle.core.document import Document, Relation
from fascicle.errors import InputError
from fascicle.evaluation.scoring.relations import score_relations

CONCEPTS = {"entity1", "entity2"}


def is_same(one: Relation, other: Relation, *, typed: bool) -> bool:
    """Whether two relations say the same, by comparing every end with every other."""
    if typed and one.type != other.type:
        return False
    if len(one.arguments) != len(other.arguments):
        return False
    if not one.arguments:
        first, second = (
            sorted(value for name, value in side.attributes if name in CONCEPTS)
            for side in (one, other)
        )
        return first == second
    first, second = (
        [(key[1], key[2]) if typed else key[2] for _, key in side.arguments]
        for side in (one, other)
    )
    ordered = [len({role for role, _ in side.arguments}) > 1 for side in (one, other)]
    if ordered[0] != ordered[1]:
        return False
    return first == second if ordered[0] else sorted(first) == sorted(second)


def distinct(relations: tuple[Relation, ...], *, typed: bool) -> list[Relation]:
    kept: list[Relation] = []
    for relation in relations:
        if not any(is_same(relation, other, typed=typed) for other in kept):
            kept.append(relation)
    return kept


def pair(seed: int) -> tuple[Document, Document]:
    """A document, and a copy whose relations are partly gone, turned round, retyped or renamed."""
    random, gold = Random(seed), made(seed)
    relations = []
    for relation in gold.relations:
        arguments, kind = relation.arguments, relation.type
        match random.randrange(6):
            case 0:
                continue
            case 1:
                arguments = arguments[::-1]
            case 2:
                kind = "other"
            case 3 if len({role for role, _ in arguments}) == len(arguments):
                arguments = tuple((f"new {role}", key) for role, key in arguments)
            case 4:
                relations.append(relation)
        relations.append(
            Relation(type=kind, arguments=arguments, attributes=relation.attributes[:2])
        )
    relations += made(seed + 1000).relations[:1] if random.random() < 0.2 else ()
    return gold, gold.having(relations=tuple(relations))


@pytest.mark.parametrize("ends_only", [False, True])
def test_counts_are_those_of_comparing_every_pair(ends_only: bool) -> None:
    pairs = [pair(seed) for seed in range(300)]
    scores = score_relations(*zip(*pairs, strict=True), ends_only=ends_only)
    typed = not ends_only
    tp = fp = fn = 0
    for gold, predicted in pairs:
        wanted, found = (distinct(one.relations, typed=typed) for one in (gold, predicted))
        right = sum(any(is_same(a, b, typed=typed) for b in found) for a in wanted)
        tp, fp, fn = tp + right, fp + len(found) - right, fn + len(wanted) - right
    counts = scores.counts
    assert (counts.tp, counts.fp, counts.fn) == (tp, fp, fn)
    assert min(tp, fp, fn) > 30
    for name, of_type in scores.by_type.items():
        assert of_type.support == sum(
            relation.type == name
            for gold, _ in pairs
            for relation in distinct(gold.relations, typed=True)
        )
    assert bool(scores.by_type) == typed
    assert scores.duplicates_predicted == sum(
        len(one.relations) - len(distinct(one.relations, typed=typed)) for _, one in pairs
    )


def test_documents_of_one_side() -> None:
    first, second = made(1), made(2)
    with pytest.raises(InputError, match="lack"):
        score_relations([first, second], [first])
    scores = score_relations([first, second], [first], allow_missing=True)
    assert scores.missing == (second.id,)
    assert scores.counts.fn == len(distinct(second.relations, typed=True))
    with pytest.raises(InputError, match="does not have"):
        score_relations([first], [first, second])
    with pytest.raises(InputError, match="occurs twice"):
        score_relations([first, first], [first])
