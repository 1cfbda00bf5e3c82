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

from fascicle.core.arrays import Bools, Floats, Ints, int_array
from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import Span
from fascicle.errors import InputError
from fascicle.models.nn.span_reader import SpanBatch, span_batch
from fascicle.models.span_typer import WordVocabulary
from fascicle.settings.recipes.typer import SpanTyperSettings
from fascicle.text.segment import Surface, SurfaceReader, segmenter

_Taught = tuple[tuple[int, ...], int]  # rows of the words of a span, and the class that it has


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
        return _training_spans(keys, (keys >= 0).sum(axis=1), weights)


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
    documents: Sequence[Document], vocabulary: WordVocabulary, settings: SpanTyperSettings
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
    types = tuple(sorted({mention.type for _, mention in _gold(readers)}))
    _check_types(types, settings)
    pairs = training_pairs(readers)
    counts = Counter(
        (tuple(map(vocabulary.row, surface)), types.index(name)) for surface, name in pairs
    )
    facts, pool = _facts(readers, pairs, vocabulary), None
    if settings.nothing:
        text = _read_tokens(readers, vocabulary)
        pool = _count_nothing(text, classes=len(types) + 1, width=settings.width, counts=counts)
        facts["places_without_mention"] = len(pool.starts)
        facts["never_found"] = sum(
            not _findable(reader, mention, settings.width) for reader, mention in _gold(readers)
        )
    spans = _gather(counts, len(types) + settings.nothing)
    return TyperData(types=types, taught=spans, pool=pool, pairs=pairs, facts=facts)


def _check_types(types: Sequence[str], settings: SpanTyperSettings) -> None:
    if not types:
        raise InputError("the training documents hold no mention; give annotated text")
    if len(types) == 1 and not settings.nothing:
        raise InputError(
            f"the corpus has one type, {types[0]!r}: there is nothing to choose between where "
            "spans are given; train with nothing = true to find mentions, or give a corpus with "
            "several types"
        )


def _gold(readers: Iterable[SurfaceReader]) -> Iterator[tuple[SurfaceReader, Mention]]:
    """Yields each gold mention, with the reader of its text."""
    for reader in readers:
        for mention in reader.document.layer(GOLD):
            yield reader, mention


def _fragments(readers: Iterable[SurfaceReader]) -> Iterator[tuple[SurfaceReader, Mention, Span]]:
    """Yields each fragment of each gold mention, with the reader of its text."""
    for reader, mention in _gold(readers):
        for fragment in mention.spans:
            yield reader, mention, fragment


def training_pairs(readers: Iterable[SurfaceReader]) -> list[tuple[Surface, str]]:
    """Returns the words and the type of each fragment of each gold mention, for baselines."""
    return [
        (reader.surface(fragment), mention.type)
        for reader, mention, fragment in _fragments(readers)
    ]


def _facts(
    readers: Sequence[SurfaceReader],
    pairs: Sequence[tuple[Surface, str]],
    vocabulary: WordVocabulary,
) -> dict[str, int]:
    words = [word for surface, _ in pairs for word in surface]
    places = [(reader, fragment) for reader, _, fragment in _fragments(readers)]
    mentions = [mention for _, mention in _gold(readers)]
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
    text: _Tokens, *, classes: int, width: int, counts: Counter[_Taught]
) -> _NegativePool:
    """Counts places where the words of a mention are no mention; returns the places whose words
    never are one.
    """
    strings = np.zeros(len(text.tokens), dtype=np.int64)  # number of the string at each place
    empty = int_array([])
    starts, widths = [empty], [empty]
    for size in range(1, min(width, len(text.tokens)) + 1):
        strings = text.number_strings(strings, size)
        is_gold = text.is_mention(size)
        names_mention = (np.bincount(strings[is_gold], minlength=len(strings)) > 0)[strings]

        inside = text.in_one_sentence(size)
        for start, count in _first_and_count(strings, inside & names_mention & ~is_gold):
            counts[text.string(start, size), classes - 1] += count
        free = np.flatnonzero(inside & ~names_mention)
        starts.append(free)
        widths.append(np.full(len(free), size))
    return _NegativePool(
        tokens=text.tokens,
        starts=np.concatenate(starts),
        widths=np.concatenate(widths),
        classes=classes,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tokens:
    """Words of all documents, one after the other; a place is the index of a word.

    Attributes:
        tokens: rows of the vectors, ``[n]``.
        sentences: number of the sentence of each word, ``[n]``.
        gold: fragments of mentions that begin and end with words, as ranges of words.
    """

    tokens: Ints
    sentences: Ints
    gold: set[Span]

    def number_strings(self, prefixes: Ints, size: int) -> Ints:
        """Numbers the strings of ``size`` words, equal ones alike, for each place where one begins.

        A string is identified by that of its words but the last, and by the last word: no string
        is built.

        Args:
            prefixes: numbers of the strings that are one word shorter.
            size: words of a string.
        """
        last = len(self.tokens) - size + 1
        keys = prefixes[:last] * (int(self.tokens.max()) + 1) + self.tokens[size - 1 :]
        return np.unique(keys, return_inverse=True)[1]

    def in_one_sentence(self, size: int) -> Bools:
        """Returns for each place whether the words from there lie in one sentence."""
        return self.sentences[: len(self.tokens) - size + 1] == self.sentences[size - 1 :]

    def is_mention(self, size: int) -> Bools:
        """Returns for each place whether the words from there are a gold mention."""
        mask = np.zeros(len(self.tokens) - size + 1, dtype=np.bool_)
        mask[[start for start, end in self.gold if end - start == size]] = True
        return mask

    def string(self, start: int, size: int) -> tuple[int, ...]:
        """Returns the words from a place on."""
        return tuple(self.tokens[start : start + size].tolist())


def _read_tokens(readers: Sequence[SurfaceReader], vocabulary: WordVocabulary) -> _Tokens:
    tokens, sentences, gold, number = list[int](), list[int](), set[Span](), 0
    for reader in readers:
        first, text = len(tokens), reader.document.text
        tokens += [vocabulary.row(text[start:end]) for start, end in reader.words]
        for begin, stop in reader.sentences:
            sentences += [number] * (stop - begin)
            number += 1
        for _, _, fragment in _fragments([reader]):
            if (place := reader.aligned(fragment)) is not None:
                gold.add((first + place[0], first + place[1]))
    return _Tokens(
        tokens=np.array(tokens, np.int64), sentences=np.array(sentences, np.int64), gold=gold
    )


def _first_and_count(grams: Ints, mask: Bools) -> Iterator[tuple[int, int]]:
    """Yields one place and the number of places of each string among the chosen places."""
    places = np.flatnonzero(mask)
    _, first, count = np.unique(grams[places], return_index=True, return_counts=True)
    yield from zip(places[first].tolist(), count.tolist(), strict=True)


def _gather(counts: Counter[_Taught], classes: int) -> TrainingSpans:
    rows_of_spans = sorted({rows for rows, _ in counts})
    distinct = {rows: place for place, rows in enumerate(rows_of_spans)}
    lengths = int_array(list(map(len, distinct)))
    table = np.full((len(distinct), int(lengths.max())), -1, dtype=np.int64)
    weights = np.zeros((len(distinct), classes))
    for rows, place in distinct.items():
        table[place, : len(rows)] = rows
    for (rows, of), count in counts.items():
        weights[distinct[rows], of] += count
    return _training_spans(table, lengths, weights)


def _training_spans(table: Ints, lengths: Ints, weights: Floats) -> TrainingSpans:
    inside = np.arange(table.shape[1]) < lengths[:, None]
    used, places = np.unique(table[inside], return_inverse=True)
    words = np.zeros_like(table)
    words[inside] = places
    return TrainingSpans(
        rows=torch.from_numpy(used),
        batch=span_batch(words, lengths),
        counts=torch.from_numpy(weights).float(),
    )
