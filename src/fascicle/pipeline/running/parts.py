"""Parts of complete runs, for commands that read the documents of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.remote import is_url
from fascicle.errors import InputError, OutputError
from fascicle.pipeline.running.folder import MANIFEST, SUCCESS, RunFolder
from fascicle.pipeline.running.records import MarkerFile


def expand_runs(paths: Iterable[str]) -> list[str]:
    """Returns the paths, with the parts of a run in place of its folder.

    Raises:
        InputError: a run that is not complete, or only runs without a processed document.
        OutputError: a run that is damaged, or of another version.
    """
    given = list(paths)
    expanded = list(chain.from_iterable(map(_parts, given)))
    if given and not expanded:
        raise InputError(
            f"the run in {given[0]} holds no processed document, because all are in quarantine; "
            f"list them with fascicle quarantine ls {given[0]}",
            file=given[0],
        )
    return expanded


def parts_of_run(folder: RunFolder) -> Iterator[MarkerFile]:
    """Yields the parts of a complete run that have documents, with those of retries."""
    for marker in chain(folder.done(folder.manifest().shards), folder.retries()):
        if marker.done:
            yield marker.part


def documents_of_run(folder: RunFolder) -> Iterator[Document]:
    """Yields the documents of a complete run, whose parts are in the format jsonl."""
    for part in parts_of_run(folder):
        with folder.place.opened(part.name) as stream:
            yield from map(codec.decode, stream)


def _parts(path: str) -> list[str]:
    if is_url(path) or not os.path.isfile(os.path.join(path, MANIFEST)):  # noqa: PTH113, PTH118
        return [path]
    folder = RunFolder(path)
    if SUCCESS not in folder.place.sizes():
        raise InputError(
            f"the run in {path} is not complete; finish it with fascicle run --resume", file=path
        )
    shards, retries, sizes = folder.manifest().shards, folder.retries(), folder.place.sizes()
    markers = [*folder.done(shards), *retries]
    if len(markers) < len(shards) + len(retries) or any(
        sizes.get(marker.part.name) != marker.part.size for marker in retries
    ):
        raise OutputError(
            f"the run in {path} is damaged: files of it are missing or were changed; put back what "
            "was there, or do the missing part again with fascicle run --resume",
            file=path,
            code="damaged",
        )
    return [folder.place.at(marker.part.name) for marker in markers if marker.done]
