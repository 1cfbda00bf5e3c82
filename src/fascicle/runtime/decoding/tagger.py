"""Tag ids into spans: maximal runs, found without a loop over the units.

Emissions of a tagger into scored spans, for one text or for thousands at once. Training forbids no
sequence of tags (``models/nn/crf.py``). What the scheme forbids is ruled out here alone, by
``"viterbi"`` with `chains.constrain`, or repaired by `tag_runs`, for a CRF and a softmax, on dev
and in exports alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Floats, Ints, int_array, lengths_of
from fascicle.core.tags import TagScheme
from fascicle.runtime.decoding.chains import (
    ChainScores,
    constrain,
    forward_backward,
    geometric_mean,
    log_softmax,
    span_marginals,
    viterbi,
)

Repair = Literal["strict", "lenient"]


def tag_runs(
    tags: Ints,
    scheme: TagScheme,
    *,
    repair: Repair = "strict",
    borders: Ints | None = None,
) -> Ints:
    """Reads the spans of a tag sequence, or of many laid end to end.

    B opens a span, I of the open type extends it, anything else closes it. The two rules differ in
    an I that has nothing to extend: *strict* drops it and the run of I that hangs on it (Verma et
    al., the SEQ decoder), *lenient* lets it open a span (the rule of
    `fascicle.core.tags.decode_tags`). In IO every run of one type is a span, under both rules.

    Args:
        tags: Tag ids as numbered by the scheme, `[n]`.
        scheme: The scheme of the ids.
        repair: `"strict"` or `"lenient"`.
        borders: Positions at which a new text begins; no span reaches over one. 0 and `n` may be
            among them.

    Returns:
        `(start, end, type index)` per span, `[m, 3]`, half-open, in order, never overlapping.

    Raises:
        ValueError: If the rule is unknown.
    """
    if repair not in ("strict", "lenient"):
        raise ValueError(f"unknown repair rule {repair!r}; choose 'strict' or 'lenient'")
    in_mention = tags > 0
    kind, place = (tags - 1) // scheme.width, (tags - 1) % scheme.width
    linked = np.zeros(len(tags), dtype=np.bool_)  # does the unit continue the one before it?
    linked[1:] = (
        in_mention[1:] & in_mention[:-1] & (kind[1:] == kind[:-1]) & (place[1:] == scheme.width - 1)
    )
    if borders is not None:
        linked[borders[borders < len(tags)]] = False
    heads = np.flatnonzero(~linked)
    ends = np.append(heads[1:], len(tags))
    keep = in_mention[heads] if repair == "lenient" else in_mention[heads] & (place[heads] == 0)
    starts = heads[keep]
    return np.stack([starts, ends[: len(heads)][keep], kind[starts]], axis=1)


def split_spans(spans: Ints, scores: Floats, broken: Bools) -> tuple[Ints, Floats]:
    """Cuts spans at units that no span may contain; each remaining part is a span with the score of
    the whole.

    Args:
        spans: `(start, end, type index)`, `[m, 3]`.
        scores: `[m]`.
        broken: Which units of the text no span may have, `[units]`.

    Returns:
        The parts of each span, in order, and their scores.
    """
    pieces: list[tuple[int, int, int]] = []
    owners: list[int] = []
    for number, (start, end, kind) in enumerate(spans.tolist()):
        borders = [start - 1, *(start + np.flatnonzero(broken[start:end])).tolist(), end]
        parts = [(a + 1, b, kind) for a, b in pairwise(borders) if a + 1 < b]
        pieces += parts
        owners += [number] * len(parts)
    return int_array(pieces).reshape(-1, 3), scores[int_array(owners)]


def divide_by_text(
    spans: Ints, scores: Floats, owners: Ints, *, texts: int
) -> list[tuple[Ints, Floats]]:
    """Divides spans that are sorted by their texts, `[m]` each, among these texts."""
    cuts = np.searchsorted(owners, np.arange(texts + 1)).tolist()
    return [(spans[first:stop], scores[first:stop]) for first, stop in pairwise(cuts)]


_Decoding = Literal["strict", "lenient", "viterbi"]

_GROUP_ROWS: Final = 512
_GROUP_UNITS: Final = 1 << 15  # of a padded group; keeps the tables of one group in the cache


class TagDecision(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Decision that turns emissions into spans.

    Attributes:
        scheme: The scheme of the tag ids.
        decoding: What happens to tag sequences that the scheme forbids. `"viterbi"` rules them out:
            the best legal path. `"strict"` and `"lenient"` take the best path of all (for a softmax
            head, the best tag of each unit) and repair it, see
            `fascicle.runtime.decoding.tagger.tag_runs`.
        chain: The scores of a CRF; without them the head is a softmax over each unit.
        touching: Added to the score of a path wherever a mention begins right after one of its own
            type; negative to make that rarer. For `"viterbi"` in BIO only.
    """

    scheme: TagScheme
    decoding: _Decoding
    chain: ChainScores | None = None
    touching: float = 0.0

    def __post_init__(self) -> None:
        if self.decoding not in ("strict", "lenient", "viterbi"):
            raise ValueError(
                f"unknown decoding {self.decoding!r}; choose 'strict', 'lenient' or 'viterbi'"
            )

    @property
    def repair(self) -> Repair:
        """How `tag_runs` repairs tags."""
        return "lenient" if self.decoding == "lenient" else "strict"


def decode_batch(texts: Sequence[NDArray[Any]], decision: TagDecision) -> list[tuple[Ints, Floats]]:
    """Decode many texts; each result is that of the text alone, to the last bits of a CRF's scores.

    Args:
        texts: Scores `[n_i, C]` of each text; `n_i` may be 0.
        decision: How.

    Returns:
        Spans `[m_i, 3]` and scores `[m_i]` of each text, in the given order.

    Raises:
        ValueError: If a text is not `[n, C]` with a `C` that fits scheme and chain.
    """
    if not texts:
        return []
    _check_shapes(texts, decision)
    lengths = lengths_of(texts)
    starts = np.cumsum(lengths) - lengths
    flat = np.concatenate(texts)
    chain = _effective_chain(decision, flat.shape[1])
    tags = _best_tags(flat, lengths, chain, decision=decision)
    spans = tag_runs(tags, decision.scheme, repair=decision.repair, borders=starts)
    owners = np.searchsorted(starts, spans[:, 0], side="right") - 1
    if chain is None or decision.chain is None:
        scores = geometric_mean(flat, tags, spans=spans)
    else:
        local = np.column_stack([owners, spans[:, :2] - starts[owners, None], spans[:, 2]])
        scores = _chain_span_scores(flat, lengths, spans=local, chain=chain, scheme=decision.scheme)
    spans[:, :2] -= starts[owners, None]
    return divide_by_text(spans, scores, owners, texts=len(texts))


def tag_distributions(texts: Sequence[NDArray[Any]], spans: Ints, decision: TagDecision) -> Floats:
    """Returns the probability of each type, and of none, for spans that are given.

    That of a type is the probability that the tags of the text, read as the decoding reads them,
    hold exactly this span as a mention of this type, whatever else they hold: a neighbour that
    would make it longer rules it out. With a chain, and where the decoding forbids tag pairs, it is
    the exact marginal under the distribution over the paths that are searched; else the tags are
    independent, each from the softmax of its unit. No span has two types in one path, so what is
    left is the probability of none.

    Args:
        texts: Scores `[n_i, C]` of each text, at least one, windows already stitched.
        spans: `(text, start, end)` in units, `[m, 3]`, half-open, none empty, inside their texts;
            they may overlap.
        decision: How tags are chosen and read.

    Returns:
        `[m, 1 + K]`, none first; each row sums to 1, to rounding.

    Raises:
        ValueError: If a text is not `[n, C]` with a `C` that fits scheme and chain.
    """
    _check_shapes(texts, decision)
    chain = _effective_chain(decision, texts[0].shape[1])
    typed = (
        _independent(texts, spans, decision)
        if chain is None
        else _marginals(texts, spans, chain, decision.scheme)
    )
    return np.column_stack([np.maximum(0.0, 1.0 - typed.sum(axis=1)), typed])


def tag_marginals(texts: Sequence[NDArray[Any]], decision: TagDecision) -> list[Floats]:
    """Returns the probability of each tag at each unit.

    With a chain, and where the decoding forbids tag pairs, it is the exact marginal under the
    distribution over the paths that are searched; else it is the softmax of the unit.

    Args:
        texts: Scores `[n_i, C]` of each text, windows already stitched; `n_i` may be 0.
        decision: How tags are chosen.

    Returns:
        `[n_i, C]` of each text; each row sums to 1, to rounding.

    Raises:
        ValueError: If a text is not `[n, C]` with a `C` that fits scheme and chain.
    """
    if not texts:
        return []
    _check_shapes(texts, decision)
    chain = _effective_chain(decision, texts[0].shape[1])
    if chain is None:
        return [np.exp(log_softmax(text)) for text in texts]
    lengths = lengths_of(texts)
    flat = np.concatenate(texts)
    marginals = np.zeros(flat.shape)
    for rows, inside, positions in _groups(lengths):
        lattice = forward_backward(flat[positions], lengths[rows], chain)
        marginals[positions[inside]] = lattice.token_marginals()[inside]
    return np.split(marginals, np.cumsum(lengths)[:-1])


def _marginals(
    texts: Sequence[NDArray[Any]], spans: Ints, chain: ChainScores, scheme: TagScheme
) -> Floats:
    """Returns the marginal of each span with each type under a chain, `[m, K]`."""
    flat = np.concatenate(texts)
    lengths = lengths_of(texts)
    types = (flat.shape[1] - 1) // scheme.width
    order = np.argsort(spans[:, 0], kind="stable")
    rows = np.column_stack(
        [np.repeat(spans[order], types, axis=0), np.tile(np.arange(types), len(spans))]
    )
    marginals = np.empty((len(spans), types))
    marginals[order] = _chain_span_scores(
        flat, lengths, spans=rows, chain=chain, scheme=scheme
    ).reshape(-1, types)
    return marginals


def _independent(texts: Sequence[NDArray[Any]], spans: Ints, decision: TagDecision) -> Floats:
    """Returns the marginals for tags that are drawn independently, `[m, K]`."""
    logs = {number: log_softmax(texts[number]) for number in set(spans[:, 0].tolist())}
    rows = [_alone(logs[text], start, end, decision) for text, start, end in spans.tolist()]
    types = (texts[0].shape[1] - 1) // decision.scheme.width
    return np.array(rows, dtype=np.float64).reshape(-1, types)


def _alone(logs: Floats, start: int, end: int, decision: TagDecision) -> Floats:
    """Returns the probabilities of one span of one text, from the log probabilities of all tags,
    `[K]`.
    """
    width = decision.scheme.width
    first = np.arange(1, logs.shape[1], width)
    inside = first + width - 1
    before = np.exp(logs[start - 1]) if start else np.zeros(logs.shape[1])
    opened = np.exp(logs[start, first])
    if width == 1:  # in IO a mention begins where the unit before has another tag
        opened = opened * (1.0 - before[inside])
    # an I with nothing of its type before it opens a mention too
    elif decision.decoding == "lenient":
        opened = opened + np.exp(logs[start, inside]) * (1.0 - before[first] - before[inside])
    closed = -np.expm1(logs[end, inside]) if end < len(logs) else 1.0
    numbers: Floats = opened * np.exp(logs[start + 1 : end, inside].sum(axis=0)) * closed
    return numbers


def _check_shapes(texts: Sequence[NDArray[Any]], decision: TagDecision) -> None:
    """Refuse emissions whose tags cannot be the scheme's or the chain's."""
    shapes = {text.shape[1:] for text in texts}
    shape = shapes.pop()
    if shapes or len(shape) != 1 or (shape[0] - 1) % decision.scheme.width or not shape[0]:
        raise ValueError(
            f"emissions must be [n, C] with one C that fits {decision.scheme.name}, got {shape} "
            f"{shapes}"
        )
    if decision.chain is not None and decision.chain.transitions.shape != (shape[0], shape[0]):
        raise ValueError(
            f"a chain of {decision.chain.transitions.shape} tags cannot decode emissions of "
            f"{shape[0]}"
        )


def _effective_chain(decision: TagDecision, n_tags: int) -> ChainScores | None:
    """Returns the chain to search, with forbidden pairs if the decoding asks; None where each
    unit decides alone.
    """
    chain = decision.chain
    if decision.decoding != "viterbi":
        return chain
    if chain is None:
        chain = ChainScores(
            transitions=np.zeros((n_tags, n_tags)), start=np.zeros(n_tags), end=np.zeros(n_tags)
        )
    n_types, scheme = (n_tags - 1) // decision.scheme.width, decision.scheme
    chain = constrain(chain, legal=scheme.legal(n_types), legal_start=scheme.legal_start(n_types))
    if decision.touching and scheme.width > 1:
        tags = np.arange(1, n_tags)
        same = (tags[:, None] - 1) // scheme.width == (tags[None, :] - 1) // scheme.width
        chain.transitions[1:, 1:] += decision.touching * (same & ((tags - 1) % scheme.width == 0))
    return chain


def _groups(lengths: Ints) -> Iterator[tuple[Ints, Bools, Ints]]:
    """Texts of similar length together: their numbers `[B]`, the mask `[B, T]` and the flat
    positions `[B, T]`.
    """
    starts = np.cumsum(lengths) - lengths
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    while len(order):
        longest = int(lengths[order[0]])
        rows, order = np.split(order, [max(1, min(_GROUP_ROWS, _GROUP_UNITS // longest))])
        inside = np.arange(longest) < lengths[rows, None]
        yield rows, inside, np.where(inside, starts[rows, None] + np.arange(longest), 0)


def _best_tags(
    flat: NDArray[Any], lengths: Ints, chain: ChainScores | None, *, decision: TagDecision
) -> Ints:
    """Returns the best path of every text, one after the other, `[n]`."""
    if chain is None:
        return np.asarray(flat.argmax(axis=1))
    tags = np.zeros(len(flat), dtype=np.int64)
    emissions = log_softmax(flat) if decision.chain is None else flat
    for rows, inside, positions in _groups(lengths):
        best, _ = viterbi(emissions[positions], lengths[rows], chain)
        tags[positions[inside]] = best[inside]
    return tags


def _chain_span_scores(
    flat: NDArray[Any], lengths: Ints, *, spans: Ints, chain: ChainScores, scheme: TagScheme
) -> Floats:
    """Returns the marginal of every span `(text, start, end, type)`, `[m]`; texts without spans
    cost nothing.
    """
    scores = np.zeros(len(spans))
    has_spans = np.zeros(len(lengths), dtype=np.bool_)
    has_spans[spans[:, 0]] = True
    bounds = np.searchsorted(spans[:, 0], np.arange(len(lengths) + 1))
    for rows, _, positions in _groups(lengths):
        needed = has_spans[rows]
        rows, positions = rows[needed], positions[needed]
        lattice = forward_backward(flat[positions], lengths[rows], chain)
        counts = bounds[rows + 1] - bounds[rows]
        shift = bounds[rows] - (np.cumsum(counts) - counts)
        members = np.arange(counts.sum()) + np.repeat(shift, counts)
        local = spans[members]
        local[:, 0] = np.repeat(np.arange(len(rows)), counts)
        scores[members] = span_marginals(lattice, local, scheme=scheme)
    return scores
