"""Table of the codes of losses and repairs, with the effect of each on the documents.

Code that leaves something out of a document, or changes it by a rule, reports it in an event made
by `make_event`. That function accepts only the codes of this table, so every loss and repair has a
known effect. An event with another code (from a file or a plug-in) counts as one that may change
the meaning: it is never silent.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from fascicle.core.document import Event
from fascicle.core.mention import Span

_Kind = Literal["loss", "repair"]
_Effect = Literal["harmless", "incomplete", "meaning"]
HARMLESS: Final = "harmless"
_INCOMPLETE: Final = "incomplete"
MEANING: Final = "meaning"


class _Code(NamedTuple):
    """Kind and effect of a code.

    Attributes:
        kind: kind of the events with this code.
        effect: ``"harmless"`` if the document has the content of its source; ``"incomplete"`` if
            its content is right, but the source has more; ``"meaning"`` if its content may differ
            from the source: offsets that do not fit the text, words that moved, mentions or records
            that were left out.
    """

    kind: _Kind
    effect: _Effect


# Of the codes of repairs that change nothing, those about offsets are confirmed by the texts of all
# mentions.
CODES: Final = MappingProxyType(
    {
        **dict.fromkeys(
            ("duplicate-mention", "mended-tags", "missing-token"), _Code("repair", HARMLESS)
        ),
        **dict.fromkeys(("offsets-moved", "overlapping-fragments"), _Code("repair", HARMLESS)),
        **dict.fromkeys(("fragments-joined", "fragments-sorted"), _Code("repair", HARMLESS)),
        "duplicate-id": _Code("repair", _INCOMPLETE),
        **{
            f"{what}-left-out": _Code("loss", _INCOMPLETE)
            for what in (
                *(
                    "attributes",
                    "categories",
                    "coreferences",
                    "equivalences",
                    "events",
                    "infons",
                    "links",
                    "notes",
                ),
                *("other-text", "parts", "regions", "relations", "suffix", "suggestions"),
                *("triggers", "user-data"),
            )
        },
        **dict.fromkeys(
            ("no-vote", "long-mention", "long-word", "unknown-word", "pairs-left-out"),
            _Code("loss", _INCOMPLETE),
        ),
        "unread-text": _Code("loss", _INCOMPLETE),
        "markup-kept": _Code("repair", _INCOMPLETE),
        **dict.fromkeys(
            ("dangling-reference", "malformed-line", "mention-without-type"), _Code("loss", MEANING)
        ),
        **dict.fromkeys(
            ("offset-outside", "duplicate-mention-differs", "uneven-columns"),
            _Code("loss", MEANING),
        ),
        **dict.fromkeys(
            ("duplicate-annotation-id", "quotes-kept", "offsets-by-words", "offsets-of-passages"),
            _Code("repair", MEANING),
        ),
        **dict.fromkeys(("text-mismatch", "most-offsets-wrong"), _Code("repair", MEANING)),
    }
)


def make_event(code: str, *, step: str, message: str, span: Span | None = None) -> Event:
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


def find_effect(kind: str, code: str) -> _Effect:
    """Returns the effect of events of a kind and a code, whatever their origin."""
    effect = CODES.get(code)
    if effect is not None and effect.kind == kind:
        return effect.effect
    return HARMLESS if kind == "note" else MEANING


def is_silent(kind: str, code: str) -> bool:
    """True if events are only counted, and shown only on request."""
    return find_effect(kind, code) == HARMLESS
