"""How the documents of a model are read: with the dictionaries of its folder, if it has some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fascicle.errors import ModelError
from fascicle.knowledge.finding import PackFinder, Together
from fascicle.knowledge.matching.copies import read_copy
from fascicle.knowledge.matching.matcher import Matcher
from fascicle.knowledge.matching.several import Several
from fascicle.knowledge.pack.carried import PARTS, CarriedPack
from fascicle.knowledge.recognising import PackLike
from fascicle.settings.folders.manifest import MANIFEST, Manifest
from fascicle.settings.inputs import PACK_RULE, SHAPES, InputFacts
from fascicle.text.inputs import Columns, Finder
from fascicle.text.reading import LooksUp, ReadsDocuments, read_documents


def columns_of(facts: InputFacts) -> Columns:
    """What a model knows of a unit."""
    return Columns(types=facts.types, shapes=bool(facts.shapes))


def reader_of(folder: Path, manifest: Manifest) -> ReadsDocuments:
    """What reads documents for a model.

    Args:
        folder: of the model, whose files were compared with their hashes.
        manifest: read from it.

    Raises:
        ModelError: a dictionary that is not one of those files, or has other types; case patterns of another release.
    """
    facts = manifest.inputs
    if not facts:
        return read_documents
    if facts.shapes not in ("", SHAPES):
        raise ModelError(
            f"the model {manifest.name} reads case patterns of the version {facts.shapes!r}; this release knows "
            f"{SHAPES}: export it again",
            file=str(folder),
            code="version",
        )
    for one in facts.dictionaries:
        parts = (f"{one.file}.{part}" for part in PARTS) if one.rule == PACK_RULE else ()
        for name in (one.file, *parts):
            if name not in manifest.files:
                raise ModelError(f"{folder / MANIFEST} has no hash of {name}; copy or export the folder again")
    if not facts.dictionaries:
        return LooksUp(None, columns_of(facts))
    tables = [one for one in facts.dictionaries if one.rule != PACK_RULE]
    matchers = [read_copy(folder / one.file, rule=one.rule, segmenter=manifest.reading.segmenter) for one in tables]
    packs = {one.file: CarriedPack(folder, one.file) for one in facts.dictionaries if one.rule == PACK_RULE}
    finder = finder_of(matchers, packs)
    if finder.types != facts.types:
        raise ModelError(
            f"the dictionaries in {folder} do not have the types that {MANIFEST} names; copy or export the folder again"
        )
    return LooksUp(finder, columns_of(facts))


def finder_of(matchers: Sequence[Matcher], packs: Mapping[str, PackLike]) -> Finder:
    """Finds all names that units are looked up in; at least one dictionary is needed.

    Args:
        matchers: of tables of names.
        packs: any names -> term packs. Names inside others are found too, and all types of a name.
    """
    finders: list[Finder] = [Several(matchers)] if matchers else []
    finders += [PackFinder(packs, overlaps="nested")] if packs else []
    return Together(finders) if len(finders) > 1 else finders[0]
