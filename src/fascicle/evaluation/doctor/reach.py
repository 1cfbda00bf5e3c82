"""Upper bounds: how much of a gold a kind of model could find at best, and which limits prevent the rest.

Each mention is first looked at alone: whether the units of the model, its windows and its width can hold it. Of those
that pass, a flat model can return only some that do not overlap, and IO tags only some that do not touch one of their
own type; what counts is the largest such choice, so that no model of the kind can find more.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fascicle.core.document import GOLD, Document, Mention
from fascicle.runtime.decoding.kinds import limits_of
from fascicle.settings.folders.manifest import Manifest
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.reading import read_documents
from fascicle.text.targets import REASONS, Limits, align
from fascicle.text.windows import Window

NO_GOLD: Final = "there is no gold mention"
_OTHER_TYPE: Final = "other-type"
_MEANS: Final[Mapping[str, str]] = {**REASONS, _OTHER_TYPE: "has a type that the model does not know"}
_AT_ONCE: Final = 256  # documents

Row = tuple[int, int, int]
"""First unit, one past the last, and number of the type."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Share of the gold that models of a kind can find.

    Attributes:
        model: name of the one that was looked at.
        family: of its answering head.
        mentions: of the gold.
        reasons: why mentions cannot be found -> how many.
    """

    model: str
    family: str
    mentions: int
    reasons: Mapping[str, int]

    @property
    def ceiling(self) -> float | None:
        """The highest strict recall that there can be; ``None`` without gold."""
        return 1.0 - sum(self.reasons.values()) / self.mentions if self.mentions else None

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, ready for JSON."""
        value: dict[str, Any] = {
            "model": self.model,
            "family": self.family,
            "gold": self.mentions,
            "unreachable": sum(self.reasons.values()),
            "reasons": {name: {"count": n, "means": _MEANS[name]} for name, n in self.reasons.items()},
            "recall_ceiling": self.ceiling,
        }
        return value | ({"undefined": {"recall_ceiling": NO_GOLD}} if self.ceiling is None else {})


def reach_of(documents: Sequence[Document], manifest: Manifest, tokenizer: PieceTokenizer) -> Reach:
    """Counts the gold mentions that no model of this kind can find.

    Args:
        documents: with gold.
        manifest: of a model, for its types, head and way of reading.
        tokenizer: of the model.
    """
    head = manifest.answering
    limits = limits_of(head)
    reasons: Counter[str] = Counter()
    for start in range(0, len(documents), _AT_ONCE):
        chunk = documents[start : start + _AT_ONCE]
        read = read_documents(chunk, tokenizer, reading=manifest.reading, level=head.level)
        for document, pieces, windows in zip(chunk, read.pieces, read.windows, strict=True):
            gold = document.layer(GOLD)
            known = [mention for mention in gold if mention.type in manifest.types]
            reasons[_OTHER_TYPE] += len(gold) - len(known)
            rows, lost = _alone(known, pieces, windows, types=manifest.types, limits=limits)
            reasons.update(lost)
            reasons.update(lost_together(rows, [window.segment for window in windows], limits))
    total = sum(len(document.layer(GOLD)) for document in documents)
    found = {reason: count for reason, count in reasons.most_common() if count}
    return Reach(model=manifest.name, family=head.family, mentions=total, reasons=found)


def _alone(
    mentions: Sequence[Mention],
    pieces: Pieces,
    windows: Sequence[Window],
    *,
    types: Sequence[str],
    limits: Limits,
) -> tuple[list[Row], Counter[str]]:
    """Returns the mentions that can be returned if there is no other, in units; and why the rest cannot."""
    free = Limits(nested=True, width=limits.width, pieces=limits.pieces, pairs=True, breakers=limits.breakers)
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


def lost_together(rows: Iterable[Row], segments: Iterable[tuple[int, int]], limits: Limits) -> Counter[str]:
    """Counts the mentions that cannot be returned together with the others, by reason.

    Args:
        rows: distinct mentions that a head can return alone, in units.
        segments: of the document, in units.
        limits: of the head.
    """
    rows = list(rows)
    if limits.nested:
        ranges = len(rows) if limits.pairs or limits.across_types else len({row[:2] for row in rows})
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
    last: dict[int, dict[int, int]] = defaultdict(dict)  # end -> type -> the largest choice whose last span is so
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
