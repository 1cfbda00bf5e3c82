"""Gilda's grounder over the names of our pack, on the same mentions; see ``plan.md``.

The folder that ``RIVALS`` names has its packages (``pip install gilda``, in an environment of its
own); nothing of the project needs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.linking.species import HUMAN, Species
from fascicle.terms.abbreviations.pairs import Pairs
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import NAME_KINDS
from fascicle.verbs.tasks.link_cases import mention_concepts

_STATUS: Final = {"label": "name"}  # kind -> what Gilda calls it; others are synonyms


class Entry(NamedTuple):
    """A name of a concept."""

    text: str
    curie: str
    kind: str
    taxon: str


class Gilda:
    """Grounders of the types of a pack, each made when it is needed."""

    def __init__(self, pack: Pack) -> None:
        """Takes the open pack."""
        self._pack, self._made = pack, dict[str, Any]()

    def linked(self, given: Sequence[Document], gold: Sequence[Document]) -> Any:
        """What links the mentions of documents.

        Args:
            given: documents with mentions.
            gold: the same with concepts; of the matches the best one of its vocabularies is taken,
                or else the best.
        """
        prefixes = {
            curie.partition(":")[0]
            for one in gold
            for m in one.mentions
            for curie in mention_concepts(m)
        }
        return lambda: [self._of(one, prefixes) for one in given]

    def _of(self, document: Document, prefixes: set[str]) -> list[Mention]:
        pairs, species = Pairs(document), species_of(document)
        found = []
        for mention in document.mentions:
            surface = " ".join(mention.text_in(document.text).split())
            pair, _ = pairs.of(surface, *mention.spans)
            surface = pair.long if pair is not None else surface
            curie = self._best(mention.type, surface, species, prefixes)
            if curie:
                link = Link(id=curie.partition(":")[2], curie=curie)
                found.append(Mention(mention.spans, mention.type, links=(link,)))
        return found

    def _best(self, kind: str, surface: str, species: Sequence[str], prefixes: set[str]) -> str:
        if kind not in self._made:
            self._made[kind] = grounder(entries(self._pack, kind))
        matches = self._made[kind].ground(
            surface, organisms=[one.partition(":")[2] for one in species]
        )
        if not matches:
            return ""
        best = next((one for one in matches if one.term.db in prefixes), matches[0])
        return f"{best.term.db}:{best.term.id}"


def entries(pack: Pack, kind: str) -> Iterator[Entry]:
    """The names of the concepts of a type."""
    active = pack.active
    terms = np.flatnonzero(pack.type_rows[active.concept] == pack.types.index(kind))
    rows = active.concept[terms].astype(np.int64)
    texts, curies = active.surfaces.take(active.surface[terms]), pack.curies.strings.take(rows)
    taxa = [pack.taxa[int(row)] for row in pack.taxon_rows[rows]]
    for text, curie, number, taxon in zip(
        texts, curies, active.kind[terms].tolist(), taxa, strict=True
    ):
        yield Entry(text, curie, NAME_KINDS[number], taxon)


def grounder(entries: Iterator[Entry]) -> Any:
    """Gilda's grounder over some names."""
    sys.path.append(os.environ["RIVALS"])
    from gilda.grounder import Grounder
    from gilda.process import normalize
    from gilda.term import Term

    terms = []
    for one in entries:
        normal = normalize(one.text)
        if normal.strip():
            prefix, _, local = one.curie.partition(":")
            taxon = one.taxon.partition(":")[2] or None
            status = _STATUS.get(one.kind, "synonym")
            terms.append(Term(normal, one.text, prefix, local, one.text, status, "pack", taxon))
    return Grounder(terms)


def species_of(document: Document) -> tuple[str, ...]:
    """The species of a document, the commonest first, and human behind them."""
    plain = msgspec.structs.replace(document, mentions=())
    shares = Species(plain).shares
    return tuple(dict.fromkeys([*sorted(shares, key=lambda one: (-shares[one], one)), HUMAN]))
