"""Relations in JSON records of doccano, Prodigy, SpERT, CoNLL04, DyGIE, BigBIO, PubAnnotation, and
in our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from fascicle.core.document import Document, Event, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.mention import Span
from fascicle.formats.collect import text_facts
from fascicle.formats.report import WriteReport

RELATIONS: Final = "relations"
_TYPES: Final = ("type", "label", "pred")
# Fields with the two ends of a relation: spans, ids, or numbers of mentions.
_ENDS: Final = (
    ("head_span", "child_span"),
    ("from_id", "to_id"),
    ("head", "tail"),
    ("subj", "obj"),
    ("arg1_id", "arg2_id"),
)
_ROLES: Final = {
    **{"head_span": "head", "child_span": "child", "from_id": "from", "to_id": "to"},
    **{"arg1_id": "arg1", "arg2_id": "arg2"},
}
_ARGUMENTS: Final = "arguments"  # pairs of a role and the number of a mention, in our records
# Fields that say nothing more about a relation: Prodigy has the last tokens of the ends, too.
_NO_FACTS: Final = frozenset({"id", "color", "head", "child", _ARGUMENTS})
_PREDICTED: Final = ("logit", "score")  # what DyGIE has behind the type
_LISTED: Final = ("head", "tail")  # roles in DyGIE, which names none
# Fields of records that hold more than mentions, and what their loss is called.
_STRUCTURES: Final = {
    **{RELATIONS: "relations", "relation": "relations", "events": "events", "event": "events"},
    **dict.fromkeys(("clusters", "corefs", "coreferences"), "coreferences"),
    "suggestions": "suggestions",
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
    statements = _leaves(record.get(RELATIONS))
    have_ids = any(mention.id is not None for mention in mentions)
    losses = 0
    for stated in statements:
        relation = _relation(stated, mentions, have_ids=have_ids)
        losses += relation is None
        if relation is not None:
            yield relation
    if losses:
        message = (
            f"relations are not read if their form is unknown, or an end is no mention ({losses:,})"
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


def is_nested(values: list[Any]) -> bool:
    """True if a list has only lists whose first value is a list: one for each sentence."""
    return bool(values) and all(
        isinstance(part, list) and (not part or isinstance(part[0], list)) for part in values
    )


def _leaves(value: Any) -> list[Any]:
    """Returns the statements of a list, or of one list for each sentence; empty for what is no
    list.
    """
    if not isinstance(value, list):
        return [value] if isinstance(value, dict) and value else []
    return list(chain.from_iterable(value)) if is_nested(value) else value


def _relation(
    stated: Any, mentions: Sequence[StatedArgument], *, have_ids: bool
) -> Relation | None:
    """Returns a relation, or ``None`` if its form is unknown or an end is no mention."""
    if isinstance(stated, list):
        if len(stated) < 5 or not all(isinstance(place, int) for place in stated[:4]):
            return None
        content = _of_list(stated)
    elif isinstance(stated, dict):
        content = _of_object(stated)
    else:
        return None
    keys = [_key(end, mentions, have_ids=have_ids) for end in content.ends]
    if None in keys or (len(keys) != 2 and _ARGUMENTS not in stated):
        return None
    roles = [_ROLES.get(role, role) for role in content.roles]
    arguments = tuple((role, key) for role, key in zip(roles, keys, strict=True) if key)
    attributes = tuple(text_facts(content.facts).items())
    return Relation(type=str(content.type), arguments=arguments, attributes=attributes)


class _Content(NamedTuple):
    """Parts of a relation: ``ends`` name a mention for each of the ``roles``."""

    type: Any
    roles: Sequence[str]
    ends: Sequence[Any]
    facts: dict[str, Any]


def _of_list(stated: list[Any]) -> _Content:
    ranges = stated[:2], stated[2:4]  # with inclusive ends
    ends = [{"start": first, "end": last + 1} for first, last in ranges]
    return _Content(stated[4], _LISTED, ends, dict(zip(_PREDICTED, stated[5:], strict=False)))


def _of_object(stated: dict[str, Any]) -> _Content:
    name = next((name for name in _TYPES if isinstance(stated.get(name), str)), "")
    roles, ends = _ends(stated)
    no_facts = _NO_FACTS.union([name], () if _ARGUMENTS in stated else roles)
    facts = {key: stated[key] for key in stated if key not in no_facts and stated[key] != []}
    return _Content(stated.get(name, ""), roles, ends, facts)


def _ends(stated: Mapping[str, Any]) -> tuple[Sequence[str], list[Any]]:
    """Returns the roles of the ends of a relation, and what names the mention of each."""
    match stated.get(_ARGUMENTS):
        case list(pairs) if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            return [str(role) for role, _ in pairs], [end for _, end in pairs]
    roles = next((pair for pair in _ENDS if stated.keys() >= set(pair)), ())
    return roles, [stated[role] for role in roles]


def write_relations(document: Document, report: WriteReport) -> list[dict[str, Any]]:
    """Returns the relations of a document for our records, where mentions are numbered; counts
    attributes that have the name of another field.
    """
    numbers = {mention.key: at for at, mention in enumerate(document.mentions)}
    records = []
    for relation in document.relations:
        pairs = [(role, numbers[key]) for role, key in relation.arguments]
        is_usual = tuple(role for role, _ in pairs) == _LISTED
        record = {"type": relation.type, **(dict(pairs) if is_usual else {_ARGUMENTS: pairs})}
        facts = dict(relation.attributes[::-1])
        taken = _NO_FACTS.union(record, *_ENDS)
        record |= {name: facts[name] for name in reversed(facts) if name not in taken}
        if losses := len(relation.attributes) - len(facts.keys() - taken):
            report.lose("attributes", document, count=losses)
        records.append(record)
    return records


def _key(end: Any, mentions: Sequence[StatedArgument], *, have_ids: bool) -> MentionKey | None:
    """Returns the key of the mention that an end of a relation names by its span, its id or its
    number.
    """
    if isinstance(end, dict):
        span = (end.get("start"), end.get("end", 0))
        keys = [mention.key for mention in mentions if tuple(mention.spans) == (span,)]
        matches = iter(sorted(keys, key=lambda key: not key or key[1] != end.get("label")))
    elif have_ids:
        matches = (
            mention.key for mention in mentions if mention.id is not None and mention.id == end
        )
    else:
        return mentions[end].key if type(end) is int and 0 <= end < len(mentions) else None
    return next(matches, None)
