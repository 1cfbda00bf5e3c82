"""Mentions that models cannot return, whatever they learn: by their units, windows, width, decoding
and types.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.stream import chunks
from fascicle.evaluation.doctor.checks.contract import Corpus, HitsOrNotes, format_share, hit_of
from fascicle.evaluation.scoring.scores import NO_GOLD
from fascicle.runtime.decoding.kinds import head_limits
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.heads import Level
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.reading import read_documents
from fascicle.text.targets import REASONS, HeadLimits, align
from fascicle.text.windows import Window

_OTHER_TYPE: Final = "other-type"
_MEANS: Final[Mapping[str, str]] = {
    **REASONS,
    _OTHER_TYPE: "has a type that the model does not know",
}

Row = tuple[int, int, int]
"""First unit, one past the last, and number of the type."""


def unreachable(corpus: Corpus) -> HitsOrNotes:
    """Finds mentions that no head over these units with this width can return."""
    settings = corpus.settings
    if settings.tokenizer is None:
        return
    tokenizer = PieceTokenizer.from_file(tokenizer_file(settings.tokenizer))
    reading = ReadingSettings(
        max_length=settings.max_length, overlap=min(32, settings.max_length // 2)
    )
    limits = HeadLimits(nested=True, separates=True, width=settings.width)
    reasons: Counter[str] = Counter()
    annotated = [item for item in corpus.items if item.mentions]
    bare = (item.document() for item in annotated)
    for item, (_, pieces, windows) in zip(
        annotated, _read_units(bare, tokenizer, reading, settings.level), strict=True
    ):
        for mention, reason in _find_lost(item.mentions, pieces, windows, limits):
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


def _read_units(
    documents: Iterable[Document], tokenizer: PieceTokenizer, reading: ReadingSettings, level: Level
) -> Iterator[tuple[Document, Pieces, list[Window]]]:
    for chunk in chunks(documents):
        units = read_documents(chunk, tokenizer, reading=reading, level=level)
        yield from zip(chunk, units.pieces, units.windows, strict=True)


def _find_lost(
    mentions: Sequence[Mention], pieces: Pieces, windows: Sequence[Window], limits: HeadLimits
) -> Iterator[tuple[Mention, str]]:
    types = sorted({mention.type for mention in mentions})
    if not align(mentions, pieces, windows, types=types, limits=limits).lost:
        return
    for mention in mentions:  # one by one: which it is, and never because of another mention
        reasons = align([mention], pieces, windows, types=types, limits=limits).lost
        yield from ((mention, reason) for reason in reasons)


def count_unreachable(
    documents: Sequence[Document],
    manifest: Manifest,
    tokenizer: PieceTokenizer,
    *,
    types: Sequence[str] | None = None,
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
        types: of the model, as the gold names them; by default those of the manifest.
    """
    types = manifest.types if types is None else types
    reasons = _count_reasons(documents, manifest, tokenizer, types)
    gold = sum(len(document.layer(GOLD)) for document in documents)
    unreachable = reasons.total()
    value = {
        "model": manifest.name,
        "family": manifest.answering.family,
        "gold": gold,
        "unreachable": unreachable,
        "reasons": {
            name: {"count": count, "means": _MEANS[name]}
            for name, count in reasons.most_common()
            if count
        },
        "recall_ceiling": 1.0 - unreachable / gold if gold else None,
    }
    return value if gold else value | {"undefined": {"recall_ceiling": NO_GOLD}}


def _count_reasons(
    documents: Sequence[Document],
    manifest: Manifest,
    tokenizer: PieceTokenizer,
    types: Sequence[str],
) -> Counter[str]:
    head = manifest.answering
    limits = head_limits(head)
    reasons: Counter[str] = Counter()
    for document, pieces, windows in _read_units(
        documents, tokenizer, manifest.reading, head.level
    ):
        gold = document.layer(GOLD)
        of_model = [mention for mention in gold if mention.type in types]
        reasons[_OTHER_TYPE] += len(gold) - len(of_model)
        rows, lost_alone = _place_alone(of_model, pieces, windows, types=types, limits=limits)
        reasons.update(lost_alone)
        reasons.update(lost_together(rows, [window.segment for window in windows], limits))
    return reasons


def _place_alone(
    mentions: Sequence[Mention],
    pieces: Pieces,
    windows: Sequence[Window],
    *,
    types: Sequence[str],
    limits: HeadLimits,
) -> tuple[list[Row], Counter[str]]:
    """Returns the mentions that can be returned if there is no other, in units; and why the rest
    cannot.
    """
    free = HeadLimits(
        nested=True, width=limits.width, pieces=limits.pieces, pairs=True, breakers=limits.breakers
    )
    rows: list[Row] = []
    reasons: Counter[str] = Counter()
    together = align(mentions, pieces, windows, types=types, limits=free)
    if not together.lost:
        return [(a, b, kind) for a, b, kind in together.spans.tolist()], reasons
    for mention in mentions:
        alone = align([mention], pieces, windows, types=types, limits=free)
        reasons.update(alone.lost)
        rows += [] if alone.lost else [(a, b, kind) for a, b, kind in alone.spans.tolist()]
    return rows, reasons


def lost_together(
    rows: Iterable[Row], segments: Iterable[tuple[int, int]], limits: HeadLimits
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
