"""What the training documents say about words and strings: which are known, how often, and as what.

**Label consistency** of a string and a type: all occurrences of the string in the training texts are looked up, word by
word in lower case, whether they are annotated or not, and the share of their words that lie in a mention of the type is
taken. It is 1 if the string always is a mention of the type, 0 if it never is or no training mention has that string.

This is the measure of Fu et al. (EMNLP 2020), which *bundling-learning* §4.3.1 uses. Two traps are avoided:

* Formula 23c of the paper, as printed, lacks the condition that the string is the same. It then is the share of the
  type among all training mentions: one number for each type, which says nothing about a mention.
* The code of Fu et al. searches with a regular expression in which the string is not escaped and which consumes the
  space on both sides, so that a string directly repeated is found once; and it rounds to three decimals, which moves
  values over the ends of intervals. Here words are compared with words, repeats count, and nothing is rounded.

Where mentions overlap, a word may lie in mentions of several types and counts for each, so that the shares of a string
may sum to more than 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fascicle.core.document import GOLD, Document, Mention
from fascicle.evaluation.breakdown.layout import Layout, Surface
from fascicle.evaluation.scoring.subsets import Surfaces


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """What is known from training.

    Attributes:
        documents: how many there were.
        mentions: gold mentions in them.
        vocabulary: words as they stand.
        frequency: string -> gold mentions of it, of whatever type.
        consistency: (string, type) -> see above; pairs with 0 are left out.
        surfaces: exact strings with their types, for ``fascicle.evaluation.scoring.subsets``.
    """

    documents: int
    mentions: int
    vocabulary: frozenset[str] = field(repr=False)
    frequency: Mapping[Surface, int] = field(repr=False)
    consistency: Mapping[tuple[Surface, str], float] = field(repr=False)
    surfaces: Surfaces = field(repr=False)


def lexicon(documents: Iterable[Document]) -> Lexicon:
    """Reads training documents; what takes the time is cutting and walking through every text once.

    Args:
        documents: with gold mentions.
    """
    layouts = [Layout(document, unit="document") for document in documents]
    gold = [_distinct(layout.document) for layout in layouts]
    frequency = Counter(layout.surface(m.spans) for layout, part in zip(layouts, gold, strict=True) for m in part)
    frequency.pop((), None)  # mentions that touch no word
    return Lexicon(
        documents=len(layouts),
        mentions=sum(map(len, gold)),
        vocabulary=frozenset(word for layout in layouts for word in layout.words),
        frequency=dict(frequency),
        consistency=_consistency(layouts, gold, frequency.keys()),
        surfaces=frozenset(
            (m.text_in(layout.document.text), m.type) for layout, part in zip(layouts, gold, strict=True) for m in part
        ),
    )


def _distinct(document: Document) -> list[Mention]:
    return list({(m.type, m.spans): m for m in document.layer(GOLD)}.values())


def _consistency(
    layouts: list[Layout], gold: list[list[Mention]], surfaces: Iterable[Surface]
) -> dict[tuple[Surface, str], float]:
    lengths: dict[str, set[int]] = {}
    known = set(surfaces)
    for surface in known:
        lengths.setdefault(surface[0], set()).add(len(surface))
    total: Counter[Surface] = Counter()
    covered: Counter[tuple[Surface, str]] = Counter()
    for layout, mentions in zip(layouts, gold, strict=True):
        types: dict[int, set[str]] = {}
        for mention in mentions:
            for at in layout.touched(mention.spans):
                types.setdefault(at, set()).add(mention.type)
        for surface, places in _occurrences(layout, mentions, lengths, known):
            total[surface] += len(places)
            for at in places:
                for type_ in types.get(at, ()):
                    covered[surface, type_] += 1
    return {(surface, type_): count / total[surface] for (surface, type_), count in covered.items()}


def _occurrences(
    layout: Layout, mentions: list[Mention], lengths: Mapping[str, set[int]], known: set[Surface]
) -> Iterator[tuple[Surface, range | tuple[int, ...]]]:
    """Where the strings of training mentions occur; one in pieces occurs only where it is annotated."""
    words = layout.lower
    for at, word in enumerate(words):
        for length in lengths.get(word, ()):
            if at + length <= len(words) and words[at : at + length] in known:
                yield words[at : at + length], range(at, at + length)
    for mention in mentions:
        places = layout.touched(mention.spans)
        if len(places) and places[-1] - places[0] >= len(places):
            yield layout.surface(mention.spans), places
