"""What a document is about: the order of its concepts against the major MeSH headings of MEDLINE.

Indexers of MEDLINE mark headings as major topics. A good order has the concepts with these headings
first. Only concepts that are MeSH descriptors count, because headings are nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.document import Document
from fascicle.graph.concepts import WEIGHTS, weight_of
from fascicle.graph.evidence import ConceptMention, evidence_of
from fascicle.text.segment import segmenter

FIRST: Final = 5  # concepts whose precision counts
_DESCRIPTOR: Final = "MESH:D"
_SECTIONS: Final = ("title", "abstract", "introduction", "objective", "methods", "results")
_TRIED: Final = MappingProxyType(
    dict.fromkeys((*_SECTIONS, "conclusions"), (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0))
)
_ROUNDS: Final = 2  # in which each weight is chosen anew
_MARK = "*"  # of a major topic, see `fascicle.formats.medline`


class Topics(NamedTuple):
    """Descriptors in one document: by number of mentions, of equals the one mentioned first.

    Attributes:
        mentions: of each descriptor: section -> number.
        is_major: whether each is a major heading of the citation.
        missing: major headings that no mention is linked to.
    """

    mentions: tuple[Mapping[str, int], ...]
    is_major: tuple[bool, ...]
    missing: int

    @property
    def is_ranked(self) -> bool:
        """True if the order can be right or wrong: some descriptors are major, and some are not."""
        return len(set(self.is_major)) > 1


def major_headings(document: Document) -> frozenset[str]:
    """Returns the descriptors that are major headings of a citation of MEDLINE, as CURIEs."""
    headings = document.meta.get("mesh", "").split("|")
    return frozenset(
        f"MESH:{heading.partition('/')[0].rstrip(_MARK)}"
        for heading in headings
        if _MARK in heading
    )


def read_topics(
    documents: Iterable[Document], headings: Mapping[str, frozenset[str]]
) -> Iterator[Topics]:
    """Yields the descriptors of each document that has major headings.

    Args:
        documents: with links.
        headings: id of a document -> its major headings, see `major_headings`.
    """
    rules = segmenter("rules@1")
    for document in documents:
        if major := headings.get(document.id):
            places: dict[str, Counter[str]] = {}
            for occurrence in evidence_of(document, rules).occurrences:
                for descriptor in _descriptors(occurrence):
                    places.setdefault(descriptor, Counter())[occurrence.section] += 1
            order = sorted(places, key=lambda descriptor: -places[descriptor].total())
            is_major = tuple(descriptor in major for descriptor in order)
            counts = tuple(places[descriptor] for descriptor in order)
            yield Topics(counts, is_major, len(major - places.keys()))


def _descriptors(occurrence: ConceptMention) -> set[str]:
    curies = (occurrence.concept, *occurrence.link.same)
    return {curie for curie in curies if curie.startswith(_DESCRIPTOR)}


def rank_scores(topics: Topics, weights: Mapping[str, float]) -> list[float]:
    """Returns the weight of each descriptor: the sum over its mentions, see `weight_of`."""
    return [
        sum(weight_of(section, weights) * count for section, count in mentions.items())
        for mentions in topics.mentions
    ]


def area_under_curve(scores: Sequence[float], is_major: Sequence[bool]) -> float:
    """Returns the share of pairs of a major and another concept in which the major one has the
    higher score; equal scores count half.

    Area under the ROC curve: Hanley and McNeil 1982, Radiology 143.
    """
    values, major = np.asarray(scores), np.asarray(is_major)
    differences = values[major][:, None] - values[~major][None, :]
    return float(np.mean((differences > 0) + 0.5 * (differences == 0)))


def precision_at(scores: Sequence[float], is_major: Sequence[bool], first: int = FIRST) -> float:
    """Returns the share of major ones among the first concepts, or among all if there are fewer;
    of equal scores the concept of a smaller number goes before.
    """
    order = sorted(range(len(scores)), key=lambda at: -scores[at])[:first]
    return sum(is_major[at] for at in order) / len(order)


def choose_weights(
    topics: Sequence[Topics], start: Mapping[str, float] = WEIGHTS
) -> dict[str, float]:
    """Returns weights of sections with the highest mean area, chosen one after the other.

    Args:
        topics: of documents whose `Topics.is_ranked`, other than those that are scored.
        start: weights that stay where no other is better.
    """
    weights, best = dict(start), _mean_area(topics, start)
    for section, values in tuple(_TRIED.items()) * _ROUNDS:
        for value in values:
            area = _mean_area(topics, {**weights, section: value})
            if area > best + 1e-9:
                weights, best = {**weights, section: value}, area
    return weights


def _mean_area(topics: Sequence[Topics], weights: Mapping[str, float]) -> float:
    areas = [area_under_curve(rank_scores(each, weights), each.is_major) for each in topics]
    return float(np.mean(areas))
