"""Facts about label files, and the documents that must be left out of raw text, with the reason."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
import numpy as np

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.core.tags import SCHEMES
from fascicle.core.wording import counted
from fascicle.evaluation.doctor.leaks import Screen
from fascicle.evaluation.doctor.parts import Given, Part
from fascicle.formats.exclusions import read_exclusions, reasons_of
from fascicle.formats.predictions import text_hash
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, paths_of, read_file
from fascicle.formats.weak_labels import ERROR, HARD, STEPS, End, Header, read_entries


@dataclass(frozen=True, kw_only=True)
class LabelFacts:
    """Facts about a label file.

    Attributes:
        path: of the file.
        header: its first line.
        end: its last line.
        tagged: of each type, words with a tag of the answer.
        expected: of each type, the sum of its probabilities: the expected number of words in its mentions.
    """

    path: str
    header: Header
    end: End
    tagged: dict[str, int]
    expected: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Returns the facts for JSON."""
        end = {name: getattr(self.end, name) for name in End.__struct_fields__}
        by_type = {
            name: {
                "mentions": self.end.mentions.get(name, 0),
                "tagged": self.tagged[name],
                "expected": round(self.expected[name], 1),
            }
            for name in self.header.types
        }
        return {**msgspec.structs.asdict(self.header), **end, "error": ERROR, "types": by_type}

    def lines(self) -> Iterator[str]:
        """Yields the facts as text, one screen."""
        head, end = self.header, self.end
        yield f"{self.path}: {counted(end.documents, 'document')}, {counted(end.words, 'word')}"
        yield f"by {head.model} ({head.sha256[:12]}), Fascicle {head.release}"
        yield f"words of {head.segmenter}, tags {head.scheme}"
        yield f"probabilities: {head.meaning}, from {head.floor:g}, within {ERROR:.4f}"
        if head.note:
            yield f"note: {head.note}"
        yield from (f"{name}: {value}" for name, value in head.options.items())
        for reason, count in sorted(end.left_out.items()):
            yield f"left out, {reason}: {counted(count, 'document')}"
        wide = max(len("type"), *map(len, head.types))
        yield f"{'type':{wide}} {'mentions':>10} {'words':>10} {'expected':>12}"
        for name in head.types:
            mentions, words, expected = end.mentions.get(name, 0), self.tagged[name], self.expected[name]
            yield f"{name:{wide}} {mentions:>10,} {words:>10,} {expected:>12,.1f}"


def facts_of(path: str | os.PathLike[str]) -> LabelFacts:
    """Reads a label file to its end.

    Args:
        path: of the file.

    Raises:
        InputError, FormatError: see ``formats.weak_labels.read_entries``.
    """
    header, entries = read_entries(os.fspath(path))
    width = SCHEMES[header.scheme].width
    tagged, steps = (np.zeros(len(header.types), dtype=np.int64) for _ in range(2))
    end = None
    for entry in entries:
        if isinstance(entry, End):
            end = entry
            break
        kind, value = np.array(entry.tag, dtype=np.int64) // width, np.array(entry.value, dtype=np.int64)
        tagged += np.bincount(kind[value >= HARD], minlength=len(tagged))
        np.add.at(steps, kind, value % HARD)
    assert end is not None, "a file without a last line is an error of the reader"
    return LabelFacts(
        path=os.fspath(path),
        header=header,
        end=end,
        tagged=dict(zip(header.types, tagged.tolist(), strict=True)),
        expected={name: count / STEPS for name, count in zip(header.types, steps.tolist(), strict=True)},
    )


_LISTED = "excluded"
Reasons = Callable[[Sequence[Document]], list[str]]


@dataclass(frozen=True, kw_only=True)
class Protected:
    """Protected texts, which must not be used for training.

    Attributes:
        exclude: path of the exclusion list; empty for none.
        asked: functions that return for each document the reason to leave it out; empty for one that may stay.
        sha256: of the list and the corpora.
        screen: the one of them that compares texts, if there is one.
    """

    exclude: str
    asked: tuple[Reasons, ...]
    sha256: str
    screen: Screen | None

    def reasons(self, documents: Sequence[Document]) -> list[str]:
        """Returns the first reason to leave out each document; empty for one that may stay."""
        said = [ask(documents) for ask in self.asked]
        return [next((one[at] for one in said if one[at]), "") for at in range(len(documents))]

    def notes(self, left_out: Mapping[str, int]) -> Iterator[str]:
        """Yields notes for the user at the end.

        Args:
            left_out: reason -> number of documents.
        """
        if self.exclude and not left_out.get(_LISTED):
            yield f"note: {self.exclude} names none of the texts"
        if self.screen is not None and self.screen.not_compared:
            yield (
                f"note: near duplicates of {counted(self.screen.not_compared, 'text')} were not sought, for there were "
                "too many candidates"
            )


def protected(*, exclude: str, against: Sequence[str], reading: ReadRequest) -> Protected:
    """Reads the exclusion list and the protected corpora.

    Args:
        exclude: path of an exclusion list of ``fascicle corpus check``; empty for none.
        against: protected corpora.
        reading: format and options of the corpora.

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
    return [_LISTED if (key in known or ("", key[1]) in known) else "" for key in keys]


def _place(path: str, request: ReadRequest) -> Given:
    report = ReadReport()
    return Given(
        part=Part(name=path, role="test"),
        path=path,
        documents=lambda: read_file(path, request, report=report),
        report=report,
    )
