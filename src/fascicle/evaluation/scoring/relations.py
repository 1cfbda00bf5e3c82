"""Scores of relations.

A relation is right if its document has it in the gold: strictly, with the same type and the same
ends, each with its type and every offset; or by its ends alone, where no type is compared. What
roles are called does not count. Ends in different roles are in order, and a relation whose roles
are all the same is not the same as one with an order. The ends of a relation between concepts are
their identifiers, in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fascicle.core.document import Document, Relation
from fascicle.errors import InputError
from fascicle.evaluation.scoring.scores import Counts, Scores, check_documents, scores_of

_CONCEPTS: Final = ("entity1", "entity2")


def score_relations(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    *,
    ends_only: bool = False,
    allow_missing: bool = False,
) -> Scores:
    """Compares the relations of documents.

    Args:
        gold: documents with gold relations.
        predicted: the same documents with those of a system.
        ends_only: compare the ends, and no types; the scores then have no types.
        allow_missing: documents that the system lacks count as without relations.

    Raises:
        InputError: documents that only one side has, or two with one id.
    """
    sides = [_identities(side, typed=not ends_only) for side in (gold, predicted)]
    missing = check_documents(*sides, allow_missing=allow_missing)
    compared = {
        identifier: _compare(set(relations), set(sides[1].get(identifier, ())))
        for identifier, relations in sides[0].items()
    }
    duplicates = [_duplicates(side) for side in sides]
    return scores_of(
        compared,
        typed=not ends_only,
        duplicates_gold=duplicates[0],
        duplicates_predicted=duplicates[1],
        missing=missing,
    )


_Identity = tuple[str, bool, tuple[Any, ...]]


def _identities(documents: Iterable[Document], *, typed: bool) -> dict[str, list[_Identity]]:
    """Returns document id -> its relations as they are compared."""
    relations: dict[str, list[_Identity]] = {}
    for document in documents:
        if document.id in relations:
            raise InputError(
                f"the document id {document.id!r} occurs twice; give each document an id of its own"
            )
        relations[document.id] = [_identity(item, typed=typed) for item in document.relations]
    return relations


def _identity(relation: Relation, *, typed: bool) -> _Identity:
    """Returns the type of a relation, whether its ends have an order, and its ends."""
    ends: list[Any] = [(kind * typed, spans) for _, (_, kind, spans) in relation.arguments]
    if not ends:
        facts = dict(relation.attributes)
        ends = [facts[name] for name in _CONCEPTS if name in facts] or list(relation.attributes)
    is_directed = len({role for role, _ in relation.arguments}) > 1
    return relation.type * typed, is_directed, tuple(ends if is_directed else sorted(ends))


def _compare(gold: set[_Identity], predicted: set[_Identity]) -> dict[str, Counts]:
    """Returns type -> counts of one document."""
    right, fewer, more = (
        Counter(kind for kind, *_ in side) for side in (gold & predicted, gold, predicted)
    )
    return {
        kind: Counts(tp=right[kind], fp=more[kind] - right[kind], fn=fewer[kind] - right[kind])
        for kind in sorted(fewer | more)
    }


def _duplicates(side: Mapping[str, list[_Identity]]) -> int:
    return sum(len(relations) - len(set(relations)) for relations in side.values())
