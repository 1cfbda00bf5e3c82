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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from fascicle.core.files.source import Source, read_lines
from fascicle.core.wording import near_hint
from fascicle.errors import FormatError, Place
from fascicle.terms.sources.drafts import clean_name
from fascicle.terms.terms import curie

Action = Literal["drop", "ner_off", "case", "add", "prefer", "block"]
Case = Literal["", "any", "initial", "exact"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
CASES: Final[tuple[Case, ...]] = get_args(Case)
HEADER: Final = ("action", "surface", "source", "concept", "case", "note")
_BREAK: Final = re.compile(r"[\t\n\r]")
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
