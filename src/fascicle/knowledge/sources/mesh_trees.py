"""Tree numbers of MeSH: ``D03.633.100`` lies below ``D03.633``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from fascicle.errors import FormatError
from fascicle.knowledge.sources.curies import curie
from fascicle.knowledge.sources.report import SourceReport
from fascicle.knowledge.sources.rows import open_table
from fascicle.settings.packs import SourceSettings, TableSettings

_COLUMNS: Final = (("id", "tree_number"), ("mesh_id", "mesh_tree_number"))


class Trees:
    """Which descriptor has which tree numbers."""

    def __init__(self) -> None:
        """Starts with none."""
        self._of: dict[str, list[str]] = {}
        self._at: dict[str, str] = {}

    def add(self, descriptor: str, number: str) -> None:
        """Adds a tree number of a descriptor, which is given by its CURIE."""
        self._of.setdefault(descriptor, []).append(number)
        self._at.setdefault(number, descriptor)

    def parents(self, descriptor: str) -> tuple[str, ...]:
        """The descriptors above one, each once."""
        above = (self._at.get(number.rpartition(".")[0]) for number in self._of.get(descriptor, ()))
        return tuple(dict.fromkeys(found for found in above if found and found != descriptor))

    def keeps(self, descriptor: str, branches: Sequence[str]) -> bool:
        """Whether a descriptor lies in one of the branches, or whether there are none to lie in."""
        return not branches or any(
            _in(number, branch) for number in self._of.get(descriptor, ()) for branch in branches
        )


def read_trees(settings: SourceSettings, report: SourceReport) -> Trees:
    """Reads a table of tree numbers, the hierarchy of a source.

    Raises:
        FormatError: the table has no columns for descriptors and tree numbers.
    """
    trees = Trees()
    settings = msgspec.structs.replace(settings, path=settings.hierarchy, table=TableSettings())
    for columns in _COLUMNS:
        try:
            table = open_table(settings, report, needed=columns)
        except FormatError:
            if columns == _COLUMNS[-1]:
                raise
            continue
        for row in table.rows:
            identifier, number = (row.cells[table.at[column]] for column in columns)
            descriptor = curie(identifier, "MESH")
            if not descriptor or not number:
                report.lose("identifier", row.place)
                continue
            report.used += 1
            trees.add(descriptor, number)
        return trees
    return trees


def _in(number: str, branch: str) -> bool:
    """``C10`` is in ``C`` and in ``C10``; ``C10.2`` in ``C10`` too, and in ``C10.2``, but not in ``C1``."""
    if not number.startswith(branch):
        return False
    return len(branch) == 1 or number[len(branch) :][:1] in ("", ".")
