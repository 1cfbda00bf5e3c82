"""Documents for other programs, and what must stay the same of them."""

from __future__ import annotations

from fascicle.core.document import Document, Mention, Section

# A character of two UTF-16 units, a combining accent, quotes, commas and line ends before and in
# mentions.
TEXTS = (
    "Lithium can cause tremor.",
    '😀 "Lithium", an α-blocker;\ncafe\u0301 and "lung, cancer" 𝒳 tremor',
    "Nothing is said here.",
)
WORDS = {
    "Lithium": "Chemical",
    "tremor": "Disease",
    "lung, cancer": "Disease",
    "α-blocker": "Chemical",
}


def document(number: int, text: str) -> Document:
    """A document with its words as mentions; found with the search of Python, and not by code of
    ours.
    """
    mentions = [
        Mention(((text.index(word), text.index(word) + len(word)),), kind)
        for word, kind in WORDS.items()
        if word in text
    ]
    title = len(text.partition("\n")[0])
    sections = tuple(
        Section(*one)
        for one in ((0, title, "title"), (title + 1, len(text), "abstract"))
        if one[0] < one[1]
    )
    return Document(id=f"d{number}", text=text, mentions=tuple(mentions), sections=sections)


def facts(found: Document) -> set[tuple[int, int, str, str]]:
    """What must be the same everywhere: places, texts and types."""
    return {(one.start, one.end, one.text_in(found.text), one.type) for one in found.mentions}
