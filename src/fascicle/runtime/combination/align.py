"""Several systems side by side: every distinct mention, and which systems predicted it.

Everything is by identity, ``(document id, type, spans)``: a system has one vote for each. Systems
that are aligned must be about the same texts; that is checked as far as hashes and lengths of texts
are known.

A document that one system lists and another does not is never silently taken for empty (`MISSING`):

* ``"auto"``: a system that lists every document it read, also those without mentions (JSON Lines,
  documents), did not read this one: it has no vote there, and rules count among the others. A TSV
  cannot list documents without mentions: there, such a document counts as read, and nothing was
  found in it.
* ``"no-vote"``: whoever does not list the document has no vote, a TSV too.
* ``"empty"``: whoever does not list the document found nothing in it.
* ``"refuse"``: an error.

`Votes.unread` and `Votes.assumed` say where this was decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from fascicle.core.arrays import Bools, Ints, int_array
from fascicle.core.document import Event, Mention, MentionsById
from fascicle.core.mention import Fragments
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError

Missing = Literal["auto", "no-vote", "empty", "refuse"]
MISSING: tuple[Missing, ...] = get_args(Missing)
_NUMBERS = ("no system", "one system", "two systems")


@dataclass(frozen=True, kw_only=True)
class System:
    """Predictions of one system, and what is known about the texts.

    Attributes:
        name: no other system that it is aligned with has it.
        mentions: document id -> its mentions, whatever their ``source``; an empty entry was read
            without a find.
        hashes: document id -> SHA-256 of the text in hexadecimal, where known.
        lengths: document id -> code points of the text, where known.
        events: document id -> what was not done.
        lists_all: whether documents without mentions are listed, too; a TSV cannot.
    """

    name: str
    mentions: MentionsById
    hashes: Mapping[str, str] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    events: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    lists_all: bool = True

    def types(self) -> set[str]:
        """Returns the types that it used."""
        return {mention.type for mentions in self.mentions.values() for mention in mentions}


@dataclass(frozen=True, kw_only=True, eq=False)
class Votes:
    """Every distinct mention of several systems, and who predicted it; M mentions, D documents, S
    systems.

    Attributes:
        systems: their names.
        documents: ids of all documents that any system lists, sorted by code points.
        document: index into ``documents`` of each mention, int64 ``[M]``.
        predicted: which systems predicted it, bool ``[M, S]``.
        voters: which systems have a vote in a document, bool ``[D, S]``.
        entries: what the systems have, those of one mention together, in the order of the systems.
        bounds: first entry of each mention, int64 ``[M + 1]``.
        unread: system -> documents in which it has no vote.
        assumed: system -> documents that it does not list and that count as read without a find.
        hashes: document id -> SHA-256 of its text, where any system knows it.
        events: document id -> the distinct events of all systems, sorted.
        duplicates: mentions that one system had more than once, beyond the first.
    """

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    document: Ints
    predicted: Bools
    voters: Bools
    entries: tuple[Mention, ...]
    bounds: Ints
    unread: Mapping[str, tuple[str, ...]]
    assumed: Mapping[str, tuple[str, ...]]
    hashes: Mapping[str, str]
    events: Mapping[str, tuple[Event, ...]]
    duplicates: int = 0


def align(systems: Sequence[System], *, missing: Missing = "auto", least: int = 2) -> Votes:
    """Puts the mentions of several systems side by side.

    Of a mention that one system has twice, the one with the higher score is kept.

    Args:
        systems: at least two, with distinct names.
        missing: what a document is that a system does not list, one of `MISSING`.
        least: systems that there must be; 1 for a filter, which a single system can stand before.

    Raises:
        UsageError: fewer systems than that, two with one name, or another ``missing``.
        InputError: two systems read different texts under one id, a mention ends beyond its text, a
            system shares no document with any other, or (``"refuse"``) a document that a system
            lacks.
    """
    _check_call(systems, missing, least=least)
    documents = tuple(sorted({identifier for system in systems for identifier in system.mentions}))
    if len(systems) > 1:
        _check_shared(systems)
    hashes = _one_text(systems)
    _check_offsets(systems)
    voters, unread, assumed = _voters(systems, documents, missing)
    table = _Table(documents)
    for column, system in enumerate(systems):
        table.enter(system, column)
    entries, bounds = table.sorted_entries()
    return Votes(
        systems=tuple(system.name for system in systems),
        documents=documents,
        document=int_array(table.document),
        predicted=table.predicted(len(systems)),
        voters=voters,
        entries=entries,
        bounds=bounds,
        unread=unread,
        assumed=assumed,
        hashes=hashes,
        events=_events(systems),
        duplicates=table.duplicates,
    )


class _Table:
    """Distinct mentions in the order in which they are met, and an entry for each system that
    has one.
    """

    def __init__(self, documents: Sequence[str]) -> None:
        """Starts with nothing."""
        self.document: list[int] = []  # of each mention
        self.rows: list[int] = []  # of each entry, its mention
        self.columns: list[int] = []  # of each entry, its system
        self.entries: list[Mention] = []
        self.duplicates = 0
        self._found: dict[str, dict[tuple[str, Fragments], int]] = {
            identifier: {} for identifier in documents
        }
        self._places = {identifier: place for place, identifier in enumerate(documents)}
        self._last: list[int] = []  # of each mention, its last entry

    def enter(self, system: System, column: int) -> None:
        """Enters the mentions of one system; of two that are the same, the one with the higher
        score.
        """
        first = len(self.entries)
        for identifier, mentions in system.mentions.items():
            rows, place = self._found[identifier], self._places[identifier]
            for mention in mentions:
                row = rows.setdefault((mention.type, mention.spans), len(self.document))
                if row == len(self.document):
                    self.document.append(place)
                    self._last.append(-1)
                last = self._last[row]
                if last >= first:
                    self.duplicates += 1
                    self.entries[last] = max(self.entries[last], mention, key=_sureness)
                    continue
                self._last[row] = len(self.entries)
                self.rows.append(row)
                self.entries.append(mention)
        self.columns += [column] * (len(self.entries) - first)

    def predicted(self, systems: int) -> Bools:
        """Returns which systems predicted each mention, ``[M, S]``."""
        predicted = np.zeros((len(self.document), systems), dtype=np.bool_)
        rows = int_array(self.rows)
        predicted[rows, int_array(self.columns)] = True
        return predicted

    def sorted_entries(self) -> tuple[tuple[Mention, ...], Ints]:
        """Returns the entries by mention and system, and the first entry of each mention."""
        rows = int_array(self.rows)
        order = np.argsort(rows, kind="stable")
        bounds = np.searchsorted(rows[order], np.arange(len(self.document) + 1))
        return tuple(self.entries[at] for at in order.tolist()), bounds


def _sureness(mention: Mention) -> float:
    return -1.0 if mention.score is None else mention.score


def _voters(
    systems: Sequence[System], documents: Sequence[str], missing: Missing
) -> tuple[Bools, dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Returns which systems vote on which documents; and, by system, documents without its vote
    or taken as empty.
    """
    voters = np.ones((len(documents), len(systems)), dtype=np.bool_)
    unread: dict[str, tuple[str, ...]] = {}
    assumed: dict[str, tuple[str, ...]] = {}
    for column, system in enumerate(systems):
        rows = [
            row for row, identifier in enumerate(documents) if identifier not in system.mentions
        ]
        lacking = tuple(documents[row] for row in rows)
        if not lacking:
            continue
        if missing == "refuse":
            raise InputError(
                f"{system.name} lacks {some_documents(lacking)} that other systems have; run it on "
                "these too, or choose another way than refusing documents that are missing"
            )
        if missing == "empty" or (missing == "auto" and not system.lists_all):
            assumed[system.name] = lacking
        else:
            unread[system.name] = lacking
            voters[rows, column] = False
    return voters, unread, assumed


def _check_call(systems: Sequence[System], missing: str, *, least: int) -> None:
    if missing not in MISSING:
        raise UsageError(
            f"missing documents were to be {missing!r}; choose from {', '.join(MISSING)}"
        )
    if len(systems) < least:
        count = f"one system ({systems[0].name}) was" if systems else "no system was"
        raise UsageError(f"{count} given; give the predictions of at least {_NUMBERS[least]}")
    names = [system.name for system in systems]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two systems are called {twice!r}; give each a name of its own")


def _check_shared(systems: Sequence[System]) -> None:
    """Raises if a system shares no document with any other: its ids differ, or it is about
    another corpus.
    """
    for system in systems:
        rivals = [other for other in systems if other is not system]
        if all(system.mentions.keys().isdisjoint(other.mentions) for other in rivals):
            ids, theirs = (
                sorted(system.mentions),
                sorted({i for other in rivals for i in other.mentions}),
            )
            raise InputError(
                f"{system.name} ({some_documents(ids)}) and "
                f"{', '.join(other.name for other in rivals)} ({some_documents(theirs)}) have no "
                "document in common; give predictions for the same corpus, with the same document "
                "ids"
            )


def _one_text(systems: Sequence[System]) -> dict[str, str]:
    """Returns the hash of every text that is known.

    Raises:
        InputError: two systems read different texts; the first document is named.
    """
    hashes: dict[str, tuple[str, str]] = {}
    different: dict[str, tuple[str, str]] = {}
    for system in systems:
        for identifier, digest in system.hashes.items():
            value, owner = hashes.setdefault(identifier, (digest.lower(), system.name))
            if value != digest.lower():
                different.setdefault(identifier, (owner, system.name))
    if different:
        identifier = min(different)
        owner, other = different[identifier]
        raise InputError(
            f"{owner} and {other} were made on different texts of document {identifier!r} "
            f"({plural(len(different), 'such document')} in all), so their offsets cannot be "
            "compared; predict on the same texts"
        )
    return {identifier: value for identifier, (value, _) in hashes.items()}


def _check_offsets(systems: Sequence[System]) -> None:
    lengths = {
        identifier: length for system in systems for identifier, length in system.lengths.items()
    }
    if not lengths:
        return
    for system in systems:
        for identifier, mentions in system.mentions.items():
            length = lengths.get(identifier)
            beyond = next((m for m in mentions if length is not None and m.end > length), None)
            if beyond is not None:
                raise InputError(
                    f"{system.name}: in document {identifier!r}, which has "
                    f"{plural(length or 0, 'character')}, a mention of type {beyond.type!r} ends "
                    f"at {beyond.end:,}; give offsets in code points of this text"
                )


def _events(systems: Sequence[System]) -> dict[str, tuple[Event, ...]]:
    gathered: dict[str, set[Event]] = {}
    for system in systems:
        for identifier, events in system.events.items():
            gathered.setdefault(identifier, set()).update(events)
    return {
        identifier: tuple(sorted(events, key=_event_order))
        for identifier, events in gathered.items()
        if events
    }


def _event_order(event: Event) -> tuple[str, str, str, str, tuple[int, int]]:
    return event.step, event.kind, event.code, event.message, event.span or (-1, -1)


def some_documents(identifiers: Sequence[str], *, limit: int = 3) -> str:
    """Returns the number of documents and the names of the first ones."""
    names = ", ".join(map(repr, identifiers[:limit]))
    return (
        f"{plural(len(identifiers), 'document')}: "
        f"{names}{', ...' if len(identifiers) > limit else ''}"
    )
