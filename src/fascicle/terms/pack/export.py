"""Content of a pack as sources of a new pack and as a table, and differences between two packs.

The differences in mentions are those in texts: mentions that are added, lost, or get another link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple, cast

import numpy as np

from fascicle.core.arrays import Bools, Ints
from fascicle.terms.curation import (
    CURATION,
    UNTOUCHED,
    Action,
    Case,
    Curation,
    CurationRule,
    NameRow,
    RuleDecision,
)
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import row_chunks
from fascicle.terms.pack.builder import PackSource
from fascicle.terms.pack.layout import Names, SourceFacts
from fascicle.terms.pack.pack import Concept, Pack, Term
from fascicle.terms.terms import NAME_KINDS, REFERS, ConceptRecord, Name

_LABEL_OF_OWN: Final = RuleDecision(preferred=True)
_OF_CONCEPT: Final = (
    "taxon",
    "rank",
    "obsolete",
    "replaced_by",
    "parents",
    "references",
    "definition",
)
COLUMNS: Final = (
    *("concept", "type", "surface", "kind", "language", "case", "off", "prior", "sources", "rule"),
    *_OF_CONCEPT,
)


class NamesOfKeys(NamedTuple):
    """Names of a pack that have some keys, and their concepts.

    Attributes:
        concepts: rows, rising.
        active: rows of terms that are found.
        silent: rows of terms that are kept out.
    """

    concepts: Ints
    active: Ints
    silent: Ints


def pack_sources(
    pack: Pack, rules: Curation | None = None, *, only: NamesOfKeys | None = None
) -> list[PackSource]:
    """Returns the sources of a pack; a build from them and `KeptRules` gives the same concepts,
    names and priors.

    Args:
        pack: the pack that is open.
        rules: further rules, whose names are added to those of the source that they name.
        only: leave out all other names.
    """
    added = _added_records(pack, rules) if rules is not None else {}
    sources = [
        PackSource(
            facts,
            partial(_records, pack, number, only, added.pop(facts.name, ())),
            partial(dict, facts.counts),
            is_whole=True,
        )
        for number, facts in enumerate(pack.manifest.sources)
    ]
    new = [
        PackSource(SourceFacts(name=name), partial(iter, records), adds=True)
        for name, records in added.items()
    ]
    return [*sources, *new]


def _added_records(pack: Pack, rules: Curation) -> dict[str, list[ConceptRecord]]:
    """Returns the names that rules add to concepts of the pack, by their source; that of a
    vocabulary is that of the rules.
    """
    vocabularies = {facts.name for facts in pack.manifest.sources if facts.reader}
    records: dict[str, list[ConceptRecord]] = {}
    for row in rules.added().values():
        if (concept := int(pack.concept_rows([row.concept])[0])) >= 0:
            source = CURATION if row.source in vocabularies else row.source
            kind = pack.types[pack.type_rows[concept]]
            record = ConceptRecord(curie=row.concept, type=kind, names=(Name(row.surface),))
            records.setdefault(source, []).append(record)
    return records


def _records(
    pack: Pack, source: int, only: NamesOfKeys | None, added: Sequence[ConceptRecord]
) -> Iterator[ConceptRecord]:
    """Yields the records of one source of a pack; the first source of a concept has all its
    fields besides names.
    """
    has = np.array([source in members for members in pack.manifest.sets], dtype=np.bool_)
    first = np.array(
        [source == min(members, default=-1) for members in pack.manifest.sets], dtype=np.bool_
    )
    for rows in row_chunks(len(pack)) if only is None else [only.concepts]:
        names: dict[int, list[Name]] = {int(row): [] for row in rows[has[pack.set_rows[rows]]]}
        for table in (pack.active, pack.silent):
            if only is None:
                _, terms = table.of_concept.take(rows)
            else:
                terms = only.active if table is pack.active else only.silent
            _add(names, pack, table, terms, has)
        for row in sorted(names):
            whole = bool(first[pack.set_rows[row]])
            yield _record(pack, row, tuple(names[row]), whole=whole)
    yield from added


def _add(names: dict[int, list[Name]], pack: Pack, table: Names, terms: Ints, has: Bools) -> None:
    """Adds those of some terms that a source has to the names of their concepts."""
    terms = terms[has[table.sources[terms]]]
    surfaces = table.surfaces.take(table.surface[terms])
    languages, kinds = pack.manifest.languages, NAME_KINDS
    columns = (
        table.concept[terms].tolist(),
        surfaces,
        table.kind[terms].tolist(),
        table.language[terms].tolist(),
    )
    for row, surface, kind, language in zip(*columns, strict=True):
        names.setdefault(row, []).append(Name(surface, kinds[kind], languages[language]))


def _record(pack: Pack, row: int, names: tuple[Name, ...], *, whole: bool) -> ConceptRecord:
    if not whole:
        return ConceptRecord(
            curie=pack.curie(row), type=pack.types[pack.type_rows[row]], names=names
        )
    concept = pack.concept_at(row)
    fields = {
        name: getattr(concept, name)
        for name in ConceptRecord.__struct_fields__
        if hasattr(concept, name)
    }
    fields["label"] = concept.label if pack.label_rows[row] != layout.NONE else ""
    return ConceptRecord(**fields, names=names, parents=pack.parents(concept.curie))


class KeptRules:
    """Rules that decided about the names of a pack; labels of other sources always stay searchable.

    Attributes:
        rules: as the pack records them, where rules that decided together are one rule; and the
            further ones.
    """

    def __init__(self, pack: Pack, further: Curation | None = None) -> None:
        """Sets the open pack, and rules that follow those of the pack."""
        self._pack, self._further = pack, further
        recorded = tuple(
            CurationRule(action=cast(Action, pack.rules[row])) for row in range(1, len(pack.rules))
        )
        self._kept, self.rules = len(recorded), (*recorded, *(further.rules if further else ()))
        self._own: set[tuple[str, str]] = set()
        self._known = dict(_decisions(pack))

    def see(self, record: ConceptRecord) -> None:
        """Collects the labels of a record of another source; of a new concept without a label,
        its first name.
        """
        labels = [name for name in record.names if name.kind == "label"]
        if not labels and record.names and self._pack.concept_rows([record.curie])[0] < 0:
            labels = [record.names[0]]
        self._own.update((name.surface, record.curie) for name in labels)

    def decide(self, row: NameRow) -> RuleDecision:
        """Returns the decision about a name."""
        name = (row.surface, row.concept)
        before = _LABEL_OF_OWN if name in self._own else self._known.get(name, UNTOUCHED)
        decision = self._further.decide(row, before=before) if self._further else before
        if decision is before:
            return before
        further = (self._kept + number for number in decision.rules)
        return decision._replace(rules=(*before.rules, *further))


def _decisions(pack: Pack) -> Iterator[tuple[tuple[str, str], RuleDecision]]:
    """Yields surface and concept of the names about which rules decided, and the decisions."""
    for table in (pack.active, pack.silent):
        for term, rule in zip(*(column.tolist() for column in table.ruled), strict=True):
            name = pack.term(table, term)
            flags = int(table.flags[term])
            yield (
                (name.surface, name.concept),
                RuleDecision(
                    keep=not flags & layout.DROPPED,
                    match=not name.off,
                    case=cast(Case, name.case.name),
                    preferred=bool(flags & layout.PREFERRED),
                    rules=(rule - 1,) if rule else (),
                ),
            )


def term_rows(pack: Pack, *, silent: bool = False) -> Iterator[tuple[str, ...]]:
    """Yields the terms of all concepts in the order of the CURIEs, each as the values of `COLUMNS`.

    The fields of a concept are in the row of its first term, or alone if it has none; obsolete
    ones are excluded.

    Args:
        pack: the pack that is open.
        silent: give the terms that are kept out in place of those that are found.
    """
    names = pack.silent if silent else pack.active
    for row in range(len(pack)):
        concept = pack.concept_at(row)
        head, fields = (concept.curie, concept.type), _concept_values(concept, pack)
        terms = [pack.term(names, term) for term in names.of_concept[row].tolist()]
        # the first name can be the label
        for term in sorted(terms, key=lambda term: term.surface != concept.label):
            yield (*head, *_term_values(term), *fields)
            fields = ("",) * len(_OF_CONCEPT)
        if not terms and concept.obsolete == silent:
            yield (*head, *[""] * (len(COLUMNS) - len(head) - len(fields)), *fields)


def _concept_values(concept: Concept, pack: Pack) -> tuple[str, ...]:
    references = (
        reference.curie
        if reference.predicate == REFERS
        else f"{reference.predicate} {reference.curie}"
        for reference in concept.references
    )
    return (
        concept.taxon,
        concept.rank,
        "yes" if concept.obsolete else "",
        "|".join(concept.replaced_by),
        "|".join(pack.parents(concept.curie)),
        "|".join(references),
        " ".join(concept.definition.split()),
    )


def _term_values(term: Term) -> tuple[str, ...]:
    return (
        " ".join(term.surface.split()),  # a tab or an end of line would end the value
        term.kind,
        term.language,
        term.case.name,
        "yes" if term.off else "",
        f"{term.prior:.4f}",
        "|".join(term.sources),
        " ".join(term.rule.split()),
    )
