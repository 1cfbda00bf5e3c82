"""Counting what is in a pack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from fascicle.core.wording import counted
from fascicle.knowledge.keys.case import CasePolicy
from fascicle.knowledge.pack import layout
from fascicle.knowledge.pack.arrays import Array
from fascicle.knowledge.pack.manifest import SourceFacts
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.terms import NAME_KINDS

_SHOWN: Final = 10  # of the most ambiguous keys


class PackStats(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a pack.

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


def pack_stats(pack: Pack) -> PackStats:
    """Counts."""
    names, manifest = pack.active, pack.manifest
    several = _concepts_of_keys(pack)
    most = sorted(np.argsort(-several, kind="stable")[:_SHOWN].tolist(), key=lambda row: (-several[row], row))
    sets = np.bincount(names.sources, minlength=len(manifest.sets)).tolist()
    return PackStats(
        pack=pack.full_name,
        normaliser=manifest.normaliser,
        size=sum(facts.size for facts in manifest.files.values()),
        counts=dict(manifest.counts),
        concepts=_by(manifest.types, pack.type_rows),
        terms=_by(manifest.types, pack.type_rows[names.concept]),
        kinds=_by(NAME_KINDS, names.kind),
        languages=_by(manifest.languages, names.language),
        cases=_by([case.name for case in CasePolicy], names.flags & layout.CASE),
        off=int(np.count_nonzero(names.flags & layout.OFF)),
        of_sources={
            source.name: sum(count for members, count in zip(manifest.sets, sets, strict=True) if number in members)
            for number, source in enumerate(manifest.sources)
        },
        ambiguous=int(np.count_nonzero(several > 1)),
        most=tuple((names.keys.strings[row], int(several[row])) for row in most if several[row] > 1),
        sources=manifest.sources,
    )


def _by(names: Sequence[str], numbers: Array) -> dict[str, int]:
    counts = np.bincount(numbers, minlength=len(names)).tolist()
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _concepts_of_keys(pack: Pack) -> Array:
    """How many concepts each key has."""
    names = pack.active
    starts = names.starts.astype(np.int64)
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts).astype(np.int64))
    pairs = np.unique((owners << 32) | names.concept.astype(np.int64))
    return np.bincount(pairs >> 32, minlength=len(starts) - 1)


def lines(stats: PackStats) -> Iterator[str]:
    """The counts for people."""
    yield f"{stats.pack}  ({stats.size / 1e6:,.1f} MB, keys of {stats.normaliser})"
    for what, counts in (
        ("concepts", stats.concepts),
        ("names", stats.terms),
        ("kinds", stats.kinds),
        ("languages", stats.languages),
        ("case", stats.cases),
    ):
        yield f"{what}: {sum(counts.values()):,} ({', '.join(f'{name} {count:,}' for name, count in counts.items())})"
    yield f"not looked for in texts: {stats.off:,}"
    shown = ", ".join(f"{key!r} {count}" for key, count in stats.most)
    yield f"ambiguous keys: {stats.ambiguous:,}" + (f" (most concepts: {shown})" if shown else "")
    for what, count in stats.counts.items():
        yield f"{what}: {count:,}"
    for source in stats.sources:
        facts = "; ".join(filter(None, (source.type, source.date, source.licence, source.attribution)))
        read = ", ".join(f"{what} {count:,}" for what, count in source.counts.items())
        names = counted(stats.of_sources[source.name], "name")
        yield f"source {source.name}: {names}{f' ({facts})' if facts else ''}; read: {read}"
