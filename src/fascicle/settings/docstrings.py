"""What docstrings say of attributes: each once, for readers of the code and for pages and help that are made of it."""

from __future__ import annotations

import inspect
import re


def meanings_of(kind: type) -> dict[str, str]:
    """Attribute -> its line in the docstring, of the class itself before those of its bases."""
    found: dict[str, str] = {}
    for one in kind.__mro__:
        listed = inspect.cleandoc(one.__dict__.get("__doc__") or "").partition("Attributes:\n")[2]
        listed = re.split(r"^\S", listed, maxsplit=1, flags=re.MULTILINE)[0]
        for name, text in re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", listed, re.MULTILINE):
            found.setdefault(name, " ".join(text.split()))
    return found
