"""One pack for each type, of the names that the pack of all vocabularies has for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from fascicle.terms.keys.key import NORMALISER, KeyReader
from fascicle.terms.pack.builder import BuildSettings, Components, PackSource, build
from fascicle.terms.pack.layout import OFF, SourceFacts
from fascicle.terms.pack.pack import Pack
from fascicle.terms.scanning.building import build_table
from fascicle.terms.terms import NAME_KINDS, ConceptRecord, Name
from fascicle.verbs.tasks.index_build import build_pack
from studies.common import ROOT

SOURCES = ROOT / "packs" / "biomed.toml"
ALL = "biomed"
# Names that a type goes without, chosen on BioID train: lines are annotated as HeLa, vocabularies
# have HeLa cell too.
WITHOUT = {"CellLine": re.compile(r"(?i)\bcells?( lines?)?$")}


def whole(folder: Path) -> Pack:
    """The pack of all vocabularies, built where it is not there yet."""
    if not (folder / ALL).exists():
        build_pack(SOURCES, folder / ALL)
    return Pack.open(folder / ALL)


def of_type(folder: Path, kind: str) -> Pack:
    """The pack of one type, built where it is not there yet."""
    place = folder / kind
    if not place.exists():
        source = PackSource(SourceFacts(name=ALL, type=kind), partial(records, whole(folder), kind))
        parts = Components(normaliser=NORMALISER, keys=KeyReader(), table=build_table)
        build([source], BuildSettings(name=kind.lower()), place, parts=parts)
    return Pack.open(place)


def records(pack: Pack, kind: str) -> Iterator[ConceptRecord]:
    """The concepts of a type that are not obsolete, with their names."""
    active, without = pack.active, WITHOUT.get(kind)
    for row in np.flatnonzero(pack.type_rows == pack.types.index(kind)).tolist():
        terms = active.of_concept[row]
        if len(terms):
            surfaces = active.surfaces.take(active.surface[terms])
            kinds = (NAME_KINDS[number] for number in active.kind[terms].tolist())
            names = tuple(
                Name(surface, kind) for surface, kind in zip(surfaces, kinds, strict=True)
            )
            names = tuple(
                name for name in names if without is None or not without.search(name.surface)
            )
            if names:
                yield ConceptRecord(curie=pack.curie(row), names=names)


def surfaces(pack: Pack) -> list[str]:
    """All names of a pack that are looked for, as the sources write them."""
    active = pack.active
    used = np.unique(active.surface[(active.flags & OFF) == 0])
    return active.surfaces.take(used)
