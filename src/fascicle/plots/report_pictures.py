"""The pictures of a report of ``fascicle evaluate``, from its value: each readable without colour, numbers in cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from fascicle.evaluate.page_html import Picture
from fascicle.plots.canvas import MOST_VECTORS, STYLES, sheet, style, svg
from fascicle.plots.confusion import confusion
from fascicle.plots.heat import heat_maps
from fascicle.plots.labels import Labels, labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_SERIES: Final = 2 * len(STYLES)  # each look once with filled and once with open marks
_FEW: Final = 20  # mentions of a bin that say little
_START: Final = 0.05  # recall below which so few mentions are kept that their precision says little
_ENDS: Final = ("low", "high")
_MUTED: Final = "#c9ced4"


def report_pictures(report: Mapping[str, Any]) -> dict[str, Picture]:
    """All pictures of a report.

    Args:
        report: the value of ``fascicle.evaluate.report.build_report``.

    Returns:
        ``"f1"``, ``"precision-recall"``, ``"bucket-NAME"`` for each attribute, ``"differences-N"`` for each system
        after the first, ``"confusion-N"`` and ``"reliability-N"`` for each. Where the numbers are undefined, there is
        no picture, and the reason.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    systems = report["systems"]
    names = labels([one["name"] for one in systems], kind="system")
    drawn = {"f1": f1_intervals(systems, names), "precision-recall": precision_recall(systems, names)}
    drawn |= heat_maps(report, names)
    for name, attribute in report["attributes"].items():
        if "undefined" not in attribute:  # the page says why, and has no table either
            drawn[f"bucket-{name}"] = bucket_f1([one["buckets"][name] for one in systems], names)
    for at, one in enumerate(systems):
        drawn[f"confusion-{at}"] = confusion(one)
        drawn[f"reliability-{at}"] = reliability(one["calibration"])
    return drawn


def _look(number: int) -> dict[str, Any]:
    """The look of a series of points that a line joins."""
    found = style(number)
    face = found.colour if number < len(STYLES) else "white"
    return {"color": found.colour, "marker": found.marker, "linestyle": found.line, "markerfacecolor": face}


def _too_many(series: int) -> Picture | None:
    if series <= _MOST_SERIES:
        return None
    return Picture(missing=f"{series} systems cannot be told apart in one picture, {_MOST_SERIES} can; see the table")


def _legend(figure: Figure, axes: Axes, names: Iterable[str], *, count: int) -> None:
    """Names of the series below the picture, if there are several."""
    if count < 2:
        return
    listed = list(names)
    columns = max(1, min(count, 58 // (max(map(len, listed)) + 8)))
    handles = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    figure.legend(handles, listed, loc="outside lower center", ncols=columns, fontsize=8, handlelength=3.2)


def f1_intervals(systems: Sequence[Mapping[str, Any]], names: Labels) -> Picture:
    """Strict micro F1 of each system with its interval."""
    rows = [
        (at, one["scores"]["rules"]["strict"]["micro"]["f1"], one["scores"]["micro_f1_interval"])
        for at, one in enumerate(systems)
    ]
    known = [row for row in rows if row[1] is not None]
    if not known:
        return Picture(missing=systems[0]["scores"]["rules"]["strict"]["micro"]["undefined"]["f1"])
    with sheet(width=5.6, height=0.75 + 0.34 * len(systems)) as figure:
        axes = figure.add_subplot()
        for at, f1, interval in known:
            low, high = (interval[end] for end in _ENDS) if interval else (f1, f1)
            axes.plot([100 * low, 100 * high], [at, at], color="#1b1f24", linewidth=1.4)
            for end in (low, high) if interval else ():
                axes.plot([100 * end] * 2, [at - 0.13, at + 0.13], color="#1b1f24", linewidth=1.4)
            axes.plot(100 * f1, at, marker="o", color=style(0).colour, markersize=6)
            axes.annotate(
                f"{100 * f1:.2f}", (100 * f1, at), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=8
            )
        axes.set_yticks(range(len(systems)), names.names)
        axes.set_ylim(len(systems) - 0.5, -0.65)
        ends = [100 * end for _, f1, interval in known for end in (f1, *(interval[e] for e in _ENDS if interval))]
        room = max(0.5, 0.1 * (max(ends) - min(ends)))
        axes.set_xlim(max(-0.5, min(ends) - room), min(100.5, max(ends) + room))
        axes.set_xlabel("strict F1 (the axis need not begin at 0)")
        axes.grid(visible=False, axis="y")
        element = svg(figure, title="Strict F1 of each system with its interval")
    undefined = [names.names[at] for at, f1, _ in rows if f1 is None]
    notes = [f"Undefined for {', '.join(undefined)}."] if undefined else []
    reasons = {one["scores"]["undefined"]["micro_f1_interval"] for one in systems if "undefined" in one["scores"]}
    notes += [f"No interval: {reason}." for reason in sorted(reasons)]
    return Picture(svg=element, notes=(*notes, *names.notes))


def bucket_f1(buckets: Sequence[Sequence[Mapping[str, Any]]], names: Labels) -> Picture:
    """F1 of each system in each bucket of an attribute, before bars of the share of the gold in the bucket."""
    first = buckets[0]
    if problem := _too_many(len(buckets)):
        return problem
    if all(bucket["f1"] is None for row in buckets for bucket in row):
        return Picture(missing="all buckets are empty")
    gold = sum(bucket["gold"] for bucket in first)
    with sheet(width=4.0, height=2.5 + 0.12 * len(buckets)) as figure:
        axes = figure.add_subplot()
        shares = [100 * bucket["gold"] / gold if gold else 0.0 for bucket in first]
        axes.bar(range(len(first)), shares, width=0.72, color="#e6e9ed", edgecolor=_MUTED, linewidth=0.6)
        for at, row in enumerate(buckets):
            shift = 0.12 * (at - (len(buckets) - 1) / 2) if len(buckets) < 8 else 0.0
            places = [number + shift for number, bucket in enumerate(row) if bucket["f1"] is not None]
            values = [100 * bucket["f1"] for bucket in row if bucket["f1"] is not None]
            axes.plot(places, values, linewidth=1.1, label=f"{at}", clip_on=False, **_look(at))
        axes.set_xticks(range(len(first)), [bucket["interval"] for bucket in first])
        axes.set_ylim(0, 100)
        axes.set_ylabel("F1; bars: % of the gold")
        axes.grid(visible=False, axis="x")
        _legend(figure, axes, names.names, count=len(buckets))
        element = svg(figure, title="F1 in each bucket")
    return Picture(svg=element, notes=names.notes if len(buckets) > 1 else ())


def precision_recall(systems: Sequence[Mapping[str, Any]], names: Labels) -> Picture:
    """Precision and recall over the score, of all systems."""
    curves: list[tuple[int, list[Mapping[str, float]]]] = []
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
    if problem := _too_many(len(systems)):
        return problem
    why = [f"Undefined for {', '.join(listed)}: {reason}." for reason, listed in reasons.items()]
    if not curves:
        return Picture(missing="; ".join(reasons))
    pixels = sum(len(points) for _, points in curves) > MOST_VECTORS
    with sheet(width=4.8, height=3.6 + 0.12 * len(curves)) as figure:
        axes = figure.add_subplot()
        for at, points in curves:
            places = [100 * point["recall"] for point in points]
            values = [100 * point["precision"] for point in points]
            every = (5 * at % 20, max(1, len(points) // 5))
            axes.plot(places, values, linewidth=1.3, markevery=every, label=f"{at}", rasterized=pixels, **_look(at))
        axes.set_xlim(0, 100)
        told = [point["precision"] for _, points in curves for point in points if point["recall"] >= _START]
        lowest = min(told, default=0.0)
        axes.set_ylim(max(0.0, 10 * (10 * lowest // 1) - 5), 101)
        axes.set_xlabel("recall")
        axes.set_ylabel("precision (the axis need not begin at 0)")
        _legend(figure, axes, [names.names[at] for at, _ in curves], count=len(curves))
        element = svg(figure, title="Precision and recall over the score")
    return Picture(svg=element, notes=(*why, *(names.notes if len(curves) > 1 else ())))


def reliability(value: Mapping[str, Any]) -> Picture:
    """Precision in each interval of the score, above how many mentions have such a score."""
    if isinstance(value.get("undefined"), str):
        return Picture(missing=value["undefined"])
    bins = [row for row in value["reliability"] if row["count"]]
    if not bins:
        return Picture(missing="nothing was predicted")
    with sheet(width=4.0, height=3.8) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        upper.plot([0, 1], [0, 100], color="#59616b", linewidth=1, linestyle=(0, (4, 3)))
        places = [row["mean_score"] for row in bins]
        values = [100 * row["precision"] for row in bins]
        upper.plot(places, values, color=style(0).colour, linewidth=1.3)
        for row, place, height in zip(bins, places, values, strict=True):
            face = "white" if row["count"] < _FEW else style(0).colour
            upper.plot(place, height, marker="o", markersize=5.5, color=style(0).colour, markerfacecolor=face)
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
        element = svg(figure, title="Reliability: precision over the score")
    few = any(row["count"] < _FEW for row in bins)
    return Picture(svg=element, notes=(f"Open marks: fewer than {_FEW} mentions.",) if few else ())
