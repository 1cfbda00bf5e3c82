"""JSON of GATE (``bdocjs``), as gatenlp and the plugin Format_Bdoc write it: sets of annotations
beside the text.

The format is described at https://gatenlp.github.io/gateplugin-Format_Bdoc/bdoc_document.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Span
from fascicle.formats.collect import MentionCollector
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
    layers = {
        name: mentions
        for name, one in stated.annotation_sets.items()
        if (
            mentions := [
                annotation for annotation in one.annotations if annotation.type not in _STRUCTURE
            ]
        )
    }
    gold = _KEY if _KEY in layers else "" if "" in layers else next(iter(layers), "")
    for name, mentions in layers.items():
        for one in mentions:
            attributes = tuple(
                (key, _text(value)) for key, value in one.features.items() if value is not None
            )
            source = GOLD if name == gold else name or STEP
            collector.add(
                convert_spans([(one.start, one.end)], convert),
                one.type,
                attributes=attributes,
                source=source,
            )
    ranges = {kind: _ranges(stated, kind, convert) for kind in (_SENTENCE, _WORD)}
    facts = {key: _text(value) for key, value in stated.features.items() if value is not None}
    return collector.document(
        identifier, sentences=ranges[_SENTENCE], words=ranges[_WORD], meta={**meta, **facts}
    )


def _ranges(stated: _Record, kind: str, convert: Conversion) -> tuple[Span, ...] | None:
    """Returns the annotations of a type in the first set that has it; ``None`` if there are
    none.
    """
    listed = (
        [one for one in each.annotations if one.type == kind]
        for each in stated.annotation_sets.values()
    )
    spans = sorted({(one.start, one.end) for one in next(filter(None, listed), [])})
    return convert_spans(spans, convert) if spans else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
