"""Linking the mentions of documents to concepts: what ``fascicle link`` does."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from fascicle.core.arguments import checked
from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.core.provenance import STEP
from fascicle.knowledge.linking.linker import Decision
from fascicle.knowledge.linking.opening import find
from fascicle.knowledge.portions import portions
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.tasks.paths import Paths, listed

_PORTION: Final = 1 << 18  # characters of text that are linked together


@checked
def link(
    documents: Iterable[Document],
    *,
    linker: str | os.PathLike[str] = DEFAULT_LINKER,
    pack: Paths = (),
    ontology: str = "",
) -> Iterator[Document]:
    """Links the mentions of documents that have no links, in order and in bounded memory.

    Mentions of types that no pack has stay as they are.

    Args:
        documents: with mentions; may be a stream.
        linker: folder that ``fascicle linker fit`` wrote, or the name of a shipped linker.
        pack: folder of the pack that it was fitted with, or several; by default they are where they were then.
        ontology: prefix of a vocabulary, such as ``"MONDO"``: each link is taken there by the references of the pack,
            and is NIL where no reference leads.

    Raises:
        PackError: the linker or the pack cannot be opened, or they do not belong together.
        UsageError: the pack has no concept of the ontology.
    """
    opened = find(linker, listed(pack, name="pack")).opened(ontology=ontology)
    return (
        apply(document, patch, step=STEP)
        for chunk in portions(documents, characters=_PORTION)
        for document, patch in zip(chunk, opened.predict(chunk), strict=True)
    )


@checked
def explain(
    documents: Iterable[Document],
    *,
    linker: str | os.PathLike[str] = DEFAULT_LINKER,
    pack: Paths = (),
    most: int = 5,
) -> Iterator[tuple[Document, list[Decision]]]:
    """Explains links: for each mention its candidates with their features and weights.

    Args:
        documents: with mentions, which may have links.
        linker: folder that ``fascicle linker fit`` wrote, or the name of a shipped linker.
        pack: folder of the pack that it was fitted with, or several; by default they are where they were then.
        most: candidates of each mention.

    Raises:
        PackError: the linker or the pack cannot be opened, or they do not belong together.
    """
    opened = find(linker, listed(pack, name="pack")).opened()
    return (
        pair
        for chunk in portions(documents, characters=_PORTION)
        for pair in zip(chunk, opened.decisions(chunk, [one.mentions for one in chunk], most=most), strict=True)
    )
