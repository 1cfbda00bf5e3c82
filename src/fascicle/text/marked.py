"""Inputs of networks that are no windows: mentions marked in their texts, and texts about entity
types.

A mention is marked in its text for the learned filter (*comparing-and-combining* §4.7). The type
precedes the text as a prompt, and markers surround the mention::

    TYPE + ' ' + text[:a] + ' <e> ' + text[a:b] + ' </e> ' + text[b:]

Every fragment of a discontinuous mention is marked, with the text between fragments unchanged. The
markers are special tokens of their own, inserted by id: the same characters in a text stay text.
Input that is too long is cropped by pieces: the prompt, every marker and the mention are kept, then
as much of the text on both sides as fits, from the mention outwards. Only a mention that is too
long itself loses pieces: first those between fragments, then those in the middle of the longest
fragments. A prompt takes at most a quarter of the input.

Texts about types (names, descriptions, examples) become type vectors by an encoder (*binder* §2.1
and Table 5). Shapes: K types, N texts, P pieces of a text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fascicle.core.arrays import Ints, int_array
from fascicle.core.document import Document, Mention
from fascicle.core.mention import Fragments, Span
from fascicle.core.wording import has_letters, plural
from fascicle.errors import InputError, RecipeError
from fascicle.settings.heads import FEWEST_INSTANCES, BinderSettings
from fascicle.settings.types import Instance, TypeDescriptions, parse_instance
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.segment import all_sentences
from fascicle.text.segment import segmenter as segmenter_of
from fascicle.text.windows import Batch

# characters per piece: text farther from the mention than this times the window's pieces is not
# read
_NEAR = 16


@dataclass(frozen=True, kw_only=True)
class MarkedMention:
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
class EncodedMention:
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
class InputForm:
    """Markers and limits of the input of one network.

    Attributes:
        start: id of the marker before a mention.
        end: id of the marker after it.
        max_length: most pieces of the input.
    """

    start: int
    end: int
    max_length: int


def make_candidates(
    document: Document, mentions: Sequence[Mention], *, unit: str, segmenter: str
) -> list[MarkedMention]:
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
            f"in document {document.id!r}, which has {plural(len(document.text), 'character')}, "
            "a mention of type "
            f"{beyond.type!r} ends at {beyond.end:,}; give offsets in code points of this text"
        )
    if not mentions:
        return []
    whole = ((0, len(document.text)),)
    ranges = whole if unit == "document" else all_sentences(document, segmenter_of(segmenter))
    starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
    candidates = []
    for mention in mentions:
        low, high = _around((mention.start, mention.end), starts, ends)
        spans = tuple((start - low, end - low) for start, end in mention.spans)
        candidates.append(
            MarkedMention(text=document.text[low:high], spans=spans, type=mention.type)
        )
    return candidates


def _around(span: Span, starts: Sequence[int], ends: Sequence[int]) -> Span:
    """Returns the range from the first to the last given range that a span touches, at least the
    span itself.
    """
    first, last = bisect_right(ends, span[0]), bisect_left(starts, span[1]) - 1
    if first > last:
        return span
    return min(span[0], starts[first]), max(span[1], ends[last])


def _segments(candidate: MarkedMention) -> list[str]:
    """Returns the text before, between and after the markers, in order."""
    text, spans = candidate.text, candidate.spans
    stretches = [f"{candidate.type} {text[: spans[0][0]]} "]
    for at, (start, end) in enumerate(spans):
        following = spans[at + 1][0] if at + 1 < len(spans) else None
        stretches += [
            f" {text[start:end]} ",
            f" {text[end:following]}{'' if following is None else ' '}",
        ]
    return stretches


def encode_candidates(
    candidates: Sequence[MarkedMention], tokenizer: PieceTokenizer, *, form: InputForm
) -> list[EncodedMention]:
    """Encodes candidates as pieces.

    Args:
        candidates: any number; all are tokenised in one call.
        tokenizer: tokenizer of the network.
        form: markers and limits of the network.
    """
    near = [_nearby(candidate, _NEAR * form.max_length) for candidate in candidates]
    segments = [_segments(candidate) for candidate, _ in near]
    encoded = iter(tokenizer.encode([segment for of_one in segments for segment in of_one]))
    mentions = []
    for (candidate, left_out), of_one in zip(near, segments, strict=True):
        parts = [next(encoded) for _ in of_one]
        prompt = int((parts[0][1][:, 0] < len(candidate.type)).sum())
        pieces = [ids for ids, _ in parts]
        mention = _join([pieces[0][:prompt], pieces[0][prompt:], *pieces[1:]], tokenizer, form)
        mentions.append(
            EncodedMention(ids=mention.ids, cropped=mention.cropped or left_out, cut=mention.cut)
        )
    return mentions


def _nearby(candidate: MarkedMention, reach: int) -> tuple[MarkedMention, bool]:
    """Removes text of a candidate that is too far away to be read; also returns whether there
    was such text.
    """
    start, end = candidate.spans[0][0], candidate.spans[-1][1]
    low, high = max(0, start - reach), min(len(candidate.text), end + reach)
    if (low, high) == (0, len(candidate.text)):
        return candidate, False
    spans = tuple((a - low, b - low) for a, b in candidate.spans)
    return MarkedMention(text=candidate.text[low:high], spans=spans, type=candidate.type), True


def _join(parts: Sequence[Ints], tokenizer: PieceTokenizer, form: InputForm) -> EncodedMention:
    """Joins prompt, left text, fragments with gaps, and right text, cropped to the limit of the
    network.
    """
    capacity = form.max_length - len(tokenizer.prefix) - len(tokenizer.suffix)
    prompt, before, *inner, after = parts
    short_prompt = prompt[: max(1, capacity // 4)]
    room = capacity - len(short_prompt)
    fragments = _fit_fragments(inner, room)
    room -= len(fragments) + 1 + sum(map(len, fragments))
    head, tail = _fit_sides(before, after, room)

    pieces = [tokenizer.prefix, short_prompt, head]
    for number, part in enumerate(fragments):
        pieces += [[form.end if number % 2 else form.start], part]
    pieces += [[form.end], tail, tokenizer.suffix]
    return EncodedMention(
        ids=np.concatenate([np.array(part, dtype=np.int64) for part in pieces]),
        cropped=len(head) < len(before) or len(tail) < len(after),
        cut=len(short_prompt) < len(prompt) or sum(map(len, fragments)) < sum(map(len, inner)),
    )


def _fit_sides(before: Ints, after: Ints, room: int) -> tuple[Ints, Ints]:
    """Returns the pieces nearest to a mention: half of the room for each side, and what one side
    leaves for the other.
    """
    size = min(len(before), max(room // 2, room - len(after)))
    head = before[len(before) - size :]
    return head, after[: room - len(head)]


def _fit_fragments(inner: list[Ints], room: int) -> list[Ints]:
    """Returns fragments with the gaps between them, shortened so that they fit with a marker before
    each and one behind all; one fragment if there is no room for a piece and two markers of each.
    """
    if 3 * (len(inner) // 2 + 1) > room:
        inner = [np.concatenate(inner)]
    room -= len(inner) + 1
    fragments = _shortened(inner[::2], room)
    gaps = _shortened(inner[1::2], room - sum(map(len, fragments)))
    result = [fragments[0]]
    for gap, fragment in zip(gaps, fragments[1:], strict=True):
        result += [gap, fragment]
    return result


def _shortened(parts: Sequence[Ints], room: int) -> list[Ints]:
    """Shortens parts to a total length: the longest lose pieces from their middle, down to a
    common length.
    """
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


def pad_marked(sequences: Sequence[Sequence[int] | Ints], *, pad: int) -> Batch:
    """Pads inputs to ``input_ids`` and ``attention_mask``, ``[B, T]``; there must be at least
    one.
    """
    length = max(map(len, sequences))
    ids = np.full((len(sequences), length), pad, dtype=np.int64)
    mask = np.zeros((len(sequences), length), dtype=np.int64)
    for row, pieces in enumerate(sequences):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
    return {"input_ids": ids, "attention_mask": mask}


# around the mention of an instance; no piece is added to the vocabulary
_OPENING, _CLOSING = "[", "]"


@dataclass(frozen=True, kw_only=True, eq=False)
class TypeTokenizer:
    """Tokenizer and limits of the encoder of texts about types.

    Attributes:
        tokenizer: tokenizer of the encoder.
        longest: most pieces of a text, special tokens included.
        origin: name of the encoder, for messages.
    """

    tokenizer: PieceTokenizer
    longest: int
    origin: str


@dataclass(frozen=True, kw_only=True, eq=False)
class TypeTexts:
    """Tokenised texts about types, grouped by type.

    Attributes:
        ids: ids of the pieces, special tokens included, ``[N, P]``.
        mask: 1 where there is a piece, ``[N, P]``.
        place: position of the state that represents the text, ``[N]``.
        counts: number of texts of each type, ``[K]``.
        at_rest: number of texts per type, the first ones, that are used at inference; their vectors
            are averaged.
    """

    ids: Ints
    mask: Ints
    place: Ints
    counts: Ints
    at_rest: int = 1


@dataclass(frozen=True, kw_only=True)
class _TypeText:
    """One text: its type, its description for messages, and the position of its mark (-1 for
    none).
    """

    type: str
    what: str
    text: str
    mark: int = -1


def tokenise_types(
    settings: BinderSettings,
    types: Sequence[str],
    descriptions: TypeDescriptions | None,
    *,
    reader: TypeTokenizer,
) -> TypeTexts:
    """Tokenises the texts about the types.

    Args:
        settings: settings of the head; ``type_view`` selects the kind of text.
        types: names of the types, in order.
        descriptions: descriptions of exactly these types, if the view needs them.
        reader: tokenizer and limits.

    Raises:
        RecipeError: a type lacks the text that the view needs, or its text has no piece, no known
            word, or too many pieces, or the same pieces as the text of another type.
    """
    texts = list(_describe(settings, types, descriptions))
    tokenizer = reader.tokenizer
    rows, places = [], []
    encoded = tokenizer.encode([text.text for text in texts])
    for text, (ids, spans) in zip(texts, encoded, strict=True):
        rows.append([*tokenizer.prefix, *ids.tolist(), *tokenizer.suffix])
        _check_type_text(text, ids, len(rows[-1]), reader)
        places.append(_place_of_mark(text, spans, tokenizer))
        _refuse_unknown(text, ids, spans, reader)
    _refuse_twins(texts, rows, origin=reader.origin)
    padded = pad_marked(rows, pad=tokenizer.pad)
    return TypeTexts(
        ids=padded["input_ids"],
        mask=padded["attention_mask"],
        place=int_array(places),
        counts=int_array([sum(text.type == name for text in texts) for name in types]),
        at_rest=FEWEST_INSTANCES if settings.type_view == "instances" else 1,
    )


def _check_type_text(text: _TypeText, ids: Ints, size: int, reader: TypeTokenizer) -> None:
    """Raises an error for a text without pieces, or with too many; ``size``: special tokens
    included.
    """
    if not len(ids):
        raise RecipeError(f"{text.what} has nothing that {reader.origin} reads: write it in words")
    if size > reader.longest:
        raise RecipeError(
            f"{text.what} has {plural(size, 'piece')} with special tokens, but {reader.origin} "
            f"reads at most {reader.longest}: shorten it"
        )


def _describe(
    settings: BinderSettings, types: Sequence[str], descriptions: TypeDescriptions | None
) -> Iterator[_TypeText]:
    view = settings.type_view
    if view == "name":
        for name in types:
            yield _TypeText(
                type=name, what=f"the name of the type {name!r}", text=name.replace("_", " ")
            )
        return
    described = _of_types(types, descriptions)
    if view == "instances":
        described.instances(FEWEST_INSTANCES)  # refuses types with fewer
        for described_type in described.types:
            for example in described_type.examples:
                text, mark = _marked_instance(parse_instance(example))
                yield _TypeText(
                    type=described_type.name,
                    what=f"an example of {described_type.name!r}",
                    text=text,
                    mark=mark,
                )
        return
    texts = described.texts("guideline" if view == "description" else "keyword")
    for name, text in zip(described.names, texts, strict=True):
        yield _TypeText(type=name, what=f"the {view} of {name!r}", text=text)


def _of_types(types: Sequence[str], descriptions: TypeDescriptions | None) -> TypeDescriptions:
    if descriptions is None or list(descriptions.names) != list(types):
        raise ValueError("the descriptions are not those of the types")
    return descriptions


def _marked_instance(instance: Instance) -> tuple[str, int]:
    """Returns the sentence with marks around its mention, separated by blanks, and the position
    of the first mark.
    """
    before, after = instance.text[: instance.start], instance.text[instance.end :]
    opening = f"{'' if not before or before[-1].isspace() else ' '}{_OPENING} "
    closing = f" {_CLOSING}{'' if not after or after[0].isspace() else ' '}"
    return instance.marked(opening, closing), len(before) + opening.index(_OPENING)


def _place_of_mark(text: _TypeText, spans: Ints, tokenizer: PieceTokenizer) -> int:
    """Returns the piece that contains the mark, special tokens counted; 0 without a mark."""
    if text.mark < 0:
        return 0
    places = np.flatnonzero((spans[:, 0] <= text.mark) & (text.mark < spans[:, 1]))
    if not len(places):
        raise RecipeError(
            f"the tokenizer drops the mark {_OPENING} in {text.what}: choose another type_view"
        )
    return len(tokenizer.prefix) + int(places[0])


def _refuse_unknown(text: _TypeText, ids: Ints, spans: Ints, reader: TypeTokenizer) -> None:
    """Raises an error if every piece with a letter or a digit is the unknown one; signs, and so
    marks, do not count.
    """
    unknown = reader.tokenizer.unknown
    has_word = [has_letters(text.text[start:end]) for start, end in spans.tolist()]
    if unknown is not None and any(has_word) and (ids[has_word] == unknown).all():
        raise RecipeError(
            f"{text.what} has no word that {reader.origin} knows: say it in words that it does"
        )


def _refuse_twins(
    texts: Sequence[_TypeText], rows: Sequence[Sequence[int]], *, origin: str
) -> None:
    """Raises an error for two types with the same pieces, which would get the same vector."""
    by_row: dict[tuple[int, ...], _TypeText] = {}
    for text, row in zip(texts, rows, strict=True):
        other = by_row.setdefault(tuple(row), text)
        if other.type != text.type:
            raise RecipeError(
                f"{other.what} and {text.what} are the same pieces to {origin}, which could not "
                "tell the types apart: say what belongs to each in other words"
            )
