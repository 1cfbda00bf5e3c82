"""Training data of a span typer: distinct spans with counts, in place of single spans.

The authors' program goes through all mentions of the training text, one at a time, and takes one
step for all of them: its gradient is that of the sum over mentions. Spans with the same words have
the same input and so the same logits; hence one pass over distinct spans, each weighted by how
often it is taught as each class, has the same gradient.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import Span
from fascicle.errors import InputError
from fascicle.models.nn.span_reader import SpanBatch, span_batch
from fascicle.models.span_typer import Vocabulary
from fascicle.settings.recipes.typer import SpanTyperSettings
from fascicle.text.segment import Surface, SurfaceReader, segmenter


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingSpans:
    """Distinct spans with counts.

    Attributes:
        rows: of the vectors, of the words that occur, ``[V]``.
        batch: the spans over these words.
        counts: how often each is taught as each class, ``[S, C]``.
    """

    rows: Tensor
    batch: SpanBatch
    counts: Tensor

    def weighed(self, share: float) -> TrainingSpans:
        """Returns the spans with the counts of the last class, "no mention", multiplied by a
        share.
        """
        if share == 1.0:
            return self
        factors = torch.ones(self.counts.shape[1], dtype=self.counts.dtype)
        factors[-1] = share
        return TrainingSpans(rows=self.rows, batch=self.batch, counts=self.counts * factors)

    def to(self, device: torch.device) -> TrainingSpans:
        """Returns the spans on another device."""
        return TrainingSpans(
            rows=self.rows.to(device),
            batch=self.batch.to(device),
            counts=self.counts.to(device, torch.float32),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _NegativePool:
    """Places of spans that are no mention, and whose words are a mention nowhere.

    Attributes:
        tokens: rows of the vectors of all words of the training text, ``[n]``.
        starts: first word of each place, ``[m]``.
        widths: its words, ``[m]``.
        classes: of the model; "no mention" is the last one.
    """

    tokens: Ints
    starts: Ints
    widths: Ints
    classes: int

    def drawn(self, count: int, chance: np.random.Generator) -> TrainingSpans | None:
        """Draws places with equal chance, weighted so that the expected sum is that of all places.

        Args:
            count: number of places; 0 for all, each once.
            chance: draws.
        """
        if not len(self.starts):
            return None
        picked = (
            chance.integers(0, len(self.starts), count) if count else np.arange(len(self.starts))
        )
        widths = self.widths[picked]
        place = np.arange(int(widths.max()))
        inside = place < widths[:, None]
        table = self.tokens[np.minimum(self.starts[picked][:, None] + place, len(self.tokens) - 1)]
        keys, counts = np.unique(np.where(inside, table, -1), axis=0, return_counts=True)
        weights = np.zeros((len(keys), self.classes))
        weights[:, -1] = counts * (len(self.starts) / len(picked))
        return _taught(keys, (keys >= 0).sum(axis=1), weights)


@dataclass(frozen=True, kw_only=True, eq=False)
class TyperData:
    """Training data and facts of a span typer.

    Attributes:
        types: in the order of the classes.
        taught: spans that are a mention somewhere, with all their counts.
        pool: the other places, if the model learns "no mention".
        pairs: the words and the type of each fragment, in order, for baselines.
        facts: counts for ``run.json``.
    """

    types: tuple[str, ...]
    taught: TrainingSpans
    pool: _NegativePool | None
    pairs: list[tuple[Surface, str]]
    facts: dict[str, int]

    @property
    def balance(self) -> float:
        """Share by which "no mention" has as much weight as all mentions together."""
        counts = self.taught.counts
        nothing = float(counts[:, -1].sum()) + (
            len(self.pool.starts) if self.pool is not None else 0
        )
        return float(counts[:, :-1].sum()) / nothing if nothing else 1.0


def typer_data(
    documents: Sequence[Document], vocabulary: Vocabulary, settings: SpanTyperSettings
) -> TyperData:
    """Builds the training data. Each fragment of a discontinuous mention is a separate span.

    Args:
        documents: of training.
        vocabulary: of the vectors.
        settings: of the model.

    Raises:
        InputError: no mention, a mention without a word, or one type only where there is no class
            "no mention".
    """
    rules = segmenter(settings.segmenter)
    readers = [SurfaceReader(document, rules) for document in documents]
    types = tuple(
        sorted({mention.type for document in documents for mention in document.layer(GOLD)})
    )
    if not types:
        raise InputError("the training documents hold no mention; give annotated text")
    if len(types) == 1 and not settings.nothing:
        raise InputError(
            f"the corpus has one type, {types[0]!r}: there is nothing to choose between where "
            "spans are given; train "
            "with nothing = true to find mentions, or give a corpus with several types"
        )
    pairs = training_pairs(readers)
    counts = Counter(
        (tuple(map(vocabulary.row, surface)), types.index(name)) for surface, name in pairs
    )
    facts = _facts(readers, pairs, vocabulary)
    pool = None
    if settings.nothing:
        pool = _count_nothing(
            readers, vocabulary, classes=len(types) + 1, width=settings.width, counts=counts
        )
        facts["places_without_mention"] = len(pool.starts)
        mentions = (
            (reader, mention) for reader in readers for mention in reader.document.layer(GOLD)
        )
        facts["never_found"] = sum(
            not _findable(reader, mention, settings.width) for reader, mention in mentions
        )
    taught = _gathered(counts, len(types) + settings.nothing)
    return TyperData(types=types, taught=taught, pool=pool, pairs=pairs, facts=facts)


def _fragments(readers: Iterable[SurfaceReader]) -> Iterator[tuple[SurfaceReader, Mention, Span]]:
    """Yields each fragment of each gold mention, with the reader of its text."""
    for reader in readers:
        for mention in reader.document.layer(GOLD):
            for fragment in mention.spans:
                yield reader, mention, fragment


def training_pairs(readers: Iterable[SurfaceReader]) -> list[tuple[Surface, str]]:
    """Returns the words and the type of each fragment of each gold mention, for baselines."""
    return [
        (reader.surface(fragment), mention.type)
        for reader, mention, fragment in _fragments(readers)
    ]


def _facts(
    readers: Sequence[SurfaceReader], pairs: Sequence[tuple[Surface, str]], vocabulary: Vocabulary
) -> dict[str, int]:
    words = [word for surface, _ in pairs for word in surface]
    places = [(reader, fragment) for reader, _, fragment in _fragments(readers)]
    mentions = [mention for reader in readers for mention in reader.document.layer(GOLD)]
    return {
        "mentions": len(mentions),
        "discontinuous": sum(len(mention.spans) > 1 for mention in mentions),
        "fragments": len(pairs),
        "distinct_strings": len({surface for surface, _ in pairs}),
        "words_in_mentions": len(words),
        "words_without_vector": sum(not vocabulary.knows(word) for word in words),
        "across_sentences": sum(reader.crosses_sentences(fragment) for reader, fragment in places),
        "inside_words": sum(reader.aligned(fragment) is None for reader, fragment in places),
    }


def _findable(reader: SurfaceReader, mention: Mention, width: int) -> bool:
    """True if a mention is among the spans that are tried."""
    if len(mention.spans) > 1 or reader.crosses_sentences(mention.spans[0]):
        return False
    place = reader.aligned(mention.spans[0])
    return place is not None and place[1] - place[0] <= width


def _count_nothing(
    readers: Sequence[SurfaceReader],
    vocabulary: Vocabulary,
    *,
    classes: int,
    width: int,
    counts: Counter[tuple[tuple[int, ...], int]],
) -> _NegativePool:
    """Counts places where the words of a mention are no mention; returns the places whose words
    never are one.
    """
    tokens, sentence, starts_of = _all_tokens(readers, vocabulary)
    mentions = _gold_places(readers, starts_of)
    grams = np.zeros(len(tokens), dtype=np.int64)
    starts, widths = [], []
    for size in range(1, width + 1):
        last = len(tokens) - size + 1
        if last < 1:
            break
        # A string of n words is identified by that of its first n - 1 words and its last word: no
        # string is built.
        keys = grams[:last] * (int(tokens.max()) + 1) + tokens[size - 1 :]
        _, grams = np.unique(keys, return_inverse=True)
        inside = sentence[:last] == sentence[size - 1 :]
        is_gold = np.zeros(last, dtype=np.bool_)
        is_gold[[start for start, end in mentions if end - start == size]] = True
        known = np.bincount(grams[is_gold], minlength=len(keys)) > 0
        known_place = known[grams]
        for start, count in _first_and_count(grams, inside & known_place & ~is_gold):
            counts[tuple(tokens[start : start + size].tolist()), classes - 1] += count
        free = np.flatnonzero(inside & ~known_place)
        starts.append(free)
        widths.append(np.full(len(free), size))
    empty = np.zeros(0, dtype=np.int64)
    return _NegativePool(
        tokens=tokens,
        starts=np.concatenate([empty, *starts]),
        widths=np.concatenate([empty, *widths]),
        classes=classes,
    )


def _all_tokens(
    readers: Sequence[SurfaceReader], vocabulary: Vocabulary
) -> tuple[Ints, Ints, list[int]]:
    """Returns the rows of all words, the sentence of each, and the number of the first word of
    each document.
    """
    tokens, sentence, firsts, number = list[int](), list[int](), list[int](), 0
    for reader in readers:
        firsts.append(len(tokens))
        text = reader.document.text
        tokens += [vocabulary.row(text[start:end]) for start, end in reader.words]
        for begin, stop in reader.sentences:
            sentence += [number] * (stop - begin)
            number += 1
    return np.array(tokens, dtype=np.int64), np.array(sentence, dtype=np.int64), firsts


def _gold_places(readers: Sequence[SurfaceReader], firsts: Sequence[int]) -> set[Span]:
    """Returns fragments of mentions that begin and end with words, as ranges of words of all
    documents.
    """
    return {
        (first + place[0], first + place[1])
        for reader, first in zip(readers, firsts, strict=True)
        for _, _, fragment in _fragments([reader])
        if (place := reader.aligned(fragment)) is not None
    }


def _first_and_count(grams: Ints, chosen: Bools) -> Iterator[tuple[int, int]]:
    """Yields one place and the number of places of each string among the chosen places."""
    places = np.flatnonzero(chosen)
    _, first, count = np.unique(grams[places], return_index=True, return_counts=True)
    yield from zip(places[first].tolist(), count.tolist(), strict=True)


def _gathered(counts: Counter[tuple[tuple[int, ...], int]], classes: int) -> TrainingSpans:
    distinct = {rows: place for place, rows in enumerate(sorted({rows for rows, _ in counts}))}
    lengths = np.array([len(rows) for rows in distinct], dtype=np.int64)
    table = np.full((len(distinct), int(lengths.max())), -1, dtype=np.int64)
    weights = np.zeros((len(distinct), classes))
    for rows, place in distinct.items():
        table[place, : len(rows)] = rows
    for (rows, of), count in counts.items():
        weights[distinct[rows], of] += count
    return _taught(table, lengths, weights)


def _taught(table: Ints, lengths: Ints, weights: Floats) -> TrainingSpans:
    inside = np.arange(table.shape[1]) < lengths[:, None]
    used, places = np.unique(table[inside], return_inverse=True)
    words = np.zeros_like(table)
    words[inside] = places
    return TrainingSpans(
        rows=torch.from_numpy(used),
        batch=span_batch(words, lengths),
        counts=torch.from_numpy(weights).float(),
    )
