"""The pictures of a report of ``fascicle evaluate``, from its value: each readable without colour, numbers in cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fascicle.evaluation.report_parts import BucketLine, Calibration, Report, System
from fascicle.evaluation.reports.page.html import Picture
from fascicle.evaluation.reports.plots.canvas import MOST_VECTORS, Labels, labels, style
from fascicle.evaluation.reports.plots.drawing import Drawing, legend, look, too_many
from fascicle.evaluation.reports.plots.matrices import confusion, heat_maps
from fascicle.evaluation.reports.plots.scores import f1_by_type, f1_intervals

if TYPE_CHECKING:
    from matplotlib.figure import FigureBase

FEW: Final = 20  # a bin with fewer mentions is unreliable
_START: Final = 0.05  # below this recall, too few mentions are kept for a reliable precision
_MUTED: Final = "#c9ced4"


def report_pictures(report: Report) -> dict[str, Picture]:
    """Draws all pictures of a report.

    Args:
        report: the value of ``fascicle.evaluation.report.build_report``.

    Returns:
        ``"f1"``, ``"f1-types"``, ``"precision-recall"``, ``"bucket-NAME"`` for each attribute, ``"differences-N"`` for
        each system after the first, ``"confusion-N"`` and ``"reliability-N"`` for each. Where the numbers are
        undefined, there is no picture, and the reason.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    systems = report["systems"]
    names = labels([one["name"] for one in systems], kind="system")
    drawn = {
        "f1": f1_intervals(systems, names),
        "f1-types": f1_by_type(systems, names),
        "precision-recall": precision_recall(systems, names),
    }
    drawn |= heat_maps(report, names)
    for name, attribute in report["attributes"].items():
        if "undefined" not in attribute:  # the page gives the reason, and has no table either
            drawn[f"bucket-{name}"] = bucket_f1([one["buckets"][name] for one in systems], names)
    for at, one in enumerate(systems):
        drawn[f"confusion-{at}"] = confusion(one)
        drawn[f"reliability-{at}"] = reliability(one["calibration"])
    return {name: one.picture() for name, one in drawn.items()}


def bucket_f1(buckets: Sequence[Sequence[BucketLine]], names: Labels) -> Drawing:
    """Draws F1 of each system in each bucket of an attribute, before bars of the share of the gold in the bucket."""
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
    """True if a picture has something to show: without gold, an F1 of 0 means only that something was predicted."""
    return bool(bucket["gold"]) and bucket["f1"] is not None


def _draw_buckets(figure: FigureBase, *, buckets: Sequence[Sequence[Mapping[str, Any]]], names: Sequence[str]) -> None:
    first = buckets[0]
    gold = sum(bucket["gold"] for bucket in first)
    axes = figure.add_subplot()
    shares = [100 * bucket["gold"] / gold if gold else 0.0 for bucket in first]
    axes.bar(range(len(first)), shares, width=0.72, color="#e6e9ed", edgecolor=_MUTED, linewidth=0.6)
    for at, row in enumerate(buckets):
        shift = 0.12 * (at - (len(buckets) - 1) / 2) if len(buckets) < 8 else 0.0
        known = [number for number, bucket in enumerate(row) if _says_something(bucket)]
        values = [100 * row[number]["f1"] for number in known]
        places = [number + shift for number in known]
        axes.plot(places, values, linewidth=1.1, label=f"{at}", clip_on=False, **look(at))
    axes.set_xticks(range(len(first)), [bucket["interval"] for bucket in first])
    axes.set_ylim(0, 100)
    axes.set_ylabel("F1; bars: % of the gold")
    axes.grid(visible=False, axis="x")
    legend(figure, axes, names, count=len(buckets))


def precision_recall(systems: Sequence[System], names: Labels) -> Drawing:
    """Draws precision and recall over the score, of all systems."""
    curves: list[tuple[int, Sequence[Mapping[str, Any]]]] = []
    reasons: dict[str, list[str]] = {}
    for at, one in enumerate(systems):
        value = one["calibration"]
        reason = value.get("undefined")
        reason = reason if isinstance(reason, str) else (reason or {}).get("average_precision")
        if reason is None and not value["precision_recall"]:
            reason = "nothing was predicted"
        if reason is None:
            curves.append((at, value["precision_recall"]))
        else:
            reasons.setdefault(reason, []).append(names.names[at])
    if problem := too_many(len(systems)):
        return problem
    if not curves:
        return Drawing(missing="; ".join(reasons))
    why = [f"Undefined for {', '.join(listed)}: {reason}." for reason, listed in reasons.items()]
    return Drawing(
        title="Precision and recall over the score",
        width=4.8,
        height=3.6 + 0.12 * len(curves),
        draw=partial(_draw_curves, curves=curves, names=names.names),
        notes=(*why, *(names.notes if len(curves) > 1 else ())),
    )


def _draw_curves(
    figure: FigureBase, *, curves: Sequence[tuple[int, Sequence[Mapping[str, Any]]]], names: Sequence[str]
) -> None:
    pixels = sum(len(points) for _, points in curves) > MOST_VECTORS
    axes = figure.add_subplot()
    for at, points in curves:
        places = [100 * point["recall"] for point in points]
        values = [100 * point["precision"] for point in points]
        step = max(1, len(points) // 5)
        every = (5 * at % step, step)  # begins elsewhere for each curve, within the shortest one too
        axes.plot(places, values, linewidth=1.3, markevery=every, label=f"{at}", rasterized=pixels, **look(at))
    axes.set_xlim(0, 100)
    told = [point["precision"] for _, points in curves for point in points if point["recall"] >= _START]
    lowest = min(told, default=0.0)
    axes.set_ylim(max(0.0, 10 * (10 * lowest // 1) - 5), 101)
    axes.set_xlabel("recall")
    axes.set_ylabel("precision (the axis need not begin at 0)")
    legend(figure, axes, [names[at] for at, _ in curves], count=len(curves))


def reliability(value: Calibration) -> Drawing:
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
    upper.plot([0, 1], [0, 100], color="#59616b", linewidth=1, linestyle=(0, (4, 3)))
    places = [row["mean_score"] for row in bins]
    values = [100 * row["precision"] for row in bins]
    upper.plot(places, values, color=style(0).colour, linewidth=1.3)
    for row, place, height in zip(bins, places, values, strict=True):
        face = "white" if row["count"] < FEW else style(0).colour
        upper.plot(
            place, height, marker="o", markersize=5.5, color=style(0).colour, markerfacecolor=face, clip_on=False
        )
    upper.set_ylabel("precision")
    upper.set_ylim(-2, 102)
    widths = [row["high"] - row["low"] for row in bins]
    lower.bar(
        [row["low"] for row in bins], [row["count"] for row in bins], width=widths, align="edge",
        color="#e6e9ed", edgecolor="#838b95", linewidth=0.6,
    )  # fmt: skip
    lower.set_ylabel("mentions")
    lower.set_xlabel("score")
    lower.set_xlim(0, 1)
