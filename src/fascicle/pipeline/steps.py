"""Built-in steps: recognisers, combinations, filters, typers, choice, dropping, and preferred
vocabularies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec
from msgspec.structs import replace

from fascicle.core.contracts import Predictor, Step
from fascicle.core.document import Document, Link, Mention, MentionKey, MentionsById, Patch
from fascicle.core.facts import facts_of
from fascicle.core.mention import overlapping_mentions
from fascicle.runtime.combination.align import System, align
from fascicle.runtime.combination.rules import Rule, combine
from fascicle.runtime.relations import RelationFinder
from fascicle.runtime.settling import settle
from fascicle.settings.steps import DropStep, Keep, PreferStep

MENTIONS = frozenset({"mentions"})
LINKED = frozenset({"mentions", "links"})


def fingerprint_of(*parts: object) -> str:
    """Returns a short text that is equal only for equal parts."""
    return hashlib.sha256(msgspec.json.encode([str(part) for part in parts])).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Recognise:
    """Predictor as a step: the new mentions replace its earlier ones in a document.

    Attributes:
        name: of the step.
        predictor: finds mentions.
        gives: what they bring: mentions, and perhaps links.
        fingerprint: decides what it finds.
    """

    name: str
    predictor: Predictor
    gives: frozenset[str] = MENTIONS
    fingerprint: str = ""
    needs: frozenset[str] = frozenset()

    @property
    def drops(self) -> frozenset[str]:
        """Sources of the predictor."""
        return self.sources

    @property
    def sources(self) -> frozenset[str]:
        """Sources of the predictor."""
        return frozenset(getattr(self.predictor, "sources", (self.predictor.name,)))

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        patches, sources = self.predictor.predict(documents), self.sources
        earlier = (_of_sources(document, sources) for document in documents)
        return [
            _in_place_of(mentions, patch) for mentions, patch in zip(earlier, patches, strict=True)
        ]


def _of_sources(document: Document, sources: Container[str]) -> list[Mention]:
    return [mention for mention in document.mentions if mention.source in sources]


def _drop(mentions: Iterable[Mention]) -> Patch:
    return Patch(drop=tuple(mention.key for mention in mentions))


def _in_place_of(earlier: Sequence[Mention], patch: Patch) -> Patch:
    if not earlier:
        return patch
    return replace(patch, drop=tuple(mention.key for mention in earlier))


@dataclass(frozen=True, kw_only=True)
class _Layer:
    """Step that makes a layer from other layers, and replaces its own layer of an earlier run.

    Attributes:
        name: of the step, and the source of its mentions.
        layers: sources that it is made of.
    """

    name: str
    layers: tuple[str, ...]
    fingerprint: str = ""
    needs: frozenset[str] = MENTIONS
    gives: frozenset[str] = MENTIONS

    @property
    def drops(self) -> frozenset[str]:
        """Own layer of an earlier run."""
        return self.sources

    @property
    def sources(self) -> frozenset[str]:
        """Sources of the mentions that the step adds."""
        return frozenset({self.name})

    def _own(self, document: Document, patch: Patch) -> Patch:
        """Returns a patch whose mentions have this step as source."""
        add = tuple(replace(mention, source=self.name) for mention in patch.add)
        return _in_place_of(document.layer(self.name), replace(patch, add=add))


@dataclass(frozen=True, kw_only=True)
class Combine(_Layer):
    """Layer of the mentions on which several layers agree; the score is the mean of theirs.

    Attributes:
        rule: which mentions are kept.
    """

    rule: Rule

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        numbered = list(enumerate(documents))
        systems = [
            System(
                name=layer, mentions={str(at): document.layer(layer) for at, document in numbered}
            )
            for layer in self.layers
        ]
        mentions = combine(align(systems), self.rule)
        return [
            self._own(document, Patch(add=tuple(mentions[str(at)]))) for at, document in numbered
        ]


class MentionJudge(Protocol):
    """Interface of a learned filter, as the step uses it."""

    def judge(
        self, documents: Sequence[Document], mentions_of: Sequence[Sequence[Mention]]
    ) -> list[Patch]:
        """Returns the kept mentions, with their probability as score."""


@dataclass(frozen=True, kw_only=True)
class Filter(_Layer):
    """Layer of the mentions that a learned filter accepts.

    Attributes:
        judge: the filter.
    """

    judge: MentionJudge

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        mentions_of = [_of_sources(document, self.layers) for document in documents]
        patches = self.judge.judge(documents, mentions_of)
        return [self._own(*pair) for pair in zip(documents, patches, strict=True)]


class _Retyper(Protocol):
    """Interface of a span typer, as the step uses it."""

    def retype(self, documents: Sequence[Document], proposed: MentionsById) -> list[Patch]:
        """Returns the mentions of each document, by its id, with other types."""


@dataclass(frozen=True, kw_only=True)
class Type(_Layer):
    """Layer of the mentions of other layers, each with the type from a span typer.

    Attributes:
        typer: the span typer.
    """

    typer: _Retyper

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        numbered = [document.having(id=str(at)) for at, document in enumerate(documents)]
        proposed = {document.id: _of_sources(document, self.layers) for document in numbered}
        patches = self.typer.retype(numbered, proposed)
        return [self._own(*pair) for pair in zip(documents, patches, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Relate:
    """Relations between the mentions of some layers, or between their concepts.

    Attributes:
        name: of the step.
        layers: sources of the mentions.
        finder: finds the relations.
    """

    name: str
    layers: tuple[str, ...]
    finder: RelationFinder
    fingerprint: str = ""
    gives: frozenset[str] = frozenset({"relations"})
    drops: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()

    @property
    def needs(self) -> frozenset[str]:
        """Links, if relations are between concepts."""
        return LINKED if self.finder.manifest.pairs.between == "concepts" else MENTIONS

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        mentions_of = [_of_sources(document, self.layers) for document in documents]
        return self.finder.relate(documents, mentions_of)


@dataclass(frozen=True, kw_only=True)
class _Changing:
    """Step that drops or replaces mentions of some layers, and adds none.

    Attributes:
        name: of the step.
        drops: sources.
    """

    name: str
    drops: frozenset[str]
    fingerprint: str = ""
    gives: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Drop(_Changing):
    """Drops mentions of some layers.

    Attributes:
        settings: conditions that a dropped mention meets.
    """

    settings: DropStep

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        return [_drop(self._losers(document)) for document in documents]

    def _losers(self, document: Document) -> Iterator[Mention]:
        return (mention for mention in document.mentions if self._goes(mention, document))

    @property
    def needs(self) -> frozenset[str]:
        """Links, if a condition is about them."""
        return LINKED if self.settings.unlinked or self.settings.vocabularies else MENTIONS

    def _goes(self, mention: Mention, document: Document) -> bool:
        settings = self.settings
        vocabularies = {_vocabulary(link) for link in mention.links if not link.nil}
        low = settings.below is None or (
            mention.score is not None and mention.score < settings.below
        )
        return (
            mention.source in self.drops
            and low
            and (not settings.types or mention.type in settings.types)
            and (settings.shorter is None or len(mention.text_in(document.text)) < settings.shorter)
            and (not settings.facts or not set(settings.facts).isdisjoint(facts_of(mention)))
            and (not settings.sections or document.is_in(mention, settings.sections))
            and not (settings.unlinked and vocabularies)
            and (
                not settings.vocabularies
                or (bool(vocabularies) and vocabularies <= set(settings.vocabularies))
            )
        )


@dataclass(frozen=True, kw_only=True)
class Settle(_Changing):
    """Decides between own names and longer mentions of a model, once these may have links.

    Attributes:
        own: sources of the names.
    """

    own: tuple[str, ...]
    needs: frozenset[str] = MENTIONS

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document; see `fascicle.runtime.settling.settle`."""
        return [self._settle(document) for document in documents]

    def _settle(self, document: Document) -> Patch:
        mentions = tuple(item for item in document.mentions if item.source in self.drops)
        patch = settle(
            Patch(add=mentions), step=self.name, is_own=lambda item: item.source in self.own
        )
        stay = {mention.key for mention in patch.add}
        gone = tuple(mention.key for mention in mentions if mention.key not in stay)
        return Patch(drop=gone, events=patch.events)


class _Rules(Protocol):
    """Interface of the rules for facts, as the step uses it."""

    def assert_facts(self, document: Document, mentions: Iterable[Mention]) -> list[Mention]:
        """Returns the mentions with their facts."""


@dataclass(frozen=True, kw_only=True)
class Assert(_Changing):
    """Gives mentions what the text says of them as attributes, such as ``negated``.

    Attributes:
        rules: that find it.
    """

    rules: _Rules
    needs: frozenset[str] = frozenset({"mentions", "sentences", "words"})

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        return [Patch(replace=tuple(self._replaced(document))) for document in documents]

    def _replaced(self, document: Document) -> Iterator[tuple[MentionKey, Mention]]:
        mentions = _of_sources(document, self.drops)
        for before, after in zip(
            mentions, self.rules.assert_facts(document, mentions), strict=True
        ):
            if after is not before:
                yield before.key, after


@dataclass(frozen=True, kw_only=True)
class Prefer(_Changing):
    """Keeps the links of mentions in the first of some vocabularies that they have.

    Attributes:
        settings: vocabularies, and the types of mentions that change.
    """

    settings: PreferStep
    needs: frozenset[str] = LINKED

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        return [Patch(replace=tuple(self._replaced(document))) for document in documents]

    def _replaced(self, document: Document) -> Iterator[tuple[MentionKey, Mention]]:
        settings = self.settings
        for mention in document.mentions:
            if mention.source in self.drops and (
                not settings.types or mention.type in settings.types
            ):
                links = _preferred(mention.links, settings.vocabularies)
                if links != mention.links:
                    yield mention.key, replace(mention, links=links)


def _preferred(links: tuple[Link, ...], vocabularies: Sequence[str]) -> tuple[Link, ...]:
    """Returns the links in the first of the vocabularies that they have, each concept once; all
    links if in none.
    """
    for vocabulary in vocabularies:
        candidates = [
            candidate
            for link in links
            if (candidate := _to_vocabulary(link, vocabulary)) is not None
        ]
        if candidates:
            equivalents = tuple(
                link.curie for link in links if link.curie and _vocabulary(link) != vocabulary
            )
            concepts = {
                candidate.curie or candidate.id: candidate for candidate in reversed(candidates)
            }
            return tuple(
                _with_equivalents(candidate, equivalents if len(concepts) == 1 else ())
                for candidate in reversed(concepts.values())
            )
    return links


def _to_vocabulary(link: Link, vocabulary: str) -> Link | None:
    """Returns a link in a vocabulary, by its equivalents if need be; ``None`` if it has none
    there.
    """
    if link.nil or _vocabulary(link) == vocabulary:
        return None if link.nil else link
    curie = next((curie for curie in link.same if curie.partition(":")[0] == vocabulary), "")
    if not curie:
        return None
    return Link(
        id=curie.partition(":")[2],
        ontology=vocabulary,
        score=link.score,
        tier=link.tier,
        curie=curie,
        same=link.same,
    )


def _with_equivalents(link: Link, curies: Sequence[str]) -> Link:
    """Returns a link with further equivalents."""
    same = dict.fromkeys(curie for curie in (*link.same, *curies) if curie != link.curie)
    return replace(link, same=tuple(same))


def _vocabulary(link: Link) -> str:
    return link.curie.partition(":")[0] or link.ontology


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Resolves conflicts by rank: a mention stays if it is compatible with all that stayed before
    it.

    Attributes:
        name: of the step.
        layers: sources to choose from, in the order of their priority.
        keep: ``"all"``, ``"nested"`` or ``"flat"``, see `fascicle.settings.steps.ChoiceStep`.
        types: type -> what is kept of it; these types compete with no other.
    """

    name: str
    layers: tuple[str, ...]
    keep: Keep = "nested"
    types: Mapping[str, Keep] = field(default_factory=dict)
    fingerprint: str = ""
    needs: frozenset[str] = frozenset({"mentions"})
    gives: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()

    @property
    def drops(self) -> frozenset[str]:
        """Layers of the choice."""
        return frozenset(self.layers)

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        return [_drop(self._losers(document)) for document in documents]

    def _losers(self, document: Document) -> list[Mention]:
        mentions = _of_sources(document, self.layers)
        rivals: list[list[int]] = [[] for _ in mentions]
        for (i, first), (j, second) in overlapping_mentions(mentions):
            if self._exclude(first, second):
                rivals[i].append(j)
                rivals[j].append(i)
        stays: set[int] = set()
        for at in sorted(range(len(mentions)), key=lambda number: self._rank(mentions[number])):
            if not stays.intersection(rivals[at]):
                stays.add(at)
        return [mention for at, mention in enumerate(mentions) if at not in stays]

    def _exclude(self, first: Mention, second: Mention) -> bool:
        """True if two mentions that share a character exclude each other."""
        own = {first.type, second.type} & self.types.keys()
        if own and first.type != second.type:
            return False
        keep = self.types.get(first.type, self.keep)
        if keep != "nested":
            return keep == "flat"
        if first.spans == second.spans:
            return first.type == second.type
        return not (_within(first, second) or _within(second, first))

    def _rank(self, mention: Mention) -> tuple[float, int, int, int, str]:
        return *mention.rank, self.layers.index(mention.source), mention.type


def _within(inner: Mention, outer: Mention) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


class Own:
    """Built-in step that adds no mentions, under the name that a pipeline gives it."""

    sources: frozenset[str] = frozenset()

    def __init__(self, step: Step, *, name: str, beside: Container[str] = ()) -> None:
        """Sets the step, and the sources whose mentions it does not see."""
        self.name, self.step, self._beside = name, step, beside
        self.needs, self.gives, self.drops = step.needs, step.gives, step.drops
        self.fingerprint = step.fingerprint

    def run(self, documents: Sequence[Document]) -> Iterable[Patch]:
        """Returns one patch for each document."""
        return self.step.run([self._without_others(document) for document in documents])

    def _without_others(self, document: Document) -> Document:
        if not self._beside:
            return document
        rest = (mention for mention in document.mentions if mention.source not in self._beside)
        return document.having(mentions=tuple(rest))
