"""The dictionaries of a model folder, opened to find names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fascicle.errors import FascicleError, ModelError
from fascicle.settings.folders.manifest import MANIFEST, Manifest
from fascicle.settings.inputs import PACK_RULE, InputFacts
from fascicle.terms.finding import CombinedFinder, PackFinder
from fascicle.terms.matching.matcher import Matcher, WordReader, read_dictionary
from fascicle.terms.pack.carried import PARTS, AnyPack, CarriedPack
from fascicle.text.inputs import Finder


def open_finder(folder: Path, manifest: Manifest, facts: InputFacts) -> Finder:
    """Finds the names of all dictionaries of a model.

    Args:
        folder: of the model, whose files were compared with their hashes.
        manifest: read from it.
        facts: its inputs, with at least one dictionary.

    Raises:
        ModelError: a dictionary that is not one of those files, or has other types.
    """
    for one in facts.dictionaries:
        parts = (f"{one.file}.{part}" for part in PARTS) if one.rule == PACK_RULE else ()
        for name in (one.file, *parts):
            if name not in manifest.files:
                raise ModelError(f"{folder / MANIFEST} has no hash of {name}; copy or export the folder again")
    tables = [one for one in facts.dictionaries if one.rule != PACK_RULE]
    reader = WordReader(manifest.reading.segmenter)
    matchers = [read_copy(folder / one.file, rule=one.rule, reader=reader) for one in tables]
    packs = {one.file: CarriedPack(folder, one.file) for one in facts.dictionaries if one.rule == PACK_RULE}
    finder = finder_of(matchers, packs)
    if finder.types != facts.types:
        raise ModelError(
            f"the dictionaries in {folder} do not have the types that {MANIFEST} names; copy or export the folder again"
        )
    return finder


def read_copy(path: Path, *, rule: str, reader: WordReader) -> Matcher:
    """Opens the copy of a dictionary, as ``packed_copy`` makes it.

    Args:
        path: of the file.
        rule: by which its names match.
        reader: cuts texts and names into words.

    Raises:
        ModelError: it is damaged, or needs a rule that this release does not have.
    """
    try:
        return Matcher(read_dictionary(str(path)), rule=rule, reader=reader)
    except FascicleError as error:
        raise ModelError(f"the dictionary {path} cannot be used ({error}); copy or export the folder again") from None


def finder_of(matchers: Sequence[Matcher], packs: Mapping[str, AnyPack]) -> Finder:
    """Finds all names that units are looked up in; at least one dictionary is needed.

    Args:
        matchers: of tables of names, which may share what cuts texts into words.
        packs: any names -> term packs. Names inside others are found too, and all types of a name.
    """
    finders: list[Finder] = [*matchers, *([PackFinder(packs, overlaps="nested")] if packs else [])]
    return CombinedFinder(finders) if len(finders) > 1 else finders[0]
