"""Which documents of two files are the same: by their ids, or by order where ids are made from file names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fascicle.core.document import Mention
from fascicle.evaluation.scoring.order import match_by_order
from fascicle.files.source import stem


@dataclass(frozen=True, kw_only=True)
class Side:
    """One file, as far as it tells which documents it is about.

    Attributes:
        path: of the file.
        mentions: document id -> mentions, in the order of the file.
        hashes: document id -> SHA-256 of its text; ``None`` or no entry if unknown.
        texts: gives document id -> text; ``None`` for a file without texts.
    """

    path: str
    mentions: Mapping[str, Sequence[Mention]]
    hashes: Mapping[str, str | None]
    texts: Callable[[], Mapping[str, str]] | None = None

    @property
    def is_named_after_file(self) -> bool:
        """Whether no document has an id of its own: ``test``, or ``test:1`` and so on in ``test.tsv``."""
        base = stem(self.path)
        return all(
            identifier == base or (identifier.startswith(f"{base}:") and identifier[len(base) + 1 :].isdigit())
            for identifier in self.mentions
        )


@dataclass(frozen=True, kw_only=True)
class Matched:
    """Mentions on the documents of another file.

    Attributes:
        mentions: document id of that file -> mentions, with offsets into its texts.
        how: how documents were matched, for a note.
    """

    mentions: Mapping[str, Sequence[Mention]]
    how: str


def matched(reference: Side, other: Side) -> Matched | None:
    """The mentions of one file on the documents of another, where ids and offsets are not those of the other.

    Args:
        reference: whose documents they are to be.
        other: whose mentions.

    Returns:
        ``None`` where ids and offsets can be taken as they are, or where what is wrong with them is for others to say.

    Raises:
        InputError: the ids are made from file names, and the words differ.
    """
    differing = _differing(reference, other)
    if differing == []:
        return None
    texts = (reference.texts(), other.texts()) if reference.texts and other.texts else None
    if texts and differing and all(_bare(texts[0][one]) == _bare(texts[1][one]) for one in differing):
        return _by_characters(other, differing, *texts)
    if not (reference.is_named_after_file or other.is_named_after_file):
        return None
    how = f"documents were matched with those of {reference.path} by their order, not by ids"
    ours = [reference.hashes.get(identifier) for identifier in reference.mentions]
    theirs = [other.hashes.get(identifier) for identifier in other.mentions]
    if ours == theirs and None not in ours:
        return Matched(mentions=dict(zip(reference.mentions, other.mentions.values(), strict=True)), how=how)
    if texts is None:
        return None
    names = (reference.path, other.path)
    return Matched(mentions=match_by_order(*texts, other.mentions, names=names), how=how)


def _differing(reference: Side, other: Side) -> list[str] | None:
    """Ids that both files have, but for different texts; ``None`` if they share no id."""
    shared = [identifier for identifier in other.mentions if identifier in reference.mentions]
    if not shared:
        return None
    known = ((one, reference.hashes.get(one), other.hashes.get(one)) for one in shared)
    return [one for one, ours, theirs in known if ours is not None and theirs is not None and ours != theirs]


def _by_characters(other: Side, differing: Sequence[str], gold: Mapping[str, str], texts: Mapping[str, str]) -> Matched:
    """Offsets moved by the characters between which only the white space differs, as PubTator changes line breaks."""
    moved = {one: match_by_order({one: gold[one]}, {one: texts[one]}, other.mentions)[one] for one in differing}
    count = len(differing)
    how = f"texts that differ in white space alone: {count:,}; mentions were placed by the other characters"
    return Matched(mentions={**other.mentions, **moved}, how=how)


def _bare(text: str) -> str:
    return "".join(text.split())
