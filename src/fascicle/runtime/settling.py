"""Own names against longer and other mentions of a model in the same place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

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
        is_longer = _covers(rival, name) and not yields(rival)
        has_link = any(not link.nil for link in rival.links)
        if is_longer and waits and not has_link:
            continue
        loser = name if is_longer and has_link else rival
        gone[loser.key] = loser
    if not gone:
        return patch
    rest = tuple(mention for mention in patch.add if mention.key not in gone)
    events = _events(patch, list(gone.values()), step=step, is_own=is_own)
    return msgspec.structs.replace(patch, add=rest, events=(*patch.events, *events))


def _events(
    patch: Patch, gone: Sequence[Mention], *, step: str, is_own: Callable[[Mention], bool]
) -> Iterator[Event]:
    """Yields an event for mentions that are left out, but for those that a name is equal to, and
    one for names.
    """
    own = {(mention.type, mention.spans) for mention in patch.add if is_own(mention)}
    names = sum(map(is_own, gone))
    rivals = sum(
        not is_own(mention) and (mention.type, mention.spans) not in own for mention in gone
    )
    for count, what, why in (
        (rivals, "mention", "that names of the list overlap"),
        (names, "name", "of the list inside longer names"),
    ):
        if count:
            message = f"left out: {plural(count, what)} {why}"
            yield Event(step=step, kind="note", code="overlap", message=message)


def _covers(longer: Mention, mention: Mention) -> bool:
    """True if a mention contains another one and is longer."""
    return (longer.start, longer.end) != (mention.start, mention.end) and (
        longer.start <= mention.start and mention.end <= longer.end
    )
