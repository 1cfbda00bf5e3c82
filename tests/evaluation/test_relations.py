"""Scores of relations, against an oracle that compares pair by pair."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from msgspec.structs import replace
from tests.formats.test_made_relations import made

from fascicle.core.document import Document, Link, Mention, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.errors import InputError
from fascicle.evaluation.scoring.relations import compared_relations, score_relations
from fascicle.evaluation.uncertainty.intervals import (
    bootstrap_difference,
    bootstrap_f1,
    draw_documents,
)

CONCEPTS = {"entity1", "entity2"}


def is_same(one: Relation, other: Relation, *, typed: bool) -> bool:
    """Whether two relations say the same: each end of one is, in its role, an end of the other."""
    if typed and one.type != other.type:
        return False
    if not (one.arguments or other.arguments):
        first, second = (
            sorted(value for name, value in side.attributes if name in CONCEPTS)
            for side in (one, other)
        )
        return first == second
    rest = [said(end, typed=typed) for end in other.arguments]
    for end in one.arguments:
        if said(end, typed=typed) not in rest:
            return False
        rest.remove(said(end, typed=typed))
    return not rest


def said(end: tuple[str, MentionKey], *, typed: bool) -> tuple[object, ...]:
    role, (_, kind, spans) = end
    return (role, kind, spans) if typed else (role, spans)


def distinct(relations: tuple[Relation, ...], *, typed: bool) -> list[Relation]:
    kept: list[Relation] = []
    for relation in relations:
        if not any(is_same(relation, other, typed=typed) for other in kept):
            kept.append(relation)
    return kept


def is_named(relation: Relation, names: dict[int, frozenset[str]]) -> bool:
    roles = frozenset(role for role, _ in relation.arguments)
    return names.get(len(roles)) == roles


def unscored(seed: int) -> Document:
    """A made document; beside relations with a score, those without one would be of the gold."""
    document = made(seed)
    relations = (
        replace(one, attributes=tuple(fact for fact in one.attributes if fact[0] != "score"))
        for one in document.relations
    )
    return document.having(relations=tuple(relations))


def pair(seed: int) -> tuple[Document, Document]:
    """A document, and a copy whose relations are partly gone, written in another order, turned
    round or retyped.
    """
    random, gold = Random(seed), unscored(seed)
    names: dict[int, frozenset[str]] = {}  # of roles; each number of roles has names of its own
    for relation in gold.relations:
        roles = frozenset(role for role, _ in relation.arguments)
        names.setdefault(len(roles), roles)
    gold = gold.having(relations=tuple(one for one in gold.relations if is_named(one, names)))
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
            case 3:
                keys = [key for _, key in arguments[::-1]]
                arguments = tuple(zip((role for role, _ in arguments), keys, strict=True))
            case 4:
                relations.append(relation)
        relations.append(
            Relation(type=kind, arguments=arguments, attributes=relation.attributes[:2])
        )
    others = unscored(seed + 1000).relations[:1] if random.random() < 0.2 else ()
    relations += [one for one in others if is_named(one, names)]
    return gold, gold.having(relations=tuple(relations))


def counted(gold: Document, predicted: Document, *, typed: bool = True) -> tuple[int, int, int]:
    """The relations that are right, predicted only, and gold only."""
    wanted, found = (distinct(one.relations, typed=typed) for one in (gold, predicted))
    right = sum(any(is_same(a, b, typed=typed) for b in found) for a in wanted)
    return right, len(found) - right, len(wanted) - right


@pytest.mark.parametrize("ends_only", [False, True])
def test_counts_are_those_of_comparing_every_pair(ends_only: bool) -> None:
    pairs = [pair(seed) for seed in range(300)]
    scores = score_relations(*zip(*pairs, strict=True), ends_only=ends_only)
    typed = not ends_only
    tp, fp, fn = map(sum, zip(*(counted(*one, typed=typed) for one in pairs), strict=True))
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


def f1(rows: list[tuple[int, int, int]]) -> float:
    tp, fp, fn = map(sum, zip(*rows, strict=True))
    return 2 * tp / (2 * tp + fp + fn)


def test_intervals_are_those_of_counting_each_draw() -> None:
    """Efron and Tibshirani 1993, chapter 13: percentiles of the F1 of drawn documents."""
    pairs = [pair(seed) for seed in range(25)]
    gold = [document for document, _ in pairs]
    sides = [one for _, one in pairs], [one.having(relations=one.relations[1:]) for one in gold]
    first, second = (score_relations(gold, side) for side in sides)
    rows = [list(map(counted, gold, side)) for side in sides]
    (draws,) = draw_documents(len(gold), resamples=200, seed=3)
    drawn = np.array([[f1([side[at] for at in draw]) for draw in draws] for side in rows])

    interval = bootstrap_f1(first, resamples=200, seed=3)
    assert interval.estimate == pytest.approx(f1(rows[0]))
    assert [interval.low, interval.high] == pytest.approx(np.percentile(drawn[0], [2.5, 97.5]))
    difference = bootstrap_difference(first, second, resamples=200, seed=3)
    less = drawn[0] - drawn[1]
    assert [difference.low, difference.high] == pytest.approx(np.percentile(less, [2.5, 97.5]))
    assert difference.estimate == pytest.approx(f1(rows[0]) - f1(rows[1]))
    beyond = min((less <= 0).sum(), (less >= 0).sum())
    assert difference.p_value == pytest.approx(min(1, 2 * (beyond + 1) / 201))


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


ASPIRIN, NOW = Mention(((0, 7),), "C"), Mention(((17, 20),), "X")
COX = Mention(((13, 16),), "G")
SYSTEM = Mention(((0, 7),), "C", source="sys")


def said_of(*relations: Relation, mentions: tuple[Mention, ...] = (ASPIRIN, COX, NOW)) -> Document:
    return Document(id="1", text="Aspirin hits COX now", mentions=mentions, relations=relations)


def relation(*ends: tuple[str, Mention], kind: str = "r") -> Relation:
    return Relation(type=kind, arguments=tuple((role, mention.key) for role, mention in ends))


FORWARD = relation(("from", ASPIRIN), ("to", COX))


@pytest.mark.parametrize(
    ("gold", "predicted", "right"),
    [
        (FORWARD, relation(("to", COX), ("from", ASPIRIN)), 1),
        (FORWARD, relation(("to", ASPIRIN), ("from", COX)), 0),
        (FORWARD, relation(("head", ASPIRIN), ("tail", COX)), 1),
        (FORWARD, relation(("head", COX), ("tail", ASPIRIN)), 0),
        (FORWARD, relation(("", ASPIRIN), ("", COX)), 0),
        (
            relation(("drug", ASPIRIN), ("drug", NOW), ("gene", COX)),
            relation(("drug", NOW), ("drug", ASPIRIN), ("gene", COX)),
            1,
        ),
        (
            relation(("drug", ASPIRIN), ("gene", COX), ("drug", NOW)),
            relation(("drug", ASPIRIN), ("gene", NOW), ("drug", COX)),
            0,
        ),
    ],
)
def test_ends_are_compared_by_role(gold: Relation, predicted: Relation, right: int) -> None:
    counts = score_relations([said_of(gold)], [said_of(predicted)]).counts
    assert (counts.tp, counts.fp, counts.fn) == (right, 1 - right, 1 - right)


def test_other_names_of_roles_change_no_score() -> None:
    gold, renamed = [], []
    for seed in range(50):
        document = unscored(seed)
        sides: tuple[list[Relation], list[Relation]] = ([], [])
        for stated in document.relations:
            ends = sorted(stated.arguments, key=lambda end: end[0])
            others = [(f"new {role}", key) for role, key in ends]
            for side, arguments in zip(sides, (ends, others), strict=True):
                side.append(
                    Relation(
                        type=stated.type, arguments=tuple(arguments), attributes=stated.attributes
                    )
                )
        gold.append(document.having(relations=tuple(sides[0])))
        renamed.append(document.having(relations=tuple(sides[1])))
    counts = score_relations(gold, renamed).counts
    assert (counts.fp, counts.fn) == (0, 0)
    assert counts.tp > 30


def test_only_relations_of_the_system_are_its_predictions() -> None:
    """What stands in both files is the gold, unless its mentions are of the system."""
    concepts = Relation(type="CID", attributes=(("entity1", "D1"), ("entity2", "D2")))
    own = relation(("from", SYSTEM), ("to", SYSTEM))
    mentions = (ASPIRIN, COX, SYSTEM)
    gold = said_of(FORWARD, own, concepts, mentions=mentions)
    counts = score_relations([gold], [gold]).counts
    assert (counts.tp, counts.fp, counts.fn) == (0, 1, 2)
    both = said_of(FORWARD, mentions=(*mentions, Mention(((13, 16),), "G", source="other")))
    with pytest.raises(InputError, match="other, sys; choose"):
        score_relations([gold], [both])
    assert score_relations([gold], [both], source="gold").counts.tp == 1


@pytest.mark.parametrize("source", ["", "sys"])
def test_concepts_that_a_model_relates_are_its_predictions(source: str) -> None:
    """Its file has no gold mentions; beside them, only relations with a score are of a model."""
    facts = (("entity1", "D1"), ("entity2", "D2"))
    stated, scored = (
        Relation(type="CID", attributes=attributes)
        for attributes in (facts, (*facts, ("score", "1")))
    )
    gold = said_of(stated, mentions=(ASPIRIN,))
    for relation_, mentions, right in (
        (stated, (SYSTEM,), 1),
        (scored, (SYSTEM,), 1),
        (scored, (ASPIRIN, SYSTEM), 1),
        (stated, (ASPIRIN, SYSTEM), 0),
    ):
        predicted = said_of(relation_, mentions=mentions)
        assert score_relations([gold], [predicted], source=source).counts.tp == right
        (sides,) = compared_relations([gold], [predicted], source=source).values()
        assert len(sides[1]) == right


@pytest.mark.parametrize("between", ["concepts", "mentions"])
@pytest.mark.parametrize("trace", ["score", "event"])
def test_gold_beside_what_a_finder_says_of_gold_mentions_is_not_its_own(
    between: str, trace: str
) -> None:
    """`relate` leaves the relations of the gold beside its own, which have a score."""
    facts = (("entity1", "D1"), ("entity2", "D2"))
    stated = Relation(type="CID", attributes=facts) if between == "concepts" else FORWARD
    gold = said_of(stated)
    found = replace(stated, type="other", attributes=(*facts, ("score", "1")))
    event = make_event("pairs-left-out", step="relate", message="1 pair of mentions not read")
    predicted = said_of(stated, found) if trace == "score" else gold.having(events=(event,))
    counts = score_relations([gold], [predicted]).counts
    assert (counts.tp, counts.fp, counts.fn) == (0, int(trace == "score"), 1)
    assert score_relations([predicted], [gold]).counts.tp == 1


def test_concepts_of_bc5cdr_and_pubtator_are_the_same() -> None:
    """The first as BioC names them; another fact is no concept."""
    mentions = Mention(((0, 7),), "Chemical"), Mention(((13, 16),), "Disease")
    facts = (("Chemical", "D1"), ("Disease", "D2"), ("note", "x"))
    gold = said_of(Relation(type="CID", attributes=facts), mentions=mentions)
    for ends, right in ((("D2", "D1"), 1), (("D1", "D3"), 0)):
        found = Relation(
            type="CID", attributes=tuple(zip(("entity1", "entity2"), ends, strict=True))
        )
        counts = score_relations([gold], [said_of(found, mentions=mentions)]).counts
        assert (counts.tp, counts.fp) == (right, 1 - right)


def test_an_identifier_with_and_without_its_prefix_is_the_same_end() -> None:
    link = Link(id="D1", ontology="MESH", curie="MESH:D1")
    mentions = Mention(((0, 7),), "Chemical", links=(link,)), Mention(((13, 16),), "Disease")
    first, second, other = (
        Relation(type="CID", attributes=(("entity1", name), ("entity2", "D2")))
        for name in ("D1", "MESH:D1", "UMLS:D1")
    )
    for gold, predicted, right in (
        (first, second, 1),
        (second, first, 1),
        (second, second, 1),
        (first, other, 0),
    ):
        sides = (said_of(one, mentions=mentions) for one in (gold, predicted))
        assert score_relations(*([one] for one in sides)).counts.tp == right
