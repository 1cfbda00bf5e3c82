"""Systems for a comparison or a combination: one from each file, or the requested ones of a file
of several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from fascicle.core.arguments import AnyPath, collect_paths
from fascicle.core.document import GOLD, Document
from fascicle.core.files.source import STDIN, distinguishing_folders, open_bytes, stem
from fascicle.core.wording import typo_hint
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.systems.alignment import align_to_documents
from fascicle.evaluation.systems.predictions import (
    PredictionRequest,
    Predictions,
    read_predictions,
)
from fascicle.formats.account import EventCounts
from fascicle.formats.requests import ReadRequest
from fascicle.runtime.combination.align import System
from fascicle.runtime.combination.type_names import (
    TypeMap,
    check_types,
    parse_map,
    rename,
    rename_mentions,
)
from fascicle.settings.recipes.strict import toml_values


@dataclass(frozen=True, kw_only=True)
class SystemsRequest:
    """Request for systems: which are read, and how their types are named.

    Attributes:
        paths: prediction files, or corpora in any format.
        reading: how they are read.
        sources: of files with mentions of several sources, those that are taken; each is a system.
        map: path of a TOML file with other names for types, see
            ``combination.type_names.parse_map``; empty for none.
        distinct_types: types with other names are other types, however similar the names are.
    """

    paths: Sequence[str]
    reading: ReadRequest = field(default_factory=ReadRequest)
    sources: Sequence[str] = ()
    map: str = ""
    distinct_types: bool = False


@dataclass(frozen=True, kw_only=True)
class SystemOfFile:
    """A system, and the file that it was read from.

    Attributes:
        system: what it says.
        path: of the file.
        source: how ``SystemsRequest.sources`` names it; empty where the file has no other.
        aliases: other names by which a map may know it.
        notes: sentences about the file that a user must know.
    """

    system: System
    path: str
    source: str = ""
    aliases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


Systems = SystemsRequest | Iterable[AnyPath]
_Reader = Callable[..., Predictions]  # as `read_predictions`
# and the names that it goes by, the first of them its own
_File = tuple[Predictions, tuple[str, ...]]


def to_systems_request(systems: Systems) -> SystemsRequest:
    """Returns a request for systems; paths alone become a request for files with default
    settings.
    """
    return (
        systems
        if isinstance(systems, SystemsRequest)
        else SystemsRequest(paths=collect_paths(systems, name="systems"))
    )


def read_systems(
    request: SystemsRequest,
    *,
    gold: Predictions | None = None,
    least: int = 2,
    events: EventCounts | None = None,
    reader: _Reader = read_predictions,
) -> list[SystemOfFile]:
    """Reads the systems of some files, in the order of the files and, within a file, of the
    sources.

    Args:
        request: which.
        gold: if there is one. Documents whose ids are made from file names are matched with its
            documents by their order; without gold, with those of another file.
        least: systems that there must be, 1 or 2.
        events: counts the events of documents.
        reader: reads a file as `read_predictions` does.

    Raises:
        UsageError: a file twice, standard input, fewer systems than that, a file with several
            sources none of which was asked for, or a source that no file has.
        InputError: a file that cannot be read, that is empty, or that has a document twice.
    """
    _check_paths(request.paths)
    read = [_read_file(path, request.reading, events, reader) for path in request.paths]
    reference = gold if gold is not None else _reference(read)
    aligned = [
        predictions if predictions is reference else align_to_documents(reference, predictions)
        for predictions in read
    ]
    _check_repeated(aligned, gold.mentions if gold is not None else ())
    files = list(zip(aligned, names_of(request.paths), strict=True))
    _check_sources(files, request.sources)
    systems = [system for file in files for system in _systems_of(*file, request.sources)]
    if len(systems) < least:
        raise UsageError(
            f"one system ({systems[0].system.name}) was given; give the predictions of at least "
            "two systems"
        )
    return systems


def read_gold(request: PredictionRequest, *, events: EventCounts | None = None) -> Predictions:
    """Reads the gold.

    Args:
        request: a corpus in any format, or a prediction file that holds the gold.
        events: counts the events of documents.

    Raises:
        InputError: it cannot be read, or holds no gold mention.
    """
    if request.path == STDIN:
        raise UsageError("the gold cannot be read from standard input; name a file")
    gold = _read_file(request.path, request.reading, events)
    sources = gold.sources
    if GOLD in sources:
        return gold.of(GOLD)
    if not sources or gold.lengths or len(sources) > 1:
        raise InputError(
            f"{request.path} holds no gold mention, so nothing can be compared with it; give an "
            "annotated corpus"
        )
    return gold


def rename_types(
    request: SystemsRequest, systems: Sequence[SystemOfFile], *more: System
) -> tuple[list[System], list[str]]:
    """Gives the types of systems the names of the map.

    Args:
        request: with the map.
        systems: as they were read.
        more: systems beside them that the map is about too; they come first.

    Returns:
        The systems, and sentences about lines of the map that may be misspelt.

    Raises:
        InputError: see `read_map`.
    """
    return rename([*more, *(system.system for system in systems)], read_map(request.map, systems))


def rename_gold(documents: Iterable[Document], names: Mapping[str, str]) -> list[Document]:
    """Returns documents with new names for the types of their gold; other layers stay.

    Args:
        documents: with gold mentions.
        names: see `fascicle.runtime.combination.type_names.rename_mentions`.
    """
    if not names:
        return list(documents)
    return [
        msgspec.structs.replace(
            document,
            mentions=tuple(
                renamed
                for mention in document.mentions
                for renamed in rename_mentions([mention], names if mention.source == GOLD else {})
            ),
        )
        for document in documents
    ]


def read_map(path: str, systems: Sequence[SystemOfFile] = ()) -> TypeMap:
    """Reads a file with other names for types; without one, nothing is renamed.

    Args:
        path: of the file, or empty.
        systems: those that its tables may be about; a table may have any name that a system goes
            by.

    Raises:
        InputError: no such file, not TOML, or not names of types.
    """
    if not path:
        return TypeMap()
    advice = 'give lines such as "CHEMICAL" = "Chemical"'
    values = toml_values(Path(path), missing=f"there is no map at {path}", advice=advice)
    names = parse_map(values, origin=path)
    tables: dict[str, Mapping[str, str]] = {}
    for key, table in names.systems.items():
        owners = [system.system.name for system in systems if key in system.aliases]
        tables |= {owner: {**tables.get(owner, {}), **table} for owner in owners or [key]}
    return TypeMap(everywhere=names.everywhere, systems=tables)


def check_tables(path: str, model: SystemOfFile, file: str) -> None:
    """Refuses a table of a map that ``combine`` would not apply to the file of a model.

    Raises:
        UsageError: which table.
    """
    (names,) = names_of([file])
    for key in read_map(path).systems:
        if key in {model.system.name, *model.aliases} - {*names}:
            raise UsageError(
                f"the table {key!r} of {path} is for a model whose predictions the printed "
                f"commands write to {file}, which is no file of this name; name the table "
                f"{Path(model.system.name).name!r}, move files of that name away, or give "
                "search=False"
            )


def check_type_names(systems: Iterable[System], notes: Sequence[str], *, agree: bool) -> list[str]:
    """Checks as ``check_types`` does; an error also names entries of the map that are probably
    misspelt.
    """
    try:
        return check_types({system.name: system.types() for system in systems}, agree=agree)
    except InputError as error:
        hints = "".join(f"; {note}" for note in notes if "did you mean" in note)
        raise InputError(f"{error}{hints}") from None


def free_name(name: str, systems: Iterable[System]) -> str:
    """Returns a name for a model that none of the systems has."""
    names = {system.name for system in systems}
    while name in names:
        name += " (model)"
    return name


def notes_on_files(systems: Sequence[SystemOfFile]) -> list[str]:
    """Lists notes for the user on the files: texts that were not checked, and scores that only
    some files give.
    """
    notes = list(dict.fromkeys(note for system in systems for note in system.notes))
    blind = [system.system.name for system in systems if not system.system.hashes]
    if blind:
        which = "no file" if len(blind) == len(systems) else f"nothing in {', '.join(blind)}"
        notes.append(
            f"{which} says on which texts the predictions were made, so that was not checked"
        )
    shares = {system.system.name: _share_scored(system.system) for system in systems}
    lacking = [name for name, share in shares.items() if share is not None and share < 1.0]
    if lacking and any(shares.values()):
        notes.append(
            f"{', '.join(lacking)}: scores are missing, in whole or in part; the score of a "
            "combined mention is the mean of those that were given"
        )
    return notes


def _share_scored(system: System) -> float | None:
    """Of its mentions; ``None`` if it has none."""
    mentions = [mention for of_document in system.mentions.values() for mention in of_document]
    return (
        sum(mention.score is not None for mention in mentions) / len(mentions) if mentions else None
    )


def _check_paths(paths: Sequence[str]) -> None:
    if not paths:
        raise UsageError("no file was given; give the predictions of at least two systems")
    if STDIN in paths:
        raise UsageError("predictions cannot be read from standard input (-) here; name files")
    check_given_once(paths)


def check_given_once(paths: Sequence[str]) -> None:
    """Refuses a file or model that is there twice.

    Raises:
        UsageError: which one.
    """
    places = Counter(str(Path(path).resolve()) for path in paths)
    twice = next((path for path in paths if places[str(Path(path).resolve())] > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} was given twice, but a system has one vote; give it once")


def names_of(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns the names of systems: those of their files, and first the shortest that tells them
    apart.
    """
    short = [stem(path).removesuffix(".predictions").removesuffix(".fascicle") for path in paths]
    folders = distinguishing_folders(paths, short)
    with_folder = [f"{folder}/{name}" for folder, name in zip(folders, short, strict=True)]
    names = [name if short.count(name) == 1 else with_folder[at] for at, name in enumerate(short)]
    names = [name if names.count(name) == 1 else paths[at] for at, name in enumerate(names)]
    return [
        tuple(dict.fromkeys(of_one))
        for of_one in zip(names, short, with_folder, paths, strict=True)
    ]


def _read_file(
    path: str, reading: ReadRequest, events: EventCounts | None, reader: _Reader = read_predictions
) -> Predictions:
    if _is_empty(path):
        raise InputError(f"{path} is empty; give predictions, or leave it out")
    predictions = reader(PredictionRequest(path=path, reading=reading), events=events)
    if not predictions.mentions and not predictions.formats:
        raise InputError(
            f"{path} is empty: it names no document; leave it out, or give JSON Lines, which list "
            "documents without mentions too"
        )
    return predictions


def _is_empty(path: str) -> bool:
    if not Path(path).is_file():
        return False  # a folder or a part of a zip; if it does not exist, its reader raises
    with open_bytes(path) as stream:
        return not stream.read(1 << 16).strip()


def _reference(files: Sequence[Predictions]) -> Predictions:
    """Chooses the file whose document ids all files take: the one that shares most, preferably
    with ids of its own.
    """

    def fitness(file: Predictions) -> tuple[int, bool, bool]:
        shared = sum(not file.mentions.keys().isdisjoint(other.mentions) for other in files)
        return shared, not file.is_named_after_file, file.texts is not None

    return max(files, key=fitness)


def _check_repeated(files: Sequence[Predictions], gold: Collection[str]) -> None:
    """Raises for a document repeated in a file, unless another file or the gold has it too: it
    would have two votes.
    """
    for file in files:
        for identifier, original in file.repeated.items():
            places = (gold, *(other.mentions for other in files if other is not file))
            if not any(identifier in other for other in places):
                raise InputError(
                    f"{file.path}: document {original!r} occurs twice; keep one, or give each an "
                    "id of its own"
                )


def _votes_of(file: Predictions) -> list[str]:
    """Returns the sources that vote: every source, or the gold if nobody else found a mention."""
    return sorted(file.sources - {GOLD}) or sorted(file.sources)


def _check_sources(files: Sequence[_File], selected: Sequence[str]) -> None:
    names_of_sources = {
        name
        for file, names in files
        for source in _votes_of(file)
        for name in _source_names(names, source)
    }
    for name in selected:
        if name not in names_of_sources:
            plain = sorted({source for file, _ in files for source in _votes_of(file)})
            hint = typo_hint(name, sorted(names_of_sources))
            raise UsageError(
                f"no file holds mentions of {name!r}{hint}; there are those of {', '.join(plain)}"
            )
    twice = [name for name, count in Counter(selected).items() if count > 1]
    if twice:
        raise UsageError(
            f"the source {twice[0]} was given twice, but a system has one vote; give it once"
        )


def _systems_of(
    file: Predictions, names: tuple[str, ...], selected: Sequence[str]
) -> Iterable[SystemOfFile]:
    notes = (*file.notes, *([f"{file.path}: {file.matched}"] if file.matched else []))
    sources = _votes_of(file)
    if len(sources) < 2:
        system = replace(file.of(sources[0] if sources else None), name=names[0])
        yield SystemOfFile(system=system, path=file.path, aliases=names, notes=notes)
        return
    own_sources = dict.fromkeys(
        source for name in selected for source in sources if name in _source_names(names, source)
    )
    if not own_sources:
        raise UsageError(
            f"{file.path} holds mentions of {', '.join(sources)}; choose sources, each with "
            "source=NAME"
        )
    for source in own_sources:
        own = _source_names(names, source)
        system = replace(file.of(source), name=own[0])
        yield SystemOfFile(
            system=system, path=file.path, source=own[0], aliases=(*own, *names), notes=notes
        )


def _source_names(names: Sequence[str], source: str) -> tuple[str, ...]:
    """Returns the possible names for one of several sources of a file."""
    return (*(f"{name}:{source}" for name in names), source)
