"""Links for the mentions of documents: each with a probability, a tier and its reasons, or that no concept fits.

Without a fitted ranker for a type, candidates stand in a stated order, and links have no probability: concepts of the
species that the name says or the text makes likely come first; then exact names before folded, canonical, reordered and
near ones, the mention's own words before its long form and other readings, names of the concept before those of its
equivalents, and a higher prior before a lower one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Final, Self

import msgspec
import numpy as np

from fascicle.core.arrays import Floats, Ints
from fascicle.core.document import Document, Patch
from fascicle.core.mention import Link, Mention
from fascicle.core.provenance import STEP
from fascicle.knowledge.linking.asking import told
from fascicle.knowledge.linking.calibrating import Calibration, corrected
from fascicle.knowledge.linking.features import FEATURES, Describer, of_dense
from fascicle.knowledge.linking.finding import TIERS, Finder
from fascicle.knowledge.linking.folder import Ranker, inputs_of, read_linker
from fascicle.knowledge.linking.gathering import Gathered, Gatherer, Unit, Without
from fascicle.knowledge.linking.gold import types_of
from fascicle.knowledge.linking.index import NameIndex
from fascicle.knowledge.linking.memory import Memory
from fascicle.knowledge.linking.ranking import Choices, probabilities
from fascicle.knowledge.linking.references import References
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.portions import portions

_PORTION: Final = 1 << 18  # characters of text that are worked on together
_DIGITS: Final = 6  # of a score, as everywhere
_LIKELY: Final = FEATURES.index("species: likely")
_HINTED: Final = FEATURES.index("species: in the name")


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A concept that a mention may mean.

    Attributes:
        curie: of the concept.
        label: its preferred name.
        name: of the pack by which it was found; empty for one that annotated texts gave.
        tier: how it was found.
        ways: what of the mention led to it: its own words, its long or short form, and so on.
        probability: or ``None`` without a fitted ranker.
        features: that are not 0.
        parts: of its score, weight times feature; empty without a fitted ranker.
        date: of the vocabulary in the pack, empty if its source states none.
    """

    curie: str
    label: str
    name: str
    tier: str
    ways: tuple[str, ...]
    probability: float | None
    features: dict[str, float]
    parts: dict[str, float]
    date: str


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of one thing that a mention names.

    Attributes:
        mention: number of the mention in the document.
        part: number of the thing in the mention.
        surface: its words.
        type: of the mention.
        pack: name of the pack of the candidates.
        candidates: the best first.
        nil: probability that no concept of the pack fits, or ``None``.
        answer: whether the first candidate is the answer; else it is NIL.
    """

    mention: int
    part: int
    surface: str
    type: str
    pack: str
    candidates: tuple[Candidate, ...]
    nil: float | None
    answer: bool

    @property
    def link(self) -> Link:
        """The answer as a link."""
        if not self.answer:
            return _nil(self.nil)
        best = self.candidates[0]
        return _link(best.curie, best.label, best.tier, best.probability)


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates of units in their order, as arrays.

    Attributes:
        found: candidates.
        features: ``[n, FEATURES]``.
        order: numbers of candidates, by unit, the best first, ``[n]``.
        scores: probability of each candidate, or NaN, ``[n]``.
        nil: probability that none fits, of each unit, or NaN, ``[units]``.
    """

    found: Gathered
    features: Floats
    order: Ints
    scores: Floats
    nil: Floats


class Linker:
    """Links the mentions of documents to concepts of one pack; for one thread.

    Attributes:
        pack: open.
        rankers: by type.
        dense: whether names are also found by vectors.
    """

    name = STEP
    needs: frozenset[str] = frozenset({"mentions"})
    gives: frozenset[str] = frozenset({"links"})
    drops: frozenset[str] = frozenset()

    def __init__(
        self,
        pack: Pack,
        *,
        index: NameIndex | None = None,
        memory: Memory | None = None,
        rankers: Mapping[str, Ranker] | None = None,
        vocabularies: Mapping[str, Sequence[str]] | None = None,
        ontology: str = "",
    ) -> None:
        """Takes the parts.

        Args:
            pack: open.
            index: of the pack; without it, only names with equal keys are found.
            memory: names that annotated texts gave to concepts.
            rankers: by type.
            vocabularies: of types, prefixes of the concepts that are answered, in place of those of the ranker.
            ontology: prefix of the vocabulary in which links are given, by the references of the pack.

        Raises:
            UsageError: the pack has no concept of the ontology, or an ontology was given without an index.
        """
        self.pack, self.rankers = pack, dict(rankers or {})
        self._wanted = {kind: ranker.vocabularies for kind, ranker in self.rankers.items()} | dict(vocabularies or {})
        self._gatherer = Gatherer(Finder(pack, index), memory or Memory(), self._wanted)
        self._describer = Describer(pack)
        self.dense = self._gatherer.finder.dense is not None
        self._type = types_of(pack)
        self._references = References(pack, self._gatherer, index, ontology) if ontology else None
        self._ontology = ontology

    @cached_property
    def fingerprint(self) -> str:
        """Decides, with the release, what it says."""
        finder, memory = self._gatherer.finder, self._gatherer.memory
        rankers = {kind: msgspec.to_builtins(ranker) for kind, ranker in self.rankers.items()}
        parts = [self.pack.full_name, finder.index is not None, rankers, self._wanted, self._ontology, memory.table()]
        parts += [finder.dense.fingerprint] if finder.dense is not None else []
        return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()

    def covers(self, kind: str) -> bool:
        """Whether the pack has concepts of a type; mentions of other types are not linked, and not NIL."""
        return self._type(kind) in self.pack.types

    @classmethod
    def open(cls, folder: Path, pack: Pack, *, ontology: str = "") -> Self:
        """Opens a linker that `fitting.fit_linker` wrote.

        Raises:
            PackError: no linker, a damaged one, or one of another pack.
            UsageError: the pack has no concept of the ontology.
        """
        manifest = read_linker(folder, pack)
        index = NameIndex.open(folder, pack) if manifest.indexed else None
        memory = Memory.read(folder)
        return cls(pack, index=index, memory=memory, rankers=manifest.rankers, ontology=ontology)

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """As `predict`, for pipelines."""
        return self.predict(documents)

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Links for the mentions without links of each document, as far as the pack covers their types.

        Args:
            documents: with mentions; those with links stay as they are.

        Returns:
            Links, NIL among them, and for a document with others an event that says where these are from.
        """
        patches = []
        for chunk in portions(documents, characters=_PORTION):
            mentions = [[document.mentions[at] for at in self._asked(document)] for document in chunk]
            ranked = self.ranked(chunk, mentions)
            by_mention: list[dict[int, list[Link]]] = [{} for _ in chunk]
            for unit, link in zip(ranked.found.units, self._answers(ranked), strict=True):
                referred = link if self._references is None else self._references.of(link)
                by_mention[unit.document].setdefault(unit.mention, []).append(referred)
            links = [{at: _links(several) for at, several in found.items()} for found in by_mention]
            events = self.pack.origins([list(chain(*found.values())) for found in links], step=self.name)
            patches += [
                Patch(links=tuple((own[at].key, several) for at, several in found.items()), events=said)
                for own, found, said in zip(mentions, links, events, strict=True)
            ]
        return patches

    def _answers(self, ranked: Ranked) -> Iterator[Link]:
        """The answer of each unit: what `Decision.link` says."""
        found = ranked.found
        starts = np.searchsorted(found.owners, np.arange(len(found.units) + 1))
        some = starts[1:] > starts[:-1]
        best = np.full(len(found.units), -1)
        best[some] = ranked.order[starts[:-1][some]]
        thresholds = [self.rankers[unit.type].threshold if unit.type in self.rankers else 0.0 for unit in found.units]
        concepts = found.concepts[best[some]]
        names = iter(zip(self.pack.curies.strings.take(concepts), self.pack.labels_at(concepts), strict=True))
        scores = [None if math.isnan(one) else one for one in ranked.scores[best[some]].tolist()]
        of_best = iter(zip(scores, found.tiers[best[some]].tolist(), strict=True))
        nil = [None if math.isnan(one) else one for one in ranked.nil.tolist()]
        for row, threshold, none in zip(best.tolist(), thresholds, nil, strict=True):
            if row < 0:
                yield _nil(none)
                continue
            (curie, label), (score, tier) = next(names), next(of_best)
            if score is not None and score < threshold:
                yield _nil(none)
            else:
                yield _link(curie, label, TIERS[tier], score)

    def _asked(self, document: Document) -> list[int]:
        """The numbers of the mentions that are linked."""
        return [at for at, one in enumerate(document.mentions) if not one.links and self.covers(one.type)]

    def explained(self, documents: Sequence[Document], *, most: int = 20) -> list[list[Decision]]:
        """What `predict` says of documents, with candidates and reasons; see `decisions`."""
        asked = list(map(self._asked, documents))
        mentions = [[one.mentions[at] for at in own] for one, own in zip(documents, asked, strict=True)]
        found = self.decisions(documents, mentions, most=most)
        return [
            [msgspec.structs.replace(one, mention=own[one.mention]) for one in told]
            for own, told in zip(asked, found, strict=True)
        ]

    def decisions(
        self, documents: Sequence[Document], mentions: Sequence[Sequence[Mention]], *, most: int = 20
    ) -> list[list[Decision]]:
        """What is said of mentions, in the order of mentions and parts, with candidates and reasons.

        Args:
            documents: that they stand in.
            mentions: of each document.
            most: candidates of each decision.
        """
        ranked = self.ranked(documents, mentions)
        found: list[list[Decision]] = [[] for _ in documents]
        bounds = np.searchsorted(ranked.found.owners, np.arange(len(ranked.found.units) + 1)).tolist()
        for number, unit in enumerate(ranked.found.units):
            rows = ranked.order[bounds[number] : min(bounds[number + 1], bounds[number] + most)].tolist()
            found[unit.document].append(self._decision(ranked, number, unit, rows))
        return found

    def ranked(
        self, documents: Sequence[Document], mentions: Sequence[Sequence[Mention]], *, without: Without | None = None
    ) -> Ranked:
        """The candidates of mentions in their order; see `Gatherer.gather`."""
        typed = [
            [
                one if one.type in self.pack.types else msgspec.structs.replace(one, type=self._type(one.type))
                for one in own
            ]
            for own in mentions
        ]
        found = self._gatherer.gather(documents, typed, without=without)
        features = self._describer.features(found, documents)
        return self.order(found, features)

    def order(self, found: Gathered, features: Floats) -> Ranked:
        """Ranks candidates by the rankers of their types."""
        scores = np.full(len(found.owners), np.nan)
        told, nil = scores.copy(), np.full(len(found.units), np.nan)
        kinds = np.array([unit.type for unit in found.units], dtype=object)
        stated = _stated_order(found, features)  # decides between candidates that are equally probable
        for kind, ranker in self.rankers.items():
            units = np.flatnonzero(kinds == kind)
            own = stated[np.isin(found.owners[stated], units)]
            owners = np.searchsorted(units, found.owners[own])
            values = self.inputs(found, features, own, ranker.vocabularies)
            weights = np.array(
                [ranker.weights.get(name, 0.0) for name in inputs_of(ranker.vocabularies, dense=self.dense)]
            )
            scores[own], none = probabilities(Choices(owners, values, len(units)), weights)
            calibration = Calibration(ranker.scale, ranker.shift)
            told[own], nil[units] = corrected(scores[own], none, owners, calibration)
        order = stated[np.lexsort((-np.nan_to_num(scores[stated], nan=0.0), found.owners[stated]))]
        return Ranked(found=found, features=features, order=order, scores=told, nil=nil)

    def inputs(self, found: Gathered, features: Floats, rows: Ints, vocabularies: Sequence[str]) -> Floats:
        """The features of some candidates, in the order of `inputs_of`."""
        numbers = {prefix: number for number, prefix in enumerate(self._gatherer.prefixes)}
        own = self._gatherer.prefix_of[found.concepts[rows]]
        columns = [own == numbers.get(prefix, -1) for prefix in vocabularies]
        dense = of_dense(found)[rows] if self.dense else np.empty((len(rows), 0))
        return np.concatenate(
            [features[rows], dense, np.array(columns, dtype=np.float64).reshape(len(columns), len(rows)).T], axis=1
        )

    def _decision(self, ranked: Ranked, number: int, unit: Unit, rows: Sequence[int]) -> Decision:
        ranker = self.rankers.get(unit.type)
        candidates = tuple(self._candidate(ranked, row, ranker) for row in rows)
        best = candidates[0].probability if candidates else None
        answer = bool(candidates) and (ranker is None or best is None or best >= ranker.threshold)
        nil = None if np.isnan(ranked.nil[number]) else float(ranked.nil[number])
        return Decision(
            mention=unit.mention,
            part=unit.part,
            surface=unit.surface,
            type=unit.type,
            pack=self.pack.manifest.name,
            candidates=candidates,
            nil=nil,
            answer=answer,
        )

    def _candidate(self, ranked: Ranked, row: int, ranker: Ranker | None) -> Candidate:
        found = ranked.found
        concept, term = int(found.concepts[row]), int(found.terms[row])
        unit = found.units[int(found.owners[row])]
        vocabularies = ranker.vocabularies if ranker is not None else ()
        values = self.inputs(found, ranked.features, np.array([row]), vocabularies)[0].tolist()
        names = inputs_of(vocabularies, dense=self.dense)
        features = {name: value for name, value in zip(names, values, strict=True) if value}
        score = float(ranked.scores[row])
        surfaces = self.pack.active
        return Candidate(
            curie=self.pack.curie(concept),
            label=self.pack.label_at(concept),
            name=surfaces.surfaces[int(surfaces.surface[term])] if term >= 0 else "",
            tier=TIERS[int(found.tiers[row])],
            ways=told(int(found.ways[row]), surface=unit.surface, question=unit.question),
            probability=None if np.isnan(score) else score,
            features=features,
            parts={name: value * ranker.weights.get(name, 0.0) for name, value in features.items()} if ranker else {},
            date=self.pack.date_at(concept),
        )


def _stated_order(found: Gathered, features: Floats) -> Ints:
    """The order of candidates without a ranker: by unit, and in it by species, tier, and so on."""
    first_way = np.bitwise_and(found.ways, -found.ways)
    order: Ints = np.lexsort(
        (
            found.concepts,
            -found.priors,
            found.distance,
            first_way,
            -found.dense,
            found.tiers,
            -features[:, _LIKELY],
            -features[:, _HINTED],
            found.owners,
        )
    )
    return order


def _link(curie: str, label: str, tier: str, score: float | None) -> Link:
    prefix, _, local = curie.partition(":")
    return Link(id=local, ontology=prefix, name=label, score=_told(score), tier=tier, curie=curie)


def _nil(score: float | None) -> Link:
    return Link(id="", nil=True, score=_told(score))


def _told(score: float | None) -> float | None:
    return None if score is None else min(1.0, round(score, _DIGITS))


def _links(several: Sequence[Link]) -> tuple[Link, ...]:
    """The links of a mention: each concept once, or NIL if no part has one."""
    if len(several) == 1:  # as of nearly all mentions
        return tuple(several)
    named = {link.curie: link for link in reversed(several) if not link.nil}
    return tuple(reversed(named.values())) if named else (several[0],)
