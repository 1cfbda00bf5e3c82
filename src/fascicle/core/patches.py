"""Application of patches to documents: the only way in which steps and predictors change
documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from msgspec.structs import replace

from fascicle.core.arguments import check_argument
from fascicle.core.document import (
    Change,
    Document,
    Event,
    Link,
    Mention,
    MentionKey,
    Patch,
    Relation,
    unique,
)
from fascicle.core.wording import plural
from fascicle.errors import UsageError

# parts that a patch sets only if the document lacks them
_ONCE: Final = ("sentences", "words", "sections")


def apply(
    document: Document, patch: Patch, *, step: str = "patch", drops: Collection[str] = ()
) -> Document:
    """Applies a patch to a document and returns the changed copy.

    Mentions are dropped and replaced first, then added, then linked. A mention whose key is there
    already is not added again. One event counts the dropped mentions and one the replaced ones
    (``dropped``, ``replaced``); `Document.layer` still returns them on request. Sentences, words
    and sections that the document has are kept.

    Patches made for the same document may be applied in any order if they change mentions of
    different sources, and no two set sentences, words or sections: the results then differ only in
    the order of ``events`` and ``changes``.

    Args:
        document: the document; it is not changed.
        patch: the changes.
        step: name of the step that made the patch, for events.
        drops: sources whose mentions the step may drop or replace.

    Returns:
        The changed document.

    Raises:
        UsageError: ``document`` is no document, ``patch`` is no patch, or ``drops`` is one name and
            no collection.
        ValueError: a range outside the text, the key of a mention that is not there, a mention of
            another source than ``drops`` that would be dropped or replaced, or a patch with a part
            of the wrong type.
    """
    check_argument(document, Document, name="document", means="a Document")
    check_argument(patch, Patch, name="patch", means="a Patch")
    if isinstance(drops, str):
        raise UsageError(f"drops must be a list of the names of sources; {drops!r} (str) was given")
    try:
        return _applied(document, patch, step, drops)
    except (TypeError, AttributeError) as error:
        message = (
            f"the patch has a part of the wrong type ({error}); it adds Mention objects, "
            "and drops their keys"
        )
        raise ValueError(message) from None


def _applied(document: Document, patch: Patch, step: str, drops: Collection[str]) -> Document:
    parts = _changed_mentions(document, patch, step, drops)
    if patch.abbreviations:
        parts["abbreviations"] = tuple(
            sorted({*(document.abbreviations or ()), *patch.abbreviations})
        )
    if patch.relations or patch.drop_relations:
        before = parts.get("relations", document.relations)
        rest = [relation for relation in before if relation not in patch.drop_relations]
        parts["relations"] = tuple(dict.fromkeys((*rest, *patch.relations)))
    for name in _ONCE:
        if getattr(document, name) is None and (value := getattr(patch, name)) is not None:
            parts[name] = value
    return document.having(**parts) if parts else document


def _changed_mentions(
    document: Document, patch: Patch, step: str, drops: Collection[str]
) -> dict[str, Any]:
    """Returns the fields of a document that a patch changes by its mentions and events."""
    fields: dict[str, Any] = {}
    mentions, added, events = document.mentions, (*patch.add,), (*patch.events,)
    if patch.drop or patch.replace:
        mentions, change = _without(document, patch, step, drops)
        events = events + _counts(change)
        fields["changes"] = (*document.changes, change)
        now = {key: new.key for key, new in patch.replace}
        fields["relations"] = follow(document.relations, lambda key: now.get(key, key))
    if added or patch.drop or patch.replace:
        mentions, _ = unique((*mentions, *added))
    if patch.links:
        mentions = _with_links(mentions, dict(patch.links))
    if mentions is not document.mentions:
        fields["mentions"] = mentions
    if events:
        fields["events"] = document.events + events
    return fields


def _without(
    document: Document, patch: Patch, step: str, drops: Collection[str]
) -> tuple[tuple[Mention, ...], Change]:
    """Returns the mentions after dropping and replacing, and the change that records the removed
    ones.
    """
    keys = (*patch.drop, *(key for key, _ in patch.replace))
    remaining = {mention.key: mention for mention in document.mentions}
    _check_keys(keys, remaining, step, drops)
    removed = {key: remaining.pop(key) for key in keys}
    replaced: list[tuple[Mention, MentionKey | None]] = [(removed[key], None) for key in patch.drop]
    for key, new in patch.replace:
        if new.source != key[0]:
            raise ValueError(
                f"{step} replaces a mention of the source {key[0]!r} by one of {new.source!r}; "
                "keep the source, or drop the one and add the other"
            )
        is_there = new.key in remaining  # then the old mention is only dropped
        remaining.setdefault(new.key, new)
        replaced.append((removed[key], None if is_there else new.key))
    return tuple(remaining.values()), Change(step=step, taken=tuple(replaced))


def follow(
    relations: Iterable[Relation], key_of: Callable[[MentionKey], MentionKey]
) -> tuple[Relation, ...]:
    """Returns relations that name each mention by the key of the one in its place."""
    return tuple(
        replace(relation, arguments=tuple((role, key_of(key)) for role, key in relation.arguments))
        for relation in relations
    )


def _check_keys(
    keys: tuple[MentionKey, ...], present: Collection[MentionKey], step: str, drops: Collection[str]
) -> None:
    for key, count in Counter(keys).items():
        if key[0] not in drops:
            allowed = ", ".join(map(repr, sorted(drops))) or "none"
            raise ValueError(
                f"{step} drops or replaces a mention of the source {key[0]!r}; the sources that it "
                f"declares for that are {allowed}"
            )
        if key not in present or count > 1:
            why = "more than once" if key in present else "but the document has no such mention"
            raise ValueError(f"{step} drops or replaces {key}, {why}")


def _counts(change: Change) -> tuple[Event, ...]:
    replaced = sum(instead is not None for _, instead in change.taken)
    counts = {"dropped": len(change.taken) - replaced, "replaced": replaced}
    return tuple(
        Event(
            step=change.step, kind="note", code=code, message=f"{code}: {plural(count, 'mention')}"
        )
        for code, count in counts.items()
        if count
    )


def _with_links(
    mentions: tuple[Mention, ...], links: dict[MentionKey, tuple[Link, ...]]
) -> tuple[Mention, ...]:
    missing = links.keys() - {m.key for m in mentions}
    if missing:
        raise ValueError(
            f"links were given for {sorted(missing)[0]}, but the document has no such mention"
        )
    return tuple(
        replace(m, links=m.links + links[m.key]) if m.key in links else m for m in mentions
    )
