"""Documents of raw text: selects them, marks those that are held out, and sets their random
order.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.core.printed import as_printed
from fascicle.core.wording import plural
from fascicle.errors import InputError, RecipeError, UsageError
from fascicle.formats.exclusions import exclusions_by_key, read_exclusions
from fascicle.formats.files import ORIGINAL_ID
from fascicle.formats.requests import ReadRequest, expand_paths, parse_pairs, read_file
from fascicle.settings.recipes.corpora import TextSettings

_SPACE: Final = 1 << 64  # of the numbers that a hash gives


@dataclass(kw_only=True)
class TextCounts:
    """Counts of the documents by use.

    Attributes:
        learned: for training.
        held_out: not trained on.
        left_out: others, by reason: ``"keep"``, ``"exclude"`` or ``"empty"``.
        characters: of documents for training.
        facts: for each fact of ``keep``, value -> number of documents, held-out ones included.
    """

    learned: int = 0
    held_out: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    characters: int = 0
    facts: dict[str, Counter[str]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Returns the counts for JSON."""
        return {
            "learned": self.learned,
            "held_out": self.held_out,
            "left_out": dict(sorted(self.left_out.items())),
            "characters": self.characters,
            "facts": {name: dict(values.most_common()) for name, values in self.facts.items()},
        }


@dataclass(frozen=True, kw_only=True)
class RawDocument:
    """Document of raw text.

    Attributes:
        text: of it.
        key: its place in the random order, a number determined by its id and the seed.
        held_out: whether it is excluded from training; this does not depend on the seed.
    """

    text: str
    key: int
    held_out: bool


def raw_documents(
    settings: TextSettings, *, seed: int, counts: TextCounts | None = None
) -> Iterator[RawDocument]:
    """Yields the documents in the order of the files.

    Args:
        settings: files, and rules for documents to leave out.
        seed: determines the keys.
        counts: receives the number of documents by use.

    Raises:
        RecipeError: an option that the format of a file does not have.
        InputError: a file that is not there, cannot be read, or holds no text.
    """
    counts = TextCounts() if counts is None else counts
    reasons = (
        exclusions_by_key(read_exclusions(Source(path=settings.exclude)))
        if settings.exclude
        else {}
    )
    for document in _read_documents(settings):
        reason = _exclusion_reason(document, settings.keep, reasons)
        if reason:
            counts.left_out[reason] += 1
            continue
        # copies of a document are all held out, or all not
        identifier = document.meta.get(ORIGINAL_ID, document.id)
        held_out = pseudo_random_number(identifier, "held out") < settings.held_out * _SPACE
        counts.held_out += held_out
        counts.learned += not held_out
        counts.characters += 0 if held_out else len(document.text)
        for name in settings.keep:
            counts.facts.setdefault(name, Counter())[document.meta[name]] += 1
        text = as_printed(document).text
        yield RawDocument(
            text=text, key=pseudo_random_number(identifier, str(seed)), held_out=held_out
        )


def pseudo_random_number(identifier: str, purpose: str) -> int:
    """Returns a pseudo-random number below 2**64 that depends only on the id and the purpose."""
    digest = hashlib.sha256(f"{purpose}\n{identifier}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")


def _read_documents(settings: TextSettings) -> Iterator[Document]:
    try:
        request = ReadRequest(
            format=settings.format,
            encoding=settings.encoding,
            shape="" if settings.shape == "auto" else settings.shape,
            fields=parse_pairs(settings.fields, key="text.fields", example="text=body"),
            asked_by="text.format",
        )
        for path in settings.files:
            yield from _with_text(path, request)
    except UsageError as error:
        raise RecipeError(f"in [text], {error}") from None


def _with_text(source: str, request: ReadRequest) -> Iterator[Document]:
    """Yields the documents of one file or folder.

    Raises:
        InputError: none of them has a text.
    """
    has_text, count = False, 0
    for path in expand_paths([source], request):
        for document in read_file(path, request):
            count += 1
            has_text = has_text or not _is_blank(document)
            yield document
    if not has_text:
        what = plural(count, "document") + " without a text" if count else "no document"
        raise InputError(
            f"{source} holds {what}, so there is nothing to learn from; name a file with text",
            file=source,
        )


def _is_blank(document: Document) -> bool:
    return not document.text or document.text.isspace()


def _exclusion_reason(
    document: Document,
    keep: Mapping[str, tuple[str, ...]],
    excluded: Mapping[tuple[str, str], object],
) -> str:
    """Returns the reason why a document is left out; empty if it is not."""
    if _is_blank(document):
        return "empty"
    for name, values in keep.items():
        fact = document.meta.get(name)
        if fact is None or not any(fnmatchcase(fact, value) for value in values):
            return "keep"
    if excluded:
        digest = hashlib.sha256(document.text.encode("utf-8")).hexdigest()
        if (document.id, digest) in excluded or ("", digest) in excluded:
            return "exclude"
    return ""
