"""Documents of a CoNLL file: which sentences belong together, and their text and mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from fascicle.core.document import Document, Event
from fascicle.core.files.encodings import bom_encoding
from fascicle.core.files.source import (
    MAX_LINE,
    STDIN,
    Source,
    open_bytes,
    read_lines_or_errors,
)
from fascicle.core.tags import TagCensus
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats.collect import TokenMention, join_tokens, read_tags
from fascicle.formats.tag_names import BEGIN, DOCSTART, document_mark

STEP: Final = "conll"
_BLOCK: Final = 2**18  # bytes
_MARKS: Final = (DOCSTART.encode(), BEGIN.encode(), b"newdoc")
# A "sentence" beyond this, in a file without one blank line, is a stream whose source did not mark
# sentences.
_ONE_STREAM: Final = 1000
TaggedSentence = tuple[list[str], list[list[str]]]  # tokens; for each layer its tags
ParsedSentence = TaggedSentence | InputError | str  # text: a document of this id begins


def document_mode(source: Source, documents: str) -> str:
    """Returns what a document is in a file: ``"sentence"``, ``"file"`` or ``"docstart"``.

    Args:
        source: the file.
        documents: what the user said of it; ``"auto"`` reads the file for marks of documents.

    Raises:
        UsageError: standard input, which is read once.
    """
    if documents != "auto":
        return documents
    if source.path == STDIN:
        message = (
            "standard input is read once; say what a document is with documents=VALUE: "
            "sentence, file or docstart"
        )
        raise UsageError(message)
    marks = 0
    try:
        for is_mark in _marks(source):
            marks += is_mark
            if marks > 1:
                return "docstart"
    except FormatError:
        pass  # the main reading raises the same error, after the documents before it
    return "sentence"


def _marks(source: Source) -> Iterator[bool]:
    # bytes are faster; the main reading decodes and checks them
    with open_bytes(source.path) as stream:
        block = stream.readline(MAX_LINE)
        if source.is_utf8 and not bom_encoding(block):
            while block:
                is_marked = any(mark in block for mark in _MARKS)
                for part in re.split(rb"[\r\n]", block) if is_marked else ():
                    yield from _count_marks(part.decode(errors="replace"))
                block = stream.read(_BLOCK) + stream.readline(MAX_LINE)
            return
    quiet = replace(source, told=None)
    for _, line in read_lines_or_errors(quiet):
        yield from _count_marks(line) if isinstance(line, str) else ()


def _count_marks(line: str) -> tuple[bool, ...]:
    """Returns a true value for each mark that a line counts as."""
    line = line.removeprefix("\ufeff")
    name = document_mark(line)
    if name is None:
        return ()
    # one named document is one here
    return (True,) if line.startswith(DOCSTART) and not name else (True, True)


def group_sentences(
    sentences: Iterator[ParsedSentence], mode: str
) -> Iterator[tuple[str, list[TaggedSentence | InputError]]]:
    """Yields the id of each document, empty where the file gives none, and its sentences; ``mode``
    is that of `document_mode`.
    """
    if mode == "sentence":
        yield from (("", [sentence]) for sentence in sentences if not isinstance(sentence, str))
        return
    identifier = ""
    block: list[TaggedSentence | InputError] = []
    for sentence in sentences:
        if not isinstance(sentence, str):
            block.append(sentence)
        elif mode == "docstart":
            if block:
                yield identifier, block
            identifier, block = sentence, []
    if block:
        yield identifier, block


def make_document(
    identifier: str, block: Sequence[TaggedSentence], census: TagCensus, *, unbroken: bool
) -> Document:
    """Makes a document of its sentences.

    Args:
        identifier: of the document.
        block: its sentences.
        census: counts the tags.
        unbroken: whether the file has no blank line.
    """
    mentions: list[TokenMention] = []
    first = 0
    for tokens, layers in block:
        for tags in layers:
            mentions += read_tags(tags, first, census)
        first += len(tokens)
    stream = unbroken and len(block) == 1 and first > _ONE_STREAM
    document = join_tokens(
        identifier, [tokens for tokens, _ in block], mentions, step=STEP, keep_sentences=not stream
    )
    if not stream:
        return document
    message = f"{plural(first, 'token')} without one blank line: the source did not mark sentences"
    return document.with_events(
        Event(step=STEP, kind="note", code="no-sentence-breaks", message=message)
    )
