"""Linking the mentions of documents to concepts: what ``fascicle link`` does."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from fascicle.core.arguments import checked
from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.knowledge.linking.linker import Decision, Linker
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.portions import portions

_PORTION: Final = 1 << 18  # characters of text that are linked together


@checked
def link(
    documents: Iterable[Document],
    *,
    linker: str | os.PathLike[str],
    pack: str | os.PathLike[str],
    ontology: str = "",
) -> Iterator[Document]:
    """Links the mentions of documents that have no links, in order and in bounded memory.

    Args:
        documents: with mentions; may be a stream.
        linker: folder that ``fascicle linker fit`` wrote.
        pack: folder of the pack that it was fitted with.
        ontology: prefix of a vocabulary, such as ``"MONDO"``: each link is taken there by the references of the pack,
            and is NIL where no reference leads.

    Raises:
        PackError: the linker or the pack cannot be opened, or they do not belong together.
        UsageError: the pack has no concept of the ontology.
    """
    opened = _opened(linker, pack, ontology)
    return (
        apply(document, patch, step=opened.name)
        for chunk in portions(documents, characters=_PORTION)
        for document, patch in zip(chunk, opened.predict(chunk), strict=True)
    )


@checked
def explain(
    documents: Iterable[Document],
    *,
    linker: str | os.PathLike[str],
    pack: str | os.PathLike[str],
    most: int = 5,
) -> Iterator[tuple[Document, list[Decision]]]:
    """Explains links: for each mention its candidates with their features and weights.

    Args:
        documents: with mentions, which may have links.
        linker: folder that ``fascicle linker fit`` wrote.
        pack: folder of the pack that it was fitted with.
        most: candidates of each mention.

    Raises:
        PackError: the linker or the pack cannot be opened, or they do not belong together.
    """
    opened = _opened(linker, pack, "")
    return (
        pair
        for chunk in portions(documents, characters=_PORTION)
        for pair in zip(chunk, opened.decisions(chunk, [one.mentions for one in chunk], most=most), strict=True)
    )


def _opened(linker: str | os.PathLike[str], pack: str | os.PathLike[str], ontology: str) -> Linker:
    return Linker.open(Path(linker), Pack.open(pack), ontology=ontology)
