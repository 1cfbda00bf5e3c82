"""Escapes of WebAnno TSV 3, which differ by its version, as INCEpTION undoes them."""

from __future__ import annotations

import re
from typing import Final

_BEFORE_3_2: Final = (".0", ".1")  # versions whose texts have the escapes of Java
_ESCAPED: Final = re.compile(r"\\(.)")
_JAVA: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)")
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r"}
_TEXT_CONTROLS: Final = {**_CONTROLS, "f": "\f", "b": "\b"}


def plain_value(text: str) -> str:
    """Returns a value without its escapes."""
    return _ESCAPED.sub(lambda match: _CONTROLS.get(match[1], match[1]), text)


def plain_text(text: str, version: str) -> str:
    """Returns the text of a sentence without its escapes.

    Args:
        text: with escapes.
        version: what follows the 3; empty for version 3 itself, which has no escapes.

    Raises:
        ValueError: half of a pair of surrogates.
    """
    if not version:
        return text

    def plain(match: re.Match[str]) -> str:
        name = match[1]
        return chr(int(name[1:], 16)) if name[1:] else _TEXT_CONTROLS.get(name, name)

    pattern = _JAVA if version in _BEFORE_3_2 else _ESCAPED
    # a pair of surrogates is one character
    return pattern.sub(plain, text).encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def token_spellings(token: str) -> tuple[str, str]:
    """Returns a token as WebAnno prints it, and without escapes, which other programs write."""
    return token, plain_value(token)
