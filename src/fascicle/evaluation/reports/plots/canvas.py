"""A sheet to draw on and its files: one look for every picture, readable without colour and in print."""

from __future__ import annotations

import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from fascicle.core.files.atomic import output
from fascicle.core.marks import short
from fascicle.errors import MissingExtraError, OutputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.ft2font import FT2Font

SUFFIXES: Final = (".svg", ".png", ".pdf")
MOST_VECTORS: Final = 2000  # points or cells of one picture that stay vectors; more are drawn as pixels
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
class Style:
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
    Style(colour="#0072B2", marker="o", line="-", hatch=""),
    Style(colour="#D55E00", marker="s", line="--", hatch="//"),
    Style(colour="#009E73", marker="^", line="-.", hatch=".."),
    Style(colour="#CC79A7", marker="D", line=":", hatch="xx"),
    Style(colour="#E69F00", marker="v", line=(0, (5, 1, 1, 1, 1, 1)), hatch="\\\\"),
    Style(colour="#56B4E9", marker="P", line=(0, (1, 3)), hatch="++"),
    Style(colour="#000000", marker="X", line=(0, (8, 3)), hatch="oo"),
)


def style(number: int) -> Style:
    """Returns the look of series ``number``, from 0; after the last, they begin again."""
    return STYLES[number % len(STYLES)]


@contextmanager
def look() -> Iterator[None]:
    """Applies the house style to figures made and saved inside; the caller's Matplotlib settings are restored.

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
def sheet(*, width: float = 6.4, height: float = 4.0) -> Iterator[Figure]:
    """Opens an empty sheet in the house style until the block ends; opens no window, keeps no global figure.

    Args:
        width: in inches.
        height: in inches.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    with look():
        from matplotlib.figure import Figure

        yield Figure(figsize=(width, height), layout="constrained")


def svg(figure: Figure, *, title: str = "") -> str:
    """Returns a figure as an ``<svg>`` element that can stand in a page.

    Args:
        figure: drawn on.
        title: what the picture shows, for readers who cannot see it.

    Returns:
        The element alone: no XML declaration, no reference to anything outside; identical for identical figures.
    """
    buffer = io.BytesIO()
    with look():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    element = buffer.getvalue().decode("utf-8")
    element = element[element.index("<svg") :].strip()
    element = re.sub(r"\s*<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    if not title:
        return element
    safe = title.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return element.replace("<svg", f'<svg role="img" aria-label="{safe}"', 1)


def save(figure: Figure, path: Path, *, overwrite: bool = False) -> None:
    """Writes a figure; the suffix decides the format.

    Args:
        figure: drawn on.
        path: ends in one of `SUFFIXES`.
        overwrite: replace a file that is there.

    Raises:
        OutputError: another suffix, or a place that cannot be written.
    """
    if path.suffix not in SUFFIXES:
        raise OutputError(f"{path} has no suffix of a picture: end the name in {', '.join(SUFFIXES)}.")
    with output(path, overwrite=overwrite) as stream:
        if path.suffix == ".svg":
            stream.write(svg(figure).encode("utf-8"))
            return
        with look():
            dated: dict[str, Any] = {"CreationDate": None} if path.suffix == ".pdf" else {}
            figure.savefig(stream, format=path.suffix[1:], dpi=_DOTS_PER_INCH, metadata=dated)


_LONGEST = 28  # characters


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Labels of names in a picture.

    Attributes:
        names: one for each, no two the same, ready for Matplotlib.
        notes: a sentence for each name that could not be drawn.
    """

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def shown(name: str) -> str:
    """Returns a name that Matplotlib takes for an entry of a legend also where it begins with an underscore."""
    return f"\u200a{name}" if name.startswith("_") else name


def labels(names: Sequence[str], *, kind: str) -> Labels:
    """Writes names so that Matplotlib draws them.

    Long names lose their middle. A name that the font lacks characters of, that is written from right to left, or that
    would not differ from another once shortened, is written as its kind and number.

    Args:
        names: in order.
        kind: what they name, for those that cannot be drawn, e.g. ``"system"``.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    font = _font()
    cuts = [name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}" for name in names]
    often = Counter(cuts)
    written, notes = [], []
    for number, (name, cut) in enumerate(zip(names, cuts, strict=True), start=1):
        if often[cut] == 1 and _drawable(name, font):
            written.append(shown(cut))
            continue
        written.append(f"[{kind} {number}]")
        notes.append(f"In the picture, [{kind} {number}] is “{short(name)}”.")
    return Labels(names=tuple(written), notes=tuple(notes))


def _font() -> FT2Font:
    try:
        from matplotlib import font_manager
    except ImportError as error:
        raise MissingExtraError("plots", "matplotlib") from error
    return font_manager.get_font(font_manager.findfont("DejaVu Sans"))


def _drawable(name: str, font: FT2Font) -> bool:
    return bool(name.strip()) and all(
        font.get_char_index(ord(character)) != 0
        and unicodedata.category(character)[0] != "C"
        and unicodedata.bidirectional(character) not in ("R", "AL", "AN")
        for character in name
    )
