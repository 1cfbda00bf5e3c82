"""A predictor whose mentions are linked to concepts; the linker is opened when the first mention comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from fascicle.core.document import Document, Link, Patch, unique
from fascicle.core.type_names import read_vocabulary
from fascicle.errors import UsageError
from fascicle.runtime.wrapped import Wrapped
from fascicle.settings.folders.vocabularies import AUTO, DEFAULT_LINKER, find_pack, pack_types, shipped_linkers
from fascicle.text.annotator import Annotator

if TYPE_CHECKING:
    from fascicle.linking.opening import LinkerWithPacks, Linking, Places

Keep = Callable[[tuple[Link, ...]], tuple[Link, ...]]


def all_of(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Links as they are."""
    return links


def linked(predictor: Annotator, linker: Places | None, *, ontology: str = "", keep: Keep = all_of) -> Annotator:
    """Returns a predictor with links.

    Args:
        predictor: finds the mentions; links that it gives stay.
        linker: the name of a shipped linker, a folder, or several, see `find`; ``"auto"``: the shipped one, if its pack
            has a type of the predictor, which gives no links itself, or if an ontology is given; else the predictor as
            it is. ``None`` goes with no ontology.
        ontology: prefix of the only vocabulary in which links are given; by default the linker chooses.
        keep: what is kept of the links of a mention.

    Raises:
        PackError: there is no such linker, it is damaged, or its pack is not where it was.
        UsageError: the packs of the linker have none of the types, or no concept of the ontology, which a predictor
            with links of its own cannot give either.
    """
    if linker == AUTO and not ontology and (predictor.links or not _covered_by_default(predictor.types)):
        return predictor
    if linker is None:
        raise UsageError(f"nothing gives links in {ontology}; give a linker too, or leave out the argument ontology")
    if ontology and "links" in predictor.gives:
        raise UsageError(
            f"{predictor.name} links what it finds itself, and not in {ontology} alone; leave out the argument ontology"
        )
    from fascicle.linking.opening import find

    found = find(DEFAULT_LINKER if linker == AUTO else linker, ontology=ontology)
    if not found.covered(predictor.types):
        known = ", ".join(sorted({kind for part in found.parts for kind in part.pack.types}))
        raise UsageError(
            f"{predictor.name} finds {', '.join(predictor.types)}, and the packs of the linker {linker} have concepts "
            f"of {known} alone; leave the linker out, or give another one"
        )
    return Linked(predictor, found, keep=keep)


def _covered_by_default(types: Sequence[str]) -> bool:
    """True if a shipped linker exists and covers a type; the linker is not opened."""
    if not shipped_linkers():
        return False
    there = pack_types(find_pack(DEFAULT_LINKER))
    names = read_vocabulary()
    return any(names.among(kind, there) in there for kind in types)


class Linked(Wrapped):
    """Links what a predictor finds."""

    def __init__(self, predictor: Annotator, found: LinkerWithPacks, *, keep: Keep = all_of) -> None:
        """Takes the predictor, a linker that is not opened yet, and what is kept of the links of a mention."""
        super().__init__(predictor)
        self._found, self._keep = found, keep
        self.gives = predictor.gives | {"links"}

    @property
    def links(self) -> bool:
        """True."""
        return True

    @cached_property
    def _linker(self) -> Linking:
        return self._found.opened()

    @cached_property
    def _covered(self) -> frozenset[str]:
        return frozenset(self._found.covered(self.types))

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the predictor and of the linker."""
        return f"{self._predictor.fingerprint} {self._found.fingerprint}"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions with links, and events for each document; see `Annotator.predict`."""
        patches = self._predictor.predict(documents)
        asked = [at for at, patch in enumerate(patches) if any(one.type in self._covered for one in patch.add)]
        if asked:
            found = list(self._as_found([documents[at] for at in asked], [patches[at] for at in asked]))
            for at, said in zip(asked, self._linker.predict(found), strict=True):
                patches[at] = self._with_links(patches[at], said)
        return patches

    def _as_found(self, documents: Sequence[Document], patches: Sequence[Patch]) -> Iterator[Document]:
        """Yields the documents with the mentions to link, and those that have links."""
        for document, patch in zip(documents, patches, strict=True):
            there = [one for one in document.mentions if one.links and one.source not in self.sources]
            mentions, _ = unique((*patch.add, *there))
            yield msgspec.structs.replace(document, mentions=mentions)

    def _with_links(self, patch: Patch, said: Patch) -> Patch:
        """Returns a patch whose mentions have the links of another one."""
        links = {key: self._keep(several) for key, several in said.links}
        mentions = tuple(
            msgspec.structs.replace(one, links=links[one.key]) if one.key in links else one for one in patch.add
        )
        return msgspec.structs.replace(patch, add=mentions, events=(*patch.events, *said.events))
