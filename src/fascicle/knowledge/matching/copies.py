"""Dictionaries that go with a model: one packed file, whose content depends on the names alone."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

from fascicle.errors import FascicleError, ModelError
from fascicle.knowledge.matching.dictionary import Entry, read_dictionary
from fascicle.knowledge.matching.matcher import Matcher


def packed_copy(entries: Iterable[Entry]) -> tuple[bytes, int]:
    """A dictionary as ``read_copy`` reads it.

    Args:
        entries: names with their types, in any order, repeated or not.

    Returns:
        The packed table, ``type TAB name`` in each row, sorted; and how many rows it has.
    """
    rows = sorted({(one.type, one.name) for one in entries})
    text = "".join(f"{kind}\t{name}\n" for kind, name in rows)
    return gzip.compress(text.encode("utf-8"), mtime=0), len(rows)


def read_copy(path: Path, *, rule: str, segmenter: str) -> Matcher:
    """Opens such a copy.

    Args:
        path: of the file.
        rule: by which its names match.
        segmenter: name of what cuts texts and names into words.

    Raises:
        ModelError: it is damaged, or needs a rule that this release does not have.
    """
    try:
        return Matcher(read_dictionary(str(path)), rule=rule, segmenter=segmenter)
    except FascicleError as error:
        raise ModelError(f"the dictionary {path} cannot be used ({error}); copy or export the folder again") from None
