"""Random documents from which the oracle writes files: parts of text, words, and mentions of
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from tests.formats.oracle.judging import Marked, Page

Span = tuple[int, int]
WORDS: Final = (
    "aspirin", "aspirin", "lung", "cancer", "cancer", "of", "the", "IL-2", "p53", "a", "a", "10%", "C.", "mice", "no",
    "β-catenin", "α", "µg", "Köln", "naïve", "e\u0301te\u0301", "n\u0303", "\U0001f600", "\U0001d6fd-cells", "癌症",
    "\U00020000", "سرطان", "5′", "\u200dx", "(", ")", "&", "<b>", '"', "it's", "x;y", "a|b", "1,2", "$", "%2F", "\\n",
    "#1", "#",
)  # fmt: skip
TYPES: Final = ("Chemical", "Disease", "Gene_or_gene_product", "Cell-line")
CONCEPTS: Final = (("MESH", "D008175"), ("DOID", "9351"), ("CHEBI", "15365"), ("", ""))


@dataclass(frozen=True)
class DraftMark:
    """A mention: its part of the document, its first and last word in that part, and its concept.

    One that is discontinuous has a ``second`` range of words behind the first.
    """

    part: int
    first: int
    last: int
    type: str
    prefix: str = ""
    local: str = ""
    second: tuple[int, int] | None = None


@dataclass(frozen=True)
class Draft:
    """A document; ``words`` has the spans of the words of each part."""

    id: str
    parts: tuple[str, ...]
    words: tuple[tuple[Span, ...], ...]
    marks: tuple[DraftMark, ...] = ()

    def spans(self, mark: DraftMark, *, base: int = 0) -> list[Span]:
        """Where the fragments of a mention stand in its part, or in a text in which the part
        begins at ``base``.
        """
        words = self.words[mark.part]
        ranges = [(mark.first, mark.last), *([mark.second] if mark.second else [])]
        return [(base + words[first][0], base + words[last][1]) for first, last in ranges]

    def span(self, mark: DraftMark) -> Span:
        """Where a mention of one fragment stands in its part."""
        (found,) = self.spans(mark)
        return found

    def pieces(self, mark: DraftMark) -> list[str]:
        """The texts of the fragments of a mention."""
        return [self.parts[mark.part][start:end] for start, end in self.spans(mark)]

    def surface(self, mark: DraftMark) -> str:
        """The text of a mention, with a blank between two fragments."""
        return " ".join(self.pieces(mark))

    def said(self, part: int) -> list[str]:
        """The words of a part."""
        return [self.parts[part][start:end] for start, end in self.words[part]]

    def bases(self, join: str) -> list[int]:
        """Where each part begins if ``join`` stands between two."""
        found, at = [], 0
        for part in self.parts:
            found.append(at)
            at += len(part) + len(join)
        return found

    def inside(self, part: int) -> list[DraftMark]:
        """The mentions of a part."""
        return [one for one in self.marks if one.part == part]


@dataclass(frozen=True)
class Taste:
    """What documents a format can hold.

    Attributes:
        parts: the smallest and the largest number of parts.
        blanks: what may stand between two words.
        empty: whether a part may be without words.
        flat: whether mentions may not overlap.
        split: whether mentions may have two fragments.
        linked: whether mentions have concepts.
        typed: whether there are mentions at all.
        marked: whether the first document must have a mention.
    """

    parts: tuple[int, int] = (1, 1)
    blanks: Sequence[str] = (" ",)
    empty: bool = True
    flat: bool = False
    split: bool = False
    linked: bool = False
    typed: bool = True
    marked: bool = False


def drafts(random: Random, taste: Taste) -> list[Draft]:
    """One to four documents, with ids that differ."""
    made = [
        _draft(random, taste, f"{random.choice(('', 'PMC', 'd-'))}{10 + at}")
        for at in range(random.randint(1, 4))
    ]
    return made if made[0].marks or not taste.marked else drafts(random, taste)


def _draft(random: Random, taste: Taste, name: str) -> Draft:
    made = [_part(random, taste) for _ in range(random.randint(*taste.parts))]
    draft = Draft(
        id=name, parts=tuple(text for text, _ in made), words=tuple(spans for _, spans in made)
    )
    marks = _marks(random, taste, draft) if taste.typed else []
    if not taste.flat and random.random() < 0.3:
        random.shuffle(marks)
    return replace(draft, marks=tuple(marks))


def _part(random: Random, taste: Taste) -> tuple[str, tuple[Span, ...]]:
    text, spans = "", []
    for _ in range(0 if taste.empty and random.random() < 0.08 else random.randint(1, 9)):
        text += random.choice(taste.blanks) if text else ""
        word = random.choice(WORDS)
        spans.append((len(text), len(text) + len(word)))
        text += word
    return text, tuple(spans)


def _marks(random: Random, taste: Taste, draft: Draft) -> list[DraftMark]:
    """Mentions one behind the other, often adjacent."""
    found = []
    for part, words in enumerate(draft.words):
        at = 0 if random.random() < 0.5 else random.randint(0, len(words))
        while at < len(words) and random.random() < 0.8:
            last = min(len(words) - 1, at + random.choice((0, 0, 1, 2)))
            prefix, local = random.choice(CONCEPTS) if taste.linked else ("", "")
            second = None
            if taste.split and last + 2 < len(words) and random.random() < 0.3:
                second = (last + 2, last + 2)
            found.append(DraftMark(part, at, last, random.choice(TYPES), prefix, local, second))
            at = (second[1] if second else last) + random.choice((1, 1, 2))
    return found


def page(draft: Draft, join: str, *, concept: bool = True) -> Page:
    """The document that a file describes.

    Args:
        draft: the document.
        join: what stands between two parts.
        concept: whether the format has a place for concepts.
    """
    bases = draft.bases(join)
    marks = []
    for one in draft.marks:
        ids = (
            (f"{one.prefix}:{one.local}" if one.prefix else one.local,)
            if one.local and concept
            else ()
        )
        marks.append(Marked(tuple(draft.spans(one, base=bases[one.part])), one.type, ids))
    return Page(join.join(draft.parts), tuple(marks), draft.id)
