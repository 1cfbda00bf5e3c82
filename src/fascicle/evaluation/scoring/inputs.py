"""Input of scoring: one layer of mentions per document, over texts that are known to be the
same.
"""

from __future__ import annotations

import functools
import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import msgspec

from fascicle.core.arguments import check_argument, validate_documents
from fascicle.core.document import GOLD, Document, Mention, MentionsById, unique
from fascicle.core.mention import Fragments, Span
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.evaluation.scoring.rules import RuleName
from fascicle.evaluation.scoring.scores import Scores, score, score_rules


def layers(documents: Iterable[Document], *, source: str = GOLD) -> dict[str, tuple[Mention, ...]]:
    """Returns the mentions of one source, document by document.

    Args:
        documents: read once; ids must be unique.
        source: who said it, e.g. ``"gold"``.

    Raises:
        InputError: two documents with one id.
    """
    mentions_by_document: dict[str, tuple[Mention, ...]] = {}
    check_argument(source, str, name="source", means="a str")
    for document in validate_documents(documents):
        if document.id in mentions_by_document:
            raise InputError(
                f"the document id {document.id!r} occurs twice; give each document an id of its own"
            )
        mentions_by_document[document.id] = document.layer(source)
    return mentions_by_document


def only_source(sources: Iterable[str]) -> str:
    """Returns the one source besides the gold.

    Args:
        sources: of all mentions of some documents.

    Raises:
        InputError: there is none, or there are several and the caller must choose.
    """
    names = sorted({*sources} - {GOLD})
    if len(names) == 1:
        return names[0]
    if not names:
        raise InputError(
            "the documents hold no mention besides the gold; give documents that a system has "
            "annotated"
        )
    raise InputError(
        f"the documents hold mentions of {', '.join(names)}; choose one of these with source"
    )


def check_texts(
    documents: Iterable[Document],
    hashes: Mapping[str, str | None],
    *,
    texts: Callable[[], Mapping[str, str]] | None = None,
) -> None:
    """Refuses predictions that were made on other texts than the gold: their offsets would mean
    nothing.

    Args:
        documents: the gold.
        hashes: document id -> sha256 of the UTF-8 text that was predicted on, in hexadecimal;
            ``None`` if unknown.
        texts: gives document id -> text, where texts are known, to say where the first one differs.

    Raises:
        InputError: at least one hash belongs to another text.
    """
    different = []
    for document in documents:
        expected = hashes.get(document.id)
        if (
            expected is not None
            and expected.lower() != hashlib.sha256(document.text.encode("utf-8")).hexdigest()
        ):
            different.append(document)
    if different:
        names = ", ".join(repr(document.id) for document in different[:5])
        gold, other = different[0].text, texts().get(different[0].id) if texts is not None else None
        where = ""
        if other is not None:
            at = _first_difference(gold, other)
            theirs, ours = other[at : at + 20], gold[at : at + 20]
            where = f", the first from character {at:,} on ({theirs!r} where the gold has {ours!r})"
        raise InputError(
            "the predictions were made on another text than the gold in "
            f"{plural(len(different), 'document')} ({names}"
            f"{', ...' if len(different) > 5 else ''})"
            f"{where}, so their offsets cannot be compared; predict on the texts of this gold file"
        )


def check_offsets(documents: Iterable[Document], predicted: MentionsById) -> None:
    """Raises if predictions reach beyond the end of a text: they were made on another text.

    Args:
        documents: the gold.
        predicted: document id -> mentions.

    Raises:
        InputError: at least one mention ends behind the text of its document.
    """
    beyond = [
        (document, mention)
        for document in documents
        for mention in predicted.get(document.id, ())
        if mention.end > len(document.text)
    ]
    if beyond:
        document, mention = beyond[0]
        raise InputError(
            f"{len(beyond):,} of the predicted mentions end behind the text of their document, the "
            f"first is the {mention.type} that ends at {mention.end:,} in {document.id!r}, which "
            f"has {len(document.text):,} characters; give predictions on the texts of this gold "
            "file, with offsets in characters"
        )


def text_unit(documents: Iterable[Document]) -> str:
    """Returns ``"sentence"`` if the source marks every document as one sentence, else
    ``"document"``.
    """
    sentences = [document.sentences for document in documents]
    return (
        "sentence"
        if sentences and all(ranges is not None and len(ranges) <= 1 for ranges in sentences)
        else "document"
    )


def resampling_unit(documents: Sequence[Document]) -> str:
    """Returns the unit to draw: ``"sentence"`` if documents are sentences, or for one document
    with sentences.
    """
    single = len(documents) == 1 and documents[0].sentences
    return "sentence" if single else text_unit(documents)


def by_sentence(
    documents: Iterable[Document],
    *,
    source: str = GOLD,
    predicted: MentionsById | None = None,
) -> dict[str, tuple[Mention, ...]]:
    """Returns the mentions of one source, sentence by sentence: the unit to resample where
    documents are unknown.

    A mention belongs to the sentence in which it starts. Documents without sentences stay whole.

    Args:
        documents: with distinct ids.
        source: whose mentions.
        predicted: document id -> mentions, in place of those that the documents hold.

    Returns:
        ``id/1``, ``id/2`` ... -> the mentions of that sentence.
    """
    mentions_by_sentence: dict[str, tuple[Mention, ...]] = {}
    for document in documents:
        starts = [start for start, _ in document.sentences or ((0, 0),)]
        parts: list[list[Mention]] = [[] for _ in starts]
        for mention in (
            document.layer(source) if predicted is None else predicted.get(document.id, ())
        ):
            parts[max(0, bisect_right(starts, mention.start) - 1)].append(mention)
        mentions_by_sentence.update(
            (f"{document.id}/{number}", tuple(part)) for number, part in enumerate(parts, start=1)
        )
    return mentions_by_sentence


@dataclass(frozen=True, kw_only=True)
class ScoredSystem:
    """Predictions of one system, and their scores.

    Attributes:
        name: for tables.
        predicted: document id -> its mentions, with an entry for every gold document.
        scores: rule -> scores.
        drawn: strict scores by what a bootstrap draws, see ``score_by_unit``.
    """

    name: str
    predicted: MentionsById = field(repr=False)
    scores: Mapping[RuleName, Scores] = field(repr=False)
    drawn: Scores = field(repr=False)

    @property
    def strict(self) -> Scores:
        """Scores under the strict rule."""
        return self.scores["strict"]

    @property
    def others(self) -> tuple[Scores, ...]:
        """Scores under the other rules."""
        return tuple(scores for rule, scores in self.scores.items() if rule != "strict")


def score_system(
    name: str,
    documents: Sequence[Document],
    *,
    predicted: MentionsById,
    allow_missing: bool = False,
) -> ScoredSystem:
    """Scores one system under every rule.

    Args:
        name: for tables.
        documents: with gold mentions.
        predicted: document id -> its mentions.
        allow_missing: see ``scores.score``.

    Raises:
        InputError: see ``scores.score``.
    """
    gold = layers(documents)
    scores = score_rules(gold, predicted, allow_missing=allow_missing)
    complete = {key: predicted.get(key, ()) for key in gold}
    return ScoredSystem(
        name=name,
        predicted=complete,
        scores=scores,
        drawn=score_by_unit(documents, complete, scores["strict"]),
    )


def score_by_unit(documents: Sequence[Document], predicted: MentionsById, whole: Scores) -> Scores:
    """Strict scores by document, or by sentence if a single document has them marked: what
    intervals come from.

    Args:
        documents: with gold mentions.
        predicted: document id -> mentions.
        whole: the scores by document.

    Returns:
        Scores with the same sums.
    """
    if len(documents) != 1 or not documents[0].sentences:
        return whole
    return score(
        by_sentence(documents),
        by_sentence(documents, predicted=predicted),
        zero_rule=whole.zero_rule,
    )


_SHOWN = 30  # characters on each side of a difference


@dataclass(frozen=True, kw_only=True)
class _Stream:
    """The texts of several documents, one after the other, without white space.

    Attributes:
        ids: of the documents.
        texts: of the documents.
        starts: where in the stream each document begins; then the length of the stream.
        characters: all of them.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...] = field(repr=False)
    starts: tuple[int, ...] = field(repr=False)
    characters: str = field(repr=False)

    @staticmethod
    def of(texts: Mapping[str, str]) -> _Stream:
        """Joins texts in their order."""
        bare = ["".join(text.split()) for text in texts.values()]
        starts = tuple(accumulate(map(len, bare), initial=0))
        return _Stream(
            ids=tuple(texts), texts=tuple(texts.values()), starts=starts, characters="".join(bare)
        )

    def document_at(self, place: int) -> int:
        """Returns the number of the document that holds a character of the stream."""
        return bisect_right(self.starts, place) - 1

    def quote(self, place: int) -> str:
        """Quotes the text at a place, with its document, for a sentence."""
        if place >= len(self.characters):
            return "nothing more"
        number = self.document_at(place)
        at = _visible(self.texts[number])[place - self.starts[number]]
        text = self.texts[number][at : at + _SHOWN]
        return f"{text!r} at {at:,} of document {self.ids[number]!r}"


def _home_of(
    mention: Mention, identifier: str, ranges: Sequence[Span], ours: _Stream, names: tuple[str, str]
) -> int:
    """Returns the number of the gold document that contains a mention of another document.

    Raises:
        InputError: it reaches into the next one.
    """
    home = ours.document_at(ranges[0][0])
    if ranges[-1][1] > ours.starts[home + 1]:
        raise InputError(_across(mention, identifier, ours.ids[home], names))
    return home


def match_by_order(
    gold: Mapping[str, str],
    texts: Mapping[str, str],
    mentions: MentionsById,
    *,
    names: tuple[str, str] = ("the gold", "the predictions"),
) -> dict[str, tuple[Mention, ...]]:
    """Moves mentions onto the documents of another file with the same words in the same order.

    This is for files whose documents have no names. Two such files are about the same texts if
    their characters are the same, white space left out: a column file joins words by blanks,
    whatever stood between them. So documents need not be cut alike, nor texts into words.

    Args:
        gold: document id -> text, in the order of the file.
        texts: the same of the file with the mentions; ids and cuts between documents may be others.
        mentions: document id -> mentions, with offsets into ``texts``.
        names: of the two files, for errors.

    Returns:
        For every document of the gold the mentions, with offsets (code points) into its text.

    Raises:
        InputError: the words differ, or a mention reaches from one document of the gold into the
            next.
    """
    ours, theirs = _Stream.of(gold), _Stream.of(texts)
    if ours.characters != theirs.characters:
        raise InputError(_difference(ours, theirs, names))
    moved: dict[str, list[Mention]] = {identifier: [] for identifier in gold}
    visible = functools.cache(lambda number: _visible(ours.texts[number]))
    for identifier, mention, ranges in _mentions_in_stream(theirs, mentions):
        home = _home_of(mention, identifier, ranges, ours, names)
        spans = _out_of_stream(ranges, visible(home), ours.starts[home])
        moved[ours.ids[home]].append(msgspec.structs.replace(mention, spans=spans))
    return {identifier: unique(of_document)[0] for identifier, of_document in moved.items()}


def _mentions_in_stream(
    stream: _Stream, mentions: MentionsById
) -> Iterator[tuple[str, Mention, list[tuple[int, int]]]]:
    """Yields document, mention and ranges in the stream; white space alone, which no file of words
    can hold, is left out.
    """
    for number, identifier in enumerate(stream.ids):
        of_document = mentions.get(identifier, ())
        places = _visible(stream.texts[number]) if of_document else []
        for mention in of_document:
            ranges = list(_in_stream(mention.spans, places, stream.starts[number]))
            if ranges:
                yield identifier, mention, ranges


def _visible(text: str) -> list[int]:
    """Returns the positions of the characters of a text that are not white space."""
    return [at for at, character in enumerate(text) if not character.isspace()]


def _in_stream(
    spans: Fragments, places: Sequence[int], start_of_document: int
) -> Iterator[tuple[int, int]]:
    for start, end in spans:
        first, last = bisect_left(places, start), bisect_left(places, end)
        if last > first:
            yield start_of_document + first, start_of_document + last


def _out_of_stream(
    ranges: Iterable[tuple[int, int]], places: Sequence[int], start_of_document: int
) -> Fragments:
    return tuple(
        (places[start - start_of_document], places[end - 1 - start_of_document] + 1)
        for start, end in ranges
    )


def _difference(ours: _Stream, theirs: _Stream, names: tuple[str, str]) -> str:
    place = _first_difference(ours.characters, theirs.characters)
    gold, predictions = names
    counts = [plural(len(stream.ids), "document") for stream in (theirs, ours)]
    return (
        f"the words of {predictions} ({counts[0]}) and {gold} ({counts[1]}) differ, so documents "
        f"cannot be matched by their order: {predictions} has {theirs.quote(place)}, where {gold} "
        f"has {ours.quote(place)}; give both files the same texts in the same order, or the same "
        "document ids"
    )


def _first_difference(first: str, second: str) -> int:
    """Finds by bisection the first place at which two different strings differ."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _across(mention: Mention, theirs: str, ours: str, names: tuple[str, str]) -> str:
    places = ", ".join(f"{start}-{end}" for start, end in mention.spans)
    return (
        f"{names[1]}: the mention of type {mention.type!r} at {places} of document {theirs!r} "
        f"reaches beyond document {ours!r} of {names[0]}; give both files the same documents"
    )


def note_on_gold(documents: Iterable[Document], path: str) -> Iterator[str]:
    """Yields a note if a file that is taken for gold has only mentions of other sources."""
    sources = {mention.source for document in documents for mention in document.mentions}
    if sources and GOLD not in sources:
        advice = "to take them as gold, write them to a format without sources, such as pubtator"
        yield (
            f"{path} has mentions of {', '.join(sorted(sources))}, and none that are gold; {advice}"
        )
