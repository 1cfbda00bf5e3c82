"""Execution of one job in its own process: a run of a pipeline over a file, with one file as result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fascicle.core.document import Document
from fascicle.core.effects import is_silent
from fascicle.errors import FascicleError
from fascicle.formats.files import read
from fascicle.formats.outputs import WriteRequest, write_documents
from fascicle.formats.requests import ReadRequest
from fascicle.pipeline.pipeline import OpenPipeline
from fascicle.pipeline.running.folder import MANIFEST, RunFolder
from fascicle.pipeline.running.report import Totals
from fascicle.pipeline.running.run import Progress, Run
from fascicle.pipeline.workers.child import Channel, log_fault
from fascicle.serving.messages import Broken, Ended, JobOrder, Reached
from fascicle.settings.pipeline import Shards

SHARDS: Final = Shards(characters=1_000_000, documents=200)
RUN: Final = "run"


def do_job(open_pipeline: OpenPipeline, order: JobOrder, channel: Channel) -> None:
    """Runs a job in its own process, and sends messages about its progress.

    Args:
        open_pipeline: opens the pipeline, here and in the workers.
        order: what to do.
        channel: takes the messages.
    """

    def see(now: Progress) -> None:
        channel.send(Reached(documents=now.documents, of=now.of, quarantined=now.quarantined))

    try:
        totals = _run(order, open_pipeline).do(resume=True, progress=see)
        channel.send(_ended(totals, _write(order)))
    except FascicleError as error:
        channel.send(Broken(message=str(error).replace(f"{order.folder}/", "")))
    except Exception as error:
        log_fault(error)
        channel.send(Broken(message=f"{type(error).__name__}: {error}"))


def _run(order: JobOrder, open_pipeline: OpenPipeline) -> Run:
    return Run(
        inputs=[order.input],
        pipeline="",
        folder=RunFolder(str(Path(order.folder) / RUN)),
        reading=ReadRequest(format=order.reading),
        format="jsonl",
        workers=order.workers,
        shards=SHARDS,
        limits=order.limits,
        open_pipeline=open_pipeline,
    )


def _write(order: JobOrder) -> dict[str, int]:
    """Writes the documents of all parts, in order, as one file; returns the losses of the format."""
    request = WriteRequest(path=order.output, format=order.format, overwrite=True)
    return dict(write_documents(_documents(order), request).losses)


def _documents(order: JobOrder) -> Iterator[Document]:
    folder = RunFolder(str(Path(order.folder) / RUN))
    shards = folder.manifest(MANIFEST).shards
    for one in folder.done(shards):
        if one.done:
            yield from read(folder.place.at(one.part.name), format="jsonl")


def _ended(totals: Totals, losses: dict[str, int]) -> Ended:
    told = Counter({code: count for kind, code, count, _ in totals.events if not is_silent(kind, code)})
    return Ended(
        documents=totals.documents,
        quarantined=totals.quarantined,
        reasons=dict(totals.reasons),
        losses=dict(told + Counter(losses)),
    )
