"""Where links are from: the pack, and how old its vocabularies are. A document says it once, in an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fascicle.core.document import LINKED, Event

STEP: Final = "linker"


def linked_by(pack: str, dates: Mapping[str, str]) -> Event:
    """The event of a document that got links.

    Args:
        pack: name of the pack.
        dates: prefix of a vocabulary -> date of what the pack has of it, empty if its source stated none.
    """
    told = ", ".join(f"{prefix} ({date or 'no date'})" for prefix, date in sorted(dates.items()))
    return Event(step=STEP, kind="note", code=LINKED, message=f"links are of {pack}: {told}")
