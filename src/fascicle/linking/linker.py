"""Linker: links mentions to concepts, each with a probability, a tier and its reasons, or to NIL.

Without a fitted ranker for a type, candidates are in a default order (`stated_scores`), and links
have no probability. If the first candidates are tied, fitted or not, the answer is *ambiguous*:
each of them, with its share.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

import msgspec
import numpy as np

from fascicle.core.arrays import Floats, Ints
from fascicle.core.document import STEP, Document, Patch
from fascicle.core.lazy import cached_property
from fascicle.core.mention import AMBIGUOUS, Link, Mention
from fascicle.core.stream import portions
from fascicle.linking.asking import Unit, make_units, visible_ways
from fascicle.linking.candidates import (
    BROADER,
    FAMILY,
    FAMILY_TYPES,
    TIERS,
    Candidates,
    limit_candidates,
    separate_mentions,
)
from fascicle.linking.decisions import Candidate, Decision, distinct, link_to, nil_link
from fascicle.linking.families import Families
from fascicle.linking.features import FEATURES, FeatureExtractor
from fascicle.linking.finding import Finder
from fascicle.linking.folder import LinkerManifest, Ranker, check_linker
from fascicle.linking.gathering import CandidateGenerator
from fascicle.linking.gold import Memory
from fascicle.linking.index import NameIndex
from fascicle.linking.lookup import Excluded
from fascicle.linking.ranking import CandidateRanker, Ranked
from fascicle.linking.species_features import SpeciesFeatures
from fascicle.linking.strategies import Strategies
from fascicle.linking.weights import limited
from fascicle.settings.steps import LinkStrategy
from fascicle.terms.pack.pack import Pack

_PORTION: Final = 1 << 18  # characters of text that are worked on together
NO_STRATEGIES: Final[Mapping[str, LinkStrategy]] = MappingProxyType({})


class LinkingStep:
    """Step of a pipeline that links mentions."""

    name = STEP
    needs: frozenset[str] = frozenset({"mentions"})
    gives: frozenset[str] = frozenset({"links"})
    drops: frozenset[str] = frozenset()

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Links those mentions of each document that have no links."""
        raise NotImplementedError

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document, as `predict`."""
        return self.predict(documents)


class Linker(LinkingStep):
    """Links the mentions of documents to concepts of one pack; for one thread.

    Attributes:
        pack: open.
        rankers: by type.
        ranking: ranks candidates by these.
    """

    def __init__(  # noqa: PLR0913
        self,
        pack: Pack,
        *,
        index: NameIndex | None = None,
        memory: Memory | None = None,
        rankers: Mapping[str, Ranker] | None = None,
        vocabularies: Mapping[str, Sequence[str]] | None = None,
        order: Sequence[str] = (),
        ontology: str = "",
        strategies: Mapping[str, LinkStrategy] = NO_STRATEGIES,
    ) -> None:
        """Sets the parts of the linker.

        Args:
            pack: open.
            index: of the pack; without it, only names with equal keys are found.
            memory: names that annotated texts gave to concepts.
            rankers: by type.
            vocabularies: of types, prefixes of the concepts that are answered, in place of those of
                the ranker.
            order: prefixes of vocabularies; of the identifiers of a concept the first of these is
                the answer, by default that of the vocabulary which comes first in the pack; see
                `Strategies` too.
            ontology: prefix of the only vocabulary in which links are given, in place of the order;
                other concepts are no candidates.
            strategies: by type; those of types that the pack lacks do nothing.

        Raises:
            UsageError: the pack has no concept of the ontology, or has no sets of equal concepts.
        """
        self.pack = pack
        self._strategies = Strategies(pack, strategies, order=order, ontology=ontology)
        fitted, self._wanted = self._strategies.resolve(rankers or {}, vocabularies or {})
        self.rankers = {
            kind: msgspec.structs.replace(ranker, weights=limited(ranker.weights))
            for kind, ranker in fitted.items()
        }
        self._gatherer = CandidateGenerator(
            Finder(pack, index), memory or Memory(), self._wanted, self._strategies.allowed
        )
        self._describer, self._species = FeatureExtractor(pack), SpeciesFeatures(pack)
        self.ranking = CandidateRanker(self.rankers, self._strategies.ties)
        self._order = tuple(order)

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the parts that decide, with the release, all links."""
        finder, memory = self._gatherer.finder, self._gatherer.memory
        rankers = {kind: msgspec.to_builtins(ranker) for kind, ranker in self.rankers.items()}
        parts = [
            self.pack.full_name,
            finder.index is not None,
            rankers,
            self._wanted,
            memory.table(),
        ]
        parts += [self._order, self._strategies.ontology]
        parts += [msgspec.to_builtins(self._strategies.of)] if self._strategies.of else []
        return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()

    def covers(self, kind: str) -> bool:
        """True if the pack has concepts of a type; mentions of other types are not linked, and
        not NIL.
        """
        return self.pack.covers(kind)

    def known(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Returns those pairs of a name and a type of which the pack has a concept with this
        name.
        """
        typed = [(name, self.pack.own_type(kind)) for name, kind in pairs]
        present = self._gatherer.names_in_pack(typed)
        return {pair for pair, name in zip(pairs, typed, strict=True) if name in present}

    @classmethod
    def open(
        cls,
        folder: Path,
        manifest: LinkerManifest,
        pack: Pack,
        *,
        ontology: str = "",
        strategies: Mapping[str, LinkStrategy] = NO_STRATEGIES,
    ) -> Self:
        """Opens a linker that `fitting.fit_linker` wrote.

        Args:
            folder: of the linker.
            manifest: as it was found there; the other files must still be those that it names.
            pack: open.
            ontology: as of `Linker`.
            strategies: as of `Linker`.

        Raises:
            PackError: a damaged linker, or one of another pack.
            UsageError: the pack has no concept of the ontology.
        """
        check_linker(folder, manifest, pack)
        return cls(
            pack,
            index=NameIndex.open(folder, pack) if manifest.indexed else None,
            memory=Memory.read(folder),
            rankers=manifest.rankers,
            order=manifest.order or (),
            ontology=ontology,
            strategies=strategies,
        )

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Links those mentions of each document that have no links, if the pack covers their types.

        Args:
            documents: with mentions; those with links stay as they are.

        Returns:
            Links, NIL among them, and for a document with others an event with their origin.
        """
        chunks = portions(documents, characters=_PORTION)
        return [patch for chunk in chunks for patch in self._patches(chunk)]

    def _patches(self, documents: Sequence[Document]) -> Iterator[Patch]:
        mentions = list(map(self._unlinked_mentions, documents))
        ranked = self.ranked(documents, mentions)
        answers: list[list[list[Link]]] = [[[] for _ in own] for own in mentions]
        for unit, answer in zip(ranked.candidates.units, self._answers(ranked), strict=True):
            for number in unit.mentions:
                answers[unit.document][number] += answer
        links = [list(map(distinct, own)) for own in answers]
        events = self.pack.origins([list(chain(*own)) for own in links], step=self.name)
        for own, own_links, own_events in zip(mentions, links, events, strict=True):
            keys = [mention.key for mention in own]
            yield Patch(links=tuple(zip(keys, own_links, strict=True)), events=own_events)

    def _answers(self, ranked: Ranked) -> Iterator[tuple[Link, ...]]:
        """Yields the answer of each unit: a link, or those of an ambiguous one."""
        owners, units = ranked.candidates.owners, ranked.candidates.units
        places = np.arange(len(owners)) - np.searchsorted(owners, owners)  # of each in its unit
        rows = ranked.order[places < ranked.answered[owners]]
        names = self._strategies.describe(ranked.candidates, rows)
        tiers, scores = self._tiers(ranked.candidates, rows), ranked.scores[rows].tolist()
        links = zip(names, tiers, scores, strict=True)
        absent = (np.bincount(owners, minlength=len(units)) == 0).tolist()
        for count, nil, is_absent in zip(
            ranked.answered.tolist(), ranked.nil.tolist(), absent, strict=True
        ):
            if not count:
                yield (nil_link(_or_none(nil), self._strategies.ontology, absent=is_absent),)
            else:
                yield tuple(
                    link_to(curie, label, tier if count == 1 else AMBIGUOUS, _or_none(score), same)
                    for (curie, label, same), tier, score in islice(links, count)
                )

    def _tiers(self, candidates: Candidates, rows: Ints) -> list[str]:
        """Returns the tier of each candidate: of a family or of a coarser concept, that it is
        one.
        """
        is_family = Families(self.pack).are(candidates.concepts[rows]).tolist()
        tiers = []
        for row, family in zip(rows.tolist(), is_family, strict=True):
            if family and candidates.units[candidates.owners[row]].type in FAMILY_TYPES:
                tiers.append(FAMILY)
            elif candidates.precedence[row] < 0:
                tiers.append(BROADER)
            else:
                tiers.append(TIERS[candidates.tiers[row]])
        return tiers

    def _unlinked(self, document: Document) -> list[int]:
        """Returns the numbers of the mentions that are to be linked."""
        covered = {
            kind: self.covers(kind) for kind in {mention.type for mention in document.mentions}
        }
        return [
            number
            for number, mention in enumerate(document.mentions)
            if not mention.links and covered[mention.type]
        ]

    def _unlinked_mentions(self, document: Document) -> list[Mention]:
        return [document.mentions[number] for number in self._unlinked(document)]

    def explained(self, documents: Sequence[Document], *, most: int = 20) -> list[list[Decision]]:
        """Returns the decisions of `predict` for documents, with candidates and reasons; see
        `decisions`.
        """
        mentions = list(map(self._unlinked_mentions, documents))
        decided = zip(documents, self.decisions(documents, mentions, most=most), strict=True)
        return [list(self._numbered(document, own)) for document, own in decided]

    def _numbered(self, document: Document, decisions: Sequence[Decision]) -> Iterator[Decision]:
        """Yields decisions with the numbers that the mentions have in the document."""
        numbers = self._unlinked(document)
        for decision in decisions:
            yield msgspec.structs.replace(decision, mention=numbers[decision.mention])

    def decisions(
        self,
        documents: Sequence[Document],
        mentions: Sequence[Sequence[Mention]],
        *,
        most: int = 20,
    ) -> list[list[Decision]]:
        """Returns the decisions about mentions, in the order of mentions and parts, with candidates
        and reasons.

        Args:
            documents: the documents that contain the mentions.
            mentions: of each document.
            most: candidates of each decision; more where more are the answer.
        """
        ranked = self.ranked(documents, mentions)
        owners, units = ranked.candidates.owners, ranked.candidates.units
        decisions: list[list[Decision]] = [[] for _ in documents]
        bounds = np.searchsorted(owners, np.arange(len(units) + 1)).tolist()
        for number, unit in enumerate(units):
            start, end = bounds[number : number + 2]
            rows = ranked.order[start:end][: max(most, int(ranked.alike[number]))]
            decision = self._decision(ranked, number, unit, rows.tolist())
            decisions[unit.document] += [
                msgspec.structs.replace(decision, mention=mention) for mention in unit.mentions
            ]
        return [
            sorted(own, key=lambda decision: (decision.mention, decision.part)) for own in decisions
        ]

    def ranked(
        self,
        documents: Sequence[Document],
        mentions: Sequence[Sequence[Mention]],
        *,
        without: Excluded | None = None,
        each: bool = False,
    ) -> Ranked:
        """Returns the candidates of mentions in their order.

        Args:
            documents: the documents that contain the mentions.
            mentions: of each document.
            without: what the memory has from them, see `CandidateGenerator.gather`.
            each: whether each mention has a unit of its own, as a fit counts them; else only one
                whose concepts have species, which depend on its place.
        """
        typed = [list(map(self._with_own_type, own)) for own in mentions]
        candidates = self._gatherer.gather(make_units(documents, typed), without=without)
        separated = np.full(len(candidates.units), each)
        separated[candidates.owners[self.pack.taxon_rows[candidates.concepts] > 0]] = True
        candidates = separate_mentions(candidates, separated)
        species = self._species(candidates, documents, self._strategies.species)
        allowed = self._strategies.of_named_species(candidates, species)
        if not allowed.all():
            candidates = limit_candidates(candidates, allowed)
            species = self._species(candidates, documents, self._strategies.species)
        features = self._describer.features(candidates, documents, species)
        scores = mention_scores(candidates.units, typed)
        foreign = self._species.are_foreign(candidates, documents, species)
        return self.ranking.rank_candidates(candidates, features, scores, foreign)

    def _with_own_type(self, mention: Mention) -> Mention:
        """Returns a mention with its type as the pack names it."""
        if mention.type in self.pack.types:
            return mention
        return msgspec.structs.replace(mention, type=self.pack.own_type(mention.type))

    def _decision(self, ranked: Ranked, number: int, unit: Unit, rows: Sequence[int]) -> Decision:
        ranker = self.rankers.get(unit.type)
        count = int(ranked.answered[number])
        return Decision(
            mention=unit.mentions[0],
            part=unit.part,
            surface=unit.surface,
            type=unit.type,
            pack=self.pack.manifest.name,
            candidates=tuple(self._candidate(ranked, row, ranker) for row in rows),
            nil=_or_none(float(ranked.nil[number])),
            answer=count == 1,
            ambiguous=count if count > 1 else 0,
        )

    def _candidate(self, ranked: Ranked, row: int, ranker: Ranker | None) -> Candidate:
        candidates, rows = ranked.candidates, np.array([row])
        unit = candidates.units[int(candidates.owners[row])]
        values = zip(FEATURES, ranked.features[row].tolist(), strict=True)
        features = {name: value for name, value in values if value}
        ((curie, label, same),) = self._strategies.describe(candidates, rows)
        return Candidate(
            curie=curie,
            label=label,
            same=same,
            name=self._name(int(candidates.terms[row])),
            tier=self._tiers(candidates, rows)[0],
            ways=visible_ways(int(candidates.ways[row]), surface=unit.surface, query=unit.query),
            probability=_or_none(float(ranked.scores[row])),
            features=features,
            parts=ranker.parts(features) if ranker else {},
            date=self.pack.date_at(self.pack.row(curie)),
        )

    def _name(self, term: int) -> str:
        """Returns the name of a term; empty for -1, of a concept that no name found."""
        names = self.pack.active
        return names.surfaces[int(names.surface[term])] if term >= 0 else ""


def mention_scores(units: Sequence[Unit], mentions: Sequence[Sequence[Mention]]) -> Floats:
    """Returns for each unit the best score of the mentions of its name in its document, ``[n]``;
    NaN without one.
    """
    scores = np.full(len(units), math.nan)
    best: dict[tuple[int, str, str], float] = {}
    scored: list[tuple[int, tuple[int, str, str]]] = []
    for number, unit in enumerate(units):
        own = mentions[unit.document]
        if own[unit.mentions[0]].score is not None:
            name = (unit.document, unit.type, unit.query.name.casefold())
            best[name] = max(best.get(name, 0.0), *(own[at].score or 0.0 for at in unit.mentions))
            scored.append((number, name))
    for number, name in scored:
        scores[number] = best[name]
    return scores


def _or_none(probability: float) -> float | None:
    return None if math.isnan(probability) else probability
