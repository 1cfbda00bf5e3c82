"""The pictures of a report of ``fascicle evaluate``, from its value: each readable without colour,
numbers in cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fascicle.core.wording import plural
from fascicle.evaluation.report_parts import BucketLine, Calibration, Interval, Report, System
from fascicle.evaluation.reports.page.html import Picture
from fascicle.evaluation.reports.plots.canvas import (
    MOST_VECTORS,
    Drawing,
    Labels,
    legend,
    line_look,
    make_labels,
    style,
    too_many,
)
from fascicle.evaluation.reports.plots.matrices import draw_confusion, heat_maps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

FEW: Final = 20  # a bin with fewer mentions is unreliable
_START: Final = 0.05  # below this recall, too few mentions are kept for a reliable precision
_MUTED: Final = "#c9ced4"


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
    names = make_labels([one["name"] for one in systems], kind="system")
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
        drawn[f"confusion-{at}"] = draw_confusion(one)
        drawn[f"reliability-{at}"] = reliability(one["calibration"])
    return {name: one.picture() for name, one in drawn.items()}


def bucket_f1(buckets: Sequence[Sequence[BucketLine]], names: Labels) -> Drawing:
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
    first = buckets[0]
    gold = sum(bucket["gold"] for bucket in first)
    axes = figure.add_subplot()
    shares = [100 * bucket["gold"] / gold if gold else 0.0 for bucket in first]
    axes.bar(
        range(len(first)), shares, width=0.72, color="#e6e9ed", edgecolor=_MUTED, linewidth=0.6
    )
    for at, row in enumerate(buckets):
        shift = 0.12 * (at - (len(buckets) - 1) / 2) if len(buckets) < 8 else 0.0
        known = [number for number, bucket in enumerate(row) if _says_something(bucket)]
        values = [100 * row[number]["f1"] for number in known]
        places = [number + shift for number in known]
        axes.plot(places, values, linewidth=1.1, label=f"{at}", clip_on=False, **line_look(at))
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
    figure: FigureBase,
    *,
    curves: Sequence[tuple[int, Sequence[Mapping[str, Any]]]],
    names: Sequence[str],
) -> None:
    pixels = sum(len(points) for _, points in curves) > MOST_VECTORS
    axes = figure.add_subplot()
    for at, points in curves:
        places = [100 * point["recall"] for point in points]
        values = [100 * point["precision"] for point in points]
        step = max(1, len(points) // 5)
        every = (
            5 * at % step,
            step,
        )  # begins elsewhere for each curve, within the shortest one too
        axes.plot(
            places,
            values,
            linewidth=1.3,
            markevery=every,
            label=f"{at}",
            rasterized=pixels,
            **line_look(at),
        )
    axes.set_xlim(0, 100)
    told = [
        point["precision"] for _, points in curves for point in points if point["recall"] >= _START
    ]
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
            place,
            height,
            marker="o",
            markersize=5.5,
            color=style(0).colour,
            markerfacecolor=face,
            clip_on=False,
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


_MOST_TYPES: Final = 12
_MOST_ROWS: Final = 48  # that fit on a page
_ENDS: Final = ("low", "high")
_INK: Final = "#1b1f24"
_AXIS: Final = "strict F1 (the axis need not begin at 0)"
_NO_INTERVALS: Final = "the report was written without intervals of types"


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One F1, and where it stands."""

    place: float
    f1: float
    interval: Interval | None
    looks: Mapping[str, Any]

    @property
    def ends(self) -> tuple[float, ...]:
        """In percent, of the interval if there is one."""
        return (
            tuple(100 * self.interval[end] for end in _ENDS) if self.interval else (100 * self.f1,)
        )


def f1_intervals(systems: Sequence[System], names: Labels) -> Drawing:
    """Draws strict micro F1 of each system with its interval."""
    values = [
        (one["scores"]["rules"]["strict"]["micro"]["f1"], one["scores"]["micro_f1_interval"])
        for one in systems
    ]
    looks = {
        "color": _INK,
        "marker": "o",
        "markerfacecolor": style(0).colour,
        "markeredgecolor": style(0).colour,
    }
    rows = [
        _Row(place=at, f1=f1, interval=interval, looks=looks)
        for at, (f1, interval) in enumerate(values)
        if f1 is not None
    ]
    if not rows:
        return Drawing(missing=systems[0]["scores"]["rules"]["strict"]["micro"]["undefined"]["f1"])
    undefined = [name for name, (f1, _) in zip(names.names, values, strict=True) if f1 is None]
    notes = [f"Undefined for {', '.join(undefined)}."] if undefined else []
    reasons = {one["scores"].get("undefined", {}).get("micro_f1_interval", "") for one in systems}
    notes += [f"No interval: {reason}." for reason in sorted(filter(None, reasons))]
    return Drawing(
        title="Strict F1 of each system with its interval",
        width=5.6,
        height=0.75 + 0.34 * len(systems),
        draw=partial(_draw_systems, rows=rows, names=names.names),
        notes=(*notes, *names.notes),
    )


def _draw_systems(figure: FigureBase, *, rows: Sequence[_Row], names: Sequence[str]) -> None:
    axes = figure.add_subplot()
    _draw(axes, rows)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.65)


def _draw(axes: Axes, rows: Sequence[_Row]) -> None:
    for row in rows:
        colour = row.looks["color"]
        if row.interval:
            axes.plot(row.ends, [row.place] * 2, color=colour, linewidth=1.4, clip_on=False)
            for end in row.ends:
                across = [row.place - 0.13, row.place + 0.13]
                axes.plot([end] * 2, across, color=colour, linewidth=1.4, clip_on=False)
        axes.plot(100 * row.f1, row.place, **row.looks, markersize=6, clip_on=False)
        axes.annotate(
            f"{100 * row.f1:.2f}", (100 * row.f1, row.place),
            xytext=(0, 6), textcoords="offset points", ha="center", fontsize=8,
        )  # fmt: skip
    ends = [end for row in rows for end in (*row.ends, 100 * row.f1)]
    room = max(0.5, 0.1 * (max(ends) - min(ends)))
    axes.set_xlim(max(0.0, min(ends) - room), min(100.0, max(ends) + room))
    axes.set_xlabel(_AXIS)
    axes.grid(visible=False, axis="y")


@dataclass(frozen=True, kw_only=True)
class _Group:
    """The scores of all systems over the same mentions: a line of the report for each, ``None`` if
    it has none.
    """

    title: str
    gold: int
    scores: tuple[Mapping[str, Any] | None, ...]


def f1_by_type(systems: Sequence[System], names: Labels) -> Drawing:
    """Strict F1 of each system with its interval: over all types, and below of each type, the most
    frequent first.
    """
    if problem := too_many(len(systems)):
        return problem
    types = _types(systems)
    shown = types[: max(1, min(_MOST_TYPES, _MOST_ROWS // len(systems) - 1))]
    written = make_labels(shown, kind="type")
    groups = [
        _all_types(systems),
        *(_of_type(systems, *pair) for pair in zip(shown, written.names, strict=True)),
    ]
    if not types:
        return Drawing(missing=systems[0]["scores"]["rules"]["strict"]["micro"]["undefined"]["f1"])
    notes = list(_notes(groups, names.names))
    if len(types) > len(shown):
        notes.append(f"Of {plural(len(types), 'type')} {len(shown)}, the most frequent, are drawn.")
    several = len(systems) > 1
    return Drawing(
        title="Strict F1 of each system with its interval, over all types and of each type",
        width=6.0,
        height=0.8
        + len(groups) * (0.12 + 0.3 * len(systems))
        + (0.12 * len(systems) if several else 0.0),
        draw=partial(_draw_groups, groups=groups, names=names.names),
        notes=(*notes, *written.notes, *(names.notes if several else ())),
    )


def _types(systems: Sequence[System]) -> list[str]:
    """Of all systems, the most frequent in the gold first, then those that were predicted most."""
    often: dict[str, list[int]] = {}
    for one in systems:
        for name, row in one["scores"]["rules"]["strict"]["types"].items():
            gold, predicted = often.get(name, (0, 0))
            often[name] = [max(gold, row["gold"]), predicted + row["predicted"]]
    return sorted(often, key=lambda name: (-often[name][0], -often[name][1], name))


def _all_types(systems: Sequence[System]) -> _Group:
    scores = [one["scores"] for one in systems]
    rows = [
        row["rules"]["strict"]["micro"]
        | {"f1_interval": row["micro_f1_interval"]}
        | {"undefined": {"f1_interval": row.get("undefined", {}).get("micro_f1_interval", "")}}
        for row in scores
    ]
    return _Group(title="all types", gold=rows[0]["gold"], scores=tuple(rows))


def _of_type(systems: Sequence[System], name: str, title: str) -> _Group:
    rows = tuple(one["scores"]["rules"]["strict"]["types"].get(name) for one in systems)
    return _Group(
        title=title, gold=max(row["gold"] for row in rows if row is not None), scores=rows
    )


def _notes(groups: Sequence[_Group], names: Sequence[str]) -> Iterator[str]:
    """Yields notes on marks without an interval and on systems without a mark, with the reason."""
    reasons: dict[str, dict[str, None]] = {}
    for group in groups:
        for row in group.scores:
            if row is not None and row["f1"] is not None and not row.get("f1_interval"):
                why = row.get("undefined", {}).get("f1_interval", _NO_INTERVALS)
                reasons.setdefault(why, {})[group.title] = None
    for why, titles in reasons.items():
        yield f"No interval for {', '.join(titles)}: {why}."
    for group in groups:
        without = [
            name
            for name, row in zip(names, group.scores, strict=True)
            if row is None or row["f1"] is None
        ]
        if without:
            yield (
                f"{group.title} has no F1 for {', '.join(without)}: neither the gold nor the "
                "system has one."
            )


def _draw_groups(figure: FigureBase, *, groups: Sequence[_Group], names: Sequence[str]) -> None:
    axes = figure.add_subplot()
    each = len(names)
    rows = []
    for number, group in enumerate(groups):
        for at, row in enumerate(group.scores):
            place = number * (each + 0.4) + at
            if row is None or row["f1"] is None:
                axes.text(
                    0.01,
                    place,
                    "–",
                    transform=axes.get_yaxis_transform(),
                    va="center",
                    color="#59616b",
                )
                continue
            rows.append(
                _Row(
                    place=place, f1=row["f1"], interval=row.get("f1_interval"), looks=line_look(at)
                )
            )
        if number:
            axes.axhline(number * (each + 0.4) - 0.85, color="#c9ced4", linewidth=0.6)
    _draw(axes, rows)
    for at in range(each):
        axes.plot([], [], label=f"{at}", **line_look(at) | {"linestyle": "-"})
    places = [number * (each + 0.4) + (each - 1) / 2 for number in range(len(groups))]
    axes.set_yticks(places, [f"{group.title}\n{group.gold:,} gold" for group in groups])
    axes.set_ylim(len(groups) * (each + 0.4) - 0.85, -0.85)
    legend(figure, axes, names, count=each)
