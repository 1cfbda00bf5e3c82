"""The shape of each record of a JSON file, and what is said of records that differ from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from fascicle.core.document import Event
from fascicle.errors import FormatError
from fascicle.formats.label_names import label_names, names_beside
from fascicle.formats.report import ReadReport
from fascicle.formats.shapes import SHAPES, UNANNOTATED, JsonShape, adjusted, detect_shape
from fascicle.formats.unread import field_options, fields_argument, looks_native, unread

STEP: Final = "jsonl"
_AS_GIVEN: Final = "as given"
_PARTS: Final = ("start", "end", "type")


class Shapes:
    """Tells the shape of one record after the other."""

    def __init__(
        self, name: str, changes: Sequence[tuple[str, str]], *, report: ReadReport, path: str, labels: str = ""
    ) -> None:
        """Starts with no record.

        Args:
            name: of a shape that all records have, or ``"auto"``.
            changes: to the shape, as ``(attribute of JsonShape, value)``.
            report: receives the names of the shapes.
            path: of the file.
            labels: names of tags that are numbers, or a file that tells them.
        """
        self._labels = labels
        self._name, self._changes, self._report, self._path = name, changes, report, path
        self._adjusted: dict[str, JsonShape] = {}
        self._bare = 0  # records without annotation of which nothing was said yet
        self._annotated = ""

    def of(self, record: dict[str, Any], place: str) -> tuple[JsonShape, tuple[Event, ...]]:
        """The shape of a record, and what is to be said of it.

        Raises:
            FormatError: no known shape, or annotation that the shape does not read.
        """
        is_told = self._name != "auto" or bool(self._changes)
        if not is_told:
            _refuse_native(record, place)
        name = self._name if self._name != "auto" else self._detected(record)
        if not name and not self._changes:
            raise FormatError(_unknown(record, place))
        shape = self._adjusted.get(name)
        if shape is None:
            shape = self._adjusted[name] = adjusted(SHAPES.get(name, JsonShape()), self._changes)
            self._remember(name or _AS_GIVEN)
        if shape.tags and not shape.tag_names and _has_numbers(record.get(shape.tags)):
            names = (
                label_names(self._labels, field=shape.tags)
                if self._labels
                else names_beside(self._path, field=shape.tags)
            )
            shape = self._adjusted[name] = replace(shape, tag_names=names)
        if left := unread(record, known=shape.fields):
            raise FormatError(_refusal(left[0], record[left[0]], shape, name), at=place)
        return shape, () if is_told else self._noted(shape, name)

    def _detected(self, record: dict[str, Any]) -> str:
        name = detect_shape(record)
        # Somebody who names the field of the text does not want the parts of an article.
        return "" if name in UNANNOTATED and any(part == "text" for part, _ in self._changes) else name

    def _remember(self, name: str) -> None:
        before = self._report.shapes.get(self._path)
        self._report.shapes[self._path] = f"{before}, {name}" if before else name

    def _noted(self, shape: JsonShape, name: str) -> tuple[Event, ...]:
        """Says of texts without annotation that they have none, if others of the file do."""
        if name not in UNANNOTATED:
            self._annotated = shape.entities or shape.tags
            count, self._bare = self._bare, 0
            return (_bare(f"{count:,} of the records before this one", self._annotated),) if count else ()
        if self._annotated:
            return (_bare("the record", self._annotated),)
        self._bare += 1
        return ()


def _has_numbers(tags: object) -> bool:
    return isinstance(tags, list) and any(type(tag) is int for tag in tags)


def _bare(which: str, field: str) -> Event:
    message = f"no field {field!r} as others of the file have it: {which}, read as text without mentions"
    return Event(step=STEP, kind="note", code="unannotated-record", message=message)


def _refuse_native(record: dict[str, Any], place: str) -> None:
    if "fascicle" in record:
        # Of a file and of standard input only the beginning is seen before they are read.
        raise FormatError("a document of Fascicle, not a record of another tool; read it with format=jsonl", at=place)
    if looks_native(record):
        raise FormatError(
            "this looks like a document of Fascicle without the version of its schema; add "
            '"fascicle": 1 to every record',
            at=place,
        )


def _unknown(record: dict[str, Any], place: str) -> str:
    return (
        f"{place}: no known shape has the fields {', '.join(sorted(record)) or '(none)'}; "
        f"known are {', '.join(SHAPES)}; name the fields yourself for another one, such as "
        'fields=[("text", "body"), ("entities", "spans")]'
    )


def _refusal(field: str, value: object, shape: JsonShape, name: str) -> str:
    options = field_options(field, value, spelt={part: getattr(shape, part) for part in _PARTS})
    nearest = f"the nearest known shape, {name}," if name in SHAPES else "the shape that was given"
    return (
        f"the field {field!r} looks like annotation, and {nearest} does not read it; name it with {options}, or "
        f"leave it out with {fields_argument(('ignored', field))}"
    )
