"""Documents in quarantine: which there are now, and another try."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Final

import msgspec

from fascicle.core import codec
from fascicle.errors import InputError, UsageError
from fascicle.running.folder import UNREAD, RunFolder
from fascicle.running.plan import Piece, Shard, sha256_of
from fascicle.running.records import NOTHING, Manifest, Quarantined, refuse_unnamed

_RETRY: Final = "retry-{:04d}"


def current(folder: RunFolder, manifest: Manifest) -> dict[str, Quarantined]:
    """The records of all that is in quarantine, by id: without those that a later try was good for.

    Args:
        folder: of the run.
        manifest: of it.
    """
    found: dict[str, Quarantined] = {}
    if manifest.unread:
        for number, record in enumerate(islice(folder.quarantine(UNREAD), manifest.unread), start=1):
            found[record.id if record.id not in found else f"{record.id} ({number})"] = record
    for done in folder.done(manifest.shards):
        if done.quarantine is not None:
            found.update((record.id, record) for record in folder.quarantine(done.quarantine.name))
    for done in folder.retries():
        for identifier in tried(folder, done.shard):
            found.pop(identifier, None)
        if done.quarantine is not None:
            found.update((record.id, record) for record in folder.quarantine(done.quarantine.name))
    return found


def tried(folder: RunFolder, name: str) -> list[str]:
    """The ids of the documents that were tried again together."""
    with folder.opened(f"{name}.jsonl") as stream:
        return [codec.decode(line).id for line in stream]


def one_of(folder: RunFolder, manifest: Manifest, identifier: str) -> Quarantined:
    """The record of one document.

    Raises:
        InputError: it is not in quarantine.
    """
    found = current(folder, manifest)
    if identifier not in found:
        raise InputError(
            f"{identifier!r} is not in the quarantine of {folder.name}; fascicle quarantine ls lists what is",
            key=identifier,
            code="not-found",
        )
    return found[identifier]


def plan_retry(
    folder: RunFolder, manifest: Manifest, *, only: Collection[str], made_by: dict[str, str], pipeline: str
) -> Manifest | None:
    """Writes the documents that are tried again as the input of a shard of their own.

    Args:
        folder: of the run.
        manifest: of it.
        only: ids; all by default.
        made_by: of the pipeline that is used now.
        pipeline: its path.

    Returns:
        What is to be done; ``None`` if nothing in quarantine can be tried.

    Raises:
        UsageError: an id that is not in quarantine, or of what cannot be read; a path that cannot be noted.
    """
    refuse_unnamed(folder.at(""))
    refuse_unnamed(pipeline)
    found = current(folder, manifest)
    for identifier in only:
        if identifier not in found or found[identifier].document == NOTHING:
            raise UsageError(f"{identifier!r} is no document in quarantine, so it cannot be tried again; see ls")
    chosen = [one for name, one in found.items() if not only or name in only]
    documents = [document for one in chosen if (document := one.restored()) is not None]
    if not documents:
        return None
    name = _RETRY.format(1 + len(folder.retries()))
    with folder.written(f"{name}.jsonl") as stream:
        for document in documents:
            stream.write(codec.encode(document) + b"\n")
    path = folder.at(f"{name}.jsonl")
    shard = Shard(
        name=name,
        pieces=(Piece(input=path, first=0, count=len(documents)),),
        characters=sum(len(document.text) for document in documents),
        sha256=sha256_of(documents),
    )
    again = msgspec.structs.replace(
        manifest, pipeline=pipeline, made_by=made_by, reading={"format": "jsonl"}, unread=0, shards=(shard,)
    )
    folder.write_json(f"{name}.json", again)
    return again
