"""Catalogue of the readers of vocabularies, and the reader of one vocabulary of a ``sources.toml``.

A vocabulary is checked, read and filtered, and gets its type.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.core.arguments import time_limit
from fascicle.core.files.pipes import unreadable
from fascicle.core.type_names import read_vocabulary
from fascicle.core.wording import near_hint, shorten
from fascicle.errors import FascicleError, FormatError, InputError, Place, PluginError, RecipeError
from fascicle.plugins import load_plugin, plugin_names, plugin_package
from fascicle.settings.folders.described import file_sha256
from fascicle.settings.packs import ColumnSettings, PackSettings, SourceSettings, TableSettings
from fascicle.terms.keys.key import key
from fascicle.terms.sources import releases
from fascicle.terms.sources.drafts import ReadRecords, SourceReport
from fascicle.terms.sources.json_sources import read_obograph, read_open_targets
from fascicle.terms.sources.mesh import read_mesh_ascii, read_mesh_names, read_mesh_xml
from fascicle.terms.sources.obo import CELLOSAURUS, read_obo
from fascicle.terms.sources.parquet_rows import parts_of
from fascicle.terms.sources.rdf import read_rdf
from fascicle.terms.sources.sssom import read_sssom
from fascicle.terms.sources.tables import read_table
from fascicle.terms.terms import ConceptRecord, Name, curie

_Fits = Callable[[Sequence[Name], SourceReport, Place], Sequence[Name]]
_SECONDS: Final = 5.0  # of processor time, for the names of one record


@dataclass(frozen=True)
class _SourceReader:
    """Reader of one kind of source.

    Attributes:
        name: in ``sources.toml``.
        means: what it reads, for people.
        read: streams the records.
        hierarchy: whether it reads a second file with what is above what.
        table: whether it takes ``columns`` and ``table``.
    """

    name: str
    means: str
    read: ReadRecords
    hierarchy: bool = False
    table: bool = False


def _table(name: str, means: str) -> _SourceReader:
    return _SourceReader(name, means, partial(releases.read_published, name=name), table=True)


def _two(name: str, means: str, read: ReadRecords, *, table: bool = True) -> _SourceReader:
    return _SourceReader(name, means, read, hierarchy=True, table=table)


_ROWS: Final = (
    _SourceReader("obo", "OBO 1.0 to 1.4", read_obo),
    _SourceReader("cellosaurus", "Cellosaurus as OBO", partial(read_obo, dialect=CELLOSAURUS)),
    _SourceReader("obograph", "OBO-Graph JSON", read_obograph),
    _SourceReader(
        "rdf",
        "OWL, SKOS or SKOS-XL as Turtle, RDF/XML, N-Triples or JSON-LD",
        read_rdf,
    ),
    _SourceReader("open_targets", "Open Targets as JSON Lines or Parquet", read_open_targets),
    _SourceReader("sssom", "SSSOM mappings as TSV", read_sssom),
    _SourceReader("table", "TSV, CSV or Parquet with a map of columns", read_table, table=True),
    _SourceReader(
        "mesh_xml",
        "MeSH descriptors or supplementary records as XML",
        read_mesh_xml,
    ),
    _SourceReader(
        "mesh_ascii",
        "MeSH descriptors or supplementary records as ASCII",
        read_mesh_ascii,
    ),
    _two("mesh_names", "names of MeSH, one in a row", read_mesh_names),
    _two(
        "mesh_terms",
        "descriptors of MeSH with their preferred names",
        partial(read_mesh_names, name="mesh_terms"),
    ),
    _table("gene_info", "NCBI Gene: gene_info"),
    _two(
        "ncbi_taxonomy",
        "NCBI Taxonomy: names.dmp, with nodes.dmp as its hierarchy",
        releases.read_taxa,
        table=False,
    ),
    _SourceReader("ncbi_merged", "NCBI Taxonomy: merged.dmp", releases.read_merged_taxa),
    _SourceReader("medic", "MEDIC of 2012", releases.read_medic),
    _two("umls", "UMLS: MRCONSO.RRF, with MRSTY.RRF as its hierarchy", releases.read_umls),
    _two(
        "snomed",
        "SNOMED CT: Description of RF2, with Relationship as its hierarchy",
        releases.read_snomed,
    ),
    _two(
        "meddra",
        "MedDRA: mdhier.asc, with llt.asc as its hierarchy",
        releases.read_meddra,
        table=False,
    ),
    _two(
        "chembl",
        "ChEMBL: molecule_dictionary, with molecule_synonyms as its hierarchy",
        releases.read_chembl,
    ),
    _table("ctd_diseases", "MEDIC as CTD_diseases.tsv or .csv"),
    _table("ctd_chemicals", "CTD_chemicals.tsv or .csv"),
    _table("drugbank", "DrugBank open vocabulary as CSV"),
    _table("ssslm", "name indices such as those of biolexica"),
    _table("obo_table", "tables of obo-db-ingest, a concept in a row"),
    _table("pairs", "name TAB identifier, without a header, as Reach has them"),
)
READERS: Final[Mapping[str, _SourceReader]] = MappingProxyType({row.name: row for row in _ROWS})


def find_reader(name: str) -> _SourceReader:
    """Returns the reader with a name: one of Fascicle, or one of another package
    (`fascicle.plugins`).

    Raises:
        RecipeError: there is none of this name; the message has the nearest.
        PluginError: that of another package cannot be used.
    """
    if name in READERS:
        return READERS[name]
    plugins = plugin_names("vocabularies")
    if name in plugins:
        read = load_plugin("vocabularies", name).read
        checked = partial(_read_checked, read, plugin_package("vocabularies", name))
        return _SourceReader(name, "", checked, hierarchy=True, table=True)
    names = (*READERS, *plugins)
    message = (
        f"the reader {name!r} is not known{near_hint(name, names)}; choose one of "
        f"{', '.join(names)}"
    )
    raise RecipeError(message, key="reader", code="unknown-name")


def _read_checked(
    read: ReadRecords, package: str, settings: SourceSettings, report: SourceReport
) -> Iterator[ConceptRecord]:
    """Streams what a reader of another package gives; records of another kind, and its faults,
    are named as its own.
    """
    wrong = f"the reader {settings.reader!r} of {package}"
    try:
        for record in read(settings, report):
            if (
                not isinstance(record, ConceptRecord)
                or not record.curie
                or curie(record.curie) != record.curie
            ):
                raise PluginError(
                    f"{wrong} gave {shorten(repr(record))}, which is no ConceptRecord with a "
                    "CURIE; correct it, or remove that package",
                    key=settings.reader,
                )
            yield record
    except FascicleError:
        raise
    except Exception as error:
        message = f"{wrong} failed ({type(error).__name__}: {error}); update or remove that package"
        raise PluginError(message, key=settings.reader) from error


def _unfit(settings: SourceSettings) -> Callable[[str], str]:
    """Returns a function that gives the reason why `max_tokens` or `without` exclude a name;
    empty if it stays.
    """
    patterns = [re.compile(pattern) for pattern in settings.without]
    most = settings.max_tokens

    def reason(surface: str) -> str:
        if any(pattern.search(surface) for pattern in patterns):
            return "without"
        long = len(surface) > most or not surface.isascii()  # a token has a character or more
        return "tokens" if long and key(surface, 2).count(" ") >= most else ""

    return reason


def make_name_filter(settings: SourceSettings) -> _Fits:
    """Returns a function that filters the names of a record by `max_tokens` and `without`.

    The function counts the excluded names, except labels.

    Args:
        settings: of the source.

    Raises:
        InputError: later, if a pattern takes seconds for the names of a record.
    """
    if not settings.without and settings.max_tokens >= settings.max_length:
        return lambda names, report, place: names
    reason = _unfit(settings)

    def fit(names: Sequence[Name], report: SourceReport, place: Place) -> Sequence[Name]:
        message = (
            "without has a regular expression that finds no end; write it without a "
            "repetition inside of another"
        )
        error = InputError(f"{place}: {message}", file=place.file, code="too-large")
        with time_limit(_SECONDS, error) if settings.without else nullcontext():
            reasons = [reason(name.surface) for name in names]
        for name, why in zip(names, reasons, strict=True):
            if why and name.kind != "label":  # which stays, or is lost with its record
                report.lose(why, place)
        return [name for name, why in zip(names, reasons, strict=True) if not why]

    return fit


def read_source(
    settings: SourceSettings, *, report: SourceReport | None = None
) -> Iterator[ConceptRecord]:
    """Streams the records of one vocabulary.

    A record has its type, and names of the kinds, languages and lengths that the settings keep.
    Records of one concept may be apart, and a record may have no names. With ``below`` or
    ``not_below`` the file is read twice.

    Args:
        settings: of the source, with a path that can be opened.
        report: receives the counts.

    Raises:
        RecipeError: settings that do not fit the reader, or that name an unknown reader or type.
        InputError: the file cannot be opened.
        FormatError: the file is not what the reader reads, or has another hash than in the
            settings.
    """
    report = report if report is not None else SourceReport()
    reader = check_source(settings)
    for path, sha256 in (
        (settings.path, settings.sha256),
        (settings.hierarchy, settings.hierarchy_sha256),
    ):
        if sha256:
            check_hash(path, sha256)
    leave_out = _make_record_filter(settings, reader)
    fits, unfit = make_name_filter(settings), _unfit(settings)
    for record in reader.read(settings, report):
        place = Place(settings.path, shown=f"{settings.path}, {record.curie}")
        if reason := leave_out(record):
            report.lose(reason, place)
            continue
        names = fits(record.names, report, place)
        if record.names and len(names) < settings.min_names:
            report.lose_labels(record, lambda surface: unfit(surface) or "few-names")
            report.lose("few-names", place)
            continue
        if changes := _changes(record, settings, names):
            record = msgspec.structs.replace(record, **changes)
        report.records += 1
        report.names += len(record.names)
        report.obsolete += record.obsolete
        yield record


def _make_record_filter(
    settings: SourceSettings, reader: _SourceReader
) -> Callable[[ConceptRecord], str]:
    """Returns a function that gives the reason why a record is left out; empty if it stays."""
    in_branch, taxa = _branch(settings, reader), frozenset(map(curie, settings.taxa))
    starts, drops = settings.keep, settings.drop

    def leave_out(record: ConceptRecord) -> str:
        if starts and not record.curie.startswith(starts):
            return "prefix"
        if drops and record.curie.startswith(drops):
            return "prefix"
        if taxa and record.taxon and record.taxon not in taxa:
            return "taxon"
        if record.obsolete and not settings.obsolete:
            return "obsolete"
        return "" if in_branch(record.curie) else "below"

    return leave_out


def read_sources(
    settings: PackSettings, *, reports: dict[str, SourceReport] | None = None
) -> Iterator[tuple[str, ConceptRecord]]:
    """Streams all vocabularies in their order, each record with the name of its source.

    Args:
        settings: of the pack.
        reports: receives a report for each source.

    Raises:
        RecipeError: see `read_source`; the message names the source. All settings are checked
            before anything is read.
        InputError: a file cannot be opened, or is not what its reader reads.
    """
    for name, source in settings.sources.items():
        try:
            check_source(source)
        except RecipeError as error:
            raise error.saying(f"sources.{name}: {error}") from None
    for name, source in settings.sources.items():
        report = SourceReport()
        if reports is not None:
            reports[name] = report
        for record in read_source(source, report=report):
            yield name, record


def check_source(settings: SourceSettings) -> _SourceReader:
    """Returns the reader of a source, when its settings fit it; the file is not opened.

    Raises:
        RecipeError: an unknown reader or type, or settings that the reader does not take.
    """
    reader = find_reader(settings.reader)
    for name, default in (("columns", ColumnSettings()), ("table", TableSettings())):
        if not reader.table and getattr(settings, name) != default:
            raise RecipeError(
                f"the reader {reader.name!r} reads no table of its own: leave {name} out", key=name
            )
    if settings.hierarchy and not reader.hierarchy:
        raise RecipeError(
            f"the reader {reader.name!r} reads no second file: leave hierarchy out", key="hierarchy"
        )
    if settings.branches and reader.name in ("mesh_names", "mesh_terms") and not settings.hierarchy:
        raise RecipeError(
            "branches need the tree numbers: give their table as hierarchy", key="branches"
        )
    _check_types(settings)
    _check_concepts(settings)
    return reader


def _check_types(settings: SourceSettings) -> None:
    vocabulary = read_vocabulary()
    for name in filter(None, (settings.type, *settings.types.values())):
        candidates = vocabulary.candidates(name)
        if candidates and name not in candidates:
            raise RecipeError(
                f"the type {name!r} is called {' or '.join(candidates)} here; write it so",
                key="type",
            )


def _check_concepts(settings: SourceSettings) -> None:
    concepts = {name: getattr(settings, name) for name in ("below", "not_below", "taxa")}
    for name, identifiers in (*concepts.items(), ("taxon", (settings.taxon,))):
        for identifier in identifiers:
            if (right := curie(identifier)) != identifier:
                hint = f"; write {right}" if right else ", such as MESH:D003920"
                raise RecipeError(f"{name} = {identifier!r} is not a CURIE{hint}", key=name)


def check_hash(path: str, sha256: str) -> str:
    """Checks the SHA-256 of a file or of a folder of parts, and returns it.

    Args:
        path: of the file or folder; the hash of a folder is that of the names and hashes of its
            parts.
        sha256: what it must be; empty for no check.

    Raises:
        InputError: the file cannot be opened, or is a pipe, a device or a folder without parts.
        FormatError: the file has another hash.
    """
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        message = (
            "is a pipe or a device, and a source is read more than once; write what it gives "
            "into a file"
        )
        raise InputError(f"{path} {message}", file=path, code="unreadable")
    try:
        actual = _sha256(Path(path))
    except OSError as error:
        raise unreadable(path, error) from None
    if sha256 and actual != sha256:
        message = (
            f"has the SHA-256 {actual}, but {sha256} is expected; fetch the right file, or "
            "correct sha256"
        )
        raise FormatError(f"{path} {message}", file=path, code="damaged")
    return actual


def _sha256(place: Path) -> str:
    if not place.is_dir():
        return file_sha256(place)
    listing = "".join(f"{part.name} {file_sha256(part)}\n" for part in parts_of(place))
    return hashlib.sha256(listing.encode()).hexdigest()


def _changes(
    record: ConceptRecord, settings: SourceSettings, fit: Sequence[Name]
) -> dict[str, Any]:
    """Returns the fields of a record that the settings of its source change."""
    changes: dict[str, Any] = {}
    if len(fit) < len(record.names):
        fitting = set(fit)
        changes["names"] = tuple(
            name for name in record.names if name.kind == "label" or name in fitting
        )
    if settings.type and not record.type:
        changes["type"] = settings.type
    if settings.taxon and not record.taxon:
        changes["taxon"] = settings.taxon
    if settings.references is not None and record.references:
        prefixes = settings.references
        changes["references"] = tuple(
            cross for cross in record.references if cross.curie.startswith(prefixes)
        )
    if record.definition and not settings.definitions:
        changes["definition"] = ""
    return changes


def _branch(settings: SourceSettings, reader: _SourceReader) -> Callable[[str], bool]:
    """Returns a test that ``below`` and ``not_below`` include a concept; reads the source once
    if they are set.
    """
    if not settings.below and not settings.not_below:
        return lambda concept: True
    children: dict[str, list[str]] = {}
    for record in reader.read(settings, SourceReport()):
        for parent in record.parents:
            children.setdefault(parent, []).append(record.curie)
    inside = _descendants(settings.below, children)
    outside = _descendants(settings.not_below, children)
    return lambda concept: (not settings.below or concept in inside) and concept not in outside


def _descendants(roots: Iterable[str], children: dict[str, list[str]]) -> set[str]:
    """Returns the roots and all concepts below them; cycles are allowed."""
    concepts, waiting = set(roots), list(roots)
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in concepts]
        concepts.update(new)
        waiting.extend(new)
    return concepts
