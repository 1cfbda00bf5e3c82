"""Tasks in exports of Label Studio: spans from one or several annotators and from models."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from fascicle.core.document import GOLD, Document, Event, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.mention import Span, without_overlaps
from fascicle.core.wording import plural
from fascicle.formats.collect import MentionCollector, short_facts
from fascicle.formats.label_studio_regions import (
    OURS,
    LabelledRange,
    Part,
    Region,
    group_parts,
    join_answers,
    labels_of,
    read_relations,
)
from fascicle.formats.offset_units import UTF16, conversion
from fascicle.formats.unread import fields_argument

STEP: Final = "label-studio"
_EVERYONE: Final = "all"
_TEXT: Final = "text"

_END_OF_LINE: Final = re.compile("[\n\r]")  # for which Label Studio writes two characters, \n


class _Annotation(msgspec.Struct):
    result: tuple[Region, ...]
    was_cancelled: bool | None = False
    ground_truth: bool | None = False
    completed_by: int | str | dict[str, Any] | None = None

    @property
    def annotator(self) -> str:
        """Number or address of the annotator."""
        user = self.completed_by
        if isinstance(user, dict):
            user = user.get("email") or user.get("id")
        return str(user or "")


class _Prediction(msgspec.Struct):
    result: tuple[Region, ...]
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
        facts = (self.meta or {}).get(OURS)
        return None if facts is None else msgspec.convert(facts, _Ours)


_Layers = list[tuple[str, Sequence[Region]]]  # source and its regions


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
    record = msgspec.convert(task, _Task)
    name = _text_field(record.data, field)
    text = record.data[name]
    layers, events = _layers(record, annotator)
    layers, others = _on_text(layers, record.data, name, part=part)
    collector = MentionCollector(text, step=STEP)
    counts = Counter({"labels of other texts": others})
    of_regions, relations = _add(collector, text, layers, counts)
    events += of_regions
    meta = short_facts({**(record.meta or {}), **record.data}, leave=(name,))
    if (ours := record.ours) is not None:
        identifier, meta = ours.id, {**meta, **ours.meta}
    return collector.document(identifier, before=events, meta=meta, relations=relations)


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
    annotations = [annotation for annotation in task.annotations if not annotation.was_cancelled]
    predictions = [prediction for prediction in task.predictions if not isinstance(prediction, int)]
    events = list(_notes(task, len(annotations), len(predictions)))
    layers: _Layers = [
        (prediction.model_version or "predictions", prediction.result) for prediction in predictions
    ]
    if annotator == _EVERYONE:
        sources = [f"annotator-{annotation.annotator}" for annotation in annotations]
    else:
        gold = _choose_gold(annotations, annotator)
        if count := len(annotations) - len(gold):
            message = (
                f"{plural(count, 'annotation')} of the task by others than the chosen "
                "annotator, not read"
            )
            events.append(_note("other-annotators", message))
        annotations, sources = gold, [GOLD] * len(gold)
    results = [annotation.result for annotation in annotations]
    layers = [*zip(sources, results, strict=True), *layers]
    return [(source, join_answers(regions)) for source, regions in layers], events


def _notes(task: _Task, annotations: int, predictions: int) -> Iterator[Event]:
    """Yields events about the parts of a task that are not read.

    Args:
        task: the task.
        annotations: number of annotations that are read.
        predictions: number of predictions that are read.
    """
    if count := len(task.annotations) - annotations:
        message = f"{plural(count, 'annotation')} of the task cancelled by the annotator, not read"
        yield _note("cancelled-annotation", message)
    if not annotations:
        message = "the task has no annotation: read as text without gold mentions"
        yield _note("unannotated-record", message)
    if task.drafts:
        message = f"{plural(len(task.drafts), 'draft')} of an annotation not read"
        yield _note("drafts-left-out", message)
    if count := len(task.predictions) - predictions:
        message = (
            f"of {plural(count, 'prediction')} the export has the number alone, and "
            "nothing that it says"
        )
        yield _note("predictions-left-out", message)


def _note(code: str, message: str) -> Event:
    return Event(step=STEP, kind="note", code=code, message=message)


def _choose_gold(annotations: list[_Annotation], annotator: str) -> list[_Annotation]:
    """Returns the annotation that is gold, if there is one."""
    if annotator:
        gold = [annotation for annotation in annotations if annotation.annotator == annotator]
    elif len(annotations) < 2:
        gold = annotations
    else:
        gold = [annotation for annotation in annotations if annotation.ground_truth]
    if len(gold) == 1 or (not gold and (annotator or not annotations)):
        return gold
    candidates = gold or annotations
    annotators = ", ".join(dict.fromkeys(annotation.annotator for annotation in candidates))
    raise ValueError(
        f"the task has {plural(len(candidates), 'annotation')}, of the annotator(s) {annotators}, "
        "and nothing says which one is gold; choose one with "
        f"{fields_argument(('annotator', 'NAME'))}, or keep each as a source with "
        f"{fields_argument(('annotator', _EVERYONE))}"
    )


def _on_text(
    layers: _Layers, data: Mapping[str, Any], field: str, *, part: str
) -> tuple[_Layers, int]:
    """Returns the regions on the text of a field, and the number of those on other texts."""
    labels = [region for _, regions in layers for region in regions if region.type == "labels"]
    names = {part} if part else _names_of_text(labels, data, field)
    if len(names) > 1:
        raise ValueError(
            f"the regions of the task are on {' and '.join(sorted(names))}, and nothing says "
            "which of them shows the "
            f"field {field!r}; choose one with {fields_argument(('to_name', min(names)))}"
        )
    on_text: _Layers = []
    count = 0
    for source, regions in layers:
        selected = [
            region
            for region in regions
            if region.type != "labels" or not region.to_name or region.to_name in names
        ]
        on_text.append((source, selected))
        count += len(regions) - len(selected)
    return on_text, count


def _names_of_text(labels: Sequence[Region], data: Mapping[str, Any], field: str) -> set[str]:
    """Returns the names that regions may have for the text of a field: that of the field, or else
    those that are no field, if their texts fit.
    """
    names = dict.fromkeys(region.to_name for region in labels if region.to_name)
    if field in names:
        return {field}
    by_name: dict[str, list[LabelledRange]] = {
        name: [] for name in names if not isinstance(data.get(name), str)
    }
    for region in labels:
        if region.to_name in by_name:
            by_name[region.to_name].append(labels_of(region))

    fitting = {name for name, ranges in by_name.items() if _fit(data[field], ranges)}
    if len(by_name) == 1:
        (ranges,) = by_name.values()
        fits_any = any(_fit(text, ranges) for text in data.values() if isinstance(text, str))
        return fitting if fits_any else set(by_name)
    return fitting


def _fit(text: object, ranges: Sequence[LabelledRange]) -> bool:
    """True if regions are in a text, and their own texts, as far as they have any, are at their
    offsets.
    """
    if not isinstance(text, str) or any(labels.end > len(text) for labels in ranges):
        return False
    return _agrees(text, ranges, _as_stated)


_Place = Callable[[LabelledRange], Span]  # where a region is in the text, in code points


def _add(
    collector: MentionCollector, text: str, layers: _Layers, counts: Counter[str]
) -> tuple[list[Event], tuple[Relation, ...]]:
    """Adds the mentions to the collector; counts the regions that are neither mentions with a type
    nor relations between them, which are returned.
    """
    beside: list[tuple[int, Region]] = []
    mentions = [
        (layer, parts)
        for layer, (_, regions) in enumerate(layers)
        for parts in group_parts(layer, regions, beside)
    ]
    place, events = _places(text, [labels for _, parts in mentions for labels, _ in parts])
    keys: dict[tuple[int, str | int | None], MentionKey] = {}
    for layer, parts in mentions:
        counts["labels without a type"] += not parts[0][0].labels
        key = _add_mention(collector, text, layers[layer][0], parts=parts, place=place)
        keys |= {(layer, region.id): key for _, region in parts if key is not None}
    relations = tuple(read_relations(beside, keys, counts))
    return [*events, *_left_out(counts)], relations


def _add_mention(
    collector: MentionCollector, text: str, source: str, *, parts: Sequence[Part], place: _Place
) -> MentionKey | None:
    """Adds a mention for each label of its first part; returns the key of the first one."""
    ranges = [labels for labels, _ in parts]
    spans = without_overlaps(map(place, ranges))
    if len(spans) < len(parts):
        message = f"parts of a mention at {spans} overlap; they were joined"
        collector.events.append(make_event("overlapping-fragments", step=STEP, message=message))
    is_right = _agrees(text, ranges, place)
    expected = None if is_right else " ".join(labels.text or "" for labels in ranges)
    facts = _facts([region for _, region in parts])
    keys = [
        collector.add(spans, kind, expected=expected, source=source, **facts)
        for kind in ranges[0].labels
    ]
    return keys[0] if keys else None


def _left_out(counts: Counter[str]) -> Iterator[Event]:
    listing = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()) if count)
    if listing:
        message = f"what is no mention of a type is not read ({listing})"
        yield make_event("regions-left-out", step=STEP, message=message)


def _facts(regions: Sequence[Region]) -> Any:
    """Returns the first score, links and attributes among the regions of a mention."""
    return {
        "score": next((region.score for region in regions if region.score is not None), None),
        "links": next(filter(None, (region.links for region in regions)), ()),
        "attributes": next(filter(None, (region.attributes for region in regions)), ()),
    }


def _places(text: str, ranges: Sequence[LabelledRange]) -> tuple[_Place, list[Event]]:
    """Returns a function to code points; it converts UTF-16 units (before 1.4) if only those
    match all texts.
    """
    if text.isascii() or _agrees(text, ranges, _as_stated):
        return _as_stated, []
    convert = conversion(text, UTF16)

    def from_utf16(labels: LabelledRange) -> Span:
        return convert(labels.start), convert(labels.end)

    if not _agrees(text, ranges, from_utf16):
        return _as_stated, []
    message = (
        "the offsets of the task count UTF-16 units; moved to code points, where all texts "
        "of mentions agree"
    )
    return from_utf16, [make_event("offsets-moved", step=STEP, message=message)]


def _as_stated(labels: LabelledRange) -> Span:
    return labels.start, labels.end


def _agrees(text: str, ranges: Sequence[LabelledRange], place: _Place) -> bool:
    """True if the text of each region, where it has one, is that at its place."""
    for labels in ranges:
        own = text[slice(*place(labels))]
        if labels.text not in (None, own, _END_OF_LINE.sub(r"\\n", own)):
            return False
    return True
