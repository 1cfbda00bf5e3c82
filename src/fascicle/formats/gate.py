"""Documents of GATE: sets of annotations beside the text, and their JSON (``bdocjs``), as gatenlp
and the plugin Format_Bdoc write it.

The JSON is described at https://gatenlp.github.io/gateplugin-Format_Bdoc/bdoc_document.html.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from fascicle.core.document import GOLD, Document, Event
from fascicle.core.effects import make_event
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.formats.collect import MentionCollector, text_facts
from fascicle.formats.offset_units import UTF16, Conversion, conversion, convert_spans

STEP: Final = "gate"
_PYTHON, _JAVA = "p", "j"  # code points, and UTF-16 units
_KEY: Final = "Key"  # the set of reference annotation, by GATE's convention
_WORD, _SENTENCE = "Token", "Sentence"
_STRUCTURE: Final = frozenset({_WORD, _SENTENCE, "SpaceToken", "Split"})
_MARKUP: Final = "Original markups"  # the set of the tags that the file of a text had


class GateAnnotation(msgspec.Struct):
    """Annotation with its offsets."""

    type: str
    start: int
    end: int
    features: dict[str, Any] = {}


class GateSet(msgspec.Struct):
    """Annotations of one set."""

    annotations: list[GateAnnotation] = []


class GateDocument(msgspec.Struct):
    """Text with the annotation sets of each name.

    Attributes:
        text: of the document.
        annotation_sets: by their names; the default set has the empty name.
        features: facts about the document.
        offset_type: ``"p"`` if offsets count code points, ``"j"`` for UTF-16 units.
    """

    text: str
    annotation_sets: dict[str, GateSet]
    features: dict[str, Any] = {}
    offset_type: str = _PYTHON


def from_record(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document from a record, see `make_document`.

    Args:
        record: with ``text`` and ``annotation_sets``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a part has another form, or the unit of the offsets is unknown.
    """
    return make_document(msgspec.convert(record, GateDocument), identifier, meta=meta)


def make_document(
    stated: GateDocument, identifier: str, *, meta: dict[str, str], events: Iterable[Event] = ()
) -> Document:
    """Makes a document from one of GATE.

    The mentions of ``Key``, if there is such a set, of the only set, or else of the set without a
    name are gold; other sets are sources of their own. Features are attributes. Annotations of the
    types ``Token`` and ``Sentence`` are words and sentences. Tags of the original file are left
    out.

    Args:
        stated: what the file has.
        identifier: id of the document.
        meta: further facts.
        events: of the reader.

    Raises:
        ValueError: a part has another form, or the unit of the offsets is unknown.
    """
    if stated.offset_type not in (_PYTHON, _JAVA):
        raise ValueError(
            f"offset_type is {stated.offset_type!r}; allowed are {_PYTHON} and {_JAVA}"
        )
    convert = conversion(stated.text, UTF16) if stated.offset_type == _JAVA else int
    collector = MentionCollector(stated.text, step=STEP)
    mentions = _mentions(stated)
    sources = _sources(stated, mentions)
    for name, layer in mentions.items():
        for annotation in layer:
            collector.add(
                convert_spans([(annotation.start, annotation.end)], convert),
                annotation.type,
                attributes=tuple(text_facts(annotation.features).items()),
                source=sources.get(name, name),
            )
    notes = [*events, *_markup_note(stated)]
    return collector.document(
        identifier,
        sentences=_ranges(stated, _SENTENCE, convert, events=notes),
        words=_ranges(stated, _WORD, convert, events=notes),
        meta={**meta, **text_facts(stated.features)},
        events=notes,
    )


def _sources(stated: GateDocument, mentions: Iterable[str]) -> dict[str, str]:
    """Returns the sources of sets that are called otherwise; ``mentions`` are sets with some."""
    names = [_KEY] if _KEY in stated.annotation_sets else sorted(mentions, key=bool)
    return {"": STEP, GOLD: f"{STEP}-{GOLD}", next(iter(names), ""): GOLD}


def _markup_note(stated: GateDocument) -> Iterator[Event]:
    """Yields a note of the tags of the original file, if there are any."""
    if (tags := stated.annotation_sets.get(_MARKUP)) and tags.annotations:
        count = plural(len(tags.annotations), "annotation")
        message = f"{count} of the set {_MARKUP} are tags of the original file, and are left out"
        yield Event(step=STEP, kind="note", code="tags-left-out", message=message)


def _mentions(stated: GateDocument) -> dict[str, list[GateAnnotation]]:
    """Returns the annotations of each set that are mentions, without the sets that have none."""
    mentions: defaultdict[str, list[GateAnnotation]] = defaultdict(list)
    for name, layer in stated.annotation_sets.items():
        for annotation in layer.annotations:
            if name != _MARKUP and annotation.type not in _STRUCTURE:
                mentions[name].append(annotation)
    return mentions


def _ranges(
    stated: GateDocument, kind: str, convert: Conversion, *, events: list[Event]
) -> tuple[Span, ...] | None:
    """Returns the annotations of a type in the first set that has it, and counts those that overlap
    one before them or hold no text; ``None`` if there are none.
    """
    for layer in stated.annotation_sets.values():
        places = {(place.start, place.end) for place in layer.annotations if place.type == kind}
        ranges: list[Span] = []
        for start, end in convert_spans(sorted(places), convert):
            if (ranges[-1][1] if ranges else 0) <= start < end <= len(stated.text):
                ranges.append((start, end))
        if losses := len(places) - len(ranges):
            message = f"{plural(losses, 'annotation')} {kind} left out: empty, or overlap others"
            events.append(make_event("parts-left-out", step=STEP, message=message))
        if places:
            return tuple(ranges) or None
    return None
