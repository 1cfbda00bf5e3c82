"""The papers, row by row: what each of their results became here, and the state that follows
from the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from studies.papers.binder import binder
from studies.papers.bundling import bundling
from studies.papers.comparing import comparing
from studies.papers.row import PaperRow
from studies.papers.tinybern2 import tinybern2
from studies.papers.typing import typing

# The rows of a paper are made once: they take seconds.
PAPERS: Final[Mapping[str, Callable[[], list[PaperRow]]]] = {
    "comparing": cache(comparing),
    "bundling": cache(bundling),
    "binder": cache(binder),
    "typing": cache(typing),
    "tinybern2": cache(tinybern2),
}
