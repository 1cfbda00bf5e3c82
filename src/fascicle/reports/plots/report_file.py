"""The JSON that ``fascicle evaluate --report FILE.json`` writes, checked as far as pictures need it.

What is drawn is the value itself, as the page draws it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

import msgspec

from fascicle.errors import FormatError
from fascicle.evaluation.breakdown.errors import CLASSES
from fascicle.evaluation.report_parts import SCHEMA, Calibration, Errors, Report, Scores
from fascicle.files.source import file_bytes

_REMEDY = "fascicle evaluate GOLD PRED --report FILE.json writes one"


def _check(report: Report) -> None:
    """Refuses parts that do not go together.

    Raises:
        ValueError: says which.
    """
    for one in report["systems"]:
        _check_scores(one["scores"])
        _check_errors(one["errors"], one["scores"]["rules"]["strict"]["types"])
        _check_calibration(one["calibration"])
        for name, attribute in report["attributes"].items():
            found = [bucket["interval"] for bucket in one["buckets"].get(name, [])]
            if "undefined" not in attribute and (found != attribute.get("intervals") or not found):
                raise ValueError(f"the buckets of {name!r} of {one['name']!r} are not those of the report")


def _check_scores(scores: Scores) -> None:
    if "strict" not in scores["rules"]:
        raise ValueError("the strict scores are missing")
    micro = scores["rules"]["strict"]["micro"]
    if micro["f1"] is None and "f1" not in micro.get("undefined", {}):
        raise ValueError("the F1 is null without a reason")
    if (scores["micro_f1_interval"] is None) != ("micro_f1_interval" in scores.get("undefined", {})):
        raise ValueError("either micro_f1_interval or the reason that there is none is wanted")


def _check_errors(errors: Errors, types: Collection[str]) -> None:
    if missing := [name for name in CLASSES if name not in errors["classes"]]:
        raise ValueError(f"the class of errors {missing[0]!r} is missing")
    for row in errors["confusions"]:
        if row["gold"] not in types or row["predicted"] not in types:
            raise ValueError(f"{row['gold']!r} or {row['predicted']!r} is confused, but no type of the scores")


def _check_calibration(value: Calibration) -> None:
    reasons = value.get("undefined", {})
    if isinstance(reasons, str):
        return
    if "reliability" not in value or "precision_recall" not in value:
        raise ValueError("the calibration has no curves, and no reason for it")
    if any(one["count"] and None in (one["mean_score"], one["precision"]) for one in value["reliability"]):
        raise ValueError("a bin with mentions has no mean score or no precision")
    if "average_precision" not in reasons and any(one["recall"] is None for one in value["precision_recall"]):
        raise ValueError("a recall is null without a reason")


def load_report(path: str) -> Report:
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
        _check(msgspec.convert(value, type=Report))
    except (msgspec.MsgspecError, ValueError) as error:
        raise FormatError(f"the report {path} is incomplete or was changed ({error}); {_REMEDY}") from None
    return cast(Report, value)
