"""Pairs of the mentions of a text: which are read, what they are evidence of, and where they stand
in its windows.

The first of a pair is that whose type comes first in the alphabet; of one type, that which comes
first in the text, or whose concept does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Final

import msgspec
import numpy as np

from fascicle.core.arrays import Ints, int_array, unique_values
from fascicle.core.document import Mention, Relation
from fascicle.core.mention import AMBIGUOUS, Span, link_text
from fascicle.settings.recipes.relations import PairSettings
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.segment import sentence_number
from fascicle.text.windows import Batch, Window, collate

FAR: Final = 8  # distances in sentences from here on are one
MANY: Final = 8  # numbers of mentions of a concept from here on are one
FACTS: Final = 2 * FAR + 2 * MANY  # that a pair may have
_LONGEST: Final = 8  # windows that are read together

End = object  # the key of a mention, or the identifier of a concept


class MentionPairs(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of mentions of a document.

    Attributes:
        mentions: in the order of the text.
        rows: first and second mention, and statement of each pair, ``[P, 3]``.
        distance: of each pair in sentences, ``[P]``.
        counts: mentions of the first and of the second end of each pair, ``[P, 2]``.
        ends: the two ends of each statement; several pairs may be evidence of one.
        left_out: pairs beyond the most that are read.
    """

    mentions: tuple[Mention, ...]
    rows: Ints
    distance: Ints
    counts: Ints
    ends: tuple[tuple[End, End], ...]
    left_out: int = 0


def list_pairs(
    mentions: Sequence[Mention], *, sentences: Sequence[Span], settings: PairSettings
) -> MentionPairs:
    """Lists the pairs of mentions that are read.

    Args:
        mentions: of a document, in canonical order; of those with one type and the same spans the
            first counts.
        sentences: of the document.
        settings: which pairs are read.
    """
    with_ends = [(mention, _ends(mention, settings)) for mention in _distinct(mentions, settings)]
    paired = [mention for mention, own in with_ends if own]
    ends = [own for _, own in with_ends if own]
    names = settings.of_mentions
    kinds = int_array([names.index(mention.type) for mention in paired])
    numbers = int_array([sentence_number(sentences, m.start) for m in paired])
    near, left_out = _near(kinds, numbers, settings)
    times = Counter(chain.from_iterable(ends))  # in the order of the text
    rank = {end: at for at, end in enumerate(times)}
    rows, statements = _statements(near, kinds, ends, rank)
    return MentionPairs(
        mentions=tuple(paired),
        rows=rows,
        distance=np.abs(numbers[rows[:, 0]] - numbers[rows[:, 1]]),
        counts=_counts(statements, times)[rows[:, 2]],
        ends=statements,
        left_out=left_out,
    )


def _counts(statements: Sequence[tuple[End, End]], times: Mapping[End, int]) -> Ints:
    """Returns how many mentions both ends of each statement have, ``[S, 2]``."""
    counts = [times[end] for ends in statements for end in ends]
    return int_array(counts).reshape(-1, 2)


def _statements(
    near: Ints, kinds: Ints, ends: Sequence[tuple[End, ...]], rank: Mapping[End, int]
) -> tuple[Ints, tuple[tuple[End, End], ...]]:
    """Returns the pairs with the statement that each is evidence of, and the ends of statements.

    Args:
        near: pairs of mentions, ``[P, 2]``.
        kinds: index of the type of each mention, ``[M]``.
        ends: of each mention.
        rank: of each end, in the order of the text.
    """
    numbers_of: dict[frozenset[End], int] = {}
    order: list[tuple[End, End]] = []
    rows = []
    for i, j in near.tolist():
        for a, b in product(ends[i], ends[j]):
            if a == b:
                continue
            at = numbers_of.setdefault(frozenset((a, b)), len(order))
            if at == len(order):
                straight = (kinds[i], rank[a]) < (kinds[j], rank[b])
                order.append((a, b) if straight else (b, a))
            rows.append((i, j, at) if order[at][0] == a else (j, i, at))
    return int_array(rows).reshape(-1, 3), tuple(order)


def _distinct(mentions: Sequence[Mention], settings: PairSettings) -> Iterator[Mention]:
    seen, types = set(), frozenset(settings.of_mentions)
    for mention in mentions:
        if mention.type in types and (place := (mention.type, mention.spans)) not in seen:
            seen.add(place)
            yield mention


def _ends(mention: Mention, settings: PairSettings) -> tuple[End, ...]:
    """Returns what a mention is an end as: itself, or its concepts; an ambiguous one has none."""
    if settings.between == "mentions":
        return (mention.key,)
    links = (link for link in mention.links if not link.nil and link.tier != AMBIGUOUS)
    return tuple(dict.fromkeys(map(link_text, links)))


def _near(kinds: Ints, numbers: Ints, settings: PairSettings) -> tuple[Ints, int]:
    """Returns the pairs that are read, those with fewer mentions between them first, and how many
    more there are.

    Args:
        kinds: index of the type of each mention, ``[M]``.
        numbers: number of its sentence, never falling, ``[M]``.
        settings: which pairs are read.
    """
    names = settings.of_mentions
    allowed = np.zeros((len(names), len(names)), dtype=bool)
    for a, b in settings.types:
        at = names.index(a), names.index(b)
        allowed[at] = allowed[at[::-1]] = True
    parts: list[Ints] = [np.zeros((0, 2), dtype=np.int64)]
    count = 0
    for gap in range(1, len(kinds)):
        close = numbers[gap:] - numbers[:-gap] <= settings.sentences
        if not close.any():
            break
        first = np.flatnonzero(close & allowed[kinds[:-gap], kinds[gap:]])
        if count < settings.most:
            parts.append(np.stack([first, first + gap], axis=1)[: settings.most - count])
        count += len(first)
    return np.concatenate(parts), max(0, count - settings.most)


def spelled_ends(mentions: Iterable[Mention]) -> dict[str, End]:
    """Returns what the relations of a document may call each concept -> the end, which is what a
    file of links has: with its prefix, or the bare identifier where no other vocabulary has it.
    """
    own, ends = defaultdict[str, set[str]](set), dict[str, End]()
    for link in chain.from_iterable(mention.links for mention in mentions):
        own[link.id].add(link_text(link))
        ends[link_text(link)] = link_text(link)
    return {name: min(full) for name, full in own.items() if len(full) == 1} | ends


def stated_ends(relation: Relation, spelled: Mapping[str, End]) -> tuple[tuple[str, End], ...]:
    """Returns the role and the end of what a relation is between; of one between concepts, the
    attributes that name a concept.

    Args:
        relation: of a document.
        spelled: see `spelled_ends`.
    """
    if relation.arguments:
        return tuple((role, key) for role, key in relation.arguments)
    return tuple((name, spelled[value]) for name, value in relation.attributes if value in spelled)


class PairPassage(msgspec.Struct, frozen=True, kw_only=True):
    """Consecutive windows of a document, and the pairs whose mentions stand in them.

    Attributes:
        pieces: of the document.
        windows: at least one.
        ranges: first piece of each mention and the one after its last, ``[M, 2]``.
        kinds: index of the type of each mention, ``[M]``.
        rows: first and second mention of each pair, among those of the passage, and its statement,
            ``[P, 3]``.
        distance: of each pair in sentences, ``[P]``.
        counts: mentions of the ends of each pair in the document, ``[P, 2]``.
        numbers: of these pairs among those of the document, ``[P]``.
    """

    pieces: Pieces
    windows: list[Window]
    ranges: Ints
    kinds: Ints
    rows: Ints
    distance: Ints
    counts: Ints
    numbers: Ints


def cut_passages(
    pieces: Pieces, windows: Sequence[Window], pairs: MentionPairs, *, settings: PairSettings
) -> Iterator[PairPassage]:
    """Yields passages of at most eight windows; a pair that needs more is in none.

    Args:
        pieces: of a document, which are its units.
        windows: of the document.
        pairs: of the document.
        settings: which pairs are read.
    """
    if not (len(pairs.rows) and windows):
        return
    ranges = _ranges(pieces, pairs.mentions)
    place = _windows_of(ranges, windows)[pairs.rows[:, :2]].reshape(-1, 4)
    low, high = place.min(axis=1), place.max(axis=1)
    waiting = np.argsort(low, kind="stable")
    while len(waiting):
        start = low[waiting[0]]
        fits = high[waiting] < start + _LONGEST
        paired = np.sort(waiting[fits])
        waiting = waiting[~fits & (low[waiting] > start)]
        if len(paired):
            last = int(high[paired].max())
            yield _passage(pieces, windows[start : last + 1], ranges, pairs, paired, settings)


def _windows_of(ranges: Ints, windows: Sequence[Window]) -> Ints:
    """Returns the windows that keep the first and the last piece of each mention, ``[M, 2]``."""
    starts = np.array([window.keep[0] for window in windows])
    inside = np.stack([ranges[:, 0], np.maximum(ranges[:, 1] - 1, ranges[:, 0])], axis=1)
    return np.maximum(np.searchsorted(starts, inside, side="right") - 1, 0).astype(np.int64)


def _passage(
    pieces: Pieces,
    windows: Sequence[Window],
    ranges: Ints,
    pairs: MentionPairs,
    paired: Ints,
    settings: PairSettings,
) -> PairPassage:
    rows = pairs.rows[paired]
    used = unique_values(rows[:, :2])
    places = np.searchsorted(used, rows[:, :2])
    names = settings.of_mentions
    kinds = [names.index(pairs.mentions[at].type) for at in used.tolist()]
    return PairPassage(
        pieces=pieces,
        windows=list(windows),
        ranges=ranges[used],
        kinds=int_array(kinds),
        rows=np.concatenate([places, rows[:, 2:]], axis=1),
        distance=pairs.distance[paired],
        counts=pairs.counts[paired],
        numbers=paired,
    )


def _ranges(pieces: Pieces, mentions: Sequence[Mention]) -> Ints:
    """Returns the pieces of each mention, of a discontinuous one from its first to its last."""
    edges = np.array([(mention.start, mention.end) for mention in mentions])
    first = np.searchsorted(pieces.units[:, 1], edges[:, 0], side="right")
    after = np.searchsorted(pieces.units[:, 0], edges[:, 1], side="left")
    return np.stack([first, np.maximum(first, after)], axis=1)


def pad_passages(passages: Sequence[PairPassage], tokenizer: PieceTokenizer) -> Batch:
    """Joins passages into one batch.

    Args:
        passages: at least one.
        tokenizer: of the network.

    Returns:
        ``input_ids``, ``attention_mask`` and ``kinds`` ``[W, T]``, the last with the index of the
        type of the mention at each piece, from 1; ``places`` ``[N]``, where the pieces stand in the
        flattened table of states; ``mentions`` ``[M, 3]``, range among the places, and index of the
        type; ``pairs`` ``[P, 4]``, both mentions and the range between them; ``facts`` ``[P, 3]``,
        numbers below ``FACTS``: the distance, from ``FAR`` on if the first of the pair stands
        behind the second, and how many mentions each end has.
    """
    windows = [
        msgspec.structs.replace(window, document=number)
        for number, passage in enumerate(passages)
        for window in passage.windows
    ]
    table = collate(windows, [passage.pieces for passage in passages], tokenizer)
    table["kinds"] = np.zeros_like(table["input_ids"])
    parts: list[Batch] = []
    row = pieces = mentions = 0
    for passage in passages:
        parts.append(_arrays(table, passage, row=row, pieces=pieces, mentions=mentions))
        row += len(passage.windows)
        pieces += len(parts[-1]["places"])
        mentions += len(passage.ranges)
    batch = {name: table[name] for name in ("input_ids", "attention_mask", "kinds")}
    for name in parts[0]:
        batch[name] = np.concatenate([arrays[name] for arrays in parts])
    return batch


def _arrays(table: Batch, passage: PairPassage, *, row: int, pieces: int, mentions: int) -> Batch:
    """Returns the arrays of a passage, behind so many rows, pieces and mentions."""
    places = [
        _places(table, row + at, window, passage) for at, window in enumerate(passage.windows)
    ]
    ranges = passage.ranges - passage.windows[0].keep[0] + pieces
    first, second = passage.rows[:, 0], passage.rows[:, 1]
    behind = ranges[first, 0] > ranges[second, 0]
    return {
        "places": np.concatenate(places),
        "mentions": np.concatenate([ranges, passage.kinds[:, None]], axis=1),
        "pairs": _with_gaps(passage.rows[:, :2], ranges, mentions),
        "facts": _facts(passage, behind),
    }


def _facts(passage: PairPassage, behind: Ints) -> Ints:
    distance = np.minimum(passage.distance, FAR - 1) + FAR * behind
    counts = np.minimum(passage.counts, MANY) - 1 + [2 * FAR, 2 * FAR + MANY]
    return np.concatenate([distance[:, None], counts], axis=1)


def _places(table: Batch, row: int, window: Window, passage: PairPassage) -> Ints:
    """Marks the mentions in the row of a window; returns the flat places of the pieces that it
    keeps.
    """
    first, after = window.units
    columns = table["first_piece"][row, : after - first]
    for (start, end), kind in zip(passage.ranges.tolist(), passage.kinds.tolist(), strict=True):
        table["kinds"][row, columns[max(0, start - first) : max(0, end - first)]] = kind + 1
    columns_kept = columns[window.keep[0] - first : window.keep[1] - first]
    places: Ints = columns_kept + row * table["kinds"].shape[1]
    return places


def _with_gaps(rows: Ints, ranges: Ints, mentions: int) -> Ints:
    """Returns pairs with the range between their mentions, which may be empty."""
    both = ranges[rows]
    start, end = both[:, :, 1].min(axis=1), both[:, :, 0].max(axis=1)
    gap = np.stack([start, np.maximum(start, end)], axis=1)
    return np.concatenate([rows + mentions, gap], axis=1)
