"""Pictures of a distributions file: principal components, violins and volcano
(*span-level-strategy* §3.3-3.5).

The paper draws gold mentions of one kind of model, which must choose a type for each; here a class
"none" stands beside the types, so that models that find their mentions are drawn too. A span typer
has no such class, and none is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.evaluation.reports.plots.canvas import (
    MOST_VECTORS,
    STYLES,
    SeriesStyle,
    safe_name,
    style,
)
from fascicle.formats.distributions import DistributionsHeader, read

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_VIOLINS: Final = 40
_MOST_NAMED: Final = 12  # corners of a picture of components with a name: those farthest out
_SURE: Final = 0.95  # so probable a class must be for its mentions to be counted at its corner
_FEW: Final = 10  # fewer mentions are drawn one by one: too few for a density
_LETTER: Final = 0.08  # inches that a letter below a violin takes, about
_FOUND, _MISSED = STYLES[0], STYLES[1]


def draw_pca(figure: Figure, data: Distributions) -> None:
    """Two principal components of the probabilities; a mark for each type, filled where the model
    found the mention.

    Raises:
        InputError: the probabilities do not differ in two directions.
    """
    principal = components(data.of_classes)
    axes = figure.add_subplot()
    for number, (name, mine) in enumerate(_by_type(data)):
        label = f"{safe_name(name)} ({_count(mine)})"
        _scatter_type(axes, principal.points, data, mine, look=style(number), label=label)
    sure = (data.of_classes >= _SURE).sum(axis=0).tolist()
    names = [f"{name}: {count:,}" for name, count in zip(data.classes, sure, strict=True)]
    _corners(axes, principal.corners, names)
    _explain_marks(axes)
    axes.set_xlabel(f"first component ({principal.explained[0]:.0%} of the variance)")
    axes.set_ylabel(f"second component ({principal.explained[1]:.0%})")
    axes.margins(0.1 + 0.025 * max(map(len, names)), 0.08)  # room for the names of the corners
    axes.set_aspect("equal", adjustable="box")
    legend = figure.legend(
        loc="outside right upper", title="gold type (mentions)", alignment="left"
    )
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)


def _scatter_type(
    axes: Axes, points: Floats, data: Distributions, mine: Bools, *, look: SeriesStyle, label: str
) -> None:
    """Draws the mentions of a type: filled and faint if found, hollow and on top if missed."""
    shared: dict[str, Any] = {
        "marker": look.marker,
        "edgecolors": look.colour,
        "rasterized": len(data.gold) > MOST_VECTORS,
    }
    hits, misses = points[mine & data.found], points[mine & ~data.found]
    axes.scatter(
        hits[:, 0],
        hits[:, 1],
        s=22,
        facecolors=look.colour,
        linewidths=0.4,
        alpha=0.45,
        zorder=2,
        label=label,
        **shared,
    )
    axes.scatter(
        misses[:, 0],
        misses[:, 1],
        s=30,
        facecolors="none",
        linewidths=1.0,
        alpha=1.0,
        zorder=3,
        label="_missed",
        **shared,
    )


def _explain_marks(axes: Axes) -> None:
    axes.scatter(
        [], [], marker="o", facecolors="none", edgecolors="#444444", label="hollow: not found"
    )
    label = f"sure; with how many\nmentions at {_SURE} or more"
    axes.scatter([], [], marker="+", s=60, color="black", label=label)


def draw_violins(figure: Figure, data: Distributions) -> None:
    """Draws the probability of the gold type as violins: found mentions left, missed ones right.

    Raises:
        InputError: too many types.
    """
    names = data.header.types
    if len(names) > _MOST_VIOLINS:
        raise InputError(
            f"{data.path} has {plural(len(names), 'type')}; up to {_MOST_VIOLINS} violins can be "
            "drawn beside each other"
        )
    axes = figure.add_subplot()
    for place, (_, mine) in enumerate(_each_type(data)):
        for side, rows in ((-1, mine & data.found), (1, mine & ~data.found)):
            _half(axes, place, side=side, values=data.of_gold[rows])
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(-0.02, 1.02)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("probability of the gold type")
    _label_violins(axes, data, width=figure.bbox.width / figure.dpi)
    _explain_violins(axes)
    figure.legend(loc="outside upper center", ncols=3)


def _explain_violins(axes: Axes) -> None:
    for look, label in ((_FOUND, "found (left)"), (_MISSED, "not found (right)")):
        axes.fill_between(
            [], [], facecolor=look.colour, hatch=look.hatch, edgecolor="white", label=label
        )
    axes.plot(
        [], [], color="white", marker="_", markeredgecolor="black", markersize=12, label="median"
    )


def _label_violins(axes: Axes, data: Distributions, *, width: float) -> None:
    """Writes below each violin its type and counts, upright where they are wider than the sheet."""
    labels = [
        (name, f"{_count(mine & data.found)} | {_count(mine & ~data.found)}")
        for name, mine in _each_type(data)
    ]
    upright = _LETTER * sum(max(map(len, label)) + 2 for label in labels) > width
    gap = "  " if upright else "\n"
    axes.set_xticks(range(len(labels)), map(gap.join, labels), rotation=90 if upright else 0)


def draw_volcano(figure: Figure, data: Distributions) -> None:
    """Draws every class but the gold type against it: ratio of probabilities, and spread of the
    probabilities.
    """
    from matplotlib.ticker import LogFormatter

    axes = figure.add_subplot()
    _scatter_ratios(axes, ratios(data.of_classes, data.gold + data.has_none))
    axes.set_yscale("log")
    # The formatters of the scale itself write formulas, which the look of the house does not read.
    axes.yaxis.set_major_formatter(LogFormatter())
    axes.yaxis.set_minor_formatter(LogFormatter())
    for place in (-1, 1):
        axes.axvline(place, color="#555555", linestyle="--", linewidth=0.8)
    axes.axhline(10**-1.5, color="#555555", linestyle="--", linewidth=0.8)
    axes.set_xlabel("log2 (probability of the other class / probability of the gold type)")
    axes.set_ylabel("variance over the classes / probability of the gold type")
    figure.legend(loc="outside upper center", ncols=1)


def _scatter_ratios(axes: Axes, ratios: _Ratios) -> None:
    parts = (
        ("more probable than the gold type (up)", ratios.ratio > 0, STYLES[1], "black"),
        ("equally probable (stable)", ratios.ratio == 0, STYLES[3], "black"),
        ("less probable (down)", ratios.ratio < 0, STYLES[0], "none"),
    )
    for label, rows, look, edge in parts:
        axes.scatter(
            ratios.ratio[rows],
            ratios.spread[rows],
            marker=look.marker,
            s=12,
            color=look.colour,
            edgecolors=edge,
            linewidths=0.3,
            alpha=0.55,
            rasterized=len(ratios.ratio) > MOST_VECTORS,
            label=f"{label}: {_count(rows)}",
        )


def _by_type(data: Distributions) -> Iterator[tuple[str, Bools]]:
    """Types with mentions; where there are more than looks, the most frequent ones and the
    others together.
    """
    counts = np.bincount(data.gold, minlength=len(data.header.types))
    order = [int(kind) for kind in np.argsort(-counts, kind="stable") if counts[kind]]
    frequent = order if len(order) <= len(STYLES) else order[: len(STYLES) - 1]
    for kind in sorted(frequent):
        yield data.header.types[kind], data.gold == kind
    if len(frequent) < len(order):
        yield f"{len(order) - len(frequent)} other types", ~np.isin(data.gold, frequent)


def _each_type(data: Distributions) -> Iterator[tuple[str, Bools]]:
    for kind, name in enumerate(data.header.types):
        yield name, data.gold == kind


def _corners(axes: Axes, corners: Any, names: Sequence[str]) -> None:
    """Draws and names the corners: the position of a mention whose class is certain.

    Names that would cover each other are moved apart; of many classes only those farthest out are
    named.
    """
    axes.scatter(
        corners[:, 0], corners[:, 1], marker="+", s=60, color="black", linewidths=1.0, zorder=4
    )
    (width, height), middle = np.ptp(corners, axis=0), corners.mean(axis=0)
    lowest = {True: np.inf, False: np.inf}  # names left of their corners -> height of the last name
    farthest = np.argsort(-np.linalg.norm(corners - middle, axis=1), kind="stable")[:_MOST_NAMED]
    for number in farthest[np.argsort(-corners[farthest, 1], kind="stable")].tolist():
        x, y = corners[number].tolist()
        on_left = x < middle[0]
        best = y + (-0.01 if y < middle[1] else 0.04) * height
        lowest[on_left] = min(best, lowest[on_left] - 0.055 * height)
        at = (x + (-0.04 if on_left else 0.04) * width, lowest[on_left])
        _name_corner(axes, names[number], (x, y), at, align="right" if on_left else "left")


def _name_corner(
    axes: Axes,
    name: str,
    corner: tuple[float, float],
    at: tuple[float, float],
    *,
    align: Literal["left", "right"],
) -> None:
    """Writes a name at some place, with a line to its corner."""
    note = axes.annotate(
        name,
        corner,
        xytext=at,
        ha=align,
        va="center",
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.5},
        arrowprops={
            "arrowstyle": "-",
            "color": "#555555",
            "linewidth": 0.6,
            "shrinkA": 0,
            "shrinkB": 2,
        },
        annotation_clip=False,
        zorder=5,
    )
    # the margins have room for it; else the layout pushes the axes off the sheet
    note.set_in_layout(False)


def _half(axes: Axes, place: int, *, side: int, values: Any) -> None:
    """One side of a violin, as wide as its largest density; of few mentions a mark for each."""
    look = _FOUND if side < 0 else _MISSED
    if not len(values):
        return
    if len(values) < _FEW:
        axes.scatter(
            np.full(len(values), place + side * 0.06),
            values,
            marker=look.marker,
            s=16,
            color=look.colour,
        )
        return
    at = np.linspace(0.0, 1.0, 201)
    high = density(values, at)
    axes.fill_betweenx(
        at,
        place,
        place + side * 0.42 * high / high.max(),
        facecolor=look.colour,
        edgecolor="white",
        hatch=look.hatch,
        linewidth=0.0,
    )
    for colour, width in (("white", 3.0), ("black", 1.4)):
        axes.plot(
            [place, place + side * 0.3],
            [float(np.median(values))] * 2,
            color=colour,
            linewidth=width,
        )


def _count(rows: Bools) -> str:
    return f"{int(rows.sum()):,}"


_FLOOR: Final = 1e-12  # smaller probabilities count as this in ratios
_BINS: Final = 1000  # of a density over [0, 1]
_BANDWIDTH: Final = 0.02


@dataclass(frozen=True, kw_only=True, eq=False)
class Distributions:
    """The mentions of a distributions file that have probabilities.

    Attributes:
        path: of the file.
        header: model, types and what the numbers mean.
        numbers: of none, then of each type, ``[m, 1 + K]``.
        gold: index of the gold type of each mention, ``[m]``.
        found: whether the model returned the mention, ``[m]``.
        unreachable: mentions without probabilities, by reason.
    """

    path: str
    header: DistributionsHeader
    numbers: Floats
    gold: Ints
    found: Bools
    unreachable: Counter[str]

    @property
    def has_none(self) -> bool:
        """True if none is among the classes; a span typer, which gives every mention a type,
        always has a 0 there.
        """
        return bool(self.numbers[:, 0].any())

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes that a mention can have, ``[C]``."""
        return ("none", *self.header.types) if self.has_none else self.header.types

    @property
    def of_classes(self) -> Floats:
        """The probabilities of these, ``[m, C]``."""
        return self.numbers if self.has_none else self.numbers[:, 1:]

    @property
    def of_gold(self) -> Floats:
        """The probability of the gold type, ``[m]``."""
        return self.numbers[np.arange(len(self.gold)), 1 + self.gold]

    @property
    def note(self) -> str:
        """Describes in a sentence what of the file is not drawn; empty if all is."""
        if not self.unreachable:
            return ""
        reasons = ", ".join(
            f"{reason} {count:,}" for reason, count in self.unreachable.most_common()
        )
        total = self.unreachable.total()
        return (
            f"{total:,} of {plural(total + len(self.gold), 'mention')} of {self.path} have no "
            f"probability ({reasons})"
        )


def load_distributions(path: str) -> Distributions:
    """Reads a distributions file.

    Raises:
        InputError: it cannot be read, is of another kind, or holds no mention with probabilities.
    """
    header, entries = read(path)
    index = {name: number for number, name in enumerate(header.types)}
    rows, gold, hits, unreachable = [], [], [], Counter[str]()
    for entry in entries:
        if entry.unreachable:
            unreachable[entry.unreachable] += 1
            continue
        rows.append(entry.probabilities)
        gold.append(index[entry.type])
        hits.append(entry.found)
    if not rows:
        none = f"none of its {plural(unreachable.total(), 'mention')} has probabilities"
        what = none if unreachable else "it has no mention"
        raise InputError(
            f"{path} holds nothing to draw: {what}; score the model on a gold with mentions it "
            "can reach"
        )
    return Distributions(
        path=path,
        header=header,
        numbers=np.array(rows, dtype=np.float64),
        gold=np.array(gold, dtype=np.int64),
        found=np.array(hits, dtype=np.bool_),
        unreachable=unreachable,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Components:
    """The two directions in which vectors differ most (*span-level-strategy* §3.3).

    Attributes:
        points: of the vectors, ``[m, 2]``.
        corners: of the vectors that are 1 for one class and 0 for the others, ``[C, 2]``.
        explained: share of the variance along each, ``[2]``.
    """

    points: Floats
    corners: Floats
    explained: Floats


def components(vectors: Floats) -> _Components:
    """Computes principal components of vectors, by the singular values of the centred matrix.

    Each direction points to where its largest weight is positive, so that the same vectors give the
    same picture.

    Args:
        vectors: ``[m, C]``.

    Raises:
        InputError: they do not differ in two directions.
    """
    centre = vectors.mean(axis=0)
    _, sizes, directions = np.linalg.svd(vectors - centre, full_matrices=False)
    if len(sizes) < 2 or sizes[1] <= 1e-9 * max(1.0, sizes[0]):
        raise InputError(
            f"the probabilities of {len(vectors):,} mentions do not differ in two directions, so "
            "there are no two principal components to draw; choose the kind violin, or a file of "
            "more mentions or types"
        )
    axes = directions[:2].T
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    return _Components(
        points=(vectors - centre) @ axes,
        corners=(np.eye(vectors.shape[1]) - centre) @ axes,
        explained=sizes[:2] ** 2 / (sizes**2).sum(),
    )


def density(values: Floats, places: Floats, *, bandwidth: float = _BANDWIDTH) -> Floats:
    """Computes the density of values between 0 and 1 at some places: a Gaussian kernel, reflected
    at 0 and 1.

    Without the reflection, values at the border, where sure probabilities are, would lose half of
    their mass. Values are first counted in a thousand bins, so that their number costs nothing.

    Args:
        values: from 0 to 1, ``[m]``, at least one.
        places: where, ``[n]``.
        bandwidth: standard deviation of the kernel.

    Returns:
        ``[n]``; the integral over [0, 1] is 1.
    """
    every, edges = np.histogram(values, bins=_BINS, range=(0.0, 1.0))
    filled = np.flatnonzero(every)  # a bin without values adds nothing
    counts, middles = every[filled], (edges[filled] + edges[filled + 1]) / 2
    images = np.concatenate([middles, -middles, 2 - middles])
    kernel = np.exp(-0.5 * ((places[:, None] - images) / bandwidth) ** 2)
    densities: Floats = kernel @ np.tile(counts, 3) / (len(values) * bandwidth * np.sqrt(2 * np.pi))
    return densities


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ratios:
    """Points of a volcano plot (*span-level-strategy* §3.5), one for each mention and each class
    but its gold type.

    Attributes:
        ratio: log2 of the probability of the class over that of the gold type, ``[m * (C - 1)]``.
        spread: variance of the mention's probabilities over that of its gold type, ``[m * (C -
            1)]``.
        rival: index of the class, ``[m * (C - 1)]``.
        gold: index of the gold type among the classes, ``[m * (C - 1)]``.
    """

    ratio: Floats
    spread: Floats
    rival: Ints
    gold: Ints


def ratios(numbers: Floats, gold: Ints) -> _Ratios:
    """Compares every other class with the gold type.

    Args:
        numbers: of each class, ``[m, C]``; below ``_FLOOR`` they count as that, in ratios.
        gold: index of the gold type among the classes, ``[m]``.
    """
    count, classes = numbers.shape
    is_rival = np.arange(classes) != gold[:, None]
    rival = np.nonzero(is_rival)[1]
    right = np.maximum(numbers[np.arange(count), gold], _FLOOR)
    repeated = np.repeat(right, classes - 1)
    return _Ratios(
        ratio=np.log2(np.maximum(numbers[is_rival], _FLOOR) / repeated),
        spread=np.repeat(numbers.var(axis=1) / right, classes - 1),
        rival=rival.astype(np.int64),
        gold=np.repeat(gold, classes - 1),
    )
