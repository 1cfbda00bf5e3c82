"""Where links are from: the pack, and how old its vocabularies are. A document says it once, in an event."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fascicle.core.document import LINKED, Event

STEP: Final = "linker"


def linked_by(pack: str, vocabularies: Iterable[tuple[str, str]], *, step: str) -> Event:
    """The event of a document that got links.

    Args:
        pack: name of the pack.
        vocabularies: prefix of each, and the date of what the pack has of it, empty if its source stated none.
        step: that gave the links.
    """
    return Event(step=step, kind="note", code=LINKED, message=f"links are of {dated(pack, vocabularies)}")


def dated(pack: str, vocabularies: Iterable[tuple[str, str]]) -> str:
    """A pack with the date of each vocabulary; see `linked_by`."""
    told = ", ".join(f"{prefix} ({date or 'no date'})" for prefix, date in sorted(set(vocabularies)))
    return f"{pack}: {told}"


def merged(origins: Iterable[str]) -> tuple[str, ...]:
    """What several documents say of their links (`Document.origins`), with one sentence for each pack."""
    found: dict[str, set[str]] = {}
    for origin in origins:
        pack, _, told = origin.partition(": ")
        found.setdefault(pack, set()).update(told.split(", "))
    return tuple(f"{pack}: {', '.join(sorted(told))}" for pack, told in found.items())
