"""File of a table of names: a header, then flat little-endian arrays, each at a multiple of 64
bytes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from fascicle.core.arguments import AnyPath
from fascicle.errors import FormatError

_MAGIC: Final = b"fascicle names 1\n"
HEADER: Final = 512  # bytes
ALIGNED: Final = 64
# Index: where the states that begin with its number begin. Filter: a bit for the last bits that are
# kept of each state.
DTYPES: Final = MappingProxyType(
    {
        "filter": "<u1",
        "index": "<u4",
        "states": "<u8",
        "rows": "<i4",
        "starts": "<u8",
        "keys": "<u1",
    }
)


class TableHeader(msgspec.Struct, frozen=True, kw_only=True):
    """Header of a table: versions, counts and sizes of its arrays.

    Attributes:
        normaliser: version of the keys.
        bits: of a state that count.
        names: number of keys.
        longest: tokens of the longest key.
        repeats: whether some names, or beginnings of names, have equal states.
        sizes: number of values of each array, in their order.
    """

    normaliser: str
    bits: int
    names: int
    longest: int
    repeats: bool
    sizes: dict[str, int]

    def places(self) -> dict[str, tuple[int, int]]:
        """Returns start and end of each array in the file, in bytes."""
        at, ranges = HEADER, {}
        for name, dtype in DTYPES.items():
            size = self.sizes[name] * np.dtype(dtype).itemsize
            ranges[name] = (at, at + size)
            at += size + -size % ALIGNED
        return ranges

    @property
    def end(self) -> int:
        """Size of the file in bytes."""
        last = list(self.places().values())[-1][1]
        return last + -last % ALIGNED

    def encode(self) -> bytes:
        """Returns the first bytes of the file."""
        return (_MAGIC + msgspec.json.encode(self)).ljust(HEADER - 1) + b"\n"


def open_arrays(path: AnyPath) -> tuple[TableHeader, Mapping[str, NDArray[Any]]]:
    """Maps a file into memory; data is read when it is used.

    Raises:
        FormatError: it is no table of names, of another format, or cut short.
    """
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except ValueError as error:  # an empty file
        raise _broken(path) from error
    return arrays_of(data.view(np.ndarray), path)


def arrays_of(
    data: NDArray[np.uint8], path: AnyPath = ""
) -> tuple[TableHeader, Mapping[str, NDArray[Any]]]:
    """Reads the arrays from the bytes of a table, as `open_arrays`; the path is for error
    messages.
    """
    head = bytes(data[:HEADER])
    if not head.startswith(_MAGIC):
        raise _broken(path)
    try:
        layout = msgspec.json.decode(head[len(_MAGIC) :].strip(), type=TableHeader)
        places = layout.places()
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise _broken(path) from error
    if layout.end != len(data) or min(layout.sizes.values()) < 0:
        raise FormatError(
            f"the table of names has {len(data)} bytes, but {layout.end} are needed",
            at=os.fspath(path),
        )
    return layout, {name: data[a:b].view(DTYPES[name]) for name, (a, b) in places.items()}


def _broken(path: AnyPath) -> FormatError:
    return FormatError("no table of names of this format; build it again", at=os.fspath(path))
