"""BioC: a collection of documents of passages with annotations; code shared by the XML and JSON
formats.

Comeau et al. (2013), BioC: a minimalist approach to interoperability for biomedical text
processing, Database 2013, bat064. The document type is at https://bioc.sourceforge.net/BioC.dtd.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from fascicle.core.document import Document, Event, Link, Mention, MentionKey, Section
from fascicle.core.effects import make_event
from fascicle.core.mention import Span, is_curie, link_text, parse_link
from fascicle.errors import FormatError, Place
from fascicle.formats.bioc_records import (
    CONTROLS,
    STEP,
    TYPE,
    Annotation,
    Entry,
    Location,
    Passage,
    Sentence,
    facts_of,
    from_start,
    read_relations,
    related,
    shows_controls,
    with_controls,
)
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import check_name, separate_sections
from fascicle.formats.losses import HeldFields, held_fields
from fascicle.formats.offset_units import CODE_POINTS, UNIT_NAMES, Conversion, conversion
from fascicle.formats.pubtator import RAW_ID, concept_column, count_links, parse_links
from fascicle.formats.report import WriteReport

SECTION, IDENTIFIER, BLANKS = "section_type", "identifier", "blanks-before"
_OURS: Final = (BLANKS, CONTROLS)
_VOCABULARY: Final = "vocabulary"
_BETWEEN: Final = "|"  # of several vocabularies, as of several identifiers
_MOST_BLANKS: Final = 10_000  # between passages, beside as many as the text has characters


_NO_OFFSETS: Final[Mapping[str, int]] = MappingProxyType({})


class _Piece:
    """Text of a passage or a sentence, with its offset in the file and its offset in the
    document.
    """

    def __init__(self, given: Sentence, infons: Mapping[str, Any]) -> None:
        self.text, self.offset, self.infons = (
            with_controls(given.text or "", infons),
            given.offset,
            infons,
        )
        self.start = given.offset
        self._conversions: dict[str, Conversion] = {}

    def place(self, offset: int, unit: str) -> int | None:
        """Converts an offset of the file to a code point; ``None`` if it is outside the text or
        inside a character.
        """
        at = offset - self.offset
        if unit == CODE_POINTS:
            return at if 0 <= at <= len(self.text) else None
        if unit not in self._conversions:
            self._conversions[unit] = conversion(self.text, unit)
        found = self._conversions[unit](at)
        return found if found >= 0 else None


def from_entry(entry: Entry, *, at: Place) -> Document:
    """Makes a document from a BioC entry.

    Its text is that of the passages at their offsets, with blanks between them. If that is
    impossible, or if the texts of annotations show that offsets count bytes or UTF-16 units,
    passages are joined by one blank, and the offsets are converted (``offsets-moved``). If these
    texts show that offsets restart in each passage or sentence, the offset of the passage or
    sentence is added (``offsets-of-passages``).

    Args:
        entry: as it was read.
        at: where in the file.

    Raises:
        FormatError: no id, or content that cannot be a document.
    """
    identifier = "" if entry.id is None else str(entry.id).strip()
    if not identifier:
        raise FormatError("a document has no id; each needs one", at=at)
    pieces, ranges = _pieces(entry.passages)
    given = list(_annotations(entry, pieces, ranges))
    try:
        return _made(identifier, entry, pieces, ranges, given)
    except (ValueError, OverflowError) as error:
        raise FormatError(f"document {identifier!r} cannot be read: {error}", at=at) from None


def _made(
    identifier: str,
    entry: Entry,
    pieces: list[_Piece],
    ranges: list[range],
    given: list[_Given],
) -> Document:
    holder, unit = _counted(given)
    moved = unit != CODE_POINTS or not _is_exact(pieces)
    text = _text(pieces, moved=moved)
    collector, events = MentionCollector(text, step=STEP), list(_left_out(entry))
    keys: list[tuple[str, MentionKey]] = []
    for annotation, near, offsets in given:
        placed = from_start(annotation, offsets, holder) if holder else annotation
        if key := _add(placed, near, collector, events, unit=unit, moved=moved or bool(holder)):
            keys.append((str(annotation.id), key))
    stated = (one for holder in _holders(entry) for one in holder.relations)
    relations = tuple(read_relations(stated, keys, events))
    if holder:
        message = (
            f"offsets of annotations begin anew in each {holder}; its offset was added to them"
        )
        events.append(make_event("offsets-of-passages", step=STEP, message=message))
    if moved:
        message = (
            f"offsets were converted: they count {UNIT_NAMES[unit]}, and passages now "
            "stand one after the other"
        )
        events.append(make_event("offsets-moved", step=STEP, message=message))
    # If some passages have no sentences, the list of sentences is incomplete.
    is_known = bool(entry.passages) and all(
        passage.sentences and not passage.text for passage in entry.passages
    )
    return collector.document(
        identifier,
        before=events,
        sections=tuple(_sections(entry.passages, pieces, ranges)) or None,
        sentences=tuple((one.start, one.start + len(one.text)) for one in pieces if one.text)
        if is_known
        else None,
        meta=facts_of(entry.infons),
        relations=relations,
    )


def _pieces(passages: Sequence[Passage]) -> tuple[list[_Piece], list[range]]:
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


_Given = tuple[Annotation, list[_Piece], Mapping[str, int]]
"""An annotation, the texts that it may be in, and the offsets of its passage and its sentence."""


def _annotations(entry: Entry, pieces: list[_Piece], ranges: list[range]) -> Iterator[_Given]:
    """Yields all annotations, each with the texts near it and the offsets of its passage and
    sentence.
    """
    for passage, own in zip(entry.passages, ranges, strict=True):
        near = [pieces[at] for at in own]
        for holder in (passage, *passage.sentences):
            offsets = {"passage": passage.offset, "sentence": holder.offset}
            for annotation in holder.annotations:
                # The text of the passage has control characters again, that of an annotation has
                # their symbols.
                is_shown = CONTROLS in passage.infons and shows_controls(annotation.text or "")
                yield replace(annotation, text=None) if is_shown else annotation, near, offsets
    yield from [(annotation, pieces, _NO_OFFSETS) for annotation in entry.annotations]


def _counted(given: Sequence[_Given]) -> tuple[str, str]:
    """Detects the origin and the unit of the offsets by comparing the texts of the annotations.

    The default is code points from the start of the document (no holder); another way must fit more
    annotations.
    """
    told = [one for one in given if one[0].text and len(one[0].locations) == 1]
    if all(_fits(annotation, near, CODE_POINTS) for annotation, near, _ in told):
        return "", CODE_POINTS
    units = (
        [CODE_POINTS]
        if all(piece.text.isascii() for _, near, _ in told for piece in near)
        else [*UNIT_NAMES]
    )
    ways = [(holder, unit) for holder in ("", "passage", "sentence") for unit in units]
    return max(
        ways,
        key=lambda way: sum(
            _fits(from_start(one, at, way[0]), near, way[1]) for one, near, at in told
        ),
    )


def _fits(annotation: Annotation, near: list[_Piece], unit: str) -> bool:
    found = _within(annotation.locations[0], near, unit)
    return found is not None and found[0].text[found[1] : found[2]] == annotation.text


def _within(
    location: Location, near: Iterable[_Piece], unit: str
) -> tuple[_Piece, int, int] | None:
    """Finds the text that contains a range; returns it with start and end in that text, or
    ``None``.
    """
    for piece in near:
        start = piece.place(location.offset, unit)
        end = None if start is None else piece.place(location.offset + location.length, unit)
        if start is not None and end is not None:
            return piece, start, end
    return None


def _is_exact(pieces: Sequence[_Piece]) -> bool:
    """True if each text can be placed at its offset without too many blanks between the texts."""
    ends = [0, *(piece.offset + len(piece.text) for piece in pieces)]
    gaps = [piece.offset - end for piece, end in zip(pieces, ends, strict=False)]
    return all(gap >= 0 for gap in gaps) and sum(gaps) <= _MOST_BLANKS + sum(
        len(piece.text) for piece in pieces
    )


def _text(pieces: Sequence[_Piece], *, moved: bool) -> str:
    made: list[str] = []
    length = 0
    for piece in pieces:
        blanks = piece.infons.get(BLANKS)
        gap = bool(made) if moved else piece.offset - length
        told = isinstance(blanks, str) and len(blanks) == gap and not blanks.strip()
        made += [str(blanks) if told else " " * gap, piece.text]
        piece.start = length + gap
        length = piece.start + len(piece.text)
    return "".join(made)


def _add(
    annotation: Annotation,
    near: list[_Piece],
    collector: MentionCollector,
    events: list[Event],
    *,
    unit: str,
    moved: bool,
) -> MentionKey | None:
    infons = facts_of(annotation.infons)
    kind = infons.pop(TYPE, "").strip()
    if not kind:
        message = f"the annotation {annotation.id} has no type"
        events.append(make_event("mention-without-type", step=STEP, message=message))
        return None
    places = annotation.locations
    spans = [
        _moved(one, near, unit) if moved else (one.offset, one.offset + one.length)
        for one in places
    ]
    links, raw = _read_links(infons)
    return collector.add(
        spans, kind, expected=annotation.text, links=links, attributes=(*raw, *infons.items())
    )


def _read_links(infons: dict[str, str]) -> tuple[tuple[Link, ...], tuple[tuple[str, str], ...]]:
    """Takes the links out of the infons of an annotation; ids without a prefix belong to the
    named vocabulary.
    """
    links, raw = parse_links(["", "", "", "", "", infons.pop(IDENTIFIER, "")])
    given = infons.get(_VOCABULARY, "")
    names = given.split(_BETWEEN) if _BETWEEN in given else [given] * len(links)
    if not given or not links or len(names) != len(links):
        return links, raw
    found = tuple(
        one if one.ontology else _of(name, one.id) for name, one in zip(names, links, strict=True)
    )
    if [one.ontology for one in found] == names:
        del infons[_VOCABULARY]
    return found, raw


def _of(vocabulary: str, identifier: str) -> Link:
    full = f"{vocabulary}:{identifier}"
    return parse_link(full) if is_curie(full) else Link(id=identifier, ontology=vocabulary)


def _moved(location: Location, near: list[_Piece], unit: str) -> Span:
    found = _within(location, near, unit)
    return (0, 0) if found is None else (found[0].start + found[1], found[0].start + found[2])


def _sections(
    passages: Sequence[Passage], pieces: list[_Piece], ranges: list[range]
) -> Iterator[Section]:
    for passage, own in zip(passages, ranges, strict=True):
        name, facts = _name(passage)
        if (
            name
            and own
            and (end := pieces[own[-1]].start + len(pieces[own[-1]].text)) > pieces[own[0]].start
        ):
            yield Section(pieces[own[0]].start, end, name, tuple(facts.items()))


def _name(passage: Passage) -> tuple[str, dict[str, str]]:
    """Returns the name of the section that a passage is, and its further facts."""
    told = facts_of(passage.infons)
    facts = {
        key: value
        for key, value in told.items()
        if key not in (BLANKS, CONTROLS) and (key, value) != (SECTION, "")
    }
    name = facts.pop(SECTION if SECTION in facts else TYPE, "")
    return name.lower() if SECTION in passage.infons else name, facts


def _holders(entry: Entry) -> list[Any]:
    return [
        entry,
        *entry.passages,
        *(one for passage in entry.passages for one in passage.sentences),
    ]


def _left_out(entry: Entry) -> Iterator[Event]:
    sentences = [one for passage in entry.passages for one in passage.sentences]
    nameless = [_name(one)[1] for one in entry.passages if not _name(one)[0]]
    keys = {key for infons in (*nameless, *(one.infons for one in sentences)) for key in infons} - {
        TYPE,
        BLANKS,
        CONTROLS,
    }
    if keys:
        message = f"these facts of passages are not read: {', '.join(sorted(keys))}"
        yield make_event("infons-left-out", step=STEP, message=message)


SOURCE: Final = "Fascicle"  # of collections
_WHOLE: Final = "ids text-between-words mentions relations discontinuous nested"


def bioc_fields(name: str, partly: str = "") -> HeldFields:
    """Returns the fields that BioC can hold, with the format's name for messages, and further
    ones held in part.
    """
    partly += " sections section-attributes links link-ontologies link-curies attributes meta"
    return held_fields(name, _WHOLE, partly=partly)


def to_entry(
    document: Document, report: WriteReport, *, can_hold: Callable[[str], bool] = lambda text: True
) -> Entry:
    """Makes the BioC entry of a document: a passage for each section, and one for the text between
    two sections.

    Text of blanks only between two sections is in no passage; unless it is a single blank, it is
    kept in the infon ``blanks-before`` of the next passage.

    Args:
        document: what is to be written.
        report: receives the counts of what cannot be held.
        can_hold: true if the file can hold a given text.

    Raises:
        InputError: an id or a type that cannot be written.
    """
    identifier = check_name(document.id, what="the document id")
    passages = _passages(document, report, can_hold)
    numbers: dict[MentionKey, str] = {}
    offsets = [one.offset for one in passages]
    for number, mention in enumerate(document.mentions):
        numbers[mention.key] = str(number)
        home = passages[max(0, bisect_right(offsets, mention.start) - 1)]
        home.annotations.append(_annotation(mention, number, document, report, can_hold))
    facts = {
        key: value for key, value in document.meta.items() if (key, value) != ("text", "joined")
    }
    infons = {key: value for key, value in facts.items() if can_hold(key) and can_hold(value)}
    if lost := len(facts) - len(infons):
        report.lose("meta", document, count=lost)
    relations = [related(one, numbers, document, report, can_hold) for one in document.relations]
    named = [replace(one, id=f"R{at}") for at, one in enumerate(filter(None, relations))]
    return Entry(id=identifier, infons=infons, passages=passages, relations=named)


def _passages(
    document: Document, report: WriteReport, can_hold: Callable[[str], bool]
) -> list[Passage]:
    text, found, at = document.text, [], 0
    starts = sorted(mention.start for mention in document.mentions)
    for section in separate_sections(document, report):
        gap, infons = text[at : section.start], _infons(section, can_hold)
        if lost := len(section.attributes) - len(infons) + 1:
            report.lose("section-attributes", document, count=lost)
        if not can_hold(section.name):
            report.lose("sections", document)
        # A mention outside all passages would be a reason to read its offsets in another unit.
        if (
            gap.strip()
            or not can_hold(gap)
            or bisect_left(starts, at) < bisect_left(starts, section.start)
        ):
            found.append(Passage(offset=at, text=gap, annotations=[], infons={}))
        elif gap.strip(" "):
            infons[BLANKS] = gap
        found.append(
            Passage(
                offset=section.start,
                text=text[section.start : section.end],
                annotations=[],
                infons=infons,
            )
        )
        at = section.end
    if at < len(text) or not found:
        found.append(Passage(offset=at, text=text[at:], annotations=[], infons={}))
    return found


def _infons(section: Section, can_hold: Callable[[str], bool]) -> dict[str, str]:
    """Returns the infons of a passage: its name, and the attributes that do not hide it."""
    facts = {key: value for key, value in section.attributes if can_hold(key) and can_hold(value)}
    for key in (SECTION, *_OURS, *([TYPE] if section.name != section.name.lower() else [])):
        facts.pop(key, None)
    return {SECTION if TYPE in facts else TYPE: section.name, **facts}


def _annotation(
    mention: Mention,
    number: int,
    document: Document,
    report: WriteReport,
    can_hold: Callable[[str], bool],
) -> Annotation:
    kind = check_name(mention.type, what=f"the type of a mention of document {document.id!r},")
    infons, lost = {TYPE: kind}, 0
    concept = concept_column(mention)
    concept = concept if can_hold(concept) else ""
    if concept:
        infons[IDENTIFIER] = concept
        names = [parse_link(link_text(link)).ontology or link.ontology for link in mention.links]
        vocabulary = names[0] if len(set(names)) == 1 else _BETWEEN.join(names)
        if (
            names
            and all(names)
            and can_hold(vocabulary)
            and not any(_BETWEEN in name for name in names)
        ):
            infons[_VOCABULARY] = vocabulary
    links, raw = _read_links(rest := dict(infons))
    # it would be read as a fact: the ids are fewer than their vocabularies
    if rest.pop(_VOCABULARY, ""):
        del infons[_VOCABULARY]
        links, raw = _read_links(dict(infons))
    count_links(mention, links, document, report)
    for key, value in mention.attributes:
        if key == RAW_ID or key in infons or not (can_hold(key) and can_hold(value)):
            lost += (key, value) not in raw
        else:
            infons[key] = value
    if lost:
        report.lose("attributes", document, mention, count=lost)
    locations = [Location(start, end - start) for start, end in mention.spans]
    text = mention.text_in(document.text)
    return Annotation(id=str(number), infons=infons, text=text, locations=locations)
