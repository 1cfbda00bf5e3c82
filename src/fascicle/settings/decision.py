"""Settings of the decision after the network: calibrated scores, abbreviations, and rules for
whole documents. The head that answers is in `fascicle.settings.folders.manifest.ScoreDecision`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from fascicle.settings.base import Natural, Settings, Share

Spread = Literal["no", "exact", "end"]


class AbbreviationRules(Settings, frozen=True, kw_only=True):
    """Rules for short forms whose long forms stand in the same document.

    Attributes:
        spread: a short form gets the type of its long form wherever it stands alone. ``"exact"``:
            if a mention is exactly the long form; ``"end"``: if a mention ends with the long form,
            and is perhaps shorter or longer; ``"no"``: never.
        drop: whether mentions that are exactly a short form go if no mention overlaps its long
            form.
        one_type: whether a string gets, wherever it is a mention, the type that it has most often
            in the document.
    """

    spread: Spread = "no"
    drop: bool = False
    one_type: bool = False

    @property
    def change(self) -> bool:
        """True if any rule is on."""
        return self.spread != "no" or self.drop or self.one_type


class AbbreviationDecision(AbbreviationRules, frozen=True, kw_only=True):
    """The rules of a model.

    Attributes:
        chosen_on: sha256 of the data that they were chosen on; empty if they were given.
    """

    chosen_on: str = ""


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
        """Checks that the curve is a function that never falls."""
        if len(self.scores) != len(self.values):
            raise ValueError(
                f"{len(self.scores)} scores and {len(self.values)} values are given; give one "
                "for each"
            )
        if any(a >= b for a, b in pairwise(self.scores)) or any(
            a > b for a, b in pairwise(self.values)
        ):
            raise ValueError(
                "the scores of an isotonic curve must rise, and its values must not fall"
            )


Curve = TemperatureCurve | IsotonicCurve


class Calibration(Settings, frozen=True, kw_only=True):
    """What becomes of the scores of mentions, fitted on development data.

    The curve comes first; then a mention is kept if its new score is at least the threshold of its
    type.

    Attributes:
        curve: ``None`` leaves scores as they are.
        threshold: of every type that has none of its own; 0 keeps all.
        thresholds: by type.
        wanted: what the thresholds were chosen for, e.g. ``"precision 0.9"``; empty if none was
            chosen.
        chosen_on: sha256 of the data that all of it was fitted on.
    """

    curve: Curve | None = None
    threshold: Share = 0.0
    thresholds: dict[str, Share] = msgspec.field(default_factory=dict)
    wanted: str = ""
    chosen_on: str


Characters = Literal["plain@1", "plain@2"]
_Edges = Literal["neutral@1"]
Ends = Literal["bare", "corpus"]
PLAIN: Characters = "plain@1"
CAPITALS: Characters = "plain@2"  # the same; besides, a text without capitals is read in capitals


class LogisticCurve(Settings, frozen=True, kw_only=True):
    """The log odds of a score, times one number and plus another (Platt, 1999).

    Attributes:
        slope: below 1 where scores are too far apart.
        offset: below 0 where they are too high.
    """

    slope: Annotated[float, Meta(gt=0.0, le=1e2)]
    offset: Annotated[float, Meta(ge=-1e2, le=1e2)]


class TypeDecision(Settings, frozen=True, kw_only=True):
    """What is decided of the mentions of one type in one document.

    Attributes:
        low: the least score of a mention.
        high: the least score of a name that is marked wherever it stands.
        alone: the least score of a mention in a text of one sentence, where nothing is marked.
        known: the least score of a mention whose name means this type alone in the pack, if that is
            below the others.
        ends: ``"bare"`` cuts what only some guidelines count to a name, such as ``" gene"``;
            ``"corpus"`` leaves it.
        ends_alone: the same in a text of one sentence.
        curve: what becomes of the scores of mentions that stay; unset, they stay as they are.
    """

    low: Share = 0.0
    high: Share = 1.0
    alone: Share = 0.0
    known: Share = 1.0
    ends: Ends = "corpus"
    ends_alone: Ends = "corpus"
    curve: LogisticCurve | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuses names that would be marked where they are no mentions."""
        if self.high < self.low:
            raise ValueError(f"high ({self.high:g}) is below low ({self.low:g}); give at least low")


class NameDecision(Settings, frozen=True, kw_only=True):
    """What is done with a text of a few words, such as a cell of a table: it may be a name, alone.

    Nothing is dropped from such a text for its score. Where no mention is all of it, it is read
    again with a full stop, and then looked up in the pack; a mention that is all of it takes the
    place of the others.

    Attributes:
        words: most words of such a text.
    """

    words: Annotated[int, Meta(ge=1, le=20)] = 6


class DocumentDecision(Settings, frozen=True, kw_only=True):
    """The last step of the decision of a model: what a whole document says of its mentions.

    Attributes:
        edges: the rules that bring the edges of mentions in order.
        types: what is decided of each type; of the others edges alone.
        names: what is done with texts of a few words; unset, nothing.
        pack: the shipped pack whose names are evidence; empty for none.
        chosen_on: sha256 of the data of each file that it was fitted on, by the name of the file.
        untaught: texts of these files that were compared with those that taught the model, none of
            which was taught; unset if the model does not list its texts, so that a person has to
            know.
    """

    edges: _Edges = "neutral@1"
    types: dict[str, TypeDecision] = msgspec.field(default_factory=dict)
    names: NameDecision | UnsetType = UNSET
    pack: str = ""
    chosen_on: dict[str, str] = msgspec.field(default_factory=dict)
    untaught: Natural | UnsetType = UNSET

    @property
    def keeping_all(self) -> DocumentDecision:
        """The same decision without thresholds."""
        types = {name: replace(rule, low=0.0, alone=0.0) for name, rule in self.types.items()}
        return replace(self, types=types)

    def with_ends(self, ends: Ends) -> DocumentDecision:
        """Returns the same decision with these ends for every type."""
        types = {
            name: replace(rule, ends=ends, ends_alone=ends) for name, rule in self.types.items()
        }
        return replace(self, types=types)
