"""Rules of curation: one row each, ``action surface source concept case note``; the last rule wins.

============  ===============================================================================================
``drop``      the names with this surface are left out
``ner_off``   they stay for linking and explaining, but match no text
``case``      they match with this policy: ``any``, ``initial`` or ``exact``; empty for that of the pack
``add``       the concept has this surface, whatever sources and earlier rules say; a new name has this source
``prefer``    among the concepts of this surface, this one is meant
``block``     no surface with the same key is a name, wherever it is from; without a surface: the concept has no names
============  ===============================================================================================

An empty ``source`` or ``concept``, or ``*``, is any. ``drop``, ``ner_off``, ``add`` and ``block`` decide whether a name
is there: of those that fit a name the last one counts. ``case`` and ``prefer`` are decided apart from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, get_args

import msgspec

from fascicle.core.names import near_hint
from fascicle.errors import FormatError, Place
from fascicle.files.source import Source, lines
from fascicle.knowledge.sources.curies import curie
from fascicle.knowledge.sources.drafts import cleaned

Action = Literal["drop", "ner_off", "case", "add", "prefer", "block"]
Case = Literal["", "any", "initial", "exact"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
CASES: Final[tuple[Case, ...]] = get_args(Case)
HEADER: Final = ("action", "surface", "source", "concept", "case", "note")
CURATION: Final = "curation"  # the source of names that rules add, if they name none


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule.

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
    """Rules as a table that `read_rules` reads."""
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
