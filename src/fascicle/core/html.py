"""Bits of HTML that cannot be wrong by accident: every string is text and is escaped, unless it was made here."""

from __future__ import annotations

import html
import re
from typing import Final

# What an HTML page cannot hold (controls, halves of surrogate pairs), and what would turn the text around it.
FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_LONGEST: Final = 160  # characters of a name
_VOID: Final = frozenset({"br", "meta", "input"})
_PICTURES: Final = 0x2400  # of control characters: U+2401 is the picture of U+0001
_SPACE, _DELETE, _UNKNOWN = 0x20, 0x7F, "\ufffd"


class Html(str):
    """HTML that is ready to stand in a page; any other string is text."""

    __slots__ = ()


def harmless(value: str) -> str:
    """Text of others for a page or a terminal: what cannot or must not stand there by its code."""
    return FORBIDDEN.sub(_code, _TURNING.sub(_code, value))


def text(value: str) -> Html:
    """Text of others so that it reads as it stands."""
    return Html(html.escape(harmless(value)))


def faithful(value: str) -> Html:
    """Text of others so that a browser gives each of its characters back, and in its place.

    A character that no page can hold is shown as one other character: a picture of the control character (``␀``), or
    U+FFFD where Unicode has none.
    """
    return Html(html.escape(FORBIDDEN.sub(_picture, value)).replace("\r", "&#13;"))


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return "␡" if code == _DELETE else chr(_PICTURES + code) if code < _SPACE else _UNKNOWN


def _code(found: re.Match[str]) -> str:
    return f"[U+{ord(found[0]):04X}]"


def tag(name: str, /, *children: str, **attributes: str | bool | int) -> Html:
    """An element.

    Args:
        name: of the element.
        children: text, which is escaped, or `Html`.
        attributes: ``class_`` and ``data_x`` stand for ``class`` and ``data-x``; ``True`` is an attribute without a
            value, ``False`` leaves it out.
    """
    parts = [name]
    for key, value in attributes.items():
        shown = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(shown)
        elif value is not False:
            parts.append(f'{shown}="{text(str(value))}"')
    opened = f"<{' '.join(parts)}>"
    return Html(opened if name in _VOID else f"{opened}{join(*children)}</{name}>")


def join(*children: str, by: str = "") -> Html:
    """Children one after the other; those that are no `Html` are escaped."""
    return Html(by.join(child if isinstance(child, Html) else text(child) for child in children))


def short(value: str) -> str:
    """A name of others that is no longer than a few lines."""
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"


def user(value: str) -> Html:
    """A word or name of others: whatever its direction, it leaves the text around it as it is."""
    shown = short(value)
    return tag("bdi", shown) if shown == value else tag("bdi", shown, title=value)
