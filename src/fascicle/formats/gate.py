"""JSON of GATE (``bdocjs``), as gatenlp and the plugin Format_Bdoc write it: sets of annotations
beside the text.

The format is described at https://gatenlp.github.io/gateplugin-Format_Bdoc/bdoc_document.html.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Span
from fascicle.formats.collect import MentionCollector, text_facts
from fascicle.formats.offset_units import UTF16, Conversion, conversion, convert_spans

STEP: Final = "gate"
_PYTHON, _JAVA = "p", "j"  # code points, and UTF-16 units
_KEY: Final = "Key"  # the set of reference annotation, by GATE's convention
_WORD, _SENTENCE = "Token", "Sentence"
_STRUCTURE: Final = frozenset({_WORD, _SENTENCE, "SpaceToken", "Split"})


class _Annotation(msgspec.Struct):
    type: str
    start: int
    end: int
    features: dict[str, Any] = {}


class _Set(msgspec.Struct):
    annotations: list[_Annotation] = []


class _Record(msgspec.Struct):
    text: str
    annotation_sets: dict[str, _Set]
    features: dict[str, Any] = {}
    offset_type: str = "p"


def from_record(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document from a record.

    The mentions of the only set, of ``Key``, or else of the set without a name are gold; other sets
    are sources of their own. Features are attributes. Annotations of the types ``Token`` and
    ``Sentence`` are words and sentences.

    Args:
        record: with ``text`` and ``annotation_sets``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a part has another form, or the unit of the offsets is unknown.
    """
    stated = msgspec.convert(record, _Record)
    if stated.offset_type not in (_PYTHON, _JAVA):
        raise ValueError(
            f"offset_type is {stated.offset_type!r}; allowed are {_PYTHON} and {_JAVA}"
        )
    convert = conversion(stated.text, UTF16) if stated.offset_type == _JAVA else int
    collector = MentionCollector(stated.text, step=STEP)
    mentions = _mentions(stated)
    gold = _KEY if _KEY in mentions else "" if "" in mentions else next(iter(mentions), "")
    for name, layer in mentions.items():
        for annotation in layer:
            collector.add(
                convert_spans([(annotation.start, annotation.end)], convert),
                annotation.type,
                attributes=tuple(text_facts(annotation.features).items()),
                source=GOLD if name == gold else name or STEP,
            )
    return collector.document(
        identifier,
        sentences=_ranges(stated, _SENTENCE, convert),
        words=_ranges(stated, _WORD, convert),
        meta={**meta, **text_facts(stated.features)},
    )


def _mentions(stated: _Record) -> dict[str, list[_Annotation]]:
    """Returns the annotations of each set that are mentions, without the sets that have none."""
    mentions: defaultdict[str, list[_Annotation]] = defaultdict(list)
    for name, layer in stated.annotation_sets.items():
        for annotation in layer.annotations:
            if annotation.type not in _STRUCTURE:
                mentions[name].append(annotation)
    return mentions


def _ranges(stated: _Record, kind: str, convert: Conversion) -> tuple[Span, ...] | None:
    """Returns the annotations of a type in the first set that has it; ``None`` if there are
    none.
    """
    for layer in stated.annotation_sets.values():
        places = [(place.start, place.end) for place in layer.annotations if place.type == kind]
        if places:
            return convert_spans(sorted(set(places)), convert)
    return None
