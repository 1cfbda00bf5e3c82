"""Input of the learned filter: a mention marked in its text (*comparing-and-combining* §4.7).

The type precedes the text as a prompt, and markers surround the mention::

    TYPE + ' ' + text[:a] + ' <e> ' + text[a:b] + ' </e> ' + text[b:]

Every fragment of a discontinuous mention is marked, with the text between fragments unchanged. The markers are special
tokens of their own, inserted by id: the same characters in a text stay text. Input that is too long is cropped by
pieces: the prompt, every marker and the mention are kept, then as much of the text on both sides as fits, from the
mention outwards. Only a mention that is too long itself loses pieces: first those between fragments, then those in the
middle of the longest fragments. A prompt takes at most a quarter of the input.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.document import Document, Mention
from fascicle.core.spans import Fragments, Span
from fascicle.core.wording import counted
from fascicle.errors import InputError
from fascicle.text.pieces import PieceTokenizer, all_sentences
from fascicle.text.segment import segmenter as segmenter_of
from fascicle.text.windows import Batch

_NEAR = 16  # characters per piece: text farther from the mention than this times the window's pieces is not read


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A mention with the text that is read with it.

    Attributes:
        text: text with the mention.
        spans: spans of the mention in ``text``.
        type: entity type of the mention.
    """

    text: str
    spans: Fragments
    type: str


@dataclass(frozen=True, kw_only=True)
class Marked:
    """Encoded input of the network for a candidate.

    Attributes:
        ids: ids of pieces, markers and special tokens, ``[n]``.
        cropped: true if text around the mention was left out.
        cut: true if pieces of the mention, between its fragments, or of the prompt were left out.
    """

    ids: Ints
    cropped: bool
    cut: bool


@dataclass(frozen=True, kw_only=True)
class Form:
    """Markers and limits of the input of one network.

    Attributes:
        start: id of the marker before a mention.
        end: id of the marker after it.
        max_length: most pieces of the input.
    """

    start: int
    end: int
    max_length: int


def candidates_of(document: Document, mentions: Sequence[Mention], *, unit: str, segmenter: str) -> list[Candidate]:
    """Returns mentions with the text that is read with them.

    Args:
        document: the document; its own sentences are used if it has any.
        mentions: mentions in its text.
        unit: ``"sentence"``, for all sentences that the mention touches, or ``"document"``.
        segmenter: name of the segmenter for a document without sentences.

    Raises:
        InputError: a mention ends beyond the text, or this release has no such segmenter.
    """
    beyond = next((m for m in mentions if m.end > len(document.text)), None)
    if beyond is not None:
        raise InputError(
            f"in document {document.id!r}, which has {counted(len(document.text), 'character')}, a mention of type "
            f"{beyond.type!r} ends at {beyond.end:,}; give offsets in code points into this text"
        )
    if not mentions:
        return []
    whole = ((0, len(document.text)),)
    ranges = whole if unit == "document" else all_sentences(document, segmenter_of(segmenter))
    starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
    found = []
    for mention in mentions:
        low, high = _around((mention.start, mention.end), starts, ends)
        spans = tuple((start - low, end - low) for start, end in mention.spans)
        found.append(Candidate(text=document.text[low:high], spans=spans, type=mention.type))
    return found


def _around(span: Span, starts: Sequence[int], ends: Sequence[int]) -> Span:
    """Returns the range from the first to the last given range that a span touches, at least the span itself."""
    first, last = bisect_right(ends, span[0]), bisect_left(starts, span[1]) - 1
    if first > last:
        return span
    return min(span[0], starts[first]), max(span[1], ends[last])


def _segments(candidate: Candidate) -> list[str]:
    """Returns the text before, between and after the markers, in order."""
    text, spans = candidate.text, candidate.spans
    stretches = [f"{candidate.type} {text[: spans[0][0]]} "]
    for at, (start, end) in enumerate(spans):
        following = spans[at + 1][0] if at + 1 < len(spans) else None
        stretches += [f" {text[start:end]} ", f" {text[end:following]}{'' if following is None else ' '}"]
    return stretches


def encode_candidates(candidates: Sequence[Candidate], tokenizer: PieceTokenizer, *, form: Form) -> list[Marked]:
    """Encodes candidates as pieces.

    Args:
        candidates: any number; all are tokenised in one call.
        tokenizer: tokenizer of the network.
        form: markers and limits of the network.
    """
    near = [_nearby(candidate, _NEAR * form.max_length) for candidate in candidates]
    segments = [_segments(candidate) for candidate, _ in near]
    encoded = iter(tokenizer.encode([segment for of_one in segments for segment in of_one]))
    found = []
    for (candidate, left_out), of_one in zip(near, segments, strict=True):
        parts = [next(encoded) for _ in of_one]
        prompt = int((parts[0][1][:, 0] < len(candidate.type)).sum())
        pieces = [ids for ids, _ in parts]
        marked = _fitted([pieces[0][:prompt], pieces[0][prompt:], *pieces[1:]], tokenizer, form)
        found.append(Marked(ids=marked.ids, cropped=marked.cropped or left_out, cut=marked.cut))
    return found


def _nearby(candidate: Candidate, reach: int) -> tuple[Candidate, bool]:
    """Removes text of a candidate that is too far away to be read; also returns whether there was such text."""
    start, end = candidate.spans[0][0], candidate.spans[-1][1]
    low, high = max(0, start - reach), min(len(candidate.text), end + reach)
    if (low, high) == (0, len(candidate.text)):
        return candidate, False
    spans = tuple((a - low, b - low) for a, b in candidate.spans)
    return Candidate(text=candidate.text[low:high], spans=spans, type=candidate.type), True


def _fitted(parts: Sequence[Ints], tokenizer: PieceTokenizer, form: Form) -> Marked:
    """Joins prompt, left text, fragments with gaps, and right text, cropped to the limit of the network."""
    capacity = form.max_length - len(tokenizer.prefix) - len(tokenizer.suffix)
    prompt, left, *inner, right = parts
    short_prompt = prompt[: max(1, capacity // 4)]
    room = capacity - len(short_prompt)
    if 3 * (len(inner) // 2 + 1) > room:  # no room for a piece and two markers for each fragment: marked as one
        inner = [np.concatenate(inner)]
    room -= len(inner) + 1
    fragments = _shortened(inner[::2], room)
    gaps = _shortened(inner[1::2], room - sum(map(len, fragments)))
    kept = [part for pair in zip(fragments, [*gaps, None], strict=True) for part in pair if part is not None]
    room -= sum(map(len, kept))
    before = min(len(left), max(room // 2, room - len(right)))
    after = min(len(right), room - before)
    pieces = [np.array(tokenizer.prefix, dtype=np.int64), short_prompt, left[len(left) - before :]]
    for at, part in enumerate(kept):
        pieces += [np.array([form.end if at % 2 else form.start], dtype=np.int64), part]
    pieces += [np.array([form.end], dtype=np.int64), right[:after], np.array(tokenizer.suffix, dtype=np.int64)]
    return Marked(
        ids=np.concatenate(pieces),
        cropped=before < len(left) or after < len(right),
        cut=len(short_prompt) < len(prompt) or sum(map(len, kept)) < sum(map(len, inner)),
    )


def _shortened(parts: Sequence[Ints], room: int) -> list[Ints]:
    """Shortens parts to a total length: the longest lose pieces from their middle, down to a common length."""
    room = max(0, room)
    lengths = sorted(map(len, parts))
    if sum(lengths) <= room:
        return list(parts)
    limit = 0
    for at, length in enumerate(lengths):
        limit = room // (len(lengths) - at)
        if length > limit:
            break
        room -= length
    return [part if len(part) <= limit else _ends_of(part, limit) for part in parts]


def _ends_of(part: Ints, count: int) -> Ints:
    """Returns the first and the last pieces of a part, ``count`` in all."""
    return np.concatenate([part[: count - count // 2], part[len(part) - count // 2 :]])


def pad_marked(marked: Sequence[Sequence[int] | Ints], *, pad: int) -> Batch:
    """Pads inputs to ``input_ids`` and ``attention_mask``, ``[B, T]``; there must be at least one."""
    length = max(map(len, marked))
    ids = np.full((len(marked), length), pad, dtype=np.int64)
    mask = np.zeros((len(marked), length), dtype=np.int64)
    for row, pieces in enumerate(marked):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
    return {"input_ids": ids, "attention_mask": mask}
