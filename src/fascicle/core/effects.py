"""Table of the codes of losses and repairs, with the effect of each on the documents.

Code that leaves something out of a document, or changes it by a rule, reports it in an event made by `event_of`. That
function accepts only the codes of this table, so every loss and repair has a known effect. An event with another code
(from a file or a plug-in) counts as one that may change the meaning: it is never silent.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from fascicle.core.document import Event
from fascicle.core.spans import Span

Kind = Literal["loss", "repair"]
_Effect = Literal["harmless", "incomplete", "meaning"]
HARMLESS: Final = "harmless"
_INCOMPLETE: Final = "incomplete"
MEANING: Final = "meaning"


class Code(NamedTuple):
    """Kind and effect of a code.

    Attributes:
        kind: kind of the events with this code.
        effect: ``"harmless"`` if the document has the content of its source; ``"incomplete"`` if its content is right,
            but the source has more; ``"meaning"`` if its content may differ from the source: offsets that do not fit
            the text, words that moved, mentions or records that were left out.
    """

    kind: Kind
    effect: _Effect


_LEFT_OUT: Final = Code("loss", _INCOMPLETE)
CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        "duplicate-mention": Code("repair", HARMLESS),
        "mended-tags": Code("repair", HARMLESS),
        "missing-token": Code("repair", HARMLESS),
        "offsets-moved": Code("repair", HARMLESS),  # the texts of all mentions confirm it; for others there are events
        "overlapping-fragments": Code("repair", HARMLESS),
        "duplicate-id": Code("repair", _INCOMPLETE),
        "attributes-left-out": _LEFT_OUT,
        "categories-left-out": _LEFT_OUT,
        "coreferences-left-out": _LEFT_OUT,
        "equivalences-left-out": _LEFT_OUT,
        "events-left-out": _LEFT_OUT,
        "infons-left-out": _LEFT_OUT,
        "links-left-out": _LEFT_OUT,
        "no-vote": _LEFT_OUT,
        "notes-left-out": _LEFT_OUT,
        "other-text-left-out": _LEFT_OUT,
        "parts-left-out": _LEFT_OUT,
        "regions-left-out": _LEFT_OUT,
        "relations-left-out": _LEFT_OUT,
        "suffix-left-out": _LEFT_OUT,
        "triggers-left-out": _LEFT_OUT,
        "user-data-left-out": _LEFT_OUT,
        "long-mention": _LEFT_OUT,
        "long-word": _LEFT_OUT,
        "unknown-word": _LEFT_OUT,
        "unread-text": _LEFT_OUT,
        "dangling-reference": Code("loss", MEANING),
        "malformed-line": Code("loss", MEANING),
        "mention-without-type": Code("loss", MEANING),
        "offset-outside": Code("loss", MEANING),
        "duplicate-mention-differs": Code("loss", MEANING),
        "uneven-columns": Code("loss", MEANING),
        "duplicate-annotation-id": Code("repair", MEANING),
        "quotes-kept": Code("repair", MEANING),
        "offsets-of-passages": Code("repair", MEANING),
        "text-mismatch": Code("repair", MEANING),
        "most-offsets-wrong": Code("repair", MEANING),
    }
)


def event_of(code: str, *, step: str, message: str, span: Span | None = None) -> Event:
    """Returns the event of a loss or a repair.

    Args:
        code: one of `CODES`.
        step: name of the step that reports.
        message: one sentence.
        span: the place in the text, or ``None``.

    Raises:
        KeyError: a code that is not in the table, which is a programming error.
    """
    return Event(step=step, kind=CODES[code].kind, code=code, message=message, span=span)


def effect_of(kind: str, code: str) -> _Effect:
    """Returns the effect of events of a kind and a code, whatever their origin."""
    known = CODES.get(code)
    if known is not None and known.kind == kind:
        return known.effect
    return HARMLESS if kind == "note" else MEANING


def is_silent(kind: str, code: str) -> bool:
    """True if events are only counted, and shown only on request."""
    return effect_of(kind, code) == HARMLESS
