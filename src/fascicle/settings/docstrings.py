"""Extraction of the descriptions of attributes from docstrings, for pages and help texts."""

from __future__ import annotations

import inspect
import re


def meanings_of(kind: type) -> dict[str, str]:
    """Returns the description of each attribute; those of the class replace those of its bases."""
    found: dict[str, str] = {}
    for one in kind.__mro__:
        listed = inspect.cleandoc(one.__dict__.get("__doc__") or "").partition("Attributes:\n")[2]
        listed = re.split(r"^\S", listed, maxsplit=1, flags=re.MULTILINE)[0]
        for name, text in re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", listed, re.MULTILINE):
            found.setdefault(name, " ".join(text.split()))
    return found
