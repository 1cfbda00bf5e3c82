"""The pieces that a corpus needs most, for an encoder that is to be small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.document import Document
from fascicle.models.encoder import Pretrained
from fascicle.models.vocabulary import take_vocabulary
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.vocabulary import rewritten

_TEXTS = 256  # that are cut in one go


def with_pieces(pretrained: Pretrained, documents: Sequence[Document], *, pieces: int) -> tuple[Pretrained, str]:
    """Leaves out of an encoder's vocabulary what some texts need least.

    Args:
        pretrained: its table of pieces is exchanged.
        documents: whose texts are read in full.
        pieces: how many stay, beside special tokens, characters and bytes.

    Returns:
        The encoder with its new tokenizer, and what was left out, as a sentence.

    Raises:
        RecipeError: the tokenizer is not of the kind WordPiece.
    """
    tokenizer = pretrained.tokenizer
    counts = piece_counts(tokenizer, documents)
    found = rewritten(tokenizer, needed=most_frequent(counts, pieces))
    take_vocabulary(pretrained.encoder.network, found)
    stay = sorted({number for source in found.sources for number in source})
    gone = 1.0 - counts[stay].sum() / max(counts.sum(), 1)
    note = (
        f"the vocabulary has {found.tokenizer.size:,} pieces in place of {tokenizer.size:,}; {gone:.2%} of the pieces "
        "of train are gone, and their words fall into more pieces"
    )
    return replace(pretrained, tokenizer=found.tokenizer), note


def piece_counts(tokenizer: PieceTokenizer, documents: Sequence[Document]) -> Ints:
    """How often each piece occurs, ``[size of the vocabulary]``."""
    counts = np.zeros(tokenizer.size, dtype=np.int64)
    for at in range(0, len(documents), _TEXTS):
        for ids, _ in tokenizer.encode([document.text for document in documents[at : at + _TEXTS]]):
            counts += np.bincount(ids, minlength=tokenizer.size)
    return counts


def most_frequent(counts: Ints, most: int) -> list[int]:
    """The pieces that occur most often, of equally frequent ones those with the lower ids; none that never occurs."""
    order = np.argsort(-counts, kind="stable")[:most]
    return [int(number) for number in order if counts[number]]
