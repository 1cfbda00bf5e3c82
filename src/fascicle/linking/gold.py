"""Gold annotations with the types and CURIEs of a pack, and the memory of annotated names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.arrays import unique_values
from fascicle.core.document import Document, unique
from fascicle.core.mention import Link, Mention
from fascicle.errors import ModelError
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import curie

NAMES: Final = "names.tsv"
_MOST: Final = 1 << 24  # bytes of the file


def with_pack_types(
    documents: Iterable[Document], pack: Pack, *, prefixes: Mapping[str, str] | None = None
) -> list[Document]:
    """Returns documents whose mentions have the types of a pack, and whose links have CURIEs.

    An identifier without a prefix gets that of the vocabulary which has most of those of its type.

    Args:
        documents: annotated.
        pack: open.
        prefixes: type -> prefix of the identifiers without one, where it is known.
    """
    of_type = pack.own_type
    annotated = list(documents)
    links = [
        (of_type(mention.type), link)
        for document in annotated
        for mention in document.mentions
        for link in mention.links
    ]
    stated = {of_type(kind): prefix for kind, prefix in (prefixes or {}).items()}
    every = _prefixes(links, pack) | stated
    return [to_curies(document, every, of_type=of_type) for document in annotated]


def to_curies(
    document: Document,
    prefixes: Mapping[str, str],
    *,
    of_type: Callable[[str], str] = lambda name: name,
) -> Document:
    """Returns a document with links as CURIEs where this is possible.

    Args:
        document: annotated.
        prefixes: type -> prefix of the identifiers without one.
        of_type: gives types their names.
    """
    mentions = unique(
        _spelt(mention, of_type(mention.type), prefixes) for mention in document.mentions
    )[0]
    return msgspec.structs.replace(document, mentions=mentions)


def _spelt(mention: Mention, kind: str, prefixes: Mapping[str, str]) -> Mention:
    links = []
    for link in mention.links:
        name = curie(link.curie or link.id, link.ontology or prefixes.get(kind, "")) or link.curie
        links.append(link if link.nil or not name else msgspec.structs.replace(link, curie=name))
    return msgspec.structs.replace(mention, type=kind, links=tuple(links))


def _prefixes(links: Sequence[tuple[str, Link]], pack: Pack) -> dict[str, str]:
    """Returns, for each type, the prefix with which most of its bare identifiers are in the
    pack.
    """
    bare: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, link in links:
        if (
            link.id
            and not link.curie
            and not link.ontology
            and ":" not in link.id
            and kind in pack.types
        ):
            bare[kind][link.id] += 1
    best_prefixes: dict[str, str] = {}
    for kind, numbers in bare.items():
        rows = unique_values(pack.prefix_rows[pack.type_rows == pack.types.index(kind)])
        counts = {}
        for prefix in (pack.prefixes[row] for row in rows.tolist()):
            curies = [curie(number, prefix) for number in numbers]
            counts[prefix] = int((pack.concept_rows(curies) >= 0).sum())
        best = max(counts, default="", key=lambda prefix: counts[prefix])
        if best and counts[best]:
            best_prefixes[kind] = best
    return best_prefixes


class Memory:
    """Concepts that each surface was annotated with.

    Attributes:
        counts: by type and key of level 1, how many documents annotate it with each concept.
    """

    def __init__(self, counts: Mapping[tuple[str, str], Mapping[str, int]] | None = None) -> None:
        """Sets the counts."""
        self.counts = dict(counts or {})

    @classmethod
    def of(cls, annotations: Iterable[tuple[str, str, str, str]]) -> Memory:
        """Builds a memory of documents.

        Args:
            annotations: document, type, surface and CURIE of annotated mentions, with repeats.
        """
        counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        simple = {
            (document, kind, key(surface, 1), concept)
            for document, kind, surface, concept in annotations
        }
        for _, kind, name, concept in simple:
            counts[kind, name][concept] += 1
        return cls(counts)

    def of_key(self, kind: str, simple: str, without: Collection[str] = ()) -> dict[str, int]:
        """Returns the concepts of a surface.

        Args:
            kind: type of the mention.
            simple: key of level 1 of its words.
            without: concepts of which one document is not counted, which is the one to link while a
                linker is fitted.
        """
        counts = self.counts.get((kind, simple))
        if counts is None:
            return {}
        reduced = {concept: count - (concept in without) for concept, count in counts.items()}
        return {concept: count for concept, count in sorted(reduced.items()) if count > 0}

    def table(self) -> str:
        """Returns the counts as a table, sorted."""
        return "".join(
            f"{kind}\t{simple}\t{concept}\t{count}\n"
            for (kind, simple), counts in sorted(self.counts.items())
            for concept, count in sorted(counts.items())
        )

    def write(self, folder: Path) -> None:
        """Writes the table."""
        (folder / NAMES).write_text(self.table(), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Memory:
        """Reads the table of `write`.

        Raises:
            ModelError: a file that is too large or no such table.
        """
        place = folder / NAMES
        counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        try:
            if place.stat().st_size > _MOST:
                raise ValueError("it is too large")
            for line in place.read_text(encoding="utf-8").splitlines():
                kind, simple, concept, count = line.split("\t")
                counts[kind, simple][concept] = int(count)
        except (OSError, ValueError) as error:
            raise ModelError(
                f"{place} is not the table of names of a linker ({error}); copy the linker again",
                file=str(place),
            ) from None
        return cls(counts)
