"""Documents that a run was planned with, and those that a later file replaced or withdrew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import msgspec

from fascicle.formats.files import Seen


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Consecutive documents of one input in one shard, or the ids that the input withdraws.

    Attributes:
        input: its number among all inputs of the run.
        shard: name.
        first: place in the shard of the first document.
        ids: of the documents.
        versions: place among them -> version of a document, where it is not 1.
        withdrawn: ids of documents that the input withdraws, after all its documents.
    """

    input: int
    shard: str = ""
    first: int = 0
    ids: tuple[str, ...] = ()
    versions: dict[int, int] = msgspec.field(default_factory=dict)
    withdrawn: tuple[str, ...] = ()

    def documents(self) -> Iterator[tuple[str, _State]]:
        """Yields each document id with the place of the document."""
        for at, identifier in enumerate(self.ids):
            yield identifier, _State(self.input, self.versions.get(at, 1), self.shard, self.first + at)


class _State(NamedTuple):
    """One version of a document, and its place."""

    input: int
    version: int
    shard: str
    place: int


def replaced(history: Callable[[], Iterable[Entry]]) -> dict[str, tuple[int, ...]]:
    """Returns the documents that are not in their latest version, or were withdrawn.

    A later input replaces the documents that it has again, and withdraws others; of several versions in one input the
    highest counts, and of equal ones the last, as in `fascicle.formats.files.latest`. Memory holds the hashes of all
    ids, and the ids of documents that occur again or are withdrawn.

    Args:
        history: gives all entries, in the order of the inputs; it is called twice.

    Returns:
        Shard -> places of documents, in order.
    """
    seen = Seen()
    again = {identifier for entry in history() for identifier in _known(entry, seen)}
    now: dict[str, _State] = {}
    found: defaultdict[str, list[int]] = defaultdict(list)
    for entry in history():
        gone = [now.pop(identifier) for identifier in entry.withdrawn if identifier in now]
        for identifier, state in entry.documents():
            if identifier not in again:
                continue
            old = now.get(identifier)
            if old is not None and state[:2] < old[:2]:
                gone.append(state)
                continue
            now[identifier] = state
            gone += [] if old is None else [old]
        for state in gone:
            found[state.shard].append(state.place)
    return {shard: tuple(sorted(places)) for shard, places in found.items()}


def _known(entry: Entry, seen: Seen) -> Iterator[str]:
    """Yields ids of an entry that earlier entries have, or that are withdrawn."""
    return chain((one for one in entry.ids if not seen.add(one)), entry.withdrawn)
