"""What tests read from pages of the documentation."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page that are in one language; "" for those that name none."""
    return [content for kind, content in _BLOCK.findall(page) if kind == language]
