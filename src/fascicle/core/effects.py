"""What losses and repairs mean for who uses the documents: the one table of their codes.

Whoever leaves something out of a document, or changes it by a rule, says so in an event that `event_of` makes. It takes
a code of this table and no other, so that no loss and no repair is without an effect. An event that comes from
elsewhere (a file, a plug-in) with another code counts as one after which the meaning may differ: it is never silent.
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
    """What a code stands for.

    Attributes:
        kind: of its events.
        effect: ``"harmless"`` if the document says what its source says; ``"incomplete"`` if what it says is right, but
            its source says more; ``"meaning"`` if it may say something else: offsets that do not fit the text, words
            that moved, mentions or records that were left out.
    """

    kind: Kind
    effect: _Effect


_LEFT_OUT: Final = Code("loss", _INCOMPLETE)
CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        "duplicate-mention": Code("repair", HARMLESS),
        "mended-tags": Code("repair", HARMLESS),
        "missing-token": Code("repair", HARMLESS),
        "offsets-moved": Code("repair", HARMLESS),  # all the texts of mentions prove it, or their events say otherwise
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
    """The event of a loss or a repair.

    Args:
        code: one of `CODES`.
        step: who reports.
        message: one sentence.
        span: where in the text, if anywhere.

    Raises:
        KeyError: a code without an effect; a fault of the program.
    """
    return Event(step=step, kind=CODES[code].kind, code=code, message=message, span=span)


def effect_of(kind: str, code: str) -> _Effect:
    """The effect of events of a kind and a code, wherever they come from."""
    known = CODES.get(code)
    if known is not None and known.kind == kind:
        return known.effect
    return HARMLESS if kind == "note" else MEANING


def is_silent(kind: str, code: str) -> bool:
    """Whether events are only counted, and shown to those who ask."""
    return effect_of(kind, code) == HARMLESS
