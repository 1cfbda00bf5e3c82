"""Scores of a span typer on gold: types of given mentions, beside two baselines, and mentions that
it finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from fascicle.core.arrays import Floats
from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Fragments
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.evaluation.scoring.typing import (
    PublishedProtocol,
    TypedMention,
    TypeLookup,
    TypingScores,
    published_protocol_f1,
    score_typing,
)
from fascicle.formats.distributions import MentionDistribution
from fascicle.models.span_typer import TyperModel
from fascicle.text.segment import SurfaceReader
from fascicle.training.typer.data import training_pairs


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenMention:
    """Gold mention with the predictions of the model.

    Attributes:
        document: id.
        spans: of the mention.
        gold: its type.
        probabilities: of each type of the model, fragment by fragment, ``[fragments, K]``.
        predicted: the most probable type of each fragment.
    """

    document: str
    spans: Fragments
    gold: str
    probabilities: Floats = field(repr=False)
    predicted: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TyperScores:
    """Scores of one part of a corpus.

    Attributes:
        typing: of given mentions.
        majority: the same for the most frequent type of train as every answer.
        lookup: the same for the most frequent type of the string in train as the answer.
        words: in the given mentions.
        words_without_vector: those of them that the vectors do not know.
        recognition: of finding mentions, strictly; only for models with a class "no mention".
    """

    typing: TypingScores
    majority: TypingScores
    lookup: TypingScores
    words: int
    words_without_vector: int
    recognition: Scores | None = None

    @property
    def published(self) -> PublishedProtocol | None:
        """Numbers of the paper's Table 2, not those of recognition; ``None`` where all are
        discontinuous.
        """
        typing = self.typing
        if not typing.contiguous:
            return None
        return published_protocol_f1(
            typing.contiguous_right,
            typing.contiguous,
            discontinuous=typing.discontinuous,
            discontinuous_right=typing.discontinuous_right,
        )

    def as_dict(self) -> dict[str, Any]:
        """Returns the scores for JSON."""
        return {
            "typing": self.typing.as_dict(),
            "majority_accuracy": self.majority.accuracy,
            "lookup_accuracy": self.lookup.accuracy,
            "published_protocol": asdict(self.published) if self.published is not None else None,
            "words": self.words,
            "words_without_vector": self.words_without_vector,
            "found": None if self.recognition is None else self.recognition.as_dict(),
        }


def given_mentions(model: TyperModel, documents: Sequence[Document]) -> list[GivenMention]:
    """Types the gold mentions of documents."""
    pairs = [(document, mention) for document in documents for mention in document.layer(GOLD)]
    spans = [_gold_spans(document) for document in documents]
    tables = model.type_fragments(documents, spans)
    return [
        GivenMention(
            document=document.id,
            spans=mention.spans,
            gold=mention.type,
            probabilities=table,
            predicted=tuple(model.types[i] for i in table.argmax(axis=1)),
        )
        for (document, mention), table in zip(pairs, tables, strict=True)
    ]


def _gold_spans(document: Document) -> list[Fragments]:
    return [mention.spans for mention in document.layer(GOLD)]


def to_distributions(
    mentions: Iterable[GivenMention], types: Sequence[str]
) -> Iterator[MentionDistribution]:
    """Yields given mentions in the form of a distributions file.

    The probability over several fragments is the geometric mean of theirs, scaled to sum to 1. The
    class None has the probability 0, because a mention was given; a mention counts as found if all
    of its fragments got its type.

    Args:
        mentions: typed mentions.
        types: of the model.
    """
    for mention in mentions:
        has_type = mention.gold in types
        logs = np.log(np.maximum(mention.probabilities, np.finfo(np.float64).tiny)).mean(axis=0)
        whole = np.exp(logs - logs.max())
        yield MentionDistribution(
            document=mention.document,
            spans=mention.spans,
            type=mention.gold,
            found=all(predicted == mention.gold for predicted in mention.predicted),
            probabilities=(0.0, *(whole / whole.sum()).tolist()) if has_type else (),
            unreachable="" if has_type else "unknown-type",
        )


def score_typer(
    model: TyperModel,
    documents: Sequence[Document],
    lookup: TypeLookup,
    *,
    mentions: Sequence[GivenMention] | None = None,
) -> TyperScores:
    """Scores a model on gold documents.

    Args:
        model: trained.
        documents: with gold mentions, at least one.
        lookup: of the training text.
        mentions: their mentions with the types of the model, if already computed.
    """
    mentions = given_mentions(model, documents) if mentions is None else mentions
    typed = [TypedMention(gold=mention.gold, predicted=mention.predicted) for mention in mentions]
    readers = [model.reader(document) for document in documents]
    recognition = None
    if model.manifest.settings.nothing:
        patches = model.predict(documents)
        predicted = {
            document.id: patch.add for document, patch in zip(documents, patches, strict=True)
        }
        recognition = score(layers(documents), predicted)
    words, unknown = word_counts(model, documents)
    return TyperScores(
        typing=score_typing(typed),
        words=words,
        words_without_vector=unknown,
        majority=score_typing(_look_up(readers, lookup.always_majority)),
        lookup=score_typing(_look_up(readers, lookup)),
        recognition=recognition,
    )


def word_counts(model: TyperModel, documents: Sequence[Document]) -> tuple[int, int]:
    """Returns the number of words in gold mentions, and of those without a vector."""
    words = [
        word for surface, _ in training_pairs(map(model.reader, documents)) for word in surface
    ]
    return len(words), sum(not model.vocabulary.knows(word) for word in words)


def _look_up(readers: Sequence[SurfaceReader], lookup: TypeLookup) -> list[TypedMention]:
    return [
        TypedMention(
            gold=mention.type,
            predicted=tuple(lookup.type_of(reader.surface(fragment)) for fragment in mention.spans),
        )
        for reader in readers
        for mention in reader.document.layer(GOLD)
    ]
