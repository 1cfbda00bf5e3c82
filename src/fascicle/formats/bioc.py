"""Documents of BioC: passages with annotations; read from the records of XML and JSON alike.

Comeau et al. (2013), BioC: a minimalist approach to interoperability for biomedical text
processing, Database 2013, bat064. The document type is at https://bioc.sourceforge.net/BioC.dtd.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from fascicle.core.document import Document, Event, Link, MentionKey, Section
from fascicle.core.effects import make_event
from fascicle.core.mention import Span, is_curie, parse_link
from fascicle.errors import FormatError, Place
from fascicle.formats.bioc_records import (
    CONTROLS,
    STEP,
    TYPE,
    BiocAnnotation,
    BiocDocument,
    BiocPassage,
    HolderPath,
    Location,
    Sentence,
    from_start,
    read_relations,
    shows_controls,
    with_controls,
)
from fascicle.formats.collect import MentionCollector, text_facts
from fascicle.formats.offset_units import CODE_POINTS, UNIT_NAMES, Conversion, conversion
from fascicle.formats.pubtator import parse_ids

SECTION, IDENTIFIER, BLANKS = "section_type", "identifier", "blanks-before"
VOCABULARY: Final = "vocabulary"
BETWEEN: Final = "|"  # of several vocabularies, as of several identifiers
_MOST_BLANKS: Final = 10_000  # between passages, beside as many as the text has characters

_NO_OFFSETS: Final[Mapping[str, int]] = MappingProxyType({})


class _Piece:
    """Text of a passage or a sentence, with its offset in the file and its offset in the
    document.
    """

    def __init__(self, part: Sentence, infons: Mapping[str, Any]) -> None:
        self.text, self.infons = with_controls(part.text or "", infons), infons
        self.offset = self.start = part.offset
        self._conversions: dict[str, Conversion] = {}

    def place(self, location: Location, unit: str) -> Span | None:
        """Converts a location to code points of this text; ``None`` if an end is outside the text
        or inside a character.
        """
        start = location.offset - self.offset
        end = start + location.length
        if unit != CODE_POINTS:
            if unit not in self._conversions:
                self._conversions[unit] = conversion(self.text, unit)
            start, end = map(self._conversions[unit], (start, end))
        length = len(self.text)
        return (start, end) if 0 <= start <= length and 0 <= end <= length else None


class _Candidate(NamedTuple):
    """Annotation, its holder, the texts that it may be in, and the offsets of its passage and its
    sentence.
    """

    annotation: BiocAnnotation
    holder: HolderPath
    near: list[_Piece]
    offsets: Mapping[str, int]


class _Counting(NamedTuple):
    """How offsets are counted: from the start of each holder, ``"passage"`` or ``"sentence"``, or
    of the document if that is empty; in which unit; and whether all texts of annotations with one
    location fit.
    """

    holder: str
    unit: str
    fits: bool = False


def from_entry(entry: BiocDocument, *, at: Place) -> Document:
    """Makes a document from a BioC entry.

    Its text is that of the passages at their offsets, with blanks between them. If that is
    impossible, if passages touch, or if the texts of annotations show that offsets count bytes or
    UTF-16 units, passages are joined by one blank, and the offsets are converted
    (``offsets-moved``). If these texts show that offsets restart in each passage or sentence, the
    offset of the passage or sentence is added (``offsets-of-passages``).

    Args:
        entry: as it was read.
        at: where in the file.

    Raises:
        FormatError: no id, or content that cannot be a document.
    """
    identifier = "" if entry.id is None else str(entry.id).strip()
    if not identifier:
        raise FormatError("a document has no id; each needs one", at=at)
    try:
        return _make_document(identifier, entry)
    except (ValueError, OverflowError) as error:
        raise FormatError(f"document {identifier!r} cannot be read: {error}", at=at) from None


def _make_document(identifier: str, entry: BiocDocument) -> Document:
    pieces, ranges = _pieces(entry.passages)
    candidates = list(_candidates(entry, pieces, ranges))
    counting = _detect_counting(candidates)
    layout = _layout_of(pieces, ranges, candidates, counting)
    collector = MentionCollector(_join(pieces, layout), step=STEP)
    events = list(_left_out(entry))
    keys = [
        (
            candidate.holder,
            str(candidate.annotation.id),
            _add(candidate, counting, collector, events, moved=layout.is_moved),
        )
        for candidate in candidates
    ]
    stated = [(path, relation) for path, holder in _holders(entry) for relation in holder.relations]
    relations = tuple(read_relations(stated, keys, events))
    return collector.document(
        identifier,
        before=(*events, *_counting_events(counting, layout)),
        sections=tuple(_sections(entry.passages, pieces, ranges)) or None,
        sentences=_sentences(entry.passages, pieces),
        meta=text_facts(entry.infons),
        relations=relations,
    )


class _Layout(NamedTuple):
    """Where texts stand: at their offsets, or one blank apart; and those with a blank before them
    that their offsets do not have.
    """

    is_exact: bool
    parted: frozenset[int]

    @property
    def is_moved(self) -> bool:
        """Whether offsets are no longer those of the file."""
        return not self.is_exact or bool(self.parted)


def _layout_of(
    pieces: Sequence[_Piece],
    ranges: Iterable[range],
    candidates: Iterable[_Candidate],
    counting: _Counting,
) -> _Layout:
    is_exact = counting.unit == CODE_POINTS and _is_exact(pieces)
    if is_exact and not counting.holder and all(map(_in_one_piece, candidates)):
        return _Layout(is_exact, _touching(pieces, ranges))
    return _Layout(is_exact, frozenset())


def _counting_events(counting: _Counting, layout: _Layout) -> Iterator[Event]:
    if counting.holder:
        message = (
            f"offsets of annotations begin anew in each {counting.holder}; its offset was added "
            "to them"
        )
        yield make_event("offsets-of-passages", step=STEP, message=message)
    if layout.parted:
        message = "a blank was put between passages that touch, and offsets were moved by it"
        yield make_event("offsets-moved", step=STEP, message=message)
    elif layout.is_moved:
        message = (
            f"offsets were converted: they count {UNIT_NAMES[counting.unit]}, and passages now "
            "stand one after the other"
        )
        yield make_event("offsets-moved", step=STEP, message=message)


def _sentences(
    passages: Sequence[BiocPassage], pieces: Sequence[_Piece]
) -> tuple[Span, ...] | None:
    """Returns the sentences; ``None`` if some passages have none, for then the list is not
    complete.
    """
    if not passages or any(passage.text or not passage.sentences for passage in passages):
        return None
    return tuple((piece.start, piece.start + len(piece.text)) for piece in pieces if piece.text)


def _pieces(passages: Sequence[BiocPassage]) -> tuple[list[_Piece], list[range]]:
    """Returns the texts of all passages, and for each passage the range of its texts."""
    pieces: list[_Piece] = []
    ranges = []
    for passage in passages:
        first = len(pieces)
        parts: Sequence[Sentence] = (
            (passage,) if passage.text or not passage.sentences else passage.sentences
        )
        pieces += [_Piece(part, passage.infons if part is parts[0] else {}) for part in parts]
        ranges.append(range(first, len(pieces)))
    return pieces, ranges


def _candidates(
    entry: BiocDocument, pieces: list[_Piece], ranges: list[range]
) -> Iterator[_Candidate]:
    """Yields all annotations, each with the texts near it."""
    for at, (passage, own) in enumerate(zip(entry.passages, ranges, strict=True)):
        near = pieces[own.start : own.stop]
        for path, holder in _holders_of(passage, at):
            offsets = {"passage": passage.offset, "sentence": holder.offset}
            # The text of the passage has control characters again, that of an annotation has their
            # symbols.
            annotations = (
                map(_without_symbols, holder.annotations)
                if CONTROLS in passage.infons
                else holder.annotations
            )
            for annotation in annotations:
                yield _Candidate(annotation, path, near, offsets)
    for annotation in entry.annotations:
        yield _Candidate(annotation, (), pieces, _NO_OFFSETS)


def _without_symbols(annotation: BiocAnnotation) -> BiocAnnotation:
    """Returns an annotation without its text, if that shows control characters."""
    return replace(annotation, text=None) if shows_controls(annotation.text or "") else annotation


def _detect_counting(candidates: Sequence[_Candidate]) -> _Counting:
    """Detects the origin and the unit of the offsets by comparing the texts of the annotations.

    The default is code points from the start of the document (no holder); another way must fit more
    annotations.
    """
    comparable = [
        candidate
        for candidate in candidates
        if candidate.annotation.text and len(candidate.annotation.locations) == 1
    ]
    default = _Counting("", CODE_POINTS, fits=True)
    if all(_fits(candidate, default) for candidate in comparable):
        return default

    is_ascii = all(piece.text.isascii() for candidate in comparable for piece in candidate.near)
    units = [CODE_POINTS] if is_ascii else [*UNIT_NAMES]
    ways = [_Counting(holder, unit) for holder in ("", "passage", "sentence") for unit in units]
    return max(ways, key=lambda way: sum(_fits(candidate, way) for candidate in comparable))


def _fits(candidate: _Candidate, counting: _Counting) -> bool:
    annotation = candidate.annotation
    if counting.holder:
        annotation = from_start(annotation, candidate.offsets, counting.holder)
    match = _within(annotation.locations[0], candidate.near, counting.unit)
    return match is not None and match[0].text[match[1] : match[2]] == annotation.text


def _within(
    location: Location, near: Iterable[_Piece], unit: str
) -> tuple[_Piece, int, int] | None:
    """Finds the text that contains a range; returns it with start and end in that text, or
    ``None``.
    """
    for piece in near:
        if span := piece.place(location, unit):
            return piece, *span
    return None


def _is_exact(pieces: Sequence[_Piece]) -> bool:
    """True if each text can be placed at its offset without too many blanks between the texts."""
    gaps = _stated_gaps(pieces)
    return all(gap >= 0 for gap in gaps) and sum(gaps) <= _MOST_BLANKS + sum(
        len(piece.text) for piece in pieces
    )


def _touching(pieces: Sequence[_Piece], ranges: Iterable[range]) -> frozenset[int]:
    """Returns the numbers of texts that begin a passage where the passage before ends."""
    texts = [[at for at in own if pieces[at].text] for own in ranges]
    borders = ((before[-1], after[0]) for before, after in pairwise(filter(None, texts)))
    return frozenset(
        after
        for before, after in borders
        if pieces[after].infons.get(BLANKS) != ""
        and touch(
            pieces[before].offset, pieces[before].text, pieces[after].offset, pieces[after].text
        )
    )


def _in_one_piece(candidate: _Candidate) -> bool:
    """True if each range of an annotation is within one text of its passage."""
    locations = candidate.annotation.locations
    return all(_within(location, candidate.near, CODE_POINTS) for location in locations)


def _gaps(pieces: Sequence[_Piece], layout: _Layout) -> list[int]:
    """Returns the number of blanks before each text."""
    if not layout.is_exact:
        return [int(at > 0) for at in range(len(pieces))]
    return [gap + (at in layout.parted) for at, gap in enumerate(_stated_gaps(pieces))]


def _stated_gaps(pieces: Sequence[_Piece]) -> list[int]:
    """Returns the number of characters before each text, by the offsets."""
    ends = [0, *(piece.offset + len(piece.text) for piece in pieces)]
    return [piece.offset - end for piece, end in zip(pieces, ends, strict=False)]


def touch(offset: int, text: str, next_offset: int, next_text: str) -> bool:
    """True if two texts stand side by side without a blank at their border."""
    return offset + len(text) == next_offset and not (
        text[-1:].isspace() or next_text[:1].isspace()
    )


def _join(pieces: Sequence[_Piece], layout: _Layout) -> str:
    parts: list[str] = []
    length = 0
    for piece, gap in zip(pieces, _gaps(pieces, layout), strict=True):
        blanks = piece.infons.get(BLANKS)
        is_stated = isinstance(blanks, str) and len(blanks) == gap and not blanks.strip()
        parts += [str(blanks) if is_stated else " " * gap, piece.text]
        piece.start = length + gap
        length = piece.start + len(piece.text)
    return "".join(parts)


def _add(
    candidate: _Candidate,
    counting: _Counting,
    collector: MentionCollector,
    events: list[Event],
    *,
    moved: bool,
) -> MentionKey | None:
    annotation = candidate.annotation
    if counting.holder:
        annotation = from_start(annotation, candidate.offsets, counting.holder)
    infons = text_facts(annotation.infons)
    kind = infons.pop(TYPE, "").strip()
    if not kind:
        message = f"the annotation {annotation.id} has no type"
        events.append(make_event("mention-without-type", step=STEP, message=message))
        return None
    spans = [
        _convert_location(location, candidate.near, counting.unit)
        if moved or counting.holder
        else (location.offset, location.offset + location.length)
        for location in annotation.locations
    ]
    links, raw = read_links(infons)
    # what was compared already is not compared again
    expected = None if counting.fits and len(spans) == 1 else annotation.text
    return collector.add(
        spans,
        kind,
        expected=expected,
        is_standoff=True,
        links=links,
        attributes=(*raw, *infons.items()),
    )


def read_links(infons: dict[str, str]) -> tuple[tuple[Link, ...], tuple[tuple[str, str], ...]]:
    """Takes the links out of the infons of an annotation; ids without a prefix belong to the
    named vocabulary.
    """
    links, raw = parse_ids(infons.pop(IDENTIFIER, ""))
    vocabulary = infons.get(VOCABULARY, "")
    if not vocabulary:
        return links, raw
    names = vocabulary.split(BETWEEN) if BETWEEN in vocabulary else [vocabulary] * len(links)
    if not links or len(names) != len(links):
        return links, raw
    complete = tuple(
        link if link.ontology else _of(name, link.id)
        for name, link in zip(names, links, strict=True)
    )
    if [link.ontology for link in complete] == names:
        del infons[VOCABULARY]
    return complete, raw


def _of(vocabulary: str, identifier: str) -> Link:
    full = f"{vocabulary}:{identifier}"
    return parse_link(full) if is_curie(full) else Link(id=identifier, ontology=vocabulary)


def _convert_location(location: Location, near: list[_Piece], unit: str) -> Span:
    match = _within(location, near, unit)
    return (0, 0) if match is None else (match[0].start + match[1], match[0].start + match[2])


def _sections(
    passages: Sequence[BiocPassage], pieces: list[_Piece], ranges: list[range]
) -> Iterator[Section]:
    for passage, own in zip(passages, ranges, strict=True):
        name, facts = _name(passage)
        if not name or not own:
            continue
        start, last = pieces[own[0]].start, pieces[own[-1]]
        if (end := last.start + len(last.text)) > start:
            yield Section(start, end, name, tuple(facts.items()))


def _name(passage: BiocPassage) -> tuple[str, dict[str, str]]:
    """Returns the name of the section that a passage is, and its further facts."""
    infons = text_facts(passage.infons)
    facts = {
        key: value
        for key, value in infons.items()
        if key not in (BLANKS, CONTROLS) and (key, value) != (SECTION, "")
    }
    name = facts.pop(SECTION if SECTION in facts else TYPE, "")
    return name.lower() if SECTION in passage.infons else name, facts


def _holders(entry: BiocDocument) -> Iterator[tuple[HolderPath, Any]]:
    yield (), entry
    for at, passage in enumerate(entry.passages):
        yield from _holders_of(passage, at)


def _holders_of(passage: BiocPassage, at: int) -> Iterator[tuple[HolderPath, Sentence]]:
    """Yields a passage with its number, and its sentences."""
    yield (at,), passage
    for number, sentence in enumerate(passage.sentences):
        yield (at, number), sentence


def _left_out(entry: BiocDocument) -> Iterator[Event]:
    nameless = [facts for name, facts in map(_name, entry.passages) if not name]
    of_sentences = [sentence.infons for passage in entry.passages for sentence in passage.sentences]
    keys = set[str]().union(*nameless, *of_sentences) - {TYPE, BLANKS, CONTROLS}
    if keys:
        message = f"these facts of passages are not read: {', '.join(sorted(keys))}"
        yield make_event("infons-left-out", step=STEP, message=message)
