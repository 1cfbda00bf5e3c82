"""Texts as a network sees them, and what a model folder says of itself, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fascicle.core.mention import Span
from fascicle.settings.folders.manifest import Manifest, ScoreDecision
from fascicle.settings.heads import AnyHead
from fascicle.settings.inputs import TokenizerFacts
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.windows import Window

TYPES = ("Chemical", "Disease")


def pieces_of(sentences: Sequence[Sequence[int]]) -> Pieces:
    """Sentences as the numbers of pieces of their words; 0 is a piece of no word. A piece is one
    character.
    """
    unit_of: list[int] = []
    units: list[tuple[int, int]] = []
    bounds: list[tuple[int, int]] = []
    for words in sentences:
        begin = len(unit_of)
        for count in words:
            units += [(len(unit_of), len(unit_of) + count)] if count else []
            unit_of += [len(units) - 1] * count or [-1]
        bounds.append((begin, len(unit_of)))
    ids, ranges = np.arange(len(unit_of)), np.array(units, dtype=np.int64).reshape(-1, 2)
    return Pieces(
        ids=ids,
        spans=np.stack([ids, ids + 1], axis=1),
        units=ranges,
        first=ranges[:, 0].copy(),
        unit_of=np.array(unit_of, dtype=np.int64),
        sentences=np.array(bounds, dtype=np.int64).reshape(-1, 2),
    )


def pieces_at(words: Sequence[Span], sentences: Sequence[int]) -> Pieces:
    """Words of one piece each at their characters, in sentences of so many words."""
    places = np.array(words, dtype=np.int64).reshape(-1, 2)
    ends = np.cumsum(sentences, dtype=np.int64)
    return Pieces(
        ids=np.zeros(len(places), dtype=np.int64),
        spans=places,
        units=places,
        first=np.arange(len(places)),
        unit_of=np.arange(len(places)),
        sentences=np.stack([ends - sentences, ends], axis=1).astype(np.int64).reshape(-1, 2),
    )


def chain_of(chance: np.random.Generator, tags: int, *, scale: float = 1.0) -> dict[str, Any]:
    """The random tables of a linear chain: "transitions", "start" and "end"."""
    shapes = {"transitions": (tags, tags), "start": (tags,), "end": (tags,)}
    return {name: scale * chance.normal(size=shape) for name, shape in shapes.items()}


def whole_window(units: int) -> Window:
    """The window over a text of units of one piece each."""
    whole = (0, units)
    return Window(document=0, pieces=whole, units=whole, keep=whole, segment=whole)


def manifest_of(
    head: AnyHead,
    tokenizer: PieceTokenizer | None = None,
    *,
    types: tuple[str, ...] = TYPES,
    reading: ReadingSettings | None = None,
    **decision: Any,
) -> Manifest:
    """That of a model named "tested" with one head, and further fields of its decision."""
    facts = {
        name: getattr(tokenizer, name, value)
        for name, value in (("prefix", (2,)), ("suffix", (3,)), ("pad", 0))
    }
    return Manifest(
        name="tested",
        fascicle="0",
        runtime="torch",
        types=types,
        heads={"one": head},
        reading=reading or ReadingSettings(),
        tokenizer=TokenizerFacts(sha256="", **facts),
        decision=ScoreDecision(answer="one", decoding=head.decoding, **decision),
    )
