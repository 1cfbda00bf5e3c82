"""A pack as a table of its terms, which can be read as a source again: what it says of concepts stands there too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fascicle.knowledge.pack.pack import Concept, Pack, Term
from fascicle.knowledge.terms import REFERS

_OF_CONCEPT: Final = ("taxon", "rank", "obsolete", "replaced_by", "parents", "references", "definition")
COLUMNS: Final = (
    *("concept", "type", "surface", "kind", "language", "case", "off", "prior", "sources", "rule"),
    *_OF_CONCEPT,
)


def rows(pack: Pack, *, silent: bool = False) -> Iterator[tuple[str, ...]]:
    """The terms of all concepts in the order of the CURIEs, each as the values of `COLUMNS`.

    What is said of a concept stands with its first term, or alone if it has none; that of obsolete
    ones is kept out.

    Args:
        pack: that is open.
        silent: give the terms that are kept out in place of those that are found.
    """
    names = pack.silent if silent else pack.active
    for row in range(len(pack)):
        concept = pack.concept_at(row)
        head, told = (concept.curie, concept.type), _told(concept, pack)
        terms = [pack.term(names, term) for term in names.of_concept[row].tolist()]
        for term in sorted(terms, key=lambda term: term.surface != concept.label):  # the first name can be the label
            yield (*head, *_of_term(term), *told)
            told = ("",) * len(_OF_CONCEPT)
        if not terms and concept.obsolete == silent:
            yield (*head, *[""] * (len(COLUMNS) - len(head) - len(told)), *told)


def _told(concept: Concept, pack: Pack) -> tuple[str, ...]:
    references = (
        one.curie if one.predicate == REFERS else f"{one.predicate} {one.curie}" for one in concept.references
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


def _of_term(term: Term) -> tuple[str, ...]:
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
