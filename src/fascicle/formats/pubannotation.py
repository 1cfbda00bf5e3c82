"""JSON of PubAnnotation: denotations, attributes and relations beside their text.

The format is described at https://www.pubannotation.org/docs/annotation-format/.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any, Final

import msgspec

from fascicle.core.absent import without_nulls
from fascicle.core.document import GOLD, Document, Event, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.formats.collect import MentionCollector
from fascicle.formats.json_relations import RELATIONS, StatedArgument, read_relations

STEP: Final = "pubannotation"


class _Range(msgspec.Struct):
    begin: int
    end: int


class _Denotation(msgspec.Struct):
    span: _Range | list[_Range]
    obj: str
    id: str | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """Half-open ranges; a list of them is a discontinuous mention."""
        ranges = self.span if isinstance(self.span, list) else [self.span]
        return tuple((part.begin, part.end) for part in ranges)


class _Attribute(msgspec.Struct):
    subj: str
    pred: str
    obj: str | bool | int | float


class _Modification(msgspec.Struct):
    pred: str
    obj: str  # the id of what it is about


class _Track(msgspec.Struct):
    denotations: list[_Denotation] = []
    attributes: list[_Attribute] = []
    modifications: list[_Modification] = []
    relations: list[Any] = []
    project: str = GOLD


class _Record(_Track):
    divid: str | int | None = None
    blocks: list[Any] = []
    tracks: list[_Track] = []


def from_record(
    record: Mapping[str, Any],
    identifier: str,
    *,
    meta: dict[str, str],
    unit: str,
    votes: Counter[str],
) -> Document:
    """Makes a document from a record; its id is the ``sourceid``, with the ``divid`` of a part
    behind a hyphen.

    Annotations of a track have the project as their source. Attributes and modifications of
    denotations are attributes of mentions; others are counted (``attributes-left-out``).

    Args:
        record: with ``text``, and ``denotations`` or ``tracks``.
        identifier: the ``sourceid``, or another id.
        meta: further facts.
        unit: of the offsets, see `MentionCollector`.
        votes: see `fascicle.formats.offset_units.fit_offsets`.

    Raises:
        ValueError: a part has another form.
    """
    stated = msgspec.convert(without_nulls(record), _Record)
    text = msgspec.convert(record.get("text"), str)
    collector = MentionCollector(text, step=STEP, unit=unit, votes=votes)
    tracks = [stated, *stated.tracks]
    sources = [GOLD, *(track.project for track in stated.tracks)]
    left_out = sum(map(_add_mentions, repeat(collector), tracks, sources))
    events = list[Event]()
    if left_out:
        message = f"{plural(left_out, 'attribute')} of what is no denotation"
        events.append(make_event("attributes-left-out", step=STEP, message=message))
    relations = tuple(_relations(tracks, collector.settle(), events))
    if stated.blocks:
        message = f"{plural(len(stated.blocks), 'block')} not read"
        events.append(make_event("parts-left-out", step=STEP, message=message))
    if stated.divid is not None:
        identifier = f"{identifier}-{stated.divid}"
    return collector.document(identifier, meta=meta, relations=relations, events=events)


def _relations(
    tracks: Iterable[_Track], keys: Iterable[MentionKey | None], events: list[Event]
) -> Iterator[Relation]:
    """Yields the relations of tracks; ``keys`` are those of all mentions, in their order."""
    following = iter(keys)
    for track in tracks:
        arguments = [
            StatedArgument(mention.id, mention.spans, next(following))
            for mention in track.denotations
        ]
        yield from read_relations({RELATIONS: track.relations}, arguments, events, step=STEP)


def _add_mentions(collector: MentionCollector, track: _Track, source: str) -> int:
    """Adds the mentions of a track; returns how many attributes are of something else."""
    facts: defaultdict[str | None, list[tuple[str, str]]] = defaultdict(list)
    for attribute in track.attributes:
        facts[attribute.subj].append((attribute.pred, _text(attribute.obj)))
    for modification in track.modifications:
        facts[modification.obj].append((modification.pred, _text(True)))
    for mention in track.denotations:
        attributes = tuple(facts.get(mention.id, ()))
        collector.add(
            mention.spans, mention.obj, is_standoff=True, attributes=attributes, source=source
        )
    known = {mention.id for mention in track.denotations}
    return sum(len(stated) for name, stated in facts.items() if name not in known)


def _text(value: str | bool | int | float) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
