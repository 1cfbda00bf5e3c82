"""A sheet to draw on and its files: one look for every picture, readable without colour and in
print.
"""

from __future__ import annotations

import io
import itertools
import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from fascicle.core.files.atomic import open_output
from fascicle.core.marks import shorten_name
from fascicle.errors import MissingExtraError, OutputError
from fascicle.evaluation.reports.page.html import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase
    from matplotlib.ft2font import FT2Font

SUFFIXES: Final = (".svg", ".png", ".pdf")
# points or cells of one picture that stay vectors; more are drawn as pixels
MOST_VECTORS: Final = 2000
_DOTS_PER_INCH: Final = 150
# The date and the random names of a file are left out: the same numbers give the same bytes.
_LOOK: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "legend.frameon": False,
        "lines.markersize": 4,
        "image.cmap": "cividis",
        "svg.fonttype": "path",
        "text.parse_math": False,  # a name with a $ is a name
        "svg.hashsalt": "fascicle",
    }
)


@dataclass(frozen=True, kw_only=True)
class SeriesStyle:
    """Style of one series: colour, and also mark, line and hatching for prints without colour.

    Attributes:
        colour: of Okabe and Ito, which people with any colour vision tell apart.
        marker: of points.
        line: of lines, as Matplotlib names or lists dashes.
        hatch: of areas.
    """

    colour: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    hatch: str

    @property
    def of_line(self) -> dict[str, Any]:
        """As Matplotlib takes it for a line with marks."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line}


STYLES: Final = (
    SeriesStyle(colour="#0072B2", marker="o", line="-", hatch=""),
    SeriesStyle(colour="#D55E00", marker="s", line="--", hatch="//"),
    SeriesStyle(colour="#009E73", marker="^", line="-.", hatch=".."),
    SeriesStyle(colour="#CC79A7", marker="D", line=":", hatch="xx"),
    SeriesStyle(colour="#E69F00", marker="v", line=(0, (5, 1, 1, 1, 1, 1)), hatch="\\\\"),
    SeriesStyle(colour="#56B4E9", marker="P", line=(0, (1, 3)), hatch="++"),
    SeriesStyle(colour="#000000", marker="X", line=(0, (8, 3)), hatch="oo"),
)


def style(number: int) -> SeriesStyle:
    """Returns the look of series ``number``, from 0; after the last, they begin again."""
    return STYLES[number % len(STYLES)]


@contextmanager
def _house() -> Iterator[None]:
    """Applies the house style to figures made and saved inside; the caller's Matplotlib settings
    are restored.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("plots", "matplotlib") from error
    settings: Any = dict(_LOOK)
    with matplotlib.rc_context(settings):
        yield


@contextmanager
def open_sheet(*, width: float = 6.4, height: float = 4.0) -> Iterator[Figure]:
    """Opens an empty sheet in the house style until the block ends; opens no window, keeps no
    global figure.

    Args:
        width: in inches.
        height: in inches.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    with _house():
        from matplotlib.figure import Figure

        yield Figure(figsize=(width, height), layout="constrained")


def svg(figure: Figure, *, title: str = "") -> str:
    """Returns a figure as an ``<svg>`` element that can stand in a page.

    Args:
        figure: drawn on.
        title: what the picture shows, for readers who cannot see it.

    Returns:
        The element alone: no XML declaration, no reference to anything outside; identical for
        identical figures.
    """
    buffer = io.BytesIO()
    with _house():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    element = buffer.getvalue().decode("utf-8")
    element = element[element.index("<svg") :].strip()
    element = re.sub(r"\s*<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    if not title:
        return element
    safe = title.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return element.replace("<svg", f'<svg role="img" aria-label="{safe}"', 1)


def save_figure(figure: Figure, path: Path, *, overwrite: bool = False) -> None:
    """Writes a figure; the suffix decides the format.

    Args:
        figure: drawn on.
        path: ends in one of `SUFFIXES`.
        overwrite: replace a file that is there.

    Raises:
        OutputError: another suffix, or a place that cannot be written.
    """
    if path.suffix not in SUFFIXES:
        raise OutputError(
            f"{path} has no suffix of a picture: end the name in {', '.join(SUFFIXES)}."
        )
    with open_output(path, overwrite=overwrite) as stream:
        if path.suffix == ".svg":
            stream.write(svg(figure).encode("utf-8"))
            return
        with _house():
            dated: dict[str, Any] = {"CreationDate": None} if path.suffix == ".pdf" else {}
            figure.savefig(stream, format=path.suffix[1:], dpi=_DOTS_PER_INCH, metadata=dated)


_LONGEST = 28  # characters


@dataclass(frozen=True, kw_only=True)
class PictureLabels:
    """Labels of names in a picture.

    Attributes:
        names: one for each, no two the same, ready for Matplotlib.
        notes: a sentence for each name that could not be drawn.
    """

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def safe_name(name: str) -> str:
    """Returns a name that Matplotlib takes for an entry of a legend also where it begins with an
    underscore.
    """
    return f"\u200a{name}" if name.startswith("_") else name


def make_labels(names: Sequence[str], *, kind: str) -> PictureLabels:
    """Writes names so that Matplotlib draws them.

    Long names lose their middle. A name that the font lacks characters of, that is written from
    right to left, or that would not differ from another once shortened, is written as its kind and
    number.

    Args:
        names: in order.
        kind: what they name, for those that cannot be drawn, e.g. ``"system"``.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    font = _font()
    cuts = [
        name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"
        for name in names
    ]
    counts = Counter(cuts)
    labels, notes = [], []
    for number, (name, cut) in enumerate(zip(names, cuts, strict=True), start=1):
        if counts[cut] == 1 and _drawable(name, font):
            labels.append(safe_name(cut))
            continue
        labels.append(f"[{kind} {number}]")
        notes.append(f"In the picture, [{kind} {number}] is “{shorten_name(name)}”.")
    return PictureLabels(names=tuple(labels), notes=tuple(notes))


def _font() -> FT2Font:
    with _house():
        from matplotlib import font_manager
    return font_manager.get_font(font_manager.findfont("DejaVu Sans"))


def _drawable(name: str, font: FT2Font) -> bool:
    return bool(name.strip()) and all(
        font.get_char_index(ord(character)) != 0
        and unicodedata.category(character)[0] != "C"
        and unicodedata.bidirectional(character) not in ("R", "AL", "AN")
        for character in name
    )


_WIDEST: Final = 11.0  # inches of a sheet with several pictures
_TITLE: Final = 0.3  # inches of a line of a title
_LETTERS: Final = 13  # of a title in an inch
_SMALL_LETTERS: Final = 15  # of the words on how to read it


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Drawing and its size in print; or the reason why there is nothing to draw.

    Attributes:
        title: what it shows, for readers who cannot see it.
        width: of the sheet in inches.
        height: of the sheet in inches.
        draw: on a sheet, or a part of one, of this size; ``None`` if there is no picture.
        missing: why there is none.
        notes: what else is to be said about it, a sentence each.
    """

    title: str = ""
    width: float = 0.0
    height: float = 0.0
    draw: Callable[[FigureBase], None] | None = None
    missing: str = ""
    notes: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The notes, one after the other."""
        return " ".join(self.notes)

    def picture(self) -> Picture:
        """It as a part of a page.

        Raises:
            MissingExtraError: Matplotlib is not installed.
        """
        if self.draw is None:
            return Picture(missing=self.missing)
        with open_sheet(width=self.width, height=self.height) as figure:
            self.draw(figure)
            return Picture(svg=svg(figure, title=self.title), notes=self.notes)


@dataclass(frozen=True, kw_only=True)
class _Tiles:
    """Drawings in rows, each below its title, and under all of them how to read them."""

    drawings: tuple[Drawing, ...]
    titles: tuple[str, ...]
    columns: int
    heights: tuple[float, ...]  # of the rows, in inches
    key: str

    def draw(self, figure: FigureBase) -> None:
        """Draws all of them."""
        parts = figure.subfigures(
            len(self.heights), self.columns, squeeze=False, height_ratios=self.heights
        )
        for part, drawing, title in zip(parts.flat, self.drawings, self.titles, strict=False):
            if drawing.draw is not None:
                drawing.draw(part)
            if title:
                part.suptitle(title, fontsize=9)
        if self.key:
            figure.supxlabel(self.key, fontsize=7.5)


def side_by_side(drawings: Sequence[tuple[str, Drawing]], *, key: str = "") -> Drawing:
    """Joins several drawings, each under its name, row by row; what cannot be drawn is left out and
    noted.

    Args:
        drawings: at least one; of an empty name nothing is written.
        key: how to read all of them, written below.

    Returns:
        One without a picture if none of them has one.
    """
    missing = [(name, drawing.missing) for name, drawing in drawings if drawing.draw is None]
    drawable = [(name, drawing) for name, drawing in drawings if drawing.draw is not None]
    if not drawable:
        reasons = {f"{name}: {why}" if name else why for name, why in missing}
        return Drawing(missing="; ".join(sorted(reasons)))

    width = max(drawing.width for _, drawing in drawable)
    tiles = _arrange(drawable, width=width, key=key)
    key_lines = tiles.key.count("\n") + 1 if tiles.key else 0
    omissions = [f"No picture of {name}: {why}." for name, why in missing]
    notes = itertools.chain(omissions, *(drawing.notes for _, drawing in drawable))
    return Drawing(
        title="; ".join(drawing.title for _, drawing in drawable),
        width=width * tiles.columns,
        height=sum(tiles.heights) + 0.2 * key_lines,
        draw=tiles.draw,
        notes=tuple(dict.fromkeys(notes)),
    )


def _arrange(drawings: Sequence[tuple[str, Drawing]], *, width: float, key: str) -> _Tiles:
    """Puts as many drawings side by side as a sheet can hold."""
    columns = max(1, min(len(drawings), int(_WIDEST / width)))
    titles = tuple(textwrap.fill(name, int(_LETTERS * width)) for name, _ in drawings)
    heights = [
        drawing.height + _TITLE * (title.count("\n") + 1)
        for (_, drawing), title in zip(drawings, titles, strict=True)
    ]
    return _Tiles(
        drawings=tuple(drawing for _, drawing in drawings),
        titles=titles,
        columns=columns,
        heights=tuple(
            max(heights[start : start + columns]) for start in range(0, len(heights), columns)
        ),
        key=textwrap.fill(key, int(_SMALL_LETTERS * width * columns)),
    )


MOST_SERIES: Final = 2 * len(STYLES)  # each look once with filled and once with open marks


def line_look(number: int) -> dict[str, Any]:
    """Returns the look of a series of points that a line joins."""
    series = style(number)
    return series.of_line | {"markerfacecolor": series.colour if number < len(STYLES) else "white"}


def too_many(series: int) -> Drawing | None:
    """Returns a drawing that refuses more systems than one picture can show; ``None`` if it can
    show all.
    """
    if series <= MOST_SERIES:
        return None
    return Drawing(
        missing=f"{series} systems cannot be told apart in one picture, {MOST_SERIES} can"
    )


def legend(figure: FigureBase, axes: Axes, names: Iterable[str], *, count: int) -> None:
    """Names of the series below the picture, if there are several."""
    if count < 2:
        return
    labels = list(names)
    columns = max(1, min(count, 58 // (max(map(len, labels)) + 8)))
    handles = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, fontsize=8, handlelength=3.2
    )
