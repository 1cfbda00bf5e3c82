"""Strict F1 with its interval: of each system, and of each type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fascicle.core.wording import plural
from fascicle.evaluation.report_parts import IntervalPart, SystemPart
from fascicle.evaluation.reports.plots.canvas import (
    Drawing,
    PictureLabels,
    legend,
    line_look,
    make_labels,
    style,
    too_many,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

_MOST_TYPES: Final = 12
_MOST_ROWS: Final = 48  # that fit on a page
_GAP: Final = 0.4  # rows between two groups
_INK: Final = "#1b1f24"
_MUTED: Final = "#c9ced4"
_AXIS: Final = "strict F1 (the axis need not begin at 0)"
_NO_INTERVALS: Final = "the report was written without intervals of types"


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One F1, and where it stands."""

    place: float
    f1: float
    interval: IntervalPart | None
    looks: Mapping[str, Any]

    @property
    def ends(self) -> tuple[float, ...]:
        """In percent, of the interval if there is one."""
        if self.interval is None:
            return (100 * self.f1,)
        return (100 * self.interval["low"], 100 * self.interval["high"])


@dataclass(frozen=True, kw_only=True)
class _Group:
    """The scores of all systems over the same mentions: a line of the report for each, ``None`` if
    it has none.
    """

    title: str
    gold: int
    scores: tuple[Mapping[str, Any] | None, ...]


def f1_intervals(systems: Sequence[SystemPart], names: PictureLabels) -> Drawing:
    """Draws strict micro F1 of each system with its interval."""
    colour = style(0).colour
    looks = {
        "color": _INK,
        "marker": "o",
        "markerfacecolor": colour,
        "markeredgecolor": colour,
    }
    rows = []
    undefined = []
    for place, system in enumerate(systems):
        f1 = _micro(system)["f1"]
        if f1 is None:
            undefined.append(names.names[place])
            continue
        interval = system["scores"]["micro_f1_interval"]
        rows.append(_Row(place=place, f1=f1, interval=interval, looks=looks))
    if not rows:
        return Drawing(missing=_micro(systems[0])["undefined"]["f1"])

    notes = [f"Undefined for {', '.join(undefined)}."] if undefined else []
    reasons = {_reason_for_no_interval(system) for system in systems}
    notes += [f"No interval: {reason}." for reason in sorted(filter(None, reasons))]
    return Drawing(
        title="Strict F1 of each system with its interval",
        width=5.6,
        height=0.75 + 0.34 * len(systems),
        draw=partial(_draw_systems, rows=rows, names=names.names),
        notes=(*notes, *names.notes),
    )


def _micro(system: SystemPart) -> Mapping[str, Any]:
    return system["scores"]["rules"]["strict"]["micro"]


def _reason_for_no_interval(system: SystemPart) -> str:
    return system["scores"].get("undefined", {}).get("micro_f1_interval", "")


def _draw_systems(figure: FigureBase, *, rows: Sequence[_Row], names: Sequence[str]) -> None:
    axes = figure.add_subplot()
    _draw_rows(axes, rows)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.65)


def _draw_rows(axes: Axes, rows: Sequence[_Row]) -> None:
    for row in rows:
        _draw_interval(axes, row)
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


def _draw_interval(axes: Axes, row: _Row) -> None:
    if not row.interval:
        return
    line: dict[str, Any] = {"color": row.looks["color"], "linewidth": 1.4, "clip_on": False}
    axes.plot(row.ends, [row.place] * 2, **line)
    for end in row.ends:
        axes.plot([end] * 2, [row.place - 0.13, row.place + 0.13], **line)


def f1_by_type(systems: Sequence[SystemPart], names: PictureLabels) -> Drawing:
    """Strict F1 of each system with its interval: over all types, and below of each type, the most
    frequent first.
    """
    if problem := too_many(len(systems)):
        return problem
    types = _types(systems)
    if not types:
        return Drawing(missing=_micro(systems[0])["undefined"]["f1"])
    frequent = types[: max(1, min(_MOST_TYPES, _MOST_ROWS // len(systems) - 1))]
    labels = make_labels(frequent, kind="type")
    groups = [_all_types(systems), *map(partial(_of_type, systems), frequent, labels.names)]
    notes = list(_notes(groups, names.names))
    if len(types) > len(frequent):
        notes.append(
            f"Of {plural(len(types), 'type')} {len(frequent)}, the most frequent, are drawn."
        )
    several = len(systems) > 1
    key_height = 0.12 * len(systems) if several else 0.0
    return Drawing(
        title="Strict F1 of each system with its interval, over all types and of each type",
        width=6.0,
        height=0.8 + len(groups) * (0.12 + 0.3 * len(systems)) + key_height,
        draw=partial(_draw_groups, groups=groups, names=names.names),
        notes=(*notes, *labels.notes, *(names.notes if several else ())),
    )


def _types(systems: Sequence[SystemPart]) -> list[str]:
    """Of all systems, the most frequent in the gold first, then those that were predicted most."""
    counts: dict[str, tuple[int, int]] = {}
    for system in systems:
        for name, row in system["scores"]["rules"]["strict"]["types"].items():
            gold, predicted = counts.get(name, (0, 0))
            counts[name] = (max(gold, row["gold"]), predicted + row["predicted"])
    return sorted(counts, key=lambda name: (-counts[name][0], -counts[name][1], name))


def _all_types(systems: Sequence[SystemPart]) -> _Group:
    rows = [
        {
            **_micro(system),
            "f1_interval": system["scores"]["micro_f1_interval"],
            "undefined": {"f1_interval": _reason_for_no_interval(system)},
        }
        for system in systems
    ]
    return _Group(title="all types", gold=rows[0]["gold"], scores=tuple(rows))


def _of_type(systems: Sequence[SystemPart], name: str, title: str) -> _Group:
    rows = tuple(system["scores"]["rules"]["strict"]["types"].get(name) for system in systems)
    gold = max(row["gold"] for row in rows if row is not None)
    return _Group(title=title, gold=gold, scores=rows)


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
    size = len(names)
    starts = [number * (size + _GAP) for number in range(len(groups))]
    for start in starts[1:]:
        axes.axhline(start - 0.85, color=_MUTED, linewidth=0.6)
    _draw_rows(axes, list(_group_rows(axes, groups, starts)))
    for number in range(size):
        axes.plot([], [], label=f"{number}", **line_look(number) | {"linestyle": "-"})
    axes.set_yticks(
        [start + (size - 1) / 2 for start in starts],
        [f"{group.title}\n{group.gold:,} gold" for group in groups],
    )
    axes.set_ylim(len(groups) * (size + _GAP) - 0.85, -0.85)
    legend(figure, axes, names, count=size)


def _group_rows(axes: Axes, groups: Sequence[_Group], starts: Sequence[float]) -> Iterator[_Row]:
    """Yields a row for each F1, and draws a dash for each that is undefined."""
    transform = axes.get_yaxis_transform()
    for start, group in zip(starts, groups, strict=True):
        for number, row in enumerate(group.scores):
            place = start + number
            if row is None or row["f1"] is None:
                axes.text(0.01, place, "–", transform=transform, va="center", color="#59616b")
                continue
            yield _Row(
                place=place,
                f1=row["f1"],
                interval=row.get("f1_interval"),
                looks=line_look(number),
            )
