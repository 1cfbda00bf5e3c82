"""Classes of errors of relations."""

from __future__ import annotations

import pytest
from tests.evaluation.test_relations import pair

from fascicle.core.document import Document, Mention, Relation
from fascicle.evaluation.breakdown.relation_errors import count_relation_errors
from fascicle.evaluation.scoring.relations import compared_relations, score_relations

DRUG, LONG, PAIN, SIGN, OTHER = (
    Mention((span,), kind)
    for span, kind in (
        ((0, 7), "Drug"),
        ((0, 9), "Drug"),
        ((12, 16), "Pain"),
        ((12, 16), "Sign"),
        ((20, 24), "Pain"),
    )
)
MENTIONS = (DRUG, LONG, PAIN, SIGN, OTHER)


def treats(first: Mention, second: Mention, kind: str = "treats") -> Relation:
    return Relation(type=kind, arguments=(("a", first.key), ("b", second.key)))


def document(*relations: Relation) -> Document:
    return Document(id="1", text="x" * 30, mentions=MENTIONS, relations=relations)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (treats(DRUG, PAIN, "causes"), "type"),
        (treats(PAIN, DRUG), "direction"),
        (treats(DRUG, SIGN), "end-type"),
        (treats(LONG, SIGN), "boundary"),
        (treats(DRUG, OTHER), "partial"),
        (treats(LONG, OTHER), ""),
        (treats(DRUG, OTHER, "causes"), ""),
    ],
)
def test_a_wrong_relation_has_the_first_class_that_fits(wrong: Relation, name: str) -> None:
    compared = compared_relations([document(treats(DRUG, PAIN))], [document(wrong)])
    counts = count_relation_errors(compared)
    wanted = {(name or "spurious", "fp"), (name or "missed", "fn")}
    numbers = {(key, side): n for key, row in counts.items() for side, n in row.items() if n}
    assert numbers == dict.fromkeys(wanted, 1)


def test_relations_of_concepts_have_types_and_common_ends() -> None:
    def concepts(first: str, second: str, kind: str = "CID") -> Relation:
        return Relation(type=kind, attributes=(("entity1", first), ("entity2", second)))

    gold = document(concepts("D1", "D2"), concepts("D5", "D6"))
    found = document(concepts("D2", "D1", "Bind"), concepts("D5", "D7"), concepts("D8", "D9"))
    counts = count_relation_errors(compared_relations([gold], [found]))
    assert {name: tuple(row.values()) for name, row in counts.items() if any(row.values())} == {
        "type": (1, 1),
        "partial": (1, 1),
        "spurious": (1, 0),
    }


def test_each_error_has_one_class() -> None:
    for seed in range(100):
        gold, found = pair(seed)
        counts = count_relation_errors(compared_relations([gold], [found])).values()
        total = score_relations([gold], [found]).counts
        assert sum(row["fp"] for row in counts) == total.fp
        assert sum(row["fn"] for row in counts) == total.fn
