"""View of annotated text for readers: mentions in colour on a terminal, ``[lung cancer]Disease``
elsewhere.
"""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core.document import Document, Mention, merge_origins
from fascicle.core.mention import AMBIGUOUS, Fragments, display_identifier
from fascicle.core.wording import plural, shorten
from fascicle.formats.handlers import FormatWriter, WriteOne
from fascicle.formats.losses import OF_TEXT, held_fields
from fascicle.formats.report import WriteReport
from fascicle.settings.assertion import FACTS

_WHOLE: Final = (
    "ids mentions discontinuous second-source abbreviations links link-ontologies "
    "link-names link-curies"
)
_HOLDS: Final = held_fields(
    "the view for reading",
    _WHOLE,
    partly="nested",
    also=frozenset({"ambiguous"}),
    by_reference=OF_TEXT - {"abbreviations"},
)
_COLOURS = ("36", "33", "35", "32", "34", "31")
_RESET = "\x1b[0m"
_BLANKS = re.compile(r"([ \t\n\r\f\v\x85\u2028\u2029]+)")
_BREAKS = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
# Control characters of a text would act on the terminal: each is shown as its picture (U+2400 ff.)
# instead.
_HARMLESS = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r\f\v"},
    0x7F: 0x2421,
    **{code: 0xFFFD for code in range(0x80, 0xA0) if code != 0x85},
}

_Style = str  # the parameters of an SGR sequence; empty for plain text


class _Fragment(msgspec.Struct, frozen=True):
    start: int
    end: int
    type: str
    last: bool
    facts: str
    rank: tuple[float, int, int]


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """Options for showing documents.

    Attributes:
        width: columns of the lines; ``None`` for those of the terminal.
        colour: whether mentions are shown by ANSI sequences; else by brackets.
        types: entity types in the order of their colours; others get theirs when they come.
        title: whether each document is named.
    """

    width: int | None = None
    colour: bool = False
    types: tuple[str, ...] = ()
    title: bool = True


class TextView:
    """Renderer of documents one by one, with counts for the legend."""

    def __init__(self, options: ViewOptions) -> None:
        """Creates a view with all counts at zero."""
        self._width = max(20, options.width or shutil.get_terminal_size((100, 24)).columns)
        self._colour, self._title = options.colour, options.title
        self._types = list(options.types)
        self._counts: Counter[str] = Counter()
        self._documents = 0
        self._origins: dict[str, None] = {}

    def __call__(self, document: Document, part: WriteReport) -> bytes:
        """Encodes the view of one document; mentions that it hides are counted."""
        if self._colour:  # words have one colour
            _count_hidden(document, part)
        # The view counts what it renders, so what cannot be written is found before.
        " ".join([document.id, *(mention.type for mention in document.mentions)]).encode()
        return self.render(document, document.mentions).encode()

    def render(self, document: Document, mentions: Sequence[Mention]) -> str:
        """Renders one document, wrapped at blanks; links and the long form of each short form are
        below it.

        It ends with an empty line.
        """
        self._documents += 1
        self._origins |= dict.fromkeys(document.origins)
        self._counts.update(mention.type for mention in mentions)
        lines = _Lines(self._width)
        for part, style in self._divide(document.text, mentions):
            lines.add(part, style)
        head = _paint(document.id.translate(_HARMLESS), "1" if self._colour else "") + "\n"
        below = "".join([*_links(document, mentions), *_abbreviations(document)])
        return f"{head if self._title else ''}{lines.text()}\n{below}\n"

    def legend(self) -> str:
        """Returns the count of each type, in its colour, and the origins of the links."""
        ordered = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        parts = [
            f"{_paint(shorten(name), self._style(name))} {count:,}" for name, count in ordered
        ] or ["no mentions"]
        origins = "".join(
            f"{origin}\n".translate(_HARMLESS) for origin in merge_origins(self._origins)
        )
        return f"{'  '.join(parts)}  in {plural(self._documents, 'document')}\n{origins}"

    def _style(self, kind: str, *, nested: bool = False) -> _Style:
        if not self._colour:
            return ""
        if kind not in self._types:
            self._types.append(kind)
        return f"{'1;' if nested else ''}4;{_COLOURS[self._types.index(kind) % len(_COLOURS)]}"

    def _divide(self, text: str, mentions: Iterable[Mention]) -> Iterator[tuple[str, _Style]]:
        """Yields the text in pieces of one style; without colour, brackets are added between the
        pieces.
        """
        fragments = _fragments(mentions)
        borders = {border for fragment in fragments for border in (fragment.start, fragment.end)}
        covering: list[_Fragment] = []
        position = number = 0  # of the text, and of the next fragment
        for border in sorted(borders | {len(text)}):
            yield text[position:border].translate(_HARMLESS), self._innermost(covering)
            position = border
            for fragment in covering[::-1]:
                if fragment.end == border:
                    covering.remove(fragment)
                    yield from self._closing(fragment)
            while number < len(fragments) and fragments[number].start == border:
                covering.append(fragments[number])
                number += 1
                if not self._colour:
                    yield "[", ""

    def _closing(self, fragment: _Fragment) -> Iterator[tuple[str, _Style]]:
        if not self._colour:
            yield f"]{fragment.type}{'' if fragment.last else '+'}", ""
        if fragment.facts:
            yield fragment.facts, ""

    def _innermost(self, covering: Sequence[_Fragment]) -> _Style:
        if not covering:
            return ""
        inner = min(covering, key=lambda f: (f.end - f.start, f.rank))
        return self._style(inner.type, nested=len(covering) > 1)


def _links(document: Document, mentions: Sequence[Mention]) -> Iterator[str]:
    """Yields a line for each different link: the linked words, the identifier and the name."""
    pairs = [
        (" ".join(mention.text_in(document.text).split()), link)
        for mention in mentions
        for link in mention.links
        if not link.nil
    ]
    for words, link in dict.fromkeys(pairs):
        doubt = " (ambiguous)" if link.tier == AMBIGUOUS else ""
        yield (
            f"  {words}: {display_identifier(link)} {link.name}".rstrip().translate(_HARMLESS)
            + f"{doubt}\n"
        )


def _abbreviations(document: Document) -> Iterator[str]:
    """Yields a line for each different pair of short and long form."""
    pairs = [
        (document.text[slice(*short)], document.text[slice(*long)])
        for short, long in document.abbreviations or ()
    ]
    for short, long in dict.fromkeys(pairs):
        yield f"  {' '.join(short.split())} = {' '.join(long.split())}\n".translate(_HARMLESS)


class _Lines:
    """Wrapper of styled text: a word is the text between two blanks, whatever its styles."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._done: list[str] = []
        self._column = 0
        self._word: list[tuple[str, _Style]] = []
        self._blank: _Style | None = None

    def add(self, text: str, style: _Style) -> None:
        for part in _BLANKS.split(text):
            if not part:
                continue
            if not _BLANKS.match(part):
                self._word.append((part, style))
                continue
            self._end_word()
            breaks = len(_BREAKS.findall(part))
            if breaks:
                self._break(min(breaks, 2))
            elif self._column:
                self._blank = style

    def text(self) -> str:
        self._end_word()
        return "".join(self._done).rstrip("\n")

    def _end_word(self) -> None:
        if not self._word:
            return
        width = sum(_columns(part) for part, _ in self._word)
        if self._column and self._column + 1 + width > self._width:
            self._break(1)
        elif self._blank is not None:
            self._done.append(_paint(" ", self._blank))
            self._column += 1
        self._done += [_paint(part, style) for part, style in self._word]
        self._column += width
        self._word, self._blank = [], None

    def _break(self, count: int) -> None:
        self._done.append("\n" * count)
        self._column, self._blank = 0, None


def _fragments(mentions: Iterable[Mention]) -> list[_Fragment]:
    fragments = []
    for mention in mentions:
        facts = _facts(mention)
        for number, (start, end) in enumerate(mention.spans, start=1):
            last = number == len(mention.spans)
            fragments.append(_Fragment(start, end, mention.type, last, facts * last, mention.rank))
    return sorted(fragments, key=lambda fragment: (fragment.start, -fragment.end, fragment.type))


def _facts(mention: Mention) -> str:
    """Returns what the text says of a mention, such as " (negated)"."""
    facts = [name for name, _ in mention.attributes if name in FACTS]
    return f" ({', '.join(facts)})" if facts else ""


def _paint(text: str, style: _Style) -> str:
    return f"\x1b[{style}m{text}{_RESET}" if style else text


def _columns(text: str) -> int:
    """Returns the width of a text on a terminal: wide East Asian characters take two columns,
    combining ones none.
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def _count_hidden(document: Document, report: WriteReport) -> None:
    """Counts mentions that have no word in their colour, because a better scored one has the
    same range.
    """
    visible: dict[Fragments, Mention] = {}
    for mention in sorted(document.mentions, key=lambda mention: mention.rank):
        if visible.setdefault(mention.spans, mention).type != mention.type:
            report.lose("nested", document, mention, instead=visible[mention.spans])


@contextmanager
def _above_legend(stream: BinaryIO, views: Any) -> Iterator[WriteOne]:
    def write(content: bytes) -> None:
        stream.write(content)
        stream.flush()

    yield write
    write(views.legend().encode())


WRITER: Final = FormatWriter(
    holds=_HOLDS, encoder=TextView, options=ViewOptions, into=_above_legend, grows=False
)
