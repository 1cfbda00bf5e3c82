"""JSON of Kazu: documents of sections with entities, one document per line, an array of them, or a
single one.

Offsets of an entity count from the beginning of its section. Facts that Kazu has no place for are
in the ``metadata`` of a document, a section, an entity or a mapping, which Kazu keeps as they are
(https://github.com/AstraZeneca/KAZU, ``kazu.data``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Event, Link, Mention, Section
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.core.mention import Span, is_curie
from fascicle.errors import FormatError, explain_errors
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import Reader, Writer, separate_sections
from fascicle.formats.losses import EVERYTHING, HeldFields
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
        given = msgspec.convert(value, _Document)
        text, starts = _placed(given.sections)
        collector = MentionCollector(text, step=_STEP, unit=AUTO)
        for section, start in zip(given.sections, starts, strict=True):
            for entity in section.entities:
                _add(collector, entity, start)
        return collector.document(
            given.idx,
            sections=tuple(_sections(given.sections, starts)) or None,
            sentences=_sentences(given.sections, starts),
            meta=_facts(given.metadata),
            events=_left_out(given),
        )


def _facts(given: Mapping[str, Any]) -> dict[str, str]:
    return {
        key: one if isinstance(one, str) else msgspec.json.encode(one).decode()
        for key, one in given.items()
    }


def _placed(sections: Sequence[_Section]) -> tuple[str, list[int]]:
    """Returns the text of all sections, and the start of each section in it."""
    parts, starts, length = list[str](), list[int](), 0
    for section in sections:
        before = section.metadata.pop(_BEFORE) if _has_blanks(section) else _BETWEEN * bool(parts)
        starts.append(length + len(before))
        parts += [before, section.text]
        length = starts[-1] + len(section.text)
    return "".join(parts), starts


def _has_blanks(section: _Section) -> bool:
    """True if the metadata of a section say what stands before it."""
    told = section.metadata.get(_BEFORE)
    return isinstance(told, str) and not told.strip()


def _sections(sections: Sequence[_Section], starts: Sequence[int]) -> Iterator[Section]:
    for section, start in zip(sections, starts, strict=True):
        if section.name not in ("", _UNNAMED):
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
            (start + one.start, start + one.end)
            for section, start in zip(sections, starts, strict=True)
            for one in section.sentence_spans
        )
    )


def _add(collector: MentionCollector, entity: _Entity, start: int) -> None:
    spans = [(start + one.start, start + one.end) for one in entity.spans]
    facts = entity.metadata.get(_FACTS)
    attributes = [(str(name), str(one)) for name, one in facts] if isinstance(facts, list) else []
    if entity.mention_confidence != _SURE:
        attributes.append(("mention-confidence", entity.mention_confidence))
    ordered = sorted(
        entity.mappings, key=lambda one: (str(one.metadata.get(_RANK, "")), one.source, one.idx)
    )
    collector.add(
        spans,
        entity.entity_class,
        expected=entity.match,
        source=entity.namespace,
        score=_number(entity.metadata.get(_SCORE)),
        links=tuple(map(_link, ordered)),
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


def _left_out(given: _Document) -> Iterator[Event]:
    entities = [one for section in given.sections for one in section.entities]
    counts = {
        "candidates for links": sum(len(one.linking_candidates) for one in entities),
        "strategies of mappings": sum(
            one.string_match_strategy not in ("", _STEP)
            for entity in entities
            for one in entity.mappings
        ),
        "further facts of entities": sum(
            len(one.metadata.keys() - {_FACTS, _SCORE}) for one in entities
        ),
        "further facts of sections": sum(
            len(one.metadata) for one in given.sections if one.name in ("", _UNNAMED)
        ),
    }
    if listed := ", ".join(f"{what} {count:,}" for what, count in counts.items() if count):
        yield make_event(
            "parts-left-out", step=_STEP, message=f"these parts are not read: {listed}"
        )


# -- writing ---------------------------------------------------------------------------------------


def _encode(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as one line."""
    sections, starts = _made(document, report)
    ends = [start + len(section.text) for section, start in zip(sections, starts, strict=True)]
    for mention in document.mentions:
        home = _home(mention.start, mention.end, starts, ends)
        if home is None:
            report.lose("across-sections", document, mention)
            report.mentions -= 1
            continue
        sections[home].entities.append(_entity(mention, document.text, starts[home]))
    for start, end in document.sentences or ():
        home = _home(start, end, starts, ends)
        if home is not None:
            sections[home].sentence_spans.append(_Range(start - starts[home], end - starts[home]))
    if document.sentences and _sentences(sections, starts) != document.sentences:
        report.lose("sentences", document)
    facts = {
        key: value for key, value in document.meta.items() if (key, value) != ("text", "joined")
    }
    return _ENCODER.encode(_Document(idx=document.id, sections=sections, metadata=facts)) + b"\n"


def _made(document: Document, report: WriteReport) -> tuple[list[_Section], list[int]]:
    """Makes a section for each section of a document and for other text; the next section keeps
    blanks between them.
    """
    found, starts, at = list[_Section](), list[int](), 0

    def add(start: int, end: int, name: str, attributes: Sequence[tuple[str, str]] = ()) -> None:
        blanks = document.text[starts[-1] + len(found[-1].text) if found else 0 : start]
        told = {key: value for key, value in attributes if key != _BEFORE}
        if lost := len(attributes) - len(told):
            report.lose("section-attributes", document, count=lost)
        if blanks != _BETWEEN * bool(found):
            told[_BEFORE] = blanks
        found.append(
            _Section(
                text=document.text[start:end],
                name=name,
                metadata=told,
                entities=[],
                sentence_spans=[],
            )
        )
        starts.append(start)

    for section in separate_sections(
        document, report, fits=lambda one: one.name not in ("", _UNNAMED)
    ):
        if document.text[at : section.start].strip():
            add(at, section.start, _UNNAMED)
        add(section.start, section.end, section.name, section.attributes)
        at = section.end
    if at < len(document.text) or not found:
        add(at, len(document.text), _UNNAMED)
    return found, starts


def _home(start: int, end: int, starts: Sequence[int], ends: Sequence[int]) -> int | None:
    """Returns the number of the section that contains a range."""
    at = bisect_right(starts, start) - 1
    return at if at >= 0 and end <= ends[at] else None


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


READER: Final = Reader(read=read)
WRITER: Final = Writer(holds=_HOLDS, encoder=lambda _: _encode)
