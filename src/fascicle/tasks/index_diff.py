"""Comparing two term packs: what ``fascicle index diff`` does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain

from fascicle.core.arguments import checked
from fascicle.formats.account import Account
from fascicle.formats.requests import ReadRequest, documents_of
from fascicle.knowledge.pack.diff import Change, changes
from fascicle.knowledge.pack.mentions import mention_changes
from fascicle.knowledge.pack.pack import Pack
from fascicle.tasks.paths import Paths, listed


@checked
def diff(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    corpus: Paths = (),
    reading: ReadRequest | None = None,
    account: Account | None = None,
) -> Iterator[Change]:
    """All differences between two packs, one after the other: in concepts, in terms, and in what they find in texts.

    Args:
        first: folder of the pack that was before.
        second: folder of the pack that is now.
        corpus: texts or documents in which both packs are looked for.
        reading: how these are read.
        account: receives what could not be read.

    Raises:
        PackError: a pack cannot be opened, or has values that cannot be.
        InputError: a text cannot be read.
    """
    packs = Pack.open(first), Pack.open(second)
    paths = listed(corpus, name="corpus")
    if not paths:
        return changes(*packs)
    request, told = reading or ReadRequest(), account or Account()
    documents = documents_of(paths, request, report=told.reading)
    return chain(changes(*packs), mention_changes(*packs, documents))
