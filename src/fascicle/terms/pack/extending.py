"""Content of a pack as sources, so that a new pack can be built from it and from others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, cast

import numpy as np

from fascicle.core.arrays import Bools
from fascicle.terms.curation.rules import UNTOUCHED, Action, Case, Decision, NameRow, Rule
from fascicle.terms.pack import layout
from fascicle.terms.pack.builder import PackSource
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.tables import Names
from fascicle.terms.terms import NAME_KINDS, ConceptRecord, Name

_CHUNK: Final = 1 << 14  # concepts
_LABEL_OF_OWN: Final = Decision(preferred=True)


def sources_of(pack: Pack) -> list[PackSource]:
    """Returns the sources of a pack; a build from them and `KeptRules` gives the same concepts, names and priors."""
    return [
        PackSource(facts, partial(_records, pack, number), partial(dict, facts.counts))
        for number, facts in enumerate(pack.manifest.sources)
    ]


def _records(pack: Pack, source: int) -> Iterator[ConceptRecord]:
    """Yields the records of one source of a pack; the first source of a concept has all its fields besides names."""
    has = np.array([source in one for one in pack.manifest.sets], dtype=np.bool_)
    first = np.array([source == min(one, default=-1) for one in pack.manifest.sets], dtype=np.bool_)
    for start in range(0, len(pack), _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, len(pack)))
        names: dict[int, list[Name]] = {int(row): [] for row in rows[has[pack.set_rows[rows]]]}
        for table in (pack.active, pack.silent):
            _add(names, pack, table, rows[[0, -1]].tolist(), has)
        for row in sorted(names):
            whole = bool(first[pack.set_rows[row]])
            yield _record(pack, row, tuple(names[row]), whole=whole)


def _add(names: dict[int, list[Name]], pack: Pack, table: Names, ends: list[int], has: Bools) -> None:
    """Adds the names of a source to those of the concepts from the first row to the last."""
    _, terms = table.of_concept.take(np.arange(ends[0], ends[1] + 1))
    terms = terms[has[table.sources[terms]]]
    surfaces = table.surfaces.take(table.surface[terms])
    languages, kinds = pack.manifest.languages, NAME_KINDS
    columns = (table.concept[terms].tolist(), surfaces, table.kind[terms].tolist(), table.language[terms].tolist())
    for row, surface, kind, language in zip(*columns, strict=True):
        names.setdefault(row, []).append(Name(surface, kinds[kind], languages[language]))


def _record(pack: Pack, row: int, names: tuple[Name, ...], *, whole: bool) -> ConceptRecord:
    if not whole:
        return ConceptRecord(curie=pack.curie(row), type=pack.types[pack.type_rows[row]], names=names)
    concept = pack.concept_at(row)
    return ConceptRecord(
        curie=concept.curie,
        type=concept.type,
        names=names,
        taxon=concept.taxon,
        rank=concept.rank,
        parents=pack.parents(concept.curie),
        obsolete=concept.obsolete,
        replaced_by=concept.replaced_by,
        definition=concept.definition,
        references=concept.references,
        label=concept.label if pack.label_rows[row] != layout.NONE else "",
    )


class KeptRules:
    """Rules that decided about the names of a pack; labels of other sources always stay searchable.

    Attributes:
        rules: as the pack records them; rules that decided together are one rule.
    """

    def __init__(self, pack: Pack) -> None:
        """Sets the open pack."""
        self._pack = pack
        self.rules = tuple(Rule(action=cast(Action, pack.rules[row])) for row in range(1, len(pack.rules)))
        self._own: set[tuple[str, str]] = set()
        self._known: dict[tuple[str, str], Decision] = {}
        for table in (pack.active, pack.silent):
            for term, rule in zip(*(column.tolist() for column in table.ruled), strict=True):
                told = pack.term(table, term)
                flags = int(table.flags[term])
                self._known[told.surface, told.concept] = Decision(
                    keep=not flags & layout.DROPPED,
                    match=not told.off,
                    case=cast(Case, told.case.name),
                    preferred=bool(flags & layout.PREFERRED),
                    presence=rule - 1 if rule else None,
                )

    def see(self, record: ConceptRecord) -> None:
        """Collects the labels of a record of another source; of a new concept without a label, its first name."""
        labels = [name for name in record.names if name.kind == "label"]
        if not labels and record.names and self._pack.concept_rows([record.curie])[0] < 0:
            labels = [record.names[0]]
        self._own.update((name.surface, record.curie) for name in labels)

    def decide(self, row: NameRow) -> Decision:
        """Returns the decision about a name."""
        name = (row.surface, row.concept)
        return _LABEL_OF_OWN if name in self._own else self._known.get(name, UNTOUCHED)
