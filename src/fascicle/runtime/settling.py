"""Own names against longer and other mentions of a model in the same place."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from fascicle.core.document import Event, Mention, Patch, in_order
from fascicle.core.mention import MentionKey, overlapping_mentions
from fascicle.core.wording import plural


def settle(
    patch: Patch,
    *,
    step: str,
    is_own: Callable[[Mention], bool],
    yields: Callable[[Mention], bool] = lambda one: False,
    waits: bool = False,
) -> Patch:
    """Decides between own names and mentions that overlap them: a longer mention with a link stays,
    no other does.

    Args:
        patch: with all mentions.
        step: by which the event is counted.
        is_own: whether a mention is an own name.
        yields: whether another mention gives way even if it is longer.
        waits: whether longer mentions without a link stay too, because they may get one.
    """
    gone: dict[MentionKey, Mention] = {}
    for (_, mention), (_, other) in overlapping_mentions(in_order(patch.add)):
        if is_own(mention) == is_own(other):
            continue
        name, rival = (mention, other) if is_own(mention) else (other, mention)
        longer = _covers(rival, name) and not yields(rival)
        linked = any(not link.nil for link in rival.links)
        if not (longer and waits and not linked):
            out = name if longer and linked else rival
            gone[out.key] = out
    if not gone:
        return patch
    own_spans = {(mention.type, mention.spans) for mention in patch.add if is_own(mention)}
    shorter = sum(map(is_own, gone.values()))
    rivals = sum(
        not is_own(mention) and (mention.type, mention.spans) not in own_spans
        for mention in gone.values()
    )
    counts = [
        (rivals, "mention", "that names of the list overlap"),
        (shorter, "name", "of the list inside longer names"),
    ]
    events = tuple(
        Event(
            step=step, kind="note", code="overlap", message=f"left out: {plural(count, what)} {why}"
        )
        for count, what, why in counts
        if count
    )
    rest = tuple(mention for mention in patch.add if mention.key not in gone)
    return msgspec.structs.replace(patch, add=rest, events=(*patch.events, *events))


def _covers(longer: Mention, mention: Mention) -> bool:
    """True if a mention contains another one and is longer."""
    return (longer.start, longer.end) != (mention.start, mention.end) and (
        longer.start <= mention.start and mention.end <= longer.end
    )
