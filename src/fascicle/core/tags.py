"""Tag schemes: conversion of BIO-like tags of any file into ranges, and the two schemes for
training taggers.

One rule reads every scheme in use (IO, IOB1, IOB2 also called BIO, BIOES, BILOU), so a reader need
not know the scheme of its file; `TagCensus` reports afterwards which scheme it was and how often
the file violated it. Training uses `TagScheme`, a table with two rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Final

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Ints

__all__ = [
    "SCHEMES",
    "TagCensus",
    "TagScheme",
    "decode_tags",
    "is_tag",
    "split_tag",
    "tag_advice",
    "tag_layers",
    "tag_scheme",
]

_OUTSIDE: Final = "O"
_OPENERS: Final = frozenset("BSU")
_CLOSERS: Final = frozenset("ELSU")
_PREFIXES: Final = frozenset("BIELSU")
# between two tags of a cell
_BETWEEN: Final = re.compile(r" ?[;|,] ?(?=[BIELSU]-.|O(?:$| ?[;|,]))")


@lru_cache(maxsize=1 << 10)
def split_tag(tag: str) -> tuple[str, str]:
    """Splits a tag into its prefix and its type, the same object for equal tags.

    Args:
        tag: `"O"`, or one of the prefixes B, I, E, L, S, U, a hyphen and a type. The type may hold
            further hyphens.

    Returns:
        `(prefix, type)`; the type of `"O"` is the empty string.

    Raises:
        ValueError: If the prefix is unknown or the type is missing.
    """
    if tag == _OUTSIDE:
        return _OUTSIDE, ""
    if len(tag) < 3 or tag[1] != "-" or tag[0] not in _PREFIXES:
        advice = tag_advice(tag)
        raise ValueError(
            f"tag {tag!r} is not 'O' or one of the prefixes B, I, E, L, S, U, a hyphen and a "
            f"type{'; ' * bool(advice)}{advice}"
        )
    return tag[0], tag[2:]


def tag_layers(cells: Sequence[str]) -> list[Sequence[str]]:
    """Returns the layers of tags in the cells of one sentence: the cells themselves, or one layer
    for each type.

    Args:
        cells: One cell per token; several tags have ``;``, ``|`` or ``,`` between them, as in
            ``B-Chemical;B-Drug``.

    Raises:
        ValueError: If a tag is malformed, or a cell has two tags of one type.
    """
    if not any(map(_BETWEEN.search, set(cells))):
        return [cells]
    layers: dict[str, list[str]] = {}
    for at, cell in enumerate(cells):
        for tag in filter(_OUTSIDE.__ne__, _BETWEEN.split(cell)):
            layer = layers.setdefault(split_tag(tag)[1], [_OUTSIDE] * len(cells))
            if layer[at] not in (_OUTSIDE, tag):
                raise ValueError(
                    f"the cell {cell!r} has two tags of one type; write them in two columns"
                )
            layer[at] = tag
    return list(layers.values())


def tag_advice(tag: str) -> str:
    """Say how to write a tag that has a prefix in another notation; the empty string if it is not
    known to have one.

    Args:
        tag: A tag that `split_tag` refuses.
    """
    if tag in (*_PREFIXES, "M"):
        return f"{tag} has no type; write one behind it, as in {tag.replace('M', 'I')}-Disease"
    parts = re.match(r"([BIELSUM])[-_:/](.+)|(.+)[-_:/]([BIELSUM])$", tag)
    if parts is None:
        return ""
    prefix, kind = (parts[1] or parts[4]).replace("M", "I"), parts[2] or parts[3]
    return f"write {prefix}-{kind} in place of {tag}, and all tags so"


def is_tag(text: str) -> bool:
    """True if `split_tag` accepts a text."""
    try:
        split_tag(text)
    except ValueError:
        return False
    return True


def decode_tags(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Reads the mentions of one sentence in any scheme (by the rule of the `conlleval` scorer).

    A mention starts at B, S or U, and at I, E or L when the previous token is O, has another type,
    or ended its mention (E, L, S, U). It ends before the next start, before O, and after E, L, S or
    U. Invalid sequences are therefore repaired, never dropped; `TagCensus` counts them.

    Args:
        tags: One tag per token, see `split_tag`.

    Returns:
        Half-open token ranges with their types, `(start, end, type)`, in order; they never overlap.

    Raises:
        ValueError: If a tag is malformed.
    """
    mentions: list[tuple[int, int, str]] = []
    start, open_type = 0, ""  # an empty type: no mention is open
    for position, tag in enumerate(tags):
        if tag == _OUTSIDE and not open_type:  # most tokens
            continue
        prefix, kind = split_tag(tag)
        if open_type and (kind != open_type or prefix in _OPENERS):
            mentions.append((start, position, open_type))
            open_type = ""
        if kind and not open_type:
            start, open_type = position, kind
        if prefix in _CLOSERS:
            mentions.append((start, position + 1, kind))
            open_type = ""
    if open_type:
        mentions.append((start, len(tags), open_type))
    return mentions


class TagCensus:
    """Counter of the tags of a corpus that finds their scheme and counts its violations.

    Every rule of every scheme concerns two neighbouring tags (a sentence border counts as O), so
    the census only counts pairs. One *repair* is one neighbouring pair that the scheme forbids and
    that `decode_tags` repaired:

    - IOB2: an I without a B or I of its type before it.
    - IOB1: a B that does not follow a token of its type (B belongs only between touching mentions
      of one type).
    - BIOES and BILOU: a B or I that is not continued, an I or E (L) that continues nothing.
    - IO: nothing is forbidden.

    An IOB1 corpus without touching mentions of one type reads as IO: the two look the same.
    """

    __slots__ = ("_pairs", "_tags", "sentences")

    def __init__(self) -> None:
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._tags: dict[str, tuple[str, str]] = {_OUTSIDE: (_OUTSIDE, "")}
        self.sentences = 0

    def add(self, tags: Sequence[str]) -> None:
        """Counts one sentence.

        Args:
            tags: One tag per token.

        Raises:
            ValueError: If a tag is malformed; nothing is counted then.
        """
        self._tags.update({tag: split_tag(tag) for tag in set(tags) - self._tags.keys()})
        self._pairs.update(zip(chain((_OUTSIDE,), tags), chain(tags, (_OUTSIDE,)), strict=True))
        self.sentences += 1

    @property
    def scheme(self) -> str:
        """`"IO"`, `"IOB1"`, `"IOB2"`, `"BIOES"`, `"BILOU"`, or `"O"` if there was no mention.

        E or S make a corpus BIOES, L or U make it BILOU (the commoner pair wins). Between IOB1 and
        IOB2, the scheme that needs fewer repairs is reported, IOB2 when they are equal.
        """
        counts: Counter[str] = Counter()
        for (_, tag), count in self._pairs.items():
            counts[self._tags[tag][0]] += count
        bioes, bilou = counts["E"] + counts["S"], counts["L"] + counts["U"]
        if bioes or bilou:
            return "BILOU" if bilou > bioes else "BIOES"
        if not counts["B"]:
            return "IO" if counts["I"] else "O"
        return "IOB1" if self._stray("B") < self._stray("I") else "IOB2"

    @property
    def repairs(self) -> int:
        """Number of neighbouring pairs that `scheme` forbids."""
        scheme = self.scheme
        if scheme in ("BIOES", "BILOU"):
            return sum(count for pair, count in self._pairs.items() if self._broken(pair))
        if scheme in ("IOB1", "IOB2"):
            return self._stray("B" if scheme == "IOB1" else "I")
        return 0

    def _stray(self, prefix: str) -> int:
        """Counts the tags with this prefix that do not follow a tag of their own type."""
        total = 0
        for (before, right), count in self._pairs.items():
            right_prefix, right_type = self._tags[right]
            if right_prefix == prefix and self._tags[before][1] != right_type:
                total += count
        return total

    def _broken(self, pair: tuple[str, str]) -> bool:
        """True if BIOES (with L for E and U for S: BILOU) forbids this pair."""
        (before, left_type), (right, right_type) = self._tags[pair[0]], self._tags[pair[1]]
        is_open, continues = before in ("B", "I"), right in ("I", "E", "L")
        return is_open != continues or (is_open and left_type != right_type)


class TagScheme(msgspec.Struct, frozen=True, kw_only=True):
    """A scheme for training: O is tag 0, then one tag per type and prefix, types in the given
    order.

    With `K` types and `p` prefixes there are `C = 1 + pK` tags, and tag `1 + pk + i` is prefix `i`
    of type `k`. The first prefix opens a mention, the last one continues it; in IO they are the
    same tag.

    Attributes:
        name: `"BIO"` or `"IO"`.
        prefixes: The prefixes of a type in tag order.
    """

    name: str
    prefixes: tuple[str, ...]

    @property
    def width(self) -> int:
        """Number of tags per type."""
        return len(self.prefixes)

    def labels(self, types: Sequence[str]) -> tuple[str, ...]:
        """Returns the names of the tags, `"O"` first.

        Args:
            types: `K` distinct type names.

        Raises:
            ValueError: If a type is empty or named twice.
        """
        if len(set(types)) != len(types) or not all(types):
            raise ValueError(f"entity types must be distinct and not empty, got {list(types)}")
        return (_OUTSIDE, *(f"{prefix}-{kind}" for kind in types for prefix in self.prefixes))

    def count(self, n_types: int) -> int:
        """Returns the number of tags `C` for `n_types` types."""
        return 1 + self.width * n_types

    def encode(self, spans: Iterable[tuple[int, int, int]], *, length: int) -> Ints:
        """Writes flat mentions as tags.

        IO cannot keep touching mentions of one type apart: they read back as one.

        Args:
            spans: `(start, end, type index)`, half-open ranges of units, none empty, no two
                overlapping.
            length: The number of units `n`.

        Returns:
            Tag ids, shape `[n]`.

        Raises:
            ValueError: If a range is empty, leaves `[0, n)`, or overlaps another (flatten nested
                mentions first).
        """
        tags = np.zeros(length, dtype=np.int64)
        for start, end, kind in spans:
            if not 0 <= start < end <= length:
                raise ValueError(
                    f"span ({start}, {end}) is empty or outside the {length} units of the text"
                )
            if tags[start:end].any():
                raise ValueError(
                    f"span ({start}, {end}) overlaps another; tags can only hold flat mentions"
                )
            first = 1 + self.width * kind
            tags[start:end] = first + self.width - 1
            tags[start] = first
        return tags

    def legal_start(self, n_types: int) -> Bools:
        """Returns the mask of tags that may begin a text, shape `[C]`."""
        opens: Bools = self.legal(n_types)[0]
        return opens

    def legal(self, n_types: int) -> Bools:
        """Returns the mask of pairs of tags that may follow each other, shape `[C, C]` (from, to).

        In BIO, I of a type may only follow B or I of that type; in IO everything is legal.
        """
        tags = np.arange(self.count(n_types))
        kind, place = (tags - 1) // self.width, (tags - 1) % self.width
        opens = (tags == 0) | (place == 0)
        extends: Bools = (kind[:, None] == kind[None, :]) & (tags > 0)[:, None]
        legal: Bools = opens[None, :] | extends
        return legal


SCHEMES: Final = MappingProxyType(
    {
        "BIO": TagScheme(name="BIO", prefixes=("B", "I")),
        "IO": TagScheme(name="IO", prefixes=("I",)),
    }
)


def tag_scheme(name: str) -> TagScheme:
    """Looks up a scheme for training.

    Raises:
        ValueError: If the name is not in `SCHEMES`.
    """
    try:
        return SCHEMES[name]
    except KeyError:
        raise ValueError(
            f"unknown tag scheme {name!r}; choose one of {', '.join(SCHEMES)}"
        ) from None
