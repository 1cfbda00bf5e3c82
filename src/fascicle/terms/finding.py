"""Term packs as finders: they return places of names with their types, rather than mentions of one predictor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.settings.inputs import PACK_RULE
from fascicle.settings.recognition import Overlaps, RecognitionSettings
from fascicle.terms.keys.key import NORMALISER
from fascicle.terms.overlaps import Match
from fascicle.terms.portions import portions
from fascicle.terms.recognising import PORTION, PackLike, PackRecogniser
from fascicle.text.inputs import Finder, Found

_TOGETHER: Final = 1 << 20  # characters of text that all finders read before the next ones


class PackFinder:
    """Finder of the names of packs in texts: names above the threshold, in the case that they require."""

    def __init__(self, packs: Mapping[str, PackLike], *, overlaps: Overlaps) -> None:
        """Opens the tables of the packs.

        Args:
            packs: by a unique name of each.
            overlaps: see `RecognitionSettings`.

        Raises:
            FormatError: a table of another version.
        """
        self._recogniser = PackRecogniser(packs, settings=RecognitionSettings(overlaps=overlaps, links=False))
        self._name = " ".join(pack.full_name for pack in packs.values())

    @property
    def name(self) -> str:
        """Packs by their content."""
        return self._name

    @property
    def types(self) -> tuple[str, ...]:
        """All types of all packs, sorted."""
        return self._recogniser.types

    @property
    def version(self) -> str:
        """Version of matching rules and keys: together with the packs they decide every match."""
        return f"{PACK_RULE} {NORMALISER}"

    def matches(self, documents: Iterable[Document]) -> Iterator[tuple[Match, ...]]:
        """Yields the matches of each document, in the order of the text.

        Args:
            documents: read once; their mentions and words are not looked at.
        """
        for chunk in portions(documents, characters=PORTION):
            for patch in self._recogniser.predict(chunk):
                yield tuple(_matches(patch.add))


def _matches(mentions: Sequence[Mention]) -> Iterator[Match]:
    """Yields the places of mentions, each with all its types."""
    ordered = sorted(mentions, key=lambda mention: mention.spans[0])
    for (start, end), of_one in groupby(ordered, key=lambda mention: mention.spans[0]):
        yield Match(start, end, tuple(sorted({mention.type for mention in of_one})))


class CombinedFinder:
    """Finder that combines the results of several finders."""

    def __init__(self, finders: Sequence[Finder]) -> None:
        """Sets the finders, at least one."""
        self._finders = tuple(finders)

    @property
    def types(self) -> tuple[str, ...]:
        """All types of all finders, sorted."""
        return tuple(sorted({name for finder in self._finders for name in finder.types}))

    def matches(self, documents: Iterable[Document]) -> Iterator[tuple[Found, ...]]:
        """Yields the matches of each document, those of a finder after those of the one before.

        Args:
            documents: read once.
        """
        for chunk in portions(documents, characters=_TOGETHER):
            for found in zip(*(finder.matches(chunk) for finder in self._finders), strict=True):
                yield tuple(match for of_one in found for match in of_one)
