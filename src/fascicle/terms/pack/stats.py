"""Statistics of a pack: its counts, the sources of its names, and its most ambiguous keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from fascicle.core.arrays import unique_values
from fascicle.core.pairs import join_pairs, split_pairs
from fascicle.core.wording import plural
from fascicle.terms.keys.characters import CasePolicy
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import Array
from fascicle.terms.pack.layout import SourceFacts
from fascicle.terms.pack.pack import Pack
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
    concepts = _concepts_of_keys(pack)
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
        of_sources=_names_of_sources(pack),
        ambiguous=int(np.count_nonzero(concepts > 1)),
        most=tuple(_most_ambiguous(pack, concepts)),
        sources=manifest.sources,
        vocabularies=_vocabularies(pack),
    )


def _names_of_sources(pack: Pack) -> dict[str, int]:
    manifest = pack.manifest
    sets = np.bincount(pack.active.sources, minlength=len(manifest.sets)).tolist()
    counts = [0] * len(manifest.sources)
    for members, count in zip(manifest.sets, sets, strict=True):
        for number in members:
            counts[number] += count
    return {source.name: count for source, count in zip(manifest.sources, counts, strict=True)}


def _most_ambiguous(pack: Pack, concepts: Array) -> Iterator[tuple[str, int]]:
    """Yields the keys with the most concepts, given the number of each key."""
    for row in np.argsort(-concepts, kind="stable")[:_SHOWN].tolist():
        if concepts[row] > 1:
            yield pack.active.keys.strings[row], int(concepts[row])


def _vocabularies(pack: Pack) -> dict[str, _VocabularyFacts]:
    concepts = _count_by_name(pack.prefixes, pack.prefix_rows)
    names = _count_by_name(pack.prefixes, pack.prefix_rows[pack.active.concept])
    prefixes, rows = split_pairs(
        unique_values(join_pairs(pack.prefix_rows.astype(np.int64), pack.set_rows))
    )
    facts: dict[str, _VocabularyFacts] = {}
    for at, prefix in enumerate(pack.prefixes):
        sets = rows[prefixes == at].tolist()
        numbers = sorted(set().union(*(pack.manifest.sets[row] for row in sets)))
        sources = [pack.manifest.sources[number] for number in numbers]
        facts[prefix] = _VocabularyFacts(
            concepts=concepts[prefix],
            names=names.get(prefix, 0),
            dates=tuple(sorted({source.date for source in sources if source.date})),
            licences=tuple(dict.fromkeys(source.licence for source in sources if source.licence)),
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
        yield f"vocabulary {prefix}: {_vocabulary_text(vocabulary)}"
    for source in stats.sources:
        yield f"source {source.name}: {_source_text(source, stats.of_sources[source.name])}"


def _vocabulary_text(facts: _VocabularyFacts) -> str:
    dates = facts.dates or ("no date",)
    period = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    counted = f"{plural(facts.concepts, 'concept')}, {plural(facts.names, 'name')}"
    return f"{counted}; {period}; {', '.join(facts.licences) or 'no licence stated'}"


def _source_text(source: SourceFacts, names: int) -> str:
    facts = "; ".join(filter(None, (source.type, source.date, source.licence, source.attribution)))
    counts = ", ".join(f"{what} {count:,}" for what, count in source.counts.items())
    return f"{plural(names, 'name')}{f' ({facts})' if facts else ''}; read: {counts}"
