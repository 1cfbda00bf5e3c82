"""Which texts taught a model, as hashes of their sentences: enough to know a text again, and not to read it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from fascicle.core.document import Document
from fascicle.core.spans import Span

TAUGHT: Final = "taught.txt"  # the file of a model folder
LEAST: Final = 60  # letters and digits: a shorter sentence may be written twice by habit
_OTHERS: Final = re.compile(r"[\W_]+")
_DIGITS: Final = 16
Cuts = Callable[[str], Sequence[Span]]


def sentence_hashes(document: Document, cuts: Cuts) -> frozenset[str]:
    """A hash of each longer sentence, of its letters and digits in lower case.

    Args:
        document: its sentences are taken where given.
        cuts: cuts a text into sentences.

    Returns:
        Sixteen hexadecimal digits for each sentence of at least 60 letters and digits.
    """
    cut = cuts(document.text) if document.sentences is None else document.sentences
    texts = (_OTHERS.sub("", document.text[slice(*one)]).casefold() for one in cut)
    return frozenset(hashlib.sha256(text.encode("utf-8")).hexdigest()[:_DIGITS] for text in texts if len(text) >= LEAST)


def listing(documents: Iterable[Document], cuts: Cuts) -> bytes:
    """The content of the file: the hashes of the sentences of all documents, a line each, sorted."""
    found: set[str] = set()
    for document in documents:
        found |= sentence_hashes(document, cuts)
    return "".join(f"{one}\n" for one in sorted(found)).encode("ascii")
