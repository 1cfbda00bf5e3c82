"""Curation rules: they block, add or change names of a pack.

A rule is one row, ``action surface source concept case note``. The actions:

============  ===============================================================================================
``drop``      the names with this surface are left out
``ner_off``   they stay for linking and explaining, but match no text
``case``      they match with this policy: ``any``, ``initial`` or ``exact``; empty for that of the pack
``add``       the concept has this surface, whatever sources and earlier rules say; a new name has this source
``prefer``    among the concepts of this surface, this one is meant
``block``     no surface with the same key is a name, wherever it is from; without a surface: the concept has no names
============  ===============================================================================================

An empty ``source`` or ``concept``, or ``*``, is any. ``drop``, ``ner_off``, ``add`` and ``block`` decide whether a name
exists: of those that fit a name the last one counts. ``case`` and ``prefer`` are decided apart from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

import msgspec

from fascicle.core.files.source import Source, lines
from fascicle.core.wording import near_hint
from fascicle.errors import FormatError, Place
from fascicle.terms.sources.curies import curie
from fascicle.terms.sources.drafts import cleaned

Action = Literal["drop", "ner_off", "case", "add", "prefer", "block"]
Case = Literal["", "any", "initial", "exact"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
CASES: Final[tuple[Case, ...]] = get_args(Case)
HEADER: Final = ("action", "surface", "source", "concept", "case", "note")
CURATION: Final = "curation"  # the source of names that rules add, if they name none


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """Curation rule.

    Attributes:
        action: what it does.
        surface: of the names, exactly; empty only for ``block``.
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


def read_rules(paths: Iterable[str]) -> list[Rule]:
    """Reads tables of rules, one after the other.

    A table is a TSV with the header above; of its columns, those behind ``surface`` may be missing, and so may cells at
    the end of a row. Lines that begin with ``#``, and empty ones, are left out.

    Args:
        paths: of the tables; rules of a later one win.

    Raises:
        InputError: a file cannot be opened.
        FormatError: a row that is no rule, with its line.
    """
    return [rule for path in paths for rule in _rules_of(path)]


def written(rules: Iterable[Rule]) -> str:
    """Returns rules as a table that `read_rules` can read."""
    rows = ["\t".join(HEADER)]
    rows += ["\t".join(str(getattr(rule, column)) for column in HEADER) for rule in rules]
    return "\n".join(rows) + "\n"


def _rules_of(path: str) -> Iterator[Rule]:
    columns: list[str] = []
    for number, line in lines(Source(path=path)):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        place = Place(path, number)
        if not columns:
            columns = _columns(cells, place)
            continue
        if len(cells) > len(columns):
            raise FormatError(f"{len(cells)} columns, but the header has {len(columns)}", at=place)
        yield _rule(dict(zip(columns, cells, strict=False)), place)
    if not columns:
        raise FormatError(f"the table is empty; begin it with the header {' TAB '.join(HEADER)}", at=path)


def _columns(cells: list[str], place: Place) -> list[str]:
    unknown = [cell for cell in cells if cell not in HEADER]
    if unknown or not {"action", "surface"} <= set(cells) or len(set(cells)) < len(cells):
        raise FormatError(f"the header is {cells!r}; it must be {' TAB '.join(HEADER)}", at=place)
    return cells


def _rule(cells: dict[str, str], place: Place) -> Rule:
    action, case = cells["action"], cells.get("case", "")
    if action not in ACTIONS:
        hint = near_hint(action, ACTIONS)
        raise FormatError(f"the action {action!r} is not known{hint}; choose one of {', '.join(ACTIONS)}", at=place)
    if case not in CASES:
        raise FormatError(f"case is {case!r}; it must be empty, any, initial or exact", at=place)
    given = {key: "" if (cell := cells.get(key, "")) == "*" else cell for key in ("source", "concept")}
    concept = curie(given["concept"]) if given["concept"] else ""
    if given["concept"] and not concept:
        raise FormatError(f"the concept {given['concept']!r} is no CURIE, such as MESH:D003920", at=place)
    surface = cells.get("surface", "")
    if cleaned(surface) != surface:
        raise FormatError(f"the surface {surface!r} is no name", at=place)
    if not surface and (action != "block" or not concept):
        raise FormatError(f"{action} needs a surface; only block may have a concept alone", at=place)
    if action in ("add", "prefer") and not concept:
        raise FormatError(f"{action} needs a concept", at=place)
    if case and action not in ("case", "add"):
        raise FormatError(f"{action} has nothing to do with case; leave it empty", at=place)
    return Rule(
        action=action,
        surface=surface,
        source=given["source"],
        concept=concept,
        case=case,
        note=cells.get("note", ""),
        place=str(place),
    )


Key = Callable[[str], str]


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


class Decision(NamedTuple):
    """Decision of the rules about one name; numbers are those of rules, ``None`` where no rule decided.

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
    """Set of rules that decides about names, in any order and number."""

    def __init__(self, rules: Sequence[Rule], *, key: Key = str.casefold) -> None:
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
        for number, rule in enumerate(self.rules):
            if rule.action != "block":
                self._by_surface[rule.surface].append(number)
            elif rule.surface:
                self._by_key[key(rule.surface)].append(number)
            else:
                self._by_concept[rule.concept].append(number)

    def decide(self, row: NameRow, *, without: Collection[int] = ()) -> Decision:
        """Returns the decision about one name of a vocabulary, or about one that a rule adds.

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
        """Returns the numbers of the rules that are about a name, in order; a ``prefer`` is about all concepts."""
        near = self._near(row)
        return [number for number in near if _fits(self.rules[number], row)] if near else near

    def added(self, *, without: Collection[int] = ()) -> dict[tuple[str, str], NameRow]:
        """Returns surface and concept -> name that rules add, each once; its source is that of the last such rule."""
        return {
            (rule.surface, rule.concept): NameRow(rule.surface, rule.source or CURATION, rule.concept)
            for number, rule in enumerate(self.rules)
            if rule.action == "add" and number not in without
        }

    def _near(self, row: NameRow) -> list[int]:
        """Returns numbers of the rules that may fit, in their order."""
        near = self._by_surface.get(row.surface, [])
        if self._by_key and (more := self._by_key.get(self._key(row.surface))):
            near = near + more
        if self._by_concept and (more := self._by_concept.get(row.concept)):
            near = near + more
        return sorted(near)


def apply(
    rows: Iterable[NameRow], curation: Curation, *, without: Collection[int] = ()
) -> Iterator[tuple[NameRow, Decision]]:
    """Yields each name with its decision, and then the names that rules add and no source has.

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
