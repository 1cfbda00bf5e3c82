"""Verification of a whole pack: every hash, every range, every order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from pathlib import Path

import msgspec
import numpy as np

from fascicle.core.arrays import Ints
from fascicle.errors import FormatError, PackError
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import Array, Lists, Lookup, Strings, row_chunks, string_hashes
from fascicle.terms.pack.layout import FileFacts, Names, PackManifest, pack_error
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.sets import make_sets
from fascicle.terms.pack.writing import OnProgress
from fascicle.terms.scanning.table import NameTable
from fascicle.terms.terms import NAME_KINDS


def verify(pack: Pack, *, on_progress: OnProgress = lambda step, count: None) -> int:
    """Reads all files of a pack.

    Args:
        pack: the pack that is open.
        on_progress: called with the number of finished files or parts of the content.

    Returns:
        The number of bytes.

    Raises:
        PackError: a file was changed, or what is in it cannot be.
    """
    total = _check_hashes(pack.folder, pack.manifest, on_progress)
    what = "arrays"
    try:
        for number, (what, is_right) in enumerate(_parts(pack), start=1):
            if not is_right:
                raise _impossible(pack, what)
            on_progress("content", number)
    except (ValueError, IndexError, FormatError):  # errors of numpy for ranges outside of an array
        raise _impossible(pack, f"something behind its {what}") from None
    return total


def _impossible(pack: Pack, what: str) -> PackError:
    message = (
        f"has {what} that cannot be, though its files are as they were written; build it again with"
    )
    return pack_error(pack.folder, f"{pack.folder} {message} fascicle index build")


def _check_hashes(folder: Path, manifest: PackManifest, on_progress: OnProgress) -> int:
    total = 0
    for number, (name, facts) in enumerate(manifest.files.items(), start=1):
        if FileFacts.of(folder / name) != facts:
            message = (
                "was changed after the pack was built; copy the pack again, or build it again with"
            )
            raise pack_error(folder / name, f"{folder / name} {message} fascicle index build")
        total += facts.size
        on_progress("files", number)
    return total


def _parts(pack: Pack) -> Iterator[tuple[str, bool]]:
    """Yields the name of each part that is verified, and whether it is valid."""
    yield from _concept_parts(pack)
    yield "facts", _are_strings(pack.facts, msgspec.msgpack.Decoder(layout.ConceptFacts).decode)
    yield "rules", _are_strings(pack.rules)
    yield "parents", _are_lists(pack.parent_rows, len(pack))
    yield "children", _are_lists(pack.child_rows, len(pack))
    edges = (_edges(pack.parent_rows, flipped=False), _edges(pack.child_rows, flipped=True))
    yield "parents and children", np.array_equal(*edges)
    yield "tokens", _is_table(pack)
    if layout.LEAD in pack.manifest.files:
        yield "sets of concepts", np.array_equal(pack.leads.column, make_sets(pack).leads)
    for names in (pack.active, pack.silent):
        for what, is_right in _names(names, pack):
            yield f"{what} of {names.table}", is_right


def _concept_parts(pack: Pack) -> Iterator[tuple[str, bool]]:
    manifest = pack.manifest
    sources = range(len(manifest.sources))
    members = chain.from_iterable(manifest.sets)
    yield "sets of sources", all(number in sources for number in members)
    yield "CURIEs", _are_found(pack.curies)
    yield "types", _below(pack.type_rows, len(manifest.types))
    yield "taxa", _are_strings(pack.taxa) and _below(pack.taxon_rows, len(pack.taxa))
    yield "ranks", _below(pack.rank_rows, len(manifest.ranks))
    yield "flags of concepts", _below(pack.flag_rows, 2 * layout.OBSOLETE)
    yield "sources of concepts", _below(pack.set_rows, len(manifest.sets))
    yield "labels", _labels_exist(pack)


def _names(names: Names, pack: Pack) -> Iterator[tuple[str, bool]]:
    manifest, terms = pack.manifest, len(names)
    yield "keys", _are_found(names.keys)
    yield "surfaces", _are_strings(names.surfaces)
    yield "terms", _are_starts(names.starts, terms) and _are_rising(names.starts)
    yield "concepts", _below(names.concept, len(pack))
    yield "rows of surfaces", _are_numbered(names.surface, len(names.surfaces))
    yield "kinds", _below(names.kind, len(NAME_KINDS))
    yield "languages", _below(names.language, len(manifest.languages))
    yield "flags", _below(names.flags, 2 * layout.DROPPED)
    yield "sources", _below(names.sources, len(manifest.sets))
    yield "priors", bool(np.all((names.prior > 0) & (names.prior <= 1)))
    yield "lists of terms", _are_lists_of_terms(names)
    ruled, rules = names.ruled
    yield "rules", _are_rising(ruled) and _below(ruled, terms) and _below(rules, len(pack.rules))


def _are_rising(values: Array) -> bool:
    return bool(np.all(np.diff(values.astype(np.int64)) > 0))


def _are_numbered(numbers: Array, count: int) -> bool:
    """True if numbers begin at 0, repeat or rise by one, and reach so many."""
    steps = np.diff(numbers.astype(np.int64), prepend=-1, append=count)
    return bool(np.all((steps == 0) | (steps == 1)) and (not len(numbers) or steps[0] == 1))


def _are_lists_of_terms(names: Names) -> bool:
    """True if each term is once in the lists, in that of its concept."""
    lists, terms = names.of_concept, len(names)
    owners = _owners(lists)
    return (
        _are_starts(lists.starts, terms)
        and _below(lists.values, terms)
        and np.array_equal(names.concept[lists.values], owners)
        and np.array_equal(np.sort(lists.values), np.arange(terms))
    )


def _is_table(pack: Pack) -> bool:
    """True if the table of tokens has every key at its row, and no other."""
    table, strings = NameTable.open(pack.table), pack.active.keys.strings
    if len(table) != len(pack.active.keys.rows):
        return False
    return all(
        np.array_equal(
            table.rows([key.decode() for key in chunk]), np.arange(start, start + len(chunk))
        )
        for start, chunk in _chunks(strings)
    )


def _below(values: Array, end: int) -> bool:
    return not len(values) or int(values.max()) < end


def _are_starts(starts: Array, end: int) -> bool:
    """True if offsets begin at 0, never decrease, and end at the end."""
    return (
        len(starts) > 0
        and starts[0] == 0
        and starts[-1] == end
        and bool(np.all(starts[1:] >= starts[:-1]))
    )


def _chunks(strings: Strings) -> Iterator[tuple[int, list[bytes]]]:
    for rows in row_chunks(len(strings)):
        yield int(rows[0]), list(map(bytes, strings.raws(rows)))


def _are_strings(strings: Strings, decode: Callable[[bytes], object] = bytes.decode) -> bool:
    if not _are_starts(strings.offsets, len(strings.content)):
        return False
    try:
        for _, chunk in _chunks(strings):
            for content in filter(None, chunk):
                decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


def _are_found(lookup: Lookup) -> bool:
    """True if strings are sorted and distinct, and each is found by its hash."""
    strings, hashes, rows = lookup.strings, lookup.hashes, lookup.rows
    if not _are_strings(strings) or not _below(rows, len(strings)):
        return False
    if not np.array_equal(np.sort(rows), np.arange(len(rows))) or np.any(hashes[1:] < hashes[:-1]):
        return False
    by_row = np.empty_like(hashes)
    by_row[rows] = hashes
    last: bytes | None = None
    for start, chunk in _chunks(strings):
        if last is not None and not last < chunk[0]:
            return False
        if any(a >= b for a, b in pairwise(chunk)):
            return False
        if not np.array_equal(string_hashes(chunk), by_row[start : start + len(chunk)]):
            return False
        last = chunk[-1]
    return True


def _are_lists(lists: Lists, concepts: int) -> bool:
    if not _are_starts(lists.starts, len(lists.values)) or not _below(lists.values, concepts):
        return False
    rising = np.append(np.diff(lists.values.astype(np.int64), prepend=-1) > 0, [True])
    rising[lists.starts] = True  # the first of each list
    return bool(rising.all())


def _owners(lists: Lists) -> Ints:
    """Returns the number of the list of each value."""
    starts = lists.starts.astype(np.int64)
    return np.repeat(np.arange(len(starts) - 1), starts[1:] - starts[:-1])


def _edges(lists: Lists, *, flipped: bool) -> Ints:
    owners = _owners(lists)
    values = lists.values.astype(np.int64)
    first, second = (values, owners) if flipped else (owners, values)
    return np.sort((first << 32) | second)


def _labels_exist(pack: Pack) -> bool:
    labels = pack.label_rows[pack.label_rows != layout.NONE]
    silent = labels >= layout.LIMIT
    inside = _below(labels[~silent], len(pack.active.surfaces))
    return inside and _below(labels[silent] - layout.LIMIT, len(pack.silent.surfaces))
