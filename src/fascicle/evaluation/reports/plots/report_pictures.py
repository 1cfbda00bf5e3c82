"""The pictures of a report of ``fascicle evaluate``, from its value: each readable without colour,
numbers in cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fascicle.evaluation.report_parts import BucketLine, CalibrationPart, Report, SystemPart
from fascicle.evaluation.reports.page.html import Picture
from fascicle.evaluation.reports.plots.canvas import (
    MOST_VECTORS,
    Drawing,
    PictureLabels,
    legend,
    line_look,
    make_labels,
    style,
    too_many,
)
from fascicle.evaluation.reports.plots.f1_pictures import f1_by_type, f1_intervals
from fascicle.evaluation.reports.plots.matrices import draw_confusion, heat_maps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

FEW: Final = 20  # a bin with fewer mentions is unreliable
_START: Final = 0.05  # below this recall, too few mentions are kept for a reliable precision
_MUTED: Final = "#c9ced4"
# the number of a system, and its precisions and recalls
_Curve = tuple[int, Sequence[Mapping[str, Any]]]


def report_pictures(report: Report) -> dict[str, Picture]:
    """Draws all pictures of a report.

    Args:
        report: the value of ``fascicle.evaluation.report.build_report``.

    Returns:
        ``"f1"``, ``"f1-types"``, ``"precision-recall"``, ``"bucket-NAME"`` for each attribute,
        ``"differences-N"`` for each system after the first, ``"confusion-N"`` and
        ``"reliability-N"`` for each. Where the numbers are undefined, there is no picture, and the
        reason.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    systems = report["systems"]
    names = make_labels([system["name"] for system in systems], kind="system")
    drawings = {
        "f1": f1_intervals(systems, names),
        "f1-types": f1_by_type(systems, names),
        "precision-recall": precision_recall(systems, names),
    }
    drawings |= heat_maps(report, names)
    for name, attribute in report["attributes"].items():
        if "undefined" not in attribute:  # the page gives the reason, and has no table either
            drawings[f"bucket-{name}"] = bucket_f1(
                [system["buckets"][name] for system in systems], names
            )
    for number, system in enumerate(systems):
        drawings[f"confusion-{number}"] = draw_confusion(system)
        drawings[f"reliability-{number}"] = reliability(system["calibration"])
    return {name: system.picture() for name, system in drawings.items()}


def bucket_f1(buckets: Sequence[Sequence[BucketLine]], names: PictureLabels) -> Drawing:
    """Draws F1 of each system in each bucket of an attribute, before bars of the share of the gold
    in the bucket.
    """
    if problem := too_many(len(buckets)):
        return problem
    if not any(_says_something(bucket) for row in buckets for bucket in row):
        return Drawing(missing="no bucket has a gold mention")
    return Drawing(
        title="F1 in each bucket",
        width=4.0,
        height=2.5 + 0.12 * len(buckets),
        draw=partial(_draw_buckets, buckets=buckets, names=names.names),
        notes=names.notes if len(buckets) > 1 else (),
    )


def _says_something(bucket: Mapping[str, Any]) -> bool:
    """True if a picture has something to show: without gold, an F1 of 0 means only that something
    was predicted.
    """
    return bool(bucket["gold"]) and bucket["f1"] is not None


def _draw_buckets(
    figure: FigureBase, *, buckets: Sequence[Sequence[Mapping[str, Any]]], names: Sequence[str]
) -> None:
    axes = figure.add_subplot()
    _draw_shares(axes, buckets[0])
    for number, row in enumerate(buckets):
        shift = 0.12 * (number - (len(buckets) - 1) / 2) if len(buckets) < 8 else 0.0
        columns = [column for column, bucket in enumerate(row) if _says_something(bucket)]
        values = [100 * row[column]["f1"] for column in columns]
        places = [column + shift for column in columns]
        looks = line_look(number)
        axes.plot(places, values, linewidth=1.1, label=f"{number}", clip_on=False, **looks)
    axes.set_ylim(0, 100)
    axes.set_ylabel("F1; bars: % of the gold")
    axes.grid(visible=False, axis="x")
    legend(figure, axes, names, count=len(buckets))


def _draw_shares(axes: Axes, buckets: Sequence[Mapping[str, Any]]) -> None:
    """Draws bars of the share of the gold in each bucket, over its interval."""
    gold = sum(bucket["gold"] for bucket in buckets)
    places = range(len(buckets))
    shares = [100 * bucket["gold"] / gold if gold else 0.0 for bucket in buckets]
    axes.bar(places, shares, width=0.72, color="#e6e9ed", edgecolor=_MUTED, linewidth=0.6)
    axes.set_xticks(places, [bucket["interval"] for bucket in buckets])


def precision_recall(systems: Sequence[SystemPart], names: PictureLabels) -> Drawing:
    """Draws precision and recall over the score, of all systems."""
    if problem := too_many(len(systems)):
        return problem
    curves: list[_Curve] = []
    reasons: dict[str, list[str]] = {}
    for number, system in enumerate(systems):
        if reason := _reason_for_no_curve(system["calibration"]):
            reasons.setdefault(reason, []).append(names.names[number])
        else:
            curves.append((number, system["calibration"]["precision_recall"]))
    if not curves:
        return Drawing(missing="; ".join(reasons))
    why = [f"Undefined for {', '.join(named)}: {reason}." for reason, named in reasons.items()]
    return Drawing(
        title="Precision and recall over the score",
        width=4.8,
        height=3.6 + 0.12 * len(curves),
        draw=partial(_draw_curves, curves=curves, names=names.names),
        notes=(*why, *(names.notes if len(curves) > 1 else ())),
    )


def _reason_for_no_curve(value: CalibrationPart) -> str | None:
    undefined = value.get("undefined")
    reason = undefined if isinstance(undefined, str) else (undefined or {}).get("average_precision")
    if reason is None and not value["precision_recall"]:
        return "nothing was predicted"
    return reason


def _draw_curves(figure: FigureBase, *, curves: Sequence[_Curve], names: Sequence[str]) -> None:
    pixels = sum(len(points) for _, points in curves) > MOST_VECTORS
    axes = figure.add_subplot()
    for number, points in curves:
        step = max(1, len(points) // 5)
        axes.plot(
            [100 * point["recall"] for point in points],
            [100 * point["precision"] for point in points],
            linewidth=1.3,
            # marks begin elsewhere for each curve, within the shortest one too
            markevery=(5 * number % step, step),
            label=f"{number}",
            rasterized=pixels,
            **line_look(number),
        )
    axes.set_xlim(0, 100)
    reliable = (
        point["precision"] for _, points in curves for point in points if point["recall"] >= _START
    )
    lowest = min(reliable, default=0.0)
    axes.set_ylim(max(0.0, 10 * (10 * lowest // 1) - 5), 101)
    axes.set_xlabel("recall")
    axes.set_ylabel("precision (the axis need not begin at 0)")
    legend(figure, axes, [names[number] for number, _ in curves], count=len(curves))


def reliability(value: CalibrationPart) -> Drawing:
    """Draws precision in each interval of the score, above how many mentions have such a score."""
    if isinstance(reason := value.get("undefined"), str):
        return Drawing(missing=reason)
    bins = [row for row in value["reliability"] if row["count"]]
    if not bins:
        return Drawing(missing="nothing was predicted")
    few = any(row["count"] < FEW for row in bins)
    return Drawing(
        title="Reliability: precision over the score",
        width=4.0,
        height=3.8,
        draw=partial(_draw_reliability, bins=bins),
        notes=(f"Open marks: fewer than {FEW} mentions.",) if few else (),
    )


def _draw_reliability(figure: FigureBase, *, bins: Sequence[Mapping[str, Any]]) -> None:
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    _draw_precision(upper, bins)
    lower.bar(
        [row["low"] for row in bins], [row["count"] for row in bins],
        width=[row["high"] - row["low"] for row in bins], align="edge",
        color="#e6e9ed", edgecolor="#838b95", linewidth=0.6,
    )  # fmt: skip
    lower.set_ylabel("mentions")
    lower.set_xlabel("score")
    lower.set_xlim(0, 1)


def _draw_precision(axes: Axes, bins: Sequence[Mapping[str, Any]]) -> None:
    """Draws precision over the mean score, with open marks where there are few mentions."""
    axes.plot([0, 1], [0, 100], color="#59616b", linewidth=1, linestyle=(0, (4, 3)))
    places = [row["mean_score"] for row in bins]
    values = [100 * row["precision"] for row in bins]
    colour = style(0).colour
    axes.plot(places, values, color=colour, linewidth=1.3)
    for row, place, height in zip(bins, places, values, strict=True):
        axes.plot(
            place,
            height,
            marker="o",
            markersize=5.5,
            color=colour,
            markerfacecolor="white" if row["count"] < FEW else colour,
            clip_on=False,
        )
    axes.set_ylabel("precision")
    axes.set_ylim(-2, 102)
