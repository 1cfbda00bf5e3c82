"""Builds documents from what readers find: mentions are checked here, and rejected ones are
reported as events, which ``formats/account.py`` counts and ``Tally`` of ``verbs/console.py``
prints.

Lines or records of one document are put together here, with those among them that cannot be read.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, count
from typing import Any, Final, NamedTuple, TypedDict, TypeVar, Unpack

import msgspec

from fascicle.core.document import Document, Event, Link, Mention, MentionKey
from fascicle.core.effects import make_event
from fascicle.core.mention import Fragments, Span, check_fragments, join_over_blanks
from fascicle.core.tags import TagCensus, decode_tags, tag_layers
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError
from fascicle.formats.concepts import take_concepts
from fascicle.formats.offset_units import (
    AS_STATED,
    AUTO,
    BY_WORDS,
    CODE_POINTS,
    UNIT_NAMES,
    OffsetFit,
    StatedMention,
    conversion,
    convert_spans,
    fit_offsets,
)

_T = TypeVar("_T")
_SENTENCE: Final = 500  # characters of a text whose words share the objects of their ranges
META_LENGTH: Final = 200  # characters of a fact about a document
# strings that tools put between two fragments
_BETWEEN: Final = (" ", "", " ... ", "...", " … ", "…")


class TokenMention(NamedTuple):
    """Mention as half-open ranges of token numbers in the document, with its type and the token
    range it must be in.
    """

    ranges: Sequence[Span]
    type: str
    limits: Span | None = None


class _MentionFacts(TypedDict, total=False):
    """Optional facts about a mention beside its place and type, see `Mention`."""

    links: tuple[Link, ...]
    attributes: tuple[tuple[str, str], ...]
    source: str
    score: float | None


class _Statement(NamedTuple):
    """Mention as a source states it, see `MentionCollector.add`."""

    spans: Fragments
    text: str | None
    type: str
    facts: _MentionFacts
    is_standoff: bool


class MentionCollector:
    """Collector for the mentions of one text; ``events`` reports what was dropped, repaired or
    unusual.

    If mentions do not fit the text, and all offsets in another unit fit it better, they are
    converted (``offsets-moved``).
    """

    def __init__(
        self,
        text: str,
        *,
        step: str,
        unit: str = CODE_POINTS,
        marked: bool = False,
        agrees: Callable[[str, Sequence[Span]], bool] | None = None,
        votes: Counter[str] | None = None,
    ) -> None:
        """Creates a collector without mentions.

        Args:
            text: the text of the document.
            step: name of the reader, for the events.
            unit: of the offsets, one of `UNIT_NAMES`; ``"auto"`` if it is what fits the texts
                beside the mentions, and ``"words"`` if words decide where there are no such texts.
            marked: whether the text has a byte order mark in its file.
            agrees: true if a text beside a mention is the text at its spans; by default if they are
                equal, where fragments may be joined by blanks or dots.
            votes: see `fit_offsets`.
        """
        self._text, self._step, self._unit = text, step, unit
        self._marked, self._votes = marked, votes
        self._agrees = agrees or (lambda beside, spans: is_text_at(spans, text, beside))
        self._may_move = unit != CODE_POINTS and (marked or not text.isascii() or "\r\n" in text)
        self._stated: list[_Statement] = []
        self._mentions: dict[MentionKey, Mention] = {}
        self._keys: list[MentionKey | None] = []
        self.events: list[Event] = []

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Mentions that were kept, in the order of arrival."""
        return tuple(self._mentions.values())

    def add(
        self,
        spans: Iterable[Span],
        kind: str,
        *,
        expected: str | None = None,
        is_standoff: bool = False,
        **facts: Unpack[_MentionFacts],
    ) -> MentionKey | None:
        """Adds one mention, if it lies in the text and was not added before; returns its key, or
        ``None``.

        Args:
            spans: its offsets, as the source gives them, in any order.
            kind: its type.
            expected: the text of the mention, as the source gives it; another text at the offsets
                is reported.
            is_standoff: the source has a fragment for each line of a name; such fragments are
                joined.
            facts: further facts from the source; attributes whose name is a vocabulary become
                links.
        """
        if attributes := facts.get("attributes"):
            facts["links"], facts["attributes"] = take_concepts(facts.get("links", ()), attributes)
        places = tuple(spans)
        if not self._may_move and self._is_plain(places, expected):
            return self.keep(Mention(places, kind, **facts))
        stated = _Statement(places, expected, kind, facts, is_standoff)
        if self._may_move:
            self._stated.append(stated)
        return self._place(stated, places)

    def _is_plain(self, spans: Fragments, expected: str | None) -> bool:
        """True if a mention is one span in the text, and exactly what the source says."""
        if len(spans) != 1:
            return False
        ((start, end),) = spans
        return 0 <= start < end <= len(self._text) and (
            expected is None or self._text[start:end] == expected
        )

    def _place(self, stated: _Statement, spans: Fragments) -> MentionKey | None:
        """Adds a mention at spans; returns its key, or ``None`` if they are not in the text."""
        fragments = spans if len(spans) == 1 else tuple(sorted(spans))
        if not self._inside(fragments):
            self._keys.append(None)
            where = tuple(sorted(stated.spans))
            self.drop(
                f"a mention of type {stated.type!r} at {where} is not in a text of "
                f"{plural(len(self._text), 'character')}"
            )
            return None
        if fragments != spans:
            self._say(
                "fragments-sorted",
                f"the fragments of a mention of type {stated.type!r} are in another order",
            )
        disjoint = join_over_blanks(fragments, self._text) if stated.is_standoff else fragments
        mention = Mention(disjoint, stated.type, **stated.facts)
        if stated.text is not None or len(fragments) > 1:
            self._compare(mention, fragments, stated.text)
        return self.keep(mention)

    def _compare(self, mention: Mention, fragments: Fragments, beside: str | None) -> None:
        """Reports fragments that were joined, and a text that is not that of the source."""
        span = mention.spans[0][0], mention.spans[-1][1]
        if len(mention.spans) < len(fragments):
            message = (
                f"fragments of a mention of type {mention.type!r} with only white space between "
                "them were joined"
            )
            self._say("fragments-joined", message, span=span)
        if beside is not None and not (
            self._agrees(beside, mention.spans) or self._agrees(beside, fragments)
        ):
            message = (
                f"a mention of type {mention.type!r} has other text at its offsets than its source "
                "says; offsets kept"
            )
            self._say("text-mismatch", message, span=span)

    def keep(self, mention: Mention) -> MentionKey:
        """Keeps a mention that was found in the text, or reports that it was added before."""
        key = mention.key
        self._keys.append(key)
        first = self._mentions.setdefault(key, mention)
        if first is not mention:
            message = f"a mention of type {mention.type!r} occurs twice; the first was kept"
            code = "duplicate-mention"
            if first != mention:
                code = "duplicate-mention-differs"
                message += (
                    ", and what the second one says of links, scores or attributes was left out"
                )
            self._say(code, message, span=(mention.start, mention.end))
        return key

    def settle(self) -> list[MentionKey | None]:
        """Converts the offsets if they count another unit; returns the keys of the mentions in the
        order of `add`.

        Without a unit that was named, this needs all mentions; more of them cannot be added later.
        """
        fit = self._fit()
        if not fit.is_sure:
            message = (
                "offsets fit the mentions equally well as code points and as UTF-16 units, since "
                "no text stands beside them; read as code points"
            )
            self.events.append(
                Event(step=self._step, kind="note", code="offsets-unclear", message=message)
            )
        if fit.how:
            message = f"the offsets of this document count {fit.how}; they were moved"
            self._mentions, self._keys = {}, []
            self.events = [make_event("offsets-moved", step=self._step, message=message)]
            if self._unit == BY_WORDS and all(stated.text is None for stated in self._stated):
                message = "no text stands beside the offsets; words decided what they count"
                self._say("offsets-by-words", message)
            for stated in self._stated:
                self._place(stated, convert_spans(stated.spans, fit.convert))
        self._may_move = False
        return self._keys

    def _fit(self) -> OffsetFit:
        if not self._may_move:
            return AS_STATED
        mentions = [StatedMention(stated.spans, stated.text) for stated in self._stated]
        if self._unit == AUTO and all(mention.text is None for mention in mentions):
            return AS_STATED
        if self._unit in (AUTO, BY_WORDS):
            return fit_offsets(
                self._text, mentions, agrees=self._agrees, has_bom=self._marked, votes=self._votes
            )
        convert = conversion(self._text, self._unit)
        is_same = all(
            convert_spans(mention.spans, convert) == mention.spans for mention in mentions
        )
        return AS_STATED if is_same else OffsetFit(UNIT_NAMES[self._unit], convert)

    def document(
        self,
        identifier: str,
        *,
        at: str = "",
        before: Iterable[Event] = (),
        events: Iterable[Event] = (),
        **parts: Any,
    ) -> Document:
        """Makes the document of the text, with the mentions that were kept.

        Args:
            identifier: id of the document.
            at: place for the message of an error.
            before: events before those of the mentions.
            events: events after those.
            **parts: further parts of the document.

        Raises:
            FormatError: there is no such document, and ``at`` is given.
            ValueError: there is no such document.
        """
        self.settle()
        events = (*before, *self.events, *events)
        try:
            return Document(
                id=identifier, text=self._text, mentions=self.mentions, events=events, **parts
            )
        except ValueError as error:
            if at:
                raise FormatError(str(error), at=at) from None
            raise

    def drop(self, message: str) -> None:
        """Reports a mention that is dropped because its offsets are wrong."""
        self._say("offset-outside", message)

    def _say(self, code: str, message: str, *, span: Span | None = None) -> None:
        self.events.append(make_event(code, step=self._step, message=message, span=span))

    def _inside(self, fragments: Fragments) -> bool:
        if len(fragments) == 1:
            ((start, end),) = fragments
            return 0 <= start < end <= len(self._text)
        try:
            check_fragments(fragments)
        except ValueError:
            return False
        return fragments[-1][1] <= len(self._text)


def is_text_at(spans: Sequence[Span], text: str, expected: str) -> bool:
    """True if a text is that at the spans of a mention; fragments may be joined in any of the
    usual ways.
    """
    if len(spans) == 1:
        ((start, end),) = spans
        return end - start == len(expected) and text.startswith(expected, start)
    if sum(end - start for start, end in spans) > len(expected):
        return False  # and none of it is copied
    fragments = [text[start:end] for start, end in spans]
    return any(between.join(fragments) == expected for between in _BETWEEN)


def short_facts(values: Mapping[str, Any], *, leave: Collection[str]) -> dict[str, str]:
    """Returns numbers and short strings as facts about a document; a longer string is text, not a
    fact.

    Args:
        values: the fields of a record.
        leave: names of fields that are left out.
    """
    facts = {
        key: str(value)
        for key, value in values.items()
        if key not in leave and isinstance(value, str | int | float)
    }
    return {key: text for key, text in facts.items() if len(text) <= META_LENGTH}


def text_facts(values: Mapping[str, Any]) -> dict[str, str]:
    """Returns the values of a record as texts, in JSON if they are of other types; without those
    that are ``null``.
    """
    for value in values.values():
        if not isinstance(value, str):
            break
    else:
        return dict(values)
    return {
        key: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for key, value in values.items()
        if value is not None
    }


def read_tags(tags: Sequence[str], before: int, census: TagCensus) -> Iterator[TokenMention]:
    """Yields the mentions of a sentence by its tags, which are counted; ``before`` tokens are
    before it.
    """
    for layer in tag_layers(tags):
        census.add(layer)
        for start, end, kind in decode_tags(layer):
            yield TokenMention(((before + start, before + end),), kind)


def join_tokens(
    identifier: str,
    sentences: Sequence[Sequence[str]],
    mentions: Iterable[TokenMention],
    *,
    step: str,
    meta: dict[str, str] | None = None,
    keep_sentences: bool = True,
) -> Document:
    """Makes a document from tokens: its text is the tokens joined by one space, also across
    sentences.

    Args:
        identifier: id of the document.
        sentences: tokens of each sentence, none empty.
        mentions: mentions of tokens.
        step: name of the reader, for the events.
        meta: further facts; ``text`` = ``joined`` is added.
        keep_sentences: whether the source marks the ends of sentences.

    Raises:
        ValueError: an empty token.
    """
    tokens = [*chain.from_iterable(sentences)]
    text = " ".join(tokens)
    words = _word_ranges(tokens)
    collector = MentionCollector(text, step=step)
    for ranges, kind, limits in mentions:
        low, high = limits or (0, len(words))
        if all(low <= start < end <= high for start, end in ranges):
            spans = [_shared_span(words[start][0], words[end - 1][1]) for start, end in ranges]
            collector.add(spans if len(spans) > 1 else _shared_spans(spans[0]), kind)
        else:
            collector.drop(
                f"a mention of type {kind!r} at tokens {tuple(ranges)} is not in its text, "
                f"tokens {low:,} to {high:,}"
            )
    return collector.document(
        identifier,
        sentences=_sentence_ranges(sentences, words) if keep_sentences else None,
        words=words,
        meta={**(meta or {}), "text": "joined"},
    )


def _word_ranges(tokens: Sequence[str]) -> tuple[Span, ...]:
    lengths = list(map(len, tokens))
    if not all(lengths):
        raise ValueError(
            f"token {lengths.index(0)} is empty; every token needs at least one character"
        )
    ends = list(map(operator.add, accumulate(lengths), count()))
    starts = map(operator.sub, ends, lengths)
    if ends and ends[-1] > _SENTENCE:
        return tuple(zip(starts, ends, strict=True))
    return tuple(map(_shared_span, starts, ends))


@lru_cache(maxsize=1 << 14)
def _shared_span(start: int, end: int) -> Span:
    """Returns the same object for equal ranges, of which sentences have most in common."""
    return start, end


@lru_cache(maxsize=1 << 14)
def _shared_spans(span: Span) -> Fragments:
    return (span,)


def _sentence_ranges(sentences: Sequence[Sequence[str]], words: Sequence[Span]) -> tuple[Span, ...]:
    ranges = []
    first = 0
    for sentence in sentences:
        if sentence:
            ranges.append(_shared_span(words[first][0], words[first + len(sentence) - 1][1]))
            first += len(sentence)
    return tuple(ranges)


def group_by_key(
    items: Iterable[_T | InputError], key: Callable[[_T], object]
) -> Iterator[list[_T | InputError]]:
    """Groups consecutive items with the same key; an item with key ``None`` is yielded before the
    next one is read.

    An error has no key: it belongs to a group if the items before and after it do; else it is a
    group of its own.

    Args:
        items: what was read, or the errors of reading.
        key: of an item.
    """
    group: list[_T | InputError] = []
    errors: list[InputError] = []
    current: object = None
    for item in items:
        if isinstance(item, InputError):
            if group:
                errors.append(item)  # until it is known what comes after it
            else:
                yield [item]
            continue
        value = key(item)
        if group and value == current:
            group += [*errors, item]
            errors = []
            continue
        if group:
            yield group
        for error in errors:
            yield [error]
        group, errors, current = [item], [], value
        if value is None:
            yield group
            group = []
    if group:
        yield group
    for error in errors:
        yield [error]


def raise_first_error(group: Sequence[_T | InputError]) -> list[_T]:
    """Returns the items of a group; raises its first error.

    Raises:
        InputError: the first error among them.
    """
    items: list[_T] = []
    for item in group:
        if isinstance(item, InputError):
            raise item
        items.append(item)
    return items
