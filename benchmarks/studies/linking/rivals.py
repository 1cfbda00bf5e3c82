"""Other linkers over the names of our pack, in the same setup; see ``plan.md``.

The folder that ``RIVALS`` names holds them, and nothing of the project needs it::

    pip install --no-deps --target $RIVALS gilda adeft appdirs pystow unidecode boto3 botocore s3transfer jmespath \
        click nltk tqdm regex scikit-learn joblib threadpoolctl
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
from fascicle.evaluation.links.cases import LinkCase
from fascicle.evaluation.links.report import LinkSystem
from fascicle.knowledge.linking.asking import other_forms
from fascicle.knowledge.linking.equivalents import prefix_numbers
from fascicle.knowledge.linking.index import NameIndex
from fascicle.knowledge.linking.taxa import HUMAN, Species
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.terms import NAME_KINDS
from fascicle.tasks.link_cases import Reference, linked

_MOST: Final = 64  # concepts
_NEAREST: Final = 30  # names, as scispaCy takes them
_BLOCK: Final = 64  # surfaces that are compared together
_STATUS: Final = {"label": "name"}  # kind -> what Gilda calls it; others are synonyms
Ask = tuple[str, tuple[str, ...]]  # surface, and species of the document
Ranks = dict[Ask, tuple[str, ...]]


class Entry(NamedTuple):
    """A name of a concept."""

    text: str
    curie: str
    kind: str
    taxon: str


def entries_of(pack: Pack, index: NameIndex | None, kind: str, prefixes: Sequence[str]) -> Iterator[Entry]:
    """The names of a type in some vocabularies.

    Args:
        pack: open.
        index: of the pack: names of other vocabularies are given to the concepts that they refer to; ``None``: they are
            left out.
        kind: type.
        prefixes: of the vocabularies.
    """
    active, taxa = pack.active, [pack.taxa[row] for row in range(len(pack.taxa))]
    names, numbers = prefix_numbers(pack)
    wanted = np.isin(numbers, [names.index(prefix) for prefix in prefixes])
    terms = np.flatnonzero(pack.type_rows[active.concept] == pack.types.index(kind))
    concepts = active.concept[terms].astype(np.int64)
    if index is None:
        places = np.flatnonzero(wanted[concepts])
        rows = concepts[places]
    else:
        distinct, inverse = np.unique(concepts, return_inverse=True)
        reached = index.equivalents.within(distinct, wanted)
        starts = np.searchsorted(reached.places, np.arange(len(distinct) + 1))
        counts = (starts[1:] - starts[:-1])[inverse]
        places = np.repeat(np.arange(len(terms)), counts)
        firsts = np.repeat(starts[inverse] - np.cumsum(counts) + counts, counts)
        rows = reached.rows[firsts + np.arange(len(firsts))]
    texts = active.surfaces.take(active.surface[terms[places]])
    kinds = active.kind[terms[places]].tolist()
    for text, row, number in zip(texts, rows.tolist(), kinds, strict=True):
        yield Entry(text, pack.curie(row), NAME_KINDS[number], taxa[int(pack.taxon_rows[row])])


def gilda(entries: Iterator[Entry], asked: Sequence[Ask]) -> Ranks:
    """The order of Gilda's grounder; the species of the document, as it takes them, come before human."""
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
    grounder = Grounder(terms)
    found: Ranks = {}
    for surface, species in asked:
        taxa = [one.partition(":")[2] for one in species]
        matches = grounder.ground(surface, organisms=taxa)
        ranked = dict.fromkeys(f"{match.term.db}:{match.term.id}" for match in matches)
        found[surface, species] = tuple(ranked)[:_MOST]
    return found


def tfidf(entries: Iterator[Entry], asked: Sequence[Ask]) -> Ranks:
    """Concepts of the names with the nearest vectors of character trigrams, as scispaCy's linker makes them; exact."""
    _find_rivals()
    from sklearn.feature_extraction.text import TfidfVectorizer

    by_name: dict[str, dict[str, None]] = {}
    for one in entries:
        by_name.setdefault(one.text, {})[one.curie] = None
    names = list(by_name)
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=10, dtype=np.float32)
    table = vectorizer.fit_transform(names).T.tocsr()
    surfaces = list(dict.fromkeys(surface for surface, _ in asked))
    ranked: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(surfaces), _BLOCK):
        block = surfaces[start : start + _BLOCK]
        similar = (vectorizer.transform(block) @ table).tocsr()
        for at, surface in enumerate(block):
            low, high = similar.indptr[at : at + 2]
            values, columns = similar.data[low:high], similar.indices[low:high]
            best = np.lexsort((columns, -values))[:_NEAREST]
            curies = dict.fromkeys(curie for column in columns[best].tolist() for curie in by_name[names[column]])
            ranked[surface] = tuple(curies)[:_MOST]
    return {one: ranked[one[0]] for one in asked}


RIVALS: Final[Mapping[str, Callable[[Iterator[Entry], Sequence[Ask]], Ranks]]] = {
    "Gilda": gilda,
    "TF-IDF (scispaCy)": tfidf,
}


def systems(
    reference: Reference, pack: Pack, index: NameIndex, vocabularies: Mapping[str, Sequence[str]]
) -> list[LinkSystem]:
    """All rivals on the mentions of gold, each with names that vocabularies have, and also with those of references."""
    kinds = [one for one in vocabularies if any(m.type == one for d in reference.documents for m in linked(d))]
    asked = {kind: list(dict.fromkeys(_asked(reference, kind))) for kind in kinds}
    found = []
    for name, rank in RIVALS.items():
        for more in (False, True):
            ranks = {
                kind: rank(entries_of(pack, index if more else None, kind, vocabularies[kind]), asked[kind])
                for kind in kinds
            }
            title = f"{name} + references" if more else name
            found.append(LinkSystem(name=title, cases=tuple(_cases(reference, ranks)), has_candidates=True))
    return found


def _asked(reference: Reference, kind: str) -> Iterator[Ask]:
    for document in reference.documents:
        forms, species = _long_forms(document), _species(document)
        for mention in linked(document):
            if mention.type == kind:
                yield _ask(document, mention, forms, species)


def _ask(document: Document, mention: Mention, forms: Mapping[str, str], species: tuple[str, ...]) -> Ask:
    surface = " ".join(mention.text_in(document.text).split())
    return forms.get(surface, surface), species


def _cases(reference: Reference, ranks: Mapping[str, Ranks]) -> Iterator[LinkCase]:
    for document in reference.documents:
        forms, species = _long_forms(document), _species(document)
        for mention in linked(document):
            ranked = ranks.get(mention.type, {}).get(_ask(document, mention, forms, species), ())
            case = reference.case(document, mention)
            yield msgspec.structs.replace(case, parts=(ranked,), answer=frozenset(ranked[:1]), where="matched")


def _long_forms(document: Document) -> dict[str, str]:
    return {
        surface: next(one.surface for one in others if one.way == "long")
        for surface, others in other_forms(document).items()
        if any(one.way == "long" for one in others)
    }


def _species(document: Document) -> tuple[str, ...]:
    """The species of a document, the commonest first, and human behind them."""
    plain = msgspec.structs.replace(document, mentions=())
    shares = Species(plain).shares
    return tuple(dict.fromkeys([*sorted(shares, key=lambda one: (-shares[one], one)), HUMAN]))


def _find_rivals() -> None:
    folder: Any = os.environ["RIVALS"]
    if folder not in sys.path:
        sys.path.append(folder)
