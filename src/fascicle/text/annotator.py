"""Base class of all predictors, and their output as tags of words.

The base class adds streams, texts, and the sentences and words of a text to ``predict``. Tags of
words, hard or as probabilities, are the form in which any predictor can be the teacher of another
one.

A predictor that returns only mentions gives, for a mention with the score q, the probability q to B
of its type for the first word, and q to I for each other word (IO: for all words, to I).
*tinybern2-kazu* §3 derives soft labels from BERN2 in this way, whose output has one number for each
mention.

Shapes: n words, K types, p tags of a type (BIO: B and I; IO: only I); columns are in the order of
``TagScheme.labels`` without O.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import Literal, Self, cast, overload

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints, int_array
from fascicle.core.document import Document, Mention, Patch, TextInput, to_document
from fascicle.core.progress import track
from fascicle.core.stream import annotate, stream
from fascicle.core.tags import SCHEMES, TagScheme
from fascicle.errors import InputError, UsageError
from fascicle.settings.choices import Composition
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.segment import all_sentences, segmenter
from fascicle.text.tracing import Trace, trace


class Annotator(ABC):
    """Base class of predictors of mentions, for documents, streams and texts; also usable as a
    step of a pipeline.
    """

    needs: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset({"mentions"})
    drops: frozenset[str] = frozenset()
    keeps_links: bool = False  # beside another predictor, its links stay whatever the ontology
    own_lists: tuple[tuple[str, Annotator], ...] = ()  # path -> what finds its names
    made_of: Composition | None = None  # what `fascicle.load` opened it from
    # function of `fascicle.loading` that opens it in another process, and its arguments
    reopening: tuple[Callable[..., Annotator], tuple[bytes]] | None = None

    def __repr__(self) -> str:
        """Returns the name, the types, and the kind of predictor."""
        return f"<{type(self).__name__} {self.name}: {', '.join(self.types)}; {self.kind}>"

    def __reduce__(self) -> tuple[Callable[..., Annotator], tuple[bytes]]:
        """Tells pickle how to open it again; the weights stay in their files.

        Raises:
            UsageError: a predictor that `fascicle.load` did not open.
        """
        if self.reopening is None:
            raise UsageError(
                f"{self.name} was not opened by fascicle.load, so it cannot be sent to another "
                "process; open it there"
            )
        return self.reopening

    def __copy__(self) -> Self:
        """Returns a predictor that shares all its parts with this one."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __str__(self) -> str:
        """Returns the name and the parts, in the order in which they work."""
        return f"<{self.name}: {', '.join(part.part for part in self.parts)}>"

    @property
    def part(self) -> str:
        """What it does as the outermost of its `parts`, in a few words."""
        return "recognise"

    @property
    def parts(self) -> tuple[Annotator, ...]:
        """The predictors that it is made of, each around the one before, with itself as the
        last.
        """
        return (self,)

    def reason_to_drop(self, mention: Mention, kept: Sequence[Mention]) -> str:
        """Returns why it leaves out a mention that the part before it found; empty if unknown.

        Args:
            mention: that it leaves out.
            kept: its own answer.
        """
        return ""

    def explain_relations(self, document: Document) -> Sequence[str]:
        """Returns a line for each relation that it finds itself, with its evidence.

        Args:
            document: as it is printed.
        """
        return ()

    def trace(self, text: TextInput) -> Trace:
        """Returns what each of the `parts` added, changed or dropped in a text.

        Args:
            text: a text, a pair ``(id, text)``, or a document.
        """
        return trace(self.parts, to_document(text, 0))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes it as a pipeline, which ``run``, ``serve``, ``label`` and ``evaluate`` take.

        Args:
            path: of the new file, which ends in ``.toml``.
            overwrite: replace such a file.

        Raises:
            UsageError: a predictor that `fascicle.load` did not open, or another suffix.
            OutputError: the file exists, or cannot be written.
        """
        # late: only a pipeline that is written needs these
        from fascicle.core.files.atomic import open_output
        from fascicle.settings.pipeline import composition_toml

        if self.made_of is None:
            raise UsageError(
                f"{self.name} was not opened by fascicle.load, so no file can describe it; open "
                "the model with its choices by fascicle.load"
            )
        if Path(path).suffix != ".toml":
            raise UsageError(f"a pipeline is a .toml file, and {os.fspath(path)} is none")
        content = composition_toml(self.made_of, segmenter=self.segmenter)
        with open_output(path, overwrite=overwrite) as file:
            file.write(content.encode())

    @property
    def kind(self) -> str:
        """Kind of predictor, in a few words."""
        return "predictor"

    @property
    @abstractmethod
    def name(self) -> str:
        """Name that its mentions have as their source."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of its mentions: usually only its name."""
        return (self.name,)

    @property
    @abstractmethod
    def types(self) -> tuple[str, ...]:
        """Entity types that it finds."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The types, under the name that spaCy has for them."""
        return self.types

    @property
    def apart(self) -> tuple[str, ...]:
        """Types of `types` that are returned only on request."""
        return ()

    @property
    def links(self) -> bool:
        """True if it links what it finds itself; of one with another beside it, without what
        that one finds.
        """
        return "links" in self.gives

    @property
    def free_linker(self) -> str:
        """Name of the part whose links no choice of an ontology can change; empty if there is none,
        or if links are only those of `keeps_links`.
        """
        return self.name if "links" in self.gives else ""

    @abstractmethod
    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Predicts mentions and events for each document; see
        `fascicle.core.contracts.Predictor`.
        """

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Calls `predict`, for pipelines."""
        return self.predict(documents)

    @property
    def fingerprint(self) -> str:
        """Identifier of its behaviour in a release: predictors with equal ones give equal
        results for a document.
        """
        return f"{self.name} {' '.join(self.types)}"

    @property
    def segmenter(self) -> str:
        """Name of the segmenter for sentences and words."""
        return ReadingSettings().segmenter

    def predict_and_cut(self, documents: Sequence[Document]) -> list[Patch]:
        """Predicts like `predict`, and adds the sentences and words of each text."""
        rules = segmenter(self.segmenter)
        return [
            msgspec.structs.replace(
                patch, sentences=all_sentences(document, rules), words=rules.words(document.text)
            )
            for document, patch in zip(documents, self.predict(documents), strict=True)
        ]

    @property
    def tag_space(self) -> TagSpace:
        """Tag scheme and meaning of the probabilities of `tag`."""
        return TagSpace()

    def tag(self, documents: Sequence[Document]) -> list[Tagged]:
        """Predicts like `predict`, and adds the probability of each tag of each word.

        Args:
            documents: any number; their own words are used if they have any.

        Returns:
            The tags of each document, in order; for a predictor that returns only mentions, their
            scores, see the module.
        """
        return [
            tag_by_mentions(document, patch, rules=self.segmenter, types=self.types)
            for document, patch in zip(documents, self.predict(documents), strict=True)
        ]

    def stream(
        self,
        documents: Iterable[TextInput],
        *,
        segments: bool = False,
        aside: Callable[[InputError], None] | None = None,
        progress: bool = False,
    ) -> Iterator[Document]:
        """Annotates any number of documents in bounded memory, in order; see
        `fascicle.core.stream.stream`.

        Earlier mentions of this predictor are replaced, and an event counts them; another event
        reports an empty text.

        Args:
            documents: texts, pairs ``(id, text)``, or documents.
            segments: also add the sentences and words of the text, if a document has none.
            aside: function that is called with the error of each document that cannot be annotated,
                before the others continue.
            progress: show the progress: in a notebook a bar, on a terminal a line that changes,
                else a line now and then on standard error.
        """
        predict = self.predict_and_cut if segments else self.predict
        annotated = stream(predict, documents, aside=aside, source=self.sources)
        return (
            track(annotated, of=len(documents) if isinstance(documents, Sized) else None)
            if progress
            else annotated
        )

    @overload
    def __call__(self, given: TextInput, *, progress: bool = False) -> Document: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, given: Iterable[TextInput], *, progress: bool = False) -> list[Document]: ...

    def __call__(
        self, given: TextInput | Iterable[TextInput], *, progress: bool = False
    ) -> Document | list[Document]:
        """Annotates one text, or several.

        Args:
            given: a text, a pair ``(id, text)``, a document, or an object of another tool with a
                ``text``, such as a ``Doc`` of spaCy; or several of these: a list, a column of a
                data frame, or any other iterable.
            progress: as of `stream`.

        Returns:
            The document, or a list of documents; iterating over a document gives its mentions.
        """
        is_single = isinstance(given, str | bytes | tuple) or isinstance(
            getattr(given, "text", None), str
        )
        if is_single or not isinstance(given, Iterable):
            return next(self.stream([cast(TextInput, given)]))
        return list(self.stream(cast(Iterable[TextInput], given), progress=progress))

    @overload
    def annotate(self, texts: Collection[str]) -> list[Document]: ...

    @overload
    def annotate(self, texts: Iterator[str]) -> Iterator[Document]: ...

    def annotate(
        self, texts: Collection[str] | Iterator[str]
    ) -> list[Document] | Iterator[Document]:
        """Annotates one text or several; see `fascicle.core.stream.annotate`."""
        return annotate(self.predict, texts, source=self.sources)


Meaning = Literal["marginal", "sigmoid", "mention-score", "mean", "none"]
"""What the probability of a tag is. ``marginal``: the share of all ways to tag the text, weighted
by the model, that
have this tag there (without a chain the softmax of the word). ``sigmoid``: one number for each tag,
whatever the others have. ``mention-score``: the score of the mention that covers the word.
``mean``: of what several predictors say. ``none``: no probability, and nothing may learn from the
numbers: a dictionary gives 1, a pack its priors."""


class TagSpace(msgspec.Struct, frozen=True, kw_only=True):
    """Tag scheme of a predictor, and the meaning of its probabilities.

    Attributes:
        scheme: ``"BIO"`` or ``"IO"``.
        meaning: meaning of a probability.
    """

    scheme: str = "BIO"
    meaning: Meaning = "mention-score"


class Tagged(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Prediction for one document as mentions and as tags.

    Attributes:
        patch: the patch that ``predict`` returns.
        words: ranges of the words in the text, ``[n, 2]``.
        probabilities: probability of each tag except O, ``[n, p K]``.
    """

    patch: Patch
    words: Ints
    probabilities: Floats


class WordMentions(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Mentions mapped to words.

    Attributes:
        spans: first word, one past the last, and index of the type, ``[m, 3]``; none of one type
            overlap.
        scores: scores of the mentions, ``[m]``; 1 for a mention without one.
        lost: number of mentions that tags of words cannot represent exactly, by reason: keys of
            ``text.targets.REASONS``, and ``"unknown-type"``.
    """

    spans: Ints
    scores: Floats
    lost: Counter[str]

    def table(self, scheme: TagScheme, *, words: int, types: int) -> Floats:
        """Returns the scores as probabilities of tags.

        Args:
            scheme: tag scheme.
            words: number of words.
            types: number of types.

        Returns:
            ``[words, p types]``; 0 outside the mentions.
        """
        table = np.zeros((words, types, scheme.width))
        for (start, end, kind), score in zip(
            self.spans.tolist(), self.scores.tolist(), strict=True
        ):
            table[start:end, kind, -1] = score
            table[start, kind] = score * (np.arange(scheme.width) == 0)
        return table.reshape(words, types * scheme.width)

    def tags(self, scheme: TagScheme, *, words: int, types: int) -> Bools:
        """Returns the hard tags of the words; arguments and shape as for `table`."""
        ones = WordMentions(spans=self.spans, scores=np.ones(len(self.spans)), lost=self.lost)
        return ones.table(scheme, words=words, types=types) > 0


def document_words(document: Document, rules: str) -> Ints:
    """Returns the words of a document, ``[n, 2]``: its own if it has any, else those of a
    segmenter.

    Args:
        document: any document.
        rules: name of the segmenter.

    Raises:
        InputError: this release has no such segmenter.
    """
    words = document.words if document.words is not None else segmenter(rules).words(document.text)
    return int_array(words).reshape(-1, 2)


def map_to_words(mentions: Sequence[Mention], words: Ints, *, types: Sequence[str]) -> WordMentions:
    """Maps mentions to words; of two overlapping ones of one type the higher score wins, then the
    longer.

    Args:
        mentions: mentions of one document.
        words: ranges of the words, ``[n, 2]``, sorted and disjoint.
        types: names of the types, in their order.
    """
    numbers = {name: number for number, name in enumerate(types)}
    skipped: Counter[str] = Counter()
    occupied = np.zeros((len(types), len(words)), dtype=bool)
    rows: list[tuple[int, int, int, float]] = []
    for mention in sorted(mentions, key=lambda mention: (*mention.rank, mention.type)):
        start = int(np.searchsorted(words[:, 1], mention.start, side="right"))
        end = int(np.searchsorted(words[:, 0], mention.end, side="left"))
        kind = numbers.get(mention.type)
        if kind is None:
            skipped["unknown-type"] += 1
            continue
        if reason := _refused(mention, occupied[kind, start:end]):
            skipped[reason] += 1
            continue
        borders = (words[start, 0], words[end - 1, 1])
        skipped["inside-word"] += borders != (mention.start, mention.end)
        occupied[kind, start:end] = True
        rows.append((start, end, kind, 1.0 if mention.score is None else mention.score))
    table = np.array(sorted(rows), dtype=np.float64).reshape(-1, 4)
    return WordMentions(spans=table[:, :3].astype(np.int64), scores=table[:, 3], lost=+skipped)


def _refused(mention: Mention, occupied: Bools) -> str:
    """Returns the reason why a mention cannot be mapped to its words, of which some may be
    taken; empty if it can.
    """
    if len(mention.spans) > 1:
        return "discontinuous"
    if not len(occupied):
        return "unread"
    return "overlapped" if occupied.any() else ""


def unit_rows_to_words(words: Ints, units: Ints, table: Floats) -> Floats:
    """Converts a table of units to a table of words: each word gets the row of the first unit that
    begins in it.

    Args:
        words: ranges of words, ``[n, 2]``.
        units: ranges of words or pieces, ``[u, 2]``, sorted.
        table: one row for each unit, ``[u, c]``.

    Returns:
        ``[n, c]``; 0 for a word in which no unit begins, because the network does not read it.
    """
    rows = np.zeros((len(words), table.shape[1]))
    at = np.searchsorted(units[:, 0], words[:, 0], side="left")
    inside = np.flatnonzero(at < len(units))
    inside = inside[units[at[inside], 0] < words[inside, 1]]
    rows[inside] = table[at[inside]]
    return rows


def bio_to_io(table: Floats) -> Floats:
    """Converts probabilities of BIO tags to IO: a word is inside a mention if it has B or I, which
    exclude each other.

    Args:
        table: ``[n, 2 K]``.

    Returns:
        ``[n, K]``, at most 1.
    """
    inside: Floats = np.minimum(1.0, table.reshape(len(table), table.shape[1] // 2, 2).sum(axis=2))
    return inside


def tag_by_mentions(
    document: Document, patch: Patch, *, rules: str, types: Sequence[str]
) -> Tagged:
    """Converts the mentions of a predictor to BIO tags of words.

    Args:
        document: the document.
        patch: the patch of the predictor.
        rules: name of its segmenter.
        types: its types.
    """
    words = document_words(document, rules)
    mapped = map_to_words(patch.add, words, types=types)
    return Tagged(
        patch=patch,
        words=words,
        probabilities=mapped.table(SCHEMES["BIO"], words=len(words), types=len(types)),
    )
