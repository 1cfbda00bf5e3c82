"""Text that the network did not read: ends of long words, unknown words, and gaps."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints, int_array
from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.mention import Span
from fascicle.core.wording import has_letters, plural
from fascicle.text.pieces import Pieces
from fascicle.text.windows import truncated_units

_LONG: Final = "long-word"
_UNKNOWN: Final = "unknown-word"
_UNREAD: Final = "unread-text"
_REASONS: Final = MappingProxyType(
    {
        _LONG: "with more pieces than a window holds, of which the first {capacity} were read",
        _UNKNOWN: "unknown to the tokenizer, so that the network did not see the letters",
        _UNREAD: "that no word covers, so that the network did not see the characters",
    }
)


class UnseenStretches:
    """Collects stretches of one text, part by part."""

    def __init__(self, document: Document, *, capacity: int, unknown: int | None) -> None:
        """Starts with nothing.

        Args:
            document: the document that is read.
            capacity: most pieces in a window.
            unknown: id of the piece that stands for what the tokenizer does not know, if there is
                one.
        """
        self.text = document.text
        self._capacity = capacity
        self._unknown = unknown
        self._stretches: dict[str, list[Span]] = {code: [] for code in _REASONS}

    def take(self, pieces: Pieces, part: Span) -> None:
        """Takes the next part of the text.

        Args:
            pieces: of the part, with ranges in the text.
            part: its range; parts come in order and leave nothing out.
        """
        long = truncated_units(pieces, capacity=self._capacity)
        self._stretches[_LONG] += _spans(pieces.units[long])
        unknown = _spans(pieces.units[_unknown_words(pieces, self._unknown)])
        self._stretches[_UNKNOWN] += self._with_letters(unknown)
        self._take_gaps(_gaps(pieces, part), part)

    def _take_gaps(self, gaps: Iterable[Span], part: Span) -> None:
        unread = self._stretches[_UNREAD]
        for start, end in gaps:
            is_inside = part[0] < start and end < part[1]
            if is_inside and self.text[start:end].isspace():
                continue  # nearly all gaps
            if unread and unread[-1][1] == start:  # it began in the part before
                start = unread.pop()[0]
            unread.append((start, end))

    def events(self) -> tuple[Event, ...]:
        """Returns the events about text that the network could not read fully; call it after all
        windows were taken.
        """
        # a gap may get its letters from the next part, so gaps are judged here
        stretches = {**self._stretches, _UNREAD: self._with_letters(self._stretches[_UNREAD])}
        return tuple(self._event(code, stretches[code]) for code in _REASONS if stretches[code])

    def _event(self, code: str, spans: list[Span]) -> Event:
        count = plural(len(spans), "stretch of text", "stretches of text")
        message = f"{count} {_REASONS[code].format(capacity=self._capacity)}"
        return make_event(code, step="read", message=message, span=spans[0])

    def _with_letters(self, spans: Iterable[Span]) -> list[Span]:
        return [span for span in spans if has_letters(self.text[slice(*span)])]


def _unknown_words(pieces: Pieces, unknown: int | None) -> Ints:
    """Returns the numbers of the units whose only piece is the unknown token."""
    if unknown is None or not len(pieces.first):
        return int_array([])
    sizes = np.bincount(pieces.unit_of[pieces.unit_of >= 0], minlength=len(pieces.first))
    return np.flatnonzero((pieces.ids[pieces.first] == unknown) & (sizes == 1))


def _gaps(pieces: Pieces, part: Span) -> list[Span]:
    """Returns the stretches of a part that no unit covers."""
    order = np.argsort(pieces.units[:, 0], kind="stable")
    starts = np.append(pieces.units[order, 0], part[1])
    ends = np.maximum.accumulate(np.append(part[0], pieces.units[order, 1]))
    is_gap = ends < starts
    return _spans(np.stack([ends[is_gap], starts[is_gap]], axis=1))


def _spans(rows: Ints) -> list[Span]:
    return [(start, end) for start, end in rows.tolist()]
