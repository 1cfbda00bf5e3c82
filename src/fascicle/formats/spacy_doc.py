"""What a file of spaCy has of one document: for its reader and its writer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fascicle.core.spans import Span

VERSION: Final = "0.1"
GROUP: Final = "sc"  # the group of spans that spaCy trains on, for gold
ORTH: Final = 65
ENT_IOB: Final = 77
ENT_TYPE: Final = 78
SENT_START: Final = 80
ENT_KB_ID: Final = 452
ATTRIBUTES: Final = (ORTH, ENT_IOB, ENT_TYPE, SENT_START, ENT_KB_ID)  # of tokens, in the order of their columns
SPAN: Final = ">QQQllll"  # id, id in a knowledge base, label, first and last token (exclusive), the same in characters
ID: Final = "id"  # in the user data
META: Final = "meta"
SCORES: Final = "scores"


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The tokens of a text, as spaCy has them: without gaps, each perhaps followed by one blank.

    Attributes:
        texts: of the tokens.
        spaces: whether a blank follows each.
        starts: whether each begins a sentence; ``None`` where nobody knows.
    """

    texts: Sequence[str]
    spaces: Sequence[bool]
    starts: Sequence[bool] | None = None

    @property
    def text(self) -> str:
        """The text."""
        return "".join(f"{text} " if space else text for text, space in zip(self.texts, self.spaces, strict=True))

    def ranges(self) -> list[Span]:
        """Where each token stands in the text, in code points."""
        found, at = [], 0
        for text, space in zip(self.texts, self.spaces, strict=True):
            found.append((at, at + len(text)))
            at += len(text) + space
        return found

    def words(self) -> tuple[Span, ...]:
        """The tokens that are not blanks."""
        return tuple(at for at, text in zip(self.ranges(), self.texts, strict=True) if text.strip())

    def sentences(self) -> tuple[Span, ...] | None:
        """The sentences, each from its first to its last word; ``None`` where nobody knows them."""
        return None if self.starts is None else tuple(self._sentences(self.starts))

    def _sentences(self, starts: Sequence[bool]) -> Iterator[Span]:
        words: list[Span] = []
        for at, text, starting in zip(self.ranges(), self.texts, starts, strict=True):
            if starting and words:
                yield words[0][0], words[-1][1]
                words = []
            if text.strip():
                words.append(at)
        if words:
            yield words[0][0], words[-1][1]
