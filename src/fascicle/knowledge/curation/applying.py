"""What rules make of the names of a pack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from fascicle.knowledge.curation.rules import CURATION, Case, Rule

Key = Callable[[str], str]


class NameRow(NamedTuple):
    """A name as rules see it.

    Attributes:
        surface: of the name.
        source: name of the vocabulary.
        concept: CURIE.
    """

    surface: str
    source: str
    concept: str


class Decision(NamedTuple):
    """What becomes of one name; the numbers are those of rules, ``None`` where none decided.

    Attributes:
        keep: whether the pack has it.
        match: whether it matches text.
        case: policy; empty for that of the pack.
        preferred: whether its concept is the one that is meant by the surface.
        presence: rule that decided ``keep`` and ``match``.
        casing: rule that decided ``case``.
        preference: rule that decided ``preferred``.
    """

    keep: bool = True
    match: bool = True
    case: Case = ""
    preferred: bool = False
    presence: int | None = None
    casing: int | None = None
    preference: int | None = None


UNTOUCHED = Decision()


class Curation:
    """Rules that are ready to decide about names, in any order and as many as there are."""

    def __init__(self, rules: Sequence[Rule], *, key: Key = str.casefold) -> None:
        """Sorts the rules by what they look at.

        Args:
            rules: the last one wins.
            key: of a surface; ``block`` takes all surfaces with one key together.
        """
        self.rules = tuple(rules)
        self._key = key
        self._by_surface: defaultdict[str, list[int]] = defaultdict(list)
        self._by_key: defaultdict[str, list[int]] = defaultdict(list)
        self._by_concept: defaultdict[str, list[int]] = defaultdict(list)
        for number, rule in enumerate(self.rules):
            if rule.action != "block":
                self._by_surface[rule.surface].append(number)
            elif rule.surface:
                self._by_key[key(rule.surface)].append(number)
            else:
                self._by_concept[rule.concept].append(number)

    def decide(self, row: NameRow, *, without: Collection[int] = ()) -> Decision:
        """What becomes of one name of a vocabulary, or of one that a rule adds.

        Args:
            row: the name.
            without: numbers of rules that are left out.
        """
        presence = casing = preference = None
        for number in self.fitting(row):
            rule = self.rules[number]
            if number in without:
                continue
            if rule.action == "prefer":
                preference = number
                continue
            if rule.action != "case":
                presence = number
            if rule.action == "case" or rule.case:
                casing = number
        if presence is casing is preference is None:
            return UNTOUCHED
        action = self.rules[presence].action if presence is not None else "add"
        return Decision(
            keep=action in ("add", "ner_off"),
            match=action == "add",
            case=self.rules[casing].case if casing is not None else "",
            preferred=preference is not None and self.rules[preference].concept == row.concept,
            presence=presence,
            casing=casing,
            preference=preference,
        )

    def fitting(self, row: NameRow) -> list[int]:
        """The numbers of the rules that look at a name, in their order; a ``prefer`` looks at all concepts."""
        near = self._near(row)
        return [number for number in near if _fits(self.rules[number], row)] if near else near

    def added(self, *, without: Collection[int] = ()) -> dict[tuple[str, str], NameRow]:
        """Surface and concept -> the name that rules add, each once; its source is that of the last such rule."""
        return {
            (rule.surface, rule.concept): NameRow(rule.surface, rule.source or CURATION, rule.concept)
            for number, rule in enumerate(self.rules)
            if rule.action == "add" and number not in without
        }

    def _near(self, row: NameRow) -> list[int]:
        """Numbers of the rules that may fit, in their order."""
        near = self._by_surface.get(row.surface, [])
        if self._by_key and (more := self._by_key.get(self._key(row.surface))):
            near = near + more
        if self._by_concept and (more := self._by_concept.get(row.concept)):
            near = near + more
        return sorted(near)


def apply(
    rows: Iterable[NameRow], curation: Curation, *, without: Collection[int] = ()
) -> Iterator[tuple[NameRow, Decision]]:
    """What becomes of each name; behind them, the names that rules add and no source has.

    Args:
        rows: surface, source and concept of each name.
        curation: the rules.
        without: numbers of rules that are left out.
    """
    adding = curation.added(without=without)
    there: set[tuple[str, str]] = set()
    for row in rows:
        if (row.surface, row.concept) in adding:
            there.add((row.surface, row.concept))
        yield row, curation.decide(row, without=without)
    for target, row in adding.items():
        if target not in there:
            yield row, curation.decide(row, without=without)


def _fits(rule: Rule, row: NameRow) -> bool:
    if rule.source and rule.source != row.source and rule.action != "add":
        return False
    return not rule.concept or rule.concept == row.concept or rule.action == "prefer"
