"""Classes of errors of relations: what a relation that is wrong, or missed, has in common with one
of the other side.

An error is a false positive or a false negative of the strict score. It has the first class that
fits, by any relation of the other side in its document, which may itself be right:

1. **type**: the same ends in the same roles, and another type.
2. **direction**: the same type, and the same ends in other roles.
3. **end-type**: the same type and places of ends, and another type of an end.
4. **boundary**: the same type, and each end shares a character with an end of the same role.
5. **partial**: the same type, and one end is the same.
6. **spurious** (of false positives), **missed** (of false negatives): all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.mention import fragments_overlap
from fascicle.evaluation.scoring.relations import ComparedRelation

RELATION_CLASSES: Final = (
    *("type", "direction", "end-type", "boundary", "partial"),
    *("spurious", "missed"),
)
Compared = Mapping[str, tuple[set[ComparedRelation], set[ComparedRelation]]]


def count_relation_errors(compared: Compared) -> Mapping[str, dict[str, int]]:
    """Returns class -> the numbers of false positives and false negatives.

    Args:
        compared: id of a document -> its relations in the gold, and those of a system, see
            `fascicle.evaluation.scoring.relations.compared_relations`.
    """
    counts = {name: {"fp": 0, "fn": 0} for name in RELATION_CLASSES}
    for gold, predicted in compared.values():
        for side, own, opposite in (("fp", predicted, gold), ("fn", gold, predicted)):
            alone = "spurious" if side == "fp" else "missed"
            for name, number in Counter(_classes(own - opposite, opposite)).items():
                counts[name or alone][side] += number
    return counts


def _classes(wrong: set[ComparedRelation], opposite: set[ComparedRelation]) -> Iterator[str]:
    for relation in wrong:
        yield next((name for name in _FITS if _fits_any(name, relation, opposite)), "")


def _fits_any(name: str, relation: ComparedRelation, opposite: set[ComparedRelation]) -> bool:
    return any(map(partial(_FITS[name], relation), opposite))


def _is_type(a: ComparedRelation, b: ComparedRelation) -> bool:
    return a.ends == b.ends


def _is_direction(a: ComparedRelation, b: ComparedRelation) -> bool:
    return a.type == b.type and _flat(a) == _flat(b)


def _is_end_type(a: ComparedRelation, b: ComparedRelation) -> bool:
    return a.type == b.type and _are_pairs(a, b, lambda x, y: x[-1] == y[-1])


def _is_boundary(a: ComparedRelation, b: ComparedRelation) -> bool:
    return a.type == b.type and _are_pairs(a, b, _touch)


def _is_partial(a: ComparedRelation, b: ComparedRelation) -> bool:
    return a.type == b.type and not set(_flat(a)).isdisjoint(_flat(b))


def _are_pairs(a: ComparedRelation, b: ComparedRelation, fits: Callable[[Any, Any], bool]) -> bool:
    """True if the ends of each role fit each other, one by one; identifiers of concepts are no
    places.
    """
    if [len(role) for role in a.ends] != [len(role) for role in b.ends]:
        return False
    pairs = zip(chain.from_iterable(a.ends), chain.from_iterable(b.ends), strict=True)
    return all(isinstance(x[-1], tuple) and fits(x, y) for x, y in pairs)


def _touch(a: Any, b: Any) -> bool:
    return isinstance(b[-1], tuple) and fragments_overlap(a[-1], b[-1])


def _flat(relation: ComparedRelation) -> list[Any]:
    return sorted(chain.from_iterable(relation.ends))


_FITS: Final[Mapping[str, Callable[[ComparedRelation, ComparedRelation], bool]]] = MappingProxyType(
    {
        "type": _is_type,
        "direction": _is_direction,
        "end-type": _is_end_type,
        "boundary": _is_boundary,
        "partial": _is_partial,
    }
)
