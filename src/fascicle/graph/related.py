"""Relations between the concepts that a document links its mentions to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

from fascicle.core.document import Document
from fascicle.core.facts import facts_of
from fascicle.core.mention import (
    CONCEPTS,
    SCORE,
    Fragments,
    MentionKey,
    Relation,
    link_text,
)
from fascicle.graph.evidence import (
    NO_SECTION,
    UNKNOWN,
    ConceptMention,
    DocumentConcepts,
    answers_of,
    named_concept,
)

_FREE: Final = frozenset(CONCEPTS)  # roles without a direction, as BioRED has them


class ConceptRelation(NamedTuple):
    """A relation between concepts.

    Attributes:
        subject: CURIE of a concept; of a relation without a direction, the first in the alphabet.
        object: another one.
        type: as the source calls it, with a blank for each ``|``, which separates values in KGX.
        places: of its mentions; empty if it is between concepts.
        section: of its first mention.
        sources: of its mentions; of a relation between concepts, those of all their mentions.
        probability: the score that it states, or `UNKNOWN`.
        facts: of the relation and of its mentions, such as ``negated``.
    """

    subject: str
    object: str
    type: str
    places: tuple[Fragments, ...]
    section: str
    sources: frozenset[str]
    probability: float
    facts: frozenset[str]


def relations_of(
    document: Document, evidence: DocumentConcepts, *, identify: Callable[[str], str]
) -> tuple[list[ConceptRelation], int]:
    """Returns the relations between the concepts of a document, and how many are left out, as their
    ends are not two of its concepts: they are NIL, ambiguous, no longer there, one and the same, or
    more than two. What several layers state of the same words counts once.

    Args:
        document: with relations.
        evidence: of the document.
        identify: see `fascicle.graph.evidence.evidence_of`.
    """
    if not document.relations:
        return [], 0
    ends, left_out = _Ends.of(document, evidence, identify), 0
    distinct = dict[tuple[object, ...], ConceptRelation]()
    for relation in document.relations:
        stated = list(ends.join(relation))
        left_out += not stated
        for each in stated:
            before = distinct.get(each[:4])
            distinct[each[:4]] = each if before is None else _united(before, each)
    return list(distinct.values()), left_out


def _united(first: ConceptRelation, other: ConceptRelation) -> ConceptRelation:
    return first._replace(
        sources=first.sources | other.sources,
        probability=max(first.probability, other.probability),
        facts=first.facts | other.facts,
    )


@dataclass(frozen=True, kw_only=True)
class _Ends:
    """What the concepts of a document are called in relations.

    Attributes:
        evidence: of the document.
        by_key: concepts of each mention.
        by_name: concepts of each identifier of a link, with and without its prefix.
        occurrences: concept and place of each occurrence.
    """

    evidence: DocumentConcepts
    by_key: Mapping[MentionKey, Mapping[str, None]]
    by_name: Mapping[str, Mapping[str, None]]
    occurrences: Mapping[tuple[str, Fragments], ConceptMention]

    @classmethod
    def of(
        cls, document: Document, evidence: DocumentConcepts, identify: Callable[[str], str]
    ) -> _Ends:
        by_key = defaultdict[MentionKey, dict[str, None]](dict)
        by_name = defaultdict[str, dict[str, None]](dict)
        for mention, link in answers_of(document):
            if curie := named_concept(link):
                by_key[mention.key][identify(curie)] = None
                for name in filter(None, (link.id, link_text(link), curie)):
                    by_name[name][identify(curie)] = None
        occurrences = {(each.concept, each.mention.spans): each for each in evidence.occurrences}
        return cls(evidence=evidence, by_key=by_key, by_name=by_name, occurrences=occurrences)

    def join(self, relation: Relation) -> Iterator[ConceptRelation]:
        """Yields a relation for each concept of its two ends."""
        if relation.arguments:
            yield from self._join_mentions(relation)
            return
        facts = [fact for fact in relation.attributes if fact[0] != SCORE]
        roles = [(name, self.by_name[value]) for name, value in facts if value in self.by_name]
        if len(roles) == 2 and all(len(names) == 1 for _, names in roles):  # or it is ambiguous
            (role, (subject,)), (second_role, (other,)) = roles
            if _is_turned(role, second_role, subject, other):
                subject, other = other, subject
            if subject != other:
                both = (*self.evidence.concepts[subject], *self.evidence.concepts[other])
                sources = frozenset().union(*[each.sources for each in both])
                yield _stated(relation, subject, other, sources=sources)

    def _join_mentions(self, relation: Relation) -> Iterator[ConceptRelation]:
        if len(relation.arguments) != 2:
            return
        (role, key), (second_role, second_key) = relation.arguments
        options = self.by_key.get(key, ()), self.by_key.get(second_key, ())
        for names in product(*options):
            if names[0] == names[1]:
                continue
            subject = self.occurrences[names[0], key[2]]
            other = self.occurrences[names[1], second_key[2]]
            if _is_turned(role, second_role, *names):
                subject, other = other, subject
            yield _stated(
                relation,
                subject.concept,
                other.concept,
                places=(subject.mention.spans, other.mention.spans),
                section=min((end.mention.start, end.section) for end in (subject, other))[1],
                sources=subject.sources | other.sources,
                facts=subject.facts | other.facts,
            )


def _is_turned(role: str, second_role: str, first: str, second: str) -> bool:
    """Returns whether the concepts of two ends change places: their roles give no direction, and
    they are not in the order of the alphabet.
    """
    return (role == second_role or {role, second_role} == _FREE) and second < first


def _stated(
    relation: Relation,
    subject: str,
    other: str,
    *,
    places: tuple[Fragments, ...] = (),
    section: str = NO_SECTION,
    sources: frozenset[str],
    facts: frozenset[str] = frozenset(),
) -> ConceptRelation:
    return ConceptRelation(
        subject=subject,
        object=other,
        type=relation.type.replace("|", " "),
        places=places,
        section=section,
        sources=sources,
        probability=_score_of(relation),
        facts=facts.union(facts_of(relation)),
    )


def _score_of(relation: Relation) -> float:
    """Returns the probability that a relation states, or `UNKNOWN`."""
    try:
        score = float(dict(relation.attributes).get(SCORE, UNKNOWN))
    except ValueError:
        return UNKNOWN
    return score if 0.0 <= score <= 1.0 else UNKNOWN
