"""Portions of long streams, for batch processing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from fascicle.core.document import Document

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields consecutive items, ``size`` at a time; the last batch may have fewer."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def portions(documents: Iterable[Document], *, characters: int) -> Iterator[list[Document]]:
    """Yields consecutive documents; each portion ends with the document by which it has at least so many characters."""
    portion: list[Document] = []
    size = 0
    for document in documents:
        portion.append(document)
        size += len(document.text) + 1
        if size >= characters:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
