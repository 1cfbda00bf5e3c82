"""Counting what is in a term pack: what ``fascicle index stats`` does."""

from __future__ import annotations

import os

from fascicle.core.arguments import checked
from fascicle.knowledge.pack.checks import looking_through
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.stats import PackStats, pack_stats


@checked
def stats(pack: str | os.PathLike[str]) -> PackStats:
    """Counts concepts, names and what was left out of a pack.

    Args:
        pack: folder that ``fascicle index build`` wrote.

    Raises:
        PackError: it cannot be opened, or has values that cannot be.
    """
    opened = Pack.open(pack)
    with looking_through(opened.folder):
        return pack_stats(opened)
