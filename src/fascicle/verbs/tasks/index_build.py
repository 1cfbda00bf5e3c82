"""Builds term packs, and adds own names and concepts to a pack (``fascicle index build`` and
``extend``).
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.arguments import AnyPath, validate_arguments
from fascicle.core.files.atomic import atomic_text_writer, check_folder
from fascicle.errors import UsageError, add_place
from fascicle.linking.folder import write_linker
from fascicle.linking.gold import NAMES
from fascicle.linking.index import write_index
from fascicle.linking.opening import LinkerPart, find
from fascicle.settings.folders.vocabularies import LINKER, shipped_linkers
from fascicle.settings.packs import ColumnSettings, PackSettings, SourceSettings, read_pack_settings
from fascicle.terms.curation import (
    CURATION,
    Curation,
    is_rules_table,
    read_rules,
)
from fascicle.terms.headings import read_headings
from fascicle.terms.pack.builder import BuildSettings, PackSource, build
from fascicle.terms.pack.export import KeptRules, pack_sources
from fascicle.terms.pack.layout import KIND, PackManifest, SourceFacts
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.tried import build_settings, real_parts, rule_problems, rules_by_key
from fascicle.terms.pack.why import COLUMNS, unsearched_labels
from fascicle.terms.rule_problems import RuleProblem, SeenNames
from fascicle.terms.sources.drafts import SourceReport
from fascicle.terms.sources.reading import check_hash, check_source, read_source
from fascicle.terms.sources.rows import list_rows
from fascicle.terms.terms import ConceptRecord, Name


@validate_arguments
def build_pack(  # noqa: PLR0913
    sources: AnyPath,
    output: AnyPath,
    *,
    kind: str = "",
    memory: int = 256,
    overwrite: bool = False,
    told: Callable[[str, int], None] = lambda step, count: None,
    reports: defaultdict[str, SourceReport] | None = None,
    findings: list[RuleProblem] | None = None,
) -> PackManifest:
    """Builds a pack.

    Args:
        sources: a TOML file that names the vocabularies, see `fascicle.settings.packs`; or one
            vocabulary, whose name shows its reader.
        output: the folder to write.
        kind: type of the concepts of one vocabulary.
        memory: MiB for sorting; the whole build takes about three times as much.
        overwrite: replace an existing pack.
        told: called with the current step and a count, now and then.
        reports: creates the report of each source, which receives the problems of reading; see also
            `write_left_out`.
        findings: receives problems with the rules of curation.

    Returns:
        The manifest of the pack; `Manifest.full_name` has the hash of its content.

    Raises:
        RecipeError: the file of sources has a setting that is not allowed.
        InputError: a source cannot be read.
        OutputError: the folder exists, or cannot be written.
    """
    settings = _settings_of(sources, kind, _pack_name(output))
    check_folder(Path(output), kind=KIND, overwrite=overwrite)
    _check_sources(settings.sources)
    rules = rules_by_key(read_rules(settings.curation)) if settings.curation else None
    names_seen = SeenNames(rules) if rules is not None else None
    reports = reports if reports is not None else defaultdict(SourceReport)
    manifest = build(
        _all_sources(settings.sources, rules, names_seen, reports),
        _build_settings(settings, memory),
        output,
        parts=real_parts(names_seen),
        on_progress=told,
        overwrite=overwrite,
    )
    if names_seen is not None and findings is not None:
        findings += names_seen.findings(settings.sources)
    return manifest


# Endings or beginnings of the names of files, and the reader of each; the first that fits counts.
_READERS: Final = (
    (r"\.obo$", "obo"),
    (r"\.json$", "obograph"),
    (r"\.(owl|rdf|ttl|nt|nq|trig|jsonld)$", "rdf"),
    (r"\.sssom\.tsv$", "sssom"),
    (r"gene_info$", "gene_info"),
    (r"^names\.dmp$", "ncbi_taxonomy"),
    (r"^(desc|supp)\d*\.xml$", "mesh_xml"),
    (r"^MRCONSO\.RRF$", "umls"),
    (r"^x?sct2_Description_", "snomed"),
)
_TABLES: Final = (".tsv", ".csv", ".txt", ".parquet")


def _settings_of(sources: AnyPath, kind: str, name: str) -> PackSettings:
    """Returns the settings of a list of vocabularies, or of one vocabulary that is given in
    place of a list.
    """
    plain = Path(sources).name.removesuffix(".gz")
    reader = next((reader for pattern, reader in _READERS if re.search(pattern, plain)), "")
    is_known = bool(reader) or plain.endswith(_TABLES)
    is_toml = plain.endswith(".toml") or not (is_known or Path(sources).is_file())
    if is_toml and (not kind or name == kind):
        return read_pack_settings(sources)
    if not is_known:
        what = "--type is for one vocabulary, and " if is_toml else ""
        raise UsageError(
            f"{what}{sources} is none whose name shows its reader; "
            "save a list of names as CSV, or write a TOML file with its path, reader and type"
        )
    if reader and not kind:
        raise UsageError(
            f"the concepts of {sources} have no type; give one with --type, such as --type Disease"
            + "; save a list of names as CSV" * (reader == "obograph")
        )
    own = (
        {_OWN: SourceSettings(path=str(sources), reader=reader, type=kind)}
        if reader
        else _own_sources(sources, kind)
    )
    return PackSettings(name=name, sources=own)


def _build_settings(settings: PackSettings, memory: int) -> BuildSettings:
    return BuildSettings(
        name=settings.name,
        memory=memory,
        longest=max(source.max_length for source in settings.sources.values()),
        careful=settings.careful,
        vocabularies=settings.vocabularies,
        qualities=settings.qualities,
    )


def _pack_name(folder: AnyPath) -> str:
    return _NO_NAME.sub("-", Path(folder).name)


def listed_files(sources: AnyPath) -> list[str]:
    """Returns the files that a list of vocabularies names: the inputs of a build beside the list
    itself.

    Raises:
        RecipeError: the list has a setting that is not allowed.
    """
    settings = _settings_of(sources, "any", "any")
    paths = [
        path
        for source in settings.sources.values()
        for path in (source.path, source.hierarchy)
        if path
    ]
    return [*paths, *settings.curation]


def write_left_out(
    table: AnyPath,
    pack: AnyPath,
    reports: Iterable[SourceReport],
    *,
    overwrite: bool = False,
) -> None:
    """Writes the labels that are left out of a pack, as TSV with a header line.

    Args:
        table: the file.
        pack: the pack that was built.
        reports: of its sources; those that were created with a list of ``labels`` name the labels
            left out.
        overwrite: replace an existing file.

    Raises:
        PackError: the pack cannot be opened.
        OutputError: the file exists, or cannot be written.
    """
    opened = Pack.open(pack)
    labels = chain.from_iterable(report.labels or () for report in reports)
    with atomic_text_writer(table, overwrite=overwrite) as stream:
        stream.writelines(
            "\t".join(row) + "\n" for row in chain([COLUMNS], unsearched_labels(opened, labels))
        )


def _check_sources(sources: Mapping[str, SourceSettings]) -> None:
    for name, source in sources.items():
        with add_place(key=f"sources.{name}"):
            check_source(source)


def _all_sources(
    sources: Mapping[str, SourceSettings],
    rules: Curation | None,
    names_seen: SeenNames | None,
    reports: defaultdict[str, SourceReport],
) -> list[PackSource]:
    own = (_source_of(name, own, reports[name], names_seen) for name, own in sources.items())
    return [*own, *_added(rules, sources)]


def _added(rules: Curation | None, names: Collection[str]) -> list[PackSource]:
    """Returns the names that rules add as sources; a source with the name of a vocabulary
    becomes that of the rules.
    """
    by_source: dict[str, list[ConceptRecord]] = {}
    for row in rules.added().values() if rules is not None else ():
        name = CURATION if row.source in names else row.source
        by_source.setdefault(name, []).append(
            ConceptRecord(curie=row.concept, names=(Name(row.surface),))
        )
    return [
        PackSource(SourceFacts(name=name), partial(iter, records), adds=True)
        for name, records in by_source.items()
    ]


def _source_of(
    name: str, settings: SourceSettings, report: SourceReport, names_seen: SeenNames | None
) -> PackSource:
    """Converts a vocabulary to a source of the builder.

    Args:
        name: of the source.
        settings: of the source.
        report: receives the problems of reading.
        names_seen: receives its names, if there are rules.
    """
    files = [(settings.path, settings.sha256), (settings.hierarchy, settings.hierarchy_sha256)]
    with add_place(key=f"sources.{name}"):
        hashes = tuple(check_hash(path, sha256) for path, sha256 in files if path)
    report.unread = _unread_titles(settings) if name.partition("-")[0] == _OWN else ()
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
        with add_place(key=f"sources.{name}"):
            for record in read_source(settings, report=report):
                if names_seen is not None:
                    names_seen.see(name, record)
                yield record

    def losses() -> Mapping[str, int]:
        return {reason: report.losses[reason] for reason in sorted(report.losses)}

    return PackSource(facts, records, losses, adds=settings.adds)


_OWN: Final = "own"  # name of a source that is a table
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9._@-]+|^[^A-Za-z0-9]+")
_ONE: Final = ("kind", "type", "language", "taxon", "rank", "obsolete", "definition")
_SEVERAL: Final = ("parents", "references", "replaced_by")


@validate_arguments
def extend(  # noqa: PLR0913
    pack: AnyPath,
    own: AnyPath,
    output: AnyPath,
    *,
    kind: str = "",
    linker: AnyPath | None = None,
    memory: int = 256,
    overwrite: bool = False,
    told: Callable[[str, int], None] = lambda step, count: None,
    reports: dict[str, SourceReport] | None = None,
    findings: list[RuleProblem] | None = None,
) -> PackManifest:
    """Builds a pack from another one with own names and concepts added; also copies the linker of
    that pack, if any.

    The folder can be used wherever a pack or a linker can. Labels of own concepts are always looked
    for in texts.

    Args:
        pack: folder that ``fascicle index build`` wrote, or the name of a shipped pack.
        own: a table with a header line, such as ``fascicle index export`` writes: ``concept`` and
            ``surface`` (or ``id`` and ``name``), and perhaps other columns of `ColumnSettings`; the
            TOML file of several vocabularies; or a table of rules of curation.
        output: the folder to write.
        kind: type of the concepts of a table that has no such column.
        linker: whose rankers are kept; by default that in the folder of the pack, or the shipped
            one of its name.
        memory: MiB for sorting.
        overwrite: replace an existing pack.
        told: called with the current step and a count, now and then.
        reports: receives the problems of reading each own source.
        findings: receives problems with rules of curation.

    Returns:
        The manifest of the pack.

    Raises:
        PackError: the pack or the linker cannot be opened, or were not built for each other.
        UsageError: a source of the pack has the name of an own one.
        RecipeError: settings of own sources that are not allowed.
        InputError: an own source cannot be read.
        OutputError: the folder exists, or cannot be written.
    """
    check_folder(Path(output), kind=KIND, overwrite=overwrite)
    base = Pack.open(pack)
    rules = rules_by_key(read_rules([str(own)])) if is_rules_table(own) else None
    if rules is not None and findings is not None:
        findings += rule_problems(base, rules)
    all_rules = KeptRules(base, rules)
    new = _new_sources(own, kind, base, all_rules, reports) if rules is None else ()
    return build(
        [*pack_sources(base, rules), *new],
        build_settings(base, name=_pack_name(output), memory=memory),
        output,
        parts=real_parts(all_rules),
        on_progress=told,
        overwrite=overwrite,
        finish=partial(_write_linkers, _parts(linker, base)),
    )


def _new_sources(
    own: AnyPath,
    kind: str,
    base: Pack,
    rules: KeptRules,
    reports: dict[str, SourceReport] | None,
) -> Iterator[PackSource]:
    reports = {} if reports is None else reports
    names_before = {facts.name for facts in base.manifest.sources}
    for name, settings in _own_sources(own, kind, names_before).items():
        if name in names_before:
            raise UsageError(
                f"the pack {base.folder} has a source {name!r} too; give the own one another name"
            )
        check_source(settings)
        source = _source_of(name, settings, reports.setdefault(name, SourceReport()), None)
        yield source._replace(records=partial(_watch_rules, source, rules))


def _watch_rules(source: PackSource, rules: KeptRules) -> Iterator[ConceptRecord]:
    for record in source.records():
        rules.see(record)
        yield record


def _own_sources(
    own: AnyPath, kind: str, names_before: Collection[str] = ()
) -> dict[str, SourceSettings]:
    if Path(own).suffix == ".toml":
        return dict(read_pack_settings(own).sources)
    titles, rows = list_rows(str(own))
    columns = read_headings(titles)
    at = next(iter(columns.get("type", ())), len(titles))
    synonyms = columns.get("synonyms", [])
    types: dict[str, str] = {}
    split = ";"
    for row in rows:
        types |= {kind: kind for kind in row[at : at + 1] if kind}
        if any("|" in cell for place in synonyms for cell in row[place : place + 1]):
            split = "|"
    settings = SourceSettings(
        path=str(own), reader="table", type=kind, types=types, columns=_own_columns(titles, columns)
    )
    table = msgspec.structs.replace(settings.table, split=split if synonyms else "|")
    return {_free_name(names_before): msgspec.structs.replace(settings, table=table)}


def _free_name(names_before: Collection[str]) -> str:
    names = chain([_OWN], (f"{_OWN}-{number}" for number in count(2)))
    return next(name for name in names if name not in names_before)


def _unread_titles(settings: SourceSettings) -> tuple[str, ...]:
    """Returns the titles of a table that is a source by its name, of columns that are not read."""
    titles = list_rows(settings.path)[0] if settings.reader == "table" else ()
    used = settings.columns.given().values()
    return tuple(title for title in titles if title not in used)


def _own_columns(titles: Sequence[str], columns: Mapping[str, Sequence[int]]) -> ColumnSettings:
    """Returns the columns of a list of own names, by their titles."""
    first = {what: titles[places[0]] for what, places in columns.items()}
    settings: dict[str, Any] = {
        "id": first.get("concept", "id"),
        "name": first.get("name", "name"),
        "exact": tuple(titles[at] for at in columns.get("synonyms", ())),
        **{title: title for title in _ONE if title in titles},
        **{title: (title,) for title in _SEVERAL if title in titles},
    }
    return ColumnSettings(**settings | ({"type": first["type"]} if "type" in first else {}))


def _parts(linker: AnyPath | None, base: Pack) -> Sequence[LinkerPart]:
    """Returns the linker whose rankers are kept; none for a pack without a linker."""
    if linker is None and (base.folder / LINKER).is_file():
        linker = base.folder
    if linker is None and base.manifest.name in shipped_linkers():
        linker = base.manifest.name
    return find(linker, [base.folder]).parts if linker is not None else ()


def _write_linkers(parts: Sequence[LinkerPart], folder: Path) -> None:
    """Writes a linker beside the files of a pack."""
    if not parts:
        return
    ((place, manifest, base),) = parts
    pack = Pack.open(folder)
    new = tuple(ranker for ranker in pack.prefixes if ranker not in base.prefixes)
    rankers = {
        kind: msgspec.structs.replace(
            ranker, vocabularies=ranker.vocabularies and (*ranker.vocabularies, *new)
        )
        for kind, ranker in manifest.rankers.items()
    }
    shutil.copyfile(place / NAMES, folder / NAMES)
    if manifest.indexed:
        write_index(folder, pack)
    few = {} if manifest.few is msgspec.UNSET else manifest.few
    order = () if manifest.order is msgspec.UNSET else manifest.order
    write_linker(folder, pack, rankers, place=".", indexed=manifest.indexed, order=order, few=few)
