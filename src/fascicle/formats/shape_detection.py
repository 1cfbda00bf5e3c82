"""Detection of the shape of one JSON record after another, and what is said where none fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.document import Event
from fascicle.errors import FormatError
from fascicle.formats.collect import META_LENGTH
from fascicle.formats.report import ReadReport
from fascicle.formats.shapes import SHAPES, JsonShape, adjust_shape
from fascicle.formats.tag_names import label_names, names_beside
from fascicle.formats.unread import (
    are_mentions,
    field_options,
    fields_argument,
    fields_fit,
    find_unread_fields,
    lone_offsets,
    longest_text,
    looks_native,
    token_fields,
    value_at,
)

_UNANNOTATED: Final = (
    *("text", "article", "body-text", "s2orc", "openalex"),
    *("title", "abstract"),
)
_STEP: Final = "jsonl"
_AS_GIVEN: Final = "as given"
_PARTS: Final = ("start", "end", "type")


def _detect_shape(record: Mapping[str, Any]) -> str:
    """Returns the name of the first shape whose fields a record has; the empty string if there is
    none.

    If no shape fits the types of the fields, their names decide, so that the reader can report the
    error.
    """
    likely = _likely_shapes(tuple(record))
    names = chain(
        (name for name in likely if _fits(record, SHAPES[name])),
        (name for name in likely if _has_fields(record, SHAPES[name])),
    )
    name = next(names, "")
    return "" if name in ("title", "abstract") and _has_longer_text(record) else name


@lru_cache(maxsize=256)  # most records of a file have the same fields
def _likely_shapes(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name, shape in SHAPES.items() if shape.deciding[0][0] in fields)


def _has_longer_text(record: Mapping[str, Any]) -> bool:
    """True if a field beside title and abstract has a text, at any depth, that is longer than a
    fact and than both.
    """
    sizes = {name: max(_text_sizes(value), default=0) for name, value in record.items()}
    usual = sizes.pop("title", 0) + sizes.pop("abstract", 0)
    return max(sizes.values(), default=0) > max(usual, META_LENGTH)


def _text_sizes(value: object) -> Iterator[int]:
    if isinstance(value, str):
        yield len(value)
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _text_sizes(part)


def _has_fields(record: Mapping[str, Any], shape: JsonShape) -> bool:
    return all(name in record for name, _ in shape.deciding)


def _fits(record: Mapping[str, Any], shape: JsonShape) -> bool:
    for name, kind in shape.deciding:
        if not isinstance(record.get(name), kind):
            return False
    if not shape.entities:
        return True
    mentions = record.get(shape.entities)
    return fields_fit(
        mentions, start=shape.start, end=shape.end, kind=shape.type, spans=shape.spans
    )


class Shapes:
    """Detector of the shape of one record after another."""

    def __init__(
        self,
        name: str,
        changes: Sequence[tuple[str, str]],
        *,
        report: ReadReport,
        path: str,
        labels: str = "",
        names: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        """Creates a detector before the first record.

        Args:
            name: of a shape that all records have, or ``"auto"``.
            changes: to the shape, as ``(attribute of JsonShape, value)``.
            report: receives the names of the shapes.
            path: of the file.
            labels: names of tags that are numbers, or a file with these names.
            names: names of such tags by their field, if the file states them.
        """
        self._labels, self._names = labels, names
        self._name, self._changes, self._report, self._path = name, changes, report, path
        self._adjusted: dict[str, JsonShape] = {}
        self._bare = 0  # records without annotation that are not reported yet
        self._annotated = ""

    def of(self, record: dict[str, Any], place: str) -> tuple[JsonShape, tuple[Event, ...]]:
        """Returns the shape of a record, and the events about it.

        Raises:
            FormatError: no known shape, or annotation that the shape does not read.
        """
        is_stated = self._name != "auto" or bool(self._changes)
        if not is_stated:
            _refuse_native(record, place, is_first=not self._adjusted)
        name = self._name if self._name != "auto" else self._detect(record)
        if not name and not self._changes:
            raise FormatError(_unknown(record, place))
        shape = self._adjust(name, record)
        if unread := find_unread_fields(record, known=shape.fields):
            raise FormatError(_refusal(record, unread, shape, name), at=place)
        if name in ("text", "abstract") and (
            offsets := lone_offsets(record, text=name, known=shape.fields)
        ):
            raise FormatError(_lone(offsets, shape), at=place)
        return shape, () if is_stated else self._notes(shape, name)

    def _adjust(self, name: str, record: Mapping[str, Any]) -> JsonShape:
        """Returns the shape of this name with the changes, and with the names of tags if they are
        numbers in the record.
        """
        shape = self._adjusted.get(name)
        if shape is None:
            shape = adjust_shape(SHAPES.get(name, JsonShape()), self._changes)
            self._adjusted[name] = shape
            self._remember(name or _AS_GIVEN)
        if shape.tags and not shape.tag_names and _has_numbers(record.get(shape.tags)):
            names = (
                label_names(self._labels, field=shape.tags)
                if self._labels
                else self._names.get(shape.tags) or names_beside(self._path, field=shape.tags)
            )
            shape = self._adjusted[name] = replace(shape, tag_names=tuple(names))
        return shape

    def _detect(self, record: dict[str, Any]) -> str:
        name = _detect_shape(record)
        # A user who names the field of the text does not want the parts of an article.
        if name in _UNANNOTATED and any(part == "text" for part, _ in self._changes):
            return ""
        return name

    def _remember(self, name: str) -> None:
        before = self._report.shapes.get(self._path)
        self._report.shapes[self._path] = f"{before}, {name}" if before else name

    def _notes(self, shape: JsonShape, name: str) -> tuple[Event, ...]:
        """Returns events for texts without annotation, if other records of the file are
        annotated.
        """
        if name not in _UNANNOTATED:
            self._annotated = shape.entities or shape.tags
            count, self._bare = self._bare, 0
            return (
                (_bare(f"{count:,} of the records before this one", self._annotated),)
                if count
                else ()
            )
        if self._annotated:
            return (_bare("the record", self._annotated),)
        self._bare += 1
        return ()


def _has_numbers(tags: object) -> bool:
    return isinstance(tags, list) and any(type(tag) is int for tag in tags)


def _bare(which: str, field: str) -> Event:
    message = (
        f"no field {field!r} as others of the file have it: {which}, read as text without mentions"
    )
    return Event(step=_STEP, kind="note", code="unannotated-record", message=message)


def _refuse_native(record: dict[str, Any], place: str, *, is_first: bool) -> None:
    if "fascicle" in record:
        advice = (
            "read it with format=jsonl"
            if is_first
            else "put it into another file than such records"
        )
        raise FormatError(
            f"a document of Fascicle, not a record of another tool; {advice}", at=place
        )
    if looks_native(record):
        raise FormatError(
            "this looks like a document of Fascicle without the version of its schema; add "
            '"fascicle": 1 to every record',
            at=place,
        )


def _unknown(record: dict[str, Any], place: str) -> str:
    if not record:
        return f"{place}: the record is empty; a record has fields, such as id and text"
    message = (
        f"{place}: no known shape has the fields {', '.join(sorted(record))}; known are "
        f"{', '.join(SHAPES)}"
    )
    if tokens := token_fields(record):
        return f"{message}; name the fields yourself with {fields_argument(*tokens)}"
    text = longest_text(record)
    if not text:
        return (
            f"{message}; none of the fields has a text, so mentions would have no place; give "
            "a file with the texts"
        )
    shape = adjust_shape(JsonShape(), [("text", text)])
    unread = find_unread_fields(record, known=shape.fields)
    changes = _find_changes(record, shape, unread)
    if changes is None:
        changes = (("ignored", ",".join(unread)),)
    return f"{message}; name the fields yourself with {fields_argument(('text', text), *changes)}"


def _refusal(record: dict[str, Any], unread: list[str], shape: JsonShape, name: str) -> str:
    nearest = f"the nearest known shape, {name}," if name in SHAPES else "the shape that was given"
    changes = _find_changes(record, shape, unread)
    advice = f"name it with {fields_argument(*changes)}, or " if changes else ""
    ignored = ",".join(filter(None, (shape.ignored, *unread)))
    return (
        f"the field {unread[0]!r} looks like annotation, and {nearest} does not read it; "
        f"{advice}leave it out with {fields_argument(('ignored', ignored))}"
    )


def _lone(offsets: list[str], shape: JsonShape) -> str:
    ignored = ",".join(filter(None, (shape.ignored, *offsets)))
    return (
        f"the fields {' and '.join(map(repr, offsets))} look like the offsets of one mention, and "
        "a record has all mentions of its text; put them into a list, such as entities, or leave "
        f"these out with {fields_argument(('ignored', ignored))}"
    )


def _find_changes(
    record: dict[str, Any], shape: JsonShape, unread: list[str]
) -> tuple[tuple[str, str], ...] | None:
    """Returns the changes to a shape with which a record is read; ``None`` if there are none."""
    if not unread:
        return ()
    if shape.reader or len(unread) > 1:
        return None
    spelt = {part: getattr(shape, part) for part in _PARTS}
    changes = tuple(field_options(unread[0], record[unread[0]], spelt=spelt))
    return changes if _reads(adjust_shape(shape, changes), record) else None


def _reads(shape: JsonShape, record: dict[str, Any]) -> bool:
    """True if a shape reads a text and mentions of a record, and leaves no annotation unread."""
    values = [value_at(record, name) for name in (shape.tokens, shape.text) if name]
    if not any(values) or find_unread_fields(record, known=shape.fields):
        return False
    if shape.tags:
        return bool(shape.tokens) and len(record[shape.tags]) == len(record[shape.tokens])
    entities = value_at(record, shape.entities)
    return are_mentions(entities, shape.start, shape.end, shape.type)
