"""Several dictionaries over the same texts, which are cut into words once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fascicle.core.document import Document
from fascicle.knowledge.matching.matcher import PORTION, Match, Matcher, words_in_sentences
from fascicle.knowledge.portions import portions
from fascicle.text.segment import segmenter


class Several:
    """Finds what each of some dictionaries finds alone; so matches of different ones may overlap."""

    def __init__(self, matchers: Sequence[Matcher]) -> None:
        """Takes the dictionaries.

        Args:
            matchers: at least one, all with the same segmenter.

        Raises:
            ValueError: none, or different segmenters.
        """
        names = {matcher.segmenter for matcher in matchers}
        if len(names) != 1:
            raise ValueError(f"dictionaries of one segmenter are needed, got {sorted(names)}")
        self._matchers = tuple(matchers)
        self._segmenter = segmenter(names.pop())

    @property
    def types(self) -> tuple[str, ...]:
        """All types of all dictionaries, sorted."""
        return tuple(sorted({name for matcher in self._matchers for name in matcher.types}))

    def matches(self, documents: Iterable[Document]) -> Iterator[tuple[Match, ...]]:
        """The matches of each document, those of a dictionary after those of the one before.

        Args:
            documents: read once; their mentions and words are not looked at.
        """
        for chunk in portions(documents, characters=PORTION):
            cuts = [words_in_sentences(document, self._segmenter) for document in chunk]
            for found in zip(*(matcher.in_words(chunk, cuts) for matcher in self._matchers), strict=True):
                yield tuple(match for of_one in found for match in of_one)
