"""Lint of curation rules: rules without effect, contradictory rules, and unknown names, concepts or sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from fascicle.terms.curation.rules import UNTOUCHED, Curation, Decision, NameRow, Rule, apply
from fascicle.terms.terms import ConceptRecord

Problem = Literal["dead", "overruled", "contradiction", "unknown-concept", "unknown-source", "twice"]


class Finding(NamedTuple):
    """Problem of one rule.

    Attributes:
        number: of the rule, from 0.
        problem: its kind: ``"dead"`` fits no name, or adds one that is there; ``"overruled"`` fits names,
            but changes none beside the other rules.
        said: one sentence for people, with the place of the rule.
    """

    number: int
    problem: Problem
    said: str


class SeenNames:
    """Names of a build that rules are about, collected so that neither lint nor the build searches them again.

    Attributes:
        rows: names that a rule fits, or that have the surface of one.
        concepts: concepts that rules name.
    """

    def __init__(self, curation: Curation) -> None:
        """Starts without names."""
        self.rows: dict[NameRow, None] = {}
        self.concepts: set[str] = set()
        self._curation = curation
        self._named = {rule.surface for rule in curation.rules}
        self._meant = {rule.concept for rule in curation.rules}

    def see(self, source: str, record: ConceptRecord) -> None:
        """Collects the names and concepts of one record of a source."""
        if record.curie in self._meant:
            self.concepts.add(record.curie)
        for name in record.names:
            row = NameRow(name.surface, source, record.curie)
            if row.surface in self._named or self._curation.fitting(row):
                self.rows[row] = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules."""
        return self._curation.rules

    def decide(self, row: NameRow) -> Decision:
        """Returns the decision about a name that was seen, or that a rule adds; see `Curation.decide`."""
        looked = row in self.rows or row.surface in self._named
        return self._curation.decide(row) if looked else UNTOUCHED

    def findings(self, sources: Iterable[str]) -> list[Finding]:
        """Returns the problems of the rules, given all names and concepts that were seen; see `lint`."""
        return lint(self.rows, self._curation, known=self.concepts.__contains__, sources=sources)


def lint(
    rows: Iterable[NameRow], curation: Curation, *, known: Callable[[str], bool], sources: Iterable[str] = ()
) -> list[Finding]:
    """Returns all problems of the rules, in their order.

    Args:
        rows: surface, source and concept of each name of the vocabularies, before curation.
        curation: the rules.
        known: whether a concept is in the vocabularies.
        sources: names of the vocabularies; empty if they are not known.
    """
    found = [*_names(curation, known, frozenset(sources)), *_contradictions(curation.rules), *_dead(rows, curation)]
    return sorted(found, key=lambda finding: (finding.number, finding.problem))


def _names(curation: Curation, known: Callable[[str], bool], sources: frozenset[str]) -> Iterator[Finding]:
    for number, rule in enumerate(curation.rules):
        if rule.concept and not known(rule.concept):
            said = f"{rule.place}: the concept {rule.concept} is in no source; correct it, or remove the rule"
            yield Finding(number, "unknown-concept", said)
        if sources and rule.source and rule.source not in sources and rule.action != "add":
            said = f"{rule.place}: there is no source {rule.source!r}; correct it, or remove the rule"
            yield Finding(number, "unknown-source", said)


def _contradictions(rules: tuple[Rule, ...]) -> Iterator[Finding]:
    """Yields rules with exactly the same names and the same field to decide as an earlier one."""
    before: dict[tuple[str, ...], int] = {}
    for number, rule in enumerate(rules):
        what = rule.action if rule.action in ("case", "prefer") else "presence"
        concept = "" if rule.action == "prefer" else rule.concept
        target = (what, rule.surface, rule.source, concept)
        if target in before:
            other = rules[before[target]]
            same = (other.action, other.concept, other.case) == (rule.action, rule.concept, rule.case)
            says = "says the same as" if same else "contradicts"
            said = f"{rule.place}: {rule.action} {rule.surface!r} {says} {other.place}; keep one of the two"
            if (other.action, rule.action) != ("add", "ner_off"):  # which make a name for linking alone
                yield Finding(number, "twice" if same else "contradiction", said)
        before[target] = number


def _dead(rows: Iterable[NameRow], curation: Curation) -> Iterator[Finding]:
    """Yields rules without effect, the earlier ones first: the remaining rules have the same result as all together."""
    near: defaultdict[str, dict[NameRow, None]] = defaultdict(dict)  # surface -> names that a rule looks at
    looked: defaultdict[int, set[str]] = defaultdict(set)  # rule -> surfaces of these names
    named = {rule.surface for rule in curation.rules}
    for row in rows:
        numbers = curation.fitting(row)
        if numbers or row.surface in named:
            near[row.surface][row] = None
        for number in numbers:
            looked[number].add(row.surface)
    touched = defaultdict(set, {number: {*surfaces} for number, surfaces in looked.items()})
    for row in curation.added().values():
        for number in curation.fitting(row):
            touched[number].add(row.surface)
    gone: set[int] = set()
    for number, rule in enumerate(curation.rules):
        surfaces = touched[number] | {rule.surface}
        if any(_outcome(near, s, curation, gone) != _outcome(near, s, curation, gone | {number}) for s in surfaces):
            continue
        gone.add(number)
        what = f"{rule.place}: {rule.action} {rule.surface or rule.concept!r}"
        if looked[number] and rule.action != "add":
            yield Finding(number, "overruled", f"{what} changes nothing, for other rules decide; remove it")
        else:
            yield Finding(number, "dead", f"{what} does nothing any more; remove it")


def _outcome(
    near: Mapping[str, Iterable[NameRow]], surface: str, curation: Curation, gone: Collection[int]
) -> set[tuple[NameRow, bool, str, bool]]:
    """Returns the names of a surface that are kept, with the decision for each.

    A preference counts among one concept too: the word may be common, and other surfaces may have its key.
    """
    return {
        (row, decision.match, decision.case, decision.preferred)
        for row, decision in apply(near.get(surface, ()), curation, without=gone)
        if decision.keep and row.surface == surface
    }
