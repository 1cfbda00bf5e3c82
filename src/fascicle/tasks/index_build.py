"""Building a term pack from vocabularies: what ``fascicle index build`` does."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

from fascicle.core.arguments import checked
from fascicle.errors import about
from fascicle.files.atomic import atomic_text_writer, check_folder
from fascicle.knowledge.curation.applying import Curation
from fascicle.knowledge.curation.lint import Finding, Seen
from fascicle.knowledge.curation.rules import CURATION, read_rules
from fascicle.knowledge.keys.key import NORMALISER, key
from fascicle.knowledge.pack.builder import BuildSettings, PackSource, Parts, build
from fascicle.knowledge.pack.keying import KeyReader
from fascicle.knowledge.pack.manifest import KIND, Manifest, SourceFacts
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.unsought import COLUMNS, unsought
from fascicle.knowledge.scanning.building import build_table
from fascicle.knowledge.sources.reading import check_hash, check_source, read_source
from fascicle.knowledge.sources.report import SourceReport
from fascicle.knowledge.terms import ConceptRecord, Name
from fascicle.settings.packs import SourceSettings, read_pack_settings


@checked
def build_pack(
    sources: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    memory: int = 256,
    overwrite: bool = False,
    told: Callable[[str, int], None] = lambda step, count: None,
    reports: defaultdict[str, SourceReport] | None = None,
    findings: list[Finding] | None = None,
) -> Manifest:
    """Builds a pack.

    Args:
        sources: a TOML file that names the vocabularies, see `fascicle.settings.packs`.
        output: the folder to write.
        memory: MiB for sorting; the whole build takes about three times as much.
        overwrite: replace a pack that is there.
        told: is called with what is being done and a count, now and then.
        reports: makes the report of each source, which receives what reading it met; see `write_left_out` too.
        findings: receives what is wrong with the rules of curation.

    Returns:
        What the pack says of itself; `Manifest.full_name` has the hash of its content.

    Raises:
        RecipeError: the file of sources has a setting that is not allowed.
        InputError: a source cannot be read.
        OutputError: the folder exists, or cannot be written.
    """
    settings = read_pack_settings(sources)
    check_folder(Path(output), kind=KIND, overwrite=overwrite)
    for name, source in settings.sources.items():
        with about(key=f"sources.{name}"):
            check_source(source)
    rules = Curation(read_rules(settings.curation), key=lambda surface: key(surface, 2)) if settings.curation else None
    seen = Seen(rules) if rules is not None else None
    reports = reports if reports is not None else defaultdict(SourceReport)
    found = [source_of(name, source, reports[name], seen) for name, source in settings.sources.items()]
    if rules is not None:
        found += _added(rules, settings.sources)
    longest = max(source.max_length for source in settings.sources.values())
    manifest = build(
        found,
        BuildSettings(name=settings.name, memory=memory, longest=longest, careful=settings.careful),
        output,
        parts=Parts(normaliser=NORMALISER, keys=KeyReader(), table=build_table, curation=seen),
        told=told,
        overwrite=overwrite,
    )
    if seen is not None and findings is not None:
        findings += seen.findings(settings.sources)
    return manifest


def files_of(sources: str | os.PathLike[str]) -> list[str]:
    """The files that a list of vocabularies names: what a build reads beside the list itself.

    Raises:
        RecipeError: the list has a setting that is not allowed.
    """
    settings = read_pack_settings(sources)
    named = [path for one in settings.sources.values() for path in (one.path, one.hierarchy) if path]
    return [*named, *settings.curation]


def write_left_out(
    table: str | os.PathLike[str],
    pack: str | os.PathLike[str],
    reports: Iterable[SourceReport],
    *,
    overwrite: bool = False,
) -> None:
    """Writes the labels that are not looked for, as TSV with a line of titles.

    Args:
        table: the file.
        pack: that was built.
        reports: of its sources; those that were made with a list of ``labels`` say which the build left out.
        overwrite: replace an existing file.

    Raises:
        PackError: the pack cannot be opened.
        OutputError: the file exists, or cannot be written.
    """
    opened = Pack.open(pack)
    lost = chain.from_iterable(report.labels or () for report in reports)
    with atomic_text_writer(table, overwrite=overwrite) as stream:
        stream.writelines("\t".join(row) + "\n" for row in chain([COLUMNS], unsought(opened, lost)))


def _added(rules: Curation, taken: Collection[str]) -> list[PackSource]:
    """What rules add, under the names that they give; one of a vocabulary stays with that of rules."""
    by_source: dict[str, list[ConceptRecord]] = {}
    for row in rules.added().values():
        name = CURATION if row.source in taken else row.source
        by_source.setdefault(name, []).append(ConceptRecord(curie=row.concept, names=(Name(row.surface),)))
    return [
        PackSource(SourceFacts(name=name), partial(iter, records), adds=True) for name, records in by_source.items()
    ]


def source_of(name: str, settings: SourceSettings, report: SourceReport, seen: Seen | None) -> PackSource:
    """A vocabulary as the builder takes it.

    Args:
        name: of the source.
        settings: of the source.
        report: receives what reading it met.
        seen: looks at its names, if there are rules.
    """
    files = [(settings.path, settings.sha256), (settings.hierarchy, settings.hierarchy_sha256)]
    with about(key=f"sources.{name}"):
        hashes = tuple(check_hash(path, sha256) for path, sha256 in files if path)
    facts = SourceFacts(
        name=name,
        type=settings.type,
        sha256=hashes,
        date=settings.date,
        reader=settings.reader,
        url=settings.url,
        licence=settings.licence,
        attribution=settings.attribution,
    )

    def records() -> Iterator[ConceptRecord]:
        with about(key=f"sources.{name}"):
            for record in read_source(settings, report=report):
                if seen is not None:
                    seen.see(name, record)
                yield record

    def losses() -> Mapping[str, int]:
        return {reason: report.losses[reason] for reason in sorted(report.losses)}

    return PackSource(facts, records, losses, adds=settings.adds)
