"""Mentions that a model with a certain tokenizer and width can never return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from fascicle.core.document import Mention
from fascicle.core.wording import counted
from fascicle.evaluation.doctor.checks.contract import Corpus, Detail, Found, hit_of, percent
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.reading import read_documents
from fascicle.text.targets import REASONS, Limits, align
from fascicle.text.windows import Window

_AT_ONCE: Final = 256  # documents


def unreachable(corpus: Corpus) -> Found:
    """Finds mentions that no head over these units with this width can return."""
    settings = corpus.settings
    if settings.tokenizer is None:
        return
    tokenizer = PieceTokenizer.from_file(tokenizer_file(settings.tokenizer))
    reading = ReadingSettings(max_length=settings.max_length, overlap=min(32, settings.max_length // 2))
    limits = Limits(nested=True, separates=True, width=settings.width)
    reasons: Counter[str] = Counter()
    annotated = [item for item in corpus.items if item.mentions]
    for start in range(0, len(annotated), _AT_ONCE):
        items = annotated[start : start + _AT_ONCE]
        read = read_documents([item.document() for item in items], tokenizer, reading=reading, level=settings.level)
        for item, pieces, windows in zip(items, read.pieces, read.windows, strict=True):
            for mention, reason in _lost(item.mentions, pieces, windows, limits):
                reasons[reason] += 1
                yield hit_of(item, mention, reason)
    total = sum(len(item.mentions) for item in corpus.items)
    if reasons:
        lost = reasons.total()
        yield Detail(text=f"{lost:,} of {counted(total, 'mention')} ({percent(lost, total)}).")
    yield from (Detail(text=f"{count:,} {reason}: {REASONS[reason]}.") for reason, count in reasons.most_common())


def tokenizer_file(path: Path) -> Path:
    """Returns the file of a tokenizer that is named by its folder or by itself."""
    return path / "tokenizer.json" if path.is_dir() else path


def _lost(
    mentions: Sequence[Mention], pieces: Pieces, windows: Sequence[Window], limits: Limits
) -> Iterator[tuple[Mention, str]]:
    types = sorted({mention.type for mention in mentions})
    if not align(mentions, pieces, windows, types=types, limits=limits).lost:
        return
    for mention in mentions:  # one by one: which it is, and never because of another mention
        lost = align([mention], pieces, windows, types=types, limits=limits).lost
        yield from ((mention, reason) for reason in lost)
