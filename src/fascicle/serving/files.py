"""Files of clients: stored temporarily under names that the service chooses, and read and written by a worker."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from starlette.responses import Response

from fascicle.formats.catalogue import Format
from fascicle.serving.messages import FileRead, FileWritten, ReadFile, WriteFile, Wrong
from fascicle.serving.naming import suffix_of
from fascicle.serving.pool import Said, Task
from fascicle.serving.problems import STATUS, ProblemError
from fascicle.serving.service import Service, failure_of


@asynccontextmanager
async def folder_for_files() -> AsyncIterator[Path]:
    """Yields a temporary folder that is removed at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="fascicle-serve-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


async def read_file(service: Service, path: Path, format_name: str) -> FileRead:
    """Reads the documents of a file in a worker.

    Raises:
        ProblemError: it cannot be read, or has too many documents.
    """
    settings = service.settings
    order = ReadFile(path=str(path), format=format_name, documents=settings.documents, characters=settings.body)
    found = await _asked(service, Task(order=order, characters=path.stat().st_size))
    assert isinstance(found, FileRead)
    return found


async def write_file(service: Service, documents: Sequence[msgspec.Raw], form: Format) -> tuple[bytes, str]:
    """Writes documents to a file in a worker; returns its content and the losses.

    Args:
        service: with the worker.
        documents: as `fascicle.core.codec` writes them.
        form: a format.

    Returns:
        The content, and what the format cannot hold, such as ``"scores=3, link-names=2"``.

    Raises:
        ProblemError: the format cannot hold a document at all.
    """
    async with folder_for_files() as folder:
        path = folder / f"documents{suffix_of(form)}"
        order = WriteFile(documents=tuple(documents), format=form.name, path=str(path))
        found = await _asked(service, Task(order=order, characters=sum(len(bytes(one)) for one in documents)))
        assert isinstance(found, FileWritten)
        return path.read_bytes(), ", ".join(f"{code}={count}" for code, count in found.losses.items())


def file_answer(content: bytes, name: str, losses: str = "") -> Response:
    """Makes the response that sends a file.

    Args:
        content: of the file.
        name: of the file.
        losses: what its format cannot hold, as of `write_file`.
    """
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Fascicle-Losses": losses}
    return Response(content, media_type="application/octet-stream", headers=headers)


async def _asked(service: Service, task: Task) -> Said:
    (found,) = await service.ask(service.files, [task])
    if found is None:
        raise ProblemError(504, f"the file was not done within {service.settings.seconds:g} s; send less at once")
    if isinstance(found, Wrong) and found.code:
        raise ProblemError(STATUS.get(found.code, 422), found.message, code=found.code)
    if not isinstance(found, FileRead | FileWritten):
        failure = failure_of(found)
        raise ProblemError(422, f"the file cannot be used ({failure.error}); check its content", code="unreadable")
    return found
