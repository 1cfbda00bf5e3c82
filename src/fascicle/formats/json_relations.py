"""Relations in JSON records of doccano, Prodigy, SpERT, CoNLL04, DyGIE and PubAnnotation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from fascicle.core.document import Event, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.mention import Span

RELATIONS: Final = "relations"
_TYPES: Final = ("type", "label", "pred")
# Fields with the two ends of a relation: spans, ids, or numbers of mentions.
_ENDS: Final = (
    ("head_span", "child_span"),
    ("from_id", "to_id"),
    ("head", "tail"),
    ("subj", "obj"),
)
_ROLES: Final = {"head_span": "head", "child_span": "child", "from_id": "from", "to_id": "to"}
_LISTED: Final = ("head", "tail")  # roles in DyGIE, which names none
# Fields of records that hold more than mentions, and what their loss is called.
_STRUCTURES: Final = {
    **{RELATIONS: "relations", "relation": "relations", "events": "events", "event": "events"},
    **dict.fromkeys(("clusters", "corefs", "coreferences"), "coreferences"),
}


class StatedArgument(NamedTuple):
    """Mention that relations can refer to: its id and spans as the file states them, and its key
    in the document.
    """

    id: Any
    spans: Sequence[Span]
    key: MentionKey | None


def read_relations(
    record: Mapping[str, Any], mentions: Sequence[StatedArgument], events: list[Event], *, step: str
) -> Iterator[Relation]:
    """Yields the relations of a record, and counts those that cannot be read.

    Args:
        record: with or without relations.
        mentions: in the order of the record.
        events: receives the count.
        step: name of the reader, for the event.
    """
    statements, have_ids = (
        _leaves(record.get(RELATIONS)),
        any(mention.id is not None for mention in mentions),
    )
    lost = 0 if mentions else len(statements)
    for stated in statements if mentions else ():
        relation = _relation(stated, mentions, have_ids=have_ids)
        lost += relation is None
        if relation is not None:
            yield relation
    if lost:
        message = (
            f"relations are not read if their form is unknown, or an end is no mention ({lost:,})"
        )
        events.append(make_event("relations-left-out", step=step, message=message))


def structures_left_out(
    record: Mapping[str, Any], *, step: str, beside: str = ""
) -> Iterator[Event]:
    """Yields events that count what a record has beside mentions, without the field ``beside``,
    which is read.
    """
    if record.keys().isdisjoint(_STRUCTURES):
        return
    for name, what in _STRUCTURES.items():
        if name in record and name != beside and (count := len(_leaves(record.get(name)))):
            yield make_event(
                f"{what}-left-out", step=step, message=f"{name} are not read ({count:,})"
            )


def _leaves(value: Any) -> list[Any]:
    """Returns the statements of a list, or of one list for each sentence; empty for what is no
    list.
    """
    if not isinstance(value, list):
        return [value] if isinstance(value, dict) and value else []
    is_nested = value and all(
        isinstance(one, list) and (not one or isinstance(one[0], list)) for one in value
    )
    return [one for listed in value for one in listed] if is_nested else value


def _relation(
    stated: Any, mentions: Sequence[StatedArgument], *, have_ids: bool
) -> Relation | None:
    if isinstance(stated, list) and len(stated) >= 5:
        *ends, kind = stated[:5]
        roles: tuple[str, ...] = _LISTED
        named: list[Any] = [{"start": ends[0], "end": ends[1]}, {"start": ends[2], "end": ends[3]}]
    elif isinstance(stated, dict):
        roles = next((pair for pair in _ENDS if pair[0] in stated and pair[1] in stated), ("", ""))
        named = [stated.get(role) for role in roles]
        kind = next((stated[name] for name in _TYPES if isinstance(stated.get(name), str)), "")
    else:
        return None
    last = int(isinstance(stated, list))
    keys = [_key(end, mentions, last=last, have_ids=have_ids) for end in named]
    arguments = tuple(
        (_ROLES.get(role, role), key)
        for role, key in zip(roles, keys, strict=True)
        if key is not None
    )
    return Relation(type=str(kind), arguments=arguments) if len(arguments) == len(_LISTED) else None


def _key(
    end: Any, mentions: Sequence[StatedArgument], *, last: int, have_ids: bool
) -> MentionKey | None:
    """Returns the key of the mention that an end of a relation names by its span, its id or its
    number.
    """
    if isinstance(end, dict):
        span = (end.get("start"), end.get("end", 0) + last)
        return next((one.key for one in mentions if tuple(one.spans) == (span,)), None)
    if have_ids:
        return next((one.key for one in mentions if one.id is not None and one.id == end), None)
    return mentions[end].key if type(end) is int and 0 <= end < len(mentions) else None
