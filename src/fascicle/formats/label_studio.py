"""Tasks of the exports of Label Studio: spans of one or several annotators, and of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

import msgspec

from fascicle.core.document import GOLD, Document, Event, Link
from fascicle.core.effects import event_of
from fascicle.core.spans import Span
from fascicle.core.wording import counted
from fascicle.formats.collect import MentionCollector
from fascicle.formats.unread import fields_argument

STEP: Final = "label-studio"
EVERYONE: Final = "all"
OURS: Final = "fascicle"  # in the meta of a task or region that we wrote: what Label Studio has no place for
_TEXT: Final = "text"
_META_LENGTH: Final = 200  # characters of a fact about a text
_LAST_OF_ONE_UNIT: Final = 0xFFFF


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

    @property
    def links(self) -> tuple[Link, ...]:
        """What we wrote beside it."""
        return msgspec.convert((self.meta or {}).get(OURS, ()), tuple[Link, ...])


class _Annotation(msgspec.Struct):
    result: tuple[_Region, ...]
    was_cancelled: bool | None = False
    ground_truth: bool | None = False
    completed_by: int | str | dict[str, Any] | None = None

    @property
    def annotator(self) -> str:
        """The number or address of the annotator."""
        given = self.completed_by
        return str(given.get("email") or given.get("id") or "") if isinstance(given, dict) else str(given or "")


class _Prediction(msgspec.Struct):
    result: tuple[_Region, ...]
    model_version: str | None = None


class _Ours(msgspec.Struct):
    id: str
    meta: dict[str, str] = {}


class _Task(msgspec.Struct):
    data: dict[str, Any]
    annotations: tuple[_Annotation, ...]
    predictions: tuple[_Prediction | int, ...] = ()  # a number is all that some exports have of one
    drafts: tuple[dict[str, Any] | int, ...] = ()
    meta: dict[str, Any] | None = None

    @property
    def ours(self) -> _Ours | None:
        """What we wrote beside the task."""
        told = (self.meta or {}).get(OURS)
        return None if told is None else msgspec.convert(told, _Ours)


_Layers = list[tuple[str, Sequence[_Region]]]  # source; what it says


def document_of(task: Mapping[str, Any], identifier: str, *, field: str = "", annotator: str = "") -> Document:
    """Makes a document of a task.

    Args:
        task: one object of the export.
        identifier: id of the document, unless the task has the one that we wrote.
        field: of ``data`` with the text; by default ``text``, or the only field that is a string.
        annotator: whose annotation is gold, as number or address; ``"all"`` gives each annotator a source of their own,
            ``annotator-`` and the number or address. By default the only annotation of a task is gold, or the only one
            that is marked as ground truth.

    Returns:
        The document; mentions of ``predictions`` have the version of the model as their source.

    Raises:
        ValueError: a part has another form, or nothing says which of several annotations is gold.
    """
    given = msgspec.convert(task, _Task)
    name = _text_field(given.data, field)
    text = given.data[name]
    layers, events = _layers(given, annotator)
    collector = MentionCollector(text, step=STEP)
    events += _add(collector, text, layers)
    meta = {key: str(value) for key, value in given.data.items() if key != name and _is_fact(value)}
    events += collector.events
    if (ours := given.ours) is not None:
        identifier, meta = ours.id, {**meta, **ours.meta}
    return Document(id=identifier, text=text, mentions=collector.mentions, meta=meta, events=tuple(events))


def _is_fact(value: object) -> bool:
    return isinstance(value, str | int | float) and len(str(value)) <= _META_LENGTH


def _text_field(data: Mapping[str, Any], field: str) -> str:
    texts = [name for name, value in data.items() if isinstance(value, str)]
    name = field or (_TEXT if _TEXT in texts or len(texts) != 1 else texts[0])
    if name not in texts:
        raise ValueError(
            f"the data of the task have no text in the field {name!r}; name one of "
            f"{', '.join(texts) or '(none)'}, such as {fields_argument(('text', texts[0] if texts else 'text'))}"
        )
    return name


def _layers(task: _Task, annotator: str) -> tuple[_Layers, list[Event]]:
    """Who says what, and what is left out."""
    made = [one for one in task.annotations if not one.was_cancelled]
    events = []
    if cancelled := len(task.annotations) - len(made):
        message = f"{counted(cancelled, 'annotation')} of the task cancelled by the annotator, not read"
        events.append(Event(step=STEP, kind="note", code="cancelled-annotation", message=message))
    if not made:
        message = "the task has no annotation: read as text without gold mentions"
        events.append(Event(step=STEP, kind="note", code="unannotated-record", message=message))
    if task.drafts:
        message = f"{counted(len(task.drafts), 'draft')} of an annotation not read"
        events.append(Event(step=STEP, kind="note", code="drafts-left-out", message=message))
    told = [one for one in task.predictions if not isinstance(one, int)]
    if numbers := len(task.predictions) - len(told):
        message = f"of {counted(numbers, 'prediction')} the export has the number alone, and nothing that it says"
        events.append(Event(step=STEP, kind="note", code="predictions-left-out", message=message))
    layers: _Layers = [(prediction.model_version or "predictions", prediction.result) for prediction in told]
    if annotator == EVERYONE:
        return [*((f"annotator-{one.annotator}", one.result) for one in made), *layers], events
    chosen = _chosen(made, annotator)
    if left := len(made) - len(chosen):
        message = f"{counted(left, 'annotation')} of the task by others than the chosen annotator, not read"
        events.append(Event(step=STEP, kind="note", code="other-annotators", message=message))
    return [*((GOLD, one.result) for one in chosen), *layers], events


def _chosen(made: Sequence[_Annotation], annotator: str) -> list[_Annotation]:
    """The annotation that is gold, if there is one."""
    if annotator:
        found = [one for one in made if one.annotator == annotator]
    else:
        found = list(made) if len(made) < 2 else [one for one in made if one.ground_truth]
    if len(found) == 1 or (not found and (annotator or not made)):
        return found
    who = ", ".join(dict.fromkeys(one.annotator for one in found or made))
    raise ValueError(
        f"the task has {counted(len(found or made), 'annotation')}, of the annotator(s) {who}, and nothing says which "
        f"one is gold; choose one with {fields_argument(('annotator', 'NAME'))}, or keep each as a source with "
        f"{fields_argument(('annotator', EVERYONE))}"
    )


def _add(collector: MentionCollector, text: str, layers: _Layers) -> list[Event]:
    """Adds the mentions; what is no mention of a type is counted."""
    left: Counter[str] = Counter()
    found: list[tuple[str, _Labels, _Region]] = []
    for source, regions in layers:
        for region in regions:
            if region.type == "labels":
                found.append((source, msgspec.convert(region.value, _Labels), region))
            else:
                left[region.type] += 1
    place, events = _places(text, [one for _, one, _ in found])
    for source, one, region in found:
        left["labels without a type"] += not one.labels
        for kind in one.labels:
            collector.add([place(one)], kind, expected=one.text, source=source, score=region.score, links=region.links)
    listed = ", ".join(f"{kind} {count}" for kind, count in sorted(left.items()) if count)
    if listed:
        message = f"what is no mention of a type is not read ({listed})"
        events.append(event_of("regions-left-out", step=STEP, message=message))
    return events


class _Places:
    """Offsets of regions as code points of the text."""

    def __init__(self, starts: Sequence[int] = ()) -> None:
        self._at = {unit: at for at, unit in enumerate(starts)}

    def __call__(self, one: _Labels) -> Span:
        if not self._at:
            return one.start, one.end
        return self._at.get(one.start, -1), self._at.get(one.end, -1)


def _places(text: str, found: Sequence[_Labels]) -> tuple[_Places, list[Event]]:
    """Code points, or UTF-16 units (of versions before 1.4) where only those give the texts of all regions."""
    as_given = _Places()
    if _agrees(text, found, as_given) or text.isascii():
        return as_given, []
    moved = _Places(list(_unit_starts(text)))
    if not _agrees(text, found, moved):
        return as_given, []
    message = "the offsets of the task count UTF-16 units; moved to code points, where all texts of mentions agree"
    return moved, [event_of("offsets-moved", step=STEP, message=message)]


def _unit_starts(text: str) -> Iterator[int]:
    """For each character the number of UTF-16 units before it, and that of all."""
    return accumulate((1 + (ord(sign) > _LAST_OF_ONE_UNIT) for sign in text), initial=0)


def _agrees(text: str, found: Sequence[_Labels], place: _Places) -> bool:
    return all(one.text is None or text[slice(*place(one))] == one.text for one in found)
