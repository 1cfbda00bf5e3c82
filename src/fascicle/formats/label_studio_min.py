"""Records of Label Studio with one annotation each (its exports JSON-MIN and CSV), made into tasks again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

P = TypeVar("P", bound=str)
ANNOTATION: Final = "annotation_id"
ANNOTATOR: Final = "annotator"
# What the export itself says of an annotation; all other fields are the data of the task, or what was annotated.
_OF_EXPORT: Final = frozenset(
    {
        *("id", ANNOTATION, ANNOTATOR, "created_at", "updated_at", "lead_time"),
        *("agreement", "history", "predictions", "comments"),
    }
)


def is_flat(names: object) -> bool:
    """Whether these are the fields of such a record, or the columns of such a table."""
    return isinstance(names, dict | list | tuple) and ANNOTATION in names and ANNOTATOR in names


def merged(records: Iterator[tuple[P, Any]]) -> Iterator[tuple[P, Any]]:
    """Tasks in place of such records: consecutive records of one id and one text are one task. Others stay as they are.

    Args:
        records: each with its place.
    """
    waiting: list[tuple[P, Any]] = []  # one task, until it is known what comes after it
    for place, value in records:
        if not isinstance(value, dict) or not is_flat(value):
            yield from waiting
            waiting = []
            yield place, value
            continue
        task = _task(value)
        if waiting and all(waiting[0][1][name] == task[name] for name in ("id", "data")):
            waiting[0][1]["annotations"] += task["annotations"]
            continue
        yield from waiting
        waiting = [(place, task)]
    yield from waiting


def _task(record: Mapping[str, Any]) -> dict[str, Any]:
    regions = {name: value for name, value in record.items() if name not in _OF_EXPORT and _are_regions(value)}
    data = {name: value for name, value in record.items() if name not in _OF_EXPORT and name not in regions}
    result = [_region(one) for several in regions.values() for one in several]
    annotations = [{"result": result, "completed_by": record[ANNOTATOR]}] if record[ANNOTATION] is not None else []
    return {"id": record.get("id"), "data": data, "annotations": annotations}


def _are_regions(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _region(value: Mapping[str, Any]) -> dict[str, Any]:
    """A region; the export leaves out its type, which is the name of the field with its labels."""
    return {"type": next((name for name, one in value.items() if isinstance(one, list)), "labels"), "value": value}
