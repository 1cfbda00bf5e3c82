"""The learned filter at work: which of some mentions are right. It sees mentions and text, and
knows no torch.

The score of a mention that is kept is the probability, by the filter, that it is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
from msgspec.structs import replace

from fascicle.core.arrays import Floats, Floats32
from fascicle.core.document import Document, Event, Mention, Patch, in_order, unique
from fascicle.core.effects import make_event
from fascicle.core.session import length_sorted_batches
from fascicle.core.wording import plural
from fascicle.settings.recipes.filter import FilterManifest, ThresholdFacts
from fascicle.text.marked import (
    EncodedMention,
    InputForm,
    MarkedMention,
    encode_candidates,
    make_candidates,
    pad_marked,
)
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.windows import Batch

_STEP: Final = "filter"
LOGITS: Final = "logits"
_CORRECT: Final = 1  # index of the class
_CHUNK = 4096  # candidates encoded together: enough to sort by length, little enough to stay flat
_DIGITS = 6


class _FilterScorer(Protocol):
    """The network: padded inputs in, ``"logits"`` ``[B, 2]`` out, first of incorrect, then of
    correct.
    """

    def run(self, inputs: Batch) -> Mapping[str, Floats32]:
        """Scores one batch of ``text.marked.pad_marked``."""


class MentionFilter:
    """Filter behind any predictor. ``judge`` is pure: its result for a mention does not depend
    on other mentions.
    """

    def __init__(
        self,
        manifest: FilterManifest,
        tokenizer: PieceTokenizer,
        scorer: _FilterScorer,
        *,
        max_tokens: int = 1024,
    ) -> None:
        """Puts the parts together.

        Args:
            manifest: of the filter.
            tokenizer: of the filter, with its markers.
            scorer: the network.
            max_tokens: pieces in a batch, padding included.
        """
        self.manifest = manifest
        self._tokenizer = tokenizer
        self._scorer = scorer
        self._max_tokens = max_tokens
        start, end = manifest.marker_ids
        self._form = InputForm(start=start, end=end, max_length=manifest.reading.max_length)

    @property
    def name(self) -> str:
        """Name of the filter; the source of the mentions that it keeps."""
        return self.manifest.name

    def with_threshold(self, value: float) -> MentionFilter:
        """Returns the same filter with another threshold, not fitted to data.

        Args:
            value: the least probability to keep, from 0 to 1.
        """
        manifest = replace(self.manifest, threshold=ThresholdFacts(value=value, aim="given"))
        return MentionFilter(manifest, self._tokenizer, self._scorer, max_tokens=self._max_tokens)

    def judge(
        self, documents: Sequence[Document], mentions_of: Sequence[Sequence[Mention]]
    ) -> list[Patch]:
        """Keeps the mentions that are probably right.

        Args:
            documents: with their texts.
            mentions_of: mentions of each document, of any sources; what several say is judged once.

        Returns:
            One patch per document: the mentions that are kept, with their probability as score, and
            events.

        Raises:
            InputError: a mention ends beyond its text.
        """
        candidates = [
            unique(replace(m, source=self.name) for m in mentions)[0] for mentions in mentions_of
        ]
        chances = iter(self.chances(documents, candidates))
        patches = []
        for mentions in candidates:
            judged = [next(chances) for _ in mentions]
            accepted = [
                replace(mention, score=chance)
                for mention, (chance, _) in zip(mentions, judged, strict=True)
                if chance >= self.manifest.threshold.value
            ]
            cut = [mention for mention, (_, cut) in zip(mentions, judged, strict=True) if cut]
            patches.append(Patch(add=in_order(accepted), events=_events(cut)))
        return patches

    def chances(
        self, documents: Sequence[Document], mentions_of: Sequence[Sequence[Mention]]
    ) -> Iterator[tuple[float, bool]]:
        """Returns for each mention the probability that it is right, and whether pieces of it were
        not read.

        Args:
            documents: with their texts.
            mentions_of: mentions of each document.

        Yields:
            In the order of the documents and their mentions.
        """
        waiting: list[MarkedMention] = []
        for document, mentions in zip(documents, mentions_of, strict=True):
            reading = self.manifest.reading
            waiting += make_candidates(
                document, mentions, unit=reading.unit, segmenter=reading.segmenter
            )
            while len(waiting) >= _CHUNK:
                yield from self._judge(waiting[:_CHUNK])
                waiting = waiting[_CHUNK:]
        yield from self._judge(waiting)

    def encode(self, candidates: Sequence[MarkedMention]) -> list[EncodedMention]:
        """Encodes candidates as input of the network."""
        return encode_candidates(candidates, self._tokenizer, form=self._form)

    def probabilities(self, inputs: Sequence[EncodedMention]) -> Floats:
        """Returns the probability of each input that its mention is right, to six digits,
        ``[n]``.
        """
        chances = np.zeros(len(inputs))
        for rows in length_sorted_batches(
            [len(encoded.ids) for encoded in inputs], max_tokens=self._max_tokens
        ):
            batch = pad_marked([inputs[i].ids for i in rows.tolist()], pad=self._tokenizer.pad)
            logits = self._scorer.run(batch)[LOGITS].astype(np.float64)
            chances[rows] = 1.0 / (1.0 + np.exp(logits[:, 1 - _CORRECT] - logits[:, _CORRECT]))
        return chances.round(_DIGITS)

    def _judge(self, candidates: Sequence[MarkedMention]) -> Iterator[tuple[float, bool]]:
        inputs = self.encode(candidates)
        for chance, encoded in zip(self.probabilities(inputs).tolist(), inputs, strict=True):
            yield chance, encoded.cut


def _events(cut: Sequence[Mention]) -> tuple[Event, ...]:
    if not cut:
        return ()
    message = (
        f"{plural(len(cut), 'mention')} longer than the filter reads, which saw the "
        "beginning and the end"
    )
    return (
        make_event("long-mention", step=_STEP, message=message, span=(cut[0].start, cut[0].end)),
    )
