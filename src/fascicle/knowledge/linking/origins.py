"""How old the vocabularies are that links are of."""

from __future__ import annotations

from collections.abc import Sequence

from fascicle.core.document import Event
from fascicle.core.mention import Link
from fascicle.core.provenance import linked_by
from fascicle.knowledge.pack.pack import Pack


class Origins:
    """Says of the links of documents which vocabularies they are of, and the date of each in the pack."""

    def __init__(self, pack: Pack) -> None:
        """Takes the open pack."""
        self._pack = pack
        sources = pack.manifest.sources
        # Of the sources that have a concept, the first one made it; later ones added names.
        self._dates = [sources[min(numbers)].date if numbers else "" for numbers in pack.manifest.sets]

    def date(self, concept: int) -> str:
        """The date of the vocabulary that has a concept, by its row; empty if its source states none."""
        return self._dates[int(self._pack.set_rows[concept])]

    def events(self, documents: Sequence[Sequence[Link]]) -> list[tuple[Event, ...]]:
        """The event of each document that has links other than NIL.

        Args:
            documents: the links of each.
        """
        flat = [(at, link.curie) for at, links in enumerate(documents) for link in links if link.curie]
        rows = self._pack.concept_rows([curie for _, curie in flat])
        found: list[set[tuple[str, str]]] = [set() for _ in documents]
        for (at, curie), row in zip(flat, rows.tolist(), strict=True):
            found[at].add((curie.partition(":")[0], self.date(row)))
        name = self._pack.manifest.name
        return [(linked_by(name, one),) if one else () for one in found]
