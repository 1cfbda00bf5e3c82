"""Verification of a whole pack: every hash, every range, every order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.wording import plural
from fascicle.errors import FormatError, PackError
from fascicle.terms.keys.characters import CasePolicy
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import Array, Lists, Lookup, Strings, row_chunks, string_hashes
from fascicle.terms.pack.layout import FileFacts, Names, PackManifest, SourceFacts, pack_error
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.sets import make_sets
from fascicle.terms.pack.writing import OnProgress
from fascicle.terms.scanning.table import NameTable
from fascicle.terms.terms import NAME_KINDS

_SHOWN: Final = 10  # of the most ambiguous keys


class _VocabularyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about the concepts of one prefix.

    Attributes:
        concepts: how many.
        names: of them, without those that are kept out.
        dates: of the sources that tell of them, sorted.
        licences: of these sources.
    """

    concepts: int
    names: int
    dates: tuple[str, ...]
    licences: tuple[str, ...]


class PackStats(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of a pack.

    Attributes:
        pack: its full name.
        normaliser: version of its keys.
        size: bytes of all files.
        counts: of concepts and terms, and of what was left out for which reason.
        concepts: of each type.
        terms: of each type, without those that are kept out.
        kinds: terms of each kind.
        languages: terms of each language.
        cases: terms of each case policy.
        off: terms that are not looked for in texts.
        of_sources: terms that each source has.
        ambiguous: keys with several concepts.
        most: keys with the most concepts, and how many.
        sources: what the pack was made from.
        vocabularies: prefix of CURIEs -> facts about its concepts.
    """

    pack: str
    normaliser: str
    size: int
    counts: dict[str, int]
    concepts: dict[str, int]
    terms: dict[str, int]
    kinds: dict[str, int]
    languages: dict[str, int]
    cases: dict[str, int]
    off: int
    of_sources: dict[str, int]
    ambiguous: int
    most: tuple[tuple[str, int], ...]
    sources: tuple[SourceFacts, ...]
    vocabularies: dict[str, _VocabularyFacts]


def pack_stats(pack: Pack) -> PackStats:
    """Returns statistics of a pack."""
    names, manifest = pack.active, pack.manifest
    several = _concepts_of_keys(pack)
    most = sorted(
        np.argsort(-several, kind="stable")[:_SHOWN].tolist(), key=lambda row: (-several[row], row)
    )
    sets = np.bincount(names.sources, minlength=len(manifest.sets)).tolist()
    return PackStats(
        pack=pack.full_name,
        normaliser=manifest.normaliser,
        size=sum(facts.size for facts in manifest.files.values()),
        counts=dict(manifest.counts),
        concepts=_count_by_name(manifest.types, pack.type_rows),
        terms=_count_by_name(manifest.types, pack.type_rows[names.concept]),
        kinds=_count_by_name(NAME_KINDS, names.kind),
        languages=_count_by_name(manifest.languages, names.language),
        cases=_count_by_name([case.name for case in CasePolicy], names.flags & layout.CASE),
        off=int(np.count_nonzero(names.flags & layout.OFF)),
        of_sources={
            source.name: sum(
                count
                for members, count in zip(manifest.sets, sets, strict=True)
                if number in members
            )
            for number, source in enumerate(manifest.sources)
        },
        ambiguous=int(np.count_nonzero(several > 1)),
        most=tuple(
            (names.keys.strings[row], int(several[row])) for row in most if several[row] > 1
        ),
        sources=manifest.sources,
        vocabularies=_vocabularies(pack),
    )


def _vocabularies(pack: Pack) -> dict[str, _VocabularyFacts]:
    concepts = _count_by_name(pack.prefixes, pack.prefix_rows)
    names = _count_by_name(pack.prefixes, pack.prefix_rows[pack.active.concept])
    pairs = np.unique(pack.prefix_rows.astype(np.int64) << 32 | pack.set_rows)
    facts: dict[str, _VocabularyFacts] = {}
    for at, prefix in enumerate(pack.prefixes):
        numbers = {
            one
            for pair in pairs[pairs >> 32 == at].tolist()
            for one in pack.manifest.sets[pair & 0xFFFFFFFF]
        }
        sources = [pack.manifest.sources[number] for number in sorted(numbers)]
        facts[prefix] = _VocabularyFacts(
            concepts=concepts[prefix],
            names=names.get(prefix, 0),
            dates=tuple(sorted({one.date for one in sources if one.date})),
            licences=tuple(dict.fromkeys(one.licence for one in sources if one.licence)),
        )
    return facts


def _count_by_name(names: Sequence[str], numbers: Array) -> dict[str, int]:
    counts = np.bincount(numbers, minlength=len(names)).tolist()
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _concepts_of_keys(pack: Pack) -> Array:
    """Returns how many concepts each key has."""
    names = pack.active
    starts = names.starts.astype(np.int64)
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts).astype(np.int64))
    pairs = np.unique((owners << 32) | names.concept.astype(np.int64))
    return np.bincount(pairs >> 32, minlength=len(starts) - 1)


def stats_lines(stats: PackStats) -> Iterator[str]:
    """Yields the statistics as lines for people."""
    yield f"{stats.pack}  ({stats.size / 1e6:,.1f} MB, keys of {stats.normaliser})"
    for what, counts in (
        ("concepts", stats.concepts),
        ("names", stats.terms),
        ("kinds", stats.kinds),
        ("languages", stats.languages),
        ("case", stats.cases),
    ):
        yield (
            f"{what}: {sum(counts.values()):,} "
            f"({', '.join(f'{name} {count:,}' for name, count in counts.items())})"
        )
    yield f"not looked for in texts: {stats.off:,}"
    examples = ", ".join(f"{key!r} {count}" for key, count in stats.most)
    yield f"ambiguous keys: {stats.ambiguous:,}" + (
        f" (most concepts: {examples})" if examples else ""
    )
    for what, count in stats.counts.items():
        yield f"{what}: {count:,}"
    for prefix, vocabulary in stats.vocabularies.items():
        dates = " to ".join(
            dict.fromkeys((vocabulary.dates or ("no date",))[:: max(1, len(vocabulary.dates) - 1)])
        )
        counted = f"{plural(vocabulary.concepts, 'concept')}, {plural(vocabulary.names, 'name')}"
        yield (
            f"vocabulary {prefix}: {counted}; {dates}; "
            f"{', '.join(vocabulary.licences) or 'no licence stated'}"
        )
    for source in stats.sources:
        facts = "; ".join(
            filter(None, (source.type, source.date, source.licence, source.attribution))
        )
        counts_read = ", ".join(f"{what} {count:,}" for what, count in source.counts.items())
        names = plural(stats.of_sources[source.name], "name")
        yield f"source {source.name}: {names}{f' ({facts})' if facts else ''}; read: {counts_read}"


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
    concepts, manifest = len(pack), pack.manifest
    sources = range(len(manifest.sources))
    yield (
        "sets of sources",
        all(number in sources for members in manifest.sets for number in members),
    )
    yield "CURIEs", _are_found(pack.curies)
    yield "types", _below(pack.type_rows, len(manifest.types))
    yield "taxa", _are_strings(pack.taxa) and _below(pack.taxon_rows, len(pack.taxa))
    yield "ranks", _below(pack.rank_rows, len(manifest.ranks))
    yield "flags of concepts", _below(pack.flag_rows, 2 * layout.OBSOLETE)
    yield "sources of concepts", _below(pack.set_rows, len(manifest.sets))
    yield "labels", _labels_exist(pack)
    yield "facts", _are_strings(pack.facts, msgspec.msgpack.Decoder(layout.ConceptFacts).decode)
    yield "rules", _are_strings(pack.rules)
    for what, lists in (("parents", pack.parent_rows), ("children", pack.child_rows)):
        yield what, _are_lists(lists, concepts)
    edges = (_edges(pack.parent_rows, flipped=False), _edges(pack.child_rows, flipped=True))
    yield "parents and children", np.array_equal(*edges)
    yield "tokens", _is_table(pack)
    if layout.LEAD in manifest.files:
        yield "sets of concepts", np.array_equal(pack.leads.column, make_sets(pack).leads)
    for names in (pack.active, pack.silent):
        for what, is_right in _names(names, pack):
            yield f"{what} of {names.table}", is_right


def _names(names: Names, pack: Pack) -> Iterator[tuple[str, bool]]:
    manifest, terms = pack.manifest, len(names)
    yield "keys", _are_found(names.keys)
    yield "surfaces", _are_strings(names.surfaces)
    yield (
        "terms",
        _are_starts(names.starts, terms)
        and bool(np.all(np.diff(names.starts.astype(np.int64)) > 0)),
    )
    yield "concepts", _below(names.concept, len(pack))
    surfaces = names.surface.astype(np.int64)
    steps = np.diff(surfaces, prepend=-1, append=len(names.surfaces))
    yield (
        "rows of surfaces",
        bool(np.all((steps == 0) | (steps == 1)) and (not terms or steps[0] == 1)),
    )
    yield "kinds", _below(names.kind, len(NAME_KINDS))
    yield "languages", _below(names.language, len(manifest.languages))
    yield "flags", _below(names.flags, 2 * layout.DROPPED)
    yield "sources", _below(names.sources, len(manifest.sets))
    yield "priors", bool(np.all((names.prior > 0) & (names.prior <= 1)))
    lists = names.of_concept
    owners = _owners(lists)
    yield (
        "lists of terms",
        _are_starts(lists.starts, terms)
        and _below(lists.values, terms)
        and np.array_equal(names.concept[lists.values], owners)
        and np.array_equal(np.sort(lists.values), np.arange(terms)),
    )
    ruled, rules = names.ruled
    rising = bool(np.all(np.diff(ruled.astype(np.int64)) > 0))
    yield "rules", rising and _below(ruled, terms) and _below(rules, len(pack.rules))


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
