"""Classes of errors, against sets of characters, and the sums that must hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given

from fascicle.core.document import Mention
from fascicle.evaluation.breakdown.errors import (
    BOUNDARY,
    CLASSES,
    Mistake,
    distinct,
    error_rates,
    find_mistakes,
)
from fascicle.evaluation.scoring.scores import score

from .strategies import Corpus, characters, corpora, sides


def inside(a: Mention, b: Mention) -> bool:
    return characters(a.spans) < characters(b.spans)


def apart(a: Mention, b: Mention) -> bool:
    return not characters(a.spans) & characters(b.spans)


def holds_two(holder: Mention, others: Sequence[Mention]) -> list[Mention]:
    """Others of its type properly inside, each disjoint from some other one inside."""
    within = [o for o in others if o.type == holder.type and inside(o, holder)]
    return [o for o in within if any(apart(o, p) for p in within)]


def naive(
    mention: Mention, own: Sequence[Mention], others: Sequence[Mention], side: str
) -> set[str]:
    """The classes that fit by the definition, of which several boundary sides may: which one
    decides is tried apart.
    """
    keys = {(m.type, m.spans) for m in others}
    other_keys = {(m.type, m.spans) for m in own}
    wrong = [o for o in others if (o.type, o.spans) not in other_keys]
    mine = [m for m in own if (m.type, m.spans) not in keys]
    partners = [o for o in others if not apart(mention, o)]
    if any(o.spans == mention.spans for o in partners):
        return {"type"}
    as_holder = bool(holds_two(mention, wrong))
    as_part = any(mention in holds_two(o, mine) for o in wrong)
    if as_holder if side == "fp" else as_part:
        return {"merged"}
    if as_part if side == "fp" else as_holder:
        return {"split"}
    alike = [o for o in partners if o.type == mention.type]
    if alike:
        nearest = [o for o in alike if o in wrong] or alike
        return {sides_of(mention, o) for o in nearest}
    return {"boundary-and-type"} if partners else {"spurious" if side == "fp" else "missed"}


def sides_of(a: Mention, b: Mention) -> str:
    left = min(characters(a.spans)) != min(characters(b.spans))
    right = max(characters(a.spans)) != max(characters(b.spans))
    return {(True, True): "both", (True, False): "left", (False, True): "right"}.get(
        (left, right), "inside"
    ).join(("boundary-", ""))


@given(corpora())
def test_every_error_has_the_one_class_that_its_definition_gives(corpus: Corpus) -> None:
    gold, said = sides(corpus)
    found = find_mistakes(gold, said)
    wanted = []
    for key in gold:
        for side, own, others in (("fp", said[key], gold[key]), ("fn", gold[key], said[key])):
            keys = {(m.type, m.spans) for m in others}
            wanted += [(key, side, m.type, m.spans) for m in own if (m.type, m.spans) not in keys]
    assert Counter((m.document, m.side, m.mention.type, m.mention.spans) for m in found) == Counter(
        wanted
    )
    for mistake in found:
        own, others = (said, gold) if mistake.side == "fp" else (gold, said)
        classes = naive(
            mistake.mention, own[mistake.document], others[mistake.document], mistake.side
        )
        assert mistake.kind in classes
        assert (mistake.partner is None) == (mistake.kind in ("spurious", "missed"))
        if mistake.partner is not None:
            check_partner(mistake, own[mistake.document], others[mistake.document])


def check_partner(mistake: Mistake, own: Sequence[Mention], others: Sequence[Mention]) -> None:
    partner = mistake.partner
    assert partner is not None
    assert partner in others
    assert not apart(mistake.mention, partner)
    assert mistake.partner_right == (
        (partner.type, partner.spans) in {(m.type, m.spans) for m in own}
    )
    if mistake.kind == "type":
        assert partner.spans == mistake.mention.spans
    if mistake.kind in BOUNDARY:
        assert mistake.kind == sides_of(mistake.mention, partner)
        alike = [
            o for o in others if o.type == mistake.mention.type and not apart(o, mistake.mention)
        ]
        keys = {(m.type, m.spans) for m in own}
        wrong = [o for o in alike if (o.type, o.spans) not in keys]
        assert likeness(mistake.mention, partner) == max(
            likeness(mistake.mention, o) for o in wrong or alike
        )


def likeness(a: Mention, b: Mention) -> float:
    return len(characters(a.spans) & characters(b.spans)) / len(
        characters(a.spans) | characters(b.spans)
    )


@given(corpora())
def test_the_sums_hold_for_all_and_for_each_type(corpus: Corpus) -> None:
    gold, said = sides(corpus)
    found, scores = find_mistakes(gold, said), score(gold, said)
    rates = error_rates(found)
    assert rates["type_errors"] + rates["boundary_errors"] + rates["spurious"] == scores.counts.fp
    assert rates["errors"] == scores.counts.fp + scores.counts.fn
    missed = Counter(m.kind for m in found if m.side == "fn")
    assert missed.total() == scores.counts.fn
    assert missed["spurious"] == 0
    for name, counts in scores.by_type.items():
        of_type = Counter((m.side, m.kind) for m in found if m.mention.type == name)
        assert sum(of_type["fp", kind] for kind in CLASSES) == counts.fp
        assert sum(of_type["fn", kind] for kind in CLASSES) == counts.fn


@given(corpora())
def test_the_rates_of_the_paper_against_loops_over_false_positives(corpus: Corpus) -> None:
    gold, said = sides(corpus)
    counts = score(gold, said).counts
    for same_type in (False, True):
        typed = bounded = 0
        for key in gold:
            true = {(m.type, m.spans) for m in gold[key]}
            for p in said[key]:
                if (p.type, p.spans) in true:
                    continue
                if any(g.spans == p.spans for g in gold[key]):
                    typed += 1
                elif any(
                    not apart(g, p) and (g.type == p.type or not same_type) for g in gold[key]
                ):
                    bounded += 1
        found = error_rates(find_mistakes(gold, said), same_type=same_type)
        assert (found["type_errors"], found["boundary_errors"]) == (typed, bounded)
        errors = counts.fp + counts.fn
        assert found["type_rate"] == (typed / errors if errors else None)
        assert found["boundary_rate"] == (bounded / errors if errors else None)


@given(corpora())
def test_the_type_rate_is_at_most_one_half_where_no_span_has_two_types(corpus: Corpus) -> None:
    one_type = [
        tuple(tuple({m.spans: m for m in side}.values()) for side in pair) for pair in corpus
    ]
    rate = error_rates(find_mistakes(*sides(one_type)))["type_rate"]
    assert rate is None or rate <= 0.5


def m(start: int, end: int, type_: str = "Gene", score: float | None = None) -> Mention:
    return Mention(((start, end),), type_, score=score)


def test_a_wrong_partner_explains_before_a_right_one() -> None:
    """The false positive is nearer to the gold mention that was found, but belongs to the one
    that was not.
    """
    (wrong, missed) = find_mistakes({"d": [m(0, 8), m(4, 20)]}, {"d": [m(0, 8), m(0, 9)]})
    assert (wrong.side, wrong.kind, wrong.partner) == ("fp", "boundary-both", m(4, 20))
    assert (missed.partner, missed.partner_right) == (m(0, 9), False)
    (beside,) = find_mistakes({"d": [m(0, 9)]}, {"d": [m(0, 9), m(0, 4)]})
    assert beside.partner_right


def test_scores_belong_to_predictions() -> None:
    found = find_mistakes({"d": [m(0, 4), m(10, 12)]}, {"d": [m(0, 5, score=0.7)]})
    assert [(mistake.side, mistake.score) for mistake in found] == [
        ("fp", 0.7),
        ("fn", 0.7),
        ("fn", None),
    ]


def test_duplicates_are_one_mention_with_the_highest_score() -> None:
    kept = distinct(
        [m(0, 4, score=None), m(0, 4, score=0.2), m(0, 4, score=0.9), m(0, 4, score=0.5), m(0, 2)]
    )
    assert [(x.end, x.score) for x in kept] == [(2, None), (4, 0.9)]


def test_no_error_has_no_rate() -> None:
    rates = error_rates(find_mistakes({"d": [m(0, 4)]}, {"d": [m(0, 4)]}))
    assert (rates["type_rate"], rates["boundary_rate"], rates["undefined"]) == (
        None,
        None,
        "there is no error",
    )
