"""Writer for CoNLL: TAB-separated IOB2, one tag column for each layer of nesting."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Span
from fascicle.errors import InputError, UsageError
from fascicle.formats.handlers import FormatWriter, check_name
from fascicle.formats.losses import held_fields
from fascicle.formats.report import WriteReport
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.segment import all_sentences, segmenter

_BORDER: Final = "-DOCSTART- -X- O O\n\n"  # as in CoNLL-2003; ``spacy convert`` knows no other form
_HOLDS: Final = held_fields("CoNLL", "words mentions", partly="sentences nested")


@dataclass(frozen=True, kw_only=True)
class ConllWriteOptions:
    """Options for writing a CoNLL file.

    Attributes:
        layers: number of tag columns; a mention that overlaps others goes to the first column where
            it fits. Where more overlap than there are columns, those with better scores stay, then
            the longer ones.
        docstart: a ``-DOCSTART-`` line before each document, without which the borders of documents
            are lost.
    """

    layers: int = 1
    docstart: bool = True

    def __post_init__(self) -> None:
        """Checks the values of the options."""
        if self.layers < 1:
            raise UsageError(f"layers = {self.layers} is not allowed; give 1 or more")


def _encoder(options: ConllWriteOptions) -> Callable[[Document, WriteReport], bytes]:
    """Returns the function that encodes one document as lines.

    It counts mentions that do not begin and end with a word, that reach across sentences, or that
    fit in no layer. It raises an `InputError` for a document with a word or a type that a line
    cannot hold.
    """
    return partial(_encode, options=options)


def _encode(document: Document, report: WriteReport, *, options: ConllWriteOptions) -> bytes:
    rows = _tags(document, options, report)
    if not document.words:
        report.lose("empty-documents", document)
    parts = [_BORDER] if options.docstart else []
    if not options.docstart:
        report.lose("document-borders", document)
    sentences = list(_sentences(document))
    if document.sentences and _ranges(document, sentences) != document.sentences:
        report.lose("sentences", document)
    for sentence in sentences:
        for at in sentence:
            tags = [layer[at] for layer in rows]
            parts.append("\t".join([_token(document, at, report), *tags]) + "\n")
        parts.append("\n")
    return "".join(parts).encode()


def _tags(document: Document, options: ConllWriteOptions, report: WriteReport) -> list[list[str]]:
    words = document.words or ()
    layers = [["O"] * len(words) for _ in range(options.layers)]
    placed = _select(
        list(_place(document, report)),
        len(words),
        options.layers,
        lose=partial(report.lose, "nested", document),
    )
    report.mentions = len(placed)
    for mention, start, end in placed:
        # In text order a free column always exists: at most ``layers`` mentions overlap at the
        # first word of each.
        layer = next(layer for layer in layers if set(layer[start:end]) == {"O"})
        layer[start:end] = [f"B-{mention.type}", *[f"I-{mention.type}"] * (end - start - 1)]
    return layers


def _place(document: Document, report: WriteReport) -> Iterator[_Placed]:
    """Yields the mentions that lie on words of one sentence."""
    sentence_of: list[int] = []
    for number, sentence in enumerate(_sentences(document)):
        sentence_of += [number] * len(sentence)
    for mention in document.mentions:
        check_name(mention.type, what=f"the type of a mention of document {document.id!r},")
    for mention, start, end in on_words(document, document.words or (), report):
        if sentence_of[start] == sentence_of[end - 1]:
            yield _Placed(mention, start, end)
        else:
            report.lose("across-sentences", document, mention)


def on_words(
    document: Document, words: Sequence[Span], report: WriteReport
) -> Iterator[tuple[Mention, int, int]]:
    """Yields the mentions that begin and end with a word, with the first word and the one after
    the last.
    """
    starts = {start: at for at, (start, _) in enumerate(words)}
    ends = {end: at + 1 for at, (_, end) in enumerate(words)}
    for mention in document.mentions:
        first, last = starts.get(mention.start), ends.get(mention.end)
        if first is None or last is None:
            report.lose("not-on-words", document, mention)
        else:
            yield mention, first, last


class _Placed(NamedTuple):
    """Mention with its words, first and last (exclusive)."""

    mention: Mention
    start: int
    end: int


def _select(
    placed: Sequence[_Placed], words: int, layers: int, *, lose: Callable[..., None]
) -> list[_Placed]:
    """Returns the mentions that fit, in text order; of overlapping ones the best are chosen."""
    by_word: list[list[Mention]] = [[] for _ in range(words)]
    selected: list[_Placed] = []
    for candidate in sorted(placed, key=lambda candidate: candidate.mention.rank):
        covered = by_word[candidate.start : candidate.end]
        full = next((mentions for mentions in covered if len(mentions) >= layers), None)
        if full is not None:
            lose(candidate.mention, instead=full[-1])
            continue
        selected.append(candidate)
        for mentions in covered:
            mentions.append(candidate.mention)
    return sorted(selected, key=lambda candidate: (candidate.start, -candidate.end))


def _token(document: Document, at: int, report: WriteReport) -> str:
    start, end = (document.words or ())[at]
    token = document.text[start:end]
    if token.startswith("\ufeff"):  # which a reader takes for a byte order mark
        report.lose("control-characters", document)
        token = f"\ufffd{token[1:]}"
    if (
        any(sign in token for sign in "\t\n\r\0")
        or not token.strip(" ")
        or token.startswith("-DOCSTART-")
    ):
        raise InputError(
            f"the word {token!r} at {start} of document {document.id!r} cannot be written to a "
            "CoNLL file; "
            "words may not hold TAB, line breaks or nothing but blanks, nor be -DOCSTART-"
        )
    return token


def _ranges(document: Document, sentences: list[range]) -> tuple[Span, ...]:
    """Returns the sentences that a reader will find: each from its first to its last word."""
    words: tuple[Span, ...] = document.words or ()
    return tuple((words[at.start][0], words[at.stop - 1][1]) for at in sentences if at)


def _sentences(document: Document) -> Iterator[range]:
    """Yields the word numbers of each sentence as a range; words between two sentences form a
    sentence of their own.
    """
    words: tuple[Span, ...] = document.words or ()
    starts = [start for start, _ in words]
    borders = {0, len(words)}
    for start, end in document.sentences or ():
        borders |= {bisect_right(starts, start - 1), bisect_right(starts, end - 1)}
    ordered = sorted(borders)
    yield from (range(a, b) for a, b in pairwise(ordered))


def with_words(document: Document) -> Document:
    """Adds words from the default segmenter to a document that has none."""
    if document.words is not None:
        return document
    rules = segmenter(ReadingSettings().segmenter)
    sentences = (
        document.sentences if document.sentences is not None else all_sentences(document, rules)
    )
    return msgspec.structs.replace(document, words=rules.words(document.text), sentences=sentences)


WRITER: Final = FormatWriter(
    holds=_HOLDS, encoder=_encoder, options=ConllWriteOptions, prepare=with_words
)
