"""What a model folder says of its scores: the curve that makes them truer, and the thresholds of its mentions."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

from fascicle.settings.base import Settings, Share


class TemperatureCurve(Settings, frozen=True, kw_only=True, tag_field="method", tag="temperature"):
    """The logit of a score is divided by one number (Guo et al., ICML 2017).

    Attributes:
        temperature: above 1 where scores are too sure, below 1 where they are too shy.
    """

    temperature: Annotated[float, Meta(ge=1e-2, le=1e2)]


class IsotonicCurve(Settings, frozen=True, kw_only=True, tag_field="method", tag="isotonic"):
    """A function that never falls: linear between knots, level beyond them.

    Attributes:
        scores: of the knots, rising.
        values: what the score of each becomes, not falling.
    """

    scores: Annotated[tuple[Share, ...], Meta(min_length=1)]
    values: tuple[Share, ...]

    def __post_init__(self) -> None:
        """Refuses what is no such function."""
        if len(self.scores) != len(self.values):
            raise ValueError(f"{len(self.scores)} scores and {len(self.values)} values are given; give one for each")
        if any(a >= b for a, b in pairwise(self.scores)) or any(a > b for a, b in pairwise(self.values)):
            raise ValueError("the scores of an isotonic curve must rise, and its values must not fall")


Curve = TemperatureCurve | IsotonicCurve


class Calibration(Settings, frozen=True, kw_only=True):
    """What becomes of the scores of mentions, fitted on development data.

    The curve comes first; then a mention is kept if its new score is at least the threshold of its type.

    Attributes:
        curve: ``None`` leaves scores as they are.
        threshold: of every type that has none of its own; 0 keeps all.
        thresholds: by type.
        wanted: what the thresholds were chosen for, e.g. ``"precision 0.9"``; empty if none was chosen.
        chosen_on: sha256 of the data that all of it was fitted on.
    """

    curve: Curve | None = None
    threshold: Share = 0.0
    thresholds: dict[str, Share] = msgspec.field(default_factory=dict)
    wanted: str = ""
    chosen_on: str
