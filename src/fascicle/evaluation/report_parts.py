"""The form of a report: what `evaluation.report` makes, files of JSON hold, and pages and pictures
are drawn from.

A number that is undefined is ``None``, and the key ``undefined`` beside it says why. Keys that are
not required are those that pictures do without, so that reports of earlier releases can still be
drawn.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, NotRequired, TypedDict

from msgspec import Meta

SCHEMA: Final = 1

_Count = Annotated[int, Meta(ge=0)]
_Share = Annotated[float, Meta(ge=0.0, le=1.0)]
_Reasons = dict[str, str]


class IntervalPart(TypedDict):
    """An interval by bootstrap; see `uncertainty.intervals.Interval`."""

    low: _Share
    high: _Share
    undefined: NotRequired[_Count]
    resamples: NotRequired[_Count]


class LinePart(TypedDict):
    """Counts and figures of all types, or of one."""

    gold: _Count
    predicted: _Count
    tp: _Count
    fp: NotRequired[_Count]
    fn: NotRequired[_Count]
    precision: NotRequired[_Share | None]
    recall: NotRequired[_Share | None]
    f1: _Share | None
    f1_interval: NotRequired[IntervalPart | None]
    undefined: NotRequired[_Reasons]


class RulePart(TypedDict):
    """Scores under one rule of matching."""

    micro: LinePart
    macro: NotRequired[dict[str, Any]]
    types: dict[str, LinePart]


class ScoresPart(TypedDict):
    """All scores of a system."""

    rules: dict[str, RulePart]
    micro_precision_interval: NotRequired[IntervalPart | None]
    micro_recall_interval: NotRequired[IntervalPart | None]
    micro_f1_interval: IntervalPart | None
    macro_f1_interval: NotRequired[IntervalPart | None]
    undefined: NotRequired[_Reasons]
    gold_only_types: NotRequired[list[str]]
    predicted_only_types: NotRequired[list[str]]
    missing_documents: NotRequired[_Count]
    duplicates: NotRequired[dict[str, _Count]]


class Class(TypedDict):
    """Mistakes of one class; of each type the false positives and the false negatives."""

    fp: NotRequired[_Count]
    fn: NotRequired[_Count]
    beside_right: NotRequired[_Count]
    types: dict[str, Annotated[list[_Count], Meta(min_length=2, max_length=2)]]


class ConfusionPart(TypedDict):
    """Number of times that one type was predicted for another."""

    gold: str
    predicted: str
    same_span: _Count
    overlapping: _Count
    beside_right: NotRequired[_Count]


class Errors(TypedDict):
    """Errors of a system."""

    classes: dict[str, Class]
    rates: NotRequired[dict[str, Any]]
    rates_same_type: NotRequired[dict[str, Any]]
    confusions: list[ConfusionPart]
    more_confusions: _Count
    boundary_words: NotRequired[list[dict[str, Any]]]
    examples: NotRequired[dict[str, list[dict[str, Any]]]]


class BinPart(TypedDict):
    """The mentions with a score in one interval."""

    low: _Share
    high: _Share
    count: _Count
    mean_score: _Share | None
    precision: _Share | None


class PointPart(TypedDict):
    """Point of a curve of precision and recall."""

    threshold: NotRequired[_Share]
    precision: _Share
    recall: _Share | None


class CalibrationPart(TypedDict, total=False):
    """Calibration of a system, or of one type; where there is none, ``undefined`` is the reason."""

    undefined: str | _Reasons
    predicted: _Count
    gold: _Count
    expected_calibration_error: _Share | None
    brier_score: _Share | None
    average_precision: _Share | None
    temperature: dict[str, Any] | None
    reliability: list[BinPart]
    precision_recall: list[PointPart]
    types: dict[str, CalibrationPart]
    thresholds: list[dict[str, Any]]


class BucketLine(LinePart):
    """The mentions in one interval of an attribute."""

    interval: str
    empty: NotRequired[bool]


class SystemPart(TypedDict):
    """All about one system."""

    name: str
    scores: ScoresPart
    subsets: NotRequired[dict[str, dict[str, Any]]]
    buckets: dict[str, list[BucketLine]]
    errors: Errors
    calibration: CalibrationPart


class Attribute(TypedDict):
    """By what mentions are parted into buckets."""

    title: str
    means: NotRequired[str]
    undefined: NotRequired[str]
    intervals: NotRequired[list[str]]
    of_the_paper: NotRequired[bool]
    empty: NotRequired[list[str]]


class GoldPart(TypedDict):
    """Gold that the systems were scored on."""

    documents: NotRequired[_Count]
    unit: NotRequired[str]
    drawn: NotRequired[str]
    characters: NotRequired[_Count]
    mentions: _Count
    types: NotRequired[dict[str, _Count]]
    discontinuous: NotRequired[_Count]
    training: NotRequired[dict[str, _Count] | None]
    undefined: NotRequired[_Reasons]


class Report(TypedDict):
    """Everything about some systems on one gold; the first system is what the others are
    compared with.
    """

    fascicle_report: int
    gold: GoldPart
    unreachable: NotRequired[list[dict[str, Any]]]
    text_unit: NotRequired[str]
    intervals: NotRequired[str]
    attributes: dict[str, Attribute]
    systems: Annotated[list[SystemPart], Meta(min_length=1)]
    differences: NotRequired[list[dict[str, Any]]]
    remarks: NotRequired[list[str]]
