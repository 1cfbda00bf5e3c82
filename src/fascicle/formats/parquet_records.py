"""Tables of other programs in Parquet, such as those of the Hugging Face hub: each row is a JSON
record, in which labels have the names that the table states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import msgspec

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.errors import BROKEN, Place
from fascicle.formats.records import JsonlOptions, read_values, records_in
from fascicle.formats.report import ReadReport
from fascicle.formats.tag_names import names_of_feature


def read_rows(
    rows: Iterable[dict[str, Any]],
    facts: Mapping[bytes, bytes],
    source: Source,
    options: JsonlOptions,
    report: ReadReport,
) -> Iterator[Document]:
    """Streams the documents of a table.

    Args:
        rows: of the table, in order.
        facts: of the schema, where the library datasets states the features.
        source: the file.
        options: as of records.
        report: as of records.

    Raises:
        FormatError: as of records.
    """
    features = _features(facts)
    names = {name: names_of_feature(feature) for name, feature in features.items()}
    values = (
        (Place(source.path, shown=f"{source.path}, row {number}"), record)
        for number, row in enumerate(rows, 1)
        for record in records_in(
            {
                name: cell if names.get(name) else _name_labels(cell, features.get(name))
                for name, cell in row.items()
            }
        )
    )
    return read_values(values, source, options, report, names=names)


def _features(facts: Mapping[bytes, bytes]) -> dict[str, Any]:
    try:
        hub_facts = msgspec.json.decode(facts.get(b"huggingface", b"{}"))
    except BROKEN:
        return {}
    match hub_facts:
        case {"info": {"features": dict(features)}}:
            return features
    return {}


def _name_labels(value: Any, feature: Any) -> Any:
    """Returns a value with names in place of the numbers of labels, an object of lists of equal
    length as a list of objects, and a date, a time or a decimal number as text.
    """
    match feature, value:
        case {"names": list(names), "_type": "ClassLabel"}, int(at) if 0 <= at < len(names):
            return names[at]
        case (([part] | {"feature": part}), list()):
            return [_name_labels(item, part) for item in value]
        case {"feature": dict(parts)}, dict():
            return _name_labels(value, {name: [part] for name, part in parts.items()})
        case dict(parts), dict():
            fields = {name: _name_labels(item, parts.get(name)) for name, item in value.items()}
            return _as_list(fields)
        case _, date() | time():
            return value.isoformat()
        case _, Decimal() | timedelta():
            return str(value)
        case _:
            return value


def _as_list(value: dict[str, Any]) -> Any:
    columns = list(value.values())
    are_lists = all(isinstance(column, list) for column in columns)
    if not are_lists or len(set(map(len, columns))) != 1:
        return value
    return [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]
