"""The same concept in another vocabulary."""

from __future__ import annotations

import msgspec

from fascicle.core.mention import Link
from fascicle.core.names import near_hint
from fascicle.errors import UsageError
from fascicle.knowledge.linking.equivalents import TWICE
from fascicle.knowledge.linking.gathering import Gatherer
from fascicle.knowledge.linking.index import NameIndex
from fascicle.knowledge.pack.pack import Pack


class References:
    """Takes links to another vocabulary of their pack."""

    def __init__(self, pack: Pack, gatherer: Gatherer, index: NameIndex | None, ontology: str) -> None:
        """Takes what has the references.

        Raises:
            UsageError: there is no index, or no concept of the vocabulary.
        """
        if index is None:
            raise UsageError(
                "an ontology was given to a linker without the index of its pack, which has the references; fit one "
                "with fascicle linker fit"
            )
        if ontology not in gatherer.prefixes:
            raise UsageError(
                f"the pack {pack.folder} has no concept of {ontology!r}{near_hint(ontology, gatherer.prefixes)}; give "
                f"one of its vocabularies: {', '.join(gatherer.prefixes)}"
            )
        self._pack, self._index, self._ontology = pack, index, ontology
        self._wanted = gatherer.prefix_of == gatherer.prefixes.index(ontology)

    def of(self, link: Link) -> Link:
        """The nearest concept of the vocabulary that references lead to, the first by its CURIE; else NIL."""
        if link.nil:
            return msgspec.structs.replace(link, ontology=self._ontology)
        row = self._pack.concept_rows([link.curie])
        found = self._index.equivalents.within(row, self._wanted)
        near = found.rows[found.distance <= TWICE].tolist()
        if not near:
            return Link(id="", ontology=self._ontology, nil=True)
        curie = self._pack.curie(near[0])
        label = self._pack.label_at(near[0])
        return msgspec.structs.replace(
            link, id=curie.partition(":")[2], ontology=self._ontology, name=label, curie=curie
        )
