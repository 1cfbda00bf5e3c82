"""Report of a run: the state of all documents, and suspicious shards; as JSON and as one page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from statistics import median
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import astuple, replace
from numpy.typing import NDArray

from fascicle.core import codec
from fascicle.core.arrays import unique_values
from fascicle.core.document import Document, merge_origins
from fascicle.core.marks import isolated_name, tag
from fascicle.core.page.template import PageSection, PageTable, render_page
from fascicle.errors import InputError, UsageError
from fascicle.formats.account import EventCounts
from fascicle.pipeline.running.folder import UNREAD, RunFolder
from fascicle.pipeline.running.records import (
    HASH_BYTES,
    NOTHING,
    InputRange,
    Quarantined,
    RunManifest,
    Shard,
    ShardMarker,
    check_path,
    documents_sha256,
    most_common_names,
)

_TOGETHER: Final = 1 << 20  # hashes that are merged at once, unless there are more already


class Distinct:
    """Counts the distinct concepts of each type over any number of sets.

    The count is exact unless two concepts have the same hash; of 3 million concepts this happens
    with a probability of one in 4 million (birthday bound, n^2 / 2^65). Memory holds at most 16
    bytes for each distinct concept, and 8 MiB for each type.
    """

    def __init__(self, *, together: int = _TOGETHER) -> None:
        """Starts at zero.

        Args:
            together: hashes of a type that are merged at once.
        """
        self._together = together
        self._merged: dict[str, NDArray[np.uint64]] = {}
        self._waiting: dict[str, bytearray] = {}

    def add(self, concepts: Mapping[str, bytes]) -> None:
        """Adds sets.

        Args:
            concepts: type -> a set, as of `hashed`.
        """
        for kind, hashes in concepts.items():
            waiting = self._waiting.setdefault(kind, bytearray())
            waiting += hashes
            counted: Any = self._merged.get(kind, ())
            if len(waiting) >= HASH_BYTES * max(self._together, len(counted)):
                self._merge(kind)

    def counts(self) -> dict[str, int]:
        """Returns type -> number of its distinct concepts."""
        for kind in self._waiting:
            self._merge(kind)
        return {kind: len(self._merged[kind]) for kind in sorted(self._merged)}

    def _merge(self, kind: str) -> None:
        new = np.frombuffer(bytes(self._waiting[kind]), dtype=np.uint64)
        hashes = self._merged.get(kind)
        self._merged[kind] = unique_values(new if hashes is None else np.concatenate([hashes, new]))
        self._waiting[kind].clear()


_RETRY: Final = "retry-{:04d}"


def current_quarantine(folder: RunFolder, manifest: RunManifest) -> dict[str, Quarantined]:
    """Returns the records of all documents in quarantine, by id, without those that a later retry
    has processed.

    Args:
        folder: of the run.
        manifest: of it.
    """
    records: dict[str, Quarantined] = {}
    if manifest.unread:
        for number, record in enumerate(
            islice(folder.quarantine(UNREAD), manifest.unread), start=1
        ):
            records[record.id if record.id not in records else f"{record.id} ({number})"] = record
    for marker in folder.done(manifest.shards):
        if marker.quarantine is not None:
            records.update(
                (record.id, record) for record in folder.quarantine(marker.quarantine.name)
            )
    for marker in folder.retries():
        for identifier in _tried(folder, marker.shard):
            records.pop(identifier, None)
        if marker.quarantine is not None:
            records.update(
                (record.id, record) for record in folder.quarantine(marker.quarantine.name)
            )
    return records


def _tried(folder: RunFolder, name: str) -> list[str]:
    """Returns the ids of the documents that were retried together."""
    with folder.place.opened(f"{name}.jsonl") as stream:
        return [codec.decode(line).id for line in stream]


def find_quarantined(folder: RunFolder, manifest: RunManifest, identifier: str) -> Quarantined:
    """Returns the record of one document.

    Raises:
        InputError: it is not in quarantine.
    """
    records = current_quarantine(folder, manifest)
    if identifier not in records:
        raise InputError(
            f"{identifier!r} is not in the quarantine of {folder.name}; fascicle quarantine ls "
            "lists what is",
            key=identifier,
            code="not-found",
        )
    return records[identifier]


def plan_retry(
    folder: RunFolder,
    manifest: RunManifest,
    *,
    only: Collection[str],
    made_by: dict[str, str],
    pipeline: str,
) -> RunManifest | None:
    """Writes the documents to retry as the input of a shard of their own.

    Args:
        folder: of the run.
        manifest: of it.
        only: ids; all by default.
        made_by: of the pipeline that is used now.
        pipeline: its path.

    Returns:
        What is to be done; ``None`` if nothing in quarantine can be tried.

    Raises:
        UsageError: an id that is not in quarantine, or of what cannot be read; a path that cannot
            be noted.
    """
    check_path(folder.place.at(""))
    check_path(pipeline)
    records = current_quarantine(folder, manifest)
    for identifier in only:
        if identifier not in records or records[identifier].document == NOTHING:
            raise UsageError(
                f"{identifier!r} is not a document in quarantine, so it cannot be tried again; see "
                "ls"
            )
    selection = [record for name, record in records.items() if not only or name in only]
    documents = [document for record in selection if (document := record.restored()) is not None]
    if not documents:
        return None
    shard = _write_shard(folder, documents, name=_RETRY.format(1 + len(folder.retries())))
    again = replace(
        manifest,
        pipeline=pipeline,
        made_by=made_by,
        reading={"format": "jsonl"},
        unread=0,
        shards=(shard,),
    )
    folder.write_json(f"{shard.name}.json", again)
    return again


def _write_shard(folder: RunFolder, documents: Sequence[Document], *, name: str) -> Shard:
    """Writes documents as the input of a shard of their own."""
    with folder.place.written(f"{name}.jsonl") as stream:
        for document in documents:
            stream.write(codec.encode(document) + b"\n")
    path = folder.place.at(f"{name}.jsonl")
    return Shard(
        name=name,
        pieces=(InputRange(input=path, first=0, count=len(documents)),),
        characters=sum(len(document.text) for document in documents),
        sha256=documents_sha256(documents),
    )


_REPORT: Final = "report"
_TITLE: Final = "Report of a run"
_SIGMAS: Final = 5.0
_EXPECTED: Final = (
    10.0  # expected mentions of a type in a shard, from which on it is suspect to find none
)
_GROUPS: Final = 5  # groups, below which no usual rate is estimated
_DOCUMENTS: Final = 1_000  # in a group of neighbouring shards, or ...
_CHARACTERS: Final = 2_000_000  # ... so many characters: the topics of a few documents are no fault
_SHOWN: Final = 30


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """Neighbouring shards in which a type is found too rarely or too often.

    Attributes:
        shard: name of the first of them.
        last: of the last.
        type: ``source/type``.
        mentions: number of mentions that were found.
        expected: by the usual rate of the run.
    """

    shard: str
    last: str
    type: str
    mentions: int
    expected: float


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Totals of a run.

    Attributes:
        documents: number of documents that came in, with those that cannot be read.
        done: number of documents in the parts.
        quarantined: the others.
        characters: of text of those that are done.
        seconds: of work, summed over the workers.
        steps: of the seconds, those of each step for the documents that are done.
        shards: number.
        mentions: ``source/type`` -> number.
        reasons: ``step: error`` -> number of documents in quarantine.
        losses: what the format of the parts does not hold, by code -> number.
        events: of the finished documents, from readers and steps: kind, code, number, and the
            first.
        suspects: shards with odd rates.
        slowest: ids of documents, with the seconds of each; of a batch each has the share of its
            characters.
        names: the most frequent words of mentions; a name that is in no shard among the first 50
            can be missing.
        links: the same of links.
        concepts: type -> number of distinct concepts of its mentions, see
            `fascicle.pipeline.running.report.Distinct`.
        origins: of the links: packs, and the dates of their vocabularies.
        parts: files, in order.
        left_out: documents that an update replaced or withdrew, see `RunManifest`.
    """

    documents: int
    done: int
    quarantined: int
    characters: int
    seconds: float
    steps: dict[str, float]
    shards: int
    mentions: dict[str, int]
    reasons: dict[str, int]
    losses: dict[str, int]
    events: tuple[tuple[str, str, int, str], ...]
    suspects: tuple[Suspect, ...]
    slowest: tuple[tuple[str, float], ...]
    names: dict[str, int]
    links: dict[str, int]
    concepts: dict[str, int]
    origins: tuple[str, ...]
    parts: tuple[str, ...]
    left_out: dict[str, int] = {}


def _reasons(folder: RunFolder, manifest: RunManifest) -> Counter[str]:
    """Counts why documents are in quarantine."""
    quarantine = current_quarantine(folder, manifest).values()
    return Counter(f"{record.step}: {record.error}" for record in quarantine)


def _seconds(markers: Sequence[ShardMarker]) -> dict[str, Any]:
    """Returns the seconds of all shards, and of their steps."""
    steps = _sum(marker.steps for marker in markers)
    return {
        "seconds": round(sum(marker.seconds for marker in markers), 3),
        "steps": {step: round(seconds, 3) for step, seconds in steps.items()},
    }


def _planned(manifest: RunManifest) -> dict[str, Any]:
    return {"shards": len(manifest.shards), "left_out": manifest.left_out}


def sum_markers(folder: RunFolder, manifest: RunManifest, markers: Iterable[ShardMarker]) -> Totals:
    """Sums the markers; only numbers of each marker stay in memory.

    Args:
        folder: of the run.
        manifest: of it.
        markers: of all its shards.
    """
    lists, small = _Lists(), []
    for marker in chain(markers, folder.retries()):
        lists.add(marker)
        small.append(replace(marker, names={}, links={}, concepts={}, events=(), slowest=()))
    reasons = _reasons(folder, manifest)
    return Totals(
        documents=manifest.documents,
        done=sum(marker.done for marker in small),
        quarantined=reasons.total(),
        characters=sum(marker.characters for marker in small),
        **_seconds(small),
        **_planned(manifest),
        mentions=_sum(marker.mentions for marker in small),
        reasons=dict(reasons.most_common()),
        losses=_sum(marker.losses for marker in small),
        suspects=tuple(suspects(small[: len(manifest.shards)])),
        origins=merge_origins(origin for marker in small for origin in marker.origins),
        parts=tuple(marker.part.name for marker in small),
        **lists.totals(),
    )


class _Lists:
    """Sums of the long lists of markers: names, links, concepts, events and slow documents."""

    def __init__(self) -> None:
        self._names, self._links = Counter[str](), Counter[str]()
        self._concepts, self._events = Distinct(), EventCounts()
        self._slowest: list[tuple[str, float]] = []

    def add(self, marker: ShardMarker) -> None:
        """Adds the lists of a marker."""
        self._names.update(marker.names)
        self._links.update(marker.links)
        self._concepts.add(marker.concepts)
        self._events.restore(marker.events)
        slowest = [*self._slowest, *marker.slowest]
        self._slowest = sorted(slowest, key=lambda pair: (-pair[1], pair[0]))[:_SHOWN]

    def totals(self) -> dict[str, Any]:
        """Returns the values of the attributes of `Totals` that have these names."""
        return {
            "events": tuple(sorted(self._events.state())),
            "slowest": tuple(self._slowest),
            "names": most_common_names(self._names, _SHOWN),
            "links": most_common_names(self._links, _SHOWN),
            "concepts": self._concepts.counts(),
        }


def suspects(markers: Sequence[ShardMarker]) -> list[Suspect]:
    """Returns shards in which a type is absent, or found five standard deviations off the median
    rate of the run.

    Small shards are grouped with their neighbours. The deviation is the greater of what counts of
    this size have by chance (Poisson), and of the spread of the rates (1.4826 times the median
    absolute deviation).

    Args:
        markers: of all shards, in order.
    """
    groups = list(_groups(markers))
    if len(groups) < _GROUPS:
        return []
    suspicious = []
    for kind in sorted({kind for group in groups for kind in group.mentions}):
        rates = [group.mentions.get(kind, 0) / group.characters for group in groups]
        usual = median(rates)
        spread = 1.4826 * median(abs(rate - usual) for rate in rates)
        for group in groups:
            count, expected = group.mentions.get(kind, 0), usual * group.characters
            sigma = max(math.sqrt(max(expected, 1.0)), spread * group.characters)
            silent = count == 0 and expected >= _EXPECTED
            if silent or abs(count - expected) > _SIGMAS * sigma:
                about = round(expected, 1)
                suspicious.append(
                    Suspect(
                        shard=group.first,
                        last=group.last,
                        type=kind,
                        mentions=count,
                        expected=about,
                    )
                )
    return suspicious


class _Group(NamedTuple):
    """Neighbouring shards."""

    first: str
    last: str
    characters: int
    mentions: dict[str, int]


def _groups(markers: Iterable[ShardMarker]) -> Iterator[_Group]:
    """Yields groups of neighbours with enough text together; a rest with any text is judged too."""
    some: list[ShardMarker] = []
    for marker in chain(markers, (None,)):
        some += [] if marker is None else [marker]
        characters, documents = (
            sum(each.characters for each in some),
            sum(each.documents for each in some),
        )
        if characters and (marker is None or documents >= _DOCUMENTS or characters >= _CHARACTERS):
            yield _Group(
                some[0].shard, some[-1].shard, characters, _sum(each.mentions for each in some)
            )
            some = []


def write_report(folder: RunFolder, totals: Totals) -> None:
    """Writes ``report.json`` and ``report.html``."""
    folder.write_json(f"{_REPORT}.json", totals)
    with folder.place.written(f"{_REPORT}.html") as stream:
        stream.write(_page(totals).encode())


def _page(totals: Totals) -> str:
    """Returns the report as one page without outside resources."""
    origins = "Origins of the links", ["pack and vocabularies"], zip(totals.origins)
    sections = [_section(*table) for table in (*_tables(totals), origins)]
    return render_page(_TITLE, [tag("h1", _TITLE)], sections)


def _notes(totals: Totals) -> list[tuple[object, ...]]:
    return [(kind, code, first, number) for kind, code, number, first in totals.events]


def _tables(totals: Totals) -> Iterable[tuple[str, Sequence[str], Iterable[Sequence[Any]]]]:
    """Returns titles, headers and rows; in a row, text is before numbers."""
    return (
        ("Account", ("what", "number"), _account(totals).items()),
        ("Seconds by step", ("step", "seconds"), totals.steps.items()),
        ("Mentions by source and type", ("source/type", "mentions"), totals.mentions.items()),
        ("Quarantine by step and error", ("step: error", "documents"), totals.reasons.items()),
        ("Lost in the output format", ("what", "number"), totals.losses.items()),
        ("Notes about documents", ("kind", "code", "first", "number"), _notes(totals)),
        (
            "Shards with odd counts",
            ("first shard", "last shard", "source/type", "mentions", "expected"),
            map(astuple, totals.suspects),
        ),
        ("Slowest documents", ("document", "seconds"), totals.slowest),
        ("Most frequent names", ("name/type", "mentions"), totals.names.items()),
        ("Most frequent links", ("link", "mentions"), totals.links.items()),
        ("Distinct concepts", ("type of mentions", "concepts"), totals.concepts.items()),
    )


def _account(totals: Totals) -> dict[str, float]:
    rate = totals.characters / totals.seconds if totals.seconds else 0.0
    return {
        "documents": totals.documents,
        "done": totals.done,
        "in quarantine": totals.quarantined,
        **totals.left_out,
        "shards": totals.shards,
        "characters": totals.characters,
        "seconds of work": totals.seconds,
        "characters per second and worker": round(rate),
    }


def _section(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> PageSection:
    rows = list(rows)
    texts = sum(isinstance(value, str) for value in rows[0]) if rows else 0
    table = PageTable(*header, texts=texts)
    for row in rows:
        table.add(*map(isolated_name, row[:texts]), *(f"{number:,}" for number in row[texts:]))
    anchor = title.lower().replace(" ", "-")
    return PageSection(anchor=anchor, title=title, body=table.html(label=title))


def _sum(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    total: Counter[str] = Counter()
    for counter in counts:
        total.update(counter)
    return dict(sorted(total.items()))
