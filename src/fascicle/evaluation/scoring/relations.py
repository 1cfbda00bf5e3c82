"""Scores of relations.

A relation is right if its document has it in the gold: strictly, with the same type and the same
ends, each with its type and every offset; or by its ends alone, where no type is compared; or with
attributes, too, such as the novelty of BioRED. Ends are compared role by role, and ends of one role
are in any order. Roles that the two sides call otherwise correspond in their usual order. The ends
of a relation between concepts are their identifiers, in any order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from fascicle.core.document import GOLD, Document, Relation
from fascicle.core.mention import CONCEPTS, RELATE, is_scored, link_text
from fascicle.core.owners import gold_relations, gold_test
from fascicle.errors import InputError
from fascicle.evaluation.scoring.inputs import only_source
from fascicle.evaluation.scoring.scores import Counts, Scores, check_documents, scores_of


def score_relations(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    *,
    source: str = "",
    ends_only: bool = False,
    attributes: Container[str] = (),
    allow_missing: bool = False,
) -> Scores:
    """Compares the relations between gold mentions with those between the mentions of a system.

    Args:
        gold: documents with gold relations.
        predicted: the same documents with those of a system.
        source: of the mentions of the system; needed if there are several. Relations between
            concepts have none: those of ``predicted`` are of the system, but beside gold mentions
            only if they have a score.
        ends_only: compare the ends, and no types; the scores then have no types.
        attributes: names of those that must be the same, too.
        allow_missing: documents that the system lacks count as without relations.

    Raises:
        InputError: documents that only one side has, two with one id, or mentions of several
            systems.
    """
    sides = _sides(gold, predicted, source=source, ends_only=ends_only, attributes=attributes)
    missing = check_documents(*sides, allow_missing=allow_missing)
    compared = {
        identifier: _compare(set(relations), set(sides[1].get(identifier, ())))
        for identifier, relations in sides[0].items()
    }
    names = "duplicates_gold", "duplicates_predicted"
    duplicates = dict(zip(names, map(_duplicates, sides), strict=True))
    return scores_of(compared, typed=not ends_only, missing=missing, **duplicates)


class ComparedRelation(NamedTuple):
    """What is compared of a relation.

    Attributes:
        type: empty if types are not compared.
        ends: of each role, in the usual order of the roles: type and spans of the mentions, or
            the facts that name the concepts.
        facts: attributes that are compared.
    """

    type: str
    ends: tuple[Any, ...]
    facts: tuple[Any, ...]


def compared_relations(
    gold: Iterable[Document], predicted: Iterable[Document], *, source: str = ""
) -> dict[str, tuple[set[ComparedRelation], set[ComparedRelation]]]:
    """Returns id of a gold document -> its relations on both sides, see `score_relations`."""
    sides = _sides(gold, predicted, source=source, ends_only=False, attributes=())
    return {name: (set(own), set(sides[1].get(name, ()))) for name, own in sides[0].items()}


_Side = dict[str, list[ComparedRelation]]


def _sides(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    *,
    source: str,
    ends_only: bool,
    attributes: Container[str],
) -> tuple[_Side, _Side]:
    """Returns the relations of both sides by the ids of their documents."""
    documents = [*gold], [*predicted]
    identify = partial(
        _identity,
        orders=_usual_orders(chain(*documents)),
        names=_concept_names(chain(*documents)),
        spelled=_full_identifiers(chain(*documents)),
        typed=not ends_only,
        attributes=attributes,
    )
    gold, predicted = documents
    return (
        _identities(gold, identify, gold_relations),
        _identities(predicted, identify, _of_system(predicted, source)),
    )


def _source(documents: Iterable[Document]) -> str:
    sources = _sources(documents)
    return GOLD if sources <= {GOLD} else only_source(sources)


def _sources(documents: Iterable[Document]) -> set[str]:
    return {mention.source for document in documents for mention in document.mentions}


def _identities(
    documents: Iterable[Document],
    identify: Callable[[Relation], ComparedRelation],
    own: Callable[[Document], Iterable[Relation]],
) -> _Side:
    """Returns document id -> its own relations as they are compared."""
    relations: _Side = {}
    for document in documents:
        if document.id in relations:
            raise InputError(
                f"the document id {document.id!r} occurs twice; give each document an id of its own"
            )
        relations[document.id] = list(map(identify, own(document)))
    return relations


def _of_system(
    documents: Sequence[Document], source: str
) -> Callable[[Document], Iterable[Relation]]:
    """Returns what gives the relations of the system with a source. A finder of relations between
    gold mentions leaves those of the gold beside its own, which have scores.
    """
    source, sources = source or _source(documents), _sources(documents)
    is_related = source == GOLD and any(map(_has_found, documents))

    def own(document: Document) -> Iterator[Relation]:
        is_of_gold = gold_test(document, sources)
        for relation in document.relations:
            if is_related:
                is_own = relation.sources <= {GOLD} and is_scored(relation)
            elif relation.arguments or source == GOLD:
                is_own = relation.sources <= {source}
            else:
                is_own = not is_of_gold(relation)
            if is_own:
                yield relation

    return own


def _has_found(document: Document) -> bool:
    """True if a finder of relations has read a document and left a trace there."""
    steps = (event.step for event in document.events)
    return RELATE in steps or any(map(is_scored, document.relations))


def _full_identifiers(documents: Iterable[Document]) -> dict[str, str]:
    """Returns bare identifier -> the one with its prefix that mentions are linked to, where it is
    one.
    """
    full = defaultdict[str, set[str]](set)
    mentions = chain.from_iterable(document.mentions for document in documents)
    for link in chain.from_iterable(mention.links for mention in mentions):
        full[link.id] |= {link_text(link)} - {link.id}
    return {bare: min(names) for bare, names in full.items() if len(names) == 1}


def _concept_names(documents: Iterable[Document]) -> frozenset[str]:
    return frozenset(CONCEPTS).union(
        mention.type for side in documents for mention in side.mentions
    )


def _usual_orders(documents: Iterable[Document]) -> dict[frozenset[str], tuple[str, ...]]:
    """Returns the most frequent order of each set of roles."""
    orders = Counter(
        tuple(dict(relation.arguments)) for document in documents for relation in document.relations
    )
    return {frozenset(order): order for order, _ in reversed(orders.most_common())}


def _identity(
    relation: Relation,
    *,
    orders: Mapping[frozenset[str], tuple[str, ...]],
    names: Container[str],
    spelled: Mapping[str, str],
    typed: bool,
    attributes: Container[str],
) -> ComparedRelation:
    """Returns the type of a relation, the ends of each role, and its ``attributes``; the ends of
    concepts have one of the ``names``, and are compared as they are ``spelled`` in full.
    """
    ends: defaultdict[str, list[Any]] = defaultdict(list)
    for role, (_, kind, spans) in relation.arguments:
        ends[role].append((kind * typed, spans))
    order, facts = orders[frozenset(ends)], relation.attributes
    also = tuple(sorted(fact for fact in facts if fact[0] in attributes))
    if not order:
        stated = [spelled.get(fact, fact) for name, fact in facts if name in names]
        order, ends[""] = ("",), stated or list(facts)
    by_role = tuple(tuple(sorted(ends[role])) for role in order)
    return ComparedRelation(relation.type * typed, by_role, also)


def _compare(gold: set[ComparedRelation], predicted: set[ComparedRelation]) -> dict[str, Counts]:
    """Returns type -> counts of one document."""
    right, fewer, more = (
        Counter(kind for kind, *_ in side) for side in (gold & predicted, gold, predicted)
    )
    return {
        kind: Counts(tp=right[kind], fp=more[kind] - right[kind], fn=fewer[kind] - right[kind])
        for kind in sorted(fewer | more)
    }


def _duplicates(side: Mapping[str, list[ComparedRelation]]) -> int:
    return sum(len(relations) - len(set(relations)) for relations in side.values())
