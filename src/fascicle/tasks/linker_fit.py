"""Fitting a linker to annotated texts: what ``fascicle linker fit`` does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from fascicle.core.arguments import checked
from fascicle.core.document import Document
from fascicle.files.atomic import atomic_folder, check_folder
from fascicle.knowledge.linking.fitting import FitSettings, Fitted, fit_linker
from fascicle.knowledge.linking.folder import KIND, LinkerManifest, write_linker
from fascicle.knowledge.linking.gold import as_in_pack
from fascicle.knowledge.linking.index import MANIFEST, NameIndex, write_index
from fascicle.knowledge.linking.memory import Memory
from fascicle.knowledge.pack.pack import Pack


@checked
def fit_folder(
    pack: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    documents: Iterable[Document] = (),
    index_of: str | os.PathLike[str] | None = None,
    settings: FitSettings | None = None,
    overwrite: bool = False,
    told: Callable[[str, int], None] = lambda step, count: None,
) -> LinkerManifest:
    """Writes the folder of a linker: the index of a pack, and what annotated texts teach.

    Without annotated texts, links stand in the order of tiers and have no probability.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        output: folder to write.
        documents: annotated, with links; their types and identifiers are brought to the spelling of the pack.
        index_of: another linker of the same pack, whose index is taken.
        settings: how it is fitted.
        overwrite: replace a linker that is there.
        told: is called with what is being done and a count, now and then.

    Returns:
        What the linker says of itself.

    Raises:
        PackError: the pack, or the other linker, cannot be opened.
        InputError: no type has enough links to concepts of the pack.
        OutputError: the folder exists, or cannot be written.
    """
    check_folder(Path(output), kind=KIND, overwrite=overwrite)
    opened = Pack.open(pack)
    annotated = as_in_pack(documents, opened)
    with atomic_folder(output, kind=KIND, overwrite=overwrite) as folder:
        if index_of is None:
            write_index(folder, opened, told=told)
        else:
            _copy_index(Path(index_of), folder, opened)
        index = NameIndex.open(folder, opened)
        told("mentions", sum(len(document.mentions) for document in annotated))
        fitted = fit_linker(opened, index, annotated, settings=settings) if annotated else Fitted(Memory(), {})
        fitted.memory.write(folder)
        return write_linker(folder, opened, fitted.rankers)


def _copy_index(source: Path, folder: Path, pack: Pack) -> None:
    index = NameIndex.open(source, pack)
    index.verify()
    for name in (*index.manifest.files, MANIFEST):
        shutil.copyfile(source / name, folder / name)
