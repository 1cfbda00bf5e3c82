"""How similar a bi-encoder finds spans and types: the values whose densities *binder* Figures 2 and
3 show.

For each type there are three groups: gold spans of the type (``entity``), every other span that the
head may propose, gold of other types included (``other``), and the threshold of the type in each
window (``threshold``). A span counts once, in the window that answers for it. Values are what
inference compares: cosines over the learnt temperature.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from fascicle.core.arrays import Floats32, Ints
from fascicle.core.document import GOLD, Document
from fascicle.core.session import length_sorted_batches
from fascicle.models.heads.binder import BinderHead
from fascicle.models.model import TorchScorer
from fascicle.models.nn.contrast import TOO_WIDE
from fascicle.runtime.decoding.kinds import nothing_offsets
from fascicle.settings.folders.manifest import Manifest
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import DocumentReader, Reading, read_documents
from fascicle.text.targets import HeadLimits, align
from fascicle.text.windows import Window, collate, scored_mask

_TOGETHER = 64  # documents


@dataclass(frozen=True, kw_only=True, eq=False)
class Similarities:
    """Values of one batch of windows, for each of K types.

    Attributes:
        entity: of gold spans of the type, K arrays.
        other: of all other spans.
        threshold: of the whole text, one a window.
    """

    entity: tuple[Floats32, ...]
    other: tuple[Floats32, ...]
    threshold: tuple[Floats32, ...]


def largest_similarity(model: TorchScorer, manifest: Manifest) -> float:
    """No value of ``similarities`` is farther from 0, but for rounding."""
    head = model.model.head(manifest.decision.answer)
    assert isinstance(head, BinderHead)  # the caller looked
    bound = float(head.scorer.log_scales["span"].detach().exp())
    if head.scorer.thresholds is not None:
        bound = max(bound, float(head.scorer.thresholds.detach().abs().max()))
    return bound + max(map(abs, nothing_offsets(manifest.decision, len(manifest.types))))


def similarities(
    documents: Iterable[Document],
    *,
    manifest: Manifest,
    tokenizer: PieceTokenizer,
    scorer: TorchScorer,
    read: DocumentReader = read_documents,
) -> Iterator[Similarities]:
    """Scores all spans of documents, in the memory of a few documents and a batch.

    Args:
        documents: with gold mentions. Those of types that the model does not know, those with a
            boundary inside a unit and those that the head cannot propose are no gold here, and not
            among the values.
        manifest: of a model whose answering head is a bi-encoder.
        tokenizer: of the model.
        scorer: of the model.
        read: cuts documents, for a model with inputs; see ``runtime.inputs.make_reader``.
    """
    given = iter(documents)
    while chunk := list(islice(given, _TOGETHER)):
        cut = read(chunk, tokenizer, reading=manifest.reading, level=manifest.answering.level)
        gold = [_gold(d, cut, at, manifest.types) for at, d in enumerate(chunk)]
        windows = [w for of_one in cut.windows for w in of_one]
        extra = len(tokenizer.prefix) + len(tokenizer.suffix)
        for chosen in length_sorted_batches([w.pieces[1] - w.pieces[0] + extra for w in windows]):
            together = [windows[i] for i in chosen]
            batch = collate(together, cut.pieces, tokenizer)
            yield _of_batch(
                scorer.run(batch),
                together,
                gold,
                nothing=nothing_offsets(manifest.decision, len(manifest.types)),
            )


def _gold(document: Document, read: Reading, at: int, types: Sequence[str]) -> Ints:
    """Spans that are mentions exactly, ``[m, 3]``."""
    found: list[list[int]] = []
    for mention in document.layer(GOLD):
        if mention.type in types:
            one = align(
                [mention],
                read.pieces[at],
                read.windows[at],
                types=types,
                limits=HeadLimits(nested=True, pairs=True),
            )
            found += [] if one.lost else one.spans.tolist()
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 3)


def _of_batch(
    tables: dict[str, Floats32],
    windows: Sequence[Window],
    gold: Sequence[Ints],
    *,
    nothing: Sequence[float],
) -> Similarities:
    spans = tables["spans"]
    rows, units, longest, kinds = spans.shape
    candidates = np.zeros((rows, units, longest), dtype=np.bool_)
    entities = np.zeros(spans.shape, dtype=np.bool_)
    for row, window in enumerate(windows):
        first = window.units[0]
        start, width = np.nonzero(
            np.arange(longest) < window.units[1] - first - np.arange(units)[:, None]
        )
        mine = scored_mask(window, np.stack([start + first, start + first + width + 1], axis=1))
        candidates[row, start[mine], width[mine]] = True
        own = gold[window.document]
        inside = own[
            (own[:, 0] >= first)
            & (own[:, 1] <= window.units[1])
            & (own[:, 1] - own[:, 0] <= longest)
        ]
        entities[row, inside[:, 0] - first, inside[:, 1] - inside[:, 0] - 1, inside[:, 2]] = True
    candidates &= (spans > TOO_WIDE).all(axis=3)
    limits = tables.get("span_threshold", np.zeros((rows, kinds), dtype=spans.dtype)) + np.asarray(
        nothing, spans.dtype
    )
    read = np.array([window.units[0] < window.units[1] for window in windows], dtype=np.bool_)
    return Similarities(
        entity=tuple(spans[..., k][candidates & entities[..., k]] for k in range(kinds)),
        other=tuple(spans[..., k][candidates & ~entities[..., k]] for k in range(kinds)),
        threshold=tuple(limits[read, k] for k in range(kinds)),
    )
