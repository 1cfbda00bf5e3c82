"""What ``combine`` and ``compare`` read: a system from each file, of files of several those that are asked for."""

from __future__ import annotations

import argparse
import difflib
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from fascicle.combination.align import System
from fascicle.combination.type_names import TypeMap, check_types, parse_map
from fascicle.commands.console import Tally
from fascicle.commands.inputs import INPUT_FORMATS, add_reading_details, read_file, source_of
from fascicle.commands.matching import Side, matched
from fascicle.commands.places import reads
from fascicle.core.document import GOLD, Event, Mention
from fascicle.errors import InputError, UsageError
from fascicle.files.source import STDIN, open_bytes, stem, telling_folders
from fascicle.formats.detection import prediction_kind
from fascicle.formats.files import ORIGINAL_ID
from fascicle.formats.predictions import read as read_predictions
from fascicle.formats.predictions import text_hash
from fascicle.settings.plain import ENCODING

OFFSETS: Final = "see that its offsets are code points from 0 and that an end is the place behind the last character"
PREDICTIONS: Final = ("tsv", "predictions")


@dataclass(frozen=True, kw_only=True)
class Given:
    """A system, and what on the command line stands for it.

    Attributes:
        system: what it said.
        path: its file.
        source: how ``--source`` names it; empty where the file has no other.
        aliases: other names by which a map may know it.
        matched: how its documents were matched with those of others; empty where ids were enough.
    """

    system: System
    path: str
    source: str = ""
    aliases: tuple[str, ...] = ()
    matched: str = ""


@dataclass(frozen=True, kw_only=True)
class _File:
    """What a file of predictions or documents holds, all sources together."""

    path: str
    label: str
    aliases: tuple[str, ...] = ()
    lists_all: bool = True
    mentions: dict[str, Sequence[Mention]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    events: dict[str, Sequence[Event]] = field(default_factory=dict)
    repeated: dict[str, str] = field(default_factory=dict)  # id -> the id that was there before
    texts: Callable[[], Mapping[str, str]] | None = None  # reads the file again, for few files need their texts
    matched: str = ""

    def side(self) -> Side:
        """What it says of its documents."""
        return Side(path=self.path, mentions=self.mentions, hashes=self.hashes, texts=self.texts)

    def sources(self) -> list[str]:
        """Who said something; the gold only where nobody else did."""
        found = {mention.source for mentions in self.mentions.values() for mention in mentions}
        return sorted(found - {GOLD}) or sorted(found)

    def system(self, name: str, source: str | None) -> System:
        """One source as a system; ``None`` takes all that there is."""
        mentions = self.mentions
        if source is not None:
            mentions = {i: tuple(m for m in found if m.source == source) for i, found in mentions.items()}
        return System(
            name=name,
            mentions=mentions,
            hashes=self.hashes,
            lengths=self.lengths,
            events=self.events,
            lists_all=self.lists_all,
        )


@dataclass(frozen=True, kw_only=True)
class Gold:
    """The gold, and the file that it came from."""

    system: System
    file: _File


def add_system_options(parser: argparse.ArgumentParser) -> None:
    """Adds what tells which systems a file holds, and how it is read."""
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="NAME",
        help="of files with mentions of several sources: take this one; give it once for each",
    )
    parser.add_argument(
        "--map",
        type=reads,
        metavar="TYPES.toml",
        help='other names for types: lines "CHEMICAL" = "Chemical", in a table [NAME] for one system only; '
        'the new name "" leaves a type out',
    )
    parser.add_argument(
        "--distinct-types",
        action="store_true",
        help="types with other names are other types, however similar the names are",
    )
    group = parser.add_argument_group("reading")
    group.add_argument("--input-format", choices=(*INPUT_FORMATS, *PREDICTIONS), default="auto", help="default: auto")
    add_reading_details(group)


def read_systems(
    paths: Sequence[str], args: argparse.Namespace, *, tally: Tally, gold: Gold | None = None, least: int = 2
) -> list[Given]:
    """Reads the systems of some files, in the order of the files and, within a file, of ``--source``.

    Args:
        paths: prediction files, or corpora in any format.
        args: with the options of `add_system_options`.
        tally: counts the events of documents.
        gold: of `read_gold`, if there is one. Documents whose ids are made from file names are matched with its
            documents by their order; without gold, with those of another file.
        least: systems that there must be, 1 or 2.

    Raises:
        UsageError: a file twice, standard input, fewer systems than that, a file with several sources none of which was
            asked for, or a source that no file has.
        InputError: a file that cannot be read, that is empty, or that has a document twice.
    """
    _check_paths(paths)
    files = []
    for path, names in zip(paths, _labels(paths), strict=True):
        file = _read(path, names[0], args, tally=tally, kind=args.input_format)
        files.append(replace(file, aliases=names))
    files = _by_order(files, gold.file if gold is not None else _reference(files))
    _check_repeated(files, gold.file.mentions if gold is not None else ())
    _check_sources(files, args.source)
    systems = [given for file in files for given in _systems_of(file, args.source)]
    if len(systems) < least:
        raise UsageError(
            f"one system ({systems[0].system.name}) was given; give the predictions of at least two systems"
        )
    return systems


def read_gold(path: str, args: argparse.Namespace, *, tally: Tally, kind: str) -> Gold:
    """Reads the gold, its system called ``the gold``.

    Args:
        path: a corpus in any format, or a prediction file that holds the gold.
        args: with the options of `add_system_options`.
        tally: counts the events of documents.
        kind: format of the file, or ``"auto"``.

    Raises:
        InputError: it cannot be read, or holds no gold mention.
    """
    if path == STDIN:
        raise UsageError("the gold cannot be read from standard input; name a file")
    file = _read(path, "the gold", args, tally=tally, kind=kind)
    sources = {mention.source for mentions in file.mentions.values() for mention in mentions}
    if GOLD in sources:
        return Gold(system=file.system("the gold", GOLD), file=file)
    if not sources or file.lengths or len(sources) > 1:
        raise InputError(f"{path} holds no gold mention, so nothing can be compared with it; give an annotated corpus")
    return Gold(system=file.system("the gold", None), file=file)


def read_map(path: str | None, systems: Sequence[Given]) -> TypeMap:
    """Reads a file of ``--map``; without one, nothing is renamed.

    Args:
        path: of the file.
        systems: those that its tables may be about; a table may have any name that a system goes by.

    Raises:
        InputError: no such file, not TOML, or not names of types.
    """
    if path is None:
        return TypeMap()
    try:
        values = tomllib.loads(Path(path).read_text(encoding=ENCODING))
    except OSError as error:
        raise InputError(f"the map {path} cannot be read: {error.strerror}; check the path") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f'{path} is not TOML ({error}); give lines such as "CHEMICAL" = "Chemical"') from None
    names = parse_map(values, origin=path)
    tables: dict[str, Mapping[str, str]] = {}
    for key, table in names.systems.items():
        owners = [given.system.name for given in systems if key in given.aliases]
        tables |= {owner: {**tables.get(owner, {}), **table} for owner in owners or [key]}
    return TypeMap(everywhere=names.everywhere, systems=tables)


def types_checked(types: Mapping[str, Collection[str]], notes: Sequence[str], *, agree: bool) -> list[str]:
    """As ``check_types``; a refusal says, too, what of the map is probably misspelt."""
    try:
        return check_types(types, agree=agree)
    except InputError as error:
        hints = "".join(f"; {note}" for note in notes if "did you mean" in note)
        raise InputError(f"{error}{hints}") from None


def _check_paths(paths: Sequence[str]) -> None:
    if not paths:
        raise UsageError("no file was given; give the predictions of at least two systems")
    if STDIN in paths:
        raise UsageError("predictions cannot be read from standard input (-) here; name files")
    places = Counter(str(Path(path).resolve()) for path in paths)
    twice = next((path for path in paths if places[str(Path(path).resolve())] > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} was given twice, but a system has one vote; give it once")


def _labels(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """Names of systems: those of their files, and first the shortest that tells them apart."""
    short = [stem(path).removesuffix(".predictions").removesuffix(".fascicle") for path in paths]
    folders = telling_folders(paths, short)
    with_folder = [f"{folder}/{name}" for folder, name in zip(folders, short, strict=True)]
    labels = [name if short.count(name) == 1 else with_folder[at] for at, name in enumerate(short)]
    labels = [name if labels.count(name) == 1 else paths[at] for at, name in enumerate(labels)]
    return [tuple(dict.fromkeys(names)) for names in zip(labels, short, with_folder, paths, strict=True)]


def _read(path: str, label: str, args: argparse.Namespace, *, tally: Tally, kind: str) -> _File:
    if _is_empty(path):
        raise InputError(f"{path} is empty; give predictions, or leave it out")
    found = kind if kind != "auto" else prediction_kind(path, args.encoding)
    if found not in PREDICTIONS:
        return _from_documents(path, label, args, tally=tally, format_name=kind)
    file = _File(path=path, label=label, lists_all=found != "tsv")
    for prediction in read_predictions(source_of(path, args)):
        file.mentions[prediction.id] = prediction.mentions
        if prediction.sha256 is not None:
            file.hashes[prediction.id] = prediction.sha256
        if prediction.events:
            file.events[prediction.id] = prediction.events
    if not file.mentions:
        raise InputError(
            f"{path} is empty: it names no document; leave it out, or give JSON Lines, which list documents without "
            "mentions too"
        )
    return file


def _is_empty(path: str) -> bool:
    if not Path(path).is_file():
        return False  # a folder or a part of a zip; if it is nothing at all, its reader says so
    with open_bytes(path) as stream:
        return not stream.read(1 << 16).strip()


def _reference(files: Sequence[_File]) -> _File:
    """Whose ids all shall have: of the file that shares its own with most, best one with ids that it was given."""

    def fitness(file: _File) -> tuple[int, bool, bool]:
        shared = sum(not file.mentions.keys().isdisjoint(other.mentions) for other in files)
        return shared, not file.side().is_named_after_file, file.texts is not None

    return max(files, key=fitness)


def _by_order(files: Sequence[_File], reference: _File) -> list[_File]:
    """The files, each on the documents of the reference where its own ids or offsets are not those."""
    ours, moved = reference.side(), []
    for file in files:
        found = matched(ours, file.side()) if file is not reference else None
        if found is None:
            moved.append(file)
            continue
        alike = len(file.mentions) == len(
            found.mentions
        )  # else documents are cut otherwise, and events belong to none of these
        names = dict(zip(file.mentions, found.mentions, strict=True)) if alike else {}
        moved.append(
            replace(
                file,
                mentions=dict(found.mentions),
                hashes={one: reference.hashes[one] for one in found.mentions if one in reference.hashes},
                lengths={one: reference.lengths[one] for one in found.mentions if one in reference.lengths},
                events={names[identifier]: events for identifier, events in file.events.items() if alike},
                repeated={one: original for one, original in file.repeated.items() if one in found.mentions},
                matched=found.how,
            )
        )
    return moved


def _from_documents(path: str, label: str, args: argparse.Namespace, *, tally: Tally, format_name: str) -> _File:
    def texts() -> dict[str, str]:
        return {document.id: document.text for document in read_file(path, args, format_name=format_name)}

    file = _File(path=path, label=label, texts=texts)
    for document in tally.observe(read_file(path, args, format_name=format_name)):
        file.mentions[document.id] = document.mentions
        file.hashes[document.id] = text_hash(document.text)
        file.lengths[document.id] = len(document.text)
        if document.events:
            file.events[document.id] = document.events
        if ORIGINAL_ID in document.meta:
            file.repeated[document.id] = document.meta[ORIGINAL_ID]
    return file


def _check_repeated(files: Sequence[_File], gold: Collection[str]) -> None:
    """A document twice would have two votes, unless it is twice in the corpus, and so in other files too."""
    for file in files:
        for identifier, original in file.repeated.items():
            others = (gold, *(other.mentions for other in files if other is not file))
            if not any(identifier in other for other in others):
                raise InputError(
                    f"{file.path}: document {original!r} is there twice; keep one, or give each an id of its own"
                )


def _check_sources(files: Sequence[_File], wanted: Sequence[str]) -> None:
    known = {name for file in files for source in file.sources() for name in _source_names(file, source)}
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            plain = sorted({source for file in files for source in file.sources()})
            raise UsageError(f"no file holds mentions of {name!r}{hint}; there are those of {', '.join(plain)}")
    twice = [name for name, count in Counter(wanted).items() if count > 1]
    if twice:
        raise UsageError(f"--source {twice[0]} was given twice, but a system has one vote; give it once")


def _systems_of(file: _File, wanted: Sequence[str]) -> Iterable[Given]:
    sources = file.sources()
    if len(sources) < 2:
        system = file.system(file.label, sources[0] if sources else None)
        yield Given(system=system, path=file.path, aliases=file.aliases, matched=file.matched)
        return
    chosen = dict.fromkeys(source for name in wanted for source in sources if name in _source_names(file, source))
    if not chosen:
        raise UsageError(
            f"{file.path} holds mentions of {', '.join(sources)}; say which are to be taken, each with --source NAME"
        )
    for source in chosen:
        names = _source_names(file, source)
        system = file.system(names[0], source)
        aliases = (*names, *file.aliases)
        yield Given(system=system, path=file.path, source=names[0], aliases=aliases, matched=file.matched)


def _source_names(file: _File, source: str) -> tuple[str, ...]:
    """What one of several sources of a file may be called."""
    return (*(f"{alias}:{source}" for alias in file.aliases), source)


def said_about(systems: Sequence[Given]) -> list[str]:
    """What a reader must know of the files: texts that were not checked, and scores that only some give."""
    said = [f"{given.path}: {given.matched}" for given in systems if given.matched]
    blind = [given.system.name for given in systems if not given.system.hashes]
    if blind:
        which = "no file" if len(blind) == len(systems) else f"nothing in {', '.join(blind)}"
        said.append(f"{which} says on which texts the predictions were made, so that was not checked")
    shares = {given.system.name: _share_scored(given.system) for given in systems}
    lacking = [name for name, share in shares.items() if share is not None and share < 1.0]
    if lacking and any(shares.values()):
        said.append(
            f"{', '.join(lacking)}: scores are missing, in whole or in part; the score of a combined mention is the "
            "mean of those that were given"
        )
    return said


def _share_scored(system: System) -> float | None:
    """Of its mentions; ``None`` if it has none."""
    mentions = [mention for found in system.mentions.values() for mention in found]
    return sum(mention.score is not None for mention in mentions) / len(mentions) if mentions else None
