"""How often names of a pack stand in texts, how they are written there, and how often they are right in gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Mention
from fascicle.core.spans import Span, overlaps
from fascicle.core.type_names import read_vocabulary
from fascicle.knowledge.keys.case import CasePolicy, fits
from fascicle.knowledge.keys.key import key
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.portions import portions
from fascicle.knowledge.recognising import PackRecogniser
from fascicle.knowledge.sources.curies import curie as curie_of
from fascicle.settings.recognition import RecognitionSettings

LEVELS: Final = (CasePolicy.any, CasePolicy.initial, CasePolicy.exact)  # those that a rule can give
_PORTION: Final = 1 << 18  # characters of text that are searched together
_REMEMBERED: Final = 1 << 15  # spellings whose names are kept at hand
_SOURCE: Final = "pack"


class NameOfType(NamedTuple):
    """What is proposed about: a name as the sources write it, and a type."""

    surface: str
    type: str


@dataclass(kw_only=True)
class Counts:
    """Where a name was found. Lists have a place for each of `LEVELS`: the strictest that what was found fits.

    Attributes:
        right: places in gold that are a mention of this type.
        wrong: places in gold that share no character with a mention of this type.
        near: other places in gold, which share some.
        raw: places in texts without gold.
        lower: of these, those without a capital.
        score: the highest score of a mention.
        concepts: CURIE -> places in gold that are right and linked to it alone.
    """

    right: list[int] = field(default_factory=lambda: [0] * len(LEVELS))
    wrong: list[int] = field(default_factory=lambda: [0] * len(LEVELS))
    near: int = 0
    raw: list[int] = field(default_factory=lambda: [0] * len(LEVELS))
    lower: int = 0
    score: float = 0.0
    concepts: Counter[str] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        """Takes what was counted elsewhere."""
        for name in ("right", "wrong", "raw"):
            own = getattr(self, name)
            own[:] = [a + b for a, b in zip(own, getattr(other, name), strict=True)]
        self.near += other.near
        self.lower += other.lower
        self.score = max(self.score, other.score)
        self.concepts.update(other.concepts)


class _Found(NamedTuple):
    """A place of a name in a text."""

    document: Document
    mention: Mention
    counts: Counts
    level: int


class Evidence:
    """Counts of all names of a pack that were found, in texts of any size.

    A place counts for each name that explains it: the terms of its key that fit the case, of the type of the mention.
    What the recogniser does not find, such as a name inside a longer one, counts for none. Memory grows with the number
    of names that occur, not with the texts.
    """

    def __init__(self, pack: Pack, *, settings: RecognitionSettings | None = None) -> None:
        """Opens the pack.

        Args:
            pack: whose names are counted.
            settings: of the recogniser.
        """
        self._pack = pack
        self._recogniser = PackRecogniser({_SOURCE: pack}, settings=settings)
        self._explained: dict[str, list[tuple[NameOfType, int]]] = {}
        self._canonical = _canonical_names()
        self.counts: dict[NameOfType, Counts] = {}

    def read_raw(self, documents: Iterable[Document]) -> None:
        """Counts in texts of which nobody says what is right.

        Args:
            documents: read once; their mentions are not looked at.
        """
        for found in self._found(documents, self.counts):
            found.counts.raw[found.level] += 1
            found.counts.lower += _is_lower(found.mention.text_in(found.document.text))

    def read_gold(self, documents: Iterable[Document]) -> frozenset[str]:
        """Counts in one corpus. Of types that its gold does not have, it says nothing.

        Args:
            documents: read once.

        Returns:
            The types of the pack that the gold has, under the names of the pack.
        """
        own: dict[NameOfType, Counts] = {}
        annotated: set[str] = set()
        gold: dict[str, dict[Span, Mention]] = {}
        last: Document | None = None
        for found in self._found(_watched(documents, annotated), own):
            if found.document is not last:
                last, gold = found.document, self._gold(found.document)
            _judge(found, gold.get(self._canonical(found.mention.type), {}))
        marked = set(map(self._canonical, annotated))
        known = frozenset(kind for kind in self._recogniser.types if self._canonical(kind) in marked)
        for name, counts in own.items():
            if name.type in known:
                self.counts.setdefault(name, Counts()).add(counts)
        return known

    def _gold(self, document: Document) -> dict[str, dict[Span, Mention]]:
        """The gold mentions of each type, by their outer range."""
        gold: dict[str, dict[Span, Mention]] = {}
        for mention in document.layer(GOLD):
            gold.setdefault(self._canonical(mention.type), {})[mention.start, mention.end] = mention
        return gold

    def _found(self, documents: Iterable[Document], counts: dict[NameOfType, Counts]) -> Iterator[_Found]:
        for chunk in portions(documents, characters=_PORTION):
            for document, patch in zip(chunk, self._recogniser.predict(chunk), strict=True):
                for mention in patch.add:
                    for name, level in self._names(mention.text_in(document.text)):
                        if name.type == mention.type:
                            of_name = counts.setdefault(name, Counts())
                            of_name.score = max(of_name.score, mention.score or 0.0)
                            yield _Found(document, mention, of_name, level)

    def _names(self, text: str) -> list[tuple[NameOfType, int]]:
        """The names that may be meant by what stands in a text, and the strictest policy that it fits of each."""
        known = self._explained.get(text)
        if known is None:
            if len(self._explained) >= _REMEMBERED:
                self._explained.clear()
            known = self._explained[text] = list(dict.fromkeys(self._explain(text)))
        return known

    def _explain(self, text: str) -> Iterator[tuple[NameOfType, int]]:
        pack = self._pack
        for row in pack.rows([key(text, 2)])[1].tolist():
            term = pack.term(pack.active, row)
            if not term.off and fits(text, term.surface, term.case):
                kind = pack.types[int(pack.type_rows[int(pack.active.concept[row])])]
                level = max(policy for policy in LEVELS if fits(text, term.surface, policy))
                yield NameOfType(term.surface, kind), level


def _watched(documents: Iterable[Document], annotated: set[str]) -> Iterator[Document]:
    """The same documents; notes which types their gold has."""
    for document in documents:
        annotated.update(mention.type for mention in document.layer(GOLD))
        yield document


def _judge(found: _Found, gold: Mapping[Span, Mention]) -> None:
    mention, counts = found.mention, found.counts
    place = mention.start, mention.end
    same = gold.get(place)
    if same is not None and len(same.spans) == 1:
        counts.right[found.level] += 1
        if len(same.links) == 1:
            link = same.links[0]
            counts.concepts.update(filter(None, [link.curie or curie_of(link.id, prefix=link.ontology)]))
    elif any(overlaps(place, span) for one in gold.values() for span in one.spans):
        counts.near += 1
    else:
        counts.wrong[found.level] += 1


def _is_lower(text: str) -> bool:
    return text == text.lower() and any(map(str.isalpha, text))


def _canonical_names() -> Callable[[str], str]:
    """What a name of a type means here; a name that is unknown, or may mean several, is itself."""
    vocabulary = read_vocabulary()

    @cache
    def canonical(name: str) -> str:
        found = vocabulary.candidates(name)
        return found[0] if len(found) == 1 else name

    return canonical
