"""Tasks in exports of Label Studio: spans from one or several annotators and from models."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, TypeVar

import msgspec

from fascicle.core.document import GOLD, Document, Event, Link
from fascicle.core.effects import make_event
from fascicle.core.mention import Span, without_overlaps
from fascicle.core.wording import plural
from fascicle.formats.collect import MentionCollector, short_facts
from fascicle.formats.unread import fields_argument

STEP: Final = "label-studio"
_EVERYONE: Final = "all"
PARTS: Final = "non-contig"  # label of relations between the parts of a mention, as Kazu has it
ATTRIBUTES: Final = "fascicle_attributes"  # key in the meta of a region
# key in the meta of a task or region: facts that Label Studio has no field for
OURS: Final = "fascicle"
_TEXT: Final = "text"
_LAST_OF_ONE_UNIT: Final = 0xFFFF
_END_OF_LINE: Final = re.compile("[\n\r]")  # for which Label Studio writes two characters, \n


class _Labels(msgspec.Struct):
    start: int
    end: int
    labels: tuple[str, ...] = ()
    text: str | None = None


class _Region(msgspec.Struct):
    type: str
    value: dict[str, Any] = {}
    score: float | None = None
    meta: dict[str, Any] | None = None
    id: str | int | None = None
    to_name: str | None = None  # the part of the task's page that shows the text
    from_id: str | int | None = None  # of a relation, as what follows
    to_id: str | int | None = None
    labels: tuple[str, ...] | None = None

    @property
    def links(self) -> tuple[Link, ...]:
        """Links that Fascicle wrote into the ``meta`` of the region."""
        return msgspec.convert((self.meta or {}).get(OURS, ()), tuple[Link, ...])

    @property
    def attributes(self) -> tuple[tuple[str, str], ...]:
        """Attributes that Fascicle wrote into the ``meta`` of the region."""
        return msgspec.convert((self.meta or {}).get(ATTRIBUTES, ()), tuple[tuple[str, str], ...])


class _Annotation(msgspec.Struct):
    result: tuple[_Region, ...]
    was_cancelled: bool | None = False
    ground_truth: bool | None = False
    completed_by: int | str | dict[str, Any] | None = None

    @property
    def annotator(self) -> str:
        """Number or address of the annotator."""
        given = self.completed_by
        return (
            str(given.get("email") or given.get("id") or "")
            if isinstance(given, dict)
            else str(given or "")
        )


class _Prediction(msgspec.Struct):
    result: tuple[_Region, ...]
    model_version: str | None = None


class _Ours(msgspec.Struct):
    id: str
    meta: dict[str, str] = {}


class _Task(msgspec.Struct):
    data: dict[str, Any]
    annotations: tuple[_Annotation, ...] = ()
    # some exports hold only the number of a prediction
    predictions: tuple[_Prediction | int, ...] = ()
    drafts: tuple[dict[str, Any] | int, ...] = ()
    meta: dict[str, Any] | None = None

    @property
    def ours(self) -> _Ours | None:
        """Facts that Fascicle wrote into the ``meta`` of the task."""
        told = (self.meta or {}).get(OURS)
        return None if told is None else msgspec.convert(told, _Ours)


_Layers = list[tuple[str, Sequence[_Region]]]  # source and its regions


def from_task(
    task: Mapping[str, Any],
    identifier: str,
    *,
    field: str = "",
    annotator: str = "",
    part: str = "",
) -> Document:
    """Makes a document from a task.

    Args:
        task: one object of the export.
        identifier: id of the document, unless the task has an id that Fascicle wrote.
        field: of ``data`` with the text; by default ``text``, or the only field that is a string.
        annotator: whose annotation is gold, as number or address; ``"all"`` gives each annotator a
            source of their own, ``annotator-`` and the number or address. By default the only
            annotation of a task is gold, or the only one that is marked as ground truth.
        part: ``to_name`` of the regions of this text; by default that which is called like the
            field, or whose texts fit.

    Returns:
        The document; mentions of ``predictions`` have the version of the model as their source.

    Raises:
        ValueError: a part has another form, or it is not known which of several annotations is
            gold.
    """
    given = msgspec.convert(task, _Task)
    name = _text_field(given.data, field)
    text = given.data[name]
    layers, events = _layers(given, annotator)
    layers, others = _on_text(layers, given.data, name, part=part)
    collector = MentionCollector(text, step=STEP)
    events += _add(collector, text, layers, others)
    meta = short_facts(given.data, leave=(name,))
    if (ours := given.ours) is not None:
        identifier, meta = ours.id, {**meta, **ours.meta}
    return collector.document(identifier, before=events, meta=meta)


def _text_field(data: Mapping[str, Any], field: str) -> str:
    texts = [name for name, value in data.items() if isinstance(value, str)]
    name = field or (_TEXT if _TEXT in texts or len(texts) != 1 else texts[0])
    if name not in texts:
        advice = (
            f"name one of {', '.join(texts)}, such as {fields_argument(('text', texts[0]))}"
            if texts
            else "only tasks with a text can be read"
        )
        raise ValueError(f"the data of the task have no text in the field {name!r}; {advice}")
    return name


def _layers(task: _Task, annotator: str) -> tuple[_Layers, list[Event]]:
    """Returns the regions of each source, and events for what is left out."""
    made = [one for one in task.annotations if not one.was_cancelled]
    events = []
    if cancelled := len(task.annotations) - len(made):
        message = (
            f"{plural(cancelled, 'annotation')} of the task cancelled by the annotator, not read"
        )
        events.append(Event(step=STEP, kind="note", code="cancelled-annotation", message=message))
    if not made:
        message = "the task has no annotation: read as text without gold mentions"
        events.append(Event(step=STEP, kind="note", code="unannotated-record", message=message))
    if task.drafts:
        message = f"{plural(len(task.drafts), 'draft')} of an annotation not read"
        events.append(Event(step=STEP, kind="note", code="drafts-left-out", message=message))
    told = [one for one in task.predictions if not isinstance(one, int)]
    if numbers := len(task.predictions) - len(told):
        message = (
            f"of {plural(numbers, 'prediction')} the export has the number alone, and "
            "nothing that it says"
        )
        events.append(Event(step=STEP, kind="note", code="predictions-left-out", message=message))
    layers: _Layers = [
        (prediction.model_version or "predictions", prediction.result) for prediction in told
    ]
    if annotator == _EVERYONE:
        return [*((f"annotator-{one.annotator}", one.result) for one in made), *layers], events
    chosen = _chosen(made, annotator)
    if left := len(made) - len(chosen):
        message = (
            f"{plural(left, 'annotation')} of the task by others than the chosen "
            "annotator, not read"
        )
        events.append(Event(step=STEP, kind="note", code="other-annotators", message=message))
    return [*((GOLD, one.result) for one in chosen), *layers], events


def _chosen(made: Sequence[_Annotation], annotator: str) -> list[_Annotation]:
    """Returns the annotation that is gold, if there is one."""
    if annotator:
        found = [one for one in made if one.annotator == annotator]
    else:
        found = list(made) if len(made) < 2 else [one for one in made if one.ground_truth]
    if len(found) == 1 or (not found and (annotator or not made)):
        return found
    who = ", ".join(dict.fromkeys(one.annotator for one in found or made))
    raise ValueError(
        f"the task has {plural(len(found or made), 'annotation')}, of the annotator(s) {who}, "
        "and nothing says which "
        f"one is gold; choose one with {fields_argument(('annotator', 'NAME'))}, or keep each as "
        "a source with "
        f"{fields_argument(('annotator', _EVERYONE))}"
    )


def _on_text(
    layers: _Layers, data: Mapping[str, Any], field: str, *, part: str
) -> tuple[_Layers, int]:
    """Returns the regions on the text of a field, and the number of those on other texts."""
    labels = [one for _, regions in layers for one in regions if one.type == "labels"]
    names = dict.fromkeys(one.to_name for one in labels if one.to_name)
    ours = {part} if part else {field} & names.keys()
    rest = [name for name in names if not isinstance(data.get(name), str)]
    if not ours:
        on = {name: [_labels_of(one) for one in labels if one.to_name == name] for name in rest}
        fitting = [name for name in rest if _fit(data[field], on[name])]
        elsewhere = len(rest) == 1 and any(
            _fit(text, on[rest[0]]) for text in data.values() if isinstance(text, str)
        )
        ours = set(fitting if len(rest) > 1 or elsewhere else rest)
    if len(ours) > 1:
        raise ValueError(
            f"the regions of the task are on {' and '.join(sorted(ours))}, and nothing says "
            "which of them shows the "
            f"field {field!r}; choose one with {fields_argument(('to_name', min(ours)))}"
        )
    kept: _Layers = [
        (
            source,
            [
                one
                for one in regions
                if one.type != "labels" or not one.to_name or one.to_name in ours
            ],
        )
        for source, regions in layers
    ]
    return kept, sum(len(regions) for _, regions in layers) - sum(
        len(regions) for _, regions in kept
    )


def _labels_of(region: _Region) -> _Labels:
    return msgspec.convert(region.value, _Labels)


def _fit(text: object, regions: Sequence[_Labels]) -> bool:
    """True if regions are in a text, and their own texts, as far as they have any, are at their
    offsets.
    """
    if not isinstance(text, str) or any(one.end > len(text) for one in regions):
        return False
    return _agrees(text, regions, lambda one: (one.start, one.end))


_Part = tuple[_Labels, _Region]  # of a mention


def _add(collector: MentionCollector, text: str, layers: _Layers, others: int) -> list[Event]:
    """Adds the mentions to the collector; counts the regions that are not mentions with a type
    of this text.
    """
    left = Counter({"labels of other texts": others})
    found = [(source, parts) for source, regions in layers for parts in _mentions(regions, left)]
    place, events = _places(text, [one for _, parts in found for one, _ in parts])
    for source, parts in found:
        places = [one for one, _ in parts]
        left["labels without a type"] += not places[0].labels
        expected = (
            None if _agrees(text, places, place) else " ".join(one.text or "" for one in places)
        )
        spans = without_overlaps(map(place, places))
        if len(spans) < len(parts):
            message = f"parts of a mention at {spans} overlap; they were joined"
            events.append(make_event("overlapping-fragments", step=STEP, message=message))
        score = next((one.score for _, one in parts if one.score is not None), None)
        links = next((one.links for _, one in parts if one.links), ())
        attributes = next((one.attributes for _, one in parts if one.attributes), ())
        for kind in places[0].labels:
            collector.add(
                spans,
                kind,
                expected=expected,
                source=source,
                score=score,
                links=links,
                attributes=attributes,
            )
    listed = ", ".join(f"{kind} {count}" for kind, count in sorted(left.items()) if count)
    if listed:
        message = f"what is no mention of a type is not read ({listed})"
        events.append(make_event("regions-left-out", step=STEP, message=message))
    return events


def _mentions(regions: Sequence[_Region], left: Counter[str]) -> list[list[_Part]]:
    """Returns the parts of each mention: one region, or several of the same types that relations
    join.

    Args:
        regions: of one source.
        left: receives the counts of what is no mention and joins none.
    """
    parts = [(_labels_of(one), one) for one in regions if one.type == "labels"]
    groups = [[number] for number in range(len(parts))]
    at = {one.id: number for number, (_, one) in enumerate(parts) if one.id is not None}
    for one in regions:
        ends = [at[end] for end in (one.from_id, one.to_id) if end in at]
        if one.type == "labels":
            continue
        kinds = {frozenset(parts[end][0].labels) for end in ends}
        if PARTS not in (one.labels or ()) or len(ends) < 2 or len(kinds) > 1:
            left[one.type] += 1
            continue
        small, large = sorted((groups[end] for end in ends), key=len)
        if small is not large:
            large += small
            for number in small:
                groups[number] = large
    return [
        [parts[one] for one in group] for number, group in enumerate(groups) if group[0] == number
    ]


_Place = Callable[[_Labels], Span]  # where a region is in the text, in code points


def _places(text: str, found: Sequence[_Labels]) -> tuple[_Place, list[Event]]:
    """Returns a function to code points; it converts UTF-16 units (before 1.4) if only those
    match all texts.
    """

    def as_given(one: _Labels) -> Span:
        return one.start, one.end

    def moved(one: _Labels) -> Span:
        return at.get(one.start, -1), at.get(one.end, -1)

    if text.isascii() or _agrees(text, found, as_given):
        return as_given, []
    # For each character the number of UTF-16 units before it, and that of all.
    units = accumulate((1 + (ord(sign) > _LAST_OF_ONE_UNIT) for sign in text), initial=0)
    at = {unit: number for number, unit in enumerate(units)}
    if not _agrees(text, found, moved):
        return as_given, []
    message = (
        "the offsets of the task count UTF-16 units; moved to code points, where all texts "
        "of mentions agree"
    )
    return moved, [make_event("offsets-moved", step=STEP, message=message)]


def _agrees(text: str, found: Sequence[_Labels], place: _Place) -> bool:
    pairs = ((one.text, text[slice(*place(one))]) for one in found)
    return all(told is None or told in (own, _END_OF_LINE.sub(r"\\n", own)) for told, own in pairs)


_P = TypeVar("_P", bound=str)
ANNOTATION: Final = "annotation_id"
ANNOTATOR: Final = "annotator"
# Fields of the export about an annotation; all other fields are the data of the task, or
# annotations.
_OF_EXPORT: Final = frozenset(
    {
        *("id", ANNOTATION, ANNOTATOR, "created_at", "updated_at", "lead_time"),
        *("agreement", "history", "predictions", "comments"),
    }
)


def is_flat(names: object) -> bool:
    """True if these are the fields of such a record, or the columns of such a table."""
    return isinstance(names, dict | list | tuple) and ANNOTATION in names and ANNOTATOR in names


def merge_records(records: Iterator[tuple[_P, Any]]) -> Iterator[tuple[_P, Any]]:
    """Merges consecutive records of one id and one text into a task; other records stay as they
    are.

    Args:
        records: each with its place.
    """
    waiting: list[tuple[_P, Any]] = []  # records of one task, until the next record is known
    for place, value in records:
        if not isinstance(value, dict) or not is_flat(value):
            yield from waiting
            waiting = []
            yield place, _with_annotations(value)
            continue
        task = _task(value)
        if waiting and all(waiting[0][1][name] == task[name] for name in ("id", "data")):
            waiting[0][1]["annotations"] += task["annotations"]
            continue
        yield from waiting
        waiting = [(place, task)]
    yield from waiting


def _with_annotations(value: Any) -> Any:
    """Returns a task that has only predictions with an empty list of annotations; any other
    value as it is.
    """
    is_task = (
        isinstance(value, dict) and isinstance(value.get("data"), dict) and "predictions" in value
    )
    return {"annotations": [], **value} if is_task else value


def _task(record: Mapping[str, Any]) -> dict[str, Any]:
    regions = {
        name: value
        for name, value in record.items()
        if name not in _OF_EXPORT and _are_regions(value)
    }
    data = {
        name: value
        for name, value in record.items()
        if name not in _OF_EXPORT and name not in regions
    }
    result = [_region(one) for several in regions.values() for one in several]
    annotations = (
        [{"result": result, "completed_by": record[ANNOTATOR]}]
        if record[ANNOTATION] is not None
        else []
    )
    return {"id": record.get("id"), "data": data, "annotations": annotations}


def _are_regions(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _region(value: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a region; the export omits its type, which is the name of the field with its
    labels.
    """
    return {
        "type": next((name for name, one in value.items() if isinstance(one, list)), "labels"),
        "value": value,
    }
