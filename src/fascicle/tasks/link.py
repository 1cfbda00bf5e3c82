"""Linking the mentions of documents to concepts: what ``fascicle link`` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

from fascicle.core.arguments import checked
from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.core.provenance import STEP
from fascicle.knowledge.linking.linker import Decision
from fascicle.knowledge.linking.opening import Linking, Places, find, unlinked
from fascicle.knowledge.portions import portions
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.tasks.paths import Paths, listed

_PORTION: Final = 1 << 18  # characters of text that are linked together
Told = Callable[[Literal["kept", "replaced"], int], None]


@checked
def link(
    documents: Iterable[Document],
    *,
    linker: Places = DEFAULT_LINKER,
    pack: Paths = (),
    ontology: str = "",
    keep_links: bool = False,
    told: Told = lambda done, mentions: None,
) -> Iterator[Document]:
    """Links the mentions of documents, in order and in bounded memory.

    Mentions of types that no pack has stay as they are, and so do their links.

    Args:
        documents: with mentions; may be a stream.
        linker: folder that ``fascicle linker fit`` wrote, the name of a shipped linker, a pack, or several of them: the
            first that knows a concept for a mention answers.
        pack: folder of the pack that it was fitted with, or several; by default they are where they were then.
        ontology: prefix of a vocabulary, such as ``"MONDO"``: each link is taken there by the references of the pack,
            and is NIL where no reference leads.
        keep_links: link only mentions without links; by default, links that mentions have are replaced.
        told: is called for each document whose mentions had links, with what was done with them, and of how many.

    Raises:
        PackError: the linker or the pack cannot be opened, or they do not belong together.
        UsageError: the pack has no concept of the ontology.
    """
    opened = find(linker, listed(pack, name="pack"), ontology=ontology).opened()
    return (
        apply(document, patch, step=STEP)
        for chunk in _asked(documents, opened, keep_links=keep_links, told=told)
        for document, patch in zip(chunk, opened.predict(chunk), strict=True)
    )


@checked
def explain(
    documents: Iterable[Document],
    *,
    linker: Places = DEFAULT_LINKER,
    pack: Paths = (),
    most: int = 5,
    keep_links: bool = False,
) -> Iterator[tuple[Document, list[Decision]]]:
    """Explains what `link` says of the same documents: for each mention that it links its candidates and their weights.

    Args:
        documents: with mentions.
        linker: folder that ``fascicle linker fit`` wrote, the name of a shipped linker, a pack, or several of them: the
            first that knows a concept for a mention answers.
        pack: folder of the pack that it was fitted with, or several; by default they are where they were then.
        most: candidates of each mention.
        keep_links: see `link`.

    Raises:
        PackError: the linker or the pack cannot be opened, or they do not belong together.
    """
    opened = find(linker, listed(pack, name="pack")).opened()
    return (
        pair
        for chunk in _asked(documents, opened, keep_links=keep_links)
        for pair in zip(chunk, opened.explained(chunk, most=most), strict=True)
    )


def _asked(
    documents: Iterable[Document], linker: Linking, *, keep_links: bool, told: Told = lambda done, mentions: None
) -> Iterator[list[Document]]:
    """Documents as the linker gets them, in portions."""

    def bare(document: Document) -> Document:
        had = sum(bool(one.links) and linker.covers(one.type) for one in document.mentions)
        if had:
            told("kept" if keep_links else "replaced", had)
        return unlinked(document, linker.covers) if had and not keep_links else document

    return portions(map(bare, documents), characters=_PORTION)
