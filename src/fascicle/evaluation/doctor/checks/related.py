"""Checks on relations: their ends, and whether they are stated twice."""

from __future__ import annotations

from collections.abc import Iterator

from fascicle.core.document import MentionKey, Relation
from fascicle.evaluation.doctor.checks.contract import Hit
from fascicle.evaluation.doctor.parts import CheckedDocument


def without_mention(item: CheckedDocument) -> Iterator[Hit]:
    """Relations that refer to a mention that the document does not have."""
    keys = {mention.key for mention in item.mentions}
    for relation in item.relations:
        if absent := [key for key in relation.keys if key not in keys]:
            yield _hit_of(item, relation, f"no {absent[0][1]}", absent[0])


def to_itself(item: CheckedDocument) -> Iterator[Hit]:
    """Relations of two or more ends that are one mention."""
    for relation in item.relations:
        keys = relation.keys
        if len(keys) > 1 and len(set(keys)) == 1:
            yield _hit_of(item, relation, f"from {keys[0][1]} to itself", keys[0])


def repeated(item: CheckedDocument) -> Iterator[Hit]:
    """Relations with the type, ends and attributes of an earlier one."""
    stated = set[Relation]()
    for relation in item.relations:
        if relation in stated:
            yield _hit_of(item, relation, "is stated before", *relation.keys[:1])
        stated.add(relation)


def _hit_of(item: CheckedDocument, relation: Relation, message: str, *keys: MentionKey) -> Hit:
    name = relation.type or "a relation without a type"
    return Hit(item=item, spans=keys[0][2] if keys else (), message=f"{name}: {message}")
