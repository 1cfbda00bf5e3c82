"""Documents of BioC: passages with annotations; read from the records of XML and JSON alike.

Comeau et al. (2013), BioC: a minimalist approach to interoperability for biomedical text
processing, Database 2013, bat064. The document type is at https://bioc.sourceforge.net/BioC.dtd.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from fascicle.core.document import Document, Event, Link, MentionKey, Section
from fascicle.core.effects import make_event
from fascicle.core.mention import Mention, Span, is_curie, parse_link
from fascicle.errors import FormatError, Place
from fascicle.formats.bioc_offsets import (
    BLANKS,
    BiocCandidate,
    BiocCounting,
    BiocText,
    convert_location,
    counting_events,
    detect_counting,
    find_layout,
    is_as_stated,
    join_texts,
)
from fascicle.formats.bioc_records import (
    CONTROLS,
    STEP,
    TYPE,
    BiocAnnotation,
    BiocDocument,
    BiocPassage,
    HolderPath,
    Sentence,
    from_start,
    read_relations,
    shows_controls,
)
from fascicle.formats.collect import MentionCollector, text_facts
from fascicle.formats.concepts import take_concepts
from fascicle.formats.pubtator import parse_ids

SECTION, IDENTIFIER = "section_type", "identifier"
VOCABULARY: Final = "vocabulary"
BETWEEN: Final = "|"  # of several vocabularies, as of several identifiers
_SHORT, _FEW = 64, 4  # characters of an infon, and infons of an annotation, that are kept


_NO_OFFSETS: Final[Mapping[str, int]] = MappingProxyType({})


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
    counting = detect_counting(candidates)
    layout = find_layout(pieces, ranges, candidates, counting)
    collector = MentionCollector(join_texts(pieces, layout), step=STEP)
    events = list(_left_out(entry))
    is_moved = layout.is_moved or bool(counting.holder)
    keys = [
        (each.holder, str(each.annotation.id), _add(each, counting, collector, events, is_moved))
        for each in candidates
    ]
    stated = [(path, relation) for path, holder in _holders(entry) for relation in holder.relations]
    relations = tuple(read_relations(stated, keys, events))
    return collector.document(
        identifier,
        before=(*events, *counting_events(counting, layout)),
        sections=tuple(_sections(entry.passages, pieces, ranges)) or None,
        sentences=_sentences(entry.passages, pieces),
        meta=text_facts(entry.infons),
        relations=relations,
    )


def _sentences(
    passages: Sequence[BiocPassage], pieces: Sequence[BiocText]
) -> tuple[Span, ...] | None:
    """Returns the sentences; ``None`` if some passages have none, for then the list is not
    complete.
    """
    if not passages or any(passage.text or not passage.sentences for passage in passages):
        return None
    return tuple((piece.start, piece.start + len(piece.text)) for piece in pieces if piece.text)


def _pieces(passages: Sequence[BiocPassage]) -> tuple[list[BiocText], list[range]]:
    """Returns the texts of all passages, and for each passage the range of its texts."""
    pieces: list[BiocText] = []
    ranges = []
    for passage in passages:
        first = len(pieces)
        parts: Sequence[Sentence] = (
            (passage,) if passage.text or not passage.sentences else passage.sentences
        )
        pieces += [BiocText(part, passage.infons if part is parts[0] else {}) for part in parts]
        ranges.append(range(first, len(pieces)))
    return pieces, ranges


def _candidates(
    entry: BiocDocument, pieces: list[BiocText], ranges: list[range]
) -> Iterator[BiocCandidate]:
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
                as_stated = is_as_stated(annotation, near)
                yield BiocCandidate(annotation, path, near, offsets, as_stated)
    for annotation in entry.annotations:
        as_stated = is_as_stated(annotation, pieces)
        yield BiocCandidate(annotation, (), pieces, _NO_OFFSETS, as_stated)


def _without_symbols(annotation: BiocAnnotation) -> BiocAnnotation:
    """Returns an annotation without its text, if that shows control characters."""
    return replace(annotation, text=None) if shows_controls(annotation.text or "") else annotation


def _add(
    candidate: BiocCandidate,
    counting: BiocCounting,
    collector: MentionCollector,
    events: list[Event],
    is_moved: bool,
) -> MentionKey | None:
    """Adds the mention of an annotation; one that is as stated is not compared again."""
    annotation = candidate.annotation
    kind, links, attributes = _facts_of(annotation.infons)
    if not kind:
        message = f"the annotation {annotation.id} has no type"
        events.append(make_event("mention-without-type", step=STEP, message=message))
        return None
    if candidate.as_stated and not is_moved:
        (location,) = annotation.locations
        span = location.offset, location.offset + location.length
        return collector.keep(Mention((span,), kind, links=links, attributes=attributes))
    if counting.holder:
        annotation = from_start(annotation, candidate.offsets, counting.holder)
    spans = [
        convert_location(location, candidate.near, counting.unit)
        if is_moved
        else (location.offset, location.offset + location.length)
        for location in annotation.locations
    ]
    # what was compared already is not compared again
    expected = None if counting.fits and len(spans) == 1 else annotation.text
    return collector.add(
        spans, kind, expected=expected, is_standoff=True, links=links, attributes=attributes
    )


_Facts = tuple[str, tuple[Link, ...], tuple[tuple[str, str], ...]]


def _facts_of(infons: Mapping[str, Any]) -> _Facts:
    """Returns the type, the links and the attributes of an annotation."""
    for key, value in infons.items():
        if type(value) is not str or len(key) + len(value) > _SHORT:
            return _read_facts(tuple(text_facts(infons).items()))
    return (_known_facts if len(infons) <= _FEW else _read_facts)(tuple(infons.items()))


def _read_facts(items: tuple[tuple[str, str], ...]) -> _Facts:
    infons = dict(items)
    kind = infons.pop(TYPE, "").strip()
    links, raw = read_links(infons)
    attributes = (*raw, *infons.items())
    return (kind, *take_concepts(links, attributes)) if attributes else (kind, links, attributes)


# a file says the same of many annotations
_known_facts: Final = lru_cache(maxsize=2**12)(_read_facts)


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


def _sections(
    passages: Sequence[BiocPassage], pieces: list[BiocText], ranges: list[range]
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
