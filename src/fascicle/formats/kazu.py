"""JSON of Kazu: documents of sections with entities, one document per line, an array of them, or a
single one.

Offsets of an entity count from the beginning of its section. Facts that Kazu has no place for are
in the ``metadata`` of a document, a section, an entity or a mapping, which Kazu keeps as they are
(https://github.com/AstraZeneca/KAZU, ``kazu.data``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Event, Link, Mention, Section
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.core.mention import Span, is_curie
from fascicle.errors import FormatError, explain_errors
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import FormatReader, FormatWriter, separate_sections
from fascicle.formats.losses import EVERYTHING, HeldFields, facts_of_source
from fascicle.formats.offset_units import AUTO
from fascicle.formats.records import read_records
from fascicle.formats.report import ReadReport, WriteReport

_STEP: Final = "kazu"
_HOLDS: Final = HeldFields(
    format="the JSON of Kazu",
    fields=EVERYTHING - {"words", "abbreviations", "changes", "relations", "nil-links"},
    partly=frozenset({"sections", "section-attributes", "sentences"}),
)
_UNNAMED: Final = "na"  # what Kazu calls the section of a text that has no sections
_BETWEEN: Final = "\n\n"
_BEFORE: Final = "before"  # in the metadata of a section: the blanks before it
_SCORE: Final = "score"  # in the metadata of an entity or a mapping, as what follows
_FACTS: Final = "attributes"
_RANK: Final = "rank"  # among the mappings of an entity, which Kazu keeps as a set
_CURIE: Final = "curie"
_TIER: Final = "tier"
_SAME: Final = "same"
_SURE: Final = "HIGHLY_LIKELY"
_ENCODER: Final = msgspec.json.Encoder()


class _Range(msgspec.Struct):
    start: int
    end: int


class _Mapping(msgspec.Struct, omit_defaults=True):
    default_label: str
    source: str
    parser_name: str
    idx: str
    string_match_strategy: str = ""
    string_match_confidence: str = ""
    metadata: dict[str, Any] = {}
    disambiguation_confidence: str | None = None
    disambiguation_strategy: str | None = None
    xref_source_parser_name: str | None = None


class _Entity(msgspec.Struct, omit_defaults=True):
    match: str
    entity_class: str
    spans: list[_Range]
    namespace: str
    mention_confidence: str = _SURE
    mappings: list[_Mapping] = []
    metadata: dict[str, Any] = {}
    start: int = -1
    end: int = -1
    match_norm: str = ""
    linking_candidates: list[Any] = []


class _Section(msgspec.Struct, omit_defaults=True):
    text: str
    name: str
    metadata: dict[str, Any] = {}
    entities: list[_Entity] = []
    sentence_spans: list[_Range] = []


class _Document(msgspec.Struct, omit_defaults=True):
    idx: str
    sections: list[_Section]
    metadata: dict[str, Any] = {}


# -- reading ---------------------------------------------------------------------------------------


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a file.

    Args:
        source: the file.
        options: none.
        report: a record of another form is set aside.

    Raises:
        FormatError: no JSON, or no document of Kazu.
    """
    for place, value in read_records(source):
        with report.aside.one():
            if isinstance(value, FormatError):
                raise value
            yield _document(value, place)


def _document(value: Any, place: str) -> Document:
    advice = "; it has idx and sections, and each section a text and a name"
    with explain_errors(
        "no document of Kazu",
        msgspec.ValidationError,
        ValueError,
        TypeError,
        at=place,
        advice=advice,
    ):
        record = msgspec.convert(value, _Document)
        text, starts = _join_texts(record.sections)
        collector = MentionCollector(text, step=_STEP, unit=AUTO)
        for section, start in zip(record.sections, starts, strict=True):
            for entity in section.entities:
                _add(collector, entity, start)

        return collector.document(
            record.idx,
            sections=tuple(_sections(record.sections, starts)) or None,
            sentences=_sentences(record.sections, starts),
            meta=_facts(record.metadata),
            events=_events(record),
        )


def _facts(metadata: Mapping[str, Any]) -> dict[str, str]:
    return {
        key: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for key, value in metadata.items()
    }


def _join_texts(sections: Sequence[_Section]) -> tuple[str, list[int]]:
    """Returns the text of all sections, and the start of each section in it."""
    parts, starts, length = list[str](), list[int](), 0
    for section in sections:
        before = section.metadata.pop(_BEFORE) if _has_blanks(section) else _BETWEEN * bool(parts)
        starts.append(length + len(before))
        parts += [before, section.text]
        length = starts[-1] + len(section.text)
    return "".join(parts), starts


def _has_blanks(section: _Section) -> bool:
    """True if the metadata of a section say which blanks are before it."""
    blanks = section.metadata.get(_BEFORE)
    return isinstance(blanks, str) and not blanks.strip()


def _sections(sections: Sequence[_Section], starts: Sequence[int]) -> Iterator[Section]:
    for section, start in zip(sections, starts, strict=True):
        if _has_name(section):
            yield Section(
                start,
                start + len(section.text),
                section.name,
                tuple(_facts(section.metadata).items()),
            )


def _sentences(sections: Sequence[_Section], starts: Sequence[int]) -> tuple[Span, ...] | None:
    """Returns the sentences; ``None`` if a section with text has no sentences, because the list
    would be incomplete.
    """
    if not any(section.text for section in sections):
        return None
    if any(section.text.strip() and not section.sentence_spans for section in sections):
        return None
    return tuple(
        sorted(
            (start + sentence.start, start + sentence.end)
            for section, start in zip(sections, starts, strict=True)
            for sentence in section.sentence_spans
        )
    )


def _add(collector: MentionCollector, entity: _Entity, start: int) -> None:
    facts = entity.metadata.get(_FACTS)
    attributes = (
        [(str(name), str(value)) for name, value in facts] if isinstance(facts, list) else []
    )
    if entity.mention_confidence != _SURE:
        attributes.append(("mention-confidence", entity.mention_confidence))

    mappings = sorted(
        entity.mappings,
        key=lambda mapping: (str(mapping.metadata.get(_RANK, "")), mapping.source, mapping.idx),
    )
    collector.add(
        [(start + span.start, start + span.end) for span in entity.spans],
        entity.entity_class,
        expected=entity.match,
        source=entity.namespace,
        score=_number(entity.metadata.get(_SCORE)),
        links=tuple(map(_link, mappings)),
        attributes=tuple(attributes),
    )


def _link(mapping: _Mapping) -> Link:
    facts = mapping.metadata
    return Link(
        id=mapping.idx,
        ontology=mapping.source,
        name=mapping.default_label,
        score=_number(facts.get(_SCORE)),
        tier=str(facts.get(_TIER, "")),
        curie=str(facts.get(_CURIE, "")),
        same=tuple(filter(is_curie, str(facts.get(_SAME, "")).split())),
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _events(record: _Document) -> Iterator[Event]:
    """Yields an event about the parts of a document that are not read, if it has any."""
    entities = [entity for section in record.sections for entity in section.entities]
    counts = {
        "candidates for links": sum(len(entity.linking_candidates) for entity in entities),
        "strategies of mappings": sum(
            mapping.string_match_strategy not in ("", _STEP)
            for entity in entities
            for mapping in entity.mappings
        ),
        "further facts of entities": sum(
            len(entity.metadata.keys() - {_FACTS, _SCORE}) for entity in entities
        ),
        "further facts of sections": sum(
            len(section.metadata) for section in record.sections if not _has_name(section)
        ),
    }
    if listing := ", ".join(f"{what} {count:,}" for what, count in counts.items() if count):
        message = f"these parts are not read: {listing}"
        yield make_event("parts-left-out", step=_STEP, message=message)


def _has_name(section: _Section | Section) -> bool:
    return section.name not in ("", _UNNAMED)


# -- writing ---------------------------------------------------------------------------------------


def _encode(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as one line."""
    parts = _divide(document, report)
    sections = _make_sections(document, parts, report)
    for mention in document.mentions:
        home = _home(parts, mention.start, mention.end)
        if home is None:
            report.lose("across-sections", document, mention)
            report.mentions -= 1
            continue
        sections[home].entities.append(_entity(mention, document.text, parts[home].start))

    _add_sentences(document, parts, sections, report)
    record = _Document(idx=document.id, sections=sections, metadata=facts_of_source(document))
    return _ENCODER.encode(record) + b"\n"


def _divide(document: Document, report: WriteReport) -> list[Section]:
    """Returns the sections of a document, and a section for each text outside them."""
    parts, end = list[Section](), 0
    for section in separate_sections(document, report, fits=_has_name):
        if document.text[end : section.start].strip():
            parts.append(Section(end, section.start, _UNNAMED))
        parts.append(section)
        end = section.end
    if end < len(document.text) or not parts:
        parts.append(Section(end, len(document.text), _UNNAMED))
    return parts


def _make_sections(
    document: Document, parts: Sequence[Section], report: WriteReport
) -> list[_Section]:
    """Makes the sections of Kazu, still without entities; each keeps the blanks before it."""
    sections, end = list[_Section](), 0
    for part in parts:
        facts = {key: value for key, value in part.attributes if key != _BEFORE}
        if count := len(part.attributes) - len(facts):
            report.lose("section-attributes", document, count=count)
        blanks = document.text[end : part.start]
        if blanks != _BETWEEN * bool(sections):
            facts[_BEFORE] = blanks

        text = document.text[part.start : part.end]
        sections.append(
            _Section(text=text, name=part.name, metadata=facts, entities=[], sentence_spans=[])
        )
        end = part.end
    return sections


def _add_sentences(
    document: Document, parts: Sequence[Section], sections: Sequence[_Section], report: WriteReport
) -> None:
    for start, end in document.sentences or ():
        home = _home(parts, start, end)
        if home is not None:
            first = parts[home].start
            sections[home].sentence_spans.append(_Range(start - first, end - first))

    starts = [part.start for part in parts]
    if document.sentences and _sentences(sections, starts) != document.sentences:
        report.lose("sentences", document)


def _home(parts: Sequence[Section], start: int, end: int) -> int | None:
    """Returns the number of the section that contains a range."""
    number = bisect_right(parts, start, key=attrgetter("start")) - 1
    return number if number >= 0 and end <= parts[number].end else None


def _entity(mention: Mention, text: str, start: int) -> _Entity:
    facts: dict[str, Any] = {} if mention.score is None else {_SCORE: mention.score}
    if mention.attributes:
        facts[_FACTS] = mention.attributes
    words = mention.text_in(text)
    links = [link for link in mention.links if not link.nil]
    return _Entity(
        match=words,
        match_norm=words.upper(),
        entity_class=mention.type,
        spans=[_Range(first - start, last - start) for first, last in mention.spans],
        namespace=mention.source,
        mappings=[_mapping(link, rank) for rank, link in enumerate(links)],
        metadata=facts,
        start=mention.start - start,
        end=mention.end - start,
    )


def _mapping(link: Link, rank: int) -> _Mapping:
    facts: dict[str, Any] = {
        _RANK: f"{rank:06}",
        _SCORE: link.score,
        _TIER: link.tier,
        _CURIE: link.curie,
    }
    facts[_SAME] = " ".join(link.same)
    return _Mapping(
        default_label=link.name,
        source=link.ontology,
        parser_name=link.ontology,
        idx=link.id,
        string_match_strategy=_STEP,
        string_match_confidence=_SURE,
        metadata={key: value for key, value in facts.items() if value not in (None, "")},
    )


READER: Final = FormatReader(read=read)
WRITER: Final = FormatWriter(holds=_HOLDS, encoder=lambda _: _encode)
