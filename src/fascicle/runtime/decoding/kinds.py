"""Kinds of heads: one record for each settings class of ``settings.heads``, so that no code tests
for the class.

A record knows no torch. What makes the network of a head is in ``models.model`` under the same key,
and what a head needs before it can be built says its settings class (``settings.heads.Needs``), for
recipes are checked by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from fascicle.core.arrays import Floats, Floats32, Ints, int_array
from fascicle.core.document import Mention
from fascicle.core.tags import SCHEMES
from fascicle.errors import ModelError
from fascicle.runtime.decoding.decoders import (
    Decoder,
    LabelDecoder,
    MatchDecoder,
    Prober,
    SpanDecoder,
    Tables,
    TagDecoder,
    UnitTagger,
)
from fascicle.runtime.decoding.spans import match_distributions, span_distributions
from fascicle.runtime.decoding.tagger import TagDecision
from fascicle.settings.folders.manifest import Manifest, ScoreDecision
from fascicle.settings.heads import (
    BiaffineSettings,
    BinderSettings,
    CrfSettings,
    HeadSettings,
    MultiLabelSettings,
    SoftmaxSettings,
    SpanHeadSettings,
    SpanSettings,
    TaggerSettings,
)
from fascicle.text.pieces import Pieces
from fascicle.text.reading import Reading
from fascicle.text.targets import HeadLimits, Reach, find_units, segment_firsts
from fascicle.text.windows import Window, scored_mask, stitch

Definition = Literal["tag-path", "softmax", "sigmoid"]
"""``tag-path``: of all ways to tag the text, weighted by the model, the share that reads as exactly
this mention; none
is the rest. ``softmax``: over the types and none of this span alone. ``sigmoid``: one number for
each type, whatever the others have, the one that is the score of a mention; none is the product of
what they leave, and the numbers do not sum to 1."""


class GoldDistribution(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Probabilities of a model for one given mention.

    Attributes:
        mention: as given.
        probabilities: of none, then of each type, ``[1 + K]``; ``None`` if the model has no number
            for this span.
        unreachable: why it has none, a key of ``REASONS``; empty if it has.
    """

    mention: Mention
    probabilities: Floats | None
    unreachable: str = ""


class MentionsInUnits(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The given mentions of one document in units.

    Attributes:
        spans: first unit and one past the last of each mention that has a number, ``[g, 2]``.
        reasons: for each mention, why it has none; empty if it has one.
    """

    spans: Ints
    reasons: list[str] = msgspec.field(default_factory=list)

    def fill(self, mentions: Sequence[Mention], rows: Floats) -> tuple[GoldDistribution, ...]:
        """Joins the mentions, in the order in which they were placed, with the numbers ``[g, 1 +
        K]``.
        """
        numbers = iter(rows)
        return tuple(
            GoldDistribution(
                mention=m, probabilities=None if reason else next(numbers), unreachable=reason
            )
            for m, reason in zip(mentions, self.reasons, strict=True)
        )


def _place(
    mentions: Sequence[Mention],
    pieces: Pieces,
    windows: Sequence[Window],
    *,
    types: Sequence[str],
    limits: HeadLimits,
) -> MentionsInUnits:
    """Finds the units of mentions, each for itself: that two overlap does not matter here.

    Args:
        mentions: of one document.
        pieces: the document as the model sees it.
        windows: of the document.
        types: of the model.
        limits: of its answering head.
    """
    segment_of, reach = segment_firsts(windows, len(pieces.units)), Reach(pieces, windows, limits)
    spans, reasons = [], []
    for mention in mentions:
        span, reason = find_units(mention, pieces, segment_of, breakers=limits.breakers)
        if mention.type not in types:
            reason = "unknown-type"
        elif span is not None and not reason:
            reason = reach.outside(span)
        if span is not None and not reason:
            spans.append(span)
        reasons.append(reason)
    return MentionsInUnits(spans=int_array(spans).reshape(-1, 2), reasons=reasons)


class _TagProber:
    """Prober for emissions, and the chain of a CRF."""

    def __init__(
        self, decoder: TagDecoder | LabelDecoder, spans: Sequence[Ints], *, types: int
    ) -> None:
        """Prepares.

        Args:
            decoder: of the same head.
            spans: asked for, of each document, ``[g, 2]``.
            types: number of entity types.
        """
        self._decoder = decoder
        self._spans = spans
        self._classes = 1 + types

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[Any]:
        """Returns the emissions of windows whose document has mentions."""
        rows = self._decoder.take(tables, windows, counts)
        return [
            row if len(self._spans[w.document]) else None
            for row, w in zip(rows, windows, strict=True)
        ]

    def probabilities(
        self, rows_of: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[Floats]:
        """Computes the probabilities of the spans of all segments that have one, in one call."""
        texts: list[Floats32] = []
        places = [np.zeros((0, 3), dtype=np.int64)]
        for rows, cut, spans in zip(rows_of, windows, self._spans, strict=True):
            if len(spans):
                segments, local = _segments(rows, cut, spans)
                places.append(local + np.array([len(texts), 0, 0]))
                texts += segments
        numbers = np.zeros((0, self._classes))
        if texts:
            numbers = self._decoder.distributions(texts, np.concatenate(places))
        return _split(numbers, [len(spans) for spans in self._spans])


def _segments(
    rows: Sequence[Any], windows: Sequence[Window], spans: Ints
) -> tuple[list[Floats32], Ints]:
    """Returns the scores of the segments of a document that have spans, and each span as the number
    of its segment and units of it, ``[g, 3]``.
    """
    units = max(window.segment[1] for window in windows)
    scores, origin = stitch(rows, windows, units=units), segment_firsts(windows, units)
    ends = {window.segment[0]: window.segment[1] for window in windows}
    starts, numbers = np.unique(origin[spans[:, 0]], return_inverse=True)
    local = np.column_stack([numbers, spans - starts[numbers, None]])
    return [scores[start : ends[start]] for start in starts.tolist()], local


class _SpanProber:
    """Prober for the tables of a head that scores spans: each span is read in the one window
    assigned to it.
    """

    def __init__(
        self, numbers: Callable[[Tables, Ints, Ints], Floats], spans: Sequence[Ints], *, types: int
    ) -> None:
        """Prepares.

        Args:
            numbers: from tables, windows ``[g]`` and spans ``[g, 2]`` in units of their windows,
                ``[g, 1 + K]``.
            spans: asked for, of each document, ``[g, 2]``.
            types: number of entity types.
        """
        self._numbers = numbers
        self._spans = spans
        self._classes = 1 + types

    def take(
        self, tables: Tables, windows: Sequence[Window], counts: Ints
    ) -> list[tuple[Ints, Floats]]:
        """Returns the given spans assigned to each window, ``[n]``, and their numbers ``[n, 1 +
        K]``.
        """
        mine = [np.flatnonzero(scored_mask(w, self._spans[w.document])) for w in windows]
        rows = np.repeat(np.arange(len(windows)), [len(indices) for indices in mine])
        local = [
            self._spans[w.document][indices] - w.units[0]
            for w, indices in zip(windows, mine, strict=True)
        ]
        try:
            numbers = self._numbers(tables, rows, np.concatenate(local))
        except ValueError as error:
            raise ModelError(
                f"the network does not score spans as its model.json says ({error}); export the "
                "model folder again"
            ) from None
        return list(zip(mine, _split(numbers, [len(indices) for indices in mine]), strict=True))

    def probabilities(
        self, rows: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]
    ) -> list[Floats]:
        """Puts what the windows of each document gave in the order of its spans."""
        result = []
        for parts, spans in zip(rows, self._spans, strict=True):
            numbers = np.full((len(spans), self._classes), np.nan)
            for mine, values in parts:
                numbers[mine] = values
            result.append(numbers)
        return result


def _split(rows: Floats, counts: Sequence[int]) -> list[Floats]:
    """Consecutive rows, so many to each."""
    return np.split(rows, np.cumsum(counts)[:-1]) if counts else []


_S = TypeVar("_S", bound=HeadSettings)


class HeadKind(msgspec.Struct, Generic[_S], frozen=True, kw_only=True):
    """Functions and facts about a kind of head that inference, training and reports need.

    Attributes:
        limits: what a head with these settings can represent.
        decoder: from settings, decision and the number K of types to what turns score tables into
            spans.
        prober: from the same, and given spans of each document, ``[g, 2]``, to what turns score
            tables into the probabilities of these spans.
        definition: what such a probability means.
        tags: from settings, decision and the number K of types to what also says how probable each
            tag of each unit is; ``None`` for a head that scores spans.
    """

    limits: Callable[[_S], HeadLimits]
    decoder: Callable[[_S, ScoreDecision, int], Decoder]
    prober: Callable[[_S, ScoreDecision, int, Sequence[Ints]], Prober]
    definition: Definition
    tags: Callable[[_S, ScoreDecision, int], UnitTagger] | None = None


HeadKinds = Mapping[type[HeadSettings], HeadKind[Any]]


def _tag_limits(head: TaggerSettings) -> HeadLimits:
    return HeadLimits(separates=SCHEMES[head.scheme].width > 1, continues=True)


def _tag_decoder(
    head: TaggerSettings, decision: ScoreDecision, types: int, *, chain: bool
) -> TagDecoder:
    rule = TagDecision(
        scheme=SCHEMES[head.scheme], decoding=head.decoding, touching=decision.touching
    )
    return TagDecoder(rule, types=types, chain=chain, nothing=decision.nothing)


def _span_limits(head: SpanHeadSettings) -> HeadLimits:
    return HeadLimits(nested=head.decoding == "nested", width=head.width)


def _span_decoder(head: SpanHeadSettings, decision: ScoreDecision, types: int) -> SpanDecoder:
    return SpanDecoder(head, types=types, nothing=decision.nothing)


def _span_prober(
    head: SpanHeadSettings, decision: ScoreDecision, types: int, spans: Sequence[Ints]
) -> _SpanProber:
    return _SpanProber(
        partial(span_distributions, longest=head.width, shift=decision.nothing), spans, types=types
    )


def _match_limits(head: BinderSettings) -> HeadLimits:
    return HeadLimits(nested=head.decoding == "nested", pieces=head.width, pairs=True)


def _match_decoder(
    head: BinderSettings, decision: ScoreDecision, types: int, *, across_types: bool = False
) -> MatchDecoder:
    return MatchDecoder(
        head, types=types, nothing=nothing_offsets(decision, types), across_types=across_types
    )


def _match_prober(
    head: BinderSettings, decision: ScoreDecision, types: int, spans: Sequence[Ints]
) -> _SpanProber:
    return _SpanProber(
        partial(match_distributions, shift=nothing_offsets(decision, types)), spans, types=types
    )


def _label_limits(head: MultiLabelSettings) -> HeadLimits:
    return replace(_tag_limits(head), across_types=True, breakers=head.breakers)


def _label_decoder(head: MultiLabelSettings, decision: ScoreDecision, types: int) -> LabelDecoder:
    return LabelDecoder(head, thresholds=nothing_offsets(decision, types))


def _units(
    limits: Callable[[_S], HeadLimits],
    decoder: Callable[[_S, ScoreDecision, int], Any],
    means: Definition,
) -> HeadKind[_S]:
    """Returns the record of a tagger, whose decoder also gives the tags of units and the
    probabilities of spans.
    """
    return HeadKind(
        limits=limits,
        decoder=decoder,
        prober=lambda head, decision, types, spans: _TagProber(
            decoder(head, decision, types), spans, types=types
        ),
        definition=means,
        tags=decoder,
    )


_SPANS: Final = HeadKind(
    limits=_span_limits, decoder=_span_decoder, prober=_span_prober, definition="softmax"
)
_MATCHES: Final = HeadKind(
    limits=_match_limits, decoder=_match_decoder, prober=_match_prober, definition="sigmoid"
)

KINDS: Final[HeadKinds] = MappingProxyType(
    {
        BiaffineSettings: _SPANS,
        BinderSettings: _MATCHES,
        CrfSettings: _units(_tag_limits, partial(_tag_decoder, chain=True), "tag-path"),
        MultiLabelSettings: _units(_label_limits, _label_decoder, "sigmoid"),
        SoftmaxSettings: _units(_tag_limits, partial(_tag_decoder, chain=False), "tag-path"),
        SpanSettings: _SPANS,
    }
)


APART: Final[HeadKinds] = MappingProxyType(
    {**KINDS, BinderSettings: replace(_MATCHES, decoder=partial(_match_decoder, across_types=True))}
)
"""The same, but each type of a bi-encoder is decided as if there were no other."""


def nothing_offsets(decision: ScoreDecision, types: int) -> list[float]:
    """Returns the value that is added, for each type, to the score of "no mention".

    Args:
        decision: of a model.
        types: their number.
    """
    own = decision.nothing_by_type or (0.0,) * types
    return [decision.nothing + value for value in own]


def find_kind(head: HeadSettings, kinds: HeadKinds = KINDS) -> HeadKind[Any]:
    """Returns the record of a head.

    Args:
        head: settings; the class itself counts, not what it inherits from.
        kinds: the records that there are.

    Raises:
        ModelError: a class without a record.
    """
    record = kinds.get(type(head))
    if record is None:
        families = ", ".join(sorted(str(kind.__struct_config__.tag) for kind in kinds))
        raise ModelError(
            f"the family {head.family!r} is not known in this release; "
            f"known families are {families}"
        )
    return record


def head_limits(head: HeadSettings) -> HeadLimits:
    """Returns the limits of what a head can represent.

    Raises:
        ModelError: see ``find_kind``.
    """
    limits: HeadLimits = find_kind(head).limits(head)
    return limits


def probability_definition(manifest: Manifest) -> Definition:
    """Returns the meaning of the probabilities of a model."""
    return find_kind(manifest.answering).definition


def make_decoder(manifest: Manifest, kinds: HeadKinds = KINDS) -> Decoder:
    """Returns the decoder of the answering head, for one call.

    Args:
        manifest: of the model.
        kinds: the records that there are.

    Raises:
        ModelError: see ``find_kind``.
    """
    head = manifest.answering
    decoder: Decoder = find_kind(head, kinds).decoder(head, manifest.decision, len(manifest.types))
    return decoder


def make_tagger(manifest: Manifest, kinds: HeadKinds = KINDS) -> UnitTagger:
    """Returns the decoder of an answering head that tags units, for one call.

    Args:
        manifest: of the model.
        kinds: the records that there are.

    Raises:
        ModelError: see ``find_kind``; or the head scores spans.
    """
    head = manifest.answering
    tags = find_kind(head, kinds).tags
    if tags is None:
        raise ModelError(f"the family {head.family!r} scores spans, and has no tags of units")
    return tags(head, manifest.decision, len(manifest.types))


def make_prober(
    manifest: Manifest,
    reading: Reading,
    mentions: Sequence[Sequence[Mention]],
    kinds: HeadKinds = KINDS,
) -> tuple[Prober, list[MentionsInUnits]]:
    """Returns the prober of the answering head, for the mentions of each document.

    Args:
        manifest: of the model.
        reading: the documents as the model sees them.
        mentions: of each document.
        kinds: the records that there are.

    Raises:
        ModelError: see ``find_kind``.
    """
    head, types = manifest.answering, manifest.types
    kind = find_kind(head, kinds)
    limits = kind.limits(head)
    cut = zip(mentions, reading.pieces, reading.windows, strict=True)
    places = [
        _place(layer, pieces, windows, types=types, limits=limits) for layer, pieces, windows in cut
    ]
    return kind.prober(
        head, manifest.decision, len(types), [place.spans for place in places]
    ), places
