"""Training documents without those that an exclusion list names (``fascicle corpus check --exclude-list``).

The list says which documents are copies of others, see ``formats.exclusions`` for how it is honoured. Only train loses
documents: nothing is learned from dev and test.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import InputError
from fascicle.files.source import Source
from fascicle.formats.exclusions import Exclusion, read_exclusions
from fascicle.settings.recipes.recogniser import CorpusSettings
from fascicle.training.corpus import read_part

_PROTECTED = ("test", "dev")


def training_documents(corpus: CorpusSettings) -> list[Document]:
    """Reads train without what the exclusion list of the recipe names.

    Args:
        corpus: where it is and how to read it.

    Raises:
        InputError: train cannot be read; and see `without_excluded`.
    """
    return without_excluded(read_part(corpus, "train"), corpus)[0]


def without_excluded(documents: list[Document], corpus: CorpusSettings) -> tuple[list[Document], tuple[str, ...]]:
    """Leaves out what the exclusion list of the recipe names.

    Args:
        documents: of train.
        corpus: that they are of.

    Returns:
        The documents that stay, and what was left out, as sentences; none where the recipe names no list.

    Raises:
        InputError: the list cannot be read, is not about these documents, or leaves none of them.
    """
    if not corpus.exclude:
        return documents, ()
    rows = list(read_exclusions(Source(path=corpus.exclude)))
    hashes = [hashlib.sha256(document.text.encode("utf-8")).hexdigest() for document in documents]
    reasons = reasons_of(rows)
    pairs = zip(documents, hashes, strict=True)
    found = [reasons.get((document.id, digest)) or reasons.get(("", digest)) for document, digest in pairs]
    _check(rows, {d.id: digest for d, digest in zip(documents, hashes, strict=True)}, corpus, matched=any(found))
    kept = [document for document, row in zip(documents, found, strict=True) if row is None]
    if documents and not kept:
        raise InputError(f"the exclusion list {corpus.exclude} names every document of {corpus.train}; none is left")
    notes = list(_notes(corpus, [row for row in found if row is not None], total=len(documents)))
    if in_dev := sum(row.part == "dev" for row in rows):
        notes.append(
            f"dev: the list names {counted(in_dev, 'document')} of dev; they stay, for nothing is learned from dev"
        )
    return kept, tuple(notes)


def reasons_of(rows: Sequence[Exclusion]) -> dict[tuple[str, str], Exclusion]:
    """Id and hash of a document to leave out, -> why; the id is empty where the hash is enough."""
    found: dict[tuple[str, str], Exclusion] = {}
    for row in rows:
        found.setdefault((row.document, row.sha256), row)
        if row.of_part in _PROTECTED:
            found.setdefault(("", row.sha256), row)
    return found


def _check(rows: Sequence[Exclusion], known: Mapping[str, str], corpus: CorpusSettings, *, matched: bool) -> None:
    """Refuses a list that was made for other documents or other texts.

    Raises:
        InputError: it names a document of this file with another text, or nothing of train.
    """
    again = "make it again with fascicle corpus check --exclude-list, reading the corpus as the recipe does"
    named = [row for row in rows if row.document in known and _is_of(row, corpus.train)]
    other = [row.document for row in named if known[row.document] != row.sha256]
    if other:
        raise InputError(
            f"the exclusion list {corpus.exclude} was made for other texts: {len(other):,} of the {len(named):,} "
            f"documents that it names of {corpus.train} have another text now, the first is {other[0]!r}; {again}"
        )
    if any(row.part not in _PROTECTED for row in rows) and not matched:
        raise InputError(
            f"the exclusion list {corpus.exclude} names none of the {counted(len(known), 'document')} of "
            f"{corpus.train}, so it was made for another corpus; {again}"
        )


def _is_of(row: Exclusion, path: str) -> bool:
    """Whether a row is about a file, as far as its name tells: lists are made with paths from any folder."""
    told = [part for part in Path(row.corpus).parts if part not in (".", "..")]
    return bool(told) and list(Path(path).parts[-len(told) :]) == told


def _notes(corpus: CorpusSettings, rows: Sequence[Exclusion], *, total: int) -> Iterator[str]:
    yield f"train: {len(rows):,} of {counted(total, 'document')} are left out, as {corpus.exclude} says"
    reasons = Counter((row.reason, row.of_part, row.of_corpus) for row in rows)
    for (reason, part, name), count in sorted(reasons.items()):
        yield f"train:   {count:,} for {reason} with {part} ({Path(name).name})"
