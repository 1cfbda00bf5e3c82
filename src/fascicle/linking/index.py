"""Index for approximate search of the names of a pack: other word order, misspellings, other
vocabularies.

The index of a pack is made once, into a folder of its own or that of a linker; the pack stays as it
is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Final, Self

import numpy as np
from msgspec import Meta

from fascicle.core.arrays import Ints, int_array
from fascicle.errors import PackError
from fascicle.linking import equivalents, trigrams
from fascicle.linking.equivalents import Equivalents, write_equivalents
from fascicle.linking.trigrams import Near, Trigrams, write_trigrams
from fascicle.settings.base import Settings
from fascicle.settings.folders.described import Wording, read_description, write_description
from fascicle.terms.keys.key import KeyReader, unordered
from fascicle.terms.pack.arrays import (
    Array,
    Strings,
    expand_ranges,
    map_array,
    row_chunks,
    string_hashes,
    write_array,
)
from fascicle.terms.pack.layout import FileFacts, first_changed, pack_error
from fascicle.terms.pack.pack import Pack

_FORMAT: Final = 1
MANIFEST: Final = "index.json"
_HASHES: Final = "sorted.hashes.u4"
_ROWS: Final = "sorted.rows.u4"
TYPES: Final = "keys.types.u8"
_FILES: Final = frozenset({_HASHES, _ROWS, TYPES, *equivalents.FILES, *trigrams.FILES})
_TYPES: Final = 64
_CHUNK: Final = 1 << 15  # keys that are read together
_AGAIN: Final = "make the linker again with fascicle linker fit"
_WORDING: Final = Wording(
    broken="is not the index of a term pack",
    repair=_AGAIN,
    renew=_AGAIN,
    version="index format",
    error=PackError,
)
_OnStep = Callable[[str, int], None]


class IndexManifest(Settings, frozen=True, kw_only=True):
    """Manifest of an index.

    Attributes:
        format: version of the files.
        pack: full name of the pack, which has the hash of its content.
        normaliser: version of the keys.
        files: size and hash of each file.
    """

    format: Annotated[int, Meta(ge=1)] = _FORMAT
    pack: str
    normaliser: str
    files: dict[str, FileFacts]


def write_index(
    folder: Path, pack: Pack, *, on_progress: _OnStep = lambda step, count: None
) -> IndexManifest:
    """Writes the index of a pack into an empty folder; the same pack gives the same bytes.

    Args:
        folder: the folder that exists.
        pack: whose names are to be found.
        on_progress: progress callback, called with a label and a count, now and then.
    """
    write_array(folder / TYPES, _type_bits(pack))
    _write_sorted(folder, pack.active.keys.strings, on_progress)
    write_trigrams(folder, pack.active.keys.strings)
    on_progress("names by trigrams", len(pack.active.keys.strings))
    write_equivalents(folder, pack)
    on_progress("references", len(pack))
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    facts = {name: FileFacts.of(folder / name) for name in names}
    manifest = IndexManifest(pack=pack.full_name, normaliser=pack.manifest.normaliser, files=facts)
    return write_description(folder / MANIFEST, manifest)


def type_bit(number: int) -> int:
    """Returns the bit of a type, by its number in the pack; the last ones share one."""
    return 1 << min(number, _TYPES - 1)


def _type_bits(pack: Pack) -> Array:
    """Returns the types of the terms of each key, as bits."""
    bits = np.array([type_bit(number) for number in range(len(pack.types))], dtype=np.uint64)
    starts = pack.active.starts[:-1].astype(np.int64)
    if not len(starts):
        return np.empty(0, dtype=np.uint64)
    of_key: Array = np.bitwise_or.reduceat(bits[pack.type_rows[pack.active.concept]], starts)
    return of_key


def _write_sorted(folder: Path, keys: Strings, on_progress: _OnStep) -> None:
    """Writes the hashes of keys of level 3, of names that are in another order."""
    reader = KeyReader()
    hashes, rows = [np.empty(0, dtype=np.uint32)], [int_array([])]
    for chunk in row_chunks(len(keys), _CHUNK):
        names, places = keys.take(chunk), []
        several = [place for place, name in enumerate(names) if " " in name]
        ordered = unordered([names[place] for place in several], reader)
        encoded = []
        for place, name in zip(several, ordered, strict=True):
            if name and name != names[place]:
                places.append(place)
                encoded.append(name.encode())
        hashes.append(string_hashes(encoded))
        rows.append(chunk[places])
        on_progress("names in order", int(chunk[-1]) + 1)
    all_hashes = np.concatenate(hashes)
    order = np.argsort(all_hashes, kind="stable")
    write_array(folder / _HASHES, all_hashes[order])
    write_array(folder / _ROWS, np.concatenate(rows)[order])


class NameIndex:
    """Open index of a pack; for one thread.

    Attributes:
        pack: the pack that it belongs to.
        types: of each key, as bits (`type_bit`).
        equivalents: equal concepts of several vocabularies.
        reader: of keys; callers with the same strings may share it.
        manifest: of the index.
    """

    def __init__(self, folder: Path, pack: Pack, manifest: IndexManifest) -> None:
        """Maps the files, which must be those of the manifest."""
        self.folder, self.pack, self.manifest = folder, pack, manifest
        self._hashes, self._rows = map_array(folder / _HASHES), map_array(folder / _ROWS)
        self.types = map_array(folder / TYPES)
        self._trigrams = Trigrams(folder, pack.active.keys.strings, self.types)
        self.equivalents = Equivalents(folder, pack.parent_rows)
        self.reader = KeyReader()

    @classmethod
    def open(cls, folder: Path, pack: Pack) -> Self:
        """Opens the index of a pack.

        Raises:
            PackError: no index, that of another pack, or one with a file that is missing or was
                changed.
        """
        place = folder / MANIFEST
        if not place.is_file():
            raise pack_error(folder, f"there is no index of a pack at {folder}", "not-found")
        manifest = read_description(place, IndexManifest, _WORDING, format=_FORMAT)
        if manifest.pack != pack.full_name:
            message = (
                f"{folder} belongs to the pack {manifest.pack}, and {pack.folder} is "
                f"{pack.full_name}"
            )
            advice = "give the pack that it was made for, or make it again with fascicle linker fit"
            raise pack_error(folder, f"{message}; {advice}", "version")
        for name in manifest.files:
            if "/" in name or "\\" in name or not (folder / name).is_file():
                raise _damaged(folder / name)
        if changed := first_changed(folder, manifest.files):
            raise _damaged(folder / changed)
        if not set(manifest.files) >= _FILES:
            raise _damaged(place)
        try:
            index = cls(folder, pack, manifest)
        except ValueError:  # a file with a part of a value at its end
            raise _damaged(folder) from None
        if not index._fits():
            raise _damaged(folder)
        return index

    def _fits(self) -> bool:
        """True if the files are consistent with each other and the pack, as far as a quick check
        shows.
        """
        keys = len(self.pack.active.keys.strings)
        sizes = len(self.types) == keys and len(self._hashes) == len(self._rows)
        return sizes and self._trigrams.fits() and self.equivalents.fits(len(self.pack))

    def verify(self) -> None:
        """Verifies every file.

        Raises:
            PackError: a file was changed.
        """
        for name, facts in self.manifest.files.items():
            if FileFacts.of(self.folder / name) != facts:
                raise _damaged(self.folder / name)

    def in_any_order(self, keys: Sequence[str]) -> tuple[Ints, Ints]:
        """Returns the keys of the pack that differ from the given ones in the order of their tokens
        alone.

        Args:
            keys: of level 2.

        Returns:
            For each that was found the place in ``keys``, and the row; both ascending.

        Raises:
            PackError: a damaged index.
        """
        queries = unordered(list(keys), self.reader)
        hashes = string_hashes([query.encode() for query in queries])
        low, high = (np.searchsorted(self._hashes, hashes, side=side) for side in ("left", "right"))
        places, rows = expand_ranges(low, high, self._rows)
        if int(rows.max(initial=-1)) >= len(self.types):
            raise _damaged(self.folder / _ROWS)
        own = self.pack.active.keys.find(queries)  # names that are in this order
        places = np.concatenate([places, np.flatnonzero(own >= 0)])
        rows = np.concatenate([rows, own[own >= 0]])
        order = np.lexsort((rows, places))
        return self._with_equal_words(queries, places[order], rows[order])

    def _with_equal_words(
        self, queries: Sequence[str], places: Ints, rows: Ints
    ) -> tuple[Ints, Ints]:
        """Returns the rows whose words are those of the query: hashes of others may be the same."""
        names = unordered(self.pack.active.keys.strings.take(rows), self.reader)
        pairs = zip(places.tolist(), names, strict=True)
        is_equal = np.array([queries[place] == name for place, name in pairs], dtype=np.bool_)
        return places[is_equal], rows[is_equal]

    def near(self, keys: Sequence[str], types: Ints) -> Near:
        """Returns the keys of the pack that are almost equal to the given ones; see
        `Trigrams.near`.

        Args:
            keys: of level 2.
            types: the types that each may have, as bits.

        Raises:
            PackError: a damaged index.
        """
        try:
            return self._trigrams.near([name_key.encode() for name_key in keys], types)
        except IndexError:
            raise _damaged(self.folder) from None


def _damaged(place: Path) -> PackError:
    return pack_error(place, f"{place} is missing or was changed; {_AGAIN}")
