"""Part of a term pack that is stored in a model: the data to find names and their types, and
nothing else.

It has no definitions, hierarchy, links or excluded names. The manifest is stored too, with the
source of the names.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.document import Event
from fascicle.core.mention import Link
from fascicle.errors import FascicleError, ModelError
from fascicle.settings.folders.described import read_description
from fascicle.settings.folders.vocabularies import PACK
from fascicle.terms.keys.characters import CasePolicy
from fascicle.terms.keys.key import NORMALISER
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import BYTES, OFFSETS, Lists, Strings, expand_ranges, map_array
from fascicle.terms.pack.layout import ACTIVE, FORMAT, WORDING, PackManifest, table_file
from fascicle.terms.pack.pack import Pack
from fascicle.terms.scanning.layout import open_arrays
from fascicle.terms.scanning.table import NameTable
from fascicle.terms.terms import ShortTerm

_SURFACES: Final = table_file(ACTIVE, layout.SURFACES)
_STARTS: Final = table_file(ACTIVE, layout.STARTS)
_COLUMNS: Final = tuple(
    table_file(ACTIVE, name)
    for name in (layout.CONCEPT, layout.SURFACE, layout.FLAGS, layout.PRIOR)
)
PARTS: Final = (
    layout.TABLE,
    layout.TYPE,
    _STARTS,
    *_COLUMNS,
    f"{_SURFACES}{BYTES}",
    f"{_SURFACES}{OFFSETS}",
)


def carried_size(pack: Pack) -> int:
    """Returns the size in bytes of the files of `carried_files`, without the manifest."""
    return sum(pack.manifest.files[name].size for name in PARTS)


def carried_files(pack: Pack, file: str) -> dict[str, bytes]:
    """Returns the files that are stored in a model, by their names in its folder.

    Args:
        pack: the pack that is open.
        file: name of the manifest there; the others begin with it.
    """
    parts = {f"{file}.{name}": (pack.folder / name).read_bytes() for name in PARTS}
    return {file: (pack.folder / PACK).read_bytes(), **parts}


class CarriedPack:
    """Part of a pack, mapped from the folder of a model.

    Attributes:
        manifest: of the pack that it was taken from.
        full_name: name and hash of that pack.
        types: names of types, by number.
        table: the file by which texts are scanned.
        type_rows: the number of the type of each concept.
        concept: the row of the concept of each term.
        prior: the prior of each term.
        surfaces: of the terms.
    """

    def __init__(self, folder: Path, file: str) -> None:
        """Maps the files.

        Args:
            folder: of the model.
            file: name of the manifest in it.

        Raises:
            ModelError: damaged, or with keys of another version.
        """
        path = folder / file
        try:
            self.manifest = read_description(path, PackManifest, WORDING, format=FORMAT)
            self.full_name, self.types = self.manifest.full_name, self.manifest.types
            self.table = folder / f"{file}.{layout.TABLE}"
            keys = open_arrays(self.table)[0].names
            self.type_rows = map_array(folder / f"{file}.{layout.TYPE}")
            self._starts = map_array(folder / f"{file}.{_STARTS}")
            self.concept, self._surface, self._flags, self.prior = (
                map_array(folder / f"{file}.{n}") for n in _COLUMNS
            )
            self.surfaces = Strings.open(folder, f"{file}.{_SURFACES}")
        except (FascicleError, ValueError, OSError) as error:
            raise ModelError(
                f"the names in {path} cannot be used ({error}); copy or export the folder again"
            ) from None
        if self.manifest.normaliser != NORMALISER:
            raise ModelError(
                f"the model in {folder} reads names with keys of the version "
                f"{self.manifest.normaliser}, and this "
                f"release makes {NORMALISER}: build the pack again, and train the model with it",
                file=str(path),
                code="version",
            )
        if not self._fits(keys):
            raise ModelError(
                f"the files beside {path} do not fit to each other; copy or export the folder again"
            )

    def _fits(self, keys: int) -> bool:
        """True if every number is a valid row."""
        terms = len(self.concept)
        rows = (self.concept, self._surface, self.type_rows)
        limits = zip(rows, (len(self.type_rows), len(self.surfaces), len(self.types)), strict=True)
        return (
            {len(self._surface), len(self._flags), len(self.prior)} == {terms}
            and Lists(self._starts, self.concept).fits(keys)
            and Lists(self.surfaces.offsets, self.surfaces.content).fits(len(self.surfaces))
            and not np.any((self._flags & layout.CASE) > max(CasePolicy))
            and all(not len(values) or int(values.max()) < limit for values, limit in limits)
        )

    def __len__(self) -> int:
        """Returns the number of terms."""
        return len(self.concept)

    @property
    def active(self) -> CarriedPack:
        """This pack itself, for it has no other names."""
        return self

    def open_table(self) -> NameTable:
        """Returns the table by which texts are scanned for the names."""
        return NameTable.open(self.table)

    def of_key_rows(self, rows: Ints) -> tuple[Ints, Ints]:
        """Returns, for each term of these keys, the index of its key in ``rows``, and its own
        row.
        """
        return expand_ranges(
            self._starts[rows].astype(np.int64), self._starts[rows + 1].astype(np.int64)
        )

    def short_terms(self, rows: Ints) -> list[ShortTerm]:
        """Returns terms by their rows; a concept is given by its number."""
        surfaces = self.surfaces.take(self._surface[rows])
        flags = self._flags[rows]
        cases, off = (flags & layout.CASE).tolist(), ((flags & layout.OFF) != 0).tolist()
        concepts = map(str, self.concept[rows].tolist())
        return list(map(ShortTerm, surfaces, concepts, cases, off, self.prior[rows].tolist()))

    def answer_at(self, row: int) -> tuple[str, str, tuple[str, ...]]:
        """Returns an empty identifier and label, for a model stores none."""
        return "", "", ()

    def origins(self, documents: Sequence[Sequence[Link]], *, step: str) -> list[tuple[Event, ...]]:
        """Returns no events, for a model stores no links."""
        return [()] * len(documents)


AnyPack = Pack | CarriedPack
