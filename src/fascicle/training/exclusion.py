"""Filters training documents by an exclusion list (``fascicle corpus check --exclude-list``).

The list names documents that are copies of others; ``formats.exclusions`` documents how it is applied. Only train
loses documents, because the model is not trained on dev and test.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.core.wording import counted
from fascicle.errors import InputError
from fascicle.formats.exclusions import PROTECTED, Exclusion, read_exclusions, reasons_of
from fascicle.settings.recipes.corpora import CorpusSettings

_AGAIN = "make it again with fascicle corpus check --exclude-list, reading the corpus as the recipe does"


def without_excluded(documents: list[Document], corpus: CorpusSettings) -> tuple[list[Document], tuple[str, ...]]:
    """Removes the documents of the exclusion list of the recipe.

    Args:
        documents: of train.
        corpus: that they are of.

    Returns:
        The documents that stay, and sentences on the removed ones; no sentences where the recipe names no list.

    Raises:
        InputError: see `without_listed`.
    """
    if not corpus.exclude:
        return documents, ()
    (kept,), notes = without_listed({corpus.train: documents}, corpus.exclude)
    if len(kept) == len(documents):
        check_used(corpus.exclude, documents=len(documents), trains=(corpus.train,))
    return kept, notes


def check_used(exclude: str, *, documents: int, trains: Sequence[str]) -> None:
    """Refuses a list that names training documents but none of those that exist.

    Args:
        exclude: path of the list.
        documents: number of documents.
        trains: paths of train.

    Raises:
        InputError: it does.
    """
    if any(row.part not in PROTECTED for row in read_exclusions(Source(path=exclude))):
        raise InputError(
            f"the exclusion list {exclude} names none of the {counted(documents, 'document')} of {' and '.join(trains)}"
            f", so it was made for another corpus; {_AGAIN}"
        )


def without_listed(
    files: Mapping[str, Sequence[Document]], exclude: str
) -> tuple[list[list[Document]], tuple[str, ...]]:
    """Removes the documents of an exclusion list.

    Args:
        files: path of each file of train -> its documents.
        exclude: path of the list.

    Returns:
        The documents of each file that stay, and sentences on the removed ones.

    Raises:
        InputError: the list cannot be read, is not about these documents, or leaves none of them.
    """
    rows = list(read_exclusions(Source(path=exclude)))
    reasons = reasons_of(rows)
    kept, found = [], list[Exclusion | None]()
    for path, documents in files.items():
        hashes = [hashlib.sha256(document.text.encode("utf-8")).hexdigest() for document in documents]
        pairs = list(zip(documents, hashes, strict=True))
        _check_texts(rows, {document.id: digest for document, digest in pairs}, path=path, exclude=exclude)
        of_file = [reasons.get((document.id, digest)) or reasons.get(("", digest)) for document, digest in pairs]
        kept.append([document for document, row in zip(documents, of_file, strict=True) if row is None])
        found += of_file
    if found and not any(kept):
        raise InputError(f"the exclusion list {exclude} names every document of {' and '.join(files)}; none is left")
    notes = list(_notes(exclude, [row for row in found if row is not None], total=len(found)))
    if in_dev := sum(row.part == "dev" for row in rows):
        notes.append(
            f"dev: the list names {counted(in_dev, 'document')} of dev; they stay, for nothing is learned from dev"
        )
    return kept, tuple(notes)


def _check_texts(rows: Sequence[Exclusion], known: Mapping[str, str], *, path: str, exclude: str) -> None:
    """Refuses a list that was made for other texts.

    Raises:
        InputError: it names a document of this file with another text.
    """
    named = [row for row in rows if row.document in known and _is_of(row, path)]
    other = [row.document for row in named if known[row.document] != row.sha256]
    if other:
        raise InputError(
            f"the exclusion list {exclude} was made for other texts: {len(other):,} of the {len(named):,} documents "
            f"that it names of {path} have another text now, the first is {other[0]!r}; {_AGAIN}"
        )


def _is_of(row: Exclusion, path: str) -> bool:
    """True if a row may belong to a file, by the file name: lists are made with paths from any folder."""
    told = [part for part in Path(row.corpus).parts if part not in (".", "..")]
    return bool(told) and list(Path(path).parts[-len(told) :]) == told


def _notes(exclude: str, rows: Sequence[Exclusion], *, total: int) -> Iterator[str]:
    yield f"train: {len(rows):,} of {counted(total, 'document')} are left out, as {exclude} says"
    reasons = Counter((row.reason, row.of_part, row.of_corpus) for row in rows)
    for (reason, part, name), count in sorted(reasons.items()):
        yield f"train:   {count:,} for {reason} with {part} ({Path(name).name})"
