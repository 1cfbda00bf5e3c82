"""Build of a pack from records, in bounded memory: merges concepts, computes keys, and sorts
everything.

Records are sorted by concept and merged; the names of each concept get their keys and flags and are
sorted by key; both sorts spill to the disk. The result depends on the records alone, not on the
memory that was allowed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated, Final, NamedTuple, Protocol

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import replace

from fascicle.core.files.atomic import atomic_folder
from fascicle.errors import InputError
from fascicle.settings.base import PackName, Settings
from fascicle.terms.curation import UNTOUCHED, CurationRule, NameRow, RuleDecision
from fascicle.terms.keys.characters import CasePolicy
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import BYTES, OFFSETS, Lookup, StringsWriter, write_array
from fascicle.terms.pack.layout import KIND, FileFacts, PackManifest, SourceFacts, write_manifest
from fascicle.terms.pack.merging import (
    ConceptsWriter,
    Gathered,
    Merged,
    MergedName,
    Numbers,
    Records,
    gather,
    merge,
)
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.priors import STYLES
from fascicle.terms.pack.qualities import write_qualities
from fascicle.terms.pack.sets import write_sets
from fascicle.terms.pack.sorting import SortedSpill
from fascicle.terms.pack.writing import NameEntry, NamesWriter, OnProgress
from fascicle.terms.terms import NAME_KINDS

_MIB: Final = 1 << 20
_KINDS: Final = {kind: number for number, kind in enumerate(NAME_KINDS)}
_TOGETHER: Final = 1 << 13  # names that get their keys together
_EVERY: Final = 10_000
_SHORTENED: Final = re.compile(r"[A-Z]\. ?[a-z]")  # of a genus


class BuildSettings(Settings, frozen=True, kw_only=True):
    """Settings of the build of a pack.

    Attributes:
        name: of the pack, which becomes the source of its mentions.
        memory: MiB for sorting; the whole build takes about three times as much, and some 20 bytes
            for each name.
        longest: characters of a name; longer ones are left out and counted.
        careful: whether a preferred name may be too common or too short to be looked for in texts.
        vocabularies: prefixes that lead sets, in this order, before others.
        qualities: whether names composed of a quality and an entity have a table.
    """

    name: PackName
    memory: Annotated[int, Meta(ge=1, le=1 << 16)] = 256
    longest: Annotated[int, Meta(ge=1, le=100_000)] = 1_000
    careful: bool = True
    vocabularies: tuple[str, ...] = ()
    qualities: bool = False


class PackSource(NamedTuple):
    """Source of a pack: its facts for the manifest, and its records.

    Attributes:
        facts: its name is that of its terms; ``counts`` is filled by the build.
        records: begins to read.
        losses: what the reader left out, by reason; called when the records are read.
        adds: whether it only adds names to concepts that other sources have.
        is_whole: whether its concepts stay even without a name, as those of a pack do.
    """

    facts: SourceFacts
    records: Records
    losses: Callable[[], Mapping[str, int]] = dict
    adds: bool = False
    is_whole: bool = False


class NameRules(Protocol):
    """Interface of the curation rules, as the builder uses them: `Curation`, or `SeenNames`."""

    @property
    def rules(self) -> Sequence[CurationRule]:
        """All rules, by their numbers."""

    def decide(self, row: NameRow) -> RuleDecision:
        """Returns the decision about a name."""


@dataclass(frozen=True, kw_only=True)
class Components:
    """Components of the builder that are defined elsewhere: keys, scan table and curation rules.

    Attributes:
        normaliser: version of the keys.
        keys: of names, each of which is not empty and has no NUL character.
        table: writes the table by which texts are scanned from the sorted keys, and closes it.
        curation: rules about names, if there are any.
    """

    normaliser: str
    keys: Callable[[Sequence[str]], list[str]]
    table: Callable[[Iterable[str], Path], object]
    curation: NameRules | None = None


def build(
    sources: Sequence[PackSource],
    settings: BuildSettings,
    folder: str | os.PathLike[str],
    *,
    parts: Components,
    on_progress: OnProgress = lambda step, count: None,
    overwrite: bool = False,
    finish: Callable[[Path], None] = lambda folder: None,
) -> PackManifest:
    """Builds a pack; the folder gets its name only when it is complete.

    Args:
        sources: the first one with a value for a field counts, see `ConceptRecord`.
        settings: name and memory.
        folder: to write.
        parts: keys, table and curation.
        on_progress: progress callback, called with a label and a count, now and then.
        overwrite: replace a pack that is there and was not changed.
        finish: function that is called with the folder of the pack before it has its name; it may
            write other files beside its own.

    Returns:
        The manifest.

    Raises:
        InputError: no source gives a concept with a name; see `gather` too.
        OutputError: the folder exists and may not be replaced, or cannot be written.
    """
    with atomic_folder(folder, kind=KIND, overwrite=overwrite) as place:
        bare = _Building(sources, settings, parts, on_progress=on_progress, place=place).run()
        files = {}
        for number, path in enumerate(sorted(place.iterdir()), start=1):
            files[path.name] = FileFacts.of(path)
            on_progress("files", number)
        manifest = write_manifest(place, replace(bare, files=files))
        finish(place)
        return manifest


def _name_to_show(concept: Merged) -> MergedName | None:
    """Returns the name to show: what a source states, the English label, another label, or the
    first name in full.
    """

    def rank(name: MergedName) -> int:
        other = 4 if _SHORTENED.match(name.surface) else 3
        of_kind = other if name.kind != "label" else 1 if name.language == "en" else 2
        return 0 if name.surface == concept.label else of_kind

    return min(concept.names, key=rank, default=None)


def _rule_text(rule: CurationRule) -> str:
    """Returns a rule in a line, with the name of its file alone: a pack does not record where it
    was built.
    """
    parts = (
        rule.action,
        repr(rule.surface) if rule.surface else "",
        rule.source,
        rule.concept,
        rule.case,
        rule.note,
    )
    place = f"({PurePath(rule.place).name})" if rule.place else ""
    return " ".join(filter(None, (*parts, place)))


def _flags(decisions: Sequence[RuleDecision]) -> int:
    """Returns the flags of a name about which rules decided, for each of its sources."""
    case = next((decision.case for decision in decisions if decision.case), None)
    flags = layout.CASE if case is None else int(CasePolicy[case])
    if not any(decision.match for decision in decisions):
        flags |= layout.OFF
    if any(decision.preferred for decision in decisions):
        flags |= layout.PREFERRED
    return flags


class _Building:
    """State of one build."""

    def __init__(
        self,
        sources: Sequence[PackSource],
        settings: BuildSettings,
        parts: Components,
        *,
        on_progress: OnProgress,
        place: Path,
    ) -> None:
        self._sources, self._settings, self._parts = sources, settings, parts
        self._on_progress, self._place, self._work = on_progress, place, place / "work"
        self._work.mkdir()
        self._memory = settings.memory * _MIB
        self._names = [source.facts.name for source in sources]
        tables = (layout.ACTIVE, layout.SILENT)
        self._spills = {
            table: SortedSpill(self._work / table, memory=self._memory) for table in tables
        }
        self._concepts = ConceptsWriter(place, self._work)
        self._languages = Numbers[str]("languages", most=1 << 8)
        self._rules = Numbers[str]("rules of curation", most=layout.NONE, first=[""])
        self._used: set[int] = set()
        self._counts = Counter[str]()
        self._waiting: list[tuple[NameEntry, str]] = []  # with the table of the concept

    def run(self) -> PackManifest:
        """Writes all files but the manifest, and returns it without their hashes."""
        gathered = gather(
            [
                (source.facts.name, None if source.adds else source.facts.type, source.records)
                for source in self._sources
            ],
            self._work / "records",
            memory=self._memory,
            watch=self._on_progress,
        )
        for concept in merge(
            gathered, {at for at, source in enumerate(self._sources) if source.is_whole}
        ):
            self._add(concept)
        self._spill()
        concepts = self._concepts.close(self._counts)
        if not concepts:
            raise InputError(
                "the sources give no concept with a name; check their readers and filters"
            )
        self._on_progress("concepts", concepts)
        self._write_names(concepts)
        self._write_rules()
        manifest = self._manifest(gathered, concepts)
        pack = Pack(self._place, manifest)
        counts = write_sets(self._place, pack)
        if self._settings.qualities:
            counts |= write_qualities(pack, self._place, self._parts.table)
        shutil.rmtree(self._work)
        return replace(manifest, counts={**manifest.counts, **counts})

    def _add(self, concept: Merged) -> None:
        row = self._concepts.add(concept)
        name_to_show = _name_to_show(concept)
        table = layout.SILENT if concept.obsolete else layout.ACTIVE
        style = layout.STYLE_UNIT * STYLES.get(concept.type, 0)
        for name in concept.names:
            if reason := self._unusable(name):
                self._counts[reason] += 1
                continue
            flags, sources, rule = layout.CASE, name.sources, 0
            if self._parts.curation is not None:
                flags, sources, rule = self._judge(name, concept.curie, self._parts.curation)
            entry = NameEntry(
                surface=name.surface,
                concept=row,
                language=self._languages.of(name.language),
                kind=_KINDS[name.kind],
                set=self._concepts.sets.of(sources),
                flags=flags | style,
                rule=rule,
                is_label=name is name_to_show,
            )
            self._waiting.append((entry, table))
        if len(self._waiting) >= _TOGETHER:
            self._spill()
        if (row + 1) % _EVERY == 0:
            self._on_progress("concepts", row + 1)

    def _spill(self) -> None:
        """Computes the keys of the waiting names, and adds the names to the sorter."""
        waiting, self._waiting = self._waiting, []
        keys = self._parts.keys([entry.surface for entry, _ in waiting])
        for key, (entry, table) in zip(keys, waiting, strict=True):
            if not key:
                self._counts["name without a letter or digit"] += 1
                continue
            spill = self._spills[layout.SILENT if entry.flags & layout.DROPPED else table]
            spill.add(entry.encode(key))

    def _unusable(self, name: MergedName) -> str:
        """Returns why a name cannot be in a pack; empty if it can."""
        if not name.surface or "\0" in name.surface:
            return "name with characters that no text has"
        return "name that is too long" if len(name.surface) > self._settings.longest else ""

    def _judge(
        self, name: MergedName, curie: str, curation: NameRules
    ) -> tuple[int, tuple[int, ...], int]:
        """Returns flags of a name, the sources that remain, and the number of the text of the
        rules about it.
        """
        rows = {
            source: NameRow(name.surface, self._names[source], curie) for source in name.sources
        }
        decisions = {source: curation.decide(row) for source, row in rows.items()}
        if all(decision is UNTOUCHED for decision in decisions.values()):
            return layout.CASE, name.sources, 0
        remaining = tuple(source for source in name.sources if decisions[source].keep)
        flags = _flags([decisions[source] for source in remaining or name.sources])
        flags |= 0 if remaining else layout.DROPPED
        numbers = sorted({rule for decision in decisions.values() for rule in decision.rules})
        self._used.update(numbers)
        text = "; ".join(_rule_text(curation.rules[rule]) for rule in numbers)
        return flags, remaining or name.sources, self._rules.of(text)

    def _write_names(self, concepts: int) -> None:
        labels = np.full(concepts, layout.NONE, dtype="<u4")
        for table, spill in self._spills.items():
            writer = NamesWriter(self._place, table, labels, careful=self._settings.careful)
            writer.write(spill, self._on_progress)
            lookup = writer.close(concepts)
            self._counts[f"{table}"] = writer.terms
            self._counts[f"keys of {table}"] = len(lookup.strings)
            if table == layout.ACTIVE:
                self._write_table(lookup)
        write_array(self._place / layout.LABEL, labels)

    def _write_table(self, lookup: Lookup) -> None:
        keys = (lookup.strings[row] for row in range(len(lookup.strings)))
        self._parts.table(keys, self._place / layout.TABLE)
        for end in (BYTES, OFFSETS):  # the table has the keys too
            (self._place / f"{layout.table_file(layout.ACTIVE, layout.KEYS)}{end}").unlink()

    def _write_rules(self) -> None:
        if self._parts.curation is not None:
            self._counts["rules of curation"] = len(self._parts.curation.rules)
            self._counts["rules of curation that decide nothing"] = len(
                self._parts.curation.rules
            ) - len(self._used)
        rules = StringsWriter(self._place, layout.RULES)
        rules.extend([rule.encode() for rule in self._rules.values()])
        rules.close()

    def _manifest(self, gathered: Gathered, concepts: int) -> PackManifest:
        facts = (
            replace(source.facts, counts={**counts, **source.losses()})
            for source, counts in zip(self._sources, gathered.read, strict=True)
        )
        return PackManifest(
            name=self._settings.name,
            normaliser=self._parts.normaliser,
            sources=tuple(facts),
            sets=self._concepts.sets.values(),
            types=self._concepts.types.values(),
            languages=self._languages.values(),
            ranks=self._concepts.ranks.values(),
            counts={"concepts": concepts, **self._counts, **gathered.losses},
            files={},
            vocabularies=self._settings.vocabularies or msgspec.UNSET,
            careful=msgspec.UNSET if self._settings.careful else False,
        )
