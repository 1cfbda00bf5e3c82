"""Keys that are absent in JSON, and ``null`` in what data frames wrote of it.

A table has every column in each row: pandas, polars, DuckDB and ``datasets`` write ``null`` for a
key that some other row has.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")


def without_nulls(value: Any) -> Any:
    """Returns parsed JSON without the keys of objects whose value is ``null``."""
    if isinstance(value, dict):
        return {key: without_nulls(part) for key, part in value.items() if part is not None}
    return [without_nulls(part) for part in value] if isinstance(value, list) else value


def decode_present(decoder: msgspec.json.Decoder[_T], data: bytes | str | msgspec.Raw) -> _T:
    """Decodes JSON; what is refused is decoded once more without the keys whose value is ``null``.

    A number as ``id`` is a text there: pandas makes numbers of ids that look like numbers.

    Raises:
        msgspec.ValidationError: it does not fit the type of the decoder.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        value = without_nulls(msgspec.json.decode(data))
        if isinstance(value, dict) and type(value.get("id")) is int:
            value["id"] = str(value["id"])
        try:
            return msgspec.convert(value, decoder.type, strict=decoder.strict)
        except msgspec.ValidationError:
            pass
        raise
