"""Build of a table of names in bounded memory: states are spilled by their first bits, and
sorted part by part.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Ints
from fascicle.core.files.atomic import atomic_writer
from fascicle.errors import InputError
from fascicle.terms.keys.forms import Hashes, token_hash
from fascicle.terms.keys.key import NORMALISER
from fascicle.terms.scanning.layout import ALIGNED, DTYPES, TableHeader

BITS: Final = 64
# bits of the states in a table; the rest is 0, so that it takes no room in a wheel
KEPT: Final = 40
_START: Final = np.uint64(0x243F6A8885A308D3)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_T = TypeVar("_T")
_TOGETHER: Final = 1 << 14  # keys
_PARTS: Final = 64  # that are sorted one after the other
_REMEMBERED: Final = 1 << 18  # tokens whose hashes are kept
_ENTRY: Final = np.dtype([("state", "<u8"), ("row", "<i4")])
_IN_MEMORY: Final = 1 << 18  # bytes of a part that are not written to the disk
_COPIED: Final = 1 << 20  # bytes at once


def first_states(count: int) -> Hashes:
    """Returns the start states: one for each of so many empty sequences."""
    return np.full(count, _START, dtype=np.uint64)


def next_states(states: Hashes, hashes: Hashes, *, bits: int = BITS) -> Hashes:
    """Returns the states of sequences that are one token longer.

    The last steps are the finaliser of SplitMix64 (Steele, Lea and Flood 2014, section 5), a
    bijection.

    Args:
        states: of the sequences, ``[n]``.
        hashes: of the tokens that come next, ``[n]``.
        bits: of a state that are kept, the rest is 0; fewer than 64 only make more states equal.
    """
    mixed = states * _FIRST + hashes
    mixed ^= mixed >> np.uint64(30)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed if bits >= BITS else mixed & ~np.uint64((1 << (BITS - bits)) - 1)


def filter_bits(states: Hashes, mask: np.uint64, *, bits: int) -> Hashes:
    """Returns the numbers of states in the filter: their last bits among those that are kept.

    Args:
        states: ``[n]``.
        mask: of the size of the filter in bits, a power of two, less one.
        bits: as of `next_states`.
    """
    return (states >> np.uint64(min(BITS - bits, BITS - 1))) & mask


def batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Yields consecutive items, ``size`` at a time; the last batch may have fewer."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def build_table(keys: Iterable[str], path: str | os.PathLike[str], *, bits: int = KEPT) -> int:
    """Writes the table of all names of a pack.

    Memory does not grow with the number of keys, but for the index and the filter, some 6 bytes a
    key.

    Args:
        keys: keys of level 2, sorted by code points, without duplicates; key ``i`` gets row ``i``.
            Read once.
        path: of the new file; it must not exist.
        bits: of a hash that are kept; fewer only to test that collisions are handled.

    Returns:
        The number of keys.

    Raises:
        InputError: the keys are not sorted, one occurs twice, or one is empty.
        OutputError: the file cannot be written.
    """
    with atomic_writer(path) as stream:
        folder = str(Path(path).absolute().parent)
        return write_table(
            _check_order(keys), stream, hash_of=_TokenHashes().__getitem__, folder=folder, bits=bits
        )


def write_table(
    keys: Iterable[str],
    stream: IO[bytes],
    *,
    hash_of: Callable[[str], int],
    folder: str | None = None,
    bits: int = KEPT,
) -> int:
    """Writes a table to an open file, as `build_table` writes it to a path.

    Args:
        keys: keys as for `build_table`; they are not checked.
        stream: gets the table.
        hash_of: function from a token to its hash of 64 bits, with or without a sign.
        folder: for what does not fit into memory; that of temporary files by default.
        bits: bits as for `build_table`.
    """
    with ExitStack() as stack:
        spilled = _Spilled(stack, folder, hash_of=hash_of, bits=bits)
        for batch in batches(keys, _TOGETHER):
            spilled.add(batch)
        spilled.write(stream)
    return spilled.names


class _Spilled:
    """Temporary files with all parts of a table."""

    def __init__(
        self, stack: ExitStack, folder: str | None, *, hash_of: Callable[[str], int], bits: int
    ) -> None:
        def temporary() -> IO[bytes]:
            return stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=folder))

        self._parts = [temporary() for _ in range(_PARTS)]
        self._text, self._starts, self._states, self._rows = (temporary() for _ in range(4))
        self._starts.write(np.zeros(1, dtype=DTYPES["starts"]).tobytes())
        self._bits = bits
        self._hash_of = hash_of
        self._last = ""
        self.names, self.longest, self.size = 0, 0, 0

    def add(self, keys: list[str]) -> None:
        """Adds the next keys."""
        self._spill([self._last, *keys])
        packed = [key.encode("utf-8", "surrogatepass") for key in keys]
        ends = self.size + np.cumsum([len(key) for key in packed])
        self._text.write(b"".join(packed))
        self._starts.write(ends.astype(DTYPES["starts"]).tobytes())
        self.names, self.size, self._last = self.names + len(keys), int(ends[-1]), keys[-1]

    def write(self, stream: IO[bytes]) -> None:
        """Sorts the states part by part, and writes the file."""
        filled = _Filled(
            sum(part.tell() for part in self._parts) // _ENTRY.itemsize, state_bits=self._bits
        )
        for part in self._parts:
            part.seek(0)
            entries = np.frombuffer(part.read(), dtype=_ENTRY)
            filled.add(_sort_entries(entries), self._states, self._rows)
            part.close()
        stream.write(self._header(filled).encode())
        for array in (filled.filter, np.cumsum(filled.index, dtype=DTYPES["index"])):
            stream.write(array.tobytes())
            _align(stream)
        for spilled in (self._states, self._rows, self._starts, self._text):
            spilled.seek(0)
            shutil.copyfileobj(spilled, stream, _COPIED)
            _align(stream)

    def _header(self, filled: _Filled) -> TableHeader:
        sizes = {
            "filter": len(filled.filter),
            "index": len(filled.index),
            "states": filled.count,
            "rows": filled.count,
            "starts": self.names + 1,
            "keys": self.size,
        }
        return TableHeader(
            normaliser=NORMALISER,
            bits=self._bits,
            names=self.names,
            longest=self.longest,
            repeats=filled.repeats,
            sizes=sizes,
        )

    def _spill(self, keys: list[str]) -> None:
        """Writes the states of keys, and of their prefixes that the key before does not share.

        Keys are sorted and a blank sorts before all else in them, so all keys with the same
        beginning are neighbours.
        """
        hashes, lengths = self._hash_tokens(keys)
        longest = int(lengths.max())
        self.longest = max(self.longest, longest)
        starts = np.cumsum(lengths) - lengths
        alive = np.arange(len(keys))
        states = first_states(len(keys))
        shared = np.ones(len(keys), dtype=bool)  # so many tokens with the key before
        for depth in range(longest):
            alive = alive[lengths[alive] > depth]
            tokens = hashes[starts[alive] + depth]
            states[alive] = next_states(states[alive], tokens, bits=self._bits)
            shared &= _repeat_before(alive, tokens, len(keys))
            is_end = lengths[alive] == depth + 1
            new = alive[(is_end | ~shared[alive]) & (alive > 0)]
            rows = np.where(lengths[new] == depth + 1, new + self.names - 1, -1)
            self._write_states(states[new], rows)

    def _hash_tokens(self, keys: list[str]) -> tuple[Hashes, Ints]:
        """Returns the hashes of the tokens of all keys, and how many each has."""
        tokens = " ".join(keys).split(" ")
        hashes = np.fromiter(map(self._hash_of, tokens), dtype=np.int64, count=len(tokens))
        return hashes.view(np.uint64), np.array([key.count(" ") for key in keys]) + 1

    def _write_states(self, states: Hashes, rows: Ints) -> None:
        entries = np.empty(len(states), dtype=_ENTRY)
        entries["state"], entries["row"] = states, rows
        number = (states >> np.uint64(BITS - _PARTS.bit_length() + 1)).astype(np.int64)
        order = np.argsort(number, kind="stable")
        bounds = np.searchsorted(number[order], np.arange(_PARTS + 1)).tolist()
        entries = entries[order]
        for part, first, last in zip(self._parts, bounds, bounds[1:], strict=False):
            part.write(entries[first:last].tobytes())


def _repeat_before(keys: Ints, tokens: Hashes, count: int) -> Bools:
    """Returns which of so many keys have a token that the key before has too.

    Args:
        keys: those that have a token here.
        tokens: hash of the token of each.
        count: of all keys.
    """
    has = np.zeros(count, dtype=bool)
    has[keys] = True
    token = np.zeros(count, dtype=np.uint64)
    token[keys] = tokens
    repeat = np.zeros(count, dtype=bool)
    repeat[1:] = has[1:] & has[:-1] & (token[1:] == token[:-1])
    return repeat


class _TokenHashes(dict[str, int]):
    """Cache of the hashes of tokens; it is emptied when it has too many."""

    def __missing__(self, token: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        number = token_hash(token)
        self[token] = number = number - (
            number >> 63 << 64
        )  # as a signed number, as those of `hash`
        return number


class _Filled:
    """Index and filter of a table, while the states are written."""

    def __init__(self, entries: int, *, state_bits: int) -> None:
        self._kept = state_bits
        self.bits = max(8, int(8 * entries - 1).bit_length())
        self.filter = np.zeros(1 << (self.bits - 3), dtype=DTYPES["filter"])
        self.prefix = max(1, entries.bit_length() - 1)
        self.index = np.zeros((1 << self.prefix) + 1, dtype=DTYPES["index"])
        self.count = 0
        self.repeats = False

    def add(self, entries: NDArray[Any], states: IO[bytes], rows: IO[bytes]) -> None:
        """Adds the next states in their order."""
        new: Hashes = np.ascontiguousarray(entries["state"])
        states.write(new.tobytes())
        rows.write(entries["row"].tobytes())
        bucket = (new >> np.uint64(BITS - self.prefix)).astype(np.int64)
        numbers, counts = np.unique(bucket, return_counts=True)
        self.index[numbers + 1] += counts.astype(DTYPES["index"])
        low = filter_bits(new, np.uint64((1 << self.bits) - 1), bits=self._kept)
        np.bitwise_or.at(
            self.filter,
            (low >> np.uint64(3)).astype(np.int64),
            np.left_shift(1, (low & np.uint64(7)).astype(np.uint8)),
        )
        self.count += len(new)
        self.repeats = self.repeats or bool((new[1:] == new[:-1]).any())


def _sort_entries(entries: NDArray[Any]) -> NDArray[Any]:
    """Returns states in order; a beginning that is a name too, or stands twice, is left out."""
    entries = entries[np.lexsort((-entries["row"], entries["state"]))]
    stays = np.ones(len(entries), dtype=bool)
    stays[1:] = (entries["state"][1:] != entries["state"][:-1]) | (entries["row"][1:] >= 0)
    return entries[stays]


def _check_order(keys: Iterable[str]) -> Iterator[str]:
    before = ""
    for key in keys:
        if key <= before:
            raise InputError(
                f"the key {key!r} came after {before!r}; give keys sorted by code points, none "
                "twice, and none empty"
            )
        yield key
        before = key


def _align(stream: IO[bytes]) -> None:
    stream.write(b"\0" * (-stream.tell() % ALIGNED))
