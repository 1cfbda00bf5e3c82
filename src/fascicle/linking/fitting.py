"""Fit of a linker on annotated texts: memory, one ranker for each type, thresholds, and accuracy
of tiers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType, field

from fascicle.core.arrays import Bools, Floats, Ints, int_array
from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.errors import InputError
from fascicle.linking.calibration import fit_calibration
from fascicle.linking.candidates import TIERS
from fascicle.linking.folder import Correction, Ranker, TierFacts
from fascicle.linking.gold import Memory
from fascicle.linking.index import NameIndex
from fascicle.linking.linker import Linker
from fascicle.linking.logit import (
    TrainingTable,
    best_rows,
    cross_validate,
    select_units,
)
from fascicle.linking.training_tables import NameKey, make_tables
from fascicle.linking.weights import fit_limited
from fascicle.settings.base import Name, Settings, Share
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack

_FEWEST: Final = 20  # mentions of a type
_FEWEST_FOUND: Final = 2000  # by which probabilities are corrected
_EVEN: Final = 0.5


class FitSettings(Settings, frozen=True, kw_only=True):
    """Settings of the fit of a linker.

    Attributes:
        penalty: on squared weights.
        folds: of documents, by which probabilities are corrected, the threshold is chosen and tiers
            are measured.
        threshold: probability from which an answer is given; by default that by which answers are
            best by F1, and not below `lowest`.
        rare: a vocabulary with a smaller share of the gold concepts of a type is left out: concepts
            that have no identifier in a vocabulary of the gold teach nothing, for the gold cannot
            have them.
        restricted: whether the linker leaves such concepts out too, and not only the fit.
        order: prefixes of vocabularies; a concept that has identifiers in several gets that of the
            first of these, by default that of the vocabulary which comes first in the pack.
        remember: whether it keeps which concepts the surfaces of gold were annotated with.
        indexed: whether it has the index of the pack, by which names in another order or with a
            slip are found.
        lowest: type -> lowest threshold, even if another has a higher F1. Corpora of genes annotate
            nearly every gene of the species that they are about, so that the best F1 is where genes
            get an identifier of another species.
    """

    penalty: Annotated[float, Meta(gt=0.0, le=1e6)] = 1.0
    folds: Annotated[int, Meta(ge=2, le=100)] = 5
    threshold: Share | None = None
    rare: Share = 0.005
    restricted: bool = True
    order: tuple[str, ...] = ()
    remember: bool = True
    indexed: bool = True
    lowest: dict[Name, Share] = field(default_factory=lambda: {"Gene": _EVEN})


class FittedLinker(NamedTuple):
    """Fitted linker.

    Attributes:
        memory: what it remembers.
        rankers: by type.
        few: types whose mentions were too few for a ranker, and how many they were.
    """

    memory: Memory
    rankers: dict[str, Ranker]
    few: Mapping[str, int] = MappingProxyType({})


class TrainingData(NamedTuple):
    """Training data from annotated texts, on which rankers are fitted.

    Attributes:
        memory: what they gave to concepts.
        vocabularies: for each type that has enough links, prefixes of the concepts that are
            answered.
        tables: for each, the candidates of its mentions.
        few: types with enough links whose mentions can teach too little, and how many mentions can.
        recognised: for each type, the candidates of mentions that a recogniser found; their
            document is -1 if it teaches nothing else.
    """

    memory: Memory
    vocabularies: dict[str, tuple[str, ...]]
    tables: dict[str, TrainingTable]
    few: dict[str, int]
    recognised: Mapping[str, TrainingTable] = MappingProxyType({})


def fit_linker(
    pack: Pack,
    index: NameIndex | None,
    documents: Sequence[Document],
    *,
    settings: FitSettings | None = None,
    judged: Sequence[Document] = (),
) -> FittedLinker:
    """Fits a linker; see `gather_training_data` for its input."""
    settings = settings or FitSettings()
    data = gather_training_data(pack, index, documents, settings=settings, judged=judged)
    return FittedLinker(data.memory, fit_rankers(data, settings=settings), data.few)


def fit_rankers(data: TrainingData, *, settings: FitSettings) -> dict[str, Ranker]:
    """Fits a ranker for each type."""
    return {kind: _ranker(data, kind, settings) for kind in data.tables}


def gather_training_data(
    pack: Pack,
    index: NameIndex | None,
    documents: Sequence[Document],
    *,
    settings: FitSettings,
    judged: Sequence[Document] = (),
) -> TrainingData:
    """Gathers the candidates of annotated mentions.

    For a document, entries of the memory that come from it alone are ignored. Mentions with several
    gold concepts are used for their parts only.

    Args:
        pack: open.
        index: of the pack.
        documents: with mentions that are linked by CURIEs; a mention whose only link is NIL has no
            concept.
        settings: how.
        judged: with mentions that are linked by CURIEs, and mentions with scores that a recogniser
            found, by which the probabilities of such ones are corrected. A document that is among
            the others too is judged by a ranker that did not see it.

    Raises:
        InputError: no type has enough mentions that are linked to concepts of the pack.
    """
    gold = [[mention for mention in document.mentions if mention.links] for document in documents]
    annotations = list(_annotations(documents, gold)) if settings.remember else []
    memory = Memory.of(annotations)
    vocabularies = _vocabularies(pack, gold, settings.rare)
    if not vocabularies:
        raise _too_few(pack)
    linker = Linker(pack, index=index, memory=memory, vocabularies=vocabularies)
    own = _own(documents, annotations)
    tables = make_tables(linker, documents, gold=gold, kinds=tuple(vocabularies), own=own)
    few, large = _divide_by_size(tables)
    if not large:
        raise _too_few(pack)
    recognised = _recognised_tables(linker, documents, judged, tuple(large), own)
    return TrainingData(
        memory, {kind: vocabularies[kind] for kind in large}, large, few, recognised
    )


def _divide_by_size(
    tables: Mapping[str, TrainingTable],
) -> tuple[dict[str, int], dict[str, TrainingTable]]:
    """Returns how many mentions the types have that have too few, and the tables of the others."""
    counts = {kind: table.choices.mentions for kind, table in tables.items()}
    few = {kind: count for kind, count in counts.items() if count < _FEWEST}
    return few, {kind: table for kind, table in tables.items() if kind not in few}


def _recognised_tables(
    linker: Linker,
    documents: Sequence[Document],
    judged: Sequence[Document],
    kinds: Sequence[str],
    own: Mapping[int, dict[NameKey, set[str]]],
) -> dict[str, TrainingTable]:
    """Returns the candidates of found mentions of documents that have gold, each with the
    concepts of its document.
    """
    places = {document.text: number for number, document in enumerate(documents)}
    numbers = int_array([places.get(document.text, -1) for document in judged])
    remembered = {at: own.get(number, {}) for at, number in enumerate(numbers.tolist())}
    mentions = list(map(_with_concepts, judged))
    if not judged:
        return {}
    tables = make_tables(linker, judged, gold=mentions, kinds=kinds, own=remembered)
    return {
        kind: table._replace(documents=numbers[table.documents])
        for kind, table in tables.items()
        if table.choices.mentions >= _FEWEST_FOUND
    }


def _with_concepts(document: Document) -> list[Mention]:
    """Returns the found mentions of a document, each with all gold links of its type."""
    links: dict[str, dict[str, Link]] = defaultdict(dict)
    for mention in document.mentions:
        links[mention.type].update((link.curie, link) for link in mention.links if link.curie)
    return [
        msgspec.structs.replace(mention, links=tuple(links[mention.type].values()))
        for mention in document.mentions
        if mention.score is not None and not mention.links
    ]


def _too_few(pack: Pack) -> InputError:
    return InputError(
        f"no type has {_FEWEST} mentions with exactly one concept of the pack {pack.folder}; "
        "give annotated texts "
        "whose links have CURIEs, such as MESH:D003920, or a pack of their vocabulary"
    )


def _annotations(
    documents: Sequence[Document], gold: Sequence[Sequence[Mention]]
) -> Iterable[tuple[str, str, str, str]]:
    """Yields document, type, surface and concept of mentions of one concept."""
    for number, (document, mentions) in enumerate(zip(documents, gold, strict=True)):
        for mention in mentions:
            if len(mention.links) == 1 and mention.links[0].curie:
                surface = " ".join(mention.text_in(document.text).split())
                yield str(number), mention.type, surface, mention.links[0].curie


def _own(
    documents: Sequence[Document], annotations: Iterable[tuple[str, str, str, str]]
) -> dict[int, dict[NameKey, set[str]]]:
    """Returns, for each document, the entries of the memory that come from it."""
    entries: dict[int, dict[NameKey, set[str]]] = {
        number: defaultdict(set) for number in range(len(documents))
    }
    for number, kind, surface, curie in annotations:
        entries[int(number)][kind, key(surface, 1)].add(curie)
    return entries


def _vocabularies(
    pack: Pack, gold: Sequence[Sequence[Mention]], rare: float
) -> dict[str, tuple[str, ...]]:
    """Returns the vocabularies of the gold concepts of each type that has enough of them, if the
    pack has them.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    flat = [
        (mention.type, link.curie)
        for mentions in gold
        for mention in mentions
        for link in mention.links
        if link.curie
    ]
    for (kind, curie), row in zip(
        flat, pack.concept_rows([curie for _, curie in flat]).tolist(), strict=True
    ):
        if row >= 0:
            counts[kind][curie.partition(":")[0]] += 1
    return {
        kind: tuple(sorted(prefix for prefix, count in own.items() if count >= rare * own.total()))
        for kind, own in sorted(counts.items())
        if own.total() >= _FEWEST
    }


def _ranker(data: TrainingData, kind: str, settings: FitSettings) -> Ranker:
    table = data.tables[kind]
    weights = _fit(table, settings)
    folds = [
        _fit(select_units(table, table.documents % settings.folds != fold), settings)
        for fold in range(settings.folds)
    ]
    scores = cross_validate(table, folds, weights)
    best = best_rows(table.choices, scores)
    calibration = fit_calibration(scores[best], table.right[best])
    calibrated = calibration(scores[best])
    least = partial(_least, settings, settings.lowest.get(kind, 0.0))
    threshold = least(calibrated, table.right[best], table.choices.mentions)
    return Ranker(
        vocabularies=data.vocabularies[kind] if settings.restricted else (),
        weights=_rounded(table.inputs, weights),
        threshold=threshold,
        scale=calibration.scale,
        shift=calibration.shift,
        found=_correct(data.recognised.get(kind), folds, weights, least),
        mentions=table.choices.mentions,
        tiers=_tier_facts(table, best[calibrated >= threshold]),
    )


def _fit(table: TrainingTable, settings: FitSettings) -> Floats:
    return fit_limited(table.choices, table.right, table.inputs, penalty=settings.penalty)


def _rounded(inputs: Sequence[str], weights: Floats) -> dict[str, float]:
    return {name: round(weight, 6) for name, weight in zip(inputs, weights.tolist(), strict=True)}


def _tier_facts(table: TrainingTable, answered: Ints) -> dict[str, TierFacts]:
    """Returns the accuracy of each tier among the rows that are answers."""
    facts = {}
    for number, tier in enumerate(TIERS):
        rows = answered[table.tiers[answered] == number]
        if len(rows):
            facts[tier] = TierFacts(right=int(table.right[rows].sum()), answered=len(rows))
    return facts


def _correct(
    recognised: TrainingTable | None,
    folds: Sequence[Floats],
    weights: Floats,
    least: Callable[[Floats, Bools, int], float],
) -> Correction | UnsetType:
    """Returns the calibration of links of found mentions, by the probabilities of their
    candidates; unset if none were found for the fit.
    """
    if recognised is None:
        return UNSET
    scores = cross_validate(recognised, folds, weights)
    best = best_rows(recognised.choices, scores)
    right = recognised.right[best]
    mentions = recognised.scores[recognised.choices.owners[best]]
    fitted = fit_calibration(scores[best], right, mentions)
    return Correction(
        scale=fitted.scale,
        shift=fitted.shift,
        mention=fitted.mention,
        threshold=least(fitted(scores[best], mentions), right, recognised.choices.mentions),
        mentions=recognised.choices.mentions,
        right=int(right.sum()),
    )


def _least(
    settings: FitSettings, lowest: float, scores: Floats, right: Bools, mentions: int
) -> float:
    """Returns the minimum probability of an answer: that of the settings, or the best by F1."""
    if settings.threshold is not None:
        return settings.threshold
    return max(lowest, threshold(scores, right, mentions))


def threshold(scores: Floats, right: Bools, mentions: int) -> float:
    """Returns the probability from which answers are best by F1, rounded down; the lowest in a tie.

    Where no answer lies between that and 0.5, it is 0.5: texts without errors are no evidence
    against lower ones.
    """
    if not len(scores):
        return 0.0
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(right[order])
    f1 = 2.0 * hits / (np.arange(1, len(order) + 1) + mentions)
    last = np.flatnonzero(np.diff(scores[order], append=-1.0))  # equal scores are answered together
    best = last[f1[last] >= f1[last].max() - 1e-12].max()
    lowest, below = scores[order][best], scores[order][best + 1 :]
    if not np.any(below >= _EVEN):
        lowest = min(lowest, _EVEN)
    return float(np.floor(lowest * 1000) / 1000)
