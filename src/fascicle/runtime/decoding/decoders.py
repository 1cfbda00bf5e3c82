"""Decoders of each kind of head: from the score tables of a network to spans of documents, without
torch.

A decoder first takes what it needs from each batch, so that padded tables do not outlive it
(``take``), then decides for whole documents (``decide``): taggers stitch the scores of the windows
of a text before they decode, span heads merge what the windows propose, each window only the spans
that it answers for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise, starmap
from typing import Any, Protocol

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from fascicle.core.arrays import Floats, Floats32, Ints
from fascicle.core.tags import SCHEMES, TagScheme
from fascicle.errors import ModelError
from fascicle.runtime.decoding.chains import ChainScores
from fascicle.runtime.decoding.labels import decode_labels, label_distributions
from fascicle.runtime.decoding.selection import SpanDecoding, select
from fascicle.runtime.decoding.spans import SpanScores, candidate_spans, margin_scores, match_spans
from fascicle.runtime.decoding.tagger import (
    TagDecision,
    decode_batch,
    divide_by_text,
    tag_distributions,
    tag_marginals,
)
from fascicle.settings.heads import BinderSettings, MultiLabelSettings, SpanHeadSettings
from fascicle.text.windows import Window, scored_mask, stitch

Tables = Mapping[str, NDArray[Any]]
SpansAndScores = tuple[Ints, Floats]
"""Spans ``(start, end, type index)`` in units of a document, ``[m, 3]``, and their scores
``[m]``.
"""


class _TableReader(Protocol):
    """What takes from the tables of one kind of head what it needs."""

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[Any]:
        """Extracts what later decoding needs from each window of a batch.

        Args:
            tables: of the network.
            windows: of the batch.
            counts: units of each window.
        """


class Decoder(_TableReader, Protocol):
    """Decoder from the tables of one kind of head to spans; one object for each call, since it
    may hold scores.
    """

    def decide(
        self, rows: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[SpansAndScores]:
        """Spans of each document, in order.

        Args:
            rows: what `take` returned for the windows of each document.
            windows: of each document.
        """


class Prober(_TableReader, Protocol):
    """Turns the tables of one kind of head into distributions of given spans; one object for
    each call.
    """

    def probabilities(
        self, rows: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[Floats]:
        """Returns the probabilities of the spans of each document, ``[g, 1 + K]``."""


class UnitTagger(Decoder, Protocol):
    """Decoder that also computes the probability of each tag of each unit."""

    @property
    def scheme(self) -> TagScheme:
        """Tagging scheme of the tags."""

    def unit_tags(
        self, rows: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[Floats]:
        """Returns the probability of each tag except O at each unit of each document, ``[units, C -
        1]``.

        Args:
            rows: what `take` returned for the windows of each document.
            windows: of each document.
        """


class TagDecoder:
    """Emissions, and the chain of a CRF, into spans."""

    def __init__(
        self, decision: TagDecision, *, types: int, chain: bool, nothing: float = 0.0
    ) -> None:
        """Prepares.

        Args:
            decision: without a chain, which the network gives.
            types: number of entity types.
            chain: whether the network gives the scores of a chain.
            nothing: added to every emission of O.
        """
        self._chain = chain
        self._decision = decision
        self._nothing = nothing
        self._tags = decision.scheme.count(types)
        self.scheme = decision.scheme

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[Floats32]:
        """Returns the emissions of each window's units, ``[units, C]``."""
        _check(tables, "emissions", columns=self._tags)
        if ("transitions" in tables) != self._chain:
            raise ModelError(
                f"the network gives {', '.join(tables)}, which are not the tables of its family; "
                f"{_AGAIN}"
            )
        if self._chain and self._decision.chain is None:
            chain = ChainScores(**{name: tables[name] for name in ("transitions", "start", "end")})
            self._decision = replace(self._decision, chain=chain)
        # Copies: views would keep the padded batch alive until everything is decoded.
        return [_shifted(row, self._nothing) for row in _of_units(tables, counts)]

    def decide(
        self, rows: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[SpansAndScores]:
        """Decodes each segment as one chain."""
        return _by_segments(rows, windows, lambda chains: decode_batch(chains, self._decision))

    def unit_tags(
        self, rows: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[Floats]:
        """See ``decoding.tagger.tag_marginals``; each segment is one chain."""
        chains, origins = _segments_of(rows, windows)
        tables = [table[:, 1:] for table in tag_marginals(chains, self._decision)]
        return _tables_of(tables, origins, windows, columns=self._tags - 1)

    def distributions(self, texts: Sequence[NDArray[Any]], spans: Ints) -> Floats:
        """See ``decoding.tagger.tag_distributions``."""
        return tag_distributions(texts, spans, self._decision)


class LabelDecoder:
    """The labels of each unit, which do not exclude each other, into runs of each type."""

    def __init__(self, head: MultiLabelSettings, *, thresholds: Sequence[float]) -> None:
        """Prepares.

        Args:
            head: settings.
            thresholds: of each type, in logits.
        """
        self.scheme = SCHEMES[head.scheme]
        self._repair = head.decoding
        self._thresholds = np.repeat(np.array(thresholds, dtype=np.float32), self.scheme.width)

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[Floats32]:
        """The margins of each window's units over the thresholds, ``[units, C - 1]``; the output
        O decides nothing.
        """
        _check(tables, "emissions", columns=1 + len(self._thresholds))
        return [row[:, 1:] - self._thresholds for row in _of_units(tables, counts)]

    def decide(
        self, rows: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[SpansAndScores]:
        """Finds the runs in each segment."""
        return _by_segments(
            rows, windows, lambda texts: decode_labels(texts, self.scheme, repair=self._repair)
        )

    def unit_tags(
        self, rows: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[Floats]:
        """Returns the logistic function of each margin."""
        texts, origins = _segments_of(rows, windows)
        tables = [margin_scores(text.astype(np.float64)) for text in texts]
        return _tables_of(tables, origins, windows, columns=len(self._thresholds))

    def distributions(self, texts: Sequence[NDArray[Any]], spans: Ints) -> Floats:
        """See ``decoding.labels.label_distributions``."""
        return label_distributions(texts, spans, self.scheme)


class _SpanwiseDecoder:
    """What decoders of scored spans have in common: which window answers for a span, and which
    spans stay.
    """

    def __init__(
        self, head: SpanHeadSettings | BinderSettings, *, across_types: bool = False
    ) -> None:
        self._decoding: SpanDecoding = head.decoding
        self._width = head.width
        self._across_types = across_types

    def _check_widths(self, tables: Tables) -> None:
        widths = {tables[name].shape[-2] for name in ("widths", "spans") if name in tables}
        if widths - {self._width}:
            raise ModelError(
                f"the network scores spans of up to {max(widths)} units, not {self._width}; "
                f"{_AGAIN}"
            )

    def _candidates(
        self, find: Callable[[], SpanScores], windows: Sequence[Window], *, all_spans: bool = False
    ) -> list[SpanScores]:
        """Returns the candidates of each window, in units of its document: those assigned to it,
        or all.
        """
        try:
            candidates = find()
        except ValueError as error:
            raise ModelError(
                f"the network does not score spans as its model.json says ({error}); {_AGAIN}"
            ) from None
        cuts = np.searchsorted(candidates.rows, np.arange(len(windows) + 1)).tolist()
        parts = []
        for window, (a, b) in zip(windows, pairwise(cuts), strict=True):
            spans = candidates.spans[a:b] + np.array([window.units[0], window.units[0], 0])
            mine = (
                slice(None)
                if all_spans or window.keep == window.units
                else scored_mask(window, spans)
            )
            ranks, scores = (of[a:b][mine] for of in (candidates.ranks, candidates.scores))
            parts.append(
                SpanScores(
                    rows=candidates.rows[a:b][mine], spans=spans[mine], ranks=ranks, scores=scores
                )
            )
        return parts

    def decide(
        self, rows: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[SpansAndScores]:
        """Merges what the windows of each document propose and selects, all documents at once.

        Of a span that several windows propose the selection keeps the one of the highest rank.
        Without overlaps the highest rank goes first: for a bi-encoder not the largest margin over
        the threshold (*binder* Algorithm 1).
        """
        parts = [_EMPTY, *chain.from_iterable(rows)]
        spans, ranks, scores = (
            np.concatenate([part.spans for part in parts]),
            np.concatenate([part.ranks for part in parts]),
            np.concatenate([part.scores for part in parts]),
        )
        weights = ranks - ranks.min(initial=0.0)  # a selection takes no weights below 0
        counts = [sum(len(part.spans) for part in candidates) for candidates in rows]
        owners = np.repeat(np.arange(len(rows)), counts)
        stay = select(
            spans, weights, decoding=self._decoding, owners=owners, across_types=self._across_types
        )
        return divide_by_text(spans[stay], scores[stay], owners[stay], texts=len(rows))


class SpanDecoder(_SpanwiseDecoder):
    """The tables of a span head into spans, nested or chosen so that none overlap."""

    def __init__(self, head: SpanHeadSettings, *, types: int, nothing: float = 0.0) -> None:
        """Prepares.

        Args:
            head: settings.
            types: number of entity types.
            nothing: added to every logit of None.
        """
        super().__init__(head)
        self._nothing = nothing
        self._classes = 1 + types

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[SpanScores]:
        """Returns the candidates assigned to each window, in units of its document."""
        for name in tables or ("starts",):
            _check(tables, name, columns=self._classes)
        self._check_widths(tables)
        return self._candidates(
            lambda: candidate_spans(self._biased(tables), counts, longest=self._width), windows
        )

    def _biased(self, tables: Tables) -> Tables:
        """The tables with None shifted in one, always the same: each of them adds once to the
        logit of a span.
        """
        if not self._nothing:
            return tables
        table = next(name for name in ("widths", "starts", "ends", "spans") if name in tables)
        return {**tables, table: _shifted(tables[table], self._nothing)}


class MatchDecoder(_SpanwiseDecoder):
    """The tables of a bi-encoder into spans above their thresholds (`match_spans`), nested or
    chosen so that none overlap.
    """

    def __init__(
        self,
        head: BinderSettings,
        *,
        types: int,
        nothing: float | Sequence[float] = 0.0,
        across_types: bool = False,
    ) -> None:
        """Prepares.

        Args:
            head: settings.
            types: number of entity types.
            nothing: added to every threshold of spans, or to those of each type; where a head has
                none, it is the threshold.
            across_types: mentions of different types do not compete, see ``Limits``.
        """
        super().__init__(head, across_types=across_types)
        self._tables = head.inference == "joint", not head.fitted
        self._all_spans = head.merge == "maximum"
        self._nothing = nothing
        self._types = types

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[SpanScores]:
        """Returns the candidates of each window: of the spans assigned to it, or of all its
        spans (``merge``).
        """
        _check(tables, "spans", columns=self._types)
        if ("starts" in tables, "span_threshold" in tables) != self._tables:
            raise ModelError(
                f"the network gives {', '.join(tables)}, which are not the tables of its family; "
                f"{_AGAIN}"
            )
        self._check_widths(tables)
        return self._candidates(
            lambda: match_spans(tables, counts, shift=self._nothing),
            windows,
            all_spans=self._all_spans,
        )


_AGAIN = "copy or export the model folder again"
_NOTHING: SpansAndScores = (np.zeros((0, 3), np.int64), np.zeros(0))
_EMPTY = SpanScores(
    rows=np.zeros(0, np.int64), spans=_NOTHING[0], ranks=_NOTHING[1], scores=_NOTHING[1]
)


def _of_units(tables: Tables, counts: Ints) -> list[NDArray[Any]]:
    """Returns the emissions of the units of each window, as views.

    Raises:
        ModelError: one is NaN.
    """
    rows = [tables["emissions"][row, :count] for row, count in enumerate(counts.tolist())]
    if any(np.isnan(row).any() for row in rows):
        raise ModelError(f"the network gives emissions that are not numbers; {_AGAIN}")
    return rows


def _by_segments(
    rows: Sequence[Sequence[Any]],
    windows: Sequence[Sequence[Window]],
    decode: Callable[[Sequence[Floats32]], list[SpansAndScores]],
) -> list[SpansAndScores]:
    """Joins the windows of each segment, decodes all segments at once, and puts them back into
    their documents.
    """
    chains, origins = _segments_of(rows, windows)
    parts: list[list[SpansAndScores]] = [[_NOTHING] for _ in windows]
    for (number, start), (spans, scores) in zip(origins, decode(chains), strict=True):
        parts[number].append((spans + np.array([start, start, 0]), scores))
    return [
        (np.concatenate(spans), np.concatenate(scores)) for spans, scores in starmap(zip, parts)
    ]


def _segments_of(
    rows_of: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
) -> tuple[list[Floats32], list[tuple[int, int]]]:
    """Joins the scores of each segment; also returns its document and its first unit there."""
    chains: list[Floats32] = []
    origins: list[tuple[int, int]] = []
    for number, (rows, cut) in enumerate(zip(rows_of, windows, strict=True)):
        scores = stitch(rows, cut, units=_unit_count(cut))
        for start, end in dict.fromkeys(w.segment for w in cut):
            chains.append(scores[start:end])
            origins.append((number, start))
    return chains, origins


def _tables_of(
    parts: Sequence[Floats],
    origins: Sequence[tuple[int, int]],
    windows: Sequence[Sequence[Window]],
    *,
    columns: int,
) -> list[Floats]:
    """Tables of segments as tables of documents, ``[units, columns]``."""
    tables = [np.zeros((_unit_count(cut), columns)) for cut in windows]
    for table, (number, start) in zip(parts, origins, strict=True):
        tables[number][start : start + len(table)] = table
    return tables


def _unit_count(windows: Sequence[Window]) -> int:
    return max((window.segment[1] for window in windows), default=0)


def _shifted(scores: NDArray[Any], nothing: float) -> NDArray[Any]:
    """Returns a copy with something added to class 0."""
    moved = scores.copy()
    moved[..., 0] += nothing
    return moved


def _check(tables: Tables, name: str, *, columns: int) -> None:
    """Refuses a network whose answer is not about the labels of the manifest."""
    if name not in tables or tables[name].shape[-1] != columns:
        raise ModelError(
            f"the network gives no table {name} with the {columns} labels of its model.json"
        )
