"""Spans, mentions of entities, links to the ontology entries that they refer to, and relations
between them.

A *span* is a half-open range of Unicode code points, ``(start, end)`` with ``0 <= start < end``;
adjacent spans (``(0, 5)`` and ``(5, 8)``) do not overlap. The spans of one mention are a sorted
tuple of disjoint spans, its *fragments*; most mentions have one.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

import msgspec

from fascicle.core.wording import plural

Span = tuple[int, int]
Fragments = tuple[Span, ...]


def overlaps(a: Span, b: Span) -> bool:
    """True if two spans share at least one character (symmetric; adjacent spans do not overlap)."""
    return a[0] < b[1] and b[0] < a[1]


def contains(outer: Span, inner: Span) -> bool:
    """True if ``inner`` lies wholly inside ``outer`` (a span contains itself)."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def fragments_overlap(a: Fragments, b: Fragments) -> bool:
    """True if any fragment of ``a`` overlaps any fragment of ``b``."""
    return any(overlaps(x, y) for x in a for y in b)


def fragments_contain(outer: Fragments, inner: Fragments) -> bool:
    """True if every fragment of ``inner`` lies inside some fragment of ``outer``."""
    return all(any(contains(o, i) for o in outer) for i in inner)


def check_fragments(fragments: Fragments) -> None:
    """Raises ``ValueError`` unless the fragments are sorted, disjoint, not empty and not
    negative.
    """
    if not fragments:
        raise ValueError("a mention needs at least one span")
    previous = 0
    for start, end in fragments:
        if start < previous or end <= start:
            raise ValueError(
                f"spans {fragments} are not allowed: each must be 0 <= start < end, sorted and "
                "disjoint"
            )
        previous = end


def without_overlaps(spans: Iterable[Span]) -> Fragments:
    """Sorts spans, and joins those that overlap."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def join_over_blanks(spans: Fragments, text: str) -> Fragments:
    """Joins disjoint spans with nothing but white space between them: they are one name over a
    line end.
    """
    merged: list[Span] = []
    for start, end in spans:
        if merged and text[merged[-1][1] : start].isspace():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)


class PlacedSpans:
    """Spans of a text in order, to look up those that overlap another one."""

    def __init__(self, spans: Iterable[Span]) -> None:
        """Takes the spans, which may overlap."""
        # by size, so that one long span makes no other slower
        self._orders: dict[int, list[Span]] = defaultdict(list)
        for span in sorted(set(spans)):
            self._orders[(span[1] - span[0]).bit_length()].append(span)

    def add(self, span: Span) -> None:
        """Adds a span that is not there."""
        insort(self._orders[(span[1] - span[0]).bit_length()], span)

    def overlapping(self, span: Span) -> list[Span]:
        """Returns the spans that overlap a span, in order."""
        start, end = span
        return sorted(
            other
            for size, order in self._orders.items()
            for other in order[
                bisect_left(order, (start - (1 << size), 0)) : bisect_left(order, (end, 0))
            ]
            if other[1] > start
        )


def are_tuples(fragments: object) -> bool:
    """True if fragments are tuples, which sets of mentions need; lists (as from JSON) cannot be
    hashed.
    """
    return isinstance(fragments, tuple) and all(isinstance(span, tuple) for span in fragments)


def check_ranges(ranges: Iterable[Span], *, length: int, name: str) -> None:
    """Raises ``ValueError`` unless ranges are sorted, disjoint, not empty and inside ``length``
    characters.
    """
    previous = 0
    for start, end in ranges:
        if not previous <= start < end <= length:
            raise ValueError(
                f"{name} ({start}, {end}) is not allowed in a text of "
                f"{plural(length, 'character')}: "
                "ranges must be sorted, disjoint, not empty and inside the text"
            )
        previous = end


GOLD = "gold"
AMBIGUOUS: Final = "ambiguous"  # tier of links of which one is right, but it is unknown which
# tier of a NIL link where no name is like the mention, so that nothing was compared
ABSENT: Final = "absent"

MentionKey = tuple[str, str, Fragments]
# an address, such as http://..., is none
_CURIE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*:(?!//)[^\s:]\S*")
_TIER: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


# ``gc=False``: links and mentions cannot be part of a reference cycle, and garbage collection that
# visits millions of them takes a fifth of the time for reading predictions.
class Link(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An entry of a dictionary or ontology that a mention refers to, or the statement that no entry
    fits (NIL).

    Attributes:
        id: identifier as the source writes it, e.g. ``"D003920"``; empty for NIL.
        ontology: its ontology, e.g. ``"MESH"``; empty if the source gives none.
        name: preferred name, if known.
        score: probability in [0, 1], or ``None``; for a NIL link, the probability that no entry
            fits, and ``None`` if there was none to compare.
        nil: no entry of the ontology (of any, if it is empty) fits the mention. A mention without
            links was not linked.
        tier: how the entry was found, e.g. ``"exact"``: letters in lower case, digits and hyphens;
            empty if unknown. Of a NIL link `ABSENT`, or empty if entries were compared and none
            fits.
        curie: normalised identifier, ``prefix:local`` with a prefix of the Bioregistry, e.g.
            ``"MESH:D003920"``; empty if unknown.
        same: CURIEs of the same entry in other vocabularies, e.g. ``("DOID:9351",
            "MONDO:0005015")``.
    """

    id: str
    ontology: str = ""
    name: str = ""
    score: float | None = None
    nil: bool = False
    tier: str = ""
    curie: str = ""
    same: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Checks the link.

        Raises:
            ValueError: NIL with an entry, a malformed CURIE or tier.
        """
        try:
            if self.nil and (self.id or self.name or self.curie):
                raise ValueError(
                    f"a NIL link names no entry, but id={self.id!r}, name={self.name!r} and "
                    f"curie={self.curie!r} were given; leave them empty, or leave out nil"
                )
            if self.curie and not is_curie(self.curie):
                raise ValueError(
                    f"{self.curie!r} is not a CURIE; write prefix:local without blanks, as in "
                    "MESH:D003920"
                )
            if odd := [curie for curie in self.same if not is_curie(curie)]:
                raise ValueError(
                    f"{odd[0]!r} in same is not a CURIE; write prefix:local without blanks, as "
                    "in DOID:9351"
                )
            if self.tier and not _TIER.fullmatch(self.tier):
                raise ValueError(
                    f"the tier {self.tier!r} is not allowed; give lower-case letters, digits and "
                    "hyphens, as in exact"
                )
        except TypeError:
            raise ValueError(
                "id, curie and tier of a link are of the type str, and same is a tuple of them; "
                f"given was {self!r}"
            ) from None


def is_curie(text: str) -> bool:
    """True if a text has the form ``prefix:local``."""
    return _CURIE.fullmatch(text) is not None


def concept_page(curie: str) -> str:
    """Returns the address of the page of a concept, which this program never requests."""
    return f"https://bioregistry.io/{quote(curie, safe=':')}"


def display_identifier(link: Link) -> str:
    """Returns the name of the entry of a link for display: its CURIE, or its ontology and
    identifier.
    """
    return link.curie or f"{link.ontology}{':' * bool(link.ontology)}{link.id}"


def link_text(link: Link) -> str:
    """Returns the identifier of a link for files with a single field for it: a CURIE if
    possible, else its id.
    """
    full = display_identifier(link)
    return full if is_curie(full) else link.id


def parse_link(text: str, name: str = "") -> Link:
    """Returns the link for an identifier that `link_text` wrote; a CURIE also names the ontology.

    Args:
        text: a CURIE, or another identifier, such as an address (``http://...``).
        name: preferred name of the entry.
    """
    prefix, _, local = text.partition(":")
    if not is_curie(text):
        return Link(id=text, name=name)
    return Link(id=local, ontology=prefix, name=name, curie=text)


class Mention(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One mention of an entity: its place, its type, and its source.

    Attributes:
        spans: sorted, disjoint ``(start, end)``; several make a discontinuous mention.
        type: entity type, e.g. ``"Disease"``.
        score: probability in [0, 1], or ``None``; each head's docstring defines its own.
        source: origin of the mention: ``"gold"``, the name of a model, ``"dictionary"``.
        links: ontology entries that it refers to.
        attributes: further facts as ``(name, value)`` pairs.
    """

    spans: Fragments
    type: str
    score: float | None = None
    source: str = GOLD
    links: tuple[Link, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Checks the mention.

        Raises:
            ValueError: unsorted, overlapping or empty spans, an empty type, a score outside [0, 1].
        """
        try:
            if len(self.spans) != 1 or not 0 <= self.spans[0][0] < self.spans[0][1]:
                check_fragments(self.spans)
            if not self.type:
                raise ValueError(f"the mention at {self.spans} has an empty type; give it a name")
            if self.score is not None and not (
                math.isfinite(self.score) and 0.0 <= self.score <= 1.0
            ):
                raise ValueError(
                    f"the score {self.score} of the mention at {self.spans} must be a probability "
                    "from 0 to 1; divide percentages by 100"
                )
        except (TypeError, AttributeError):
            raise ValueError(
                "a mention has spans, a tuple of (start, end), a type, and a score or None; given "
                f"were {self.spans!r}, {self.type!r} and {self.score!r}"
            ) from None

    @property
    def start(self) -> int:
        """First character, in code points."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """One past the last character, in code points."""
        return self.spans[-1][1]

    @property
    def key(self) -> MentionKey:
        """``(source, type, spans)``: unique in a document."""
        return self.source, self.type, self.spans

    @property
    def rank(self) -> tuple[float, int, int]:
        """Sort key for choosing between mentions: higher score first (none counts as 1), then
        longer, then earlier.
        """
        score = 1.0 if self.score is None else self.score
        return -score, sum(start - end for start, end in self.spans), self.start

    def text_in(self, document_text: str) -> str:
        """Returns the text of the mention; fragments are joined by one space."""
        if len(self.spans) == 1:  # nearly all mentions
            ((start, end),) = self.spans
            return document_text[start:end]
        return " ".join([document_text[start:end] for start, end in self.spans])


class PlacedMentions:
    """Numbers of mentions by their places."""

    def __init__(self, mentions: Iterable[Mention]) -> None:
        """Numbers the mentions from 0."""
        self._numbers: dict[Span, set[int]] = defaultdict(set)
        for number, mention in enumerate(mentions):
            self._numbers[mention.start, mention.end].add(number)
        self._places = PlacedSpans(self._numbers)

    def put(self, number: int, mention: Mention, *, before: Mention | None = None) -> None:
        """Adds a mention, or moves it from where it was before."""
        if before is not None:
            self._numbers[before.start, before.end].remove(number)
        span = mention.start, mention.end
        if span not in self._numbers:
            self._places.add(span)
        self._numbers[span].add(number)

    def beside(self, mention: Mention) -> list[int]:
        """Returns the numbers of the mentions whose first to last character overlaps that of
        another one.
        """
        near = self._places.overlapping((mention.start, mention.end))
        return [number for span in near for number in self._numbers[span]]


# What identifiers of concepts are called in BioRED; in BC5CDR they may be called like their types.
CONCEPTS: Final = ("entity1", "entity2")
SCORE: Final = "score"  # attribute of a relation of a model: its probability
RELATE: Final = "relate"  # step that finds relations


class Relation(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    gc=False,
    forbid_unknown_fields=True,
):
    """A statement of the source about mentions, such as how they are related, or that they are the
    same thing.

    Attributes:
        type: e.g. ``"CID"``; empty if the source does not give it.
        arguments: role and ``key`` of each mention, in the order of the source; a role may be
            empty. Later steps may have dropped such a mention.
        attributes: further facts as ``(name, value)`` pairs; without arguments, they say what is
            related.
    """

    type: str = ""
    arguments: tuple[tuple[str, MentionKey], ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()

    @property
    def keys(self) -> tuple[MentionKey, ...]:
        """Keys of the mentions."""
        return tuple(key for _, key in self.arguments)

    @property
    def sources(self) -> frozenset[str]:
        """Sources of the mentions; none of a relation between concepts."""
        return frozenset(key[0] for key in self.keys)


def is_scored(relation: Relation) -> bool:
    """True if a relation has the score of a model."""
    return SCORE in dict(relation.attributes)


def check_relations(relations: Iterable[Relation]) -> None:
    """Raises ``TypeError`` or ``AttributeError`` for what is no relation, or has an argument of
    another form.
    """
    for argument in (argument for relation in relations for argument in relation.arguments):
        if len(argument) != 2 or len(argument[1]) != 3:
            raise TypeError(
                f"an argument of a relation is a role and the key of a mention, not {argument!r}"
            )


def overlapping_mentions(
    mentions: Iterable[Mention],
) -> Iterator[tuple[tuple[int, Mention], tuple[int, Mention]]]:
    """Yields the pairs of mentions that share a character, each mention with its index.

    Args:
        mentions: mentions ordered by start, so that one pass over them is enough.
    """
    still_open: list[tuple[int, Mention]] = []
    for number, mention in enumerate(mentions):
        still_open = [pair for pair in still_open if pair[1].end > mention.start]
        for before in still_open:
            single = len(before[1].spans) == 1 and len(mention.spans) == 1
            if single or fragments_overlap(before[1].spans, mention.spans):
                yield before, (number, mention)
        still_open.append((number, mention))
