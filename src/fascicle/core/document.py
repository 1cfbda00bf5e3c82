"""The data model of the whole package: documents, mentions, links, events, patches.

All its classes are frozen. Offsets are half-open Unicode code points into ``Document.text``, which
never changes.
"""

from __future__ import annotations

import operator
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import chain, islice, pairwise
from numbers import Integral
from typing import Any, Final

import msgspec

from fascicle.core.mention import GOLD as GOLD
from fascicle.core.mention import Fragments, Span, check_ranges, check_relations
from fascicle.core.mention import Link as Link
from fascicle.core.mention import Mention as Mention
from fascicle.core.mention import MentionKey as MentionKey
from fascicle.core.mention import Relation as Relation
from fascicle.core.results import list_first
from fascicle.core.wording import plural, shorten
from fascicle.errors import InputError

LINKED: Final = "linked"  # code of the event that names the origin of links
Identity = tuple[str, str, Fragments]
Abbreviation = tuple[Span, Span]
MentionsById = Mapping[str, Sequence[Mention]]
"""The mentions of documents, by the ids of these."""


class TextMention:
    """A mention together with its text, as iteration over a document yields it.

    It has the attributes of a `Mention`.

    Attributes:
        mention: the mention itself.
        document: the document that it is in.
    """

    __slots__ = ("document", "mention")

    def __init__(self, mention: Mention, document: Document) -> None:
        """Binds a mention to its document."""
        self.mention = mention
        self.document = document

    @property
    def text(self) -> str:
        """Text of the mention; fragments are joined by one space."""
        return self.mention.text_in(self.document.text)

    def text_in(self, document_text: str) -> str:
        """The text of the mention in that of a document, see `Mention.text_in`."""
        return self.mention.text_in(document_text)

    def to_dict(self) -> dict[str, Any]:
        """The mention as plain data, with its words and offsets; every field is there."""
        own = {name: getattr(self.mention, name) for name in self.mention.__struct_fields__}
        ends = {"start": self.mention.start, "end": self.mention.end, "text": self.text}
        return {**ends, **msgspec.to_builtins(own)}

    @property
    def type(self) -> str:
        """Entity type."""
        return self.mention.type

    @property
    def spans(self) -> Fragments:
        """Sorted, disjoint ``(start, end)``."""
        return self.mention.spans

    @property
    def start(self) -> int:
        """First character, in code points."""
        return self.mention.start

    @property
    def end(self) -> int:
        """One past the last character, in code points."""
        return self.mention.end

    @property
    def score(self) -> float | None:
        """Probability, or ``None``."""
        return self.mention.score

    @property
    def source(self) -> str:
        """Origin of the mention."""
        return self.mention.source

    @property
    def links(self) -> tuple[Link, ...]:
        """Ontology entries that it refers to."""
        return self.mention.links

    @property
    def attributes(self) -> tuple[tuple[str, str], ...]:
        """Further facts as ``(name, value)`` pairs."""
        return self.mention.attributes

    @property
    def key(self) -> MentionKey:
        """``(source, type, spans)``: unique in a document."""
        return self.mention.key

    @property
    def rank(self) -> tuple[float, int, int]:
        """Sort key for choosing between mentions, see `Mention.rank`."""
        return self.mention.rank

    def __repr__(self) -> str:
        """Returns type, text and offsets in one line."""
        score = "" if self.mention.score is None else f", {self.mention.score:.3f}"
        return f"<{self.mention.type} {self.text!r} {self.mention.start}-{self.mention.end}{score}>"


class Section(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A named part of a document, such as its title; ``attributes`` are further facts as
    ``(name, value)`` pairs.
    """

    start: int
    end: int
    name: str = ""
    attributes: tuple[tuple[str, str], ...] = ()


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Report of something that was *not* done, or not done as requested: nothing is left out
    silently.

    Attributes:
        step: name of the step that reports, e.g. ``"pubtator"``.
        kind: ``"loss"`` (something of the input is not in the result), ``"repair"`` (input changed
            by a stated rule) or ``"note"``.
        code: short stable name for counting, e.g. ``"duplicate-id"``.
        message: one sentence.
        span: the place in the text, or ``None``.
    """

    step: str
    kind: str
    code: str
    message: str
    span: Span | None = None


class Patch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Changes to one document; `fascicle.core.patches.apply` defines the rules.

    Attributes:
        add: mentions to add.
        links: links to attach to the mention of a ``(source, type, spans)``.
        events: reports of what was not done, or not done as requested.
        sentences: ranges of sentences, set only if the document has none; the same holds for words
            and sections.
        words: see above.
        sections: see above.
        abbreviations: pairs of ranges, short form and long form, beside those that the document
            has.
        drop: keys of mentions to drop.
        replace: keys of mentions, and for each the mention of the same source that replaces it.
        relations: to add, if the document has no equal ones.
        drop_relations: to drop before these are added; one that is not there is passed over.
    """

    add: tuple[Mention, ...] = ()
    links: tuple[tuple[MentionKey, tuple[Link, ...]], ...] = ()
    events: tuple[Event, ...] = ()
    sentences: tuple[Span, ...] | None = None
    words: tuple[Span, ...] | None = None
    sections: tuple[Section, ...] | None = None
    abbreviations: tuple[Abbreviation, ...] = ()
    drop: tuple[MentionKey, ...] = ()
    replace: tuple[tuple[MentionKey, Mention], ...] = ()
    relations: tuple[Relation, ...] = ()
    drop_relations: tuple[Relation, ...] = ()


class Change(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Mentions that one step dropped or replaced in a document.

    Attributes:
        step: name of the step.
        taken: each removed mention, and the key of the mention that replaced it, or ``None``.
    """

    step: str
    taken: tuple[tuple[Mention, MentionKey | None], ...]


class Document(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A text and all its annotations.

    Attributes:
        id: unique within a run.
        text: the source text, never changed.
        sections: named ranges; ``None`` if the source has none (also for the fields below).
        sentences: ranges of sentences.
        words: ranges of words.
        mentions: in canonical order, no ``(source, type, spans)`` twice.
        relations: statements of the source about several mentions.
        abbreviations: pairs of ranges, short form and long form.
        meta: further facts of the source.
        events: reports of what was not done.
        changes: mentions that steps dropped or replaced, in the order of the steps; `layer` can
            undo them.

    Raises:
        ValueError: ranges or mentions outside the text, a duplicate mention, a lone surrogate in
            the text.
    """

    id: str
    text: str
    sections: tuple[Section, ...] | None = None
    sentences: tuple[Span, ...] | None = None
    words: tuple[Span, ...] | None = None
    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    abbreviations: tuple[Abbreviation, ...] | None = None
    meta: dict[str, str] = msgspec.field(default_factory=dict)
    events: tuple[Event, ...] = ()
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        """Checks every offset, and puts the mentions into canonical order."""
        for name in ("id", "text"):  # of numpy, which cannot be written
            if type(value := getattr(self, name)) is not str and isinstance(value, str):
                msgspec.structs.force_setattr(self, name, str(value))
        self._check(self.__struct_fields__)

    def having(self, **parts: Any) -> Document:
        """Returns a copy with other parts; only these are checked, since the others were checked
        before.

        Args:
            parts: new values of the attributes above, except the text.

        Raises:
            ValueError: see `Document`.
        """
        other = copy(self)
        for name, value in parts.items():
            msgspec.structs.force_setattr(other, name, value)
        other._check(parts)
        return other

    def _check(self, parts: Container[str]) -> None:
        try:
            self._check_parts(parts)
        except (TypeError, AttributeError) as error:
            raise ValueError(
                f"document {self.id!r} has a part of the wrong type ({error}); its text is a str, "
                "its mentions are Mention objects"
            ) from None

    def __iter__(self) -> Iterator[TextMention]:
        """Iterates over the mentions in their order, each with its text."""
        return (TextMention(mention, self) for mention in self.mentions)

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data, with the words and offsets of each mention; parts that it
        lacks are left out.
        """
        return {**msgspec.to_builtins(self), "mentions": [mention.to_dict() for mention in self]}

    def __repr__(self) -> str:
        """Returns the id, the beginning of the text and the first mentions in one line."""
        mentions = list_first([*self])
        return f"<Document {self.id!r} {shorten(self.text)!r}{mentions and f': {mentions}'}>"

    def _repr_html_(self) -> str:
        """Returns HTML for notebooks: the text with its mentions marked, and its relations."""
        from fascicle.core.marks import html_fragment  # late: most programs show no page

        return html_fragment(self.text, self.mentions, self.origins, self.relations)

    def _check_parts(self, parts: Container[str]) -> None:
        if "text" in parts and not self.text.isascii():
            _refuse_surrogates(self.id, self.text)
        length = len(self.text)
        if "sentences" in parts and self.sentences is not None:
            check_ranges(self.sentences, length=length, name="sentence")
        if "words" in parts and self.words is not None:
            check_ranges(self.words, length=length, name="word")
        if "relations" in parts:
            check_relations(self.relations)
        for name, span in self._other_ranges(parts):
            if not 0 <= span[0] <= span[1] <= length:
                raise ValueError(
                    f"{name} {span} is not allowed in a text of {plural(length, 'character')}"
                )
        if "mentions" in parts or "changes" in parts:
            self._check_mentions(parts, length)

    def _check_mentions(self, parts: Container[str], length: int) -> None:
        changes = self.changes if "changes" in parts else ()
        mentions = self.mentions if "mentions" in parts else ()
        for mention in chain(
            mentions, (mention for change in changes for mention, _ in change.taken)
        ):
            if mention.spans[-1][1] > length:
                raise ValueError(
                    f"document {self.id!r} has {plural(length, 'character')}, but a mention of "
                    f"type {mention.type!r} "
                    f"ends at {mention.end}; offsets are code points into the text"
                )
        ordered = in_order(mentions)
        if "mentions" in parts and ordered != self.mentions:
            msgspec.structs.force_setattr(self, "mentions", ordered)

    def _other_ranges(self, parts: Container[str]) -> Iterator[tuple[str, Span]]:
        if "sections" in parts:
            yield from (("section", (s.start, s.end)) for s in self.sections or ())
        if "abbreviations" in parts:
            yield from (
                ("abbreviation", span) for pair in self.abbreviations or () for span in pair
            )
        if "events" in parts:
            yield from (("event", e.span) for e in self.events if e.span is not None)

    def layer(self, source: str, *, original: bool = False) -> tuple[Mention, ...]:
        """Returns the mentions of one source, in canonical order.

        Args:
            source: name of the source.
            original: return them as the source gave them, before any step dropped or replaced some
                of them.
        """
        mentions = self.mentions
        if original and self.changes:
            before = {mention.key: mention for mention in mentions}
            for change in reversed(self.changes):
                for _, instead in change.taken:
                    if instead is not None:
                        before.pop(instead, None)
                before |= {mention.key: mention for mention, _ in change.taken}
            mentions = in_order(before.values())
        return tuple(m for m in mentions if m.source == source)

    def is_in(self, mention: Mention, sections: Iterable[str]) -> bool:
        """True if a mention is in a section with one of these names.

        Args:
            mention: of this document.
            sections: names, of which ``abstract`` also means ``abstract-methods``; or attributes,
                as ``name=value``.
        """
        return any(
            f"{section.name}-".startswith(f"{name}-") or name in map("=".join, section.attributes)
            for section in self.sections or ()
            if section.start <= mention.start and mention.end <= section.end
            for name in sections
        )

    def section_of(self, mention: Mention) -> str:
        """Returns the name of the smallest named section around a mention; empty if there is
        none.
        """
        around = [
            section
            for section in self.sections or ()
            if section.name and section.start <= mention.start and mention.end <= section.end
        ]
        smallest = min(around, key=lambda section: section.end - section.start, default=None)
        return smallest.name if smallest else ""

    @property
    def origins(self) -> tuple[str, ...]:
        """Messages that name the packs of the links and their dates, each message once."""
        return tuple(dict.fromkeys(event.message for event in self.events if event.code == LINKED))

    def with_events(self, *events: Event) -> Document:
        """Returns a copy with more events."""
        return self.having(events=self.events + events)


def in_order(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Sorts mentions: by start, longer before shorter, then type, spans and source.

    Raises:
        ValueError: the same ``(source, type, spans)`` twice.
    """
    items = tuple(mentions)
    if _is_canonical(items):
        return items
    ordered = tuple(sorted(items, key=_position))
    for before, after in pairwise(ordered):
        if before.key == after.key:
            raise ValueError(
                f"the mention {after.type!r} at {after.spans} from source {after.source!r} "
                "occurs twice; keep one"
            )
    return ordered


def unique(mentions: Iterable[Mention]) -> tuple[tuple[Mention, ...], int]:
    """Keeps the first mention of each ``(source, type, spans)``; also returns the number of
    those left out.
    """
    items = tuple(mentions)
    if _is_canonical(items):
        # raises an error for lists, which cannot be hashed
        hash(tuple([mention.spans for mention in items]))
        return items, 0
    by_key: dict[MentionKey, Mention] = {}
    for mention in items:
        by_key.setdefault(mention.key, mention)
    return tuple(sorted(by_key.values(), key=_position)), len(items) - len(by_key)


def _is_canonical(mentions: Sequence[Mention]) -> bool:
    """True if mentions are in canonical order without duplicates (a fast check)."""
    positions = list(map(_position, mentions))
    return all(map(operator.lt, positions, islice(positions, 1, None)))


def identities(document_id: str, mentions: Iterable[Mention]) -> set[Identity]:
    """Returns the identities of mentions for scoring and voting: ``(document id, type, spans)``."""
    return {(document_id, m.type, m.spans) for m in mentions}


def _position(mention: Mention) -> tuple[int, int, str, Fragments, str]:
    spans = mention.spans
    return spans[0][0], -spans[-1][1], mention.type, spans, mention.source


def _refuse_surrogates(identifier: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text of document {identifier!r} has a lone surrogate "
            f"(U+{ord(text[error.start]):04X}) at character "
            f"{error.start}, which Unicode text cannot carry; repair the source"
        ) from None


STEP: Final = "linker"


def link_event(pack: str, vocabularies: Iterable[tuple[str, str]], *, step: str) -> Event:
    """Returns the event of a document that received links.

    Args:
        pack: name of the pack.
        vocabularies: prefix and date of each vocabulary of the pack; the date is empty if its
            source gave none.
        step: name of the step that added the links.
    """
    return Event(
        step=step,
        kind="note",
        code=LINKED,
        message=f"links are of {name_with_dates(pack, vocabularies)}",
    )


def name_with_dates(pack: str, vocabularies: Iterable[tuple[str, str]]) -> str:
    """Returns the name of a pack with the date of each vocabulary; see `link_event`."""
    dates = ", ".join(
        f"{prefix} ({date or 'no date'})" for prefix, date in sorted(set(vocabularies))
    )
    return f"{pack}: {dates}"


def merge_origins(origins: Iterable[str]) -> tuple[str, ...]:
    """Merges the origins of links of several documents (`Document.origins`): one sentence for
    each pack.
    """
    dates_of: dict[str, set[str]] = {}
    for origin in origins:
        pack, _, date = origin.partition(": ")
        dates_of.setdefault(pack, set()).update(date.split(", "))
    return tuple(f"{pack}: {', '.join(sorted(date))}" for pack, date in dates_of.items())


TextInput = str | tuple[str | int, str] | Document  # a number as id: the index of a data frame


_MISSING: Final = ("None", "nan", "NaT", "<NA>")  # in a data frame


def to_document(source: TextInput, number: int) -> Document:
    """Returns a document made from a text, from a pair of an id and a text, or from an object of
    another tool.

    Raises:
        InputError: anything else, or a text with a lone surrogate.
    """
    if isinstance(source, Document):
        return source
    text = getattr(source, "text", source)  # a Doc of spaCy, a Sentence of flair, a named tuple
    is_pair = isinstance(source, tuple) and len(source) == 2 and text in (source, source[1])
    pair: Any = source if is_pair else (f"text-{number}", text)
    if str(pair[1]) in _MISSING and not isinstance(pair[1], str):
        raise InputError(f"number {number} is missing ({pair[1]}); leave such texts out")
    if not (isinstance(pair[0], str | Integral) and isinstance(pair[1], str)):
        message = (
            f"number {number} is of the type {type(source).__name__}; give texts, pairs "
            "(id, text) or Documents"
        )
        raise InputError(message)
    try:
        return Document(id=str(pair[0]), text=pair[1])
    except ValueError as error:
        raise InputError(str(error), key=str(pair[0])) from None
