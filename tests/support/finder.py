"""A function with a model, in a module that workers can import."""

from __future__ import annotations

import os
from typing import Any


class Finder:
    """Returns the types and texts of the mentions of a text, with the process that found them."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, text: str) -> tuple[list[list[str]], int]:
        document = self.model(text)
        return [[one.type, one.text] for one in document], os.getpid()
