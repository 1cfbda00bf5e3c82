"""Names of OntoNotes: ``.name`` files with sentences of tokens, a line each, and names in ENAMEX tags.

The tokens of a document are joined by one space, also across sentences. A tag stands between tokens; ``S_OFF`` and
``E_OFF`` say how many characters at the start of its first token and at the end of its last one it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.core.files.tree import open_tree
from fascicle.core.wording import unescaped
from fascicle.errors import FormatError, Place
from fascicle.formats.collect import MentionCollector, joined_document
from fascicle.formats.handlers import Reader
from fascicle.formats.report import ReadReport

STEP: Final = "ontonotes"
SUFFIX: Final = ".name"
_START: Final = re.compile(r"<DOC\b([^<>]*)>")
_PART: Final = re.compile(r"<ENAMEX\b([^<>]*)>|(</ENAMEX>)|([^<>\s]+)|(\S)")
_FACT: Final = re.compile(r'\b(\w+)="([^"]*)"')
_COUNT: Final = re.compile(r"\d{1,9}")
_Name = tuple[int, int, dict[str, str]]  # first token, the one after the last, facts of the tag


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a ``.name`` file, or of all such files of a folder or zip, sorted by name.

    The id of a document is its ``DOCNO``; of a document without one, the name of the file.

    Args:
        source: the place.
        options: none.
        report: a file that cannot be read sets its documents aside.

    Raises:
        FormatError: a file without documents, or a tag that is not closed, not opened or of another kind.
    """
    with open_tree(source.path, suffixes=(SUFFIX,)) as tree:
        for name in tree.unnamed:
            report.aside.add(tree.refusal(name))
        for name in tree.names:
            with report.aside.one():
                text, _ = tree.text(name, source)
                yield from _documents(text, PurePosixPath(name).stem, place=tree.place(name))


def _documents(text: str, stem: str, *, place: str) -> list[Document]:
    found: list[Document] = []
    end, at, line = 0, 0, 1
    while (start := _START.search(text, end)) and (end := text.find("</DOC>", start.end())) >= 0:
        line, at = line + text.count("\n", at, start.end()), start.end()
        found.append(_document(text[at:end], _facts(start[1]).get("DOCNO") or stem, Place(place, line)))
    if not found and text.strip():
        raise FormatError("the file has no <DOC> that is closed; is it a .name file of OntoNotes?", at=place)
    return found


def _document(content: str, identifier: str, start: Place) -> Document:
    sentences: list[list[str]] = []
    names: list[_Name] = []
    first = 0
    for number, line in enumerate(content.split("\n"), start.line or 1):
        tokens, found = _sentence(line, Place(start.file, number))
        names += [(first + low, first + high, facts) for low, high, facts in found]
        first += len(tokens)
        sentences += [tokens] if tokens else []
    document = joined_document(identifier, sentences, (), step=STEP)
    words = document.words or ()
    collector = MentionCollector(document.text, step=STEP)
    for low, high, facts in names:
        inner = words[low][0] + int(facts.get("S_OFF", 0)), words[high - 1][1] - int(facts.get("E_OFF", 0))
        collector.add([inner], facts["TYPE"])
    return msgspec.structs.replace(document, mentions=collector.mentions, events=tuple(collector.events))


def _sentence(line: str, place: Place) -> tuple[list[str], list[_Name]]:
    """Returns the tokens of a line, and the names between them."""
    tokens: list[str] = []
    opened: list[tuple[int, dict[str, str]]] = []
    names: list[_Name] = []
    for tag, close, token, other in _PART.findall(line):
        if token:
            tokens.append(unescaped(token))
        elif close and opened and opened[-1][0] < len(tokens):
            low, facts = opened.pop()
            names.append((low, len(tokens), facts))
        elif tag and (facts := _facts(tag)).get("TYPE") and _counts(facts):
            opened.append((len(tokens), facts))
        else:
            raise FormatError(
                f"{other or close or tag.strip()!r} is no ENAMEX tag with a TYPE around tokens of this line; mend it",
                at=place,
            )
    if opened:
        raise FormatError("an ENAMEX tag is not closed on its line; mend it", at=place)
    return tokens, names


def _counts(facts: dict[str, str]) -> bool:
    return all(_COUNT.fullmatch(facts.get(name, "0")) for name in ("S_OFF", "E_OFF"))


def _facts(tag: str) -> dict[str, str]:
    return {name: unescaped(value) for name, value in _FACT.findall(tag)}


READER: Final = Reader(read=read)
