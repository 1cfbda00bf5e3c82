"""Names that annotated texts gave to concepts, with how many documents did so."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from fascicle.errors import ModelError
from fascicle.knowledge.keys.key import key

NAMES: Final = "names.tsv"
_MOST: Final = 1 << 24  # bytes of the file


class Memory:
    """Which concepts a surface was annotated with.

    Attributes:
        counts: by type and key of level 1, how many documents annotate it with each concept.
    """

    def __init__(self, counts: Mapping[tuple[str, str], Mapping[str, int]] | None = None) -> None:
        """Takes the counts."""
        self.counts = dict(counts or {})

    @classmethod
    def of(cls, seen: Iterable[tuple[str, str, str, str]]) -> Memory:
        """Counts documents.

        Args:
            seen: document, type, surface and CURIE of annotated mentions, as often as they come.
        """
        found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for _, kind, simple, curie in {(one, kind, key(surface, 1), curie) for one, kind, surface, curie in seen}:
            found[kind, simple][curie] += 1
        return cls(found)

    def of_surface(self, kind: str, surface: str, without: Collection[str] = ()) -> dict[str, int]:
        """The concepts of a surface.

        Args:
            kind: type of the mention.
            surface: its words.
            without: concepts of which one document is not counted, which is the one that asks while a linker is fitted.
        """
        return self.of_key(kind, key(surface, 1), without)

    def of_key(self, kind: str, simple: str, without: Collection[str] = ()) -> dict[str, int]:
        """As `of_surface`, by the key of level 1 of the surface."""
        known = self.counts.get((kind, simple))
        if known is None:
            return {}
        found = {curie: count - (curie in without) for curie, count in known.items()}
        return {curie: count for curie, count in sorted(found.items()) if count > 0}

    def table(self) -> str:
        """The counts as a table, sorted."""
        return "".join(
            f"{kind}\t{simple}\t{curie}\t{count}\n"
            for (kind, simple), counts in sorted(self.counts.items())
            for curie, count in sorted(counts.items())
        )

    def write(self, folder: Path) -> None:
        """Writes the table."""
        (folder / NAMES).write_text(self.table(), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Memory:
        """Reads what `write` wrote.

        Raises:
            ModelError: a file that is too large or no such table.
        """
        place = folder / NAMES
        found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        try:
            if place.stat().st_size > _MOST:
                raise ValueError("it is too large")
            for line in place.read_text(encoding="utf-8").splitlines():
                kind, simple, curie, count = line.split("\t")
                found[kind, simple][curie] = int(count)
        except (OSError, ValueError) as error:
            raise ModelError(
                f"{place} is not the table of names of a linker ({error}); copy the linker again", file=str(place)
            ) from None
        return cls(found)
