"""Draws example sentences of types from the training part, for a bi-encoder that reads them
(*binder* Table 5).

An instance is a sentence with one of its mentions marked. The draw depends on the sentences and on
the seed, and not on the order of the sentences.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fascicle.core.document import GOLD, Document
from fascicle.core.wording import has_letters, plural
from fascicle.errors import RecipeError
from fascicle.models.encoder import Pretrained
from fascicle.settings.heads import FEWEST_INSTANCES
from fascicle.settings.types import (
    CLOSING,
    MAX_CHARACTERS,
    MAX_WORDS,
    OPENING,
    TypeDescription,
    TypeDescriptions,
    parse_instance,
)
from fascicle.text.segment import Segmenter, all_sentences, segmenter

_STREAM = 7  # of random numbers, apart from those of other draws with the seed


@dataclass(frozen=True, kw_only=True)
class DrawSettings:
    """Settings of the random draw of instances.

    Attributes:
        number: greatest number for each type.
        seed: of the run.
        segmenter: of sentences, for documents that have none.
    """

    number: int
    seed: int
    segmenter: str


def draw_types(
    documents: Sequence[Document],
    types: Sequence[str],
    pretrained: Pretrained,
    *,
    draw: DrawSettings,
) -> TypeDescriptions:
    """Builds descriptions of types from sentences of the training part.

    A sentence is left out if it is too long for the encoder or for a description, if it has only
    unknown words, or if the same mention in it has several types.

    Args:
        documents: with gold.
        types: the types that are to be described.
        pretrained: encoder that reads the sentences.
        draw: settings of the draw.

    Raises:
        RecipeError: a type has fewer sentences than inference reads, or its name cannot describe
            it.
    """
    segment, kinds = segmenter(draw.segmenter), frozenset(types)
    examples = sorted(
        {example for document in documents for example in _examples(document, kinds, segment)}
    )
    pieces = _pieces([text for text, _ in examples], pretrained)
    sentences = _distinct_sentences(examples, pieces, types)
    chance = np.random.default_rng((draw.seed, _STREAM))
    instances = {
        name: _choose(texts, draw.number, chance) for name, texts in sorted(sentences.items())
    }
    return _describe(instances)


def _distinct_sentences(
    examples: Sequence[tuple[str, str]], pieces: Sequence[tuple[int, ...]], types: Iterable[str]
) -> dict[str, list[str]]:
    """Returns the sentences of each type: of those with equal pieces the first, and none that have
    several types.
    """
    owners = defaultdict[tuple[int, ...], set[str]](set)
    for (_, name), row in zip(examples, pieces, strict=True):
        owners[row].add(name)
    sentences: dict[str, list[str]] = {name: [] for name in types}
    for (text, name), row in zip(examples, pieces, strict=True):
        if row and len(owners.pop(row, ())) == 1:
            sentences[name].append(text)
    return sentences


def _choose(texts: Sequence[str], number: int, chance: np.random.Generator) -> tuple[str, ...]:
    return tuple(texts[at] for at in chance.permutation(len(texts))[:number].tolist())


def _describe(instances: dict[str, tuple[str, ...]]) -> TypeDescriptions:
    for name, texts in instances.items():
        if len(texts) < FEWEST_INSTANCES:
            raise RecipeError(
                f"train has {plural(len(texts), 'sentence')} that can stand for the type {name!r}, "
                f"and {FEWEST_INSTANCES} are read: describe the types in a file (model.types), or "
                "leave the type out (corpus.types.drop)"
            )
    try:
        descriptions = [
            TypeDescription(name=name, description=name, examples=texts, source="drawn from train")
            for name, texts in instances.items()
        ]
        return TypeDescriptions(types=tuple(descriptions))
    except ValueError as error:
        raise RecipeError(f"instances of train cannot stand for the types: {error}") from None


def _examples(
    document: Document, types: frozenset[str], segment: Segmenter
) -> Iterator[tuple[str, str]]:
    """Yields sentences of a document with a mention in double brackets, and its type."""
    ranges = all_sentences(document, segment)
    for mention in document.layer(GOLD):
        if mention.type not in types or len(mention.spans) > 1:
            continue
        start, end = mention.start, mention.end
        around = next(((low, high) for low, high in ranges if low <= start and end <= high), None)
        if around is None:
            continue
        text = document.text
        bracketed = (
            f"{text[around[0] : start]}{OPENING}{text[start:end]}{CLOSING}{text[end : around[1]]}"
        )
        sentence = " ".join(bracketed.split())
        if _fits(sentence):
            yield sentence, mention.type


def _fits(sentence: str) -> bool:
    """True if it can be an example of a description."""
    if len(sentence) > MAX_CHARACTERS["example"] or len(sentence.split()) > MAX_WORDS["example"]:
        return False
    if any(unicodedata.category(character) == "Cc" for character in sentence):
        return False
    try:
        parse_instance(sentence)
    except ValueError:
        return False
    return True


def _pieces(texts: Sequence[str], pretrained: Pretrained) -> list[tuple[int, ...]]:
    """Returns the pieces of each example; empty if it is too long, or has no word of the
    vocabulary.
    """
    tokenizer = pretrained.tokenizer
    room = pretrained.encoder.longest - len(tokenizer.prefix) - len(tokenizer.suffix)
    sentences = [parse_instance(text).marked(" [ ", " ] ") for text in texts]
    rows = []
    for text, (ids, spans) in zip(sentences, tokenizer.encode(sentences), strict=True):
        readable = any(
            piece != tokenizer.unknown and has_letters(text[start:end])
            for piece, (start, end) in zip(ids.tolist(), spans.tolist(), strict=True)
        )
        rows.append(tuple(ids.tolist()) if readable and len(ids) <= room else ())
    return rows
