"""Curation of packs: rules in a table, which are appended and never edited, and their lint.

Rules block, add or change names of a pack. A rule is one row, ``action surface source concept case
note``. The actions:

- ``drop``: the names with this surface are left out.
- ``ner_off``: they stay for linking and explaining, but match no text.
- ``case``: they match with this policy: ``any``, ``initial`` or ``exact``; empty for that of the
  pack.
- ``add``: the concept has this surface, whatever sources and earlier rules say; a new name has this
  source.
- ``prefer``: among the concepts of this surface, this one is meant.
- ``block``: no surface with the same key is a name, wherever it is from; without a surface: the
  concept has no names.

An empty ``source`` or ``concept``, or ``*``, is any. ``ner_off`` without a surface is about all
names of its source. ``drop``, ``ner_off``, ``add`` and ``block`` decide whether a name exists: of
those that fit a name the last one counts. ``case`` and ``prefer`` are decided apart from it.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from fascicle.core.files.source import Source, read_lines
from fascicle.core.wording import near_hint
from fascicle.errors import FormatError, Place
from fascicle.terms.sources.drafts import clean_name
from fascicle.terms.terms import ConceptRecord, curie

Action = Literal["drop", "ner_off", "case", "add", "prefer", "block"]
Case = Literal["", "any", "initial", "exact"]
_Problem = Literal[
    "dead", "overruled", "contradiction", "unknown-concept", "unknown-source", "twice"
]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
CASES: Final[tuple[Case, ...]] = get_args(Case)
HEADER: Final = ("action", "surface", "source", "concept", "case", "note")
_BREAK: Final = re.compile(r"[\t\n\r]")
_SPELLINGS: Final = 3  # that a message names
CURATION: Final = "curation"  # the source of names that rules add, if they name none


class CurationRule(msgspec.Struct, frozen=True, kw_only=True):
    """Curation rule.

    Attributes:
        action: what it does.
        surface: of the names, exactly; empty only for ``block`` and ``ner_off``.
        source: of the names; empty for any.
        concept: CURIE; empty for any.
        case: policy of ``case`` and ``add``.
        note: for people.
        place: file and line, for messages; never part of what a rule means.
    """

    action: Action
    surface: str = ""
    source: str = ""
    concept: str = ""
    case: Case = ""
    note: str = ""
    place: str = ""

    @property
    def decides(self) -> tuple[str, ...]:
        """What it decides of a name: ``"presence"``, ``"case"`` or ``"prefer"``; two of them
        with a case of its own.
        """
        first = self.action if self.action in ("case", "prefer") else "presence"
        return (first, "case") if self.case and first == "presence" else (first,)


def read_rules(paths: Iterable[str]) -> list[CurationRule]:
    """Reads tables of rules, one after the other.

    A table is a TSV with the header above; of its columns, those behind ``surface`` may be missing,
    and so may cells at the end of a row. Lines that begin with ``#``, and empty ones, are left out.

    Args:
        paths: of the tables; rules of a later one win.

    Raises:
        InputError: a file cannot be opened.
        FormatError: a row that is no rule, with its line.
    """
    return [rule for path in paths for rule in _rules_of(path)]


def is_rules_table(path: str | os.PathLike[str]) -> bool:
    """True if a path is that of a file whose first row is the header of a table of rules."""
    if not Path(path).is_file():
        return False
    lines = (line for _, line in read_lines(Source(path=str(path))))
    header = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return {"action", "surface"} <= {cell.strip() for cell in header.split("\t")}


def format_rules(rules: Iterable[CurationRule]) -> str:
    """Returns rules as a table that `read_rules` can read."""
    rows = ["\t".join(HEADER)]
    rows += ["\t".join(str(getattr(rule, column)) for column in HEADER) for rule in rules]
    return "\n".join(rows) + "\n"


def _rules_of(path: str) -> Iterator[CurationRule]:
    columns: list[str] = []
    for number, line in read_lines(Source(path=path)):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        place = Place(path, number)
        if not columns:
            columns = _columns(cells, place)
            continue
        if len(cells) > len(columns):
            raise FormatError(f"{len(cells)} columns, but the header has {len(columns)}", at=place)
        yield make_rule(dict(zip(columns, cells, strict=False)), place)
    if not columns:
        raise FormatError(
            f"the table is empty; begin it with the header {' TAB '.join(HEADER)}", at=path
        )


def _columns(cells: list[str], place: Place) -> list[str]:
    unknown = [cell for cell in cells if cell not in HEADER]
    if unknown or not {"action", "surface"} <= set(cells) or len(set(cells)) < len(cells):
        raise FormatError(f"the header is {cells!r}; it must be {' TAB '.join(HEADER)}", at=place)
    return cells


def make_rule(cells: dict[str, Any], place: Place) -> CurationRule:
    """Returns the rule of a row.

    Args:
        cells: by the names of `HEADER`; ``action`` and ``surface`` are needed.
        place: file and line, for messages.

    Raises:
        FormatError: it is no rule.
    """
    action, case = cells["action"], cells.get("case", "")
    if action not in ACTIONS:
        hint = near_hint(action, ACTIONS)
        raise FormatError(
            f"the action {action!r} is not known{hint}; choose one of {', '.join(ACTIONS)}",
            at=place,
        )
    if case not in CASES:
        raise FormatError(f"case is {case!r}; it must be empty, any, initial or exact", at=place)
    source, identifier = (
        "" if (cell := cells.get(key, "")) == "*" else cell for key in ("source", "concept")
    )
    concept = curie(identifier) if identifier else ""
    if identifier and not concept:
        raise FormatError(
            f"the concept {identifier!r} is not a CURIE, such as MESH:D003920", at=place
        )
    surface = cells.get("surface", "")
    rule = CurationRule(
        **{**cells, "source": source, "concept": concept, "surface": surface}, place=str(place)
    )
    if message := _find_fault(rule):
        raise FormatError(message, at=place)
    return rule


def _find_fault(rule: CurationRule) -> str:
    """Returns what is wrong with the fields of a rule together; empty if nothing is."""
    if clean_name(rule.surface) != rule.surface:
        return f"the surface {rule.surface!r} is not a name"
    if _BREAK.search(rule.source + rule.note):
        return "source and note are cells of a table; leave out tabs and line breaks"
    alone = {"block": rule.concept, "ner_off": rule.source}.get(rule.action)
    if not rule.surface and not alone:
        return (
            f"{rule.action} needs a surface; only block may have a concept alone, and ner_off a "
            "source alone"
        )
    if rule.action in ("add", "prefer") and not rule.concept:
        return f"{rule.action} needs a concept"
    if rule.case and rule.action not in ("case", "add"):
        return f"{rule.action} has nothing to do with case; leave it empty"
    return ""


class NameRow(NamedTuple):
    """Name with its source and concept, as input of the rules.

    Attributes:
        surface: of the name.
        source: name of the vocabulary.
        concept: CURIE.
    """

    surface: str
    source: str
    concept: str


class RuleDecision(NamedTuple):
    """Decision of the rules about one name.

    Attributes:
        keep: whether the pack has it.
        match: whether it matches text.
        case: policy; empty for that of the pack.
        preferred: whether its concept is the one that is meant by the surface.
        rules: numbers of the rules that decided, in order.
    """

    keep: bool = True
    match: bool = True
    case: Case = ""
    preferred: bool = False
    rules: tuple[int, ...] = ()


UNTOUCHED = RuleDecision()


class Curation:
    """Set of rules that decides about names, in any order and number."""

    def __init__(
        self, rules: Sequence[CurationRule], *, key: Callable[[str], str] = str.casefold
    ) -> None:
        """Indexes the rules by surface.

        Args:
            rules: the last one wins.
            key: of a surface; ``block`` takes all surfaces with one key together.
        """
        self.rules = tuple(rules)
        self._key = key
        self._by_surface: defaultdict[str, list[int]] = defaultdict(list)
        self._by_key: defaultdict[str, list[int]] = defaultdict(list)
        self._by_concept: defaultdict[str, list[int]] = defaultdict(list)
        self._by_source: defaultdict[str, list[int]] = defaultdict(list)
        for number, rule in enumerate(self.rules):
            is_block = rule.action == "block"
            if rule.surface and is_block:
                self._by_key[key(rule.surface)].append(number)
            elif rule.surface:
                self._by_surface[rule.surface].append(number)
            elif is_block:
                self._by_concept[rule.concept].append(number)
            else:
                self._by_source[rule.source].append(number)

    def decide(
        self,
        row: NameRow,
        *,
        without: Collection[int] = (),
        before: RuleDecision = UNTOUCHED,
    ) -> RuleDecision:
        """Returns the decision about one name of a vocabulary, or about one that a rule adds.

        Args:
            row: the name.
            without: numbers of rules that are left out.
            before: decision of earlier rules, which stays where these rules decide nothing.
        """
        fitting = [number for number in self.fitting(row) if number not in without]
        last = {what: number for number in fitting for what in self.rules[number].decides}
        if not last:
            return before
        decision = before._replace(rules=tuple(sorted({*last.values()})))
        for what, number in last.items():
            rule = self.rules[number]
            if what == "presence":
                stays = rule.action in ("add", "ner_off")
                decision = decision._replace(keep=stays, match=rule.action == "add")
            elif what == "case":
                decision = decision._replace(case=rule.case)
            else:
                decision = decision._replace(preferred=rule.concept == row.concept)
        return decision

    def fitting(self, row: NameRow) -> list[int]:
        """Returns the numbers of the rules that are about a name, in order; a ``prefer`` is
        about all concepts.
        """
        near = [
            *self._by_surface.get(row.surface, ()),
            *self._by_concept.get(row.concept, ()),
            *self._by_source.get(row.source, ()),
        ]
        if self._by_key:
            near += self._by_key.get(self._key(row.surface), ())
        return sorted(number for number in near if _fits(self.rules[number], row))

    def added(
        self, *, without: Collection[int] = (), surface: str | None = None
    ) -> dict[tuple[str, str], NameRow]:
        """Returns surface and concept -> name that rules add, each once, of all surfaces or one;
        its source is that of the last such rule.
        """
        numbers = range(len(self.rules)) if surface is None else self._by_surface.get(surface, ())
        rules = ((number, self.rules[number]) for number in numbers)
        return {
            (rule.surface, rule.concept): NameRow(
                rule.surface, rule.source or CURATION, rule.concept
            )
            for number, rule in rules
            if rule.action == "add" and number not in without
        }


def curate_names(
    rows: Iterable[NameRow],
    curation: Curation,
    *,
    without: Collection[int] = (),
    surface: str | None = None,
) -> Iterator[tuple[NameRow, RuleDecision]]:
    """Yields each name with its decision, and then the names that rules add and no source has.

    Args:
        rows: surface, source and concept of each name.
        curation: the rules.
        without: numbers of rules that are left out.
        surface: of the names that rules may add; by default all.
    """
    adding = curation.added(without=without, surface=surface)
    for row in rows:
        adding.pop((row.surface, row.concept), None)
        yield row, curation.decide(row, without=without)
    for row in adding.values():
        yield row, curation.decide(row, without=without)


def _fits(rule: CurationRule, row: NameRow) -> bool:
    if rule.source and rule.source != row.source and rule.action != "add":
        return False
    return not rule.concept or rule.concept == row.concept or rule.action == "prefer"


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
    near, looked, others = _names_near_rules(rows, curation)
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
            spellings = () if rule.action == "add" else others.get(rule.surface.casefold(), ())
            names = " or ".join(map(repr, sorted(spellings)[:_SPELLINGS]))
            why = (
                f", for the name is spelt {names}; spell it so" if names else " any more; remove it"
            )
            yield RuleProblem(number, "dead", f"{what} does nothing{why}")


def _why_overruled(
    rule: CurationRule, near: Mapping[str, Iterable[NameRow]], curation: Curation
) -> str:
    """Returns why a rule that looks at names changes none of them, and what to do."""
    named = {row.concept for row in near.get(rule.surface, ())}
    named |= {concept for surface, concept in curation.added() if surface == rule.surface}
    if rule.action == "prefer" and rule.concept not in named:
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
    others = {surface.casefold(): set[str]() for surface in surfaces if surface}
    for row in rows:
        if (folded := row.surface.casefold()) in others and row.surface not in surfaces:
            others[folded].add(row.surface)
        numbers = curation.fitting(row)
        if numbers or row.surface in surfaces:
            near[row.surface][row] = None
        for number in numbers:
            looked[number].add(row.surface)
    return near, looked, others


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
