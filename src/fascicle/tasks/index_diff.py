"""Comparing two term packs: what ``fascicle index diff`` does."""

from __future__ import annotations

import os
from collections.abc import Iterator

from fascicle.core.arguments import checked
from fascicle.knowledge.pack.diff import Change, changes
from fascicle.knowledge.pack.pack import Pack


@checked
def diff(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> Iterator[Change]:
    """All differences between two packs, one after the other: in concepts, then in terms.

    Args:
        first: folder of the pack that was before.
        second: folder of the pack that is now.

    Raises:
        PackError: a pack cannot be opened.
    """
    return changes(Pack.open(first), Pack.open(second))
