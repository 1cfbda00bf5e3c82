"""What verbs are given: a path, documents, or a request that says more."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fascicle.core.arguments import checked_documents
from fascicle.core.document import Document
from fascicle.errors import InputError, UsageError
from fascicle.files.source import STDIN
from fascicle.formats.account import EventCounts
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import read_file
from fascicle.systems.model import ModelRequest
from fascicle.systems.predictions import PredictionRequest, Predictions, of_documents, read_system

File = str | os.PathLike[str] | PredictionRequest
Given = File | Iterable[Document]


@dataclass(frozen=True, kw_only=True)
class Gold:
    """Documents with gold mentions.

    Attributes:
        documents: all of them.
        path: of their file; for the sentences of errors.
        reading: what was found out about the file.
    """

    documents: Sequence[Document]
    path: str = "the gold"
    reading: ReadReport = field(default_factory=ReadReport)

    def predictions(self) -> Predictions:
        """The mentions of all sources."""
        return of_documents(self.documents, path=self.path)


def each_of(given: Any) -> list[Any]:
    """What was given for each of several systems: files, requests or documents; one of them may stand alone."""
    if isinstance(given, str | os.PathLike | PredictionRequest | ModelRequest):
        return [given]
    each = list(given)
    return [each] if each and isinstance(each[0], Document) else each


def path_of(given: object) -> str:
    """Of the file of what was given; a name for documents."""
    if isinstance(given, PredictionRequest):
        return given.path
    return os.fspath(given) if isinstance(given, str | os.PathLike) else "the predictions"


def request_of(given: File) -> PredictionRequest:
    """How a file is read: as usual, if no more than its path was given."""
    return given if isinstance(given, PredictionRequest) else PredictionRequest(path=os.fspath(given))


def refuse_stdin_twice(*given: object) -> None:
    """Refuses to read standard input for two things.

    Raises:
        UsageError: it stands for two of these.
    """
    if [path_of(one) for one in given].count(STDIN) > 1:
        raise UsageError("standard input (-) was given twice; it can be read once")


def gold_of(given: Given, *, events: EventCounts) -> Gold:
    """Reads the gold, where it is not there already.

    Args:
        given: documents, or the file that they are in, which is no prediction file.
        events: counts the events of documents.

    Raises:
        InputError: the file cannot be read, or there is no document.
    """
    if isinstance(given, str | os.PathLike | PredictionRequest):
        request, report = request_of(given), ReadReport()
        documents = list(events.observe(read_file(request.path, request.reading, report=report)))
        for key, count, first in report.mended():
            events.count(key, count, first)
        return Gold(documents=documents, path=request.path, reading=report)
    documents = list(events.observe(checked_documents(given, name="gold")))
    if not documents:
        raise InputError("the gold has no document; give at least one")
    return Gold(documents=documents)


def predictions_of(given: Given, *, events: EventCounts) -> Predictions:
    """Reads what one system says, where it is not there already.

    Args:
        given: documents with mentions of one system, or the file that holds what it says.
        events: counts the events of documents.

    Raises:
        UsageError: a source that the file does not have, or options of another format.
        InputError: the file cannot be read, or has mentions of several sources, none of which was chosen.
    """
    if isinstance(given, str | os.PathLike | PredictionRequest):
        return read_system(request_of(given), events=events)
    documents = checked_documents(given, name="predictions")
    return of_documents(events.observe(documents), path="the predictions", formats=frozenset({"jsonl"})).of_one_system()
