"""Other linkers over the names of our pack, in the same setup; see ``plan.md``.

The folder that ``RIVALS`` names holds them, and nothing of the project needs it::

    pip install --no-deps --target $RIVALS gilda adeft appdirs pystow unidecode boto3 botocore
        s3transfer jmespath click nltk tqdm regex scikit-learn joblib threadpoolctl
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.evaluation.link_report import LinkSystem
from fascicle.evaluation.link_scores import LinkCase
from fascicle.linking.index import NameIndex
from fascicle.linking.species import HUMAN, Species
from fascicle.terms.abbreviations.pairs import Pairs
from fascicle.terms.pack.arrays import expand_ranges
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import NAME_KINDS
from fascicle.verbs.tasks.link_cases import Reference, linked

_MOST: Final = 64  # concepts
_NEAREST: Final = 30  # names, as scispaCy takes them
_BLOCK: Final = 64  # surfaces that are compared together
_STATUS: Final = {"label": "name"}  # kind -> what Gilda calls it; others are synonyms
Ask = tuple[str, tuple[str, ...]]  # surface, and species of the document
Ranks = dict[Ask, tuple[str, ...]]
Rank = Callable[[Sequence[Ask]], Ranks]


class Entry(NamedTuple):
    """A name of a concept."""

    text: str
    curie: str
    kind: str
    taxon: str


def entries_of(pack: Pack, index: NameIndex, kind: str, prefixes: Sequence[str]) -> Iterator[Entry]:
    """The names of a type in some vocabularies.

    Args:
        pack: open.
        index: of the pack; names of other vocabularies are given to the concepts that they refer
            to.
        kind: type.
        prefixes: of the vocabularies.
    """
    active, taxa = pack.active, [pack.taxa[row] for row in range(len(pack.taxa))]
    wanted = np.isin(pack.prefix_rows, [pack.prefixes.index(prefix) for prefix in prefixes])
    terms = np.flatnonzero(pack.type_rows[active.concept] == pack.types.index(kind))
    concepts = active.concept[terms].astype(np.int64)
    distinct, inverse = np.unique(concepts, return_inverse=True)
    reached = index.equivalents.within(distinct, wanted)
    starts = np.searchsorted(reached.places, np.arange(len(distinct) + 1))
    which, places = expand_ranges(starts[inverse], starts[inverse + 1])
    texts = active.surfaces.take(active.surface[terms[which]])
    kinds, rows = active.kind[terms[which]].tolist(), reached.rows[places]
    for text, row, number in zip(texts, rows.tolist(), kinds, strict=True):
        yield Entry(text, pack.curie(row), NAME_KINDS[number], taxa[int(pack.taxon_rows[row])])


def grounder(entries: Iterator[Entry]) -> Any:
    """Gilda's grounder over some names."""
    _find_rivals()
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


def gilda(entries: Iterator[Entry]) -> Rank:
    """The order of Gilda's grounder; the species of the document, as it takes them, come before
    human.
    """
    made = grounder(entries)

    def rank(asked: Sequence[Ask]) -> Ranks:
        found: Ranks = {}
        for surface, species in asked:
            matches = made.ground(surface, organisms=[one.partition(":")[2] for one in species])
            ranked = dict.fromkeys(f"{match.term.db}:{match.term.id}" for match in matches)
            found[surface, species] = tuple(ranked)[:_MOST]
        return found

    return rank


def tfidf(entries: Iterator[Entry]) -> Rank:
    """Concepts of the names with the nearest vectors of character trigrams, as scispaCy's linker
    makes them; exact.
    """
    _find_rivals()
    from sklearn.feature_extraction.text import TfidfVectorizer

    by_name: dict[str, dict[str, None]] = {}
    for one in entries:
        by_name.setdefault(one.text, {})[one.curie] = None
    names = list(by_name)
    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), min_df=10, dtype=np.float32
    )
    table = vectorizer.fit_transform(names).T.tocsr()

    def rank(asked: Sequence[Ask]) -> Ranks:
        surfaces = list(dict.fromkeys(surface for surface, _ in asked))
        ranked: dict[str, tuple[str, ...]] = {}
        for start in range(0, len(surfaces), _BLOCK):
            block = surfaces[start : start + _BLOCK]
            similar = (vectorizer.transform(block) @ table).tocsr()
            for at, surface in enumerate(block):
                low, high = similar.indptr[at : at + 2]
                values, columns = similar.data[low:high], similar.indices[low:high]
                best = np.lexsort((columns, -values))[:_NEAREST]
                curies = dict.fromkeys(
                    curie for column in columns[best].tolist() for curie in by_name[names[column]]
                )
                ranked[surface] = tuple(curies)[:_MOST]
        return {one: ranked[one[0]] for one in asked}

    return rank


RIVALS: Final[Mapping[str, Callable[[Iterator[Entry]], Rank]]] = {
    "Gilda": gilda,
    "TF-IDF (scispaCy)": tfidf,
}


class Rivals:
    """All rivals over the names of one pack; each is made once for a type and its vocabularies."""

    def __init__(self, pack: Pack, index: NameIndex) -> None:
        """Takes the open pack and its index."""
        self._pack, self._index = pack, index
        self._made: dict[tuple[str, str, tuple[str, ...]], Rank] = {}

    def systems(
        self, reference: Reference, vocabularies: Mapping[str, Sequence[str]]
    ) -> list[LinkSystem]:
        """What they say of the mentions of gold.

        Args:
            reference: gold.
            vocabularies: of types, prefixes of the concepts that are answered.
        """
        asked = {kind: list(dict.fromkeys(_asked(reference, kind))) for kind in vocabularies}
        found = []
        for name in RIVALS:
            ranks = {
                kind: self._rank(name, kind, tuple(vocabularies[kind]))(asks)
                for kind, asks in asked.items()
                if asks
            }
            found.append(
                LinkSystem(name=name, cases=tuple(_cases(reference, ranks)), has_candidates=True)
            )
        return found

    def _rank(self, name: str, kind: str, prefixes: tuple[str, ...]) -> Rank:
        known = self._made.get((name, kind, prefixes))
        if known is None:
            entries = entries_of(self._pack, self._index, kind, prefixes)
            known = self._made[name, kind, prefixes] = RIVALS[name](entries)
        return known


def _asked(reference: Reference, kind: str) -> Iterator[Ask]:
    for document in reference.documents:
        pairs, species = Pairs(document), species_of(document)
        for mention in linked(document):
            if mention.type == kind:
                yield _ask(document, mention, pairs, species)


def _ask(document: Document, mention: Mention, pairs: Pairs, species: tuple[str, ...]) -> Ask:
    surface = " ".join(mention.text_in(document.text).split())
    pair, _ = pairs.of(surface, *mention.spans)
    return surface if pair is None else pair.long, species


def _cases(reference: Reference, ranks: Mapping[str, Ranks]) -> Iterator[LinkCase]:
    for document in reference.documents:
        pairs, species = Pairs(document), species_of(document)
        for mention in linked(document):
            ranked = ranks.get(mention.type, {}).get(_ask(document, mention, pairs, species), ())
            case = reference.case(document, mention)
            yield msgspec.structs.replace(
                case, parts=(ranked,), answer=frozenset(ranked[:1]), where="matched"
            )


def species_of(document: Document) -> tuple[str, ...]:
    """The species of a document, the commonest first, and human behind them."""
    plain = msgspec.structs.replace(document, mentions=())
    shares = Species(plain).shares
    return tuple(dict.fromkeys([*sorted(shares, key=lambda one: (-shares[one], one)), HUMAN]))


def _find_rivals() -> None:
    folder: Any = os.environ["RIVALS"]
    if folder not in sys.path:
        sys.path.append(folder)
