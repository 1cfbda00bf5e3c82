"""Fonts whose letters stand for others: Symbol for Greek letters and signs, and fonts of
pictures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

UNKNOWN: Final = "\ufffd"
# The font Symbol from 0x20 to 0x7E and from 0xA0 to 0xFE, as its encoding has them.
_SYMBOLS: Final[Mapping[int, str]] = dict(
    zip(
        (*range(0x20, 0x7F), *range(0xA0, 0xFF)),
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
        "[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\ufffd〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        strict=True,
    )
)
_PICTURES: Final = re.compile(r"wingdings|webdings|dingbats|marlett", re.I)  # fonts


def shown_sign(font: str, place: int) -> str:
    """Returns the character that a font shows; `UNKNOWN` for a picture, or a character of a font
    alone.

    Args:
        font: its name.
        place: of the character in the font, which may lie in the private area from 0xF000.
    """
    if font == "Symbol":
        return _SYMBOLS.get(place - 0xF000 if place >= 0xF000 else place, chr(place))
    is_of_font = _PICTURES.search(font) or place < 0x20 or 0xD800 <= place <= 0xF8FF
    return UNKNOWN if is_of_font else chr(place)


def shown_text(font: str, text: str) -> str:
    """Returns the text that a font shows; only some fonts show another one."""
    if font != "Symbol" and not _PICTURES.search(font):
        return text
    return "".join(sign if sign.isspace() else shown_sign(font, ord(sign)) for sign in text)
