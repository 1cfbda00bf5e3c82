"""Problems of the rules of curation: rules without effect, contradictions, and unknown names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Final, Literal, NamedTuple

from fascicle.terms.curation import (
    UNTOUCHED,
    Curation,
    CurationRule,
    NameRow,
    RuleDecision,
    curate_names,
)
from fascicle.terms.terms import ConceptRecord

_Problem = Literal[
    "dead", "overruled", "contradiction", "unknown-concept", "unknown-source", "twice"
]
_SPELLINGS: Final = 3  # that a message names


class RuleProblem(NamedTuple):
    """Problem of one rule.

    Attributes:
        number: of the rule, from 0.
        problem: its kind: ``"dead"`` fits no name, or adds one that is there; ``"overruled"`` fits
            names, but changes none beside the other rules.
        message: one sentence for people, with the place of the rule.
    """

    number: int
    problem: _Problem
    message: str


class SeenNames:
    """Names of a build that rules are about, collected so that neither lint nor the build searches
    them again.

    Attributes:
        rules: all rules.
        rows: names that a rule fits, or that have the surface of one, in any case.
        concepts: concepts that rules name.
    """

    def __init__(self, curation: Curation) -> None:
        """Starts without names."""
        self.rules = curation.rules
        self.rows: dict[NameRow, None] = {}
        self.concepts: set[str] = set()
        self._curation = curation
        self._named = {rule.surface for rule in curation.rules}
        self._folded = {surface.casefold() for surface in self._named if surface}
        self._meant = {rule.concept for rule in curation.rules}

    def see(self, source: str, record: ConceptRecord) -> None:
        """Collects the names and concepts of one record of a source."""
        if record.curie in self._meant:
            self.concepts.add(record.curie)
        for name in record.names:
            row = NameRow(name.surface, source, record.curie)
            if row.surface.casefold() in self._folded or self._curation.fitting(row):
                self.rows[row] = None

    def decide(self, row: NameRow) -> RuleDecision:
        """Returns the decision about a name that was seen, or that a rule adds; see
        `Curation.decide`.
        """
        looked = row in self.rows or row.surface in self._named
        return self._curation.decide(row) if looked else UNTOUCHED

    def findings(self, sources: Iterable[str]) -> list[RuleProblem]:
        """Returns the problems of the rules, given all names and concepts that were seen; see
        `find_rule_problems`.
        """
        return find_rule_problems(
            self.rows, self._curation, is_concept=self.concepts.__contains__, sources=sources
        )


def find_rule_problems(
    rows: Iterable[NameRow],
    curation: Curation,
    *,
    is_concept: Callable[[str], bool],
    sources: Iterable[str] = (),
) -> list[RuleProblem]:
    """Returns all problems of the rules, in their order.

    Args:
        rows: surface, source and concept of each name of the vocabularies, before curation.
        curation: the rules.
        is_concept: whether a concept is in the vocabularies.
        sources: names of the vocabularies; empty if they are not known.
    """
    problems = [
        *_names(curation, is_concept, frozenset(sources)),
        *_contradictions(curation.rules),
        *_dead(rows, curation),
    ]
    return sorted(problems, key=lambda finding: (finding.number, finding.problem))


def _names(
    curation: Curation, is_concept: Callable[[str], bool], sources: frozenset[str]
) -> Iterator[RuleProblem]:
    for number, rule in enumerate(curation.rules):
        if rule.concept and not is_concept(rule.concept):
            message = (
                f"{rule.place}: the concept {rule.concept} is in no source; correct it, or "
                "remove the rule"
            )
            yield RuleProblem(number, "unknown-concept", message)
        if sources and rule.source and rule.source not in sources and rule.action != "add":
            message = (
                f"{rule.place}: there is no source {rule.source!r}; correct it, or remove the rule"
            )
            yield RuleProblem(number, "unknown-source", message)


def _contradictions(rules: tuple[CurationRule, ...]) -> Iterator[RuleProblem]:
    """Yields rules with exactly the same names and the same field to decide as an earlier one."""
    before: dict[tuple[str, ...], int] = {}
    for number, rule in enumerate(rules):
        target = (
            rule.decides[0],
            rule.surface,
            rule.source,
            "" if rule.action == "prefer" else rule.concept,
        )
        if target in before:
            other = rules[before[target]]
            same = (other.action, other.concept, other.case) == (
                rule.action,
                rule.concept,
                rule.case,
            )
            says = "says the same as" if same else "contradicts"
            message = (
                f"{rule.place}: {rule.action} {rule.surface!r} {says} {other.place}; keep one "
                "of the two"
            )
            # which make a name for linking alone
            if (other.action, rule.action) != ("add", "ner_off"):
                yield RuleProblem(number, "twice" if same else "contradiction", message)
        before[target] = number


def _dead(rows: Iterable[NameRow], curation: Curation) -> Iterator[RuleProblem]:
    """Yields rules without effect, the earlier ones first: the remaining rules have the same
    result as all together.
    """
    near, looked, spellings = _names_near_rules(rows, curation)
    touched = defaultdict(set, {number: {*surfaces} for number, surfaces in looked.items()})
    for row in curation.added().values():
        for number in curation.fitting(row):
            touched[number].add(row.surface)
    # a rule that is gone changes nothing, so that this stays
    outcome = cache(lambda surface: _outcome(near, surface, curation, ()))
    gone: set[int] = set()
    for number, rule in enumerate(curation.rules):
        without = gone | {number}
        if any(
            outcome(surface) != _outcome(near, surface, curation, without)
            for surface in touched[number] | {rule.surface}
        ):
            continue
        gone = without
        what = f"{rule.place}: {rule.action} {rule.surface or rule.concept or rule.source!r}"
        if looked[number] and rule.action != "add":
            message = f"{what} changes nothing, {_why_overruled(rule, near, curation)}"
            yield RuleProblem(number, "overruled", message)
        else:
            yield RuleProblem(number, "dead", f"{what} does nothing{_why_dead(rule, spellings)}")


def _why_dead(rule: CurationRule, spellings: Mapping[str, Collection[str]]) -> str:
    """Returns why a rule fits no name, and what to do."""
    variants = () if rule.action == "add" else spellings.get(rule.surface.casefold(), ())
    names = " or ".join(map(repr, sorted(variants)[:_SPELLINGS]))
    return f", for the name is spelt {names}; spell it so" if names else " any more; remove it"


def _why_overruled(
    rule: CurationRule, near: Mapping[str, Iterable[NameRow]], curation: Curation
) -> str:
    """Returns why a rule that looks at names changes none of them, and what to do."""
    concepts = {row.concept for row in near.get(rule.surface, ())}
    concepts |= {concept for surface, concept in curation.added() if surface == rule.surface}
    if rule.action == "prefer" and rule.concept not in concepts:
        return f"for {rule.concept} has no such name; add the name first"
    return "for other rules or the vocabularies decide the same; remove it"


def _names_near_rules(
    rows: Iterable[NameRow], curation: Curation
) -> tuple[Mapping[str, Iterable[NameRow]], defaultdict[int, set[str]], Mapping[str, set[str]]]:
    """Returns surface -> names that a rule looks at, rule -> surfaces of these names, and for the
    surface of each rule in small letters the names that only differ from it by capitals.
    """
    near: defaultdict[str, dict[NameRow, None]] = defaultdict(dict)
    looked: defaultdict[int, set[str]] = defaultdict(set)
    surfaces = {rule.surface for rule in curation.rules}
    spellings = {surface.casefold(): set[str]() for surface in surfaces if surface}
    for row in rows:
        if (folded := row.surface.casefold()) in spellings and row.surface not in surfaces:
            spellings[folded].add(row.surface)
        numbers = curation.fitting(row)
        if numbers or row.surface in surfaces:
            near[row.surface][row] = None
        for number in numbers:
            looked[number].add(row.surface)
    return near, looked, spellings


def _outcome(
    near: Mapping[str, Iterable[NameRow]], surface: str, curation: Curation, gone: Collection[int]
) -> set[tuple[NameRow, bool, str, bool]]:
    """Returns the names of a surface that are kept, with the decision for each.

    A preference counts among one concept too: the word may be common, and other surfaces may have
    its key.
    """
    return {
        (row, decision.match, decision.case, decision.preferred)
        for row, decision in curate_names(
            near.get(surface, ()), curation, without=gone, surface=surface
        )
        if decision.keep
    }
