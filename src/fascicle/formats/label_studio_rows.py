"""Exports of Label Studio with one record for each annotation (JSON-MIN and CSV), as tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

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
    pending: tuple[_P, Any] | None = None  # a task, until the next record is another one
    for place, value in records:
        if not isinstance(value, dict) or not is_flat(value):
            if pending is not None:
                yield pending
            pending = None
            yield place, _with_annotations(value)
            continue
        task = _task(value)
        if pending is not None:
            if all(pending[1][name] == task[name] for name in ("id", "data")):
                pending[1]["annotations"] += task["annotations"]
                continue
            yield pending
        pending = place, task
    if pending is not None:
        yield pending


def _with_annotations(value: Any) -> Any:
    """Returns a task that has only predictions with an empty list of annotations; any other
    value as it is.
    """
    is_task = (
        isinstance(value, dict) and isinstance(value.get("data"), dict) and "predictions" in value
    )
    return {"annotations": [], **value} if is_task else value


def _task(record: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    result: list[dict[str, Any]] = []
    for name, value in record.items():
        if name in _OF_EXPORT:
            continue
        if _are_regions(value):
            result += map(_region, value)
        else:
            data[name] = value
    annotations = (
        [{"result": result, "completed_by": record[ANNOTATOR]}]
        if record[ANNOTATION] is not None
        else []
    )
    return {"id": record.get("id"), "data": data, "annotations": annotations}


def _are_regions(value: object) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)
    )


def _region(value: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a region; the export omits its type, which is the name of the field with its
    labels.
    """
    return {
        "type": next((name for name, field in value.items() if isinstance(field, list)), "labels"),
        "value": value,
    }
