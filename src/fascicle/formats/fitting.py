"""Whether the mentions of a file fit its texts: where most do not, the file was made for other texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from fascicle.core.document import Document, Event
from fascicle.core.effects import event_of

STEP: Final = "reading"
_MISFITS: Final = frozenset({"text-mismatch", "offset-outside"})
_FEW: Final = 2  # misfits that say nothing of the whole file


def judged(documents: Iterable[Document]) -> Iterator[Document]:
    """Streams the documents of one file; the last says so if most mentions of all do not fit.

    Only documents after the first misfit are held back, each until the next one comes.

    Args:
        documents: of one file.
    """
    mentions = misfits = 0
    held: Document | None = None
    for document in documents:
        if held is not None:
            yield held
        wrong = [event.code for event in document.events if event.code in _MISFITS]
        misfits += len(wrong)
        mentions += len(document.mentions) + wrong.count("offset-outside")
        held = document if misfits else None
        if held is None:
            yield document
    if held is not None:
        yield held.with_events(*_verdict(mentions, misfits))


def _verdict(mentions: int, misfits: int) -> Iterator[Event]:
    if misfits < _FEW or 2 * misfits <= mentions:
        return
    message = (
        f"{misfits:,} of {mentions:,} mentions of the file do not fit its texts; their offsets were counted in other "
        "texts, or in another unit"
    )
    yield event_of("most-offsets-wrong", step=STEP, message=message)
