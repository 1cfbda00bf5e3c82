"""The finder of relations at work. It sees texts with mentions, and knows no torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

import msgspec
import numpy as np

from fascicle.core.arrays import Floats, Floats32, Ints
from fascicle.core.document import Document, Event, Mention, Patch, Relation
from fascicle.core.effects import make_event
from fascicle.core.mention import RELATE, SCORE, is_scored
from fascicle.core.wording import plural
from fascicle.runtime.decoding.selection import apply_temperature, round_scores
from fascicle.settings.recipes.relations import RelationLabel, RelationManifest
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import read_documents
from fascicle.text.relations import (
    MentionPairs,
    PairPassage,
    cut_passages,
    list_pairs,
    pad_passages,
)
from fascicle.text.segment import all_sentences, segmenter
from fascicle.text.windows import Batch

LOGITS: Final = "logits"


class _PairScorer(Protocol):
    """The network: a batch in, ``"logits"`` ``[P, 1 + L]`` out, first of "not related"."""

    def run(self, inputs: Batch) -> Mapping[str, Floats32]:
        """Scores one batch of ``text.relations.pad_passages``."""


class Statements(msgspec.Struct, frozen=True, kw_only=True):
    """Statements that a text may make, and their probabilities.

    Attributes:
        pairs: evidence of them.
        chances: probability of each label, first of "not related", ``[S, 1 + L]``; a statement of
            which no pair could be read is not related.
        evidence: logits of each pair, of one that no passage holds all minus infinity, ``[P, 1 +
            L]``.
    """

    pairs: MentionPairs
    chances: Floats
    evidence: Floats

    @property
    def unread(self) -> int:
        """Pairs that no passage holds."""
        return int(np.isneginf(self.evidence[:, 0]).sum())

    @property
    def best(self) -> Ints:
        """Most probable label of each statement besides "not related", from 0, ``[S]``."""
        best: Ints = self.chances[:, 1:].argmax(axis=1)
        return best

    @property
    def scores(self) -> Floats:
        """Probability of each statement that its ends are related at all, ``[S]``."""
        scores: Floats = 1.0 - self.chances[:, 0]
        return scores


class RelationFinder:
    """Finder of relations between the mentions of documents. The relations of a document do not
    depend on other documents.

    Attributes:
        manifest: of the finder.
        scorer: the network.
    """

    def __init__(
        self, manifest: RelationManifest, tokenizer: PieceTokenizer, scorer: _PairScorer
    ) -> None:
        """Puts the parts together.

        Args:
            manifest: of the finder.
            tokenizer: of the network.
            scorer: the network.
        """
        self.manifest = manifest
        self.scorer = scorer
        self._tokenizer = tokenizer

    @property
    def name(self) -> str:
        """Name of the finder."""
        return self.manifest.name

    def relate(
        self, documents: Sequence[Document], mentions_of: Sequence[Sequence[Mention]]
    ) -> list[Patch]:
        """Finds relations.

        Args:
            documents: with their texts.
            mentions_of: mentions of each document, in canonical order; between concepts, with
                links.

        Returns:
            One patch per document: the relations, each with the probability that its ends are
            related as the attribute ``score``, in place of those of the same types with a score
            that the document has between these mentions, and events.
        """
        several = zip(documents, mentions_of, self.read(documents, mentions_of), strict=True)
        return [
            Patch(
                relations=tuple(self._sure_enough(stated).values()),
                drop_relations=self._earlier(document, mentions),
                events=_events(stated),
            )
            for document, mentions, stated in several
        ]

    def explain(self, document: Document, mentions: Sequence[Mention]) -> list[str]:
        """Returns a line for each relation of a document: its ends and score, the number of
        pairs of mentions that are evidence of it, and the pair that counts most.

        Args:
            document: with its text.
            mentions: see `relate`.
        """
        (stated,) = self.read([document], [mentions])
        return [
            f"{relation.type} {_ends_of(stated.pairs, at, document)} "
            f"{dict(relation.attributes)[SCORE]}: {_evidence(stated, at, document)}"
            for at, relation in self._sure_enough(stated).items()
        ]

    def _sure_enough(self, stated: Statements) -> dict[int, Relation]:
        """Returns the number of each statement that is sure enough -> the relation."""
        scores = self.calibrated(stated.scores)
        labels, best = self.manifest.labels, stated.best
        return {
            at: make_relation(stated.pairs, at, labels[best[at]], score=float(scores[at]))
            for at in np.flatnonzero(scores >= self.manifest.threshold.value).tolist()
        }

    def _earlier(self, document: Document, mentions: Sequence[Mention]) -> tuple[Relation, ...]:
        """Returns what an earlier run has found; relations of the gold have no score."""
        types = self.manifest.types
        sources = {mention.source for mention in mentions}
        of_concepts = self.manifest.pairs.between == "concepts"
        return tuple(
            relation
            for relation in document.relations
            if relation.type in types
            and is_scored(relation)
            and bool(relation.arguments) != of_concepts
            and relation.sources <= sources
        )

    def read(
        self, documents: Sequence[Document], mentions_of: Sequence[Sequence[Mention]]
    ) -> Iterator[Statements]:
        """Yields the statements of each document, with probabilities that are not calibrated; see
        `relate`.
        """
        for document, mentions in zip(documents, mentions_of, strict=True):
            pairs, passages = read_pairs(document, mentions, self.manifest, self._tokenizer)
            evidence = np.full((len(pairs.rows), 1 + len(self.manifest.labels)), -np.inf)
            for passage in passages:
                batch = pad_passages([passage], self._tokenizer)
                evidence[passage.numbers] = self.scorer.run(batch)[LOGITS]
            yield Statements(pairs=pairs, chances=_chances(pairs, evidence), evidence=evidence)

    def calibrated(self, scores: Floats) -> Floats:
        """Returns probabilities of `Statements.scores` as relations have them."""
        curve = self.manifest.calibration
        return round_scores(apply_temperature(scores, curve.temperature) if curve else scores)


def read_pairs(
    document: Document,
    mentions: Sequence[Mention],
    manifest: RelationManifest,
    tokenizer: PieceTokenizer,
) -> tuple[MentionPairs, list[PairPassage]]:
    """Returns the pairs of a document, and the passages in which they are read; the same in
    training and at work.
    """
    reading, settings = manifest.reading, manifest.pairs
    sentences = all_sentences(document, segmenter(reading.segmenter))
    pairs = list_pairs(mentions, sentences=sentences, settings=settings)
    if not len(pairs.rows):
        return pairs, []
    cut = read_documents([document], tokenizer, reading=reading, level="piece")
    (pieces,), (windows,) = cut.pieces, cut.windows
    return pairs, list(cut_passages(pieces, windows, pairs, settings=settings))


def make_relation(pairs: MentionPairs, at: int, label: RelationLabel, *, score: float) -> Relation:
    """Returns a statement as a relation.

    Args:
        pairs: with the statement.
        at: its number.
        label: its type and roles.
        score: the probability that its ends are related.
    """
    ends = pairs.ends[at][::-1] if label.turned else pairs.ends[at]
    stated = tuple(zip(label.roles, ends, strict=True))
    sure = ((SCORE, f"{score:g}"),)
    if isinstance(ends[0], str):
        return Relation(type=label.type, attributes=(*stated, *sure))  # type: ignore[arg-type]
    return Relation(type=label.type, arguments=stated, attributes=sure)  # type: ignore[arg-type]


def _chances(pairs: MentionPairs, evidence: Floats) -> Floats:
    """Returns the probabilities of statements by the logits of their pairs."""
    total = np.full((len(pairs.ends), evidence.shape[1]), -np.inf)
    np.logaddexp.at(total, pairs.rows[:, 2], evidence)
    total[np.isneginf(total[:, 0]), 0] = 0.0
    total -= total.max(axis=1, keepdims=True, initial=-np.inf)
    chances: Floats = np.exp(total)
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _ends_of(pairs: MentionPairs, at: int, document: Document) -> str:
    """Returns the concepts of a statement, or the words of its mentions."""
    return " and ".join(
        end if isinstance(end, str) else repr(Mention(end[2], end[1]).text_in(document.text))  # type: ignore[index]
        for end in pairs.ends[at]
    )


def _evidence(stated: Statements, at: int, document: Document) -> str:
    """Says how many pairs a statement has, which counts most, and its share of the evidence."""
    pairs = stated.pairs
    own = np.flatnonzero(pairs.rows[:, 2] == at)
    weights = np.exp(stated.evidence[own, 1 + stated.best[at]])
    first = own[weights.argmax()]
    words = [repr(pairs.mentions[row].text_in(document.text)) for row in pairs.rows[first, :2]]
    apart = plural(int(pairs.distance[first]), "sentence")
    share = 100 * weights.max() / weights.sum()
    return (
        f"{plural(len(own), 'pair')} of mentions; {words[0]} and {words[1]}, {apart} apart, count "
        f"most ({share:.0f} %)"
    )


def _events(stated: Statements) -> tuple[Event, ...]:
    count = stated.pairs.left_out + stated.unread
    if not count:
        return ()
    message = (
        f"{plural(count, 'pair')} of mentions not read: more, or farther, than the finder reads"
    )
    return (make_event("pairs-left-out", step=RELATE, message=message),)
