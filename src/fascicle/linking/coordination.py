"""Coordinated names as mentions of their own: of ``skin, lung and breast cancer`` three, two of
them discontinuous.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from fascicle.core.document import Document, Mention, Patch
from fascicle.core.mention import Fragments, PlacedSpans, Span
from fascicle.linking.asking import mention_name
from fascicle.linking.opening import Linking
from fascicle.linking.parts import LONGEST, MOST_PARTS, OF_ENZYME
from fascicle.settings.steps import KnownNames

_Reading = tuple[Fragments, ...]
_BEFORE: Final = 80  # characters before a mention in which it may begin
# characters behind a mention that are read, many more than it may reach
_BEHIND: Final = 4 * LONGEST
_WORD: Final = r"[^\W\d_][\w'’-]*(?<![^suio'’\s]s)"  # no plural: "ES cells and embryoid bodies"
_LAST: Final = r"(?:(?:\s*,\s+|\s+)(?:and/or|and|or)\s+|/)"
_LEFT: Final = re.compile(rf"(?<![\w-])(?:{_WORD},\s+)*{_WORD}{_LAST}\Z")
_NUMBER: Final = r"(?:\d{1,2}|[IVX]{2,4}|[A-Z]|alpha|beta|gamma|delta|[α-ω])"
_LONGER: Final = (
    r"\d{1,2}[α-ω]",
    r"[α-ω]\d{1,2}",
    OF_ENZYME,
)  # HIF-1α and -2α, TGF-β1 and -β2, CYP2C9 and 2C19
_ANY_NUMBER: Final = rf"(?:{'|'.join((*_LONGER, _NUMBER))})"
# Not "hepatitis B and C reactive protein", nor "BRCA1 and 2 mice".
_ANOTHER: Final = (
    r"(?<=[A-Z])\s(?:reactive|peptides?|dimers?|coli|cells?|lymphocytes?)\b"
    r"|(?<=[α-ω]\d)\s(?:integrins?|agonists?|adreno)"
    r"|(?<=\d)\s(?:patients?|cases?|controls?|mice|rats|hours?|days?|weeks?|months?|years?|m[gl]|kg)\b"
)
_RIGHT: Final = re.compile(
    rf"(?:(?:\s*,\s*|/)-?{_ANY_NUMBER})*{_LAST}-?{_ANY_NUMBER}(?![\w-]|\.\d|\s?[%:×]|{_ANOTHER})"
)
_FIRST: Final = re.compile(rf"(.*[^\W\d_](?=\d)|.*[^\W_][-\s]){_NUMBER}")  # BRCA1, ZO-1, vitamin A
_OTHER: Final = re.compile(rf"-?{_NUMBER}")
# patterns of a name in a series, and of what stands for each further one
_SERIES: Final = (
    (_FIRST, _OTHER),
    *(
        (re.compile(rf"(.*[A-Za-z]|.*[^\W_][-\s]){form}"), re.compile(f"-?{form}"))
        for form in _LONGER
    ),
)
_TAIL: Final = re.compile(rf"{_NUMBER}\s+")
_BETWEEN: Final = re.compile(
    r"\s*,\s+(?:(?:and|or)\s+)?|\s+(?:and/or|and|or|as well as)\s+|\s*/\s*"
)
_CONJUNCTION: Final = re.compile(r"\b(?:and|or)\b")
_WORDS: Final = re.compile(r"\S+")


def range_readings(text: str, start: int, end: int) -> Iterator[_Reading]:
    """Yields the ways to read a range as several names, each a tuple of fragments, the likeliest
    first.

    Args:
        text: of the document.
        start: first character.
        end: one past the last.
    """
    parts = list(_parts(text, start, end)) if end - start <= LONGEST else []
    if not 2 <= len(parts) <= MOST_PARTS:
        return
    yield from _counted(text, parts)
    yield from _with_both(text, parts)
    yield from _with_shared_word(text, parts)
    yield from _with_shared_end(text, parts)
    yield from _with_shared_start(text, parts)


def _parts(text: str, start: int, end: int) -> Iterator[Span]:
    for between in (*_BETWEEN.finditer(text, start, end), None):
        if (last := between.start() if between else end) > start:
            yield start, last
        start = between.end() if between else end


def _counted(text: str, parts: Sequence[Span]) -> Iterator[_Reading]:
    """``BRCA1/2``, ``interleukin-1 and -2``."""
    (start, end), *rest = parts
    for pattern, other in _SERIES:
        first = pattern.fullmatch(text, start, end)
        if first and all(other.fullmatch(text, *part) for part in rest):
            hyphen, blank = (start + len(first[1].rstrip(signs)) for signs in ("- ", " "))
            yield (
                ((start, end),),
                *(((start, hyphen if text[part[0]] == "-" else blank), part) for part in rest),
            )


def _with_both(text: str, parts: Sequence[Span]) -> Iterator[_Reading]:
    """``type 1 and 2 diabetes``."""
    (start, end), *middle, (begin, last) = parts
    first, tail = _FIRST.fullmatch(text, start, end), _TAIL.match(text, begin, last)
    if first and tail and all(_OTHER.fullmatch(text, *part) for part in middle):
        head, shared = (start, start + len(first[1].rstrip())), (tail.end(), last)
        yield (
            ((start, end), shared),
            *((head, part, shared) for part in middle),
            (head, (begin, last)),
        )


def _with_shared_word(text: str, parts: Sequence[Span]) -> Iterator[_Reading]:
    """``alpha- and beta-thalassemia``."""
    *before, (start, end) = parts
    hyphen = text.find("-", start, end)
    if 0 <= hyphen < end - 1 and all(text[last - 1] == "-" for _, last in before):
        yield *((part, (hyphen + 1, end)) for part in before), ((start, end),)


def _with_shared_end(text: str, parts: Sequence[Span]) -> Iterator[_Reading]:
    """``breast and ovarian cancer``."""
    *before, (start, end) = parts
    for word in (
        [] if re.match(r"\d+\s", text[start:end]) else list(_WORDS.finditer(text, start, end))[1:]
    ):
        yield *((part, (word.start(), end)) for part in before), ((start, end),)


def _with_shared_start(text: str, parts: Sequence[Span]) -> Iterator[_Reading]:
    """``cancer of the breast and ovary``."""
    (start, end), *behind = parts
    for word in reversed(list(_WORDS.finditer(text, start, end))[:-1]):
        yield ((start, end),), *(((start, word.end()), part) for part in behind)


class _Ranges(NamedTuple):
    """Mention with the ranges that it may be part of.

    Attributes:
        mention: as it was found.
        readings: of each range, in the order in which they are tried.
    """

    mention: Mention
    readings: tuple[_Reading, ...]

    def names(self) -> Iterator[Fragments]:
        """Yields all names that decide between the readings."""
        for reading in (*self.readings, (self.mention.spans,)):
            yield from reading
            for name in reading:
                yield from ((part,) for part in name)


class Coordination:
    """Step that replaces mentions of coordinated names by one for each name, with the same source,
    type and score.

    A mention may be all of ``skin, lung and breast cancer`` or its end alone, ``breast cancer``;
    and all or the start of ``interleukin-1 and -2``. It is read as several names if the packs of a
    linker have them, and do not have all of it as one name (``head and neck cancer``). The new
    mentions have no links; a step behind it gives each its own.
    """

    needs: frozenset[str] = frozenset({"mentions"})
    gives: frozenset[str] = frozenset({"mentions"})

    def __init__(
        self,
        name: str,
        linker: Linking,
        *,
        sources: Sequence[str],
        required: KnownNames = "any",
        fingerprint: str = "",
    ) -> None:
        """Sets the parts of the step.

        Args:
            name: of the step.
            linker: whose packs have the names.
            sources: of the mentions that are read.
            required: how many of the names within a mention the packs must have, see
                `fascicle.settings.steps.CoordinationStep`.
            fingerprint: decides, with that of the linker, what the step does.
        """
        self.name, self.linker, self.required = name, linker, required
        self.layers = tuple(sources)
        self.sources = self.drops = frozenset(sources)
        self.fingerprint = f"{linker.fingerprint} {fingerprint}"

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document."""
        ranges = [list(self._ranges(document)) for document in documents]
        pairs = {
            (mention_name(document.text, name), around.mention.type)
            for document, own in zip(documents, ranges, strict=True)
            for around in own
            for name in around.names()
        }
        names = self.linker.known(sorted(pairs))
        return [self._patch(*pair, names) for pair in zip(documents, ranges, strict=True)]

    def _ranges(self, document: Document) -> Iterator[_Ranges]:
        own = [mention for mention in document.mentions if mention.source in self.sources]
        spans: dict[str, list[Span]] = defaultdict(list)
        for mention in own:
            spans[mention.type].append((mention.start, mention.end))
        placed = {kind: PlacedSpans(several) for kind, several in spans.items()}
        for mention in own:
            if len(mention.spans) > 1:
                continue
            if readings := tuple(_readings(document.text, mention, placed[mention.type])):
                yield _Ranges(mention, readings)

    def _patch(
        self, document: Document, ranges: Sequence[_Ranges], names: set[tuple[str, str]]
    ) -> Patch:
        added: dict[tuple[str, str, Fragments], Mention] = {}
        dropped = []
        existing = {mention.key for mention in document.mentions}
        for mention, readings in ranges:
            choice = _Choice(document.text, mention, readings, names)
            reading = choice.outside() or choice.inside(required=self.required)
            if not reading:
                continue
            for spans in reading:
                new = msgspec.structs.replace(mention, spans=spans, links=())
                if new.key not in existing:
                    added[new.key] = new
            if mention.spans not in reading:
                dropped.append(mention.key)
        return Patch(add=tuple(added.values()), drop=tuple(dropped))


class _Choice:
    """Choice between the readings of a mention."""

    def __init__(
        self, text: str, mention: Mention, readings: Sequence[_Reading], names: set[tuple[str, str]]
    ) -> None:
        """Sets the readings; ``names``: with types, those that the packs have."""
        self._text, self._mention, self._names = text, mention, names
        whole = (mention.start, mention.end)
        self._inside = [reading for reading in readings if _range_of(reading) == whole]
        self._outside = [reading for reading in readings if _range_of(reading) != whole]
        self._parts = set(_parts(text, *whole))

    def outside(self) -> _Reading | None:
        """Returns the first reading of a wider range whose names the packs have: all, or any where
        the last one begins with a hyphen.
        """
        for reading in self._outside:
            needed = any if self._text[reading[-1][-1][0]] == "-" else all
            if needed(name == self._mention.spans or self._has(name) for name in reading):
                return reading
        return None

    def inside(self, *, required: KnownNames) -> _Reading | None:
        """Returns the first reading of the mention alone; none if the packs have it as one name."""
        if self._has(self._mention.spans):
            return None
        for reading in self._inside:
            if all(map(self._has, reading)):
                return reading
        start, end = self._mention.start, self._mention.end
        if required == "all" or not _CONJUNCTION.search(self._text, start, end):
            return None
        # One name is enough, where a word coordinates them, and tears no other name.
        for reading in self._inside:
            if any(map(self._has, reading)) and not any(map(self._is_torn, reading)):
                return reading
        return None

    def _has(self, name: Fragments) -> bool:
        return (mention_name(self._text, name), self._mention.type) in self._names

    def _is_torn(self, name: Fragments) -> bool:
        """True for a name that the packs lack, and of which they have a part."""
        parts = self._parts.intersection(name)
        return not self._has(name) and any(self._has((part,)) for part in parts)


def _range_of(reading: _Reading) -> Span:
    return reading[0][0][0], reading[-1][-1][1]


def _readings(text: str, mention: Mention, placed: PlacedSpans) -> Iterator[_Reading]:
    """Yields the readings of ranges around a mention, the widest first, and of the mention itself.

    Args:
        text: of the document.
        mention: in one piece.
        placed: by mentions of the same type.
    """
    before = max(0, mention.start - _BEFORE)
    starts, ends = [], []
    if leading := _LEFT.search(text, before, mention.start):
        starts = [start for start, _ in _parts(text, leading.start(), mention.start)]
    if trailing := _RIGHT.match(text, mention.end, mention.end + _BEHIND):
        ends = [trailing.end()]
    outside = [(start, mention.start) for start in starts] + [(mention.end, end) for end in ends]
    for start, end in outside:
        if not placed.overlapping((start, end)):
            yield from range_readings(text, min(start, mention.start), max(end, mention.end))
    yield from range_readings(text, mention.start, mention.end)
