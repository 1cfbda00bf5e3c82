"""Reader of the documents of a model: uses the dictionaries of its folder, if it has some."""

from __future__ import annotations

from pathlib import Path

from fascicle.errors import ModelError
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.inputs import SHAPES, InputFacts
from fascicle.text.inputs import Columns
from fascicle.text.reading import LooksUp, ReadsDocuments, read_documents


def columns_of(facts: InputFacts) -> Columns:
    """Returns the columns of facts about a unit that a model reads."""
    return Columns(types=facts.types, shapes=bool(facts.shapes))


def reader_of(folder: Path, manifest: Manifest) -> ReadsDocuments:
    """Returns the reader of documents for a model.

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
    if not facts.dictionaries:
        return LooksUp(None, columns_of(facts))
    # Most models have no dictionaries, and start without the modules that find names.
    from fascicle.runtime.finders import open_finder

    return LooksUp(open_finder(folder, manifest, facts), columns_of(facts))
