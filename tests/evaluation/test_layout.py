"""What training says, against loops over every word of every text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.errors import UsageError
from fascicle.evaluation.breakdown.layout import WordLayout, read_lexicon

from .strategies import TEXT, characters, mentions


def words_of(document: Document) -> list[tuple[int, int]]:
    """``rules@1`` on plain ASCII: runs of letters and digits, and single other characters."""
    return [m.span() for m in re.finditer(r"[A-Za-z0-9]+|[^A-Za-z0-9\s]", document.text)]


def touched(document: Document, mention: Mention) -> list[int]:
    inside = characters(mention.spans)
    return [at for at, (a, b) in enumerate(words_of(document)) if inside & set(range(a, b))]


@given(st.lists(mentions(), max_size=3))
def test_consistency_frequency_and_vocabulary(training: list[tuple[Mention, ...]]) -> None:
    documents = [Document(id=str(i), text=TEXT, mentions=gold) for i, gold in enumerate(training)]
    found = read_lexicon(documents)
    lower = {d.id: [d.text[a:b].lower() for a, b in words_of(d)] for d in documents}
    surfaces: dict[tuple[str, ...], int] = {}
    for document in documents:
        for mention in document.mentions:
            surface = tuple(lower[document.id][at] for at in touched(document, mention))
            if surface:
                surfaces[surface] = surfaces.get(surface, 0) + 1
    assert dict(found.frequency) == surfaces
    assert found.vocabulary == {d.text[a:b] for d in documents for a, b in words_of(d)}
    assert found.surfaces == {(m.text_in(d.text), m.type) for d in documents for m in d.mentions}
    for surface in surfaces:
        for type_ in ("Cell", "Gene", "gene"):
            assert found.consistency.get((surface, type_), 0.0) == share(
                documents, lower, surface, type_
            )


def share(
    documents: list[Document], lower: dict[str, list[str]], surface: tuple[str, ...], type_: str
) -> float:
    """The share of the words of all occurrences that a mention of the type touches."""
    total = inside = 0
    for document in documents:
        of_type = {at for m in document.mentions if m.type == type_ for at in touched(document, m)}
        runs = [
            list(range(at, at + len(surface)))
            for at in range(len(lower[document.id]) - len(surface) + 1)
            if tuple(lower[document.id][at : at + len(surface)]) == surface
        ]
        pieces = [touched(document, m) for m in document.mentions]
        gaps = [p for p in pieces if p and p != list(range(p[0], p[-1] + 1))]
        runs += [p for p in gaps if tuple(lower[document.id][at] for at in p) == surface]
        total += sum(map(len, runs))
        inside += sum(at in of_type for run in runs for at in run)
    return inside / total


def of_words(text: str, *annotated: tuple[int, int, str]) -> Document:
    return Document(
        id="t", text=text, mentions=tuple(Mention(((a, b),), t) for a, b, t in annotated)
    )


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        # Repeats side by side count each.
        (
            of_words("rain rain rain", (0, 4, "A"), (5, 9, "A")),
            {(("rain",), "A"): pytest.approx(2 / 3)},
        ),
        # Characters of regular expressions are characters.
        (
            of_words("a.c and abc ( x", (0, 3, "A"), (12, 13, "A")),
            {(("a", ".", "c"), "A"): 1.0, (("(",), "A"): 1.0},
        ),
        # An occurrence of which one of two words is annotated counts by half: 4 words, of which 3
        # are inside.
        (
            of_words("big cat big cat", (0, 7, "A"), (12, 15, "A")),
            {(("big", "cat"), "A"): 0.75, (("cat",), "A"): 1.0},
        ),
    ],
)
def test_by_hand(document: Document, expected: dict[tuple[tuple[str, ...], str], float]) -> None:
    assert read_lexicon([document]).consistency == expected


def test_a_mention_of_white_space_is_no_string() -> None:
    found = read_lexicon([of_words("a  b", (1, 3, "X"))])
    assert (found.mentions, dict(found.frequency), dict(found.consistency)) == (1, {}, {})


def test_words_and_sentences_of_the_source_come_first() -> None:
    given = Document(
        id="a", text="a-b c. d", words=((0, 3), (4, 6), (7, 8)), sentences=((0, 6), (7, 8))
    )
    layout = WordLayout(given)
    assert layout.words == ("a-b", "c.", "d")
    assert layout.texts == (range(0, 2), range(2, 3))
    assert [layout.text_at(at) for at in (0, 5, 6, 7, 8)] == [0, 0, 0, 1, 1]
    assert WordLayout(given, unit="document").texts == (range(0, 3),)
    assert layout.surface(((1, 2),)) == ("a-b",)
    assert layout.surface(((1, 2), (7, 8))) == ("a-b", "d")
    cut = WordLayout(Document(id="a", text="a-b c. D e"))
    assert cut.words == ("a", "-", "b", "c", ".", "D", "e")
    assert WordLayout(Document(id="a", text="")).texts == (range(0, 0),)


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'page'.*sentence, document"):
        WordLayout(Document(id="a", text=""), unit="page")  # type: ignore[arg-type]
