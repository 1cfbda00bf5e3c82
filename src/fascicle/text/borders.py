"""Borders that end a sentence whatever the segmenter says: those of sections, of the items of
lists, and of cells.

Prose that was wrapped fills its lines: the first word of each line did not fit on the line before.
So a line end after which there was room is no wrap but a border. In a block of lines without an
empty one, lines are items of a list

- where at least two, and half of them, begin with a bullet, a number or a label (``Diagnosis:
  asthma``);
- where three or more are short, hardly any word of them only joins other words, and there was room
  at some line end;
- where three or more begin with a capital or a digit, and there was room at some line end.

A TAB between two cells is a border too. No border lies where a line goes on: after ``and`` or a
comma, before ``of``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from fascicle.core.document import Document

_LINE_ENDS: Final = "\r\x85\u2028\u2029"
_EMPTY: Final = re.compile(r"\n(?:[^\S\n]*\n)+")
_WRAP: Final = re.compile(r"(?<!\n)\n(?!\n)")
_CELL: Final = re.compile(r"(?<=[\w)\]%]) *+\t[\t ]*+(?=\S)")
_FULL: Final = 50  # characters: names in lists are hardly longer
_NARROW: Final = 25  # characters: prose is hardly wrapped at fewer
# of the widest line, which a line and the next word do not fill, however ragged the lines are
_ROOM: Final = 0.85
_MUCH_ROOM: Final = 0.6  # the same, where one such line end is enough
_TWO: Final = 2  # lines with bullets or labels
_LEAST: Final = 3  # lines of a list without bullets
_MOST: Final = 0.8  # share of its lines that end with an item
_JOINING: Final = 0.15  # share of joining words: names have fewer, prose has more
_MARK: Final = (
    r"(?:[*•‣◦▪▫●○■□◆◇►▶➢➤✓✔∙⁃·–—−\uf0a7\uf0b7-]|o(?=\s)"
    r"|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]|\(?[A-Z]\))\s++"
)
_LABEL: Final = r"[A-Z][\w/'()-]*+(?: [\w/'()-]++){0,4}+ ?:(?:\s++|\Z)"
_HEAD: Final = re.compile(rf"[ \t>]*+({_MARK})?+({_LABEL})?+")
_HEADS: Final = re.compile(rf"\n[ \t>]*+(?:{_MARK}|{_LABEL})")
_WORDS: Final = (
    r"(?:and|or|in|to|an?|with|was|were|for|by|on|that|which|is|are|as|from|at|had|has|have|be"
    r"|been|not?|who"
    r"|after|than|this|et|les?|el|los|las|en|y|con|por|se|und|die|das|bei|mit|von|zu|il|che|di)\b"
)
_IN_NAMES: Final = r"(?:of|the|de|du|la|des|del|der)\b"  # cancer of the lung
_JOINS: Final = re.compile(rf"\b{_WORDS}")
_OPEN: Final = re.compile(rf"(?:[,;(/&+\u2010-]|\b(?:{_WORDS}|{_IN_NAMES}))\s*\Z")
_OPEN_SIZE: Final = 8  # characters: more than any of these words has, with one before it
_CONTINUED: Final = re.compile(rf"[\s>]*+(?:[,.;:)/&+%\]]|{_WORDS}|{_IN_NAMES})")


class ListItem(NamedTuple):
    """Line of a list, with the lines that go on with it.

    Attributes:
        start: of its first line.
        body: where its words begin, after a bullet, a number or a label.
        end: of its last line.
        is_listed: whether it has a bullet or a label, or two others beside it: a heading over a
            paragraph has none.
    """

    start: int
    body: int
    end: int
    is_listed: bool


def borders(document: Document) -> list[int]:
    """Returns the places in a document at which a sentence ends, in no order; none lies inside a
    word.
    """
    text = document.text
    edges = {edge for section in document.sections or () for edge in (section.start, section.end)}
    places = [
        at
        for at in edges
        if not (text[max(0, at - 1) : at].isalnum() and text[at : at + 1].isalnum())
    ]
    if not _only_at(edges, text):
        places += [at for item in list_items(text) for at in (item.start, item.end)]
    if "\t" in text:
        places += [cell.end() for cell in _CELL.finditer(text)]
    return places


def _only_at(edges: Collection[int], text: str) -> bool:
    """True if all line ends of a text stand between these edges, so that items of lists would end
    there too.
    """
    at = text.find("\n")
    while at >= 0:
        if at not in edges or at + 1 not in edges:
            return False
        at = text.find("\n", at + 1)
    return not any(line_end in text for line_end in _LINE_ENDS)


def list_items(text: str) -> Iterator[ListItem]:
    """Yields the items of all lists of a text."""
    flat, start = text.replace("\r\n", " \n"), 0
    for line_end in _LINE_ENDS:
        flat = flat.replace(line_end, "\n")
    if flat.count("\n") == 2 * flat.count("\n\n"):  # each line is a paragraph
        return
    for end, following in [
        *(empty.span() for empty in _EMPTY.finditer(flat)),
        (len(flat), len(flat)),
    ]:
        lines = flat[start:end].removesuffix("\n").split("\n")
        if len(lines) > 1 and (heads := _beginnings(lines)):
            starts = list(accumulate((len(line) + 1 for line in lines), initial=start))
            for at, after in pairwise([*heads, len(lines)]):
                begin, head = starts[at], _HEAD.match(lines[at])
                size = head.end() if head else 0
                yield ListItem(
                    begin, begin + size, starts[after] - 1, size > 0 or len(heads) >= _LEAST
                )
        start = following


def without_wraps(text: str) -> str:
    """Returns a text of the same size: a single line end that begins no item of a list becomes a
    blank.
    """
    if "\n" not in text:
        return text
    starts = {item.start for item in list_items(text)}
    return _WRAP.sub(lambda end: "\n" if end.end() in starts else " ", text)


def _beginnings(lines: Sequence[str]) -> list[int]:
    """Returns the numbers of the lines of a block that begin an item; none in prose."""
    sizes = list(map(len, lines))
    widest = max(sizes)
    most = widest * _ROOM if widest > _NARROW else 2 * widest + 2
    rooms = {
        at: size + 1 + len(lines[at + 1].partition(" ")[0])
        for at, size in enumerate(sizes[:-1])
        if size < most
    }
    has_room = bool(rooms) and min(rooms.values()) < most
    heads, goes_on = _headed(lines)
    if has_room and not goes_on:
        heads |= _unheaded(
            lines, widest, {at for at, room in rooms.items() if room < _MUCH_ROOM * widest}
        )
    return sorted(heads) if len(heads) >= _TWO else []


def _headed(lines: Sequence[str]) -> tuple[set[int], bool]:
    """Returns the numbers of the lines with bullets or labels, and whether all other lines go on
    with these items.
    """
    least = max(len(lines), 2 * _TWO) / 2
    if len(_HEADS.findall("\n" + "\n".join(lines))) < least:
        return set(), False
    heads = [(at, head) for at, line in enumerate(lines) if (head := _HEAD.match(line))]
    numbered, labelled = ({at for at, head in heads if head[group]} for group in (1, 2))
    most = max(numbered, labelled, key=len)
    return (most, most is numbered) if len(most) >= least else (set(), False)


def _unheaded(lines: Sequence[str], widest: int, roomy: set[int]) -> set[int]:
    """Returns the numbers of the lines that begin an item, without bullets; ``roomy`` lines have
    much room behind.
    """
    if len(lines) < _LEAST and not (roomy and widest > _NARROW):
        return set()
    ends = {
        at
        for at, (line, below) in enumerate(pairwise(lines))
        if not (_OPEN.search(line.rstrip()[-_OPEN_SIZE:]) or _CONTINUED.match(below))
    }
    if not (_is_list(lines, widest) and len(ends) > _MOST * (len(lines) - 1)):
        ends &= roomy if widest > _NARROW else set()
    return {0, *(at + 1 for at in ends)} if ends else set()


def _is_list(lines: Sequence[str], widest: int) -> bool:
    """True if every line may be an item."""
    if len(lines) < _LEAST:
        return False
    if widest <= _FULL:
        words = " ".join(lines).split()
        if len(_JOINS.findall(" ".join(words))) <= _JOINING * len(words):
            return True
    return not any(line.lstrip(" \t>")[:1].islower() for line in lines)
