"""What nothing may be learned from: documents to leave out of raw text, and why."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.doctor.copies.screen import Screen
from fascicle.doctor.parts import Given, Part
from fascicle.files.source import Source
from fascicle.formats.exclusions import read_exclusions, reasons_of
from fascicle.formats.predictions import text_hash
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, paths_of, read_file

LISTED = "excluded"
Reasons = Callable[[Sequence[Document]], list[str]]


@dataclass(frozen=True, kw_only=True)
class Protected:
    """What nothing may be learned from.

    Attributes:
        exclude: path of the exclusion list; empty for none.
        asked: each says of documents why they must be left out; empty for one that may stay.
        sha256: of all of it.
        screen: the one of them that compares texts, if there is one.
    """

    exclude: str
    asked: tuple[Reasons, ...]
    sha256: str
    screen: Screen | None

    def reasons(self, documents: Sequence[Document]) -> list[str]:
        """Why each document must be left out, as is said first; empty for one that may stay."""
        said = [ask(documents) for ask in self.asked]
        return [next((one[at] for one in said if one[at]), "") for at in range(len(documents))]

    def notes(self, left_out: Mapping[str, int]) -> Iterator[str]:
        """What a user must know of it at the end.

        Args:
            left_out: reason -> documents.
        """
        if self.exclude and not left_out.get(LISTED):
            yield f"note: {self.exclude} names none of the texts"
        if self.screen is not None and self.screen.not_compared:
            yield (
                f"note: near duplicates of {counted(self.screen.not_compared, 'text')} were not sought, for there were "
                "too many candidates"
            )


def protected(*, exclude: str, against: Sequence[str], reading: ReadRequest) -> Protected:
    """Reads what nothing may be learned from.

    Args:
        exclude: path of an exclusion list of ``fascicle corpus check``; empty for none.
        against: corpora.
        reading: how the corpora are read.

    Raises:
        InputError: one of them cannot be read to its end, or the corpora hold no document.
    """
    asked: list[Reasons] = []
    screen, digest = None, hashlib.sha256()
    if exclude:
        rows = list(read_exclusions(Source(path=exclude)))
        asked.append(partial(_listed, reasons_of(rows)))
        digest.update(repr(rows).encode())
    if against:
        paths = paths_of(against, reading)
        screen = Screen([_place(path, reading) for path in paths])
        asked.append(screen.reasons)
        digest.update(screen.sha256.encode())
    return Protected(exclude=exclude, asked=tuple(asked), sha256=digest.hexdigest(), screen=screen)


def _listed(known: Mapping[tuple[str, str], Any], documents: Sequence[Document]) -> list[str]:
    keys = [(one.id, text_hash(one.text)) for one in documents]
    return [LISTED if (key in known or ("", key[1]) in known) else "" for key in keys]


def _place(path: str, request: ReadRequest) -> Given:
    report = ReadReport()
    return Given(
        part=Part(name=path, role="test"),
        path=path,
        documents=lambda: read_file(path, request, report=report),
        report=report,
    )
