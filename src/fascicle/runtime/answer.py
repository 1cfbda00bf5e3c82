"""Answer of a model for one document, before any rule: mentions with calibrated scores, and what
was left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.document import Event, Mention, Patch
from fascicle.core.mention import Span
from fascicle.runtime.decoding.decoders import SpansAndScores
from fascicle.runtime.decoding.selection import calibrate_scores, round_scores, type_thresholds
from fascicle.runtime.decoding.tagger import split_spans
from fascicle.runtime.unseen import UnseenStretches
from fascicle.settings.folders.manifest import Manifest
from fascicle.text.language import other_language
from fascicle.text.pieces import Pieces
from fascicle.text.targets import begins_with


class AnswerBuilder:
    """Builder of the answer for one document, part by part."""

    def __init__(
        self,
        manifest: Manifest,
        unseen: UnseenStretches,
        *,
        breakers: str = "",
        hidden: Collection[str] = (),
    ) -> None:
        """Starts with nothing.

        Args:
            manifest: of the model.
            unseen: of the document; it is given the same parts.
            breakers: characters; a mention is cut at units that begin with one.
            hidden: types that the answer does not mention.
        """
        self._manifest = manifest
        self._hidden = [manifest.types.index(kind) for kind in hidden]
        self._breakers = breakers
        self._unseen = unseen
        self._mentions: list[Mention] = []
        self._below = 0

    def take(self, pieces: Pieces, part: Span, answer: SpansAndScores) -> None:
        """Takes the next part.

        Args:
            pieces: of the part, with ranges in the text.
            part: its range; parts come in order and leave nothing out.
            answer: spans in units of the part, and their scores.
        """
        self._unseen.take(pieces, part)
        spans, raw = (
            split_spans(*answer, begins_with(pieces.text, pieces.units, self._breakers))
            if self._breakers
            else answer
        )
        if self._hidden:
            is_public = ~np.isin(spans[:, 2], self._hidden)
            spans, raw = spans[is_public], raw[is_public]
        scores, is_sure = self._calibrated(spans, raw)
        self._below += int((~is_sure).sum())
        self._mentions += self._make_mentions(pieces, spans[is_sure], scores[is_sure])

    def patch(self) -> Patch:
        """Returns the patch of the whole document, after all parts were taken."""
        events = (*self._unseen.events(), *self._other_language())
        if count := self._below:
            what, were = (
                ("mention has a score", "was") if count == 1 else ("mentions have scores", "were")
            )
            message = f"{count:,} {what} below the threshold of the model and {were} left out"
            events = (
                *events,
                Event(step="decide", kind="note", code="below-threshold", message=message),
            )
        return Patch(add=tuple(self._mentions), events=events)

    def _other_language(self) -> Iterator[Event]:
        """Yields an event if the text is in another language than those that the model learnt."""
        expected = self._manifest.language or ""
        if expected and (language := other_language(self._unseen.text, expected)):
            message = f"this looks like {language}, and {self._manifest.name} reads {expected}"
            yield Event(step="read", kind="note", code="other-language", message=message)

    def _calibrated(self, spans: Ints, raw: Floats) -> tuple[Floats, Bools]:
        """Returns the scores under the decision, and which of them reach the threshold of their
        type.
        """
        scores, calibration = round_scores(raw), self._manifest.decision.calibration
        if not calibration:
            return scores, np.ones(len(scores), dtype=bool)
        scores = calibrate_scores(scores, calibration)
        return scores, scores >= type_thresholds(calibration, self._manifest.types)[spans[:, 2]]

    def _make_mentions(self, pieces: Pieces, spans: Ints, scores: Floats) -> list[Mention]:
        starts = pieces.units[spans[:, 0], 0].tolist()
        ends = pieces.units[spans[:, 1] - 1, 1].tolist()
        kinds = spans[:, 2].tolist()
        return [
            Mention(((a, b),), self._manifest.types[k], score=s, source=self._manifest.name)
            for a, b, k, s in zip(starts, ends, kinds, scores.tolist(), strict=True)
            if a < b
        ]
