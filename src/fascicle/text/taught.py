"""Sentences that a model was taught, as hashes: training texts can be recognised by them, but
not read.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import numpy as np

from fascicle.core.document import Document
from fascicle.core.mention import Span

TAUGHT: Final = "taught.bin"  # file of a model folder
_LEAST: Final = 60  # letters and digits: shorter sentences may be stock phrases
# bytes of a hash: of 1,000 files with 10,000 new sentences each, one has a false match
_BYTES: Final = 5
_OTHERS: Final = re.compile(r"[\W_]+")
_WORD: Final = 8
Cuts = Callable[[str], Sequence[Span]]


def sentence_hashes(document: Document, cuts: Cuts) -> frozenset[int]:
    """Computes a hash of each long sentence, from its letters and digits in lower case.

    Args:
        document: a document; its own sentences are used if it has any.
        cuts: function that splits a text into sentences.

    Returns:
        The first five bytes of the SHA-256 of each sentence of at least 60 letters and digits.
    """
    cut = cuts(document.text) if document.sentences is None else document.sentences
    texts = (_OTHERS.sub("", document.text[slice(*span)]).casefold() for span in cut)
    digests = (
        hashlib.sha256(text.encode("utf-8")).digest() for text in texts if len(text) >= _LEAST
    )
    return frozenset(int.from_bytes(digest[:_BYTES], "big") for digest in digests)


def all_sentence_hashes(documents: Iterable[Document], cuts: Cuts) -> frozenset[int]:
    """Computes the hashes of the sentences of all documents; see `sentence_hashes`."""
    hashes: set[int] = set()
    for document in documents:
        hashes |= sentence_hashes(document, cuts)
    return frozenset(hashes)


def pack_hashes(hashes: Collection[int]) -> bytes:
    """Encodes hashes as the content of the file: the differences of sorted hashes, by byte planes,
    compressed.

    Each of 100,000 hashes takes three bytes.
    """
    numbers = np.array(sorted(hashes), dtype=np.uint64)
    steps = np.diff(numbers, prepend=np.uint64(0)).astype(">u8").view(np.uint8).reshape(-1, _WORD)
    return zlib.compress(steps[:, -_BYTES:].T.tobytes(), 9)


def unpack_hashes(content: bytes) -> frozenset[int]:
    """Decodes the hashes that `pack_hashes` encoded.

    Raises:
        ValueError: another content.
    """
    try:
        columns = np.frombuffer(zlib.decompress(content), dtype=np.uint8).reshape(_BYTES, -1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    steps = np.zeros((columns.shape[1], _WORD), dtype=np.uint8)
    steps[:, -_BYTES:] = columns.T
    return frozenset(np.cumsum(steps.view(">u8").ravel(), dtype=np.uint64).tolist())
