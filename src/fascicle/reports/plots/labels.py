"""Names of others in pictures: drawn as they are where the font can, shortened or by a number where not."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fascicle.core.html import short
from fascicle.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

_LONGEST = 28  # characters


@dataclass(frozen=True, kw_only=True)
class Labels:
    """How some names are written in a picture.

    Attributes:
        names: one for each, no two the same, ready for Matplotlib.
        notes: a sentence for each name that could not be drawn.
    """

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def shown(name: str) -> str:
    """A name that Matplotlib takes for an entry of a legend also where it begins with an underscore."""
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
