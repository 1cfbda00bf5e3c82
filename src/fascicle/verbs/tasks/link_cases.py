"""Cases of linking, one for each gold mention: from predictions with links, or from a linker."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from fascicle.core.document import GOLD, Document
from fascicle.core.mention import AMBIGUOUS, Mention
from fascicle.core.stream import portions
from fascicle.evaluation.link_scores import KnowsConcepts, LinkCase
from fascicle.linking.decisions import Candidate, Decision, distinct
from fascicle.linking.opening import Linking
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack

_PORTION: Final = 1 << 18  # characters of text that are linked together
_MOST: Final = 64  # largest number of candidates


class _PackConcepts:
    """Concepts of several packs; each concept is that of the first pack that has it."""

    def __init__(self, packs: Sequence[Pack]) -> None:
        """Takes open packs."""
        self._packs = packs

    def known(self, curies: Collection[str]) -> bool:
        """True if each of the concepts is in one of the packs."""
        return all(self._found(curie) is not None for curie in curies)

    def taxon(self, curie: str) -> str:
        """Returns the species of a concept."""
        place = self._found(curie)
        return place[0].taxa[int(place[0].taxon_rows[place[1]])] if place else ""

    def ancestors(self, curie: str) -> Collection[str]:
        """Returns all concepts above one."""
        place = self._found(curie)
        return place[0].ancestors(curie) if place else ()

    def label(self, curie: str) -> str:
        """Returns the preferred name of a concept."""
        place = self._found(curie)
        return place[0].label_at(place[1]) if place else ""

    def _found(self, curie: str) -> tuple[Pack, int] | None:
        rows = ((pack, int(pack.concept_rows([curie])[0])) for pack in self._packs)
        return next(((pack, row) for pack, row in rows if row >= 0), None)


@dataclass(frozen=True, kw_only=True)
class TrainingNames:
    """Surfaces and concepts of a training corpus.

    Attributes:
        surfaces: type and key of level 1 of its mentions.
        concepts: all of them.
    """

    surfaces: Collection[tuple[str, str]] = frozenset()
    concepts: Collection[str] = frozenset()

    @classmethod
    def of(cls, documents: Iterable[Document]) -> TrainingNames:
        """Collects them from documents with types and links in the spelling of gold."""
        surfaces: set[tuple[str, str]] = set()
        concepts: set[str] = set()
        for document in documents:
            for mention in linked(document):
                surfaces.add((mention.type, key(_surface(mention, document), 1)))
                concepts.update(mention_concepts(mention))
        return cls(surfaces=surfaces, concepts=concepts)


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Gold, with the vocabulary and the training corpus.

    Attributes:
        documents: with gold mentions; those without links do not count.
        packs: the vocabulary; empty if it is not known.
        seen: surfaces and concepts of the training corpus.
    """

    documents: Sequence[Document] = field(repr=False)
    packs: tuple[Pack, ...] = field(default=(), repr=False)
    seen: TrainingNames = field(default_factory=TrainingNames, repr=False)

    @property
    def concepts(self) -> KnowsConcepts:
        """Concepts of the vocabulary; without a vocabulary, none."""
        return _PackConcepts(self.packs)

    def case(self, document: Document, mention: Mention) -> LinkCase:
        """Returns the case of a gold mention without an answer."""
        gold, surface = mention_concepts(mention), _surface(mention, document)
        return LinkCase(
            document=document.id,
            start=mention.start,
            type=mention.type,
            surface=surface,
            gold=gold,
            known=not self.packs or _PackConcepts(self.packs).known(gold),
            seen_surface=(mention.type, key(surface, 1)) in self.seen.surfaces,
            seen_concepts=all(concept in self.seen.concepts for concept in gold),
            where="missed",
        )


def linked(document: Document) -> list[Mention]:
    """Returns the gold mentions that have a link; NIL counts as a link."""
    return [mention for mention in document.layer(GOLD) if mention.links]


def mention_concepts(mention: Mention, *gold: Collection[str]) -> frozenset[str]:
    """Returns the concepts of a mention, as CURIEs, or as written without a prefix; of an ambiguous
    mention none.

    Args:
        mention: with its links.
        *gold: see `counted_identifier`.
    """
    links = (link for link in mention.links if not link.nil and link.tier != AMBIGUOUS)
    return frozenset(
        counted_identifier((link.curie or link.id, *link.same), *gold) for link in links
    )


def counted_identifier(identifiers: Sequence[str], *gold: Collection[str]) -> str:
    """Returns the identifier by which a link counts: any that gold has.

    Args:
        identifiers: of one concept in several vocabularies, its own first; it counts if gold has
            none of them.
        *gold: concepts of gold, those of the mention before those of the document.
    """
    return next(
        (identifier for concepts in gold for identifier in identifiers if identifier in concepts),
        identifiers[0],
    )


def _document_concepts(document: Document) -> frozenset[str]:
    return frozenset(
        concept for mention in linked(document) for concept in mention_concepts(mention)
    )


def cases_of_predictions(
    reference: Reference, predicted: Mapping[str, Sequence[Mention]]
) -> Iterator[LinkCase]:
    """Yields cases of the mentions of gold and of a system; a mention of the system without a link
    counts as NIL.

    Mentions of the system count if gold has links of their type, and if gold does not have the same
    mention without a link.

    Args:
        reference: gold.
        predicted: document id -> mentions, with types and links in the spelling of gold.
    """
    types = {mention.type for document in reference.documents for mention in linked(document)}
    for document in reference.documents:
        gold = _document_concepts(document)
        answers = {
            (mention.type, mention.spans): mention
            for mention in predicted.get(document.id, ())
            if mention.type in types
        }
        for mention in document.layer(GOLD):
            answer = answers.pop((mention.type, mention.spans), None)
            if mention.links:
                case = reference.case(document, mention)
                yield case if answer is None else _with_mention(case, answer, gold)
        for mention in answers.values():
            surface = _surface(mention, document)
            bare = LinkCase(
                document=document.id,
                type=mention.type,
                surface=surface,
                gold=frozenset(),
                where="spurious",
            )
            yield replace(_with_mention(bare, mention, gold), start=mention.start, where="spurious")


def cases_of_linker(reference: Reference, linker: Linking) -> Iterator[LinkCase]:
    """Yields cases of the gold mentions, linked. The linker does not see links of gold of any type.

    Args:
        reference: gold.
        linker: open.
    """
    for chunk in portions(reference.documents, characters=_PORTION):
        bare = [_without_links(document) for document in chunk]
        for document, decided in zip(chunk, linker.explained(bare, most=_MOST), strict=True):
            by_mention: dict[int, list[Decision]] = {}
            gold = _document_concepts(document)
            for decision in decided:
                by_mention.setdefault(decision.mention, []).append(decision)
            for number, mention in enumerate(document.layer(GOLD)):
                if mention.links:
                    yield _decided(
                        reference.case(document, mention), by_mention.get(number, []), gold
                    )


def _with_mention(case: LinkCase, mention: Mention, gold: Collection[str]) -> LinkCase:
    """Returns the case with the links of a predicted mention, by the identifiers of gold in its
    document.
    """
    answer = mention_concepts(mention, case.gold, gold)
    links = [link for link in mention.links if not link.nil and link.tier != AMBIGUOUS]
    scores = [link.score for link in links]
    return replace(
        case,
        parts=tuple((concept,) for concept in sorted(answer)),
        answer=answer,
        score=min(scores) if scores and None not in scores else None,  # type: ignore[type-var]
        tier=links[0].tier if links else "",
        where="matched",
    )


def _decided(case: LinkCase, decisions: Sequence[Decision], gold: Collection[str]) -> LinkCase:
    """Returns the case with the decision of a linker, by the identifiers of gold in its
    document.
    """

    def counted(candidate: Candidate) -> str:
        return counted_identifier((candidate.curie, *candidate.same), case.gold, gold)

    answered = [decision for decision in decisions if decision.answer]
    best = [decision.candidates[0] for decision in answered]
    # Two names in a mention may have one concept; it is one link, as the linker writes it.
    scores = (
        [link.score for link in distinct([decision.link for decision in answered])]
        if answered
        else []
    )
    return replace(
        case,
        parts=tuple(tuple(map(counted, each.candidates)) for each in decisions),
        answer=frozenset(map(counted, best)),
        score=min(scores) if scores and None not in scores else None,  # type: ignore[type-var]
        tier=best[0].tier if best else "",
        alone=bool(answered) and all(_alone(decision) for decision in answered),
        where="matched",
    )


def _alone(decision: Decision) -> bool:
    tiers = [candidate.tier for candidate in decision.candidates]
    return tiers.count(tiers[0]) == 1


def _without_links(document: Document) -> Document:
    mentions = tuple(replace(mention, links=()) for mention in document.layer(GOLD))
    return replace(document, mentions=mentions)


def _surface(mention: Mention, document: Document) -> str:
    return " ".join(mention.text_in(document.text).split())
