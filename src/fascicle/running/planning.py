"""The manifest of a run: made before any work, and made longer by an update."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import islice

import msgspec

from fascicle.errors import InputError, UsageError
from fascicle.formats.requests import ReadRequest
from fascicle.running.folder import HISTORY, UNREAD, RunFolder
from fascicle.running.history import replaced
from fascicle.running.plan import Unread, plan
from fascicle.running.records import READ, VERSIONS, Manifest, Quarantined
from fascicle.settings.pipeline import Shards


def extended(
    folder: RunFolder, manifest: Manifest, inputs: Sequence[str], settings: Shards, *, latest: bool
) -> Manifest:
    """Plans the inputs that a manifest does not have yet.

    The folder gets the history of the new documents, and what of them could not be read. Neither counts before the new
    manifest is written.

    Args:
        folder: of the run.
        manifest: with the inputs that the run has already; without shards if it has none.
        inputs: all, those of the manifest first.
        settings: how much is in a shard.
        latest: whether a document of a later input takes the place of one with its id, see
            `fascicle.running.history.replaced`; else it gets an id of its own.

    Raises:
        InputError: the run has no document.
        UsageError: documents of the run have other ids than in their files, so that nothing can take their place.
    """
    if latest and any(shard.renamed for shard in manifest.shards):
        raise UsageError(
            f"{folder.name} is of a run in which ids were there twice, and got other ids; which of them an update "
            "means is not known, so begin anew with update=True in another folder"
        )
    with folder.written(HISTORY.format(manifest.plans)) as stream:
        shards, unread = plan(
            inputs[manifest.inputs :],
            msgspec.convert(manifest.reading, ReadRequest),
            settings,
            begun=(manifest.inputs, len(manifest.shards)),
            are_unique=not latest,
            note=lambda entry: stream.writelines((msgspec.json.encode(entry), b"\n")),
        )
        if not shards and not manifest.shards:
            reason = str(unread[0].error) if unread else "the inputs hold no document"
            raise InputError(f"{reason}; no document can be read, so there is nothing to run")
    if unread:
        before = islice(folder.quarantine(UNREAD), manifest.unread) if manifest.unread else ()
        folder.write_quarantine(UNREAD, [*before, *map(_record, unread)])
    plans = manifest.plans + 1
    left_out = replaced(lambda: folder.history(plans)) if latest else {}
    return msgspec.structs.replace(
        manifest,
        unread=manifest.unread + len(unread),
        shards=tuple(
            msgspec.structs.replace(shard, left_out=left_out.get(shard.name, ()))
            for shard in (*manifest.shards, *shards)
        ),
        inputs=len(inputs),
        plans=plans,
    )


def _record(unread: Unread) -> Quarantined:
    error, content = unread
    place = error.line or 0
    name = f"{error.file}:{place}" if place else error.file or str(error)[:100]
    return Quarantined(
        id=name,
        sha256=hashlib.sha256(content or b"").hexdigest(),
        input=error.file,
        place=place,
        shard="",
        step=READ,
        error=type(error).__name__,
        message=str(error),
        versions=dict(VERSIONS),
        attempt=1,
        seconds=0.0,
        memory=0,
        raw=content,
    )
