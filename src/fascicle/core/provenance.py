"""Where links are from: the pack, and how old its vocabularies are. A document says it once, in an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fascicle.core.document import Document, Event

STEP: Final = "linker"
LINKED: Final = "linked"  # code of the event


def linked_by(pack: str, dates: Mapping[str, str]) -> Event:
    """The event of a document that got links.

    Args:
        pack: name of the pack.
        dates: prefix of a vocabulary -> date of what the pack has of it, empty if its source stated none.
    """
    told = ", ".join(f"{prefix} ({date or 'no date'})" for prefix, date in sorted(dates.items()))
    return Event(step=STEP, kind="note", code=LINKED, message=f"links are of {pack}: {told}")


def origins_of_links(document: Document) -> tuple[str, ...]:
    """What the document says of the packs that its links are of, each once."""
    return tuple(dict.fromkeys(event.message for event in document.events if event.code == LINKED))
