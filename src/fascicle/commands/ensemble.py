"""``fascicle ensemble``: several models and a rule to one folder that is used like a model."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from fascicle import __version__
from fascicle.combination.rules import HALF
from fascicle.combination.type_names import check_filter_types, check_types
from fascicle.commands.console import say
from fascicle.commands.parsing import add_overwrite, positive
from fascicle.commands.places import reads, writes
from fascicle.core.wording import counted
from fascicle.errors import InputError, UsageError
from fascicle.files.atomic import atomic_folder, check_folder
from fascicle.loading import find_model
from fascicle.settings.folders.best import described_by, model_folder
from fascicle.settings.folders.manifest import check_files, file_sha256, read_manifest
from fascicle.settings.recipes.ensemble import (
    FILTER_FOLDER,
    MEMBERS,
    EnsembleManifest,
    is_ensemble,
    read_ensemble,
    write_ensemble,
)
from fascicle.settings.recipes.filter import FILTER, read_filter_manifest

HELP = "save several models and a rule as one folder, which is used like a model"
_RULES = ("union", "majority", "kofn", "weighted", "meta")


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("rule", choices=_RULES, metavar="RULE", help=f"{', '.join(_RULES)}; as of combine")
    parser.add_argument(
        "files", nargs="*", type=reads, metavar="MODEL", help="names of shipped models, or model folders"
    )
    parser.add_argument(
        "-o", "--output", type=writes, metavar="DIR", help="the folder to write; the models are copied into it"
    )
    parser.add_argument("--k", type=positive, metavar="K", help="of kofn: how many models must agree")
    parser.add_argument("--weights", metavar="W,W,...", help="of weighted: one number for each model, in their order")
    parser.add_argument("--threshold", metavar="SHARE", help=f"of weighted: the share to exceed; default: {HALF}")
    parser.add_argument(
        "--filter", type=reads, metavar="FOLDER", help="of meta: the run folder of a filter, or its export"
    )
    parser.add_argument("--flat", action="store_true", help="of mentions that overlap keep those with most support")
    parser.add_argument("--name", help="of the ensemble, the source of its mentions; default: that of the folder")
    parser.add_argument(
        "--distinct-types", action="store_true", help="types with other names are other types, however similar"
    )
    add_overwrite(parser)


def run(args: argparse.Namespace) -> int:
    """Saves; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    target = Path(args.output)
    check_folder(target, kind="ensemble", overwrite=args.overwrite)
    _check_options(args)
    folders = [_folder(name) for name in args.files]
    judge = _filter(args.filter) if args.filter else None
    manifest = _manifest(args, folders, judge, name=args.name or target.resolve().name)
    with atomic_folder(target, kind="ensemble", overwrite=args.overwrite) as place:
        for number, folder in zip(manifest.members, folders, strict=True):
            _copy(folder, place / MEMBERS / number)
        if judge is not None:
            _copy(judge, place / FILTER_FOLDER)
        write_ensemble(place, manifest)
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    sys.stdout.write(
        f"{target}: {manifest.name}, {manifest.rule} of {counted(len(folders), 'model')}, {manifest.output} "
        f"output, types {', '.join(manifest.types)}, {size / 1e6:.1f} MB\n"
    )
    return 0


def _copy(folder: Path, place: Path) -> None:
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns(".*"))  # what is hidden is no part of a model


def _check_options(args: argparse.Namespace) -> None:
    owners = {"k": "kofn", "weights": "weighted", "threshold": "weighted", "filter": "meta"}
    for option, owner in owners.items():
        if getattr(args, option) is not None and args.rule != owner:
            raise UsageError(f"--{option} is for the rule {owner}, but {args.rule} was asked for; leave it out")
        if option != "threshold" and args.rule == owner and getattr(args, option) is None:
            raise UsageError(f"{owner} needs --{option}; see fascicle ensemble --help")
    least = 1 if args.rule == "meta" else 2
    if len(args.files) < least:
        raise UsageError(f"{len(args.files)} models were given; give at least {least}, names or folders")


def _folder(name: str) -> Path:
    """The folder of one model, undamaged."""
    folder = find_model(name)
    if not is_ensemble(folder):
        check_files(folder, read_manifest(folder))
    return folder


def _filter(name: str) -> Path:
    folder = model_folder(Path(name).expanduser())
    check_files(folder, read_filter_manifest(folder), name=FILTER)
    return folder


def _check_types(named: Mapping[str, Sequence[str]], judge: Path | None, *, agree: bool) -> None:
    """Refuses other names for one type. Types of models cannot be renamed, so what is said of ``--map`` is left out."""
    try:
        notes = check_types(named, agree=agree) if len(named) > 1 else []
        if judge is not None:
            predicted = {name for types in named.values() for name in types}
            notes += check_filter_types(predicted, read_filter_manifest(judge).types)
    except InputError as error:
        told = str(error).partition("; ")[0]
        raise InputError(f"{told}; train models with one name for each type, or say --distinct-types") from None
    for note in notes:
        say(f"note: {note.partition('; ')[0]}")


def _manifest(args: argparse.Namespace, folders: Sequence[Path], judge: Path | None, *, name: str) -> EnsembleManifest:
    from fascicle.runtime.ensemble import rule_of

    told = [read_ensemble(folder) if is_ensemble(folder) else read_manifest(folder) for folder in folders]
    types = [one.types for one in told]
    named = {f"model {at} ({one.name})": one.types for at, one in enumerate(told, start=1)}
    if not args.distinct_types:
        _check_types(named, judge, agree=args.rule not in ("union", "meta"))
    try:
        manifest = EnsembleManifest(
            name=name,
            fascicle=__version__,
            types=tuple(sorted({type_ for of_one in types for type_ in of_one})),
            rule=args.rule,
            k=args.k or 0,
            weights=tuple(args.weights.split(",")) if args.weights else (),
            share=args.threshold or str(HALF),
            output="flat" if args.flat else "nested",
            members=tuple(f"{at:02d}" for at in range(1, len(folders) + 1)),
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    rule_of(manifest)
    described = [file_sha256(described_by(folder)) for folder in (*folders, *([judge] if judge else []))]
    for at, one in enumerate(described[: len(folders)]):
        if one in described[:at]:
            first = described.index(one) + 1
            raise UsageError(f"models {first} and {at + 1} are the same, and a model has one vote; give it once")
    return msgspec.structs.replace(manifest, described=tuple(described))
