"""Checks on how mentions relate to each other, to words and sentences, to other parts, and to
what models return.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import Span, fragments_contain, overlapping_mentions
from fascicle.core.stream import chunks
from fascicle.core.wording import plural
from fascicle.evaluation.doctor.checks.contract import (
    Corpus,
    Hit,
    HitsOrNotes,
    format_share,
    hit_of,
)
from fascicle.evaluation.doctor.parts import SPLITS, Item, Part
from fascicle.evaluation.scoring.scores import NO_GOLD
from fascicle.runtime.decoding.kinds import head_limits
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.heads import Level
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.reading import read_documents
from fascicle.text.targets import REASONS, Limits, align
from fascicle.text.windows import Window

_SPACES = re.compile(r"\s*")


def crossing(item: Item) -> Iterator[Hit]:
    """Pairs that overlap, neither inside the other; the hit is at the second."""
    for (_, before), (_, mention) in overlapping_mentions(item.mentions):
        if not (
            fragments_contain(before.spans, mention.spans)
            or fragments_contain(mention.spans, before.spans)
        ):
            yield hit_of(item, mention, f"crosses {before.type} at {_places(before)}")


def nested(item: Item, *, same_type: bool = False) -> Iterator[Hit]:
    """Mentions inside a longer one, or only those inside one of their own type."""
    found: dict[Mention, Mention] = {}
    for (_, a), (_, b) in overlapping_mentions(item.mentions):
        if a.spans == b.spans or (same_type and a.type != b.type):
            continue
        if fragments_contain(a.spans, b.spans):
            found.setdefault(b, a)
        elif fragments_contain(b.spans, a.spans):
            found.setdefault(a, b)
    for inner, outer in found.items():
        yield hit_of(item, inner, f"inside {outer.type} at {_places(outer)}")


nested_in_own_type: Final = partial(nested, same_type=True)


def same_span(item: Item) -> Iterator[Hit]:
    """Mentions with the spans of another one, of another type; the first of them is none."""
    types: dict[object, str] = {}
    for mention in item.mentions:
        if mention.spans in types:
            yield hit_of(item, mention, f"is {types[mention.spans]} too")
        types.setdefault(mention.spans, mention.type)


def discontinuous(item: Item) -> Iterator[Hit]:
    """Mentions of several fragments."""
    for mention in item.mentions:
        if len(mention.spans) > 1:
            yield hit_of(item, mention, f"{len(mention.spans)} fragments")


def touching(item: Item) -> Iterator[Hit]:
    """Pairs of one type in one sentence with nothing but white space between them; the hit is at
    the second.
    """
    ends: dict[tuple[str, int], Mention] = {}
    for mention in item.mentions:
        ends.setdefault((mention.type, _following(item.text, mention.end)), mention)
    for mention in item.mentions:
        before = ends.get((mention.type, mention.start))
        if before is not None and _sentence_of(item, before.end - 1) == _sentence_of(
            item, mention.start
        ):
            yield hit_of(item, mention, f"follows another one at {_places(before)}")


def across_sentences(item: Item) -> Iterator[Hit]:
    """Mentions that begin in one sentence and end in another, of those that the source marks."""
    if not item.marks_sentences or len(item.sentences) < 2:
        return
    for mention in item.mentions:
        if _sentence_of(item, mention.start) != _sentence_of(item, mention.end - 1):
            yield hit_of(item, mention)


def _sentence_of(item: Item, offset: int) -> int:
    """Returns the number of the last sentence that begins at or before a character; -1 before
    the first.
    """
    return bisect_right(item.sentences[:, 0], offset) - 1


def _following(text: str, offset: int) -> int:
    """Returns the first character from an offset that is no white space."""
    match = _SPACES.match(text, offset)
    return match.end() if match else offset


def _places(mention: Mention) -> str:
    return ", ".join(f"{start}-{end}" for start, end in mention.spans)


def edge_space(item: Item) -> Iterator[Hit]:
    """Mentions of which a fragment begins or ends with white space."""
    text = item.text
    for mention in item.mentions:
        if any(text[start].isspace() or text[end - 1].isspace() for start, end in mention.spans):
            yield hit_of(item, mention)


def inside_word(item: Item) -> Iterator[Hit]:
    """Mentions of which a fragment begins or ends inside a word."""
    if not item.mentions or not len(item.words):
        return
    borders = np.array(
        [border for m in item.mentions for span in m.spans for border in span], dtype=np.int64
    )
    # the last word that begins before the border
    before = np.searchsorted(item.words[:, 0], borders) - 1
    inside = (before >= 0) & (borders < item.words[before, 1])
    at = 0
    for mention in item.mentions:
        more = 2 * len(mention.spans)
        if inside[at : at + more].any():
            yield hit_of(item, mention)
        at += more


def at_break(corpus: Corpus) -> HitsOrNotes:
    """Mentions that begin a sentence where one of their type ended the sentence before; only
    marked sentences.
    """
    for (item, sentence), (following, after) in pairwise(_sentences(corpus)):
        if item is not following and not _is_next(item, following):
            continue
        ended = {mention.type for mention in item.mentions if mention.end == sentence[1]}
        for mention in following.mentions:
            if mention.start == after[0] and mention.type in ended:
                yield hit_of(following, mention, "the sentence before ends with one too")


def _sentences(corpus: Corpus) -> Iterator[tuple[Item, Span]]:
    for item in corpus.items:
        if item.marks_sentences:
            yield from ((item, (start, end)) for start, end in item.sentences.tolist())


def _is_next(item: Item, following: Item) -> bool:
    """True if a sentence of a column file, which is a document by itself, follows another."""
    return (
        item.row >= 0
        and item.path == following.path
        and following.row == item.row + len(item.words)
        and len(item.sentences) == len(following.sentences) == 1
    )


_KINDS: Final[Mapping[str, Callable[[Item], Iterator[Hit]]]] = MappingProxyType(
    {
        "nested": nested,
        "nested in one of its type": nested_in_own_type,
        "crossing": crossing,
        "of one range with another": same_span,
        "discontinuous": discontinuous,
    }
)


def type_in_some_parts(corpus: Corpus) -> HitsOrNotes:
    """Types that some of train, dev and test have and another lacks; the hit is at their first
    mention.
    """
    parts = _splits(corpus)
    counts = {
        part: Counter(m.type for item in items for m in item.mentions)
        for part, items in parts.items()
    }
    for kind in sorted({kind for found in counts.values() for kind in found}):
        missing = [part.name for part, found in counts.items() if kind not in found]
        if not missing:
            continue
        listed = ", ".join(
            f"{found[kind]:,} in {part.name}" for part, found in counts.items() if kind in found
        )
        item, mention = next(
            (item, m)
            for items in parts.values()
            for item in items
            for m in item.mentions
            if m.type == kind
        )
        message = f"{kind}: {listed}, none in {' and '.join(missing)}"
        yield Hit(
            item=item, spans=mention.spans, message=message, where=f"not in {' or '.join(missing)}"
        )


def kind_not_in_train(corpus: Corpus) -> HitsOrNotes:
    """Mentions of dev and test that lie to others as none of train does."""
    parts = _splits(corpus)
    train = [items for part, items in parts.items() if part.role == "train"]
    if not train:
        return
    for name, find in _KINDS.items():
        if any(True for items in train for item in items for _ in find(item)):
            continue
        found = [hit for items in parts.values() for item in items for hit in find(item)]
        for hit in found:
            yield Hit(item=hit.item, spans=hit.spans, message=f"{name}: {hit.message}")
        if found:
            yield f"{plural(len(found), 'mention')} {name}, none in train."


def _splits(corpus: Corpus) -> dict[Part, list[Item]]:
    return {
        part: items for part, items in corpus.by_part().items() if part.role in SPLITS and items
    }


def unreachable(corpus: Corpus) -> HitsOrNotes:
    """Finds mentions that no head over these units with this width can return."""
    settings = corpus.settings
    if settings.tokenizer is None:
        return
    tokenizer = PieceTokenizer.from_file(tokenizer_file(settings.tokenizer))
    reading = ReadingSettings(
        max_length=settings.max_length, overlap=min(32, settings.max_length // 2)
    )
    limits = Limits(nested=True, separates=True, width=settings.width)
    reasons: Counter[str] = Counter()
    annotated = [item for item in corpus.items if item.mentions]
    bare = (item.document() for item in annotated)
    for item, (_, pieces, windows) in zip(
        annotated, _read(bare, tokenizer, reading, settings.level), strict=True
    ):
        for mention, reason in _lost(item.mentions, pieces, windows, limits):
            reasons[reason] += 1
            yield hit_of(item, mention, reason)
    total = sum(len(item.mentions) for item in corpus.items)
    if reasons:
        yield f"{format_share(reasons.total(), total, 'mention')}."
    yield from (
        f"{count:,} {reason}: {REASONS[reason]}." for reason, count in reasons.most_common()
    )


def tokenizer_file(path: Path) -> Path:
    """Returns the file of a tokenizer that is named by its folder or by itself."""
    return path / "tokenizer.json" if path.is_dir() else path


def _read(
    documents: Iterable[Document], tokenizer: PieceTokenizer, reading: ReadingSettings, level: Level
) -> Iterator[tuple[Document, Pieces, list[Window]]]:
    for chunk in chunks(documents):
        read = read_documents(chunk, tokenizer, reading=reading, level=level)
        yield from zip(chunk, read.pieces, read.windows, strict=True)


def _lost(
    mentions: Sequence[Mention], pieces: Pieces, windows: Sequence[Window], limits: Limits
) -> Iterator[tuple[Mention, str]]:
    types = sorted({mention.type for mention in mentions})
    if not align(mentions, pieces, windows, types=types, limits=limits).lost:
        return
    for mention in mentions:  # one by one: which it is, and never because of another mention
        lost = align([mention], pieces, windows, types=types, limits=limits).lost
        yield from ((mention, reason) for reason in lost)


_OTHER_TYPE: Final = "other-type"
_MEANS: Final[Mapping[str, str]] = {
    **REASONS,
    _OTHER_TYPE: "has a type that the model does not know",
}

Row = tuple[int, int, int]
"""First unit, one past the last, and number of the type."""


def count_unreachable(
    documents: Sequence[Document], manifest: Manifest, tokenizer: PieceTokenizer
) -> dict[str, Any]:
    """Counts the gold mentions that no model of this kind can find, by the limits that prevent it.

    Each mention is first looked at alone: whether the units of the model, its windows and its width
    can hold it. Of those that pass, a flat model can return only some that do not overlap, and IO
    tags only some that do not touch one of their own type; what counts is the largest such choice,
    so that no model of the kind can find more.

    Args:
        documents: with gold.
        manifest: of a model, for its types, head and way of reading.
        tokenizer: of the model.
    """
    head = manifest.answering
    limits = head_limits(head)
    reasons: Counter[str] = Counter()
    for document, pieces, windows in _read(documents, tokenizer, manifest.reading, head.level):
        gold = document.layer(GOLD)
        known = [mention for mention in gold if mention.type in manifest.types]
        reasons[_OTHER_TYPE] += len(gold) - len(known)
        rows, lost = _alone(known, pieces, windows, types=manifest.types, limits=limits)
        reasons.update(lost)
        reasons.update(lost_together(rows, [window.segment for window in windows], limits))
    total, lost_count = sum(len(document.layer(GOLD)) for document in documents), reasons.total()
    value = {
        "model": manifest.name,
        "family": head.family,
        "gold": total,
        "unreachable": lost_count,
        "reasons": {
            name: {"count": n, "means": _MEANS[name]} for name, n in reasons.most_common() if n
        },
        "recall_ceiling": 1.0 - lost_count / total if total else None,
    }
    return value if total else value | {"undefined": {"recall_ceiling": NO_GOLD}}


def _alone(
    mentions: Sequence[Mention],
    pieces: Pieces,
    windows: Sequence[Window],
    *,
    types: Sequence[str],
    limits: Limits,
) -> tuple[list[Row], Counter[str]]:
    """Returns the mentions that can be returned if there is no other, in units; and why the rest
    cannot.
    """
    free = Limits(
        nested=True, width=limits.width, pieces=limits.pieces, pairs=True, breakers=limits.breakers
    )
    rows: list[Row] = []
    lost: Counter[str] = Counter()
    together = align(mentions, pieces, windows, types=types, limits=free)
    if not together.lost:
        return [(a, b, kind) for a, b, kind in together.spans.tolist()], lost
    for mention in mentions:
        alone = align([mention], pieces, windows, types=types, limits=free)
        lost.update(alone.lost)
        rows += [] if alone.lost else [(a, b, kind) for a, b, kind in alone.spans.tolist()]
    return rows, lost


def lost_together(
    rows: Iterable[Row], segments: Iterable[tuple[int, int]], limits: Limits
) -> Counter[str]:
    """Counts the mentions that cannot be returned together with the others, by reason.

    Args:
        rows: distinct mentions that a head can return alone, in units.
        segments: of the document, in units.
        limits: of the head.
    """
    rows = list(rows)
    if limits.nested:
        ranges = (
            len(rows) if limits.pairs or limits.across_types else len({row[:2] for row in rows})
        )
        return Counter({"same-span": len(rows) - ranges})
    rivals: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        rivals[row[2] if limits.across_types else 0].append(row)
    flat = sum(most_disjoint(group) for group in rivals.values())
    if limits.separates:
        return Counter({"overlapped": len(rows) - flat})
    starts = {start for start, _ in segments}
    apart = sum(most_disjoint(group, apart=True, breaks=starts) for group in rivals.values())
    return Counter({"overlapped": len(rows) - flat, "touching": flat - apart})


def most_disjoint(rows: Iterable[Row], *, apart: bool = False, breaks: Iterable[int] = ()) -> int:
    """Returns the size of the largest choice of spans of which no two overlap.

    Args:
        rows: spans with their types.
        apart: nor do two of one type touch.
        breaks: units at which they may, for a sentence begins there.
    """
    allowed = set(breaks)
    ends: list[int] = []  # rising, of the spans so far
    best: list[int] = []  # the largest choice among spans that end there or before
    # end -> type -> the largest choice whose last span is so
    last: dict[int, dict[int, int]] = defaultdict(dict)
    for start, end, kind in sorted(rows, key=lambda row: row[1]):
        before = bisect_left(ends, start)  # of those that end earlier than this begins
        size = best[before - 1] if before else 0
        for other, count in last[start].items():
            if not apart or other != kind or start in allowed:
                size = max(size, count)
        last[end][kind] = max(last[end].get(kind, 0), size + 1)
        if not ends or ends[-1] < end:
            ends.append(end)
            best.append(best[-1] if best else 0)
        best[-1] = max(best[-1], size + 1)
    return best[-1] if best else 0
