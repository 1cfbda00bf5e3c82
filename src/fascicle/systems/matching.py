"""Which documents of two files are the same: by their ids, or by order where ids are made from file names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fascicle.core.document import Mention
from fascicle.evaluate.order import match_by_order
from fascicle.systems.predictions import Predictions


def on_documents_of(reference: Predictions, other: Predictions) -> Predictions:
    """Puts what one file says on the documents of another, where ids and offsets are not those of the other.

    Args:
        reference: whose documents they are to be.
        other: whose mentions.

    Returns:
        The second argument itself where its ids and offsets can be taken as they are, or where the difference is for
        others to report.

    Raises:
        InputError: the ids are made from file names, and the words differ.
    """
    differing = _differing(reference, other)
    if differing == []:
        return other
    texts = (reference.texts(), other.texts()) if reference.texts and other.texts else None
    if texts and differing and all(_bare(texts[0][one]) == _bare(texts[1][one]) for one in differing):
        moved = _by_characters(other, differing, *texts)
        how = (
            f"texts that differ in white space alone: {len(differing):,}; mentions were placed by the other characters"
        )
        return _moved(reference, other, moved, how)
    if not (reference.is_named_after_file or other.is_named_after_file):
        return other
    how = f"documents were matched with those of {reference.path} by their order, not by ids"
    ours = [reference.hashes.get(identifier) for identifier in reference.mentions]
    if ours == [other.hashes.get(identifier) for identifier in other.mentions] and None not in ours:
        return _moved(reference, other, dict(zip(reference.mentions, other.mentions.values(), strict=True)), how)
    if texts is None:
        return other
    return _moved(reference, other, match_by_order(*texts, other.mentions, names=(reference.path, other.path)), how)


def _moved(
    reference: Predictions, other: Predictions, mentions: Mapping[str, Sequence[Mention]], how: str
) -> Predictions:
    """Mentions with offsets into the texts of the reference, and what goes with its documents."""
    alike = len(other.mentions) == len(mentions)  # else documents are cut otherwise, and events belong to none of these
    names = dict(zip(other.mentions, mentions, strict=True)) if alike else {}
    return replace(
        other,
        mentions=mentions,
        hashes={one: reference.hashes[one] for one in mentions if one in reference.hashes},
        lengths={one: reference.lengths[one] for one in mentions if one in reference.lengths},
        events={names[identifier]: events for identifier, events in other.events.items() if alike},
        repeated={one: original for one, original in other.repeated.items() if one in mentions},
        texts=None,
        matched=how,
    )


def _differing(reference: Predictions, other: Predictions) -> list[str] | None:
    """Ids that both files have, but for different texts; ``None`` if they share no id."""
    shared = [identifier for identifier in other.mentions if identifier in reference.mentions]
    if not shared:
        return None
    known = ((one, reference.hashes.get(one), other.hashes.get(one)) for one in shared)
    return [one for one, ours, theirs in known if ours is not None and theirs is not None and ours != theirs]


def _by_characters(
    other: Predictions, differing: Sequence[str], gold: Mapping[str, str], texts: Mapping[str, str]
) -> dict[str, Sequence[Mention]]:
    """Offsets moved by the characters between which only the white space differs, as PubTator changes line breaks."""
    moved = {one: match_by_order({one: gold[one]}, {one: texts[one]}, other.mentions)[one] for one in differing}
    return {**other.mentions, **moved}


def _bare(text: str) -> str:
    return "".join(text.split())
