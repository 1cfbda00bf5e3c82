"""Small packs, built with keys that a test can follow by eye."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from fascicle.terms.keys.key import NORMALISER as REAL_NORMALISER
from fascicle.terms.keys.key import KeyReader
from fascicle.terms.pack import layout
from fascicle.terms.pack.builder import BuildSettings, Components, PackSource, build
from fascicle.terms.pack.layout import SourceFacts, read_manifest, write_manifest
from fascicle.terms.pack.pack import Pack
from fascicle.terms.scanning.building import build_table
from fascicle.terms.terms import ConceptRecord, CrossReference, Name

NORMALISER = "test@1"
Sources = dict[str, Sequence[ConceptRecord]]


def key(surface: str) -> str:
    """Lower case without blanks and hyphens: enough for names to meet."""
    return "".join(sign for sign in surface.casefold() if sign.isalnum())


def read_keys(surfaces: Sequence[str]) -> list[str]:
    """The keys of several names."""
    return [key(surface) for surface in surfaces]


PARTS = Components(normaliser=NORMALISER, keys=read_keys, table=build_table)
REAL_PARTS = Components(normaliser=REAL_NORMALISER, keys=KeyReader(), table=build_table)

RECORDS: Sources = {
    "diseases": (
        ConceptRecord(
            curie="MESH:D009369",
            names=(Name("Neoplasms", "label"), Name("cancer"), Name("Tumor", "related")),
            parents=("MESH:D000",),
            definition="New growth of tissue.",
            references=(CrossReference("DOID:162", "skos:exactMatch"),),
        ),
        ConceptRecord(curie="MESH:D000", names=(Name("Diseases", "label"),)),
        ConceptRecord(
            curie="MESH:D001",
            names=(Name("Breast cancer", "label"), Name("Brustkrebs", "label", "de")),
            parents=("MESH:D009369",),
        ),
        ConceptRecord(
            curie="MESH:D777",
            names=(Name("Old growth", "label"),),
            obsolete=True,
            replaced_by=("MESH:D009369",),
        ),
    ),
    "genes": (
        ConceptRecord(
            curie="NCBIGene:847",
            type="Gene",
            names=(Name("CAT", "label"), Name("catalase")),
            taxon="NCBITaxon:9606",
        ),
        ConceptRecord(
            curie="NCBIGene:12359",
            type="Gene",
            names=(Name("Cat", "label"), Name("Catalase")),
            taxon="NCBITaxon:10090",
        ),
        ConceptRecord(
            curie="MESH:D009369", type="Disease", names=(Name("Cancer"), Name("Cancers", "label"))
        ),
    ),
}
TYPES = {"diseases": "Disease"}


def build_small(
    folder: Path, records: Sources = RECORDS, *, parts: Components = PARTS, memory: int = 8
) -> Pack:
    """Builds a pack and opens it."""
    sources = [
        PackSource(SourceFacts(name=name, type=TYPES.get(name, "")), lambda own=own: iter(own))
        for name, own in records.items()
    ]
    build(sources, BuildSettings(name="small", memory=memory), folder, parts=parts)
    return Pack.open(folder, normaliser=parts.normaliser)


def without_sets(pack: Path, folder: Path) -> Path:
    """A copy of a pack as older releases built it, which does not say which concepts are the
    same.
    """
    shutil.copytree(pack, folder)
    (folder / layout.LEAD).unlink()
    manifest = read_manifest(folder)
    files = {name: facts for name, facts in manifest.files.items() if name != layout.LEAD}
    write_manifest(folder, msgspec.structs.replace(manifest, files=files))
    return folder
