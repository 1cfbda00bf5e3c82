"""Writing CoNLL: TAB-separated IOB2, one tag column for each layer of nesting."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.spans import Span
from fascicle.errors import InputError, UsageError
from fascicle.formats.handlers import Writer
from fascicle.formats.losses import Holds
from fascicle.formats.report import WriteReport
from fascicle.formats.writing import checked_name
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.segment import segmenter

HOLDS: Final = Holds(
    format="CoNLL",
    fields=frozenset({"sentences", "words", "mentions", "nested"}),
    partly=frozenset({"sentences", "nested"}),
)


@dataclass(frozen=True, kw_only=True)
class ConllWriteOptions:
    """How to write a CoNLL file.

    Attributes:
        layers: number of tag columns; a mention that overlaps others goes to the first column where it fits.
        docstart: a ``-DOCSTART-`` line before each document, without which the borders of documents are lost.
    """

    layers: int = 1
    docstart: bool = True

    def __post_init__(self) -> None:
        """Checks the values that have rules."""
        if self.layers < 1:
            raise UsageError(f"layers = {self.layers} is not allowed; give 1 or more")


def encoder(options: ConllWriteOptions) -> Callable[[Document, WriteReport], bytes]:
    """Gives the function that makes the lines of one document.

    It counts mentions that do not begin and end with a word, that reach across sentences, or that find no layer. It
    raises an `InputError` for a document with a word or a type that a line cannot hold.
    """
    return partial(_encoded, options=options)


def _encoded(document: Document, report: WriteReport, *, options: ConllWriteOptions) -> bytes:
    rows = _tags(document, options, report)
    if not document.words:
        report.lose("empty-documents", document)
    parts = ["\t".join(["-DOCSTART-", *["O"] * options.layers]) + "\n\n"] if options.docstart else []
    if not options.docstart:
        report.lose("document-borders", document)
    sentences = list(_sentences(document))
    if document.sentences and _ranges(document, sentences) != document.sentences:
        report.lose("sentences", document)
    for sentence in sentences:
        parts += ["\t".join([_token(document, at), *(layer[at] for layer in rows)]) + "\n" for at in sentence]
        parts.append("\n")
    return "".join(parts).encode()


def _tags(document: Document, options: ConllWriteOptions, report: WriteReport) -> list[list[str]]:
    words = document.words or ()
    starts = {start: at for at, (start, _) in enumerate(words)}
    ends = {end: at + 1 for at, (_, end) in enumerate(words)}
    sentence_of = {at: number for number, sentence in enumerate(_sentences(document)) for at in sentence}
    layers = [["O"] * len(words) for _ in range(options.layers)]
    for mention in document.mentions:
        checked_name(mention.type, what=f"the type of a mention of document {document.id!r},", trimmed=False)
        loss = _place(mention, starts, ends, sentence_of, layers)
        if loss:
            report.lose(loss, document, mention)
        else:
            report.mentions += 1
    return layers


def _place(
    mention: Mention,
    starts: dict[int, int],
    ends: dict[int, int],
    sentence_of: dict[int, int],
    layers: list[list[str]],
) -> str:
    """Writes the tags of one mention; returns why it cannot be written, or nothing."""
    start, end = starts.get(mention.start), ends.get(mention.end)
    if start is None or end is None:
        return "not-on-words"
    if sentence_of[start] != sentence_of[end - 1]:
        return "across-sentences"
    for layer in layers:
        if all(tag == "O" for tag in layer[start:end]):
            layer[start:end] = [f"B-{mention.type}", *[f"I-{mention.type}"] * (end - start - 1)]
            return ""
    return "nested"


def _token(document: Document, at: int) -> str:
    start, end = (document.words or ())[at]
    token = document.text[start:end]
    if any(sign in token for sign in "\t\n\r\0") or not token.strip(" ") or token.startswith("-DOCSTART-"):
        raise InputError(
            f"the word {token!r} at {start} of document {document.id!r} cannot stand in a CoNLL file; "
            "words may not hold TAB, line breaks or nothing but blanks, nor be -DOCSTART-"
        )
    return token


def _ranges(document: Document, sentences: list[range]) -> tuple[Span, ...]:
    """The sentences that a reader finds: each from its first to its last word."""
    words: tuple[Span, ...] = document.words or ()
    return tuple((words[at.start][0], words[at.stop - 1][1]) for at in sentences if at)


def _sentences(document: Document) -> Iterator[range]:
    """The words of each sentence, as ranges of word numbers; words between sentences stand for themselves."""
    words: tuple[Span, ...] = document.words or ()
    starts = [start for start, _ in words]
    borders = {0, len(words)}
    for start, end in document.sentences or ():
        borders |= {bisect_right(starts, start - 1), bisect_right(starts, end - 1)}
    ordered = sorted(borders)
    yield from (range(a, b) for a, b in pairwise(ordered))


def with_words(document: Document) -> Document:
    """A text without words gets those of the segmenter that models read by default."""
    if document.words is not None:
        return document
    rules = segmenter(ReadingSettings().segmenter)
    sentences = document.sentences if document.sentences is not None else rules.sentences(document.text)
    return msgspec.structs.replace(document, words=rules.words(document.text), sentences=sentences)


WRITER: Final = Writer(holds=HOLDS, encoder=encoder, options=ConllWriteOptions, prepare=with_words)
