"""What all predictors of Fascicle share beside ``predict``: streams, texts, and the sentences and words of a text.

Tags of words, hard and as probabilities: the form in which any predictor can teach another one.

Of a mention with the score q that is all a predictor says, the first word has the probability q for B of its type, and
each other word q for I (IO: all words, for I). *tinybern2-kazu* §3 makes its soft labels of BERN2 in this way, whose
output has one number for each mention.

Shapes: n words, K types, p tags of a type (BIO: B and I; IO: I alone); columns are in the order of
``TagScheme.labels`` without O.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Literal, cast, overload

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.document import Document, Mention, Patch
from fascicle.core.progress import watched
from fascicle.core.stream import Given, annotate, stream
from fascicle.core.tags import SCHEMES, TagScheme
from fascicle.errors import InputError
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.segment import segmenter


class Annotator(ABC):
    """A predictor of mentions, over documents, streams and texts; it is a step of a pipeline too."""

    needs: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset({"mentions"})
    drops: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """The name, the types, and what kind of predictor it is."""
        return f"<{type(self).__name__} {self.name}: {', '.join(self.types)}; {self.kind}>"

    @property
    def kind(self) -> str:
        """How it works, in a few words."""
        return "predictor"

    @property
    @abstractmethod
    def name(self) -> str:
        """The source of its mentions."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Every source of its mentions: most have one, their name."""
        return (self.name,)

    @property
    @abstractmethod
    def types(self) -> tuple[str, ...]:
        """What it looks for."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The types, under the name that spaCy has for them."""
        return self.types

    @property
    def apart(self) -> tuple[str, ...]:
        """Types of `types` that are given out only when they are asked for."""
        return ()

    @abstractmethod
    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document; see `fascicle.core.contracts.Predictor`."""

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """As `predict`, for pipelines."""
        return self.predict(documents)

    @property
    def fingerprint(self) -> str:
        """Decides, with the release, what this predictor says of a document: equal ones give equal answers."""
        return f"{self.name} {' '.join(self.types)}"

    @property
    def segmenter(self) -> str:
        """Name of what cuts texts into sentences and words."""
        return ReadingSettings().segmenter

    def predict_and_cut(self, documents: Sequence[Document]) -> list[Patch]:
        """As `predict`, with the sentences and words that each text is cut into."""
        rules = segmenter(self.segmenter)
        return [
            msgspec.structs.replace(patch, sentences=rules.sentences(document.text), words=rules.words(document.text))
            for document, patch in zip(documents, self.predict(documents), strict=True)
        ]

    @property
    def tag_space(self) -> TagSpace:
        """In which tags `tag` speaks."""
        return TagSpace()

    def tag(self, documents: Sequence[Document]) -> list[Tagged]:
        """As `predict`, and how probable each tag of each word is.

        Args:
            documents: words are taken from them where given.

        Returns:
            What is said of each document, in order. A predictor of mentions alone says its scores, see `Tagged`.
        """
        return [
            tagged_by_mentions(document, patch, rules=self.segmenter, types=self.types)
            for document, patch in zip(documents, self.predict(documents), strict=True)
        ]

    def stream(
        self,
        documents: Iterable[Given],
        *,
        segments: bool = False,
        aside: Callable[[InputError], None] | None = None,
        progress: bool = False,
    ) -> Iterator[Document]:
        """Annotates any number of documents in bounded memory, in order; see `fascicle.core.stream.stream`.

        Earlier mentions of this predictor give way, and an event says how many; another one says that a text is empty.

        Args:
            documents: texts, pairs ``(id, text)``, or documents.
            segments: also give the sentences and words that the text is cut into, where a document has none.
            aside: is called with an error that names a document which cannot be annotated, and the others go on.
            progress: show how far it is: in a notebook a bar, on a terminal a line that changes, else a line now and
                then on standard error.
        """
        predict = self.predict_and_cut if segments else self.predict
        found = stream(predict, documents, aside=aside, source=self.sources)
        return watched(found, of=len(documents) if isinstance(documents, Sized) else None) if progress else found

    @overload
    def __call__(self, given: Given, *, progress: bool = False) -> Document: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, given: Iterable[Given], *, progress: bool = False) -> list[Document]: ...

    def __call__(self, given: Given | Iterable[Given], *, progress: bool = False) -> Document | list[Document]:
        """Annotates one text, or several.

        Args:
            given: a text, a pair ``(id, text)``, a document, or an object of another tool with a ``text``, such as a
                ``Doc`` of spaCy; or several of these: a list, a column of a data frame, or any other iterable.
            progress: as of `stream`.

        Returns:
            The document, or a list of documents; iterating over a document gives its mentions.
        """
        one = isinstance(given, str | bytes | tuple) or isinstance(getattr(given, "text", None), str)
        if one or not isinstance(given, Iterable):
            return next(self.stream([cast(Given, given)]))
        return list(self.stream(cast(Iterable[Given], given), progress=progress))

    @overload
    def annotate(self, texts: Collection[str]) -> list[Document]: ...

    @overload
    def annotate(self, texts: Iterator[str]) -> Iterator[Document]: ...

    def annotate(self, texts: Collection[str] | Iterator[str]) -> list[Document] | Iterator[Document]:
        """Annotates one text or several; see `fascicle.core.stream.annotate`."""
        return annotate(self.predict, texts, source=self.sources)


Meaning = Literal["marginal", "sigmoid", "mention-score", "mean", "none"]
"""What the probability of a tag is. ``marginal``: the share of all ways to tag the text, weighted by the model, that
have this tag there (without a chain the softmax of the word). ``sigmoid``: one number for each tag, whatever the others
have. ``mention-score``: the score of the mention that covers the word. ``mean``: of what several predictors say.
``none``: no probability, and nothing may learn from the numbers: a dictionary gives 1, a pack its priors."""


@dataclass(frozen=True, kw_only=True)
class TagSpace:
    """In which tags a predictor speaks of words, and what its numbers mean.

    Attributes:
        scheme: ``"BIO"`` or ``"IO"``.
        meaning: of a probability.
    """

    scheme: str = "BIO"
    meaning: Meaning = "mention-score"


@dataclass(frozen=True, kw_only=True, eq=False)
class Tagged:
    """What a predictor says of one document.

    Attributes:
        patch: its answer, as ``predict`` gives it.
        words: ranges in the text, ``[n, 2]``.
        probabilities: of each tag but O, ``[n, p K]``.
    """

    patch: Patch
    words: Ints
    probabilities: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """Mentions on words.

    Attributes:
        spans: first word, one past the last, and index of the type, ``[m, 3]``; none of one type overlap.
        scores: of the mentions, ``[m]``; 1 where a mention has none.
        lost: mentions that words and tags cannot hold as they are, by reason: keys of
            ``text.targets.REASONS``, and ``"unknown-type"``.
    """

    spans: Ints
    scores: Floats
    lost: Counter[str]

    def table(self, scheme: TagScheme, *, words: int, types: int) -> Floats:
        """The scores as probabilities of tags.

        Args:
            scheme: of the tags.
            words: how many there are.
            types: how many there are.

        Returns:
            ``[words, p types]``; 0 outside the mentions.
        """
        found = np.zeros((words, types, scheme.width))
        for (start, end, kind), score in zip(self.spans.tolist(), self.scores.tolist(), strict=True):
            found[start:end, kind, -1] = score
            found[start, kind] = score * (np.arange(scheme.width) == 0)
        return found.reshape(words, types * scheme.width)

    def tags(self, scheme: TagScheme, *, words: int, types: int) -> Bools:
        """The hard tags of the words; arguments and shape as of `table`."""
        ones = Placed(spans=self.spans, scores=np.ones(len(self.spans)), lost=self.lost)
        return ones.table(scheme, words=words, types=types) > 0


def words_of(document: Document, rules: str) -> Ints:
    """The words of a document, ``[n, 2]``: its own where it marks them, else those of a segmenter.

    Args:
        document: any.
        rules: name of the segmenter.

    Raises:
        InputError: no such segmenter in this release.
    """
    found = document.words if document.words is not None else segmenter(rules).words(document.text)
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def placed(mentions: Sequence[Mention], words: Ints, *, types: Sequence[str]) -> Placed:
    """Puts mentions on words; of two of one type that overlap the one with the better score stays, then the longer.

    Args:
        mentions: of one document.
        words: ``[n, 2]``, sorted and disjoint.
        types: names of the types, in their order.
    """
    index = {name: at for at, name in enumerate(types)}
    lost: Counter[str] = Counter()
    taken = np.zeros((len(types), len(words)), dtype=bool)
    rows: list[tuple[int, int, int, float]] = []
    for mention in sorted(mentions, key=lambda one: (*one.rank, one.type)):
        start = int(np.searchsorted(words[:, 1], mention.start, side="right"))
        end = int(np.searchsorted(words[:, 0], mention.end, side="left"))
        kind = index.get(mention.type, -1)
        if reason := _refused(mention, taken[kind, start:end]) if kind >= 0 else "unknown-type":
            lost[reason] += 1
            continue
        lost["inside-word"] += (words[start, 0], words[end - 1, 1]) != (mention.start, mention.end)
        taken[kind, start:end] = True
        rows.append((start, end, kind, 1.0 if mention.score is None else mention.score))
    rows.sort()
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return Placed(spans=table[:, :3].astype(np.int64), scores=table[:, 3], lost=+lost)


def _refused(mention: Mention, taken: Bools) -> str:
    """Why a mention cannot be put on its words, of which some may be taken; empty if it can."""
    if len(mention.spans) > 1:
        return "discontinuous"
    if not len(taken):
        return "unread"
    return "overlapped" if taken.any() else ""


def at_words(words: Ints, units: Ints, table: Floats) -> Floats:
    """What is said of units as said of words: each word has the row of the first unit that begins in it.

    Args:
        words: ``[n, 2]``.
        units: ranges of words or pieces, ``[u, 2]``, sorted.
        table: one row for each unit, ``[u, c]``.

    Returns:
        ``[n, c]``; 0 for a word in which no unit begins, because the network does not read it.
    """
    found = np.zeros((len(words), table.shape[1]))
    at = np.searchsorted(units[:, 0], words[:, 0], side="left")
    read = np.flatnonzero(at < len(units))
    read = read[units[at[read], 0] < words[read, 1]]
    found[read] = table[at[read]]
    return found


def without_b(table: Floats) -> Floats:
    """Probabilities of BIO tags as those of IO: a word is inside a mention if it has B or I, which exclude each other.

    Args:
        table: ``[n, 2 K]``.

    Returns:
        ``[n, K]``, at most 1.
    """
    inside: Floats = np.minimum(1.0, table.reshape(len(table), table.shape[1] // 2, 2).sum(axis=2))
    return inside


def tagged_by_mentions(document: Document, patch: Patch, *, rules: str, types: Sequence[str]) -> Tagged:
    """What a predictor that gives nothing but mentions says of words, in BIO.

    Args:
        document: that it read.
        patch: its answer.
        rules: name of its segmenter.
        types: that it looks for.
    """
    words = words_of(document, rules)
    found = placed(patch.add, words, types=types)
    return Tagged(
        patch=patch, words=words, probabilities=found.table(SCHEMES["BIO"], words=len(words), types=len(types))
    )
