"""What is around a mention: words before and after it, its sentence, its section."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fascicle.core.document import Document, Mention
from fascicle.text.segment import all_sentences, segmenter, sentence_number

CONTEXT: Final = ("before", "after", "sentence", "section")  # columns of a table
_WIDTH: Final = 60  # characters before and after a mention


def context_of(document: Document) -> Callable[[Mention], tuple[str, str, str, str]]:
    """Returns the function that gives the cells of `CONTEXT` for a mention of a document."""
    text = document.text
    sentences = all_sentences(document, segmenter("rules@1")) or ((0, 0),)

    def cells(mention: Mention) -> tuple[str, str, str, str]:
        start, end = sentences[sentence_number(sentences, mention.start)]
        before = text[max(0, mention.start - _WIDTH) : mention.start]
        after = text[mention.end : mention.end + _WIDTH]
        if mention.start > _WIDTH:  # it may begin inside a word
            before = before.partition(" ")[2] or before
        if mention.end + _WIDTH < len(text):
            after = after.rpartition(" ")[0] or after
        return before, after, text[start:end], document.section_of(mention)

    return cells
