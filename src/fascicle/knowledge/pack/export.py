"""A pack as a table of its terms, which can be read as a source again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fascicle.knowledge.pack.pack import Pack, Term

COLUMNS: Final = ("concept", "type", "surface", "kind", "language", "case", "off", "prior", "sources", "rule")


def rows(pack: Pack, *, silent: bool = False) -> Iterator[tuple[str, ...]]:
    """The terms of all concepts in the order of the CURIEs, each as the values of `COLUMNS`.

    Args:
        pack: that is open.
        silent: give the terms that are kept out in place of those that are found.
    """
    names = pack.silent if silent else pack.active
    for row in range(len(pack)):
        kind = pack.types[pack.type_rows[row]]
        for term in names.of_concept[row].tolist():
            yield _row(pack.term(names, term), kind)


def _row(term: Term, kind: str) -> tuple[str, ...]:
    return (
        term.concept,
        kind,
        " ".join(term.surface.split()),  # a tab or an end of line would end the value
        term.kind,
        term.language,
        term.case.name,
        "yes" if term.off else "",
        f"{term.prior:.4f}",
        "|".join(term.sources),
        " ".join(term.rule.split()),
    )
