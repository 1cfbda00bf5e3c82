"""The same concept in another vocabulary."""

from __future__ import annotations

from typing import Final

import msgspec

from fascicle.core.mention import Link
from fascicle.core.names import near_hint
from fascicle.errors import UsageError
from fascicle.knowledge.linking.equivalents import TWICE
from fascicle.knowledge.linking.gathering import Gatherer
from fascicle.knowledge.linking.index import NameIndex
from fascicle.knowledge.pack.pack import Pack

_REMEMBERED: Final = 1 << 14  # concepts


class References:
    """Takes links to another vocabulary of their pack."""

    def __init__(self, pack: Pack, gatherer: Gatherer, index: NameIndex | None, ontology: str) -> None:
        """Takes what has the references.

        Raises:
            UsageError: there is no index, which has the references, or no concept of the vocabulary.
        """
        if index is None:
            lacks, other = "index of the references", f"for {pack.folder}, and not a small one"
            if not len(pack.facts.content):
                lacks, other = "references", "for a pack of sources with cross references"
            raise UsageError(
                f"the linker of the pack {pack.manifest.name} has no {lacks} from one vocabulary to another, so it "
                f"gives no links in {ontology}; leave out the argument ontology, or fit a linker {other} (fascicle "
                "linker fit PACK -o LINKER), and give it as the argument linker"
            )
        if ontology not in gatherer.prefixes:
            raise UsageError(
                f"the pack {pack.folder} has no concept of {ontology!r}{near_hint(ontology, gatherer.prefixes)}; give "
                f"one of its vocabularies: {', '.join(gatherer.prefixes)}"
            )
        self._pack, self._index, self._ontology = pack, index, ontology
        self._wanted = gatherer.prefix_of == gatherer.prefixes.index(ontology)
        self._known: dict[str, Link] = {}

    def of(self, link: Link) -> Link:
        """The nearest concept of the vocabulary that references lead to, the first by its CURIE; else NIL."""
        if link.nil:
            return msgspec.structs.replace(link, ontology=self._ontology)
        known = self._known.get(link.curie)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[link.curie] = self._nearest(link.curie)
        return known if known.nil else msgspec.structs.replace(known, score=link.score, tier=link.tier)

    def _nearest(self, curie: str) -> Link:
        found = self._index.equivalents.within(self._pack.concept_rows([curie]), self._wanted)
        near = found.rows[found.distance <= TWICE].tolist()
        if not near:
            return Link(id="", ontology=self._ontology, nil=True)
        other = self._pack.curie(near[0])
        local = other.partition(":")[2]
        return Link(id=local, ontology=self._ontology, name=self._pack.label_at(near[0]), curie=other)
