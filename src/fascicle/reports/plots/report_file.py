"""The JSON that ``fascicle evaluate --report FILE.json`` writes, checked as far as pictures need it.

What is drawn is the value itself, as the page draws it; the classes here only check it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from fascicle.errors import FormatError
from fascicle.evaluation.breakdown.errors import CLASSES
from fascicle.evaluation.report import SCHEMA
from fascicle.files.source import file_bytes

_Count = Annotated[int, Meta(ge=0)]
_Share = Annotated[float, Meta(ge=0.0, le=1.0)]
_REMEDY = "fascicle evaluate GOLD PRED --report FILE.json writes one"


class _Interval(msgspec.Struct):
    low: _Share
    high: _Share


class _Line(msgspec.Struct):
    gold: _Count
    predicted: _Count
    tp: _Count
    f1: _Share | None
    f1_interval: _Interval | None = None
    undefined: dict[str, str] = {}


class _Strict(msgspec.Struct):
    micro: _Line
    types: dict[str, _Line]

    def __post_init__(self) -> None:
        if self.micro.f1 is None and "f1" not in self.micro.undefined:
            raise ValueError("the F1 is null without a reason")


class _Rules(msgspec.Struct):
    strict: _Strict


class _Scores(msgspec.Struct):
    rules: _Rules
    micro_f1_interval: _Interval | None
    undefined: dict[str, str] = {}

    def __post_init__(self) -> None:
        if (self.micro_f1_interval is None) != ("micro_f1_interval" in self.undefined):
            raise ValueError("either micro_f1_interval or the reason that there is none is wanted")


class _Class(msgspec.Struct):
    types: dict[str, tuple[_Count, _Count]]


class _Confusion(msgspec.Struct):
    gold: str
    predicted: str
    same_span: _Count
    overlapping: _Count


class _Errors(msgspec.Struct):
    classes: dict[str, _Class]
    confusions: list[_Confusion]
    more_confusions: _Count

    def __post_init__(self) -> None:
        for name in CLASSES:
            if name not in self.classes:
                raise ValueError(f"the class of errors {name!r} is missing")


class _Bin(msgspec.Struct):
    low: _Share
    high: _Share
    count: _Count
    mean_score: _Share | None
    precision: _Share | None

    def __post_init__(self) -> None:
        if self.count and (self.mean_score is None or self.precision is None):
            raise ValueError("a bin with mentions has no mean score or no precision")


class _Point(msgspec.Struct):
    precision: _Share
    recall: _Share | None


class _Calibration(msgspec.Struct):
    undefined: str | dict[str, str] = {}
    reliability: list[_Bin] | None = None
    precision_recall: list[_Point] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.undefined, str):
            return
        if self.reliability is None or self.precision_recall is None:
            raise ValueError("the calibration has no curves, and no reason for it")
        if "average_precision" not in self.undefined and any(one.recall is None for one in self.precision_recall):
            raise ValueError("a recall is null without a reason")


class _Bucket(msgspec.Struct):
    interval: str
    gold: _Count
    f1: _Share | None


class _System(msgspec.Struct):
    name: str
    scores: _Scores
    buckets: dict[str, list[_Bucket]]
    errors: _Errors
    calibration: _Calibration

    def __post_init__(self) -> None:
        types = self.scores.rules.strict.types
        for row in self.errors.confusions:
            if not {row.gold, row.predicted} <= types.keys():
                raise ValueError(f"{row.gold!r} or {row.predicted!r} is confused, but no type of the scores")


class _Attribute(msgspec.Struct):
    title: str
    intervals: list[str] = []
    undefined: str | None = None


class _Gold(msgspec.Struct):
    mentions: _Count


class _Report(msgspec.Struct):
    gold: _Gold
    attributes: dict[str, _Attribute]
    systems: Annotated[list[_System], Meta(min_length=1)]

    def __post_init__(self) -> None:
        for name, attribute in self.attributes.items():
            for one in self.systems:
                found = [bucket.interval for bucket in one.buckets.get(name, [])]
                if attribute.undefined is None and (found != attribute.intervals or not found):
                    raise ValueError(f"the buckets of {name!r} of {one.name!r} are not those of the report")


def load_report(path: str) -> dict[str, Any]:
    """Reads a report.

    Returns:
        The value of ``fascicle.evaluation.report.build_report``, as far as pictures need it checked.

    Raises:
        InputError: it cannot be read.
        FormatError: another kind of file, another version, or one that lacks parts.
    """
    content = file_bytes(path)
    try:
        value = msgspec.json.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not a report as JSON ({error}); {_REMEDY}", file=path) from None
    if not isinstance(value, Mapping) or "fascicle_report" not in value:
        raise FormatError(f"{path} is not a report as JSON (it has no key fascicle_report); {_REMEDY}", file=path)
    if value["fascicle_report"] != SCHEMA:
        raise FormatError(
            f"{path} is a report of version {value['fascicle_report']!r}; this release reads version {SCHEMA}, and "
            f"{_REMEDY}",
            file=path,
            code="version",
        )
    try:
        msgspec.convert(value, type=_Report)
    except (msgspec.MsgspecError, ValueError) as error:
        raise FormatError(f"the report {path} is incomplete or was changed ({error}); {_REMEDY}") from None
    return dict(value)
