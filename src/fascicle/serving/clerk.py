"""Reads and writes files for clients; what a file does to it costs a worker, and not the service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import FascicleError, InputError
from fascicle.formats.files import read
from fascicle.formats.outputs import write_documents
from fascicle.formats.report import ReadReport, SetAside, WriteReport
from fascicle.formats.requests import WriteRequest
from fascicle.pipeline.runner import Watch, unwatched
from fascicle.serving import messages
from fascicle.serving.messages import FileRead, FileWritten, PipelineFacts, ReadFile, WriteFile, Wrong


class Clerk:
    """Does orders of files, in one thread."""

    @property
    def facts(self) -> PipelineFacts | None:
        """It is no pipeline."""
        return None

    def do(
        self,
        order: messages.Order,
        *,
        watch: Watch = unwatched,
        given: Callable[[Sequence[Document]], None] | None = None,
    ) -> messages.Result:
        """Does an order; see `fascicle.serving.work.Work`."""
        assert isinstance(order, ReadFile | WriteFile)
        try:
            return _read(order) if isinstance(order, ReadFile) else _write(order)
        except FascicleError as error:
            message = str(error).replace(f"{Path(order.path).parent}/", "")  # where it lies concerns nobody
            return Wrong(error=type(error).__name__, message=message, code=error.code)


def _read(order: ReadFile) -> FileRead:
    report = ReadReport(aside=SetAside(keep_going=True))
    found: list[msgspec.Raw] = []
    characters = 0
    for document in read(order.path, format=order.format, report=report):
        characters += len(document.text)
        if len(found) == order.documents or characters > order.characters:
            raise InputError(
                f"the file has more than {counted(order.documents, 'document')}, or more than {order.characters:,} "
                "characters; divide it, or send it as a job",
                code="too-large",
            )
        found.append(msgspec.Raw(codec.encode(document)))
    folder = f"{Path(order.path).parent}/"
    return FileRead(
        documents=tuple(found),
        format=report.formats.get(order.path, order.format),
        notes=tuple(line.replace(folder, "") for line in report.lines()),
        problems=tuple(line.replace(folder, "") for line in report.aside.sentences),
    )


def _write(order: WriteFile) -> FileWritten:
    report = WriteReport()
    documents = (codec.decode(bytes(one)) for one in order.documents)
    write_documents(documents, WriteRequest(path=order.path, format=order.format), report=report)
    return FileWritten(losses=dict(sorted(report.losses.items())))
