"""What is around a mention: words before and after it, its sentence, its section."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from fascicle.core.document import Document, Mention
from fascicle.text.segment import all_sentences, segmenter, sentence_number

CONTEXT: Final = ("before", "after", "sentence", "section")  # columns of a table
_WIDTH: Final = 60  # characters before and after a mention


def context_of(
    document: Document, *, longest: int = sys.maxsize
) -> Callable[[Mention], tuple[str, str, str, str]]:
    """Returns the function that gives the cells of `CONTEXT` for a mention of a document.

    Args:
        document: with the mentions.
        longest: about so many characters of a longer sentence are in a cell, around the mention. A
            list may be one sentence with thousands of mentions.
    """
    text = document.text
    sentences = all_sentences(document, segmenter("rules@1")) or ((0, 0),)

    def cells(mention: Mention) -> tuple[str, str, str, str]:
        start, end = sentences[sentence_number(sentences, mention.start)]
        before, after = _around(text, mention, (0, len(text)), width=_WIDTH)
        is_long = end - start > longest
        sentence = _cut(text, mention, (start, end), longest) if is_long else text[start:end]
        return before, after, sentence, document.section_of(mention)

    return cells


def _around(text: str, mention: Mention, within: tuple[int, int], *, width: int) -> tuple[str, str]:
    """Returns whole words before and after a mention, of a part of the text."""
    begin, end = max(within[0], mention.start - width), min(within[1], mention.end + width)
    before, after = text[begin : mention.start], text[mention.end : end]
    if begin > within[0]:  # it may begin inside a word
        before = before.partition(" ")[2] or before
    if end < within[1]:
        after = after.rpartition(" ")[0] or after
    return before, after


def _cut(text: str, mention: Mention, sentence: tuple[int, int], longest: int) -> str:
    """Returns the words of a sentence around a mention, with ``…`` where it goes on."""
    end = min(mention.end, mention.start + longest)
    width = (longest - (end - mention.start)) // 2
    before, after = _around(text, mention, sentence, width=width)
    ahead = "… " if mention.start - len(before) > sentence[0] else ""
    behind = " …" if end + len(after) < sentence[1] else ""
    return f"{ahead}{before}{text[mention.start : end]}{after}{behind}"
