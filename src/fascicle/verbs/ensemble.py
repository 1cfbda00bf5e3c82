"""Command ``fascicle ensemble``: saves several models and a rule in one folder that is used like
a model.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.files.atomic import atomic_folder, check_folder
from fascicle.core.files.intact import check_files
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.runtime.combination.rules import HALF, RULES, RuleRequest
from fascicle.runtime.combination.type_names import check_filter_types, check_types
from fascicle.runtime.places import find_model
from fascicle.settings.folders.best import description_file, model_folder
from fascicle.settings.folders.described import FILTER, file_sha256
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.folders.vocabularies import is_pack
from fascicle.settings.recipes import ensemble as stored
from fascicle.settings.recipes.filter import read_filter_manifest
from fascicle.terms.pack.layout import read_manifest as read_pack
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.combine import rule_of
from fascicle.verbs.messages import say_notes
from fascicle.verbs.options import Overwrite, call, option, positive, reads, writes
from fascicle.version import VERSION


@dataclass(frozen=True, kw_only=True)
class SavedEnsemble:
    """Ensemble folder as it was written.

    Attributes:
        folder: the folder.
        manifest: of the folder.
        notes: sentences about types that only one model has.
    """

    folder: Path
    manifest: stored.EnsembleManifest
    notes: tuple[str, ...]


@validate_arguments
def ensemble(
    models: Paths,
    folder: AnyPath,
    rule: RuleRequest | stored.RuleName = "majority",
    *,
    name: str = "",
    flat: bool = False,
    distinct_types: bool = False,
    overwrite: bool = False,
) -> SavedEnsemble:
    """Copies models into one folder that `fascicle.load` reads as one predictor.

    Args:
        models: names of shipped models, or folders of models, runs, ensembles or term packs, in the
            order of the weights.
        folder: to write.
        rule: determines which mentions of the models are kept; a name is enough for a rule without
            arguments. The rule ``"meta"`` takes no threshold, because its filter has its own.
        name: of the ensemble, the source of its mentions; that of its folder by default.
        flat: of overlapping mentions, keep those with the most support.
        distinct_types: treat types with similar names as different types.
        overwrite: replace an existing ensemble.

    Returns:
        The written folder.

    Raises:
        OutputError: the folder exists.
        ModelError: there is no such model, or a folder is damaged.
        UsageError: too few models, one model twice, or numbers that the rule does not allow.
        InputError: two models have different names for one type.
    """
    request = RuleRequest.of(rule)
    members_given, target = to_path_list(models, name="models"), Path(folder)
    _check_request(request, members_given)
    check_folder(target, kind="ensemble", overwrite=overwrite)
    members = [_undamaged(member) for member in members_given]
    judges = [_undamaged_filter(request.filter)] if request.filter is not None else []
    used = _types_by_model(members)
    notes = [] if distinct_types else _check_types(used, judges, agree=request.rule().is_vote)
    manifest = _manifest(
        request,
        members,
        judges,
        types=sorted({*chain(*used.values())}),
        name=name or target.resolve().name,
        flat=flat,
    )
    with atomic_folder(target, kind="ensemble", overwrite=overwrite) as place:
        _fill(place, manifest, members, judges)
    return SavedEnsemble(folder=target, manifest=manifest, notes=tuple(notes))


def _fill(
    folder: Path,
    manifest: stored.EnsembleManifest,
    members: Sequence[Path],
    judges: Sequence[Path],
) -> None:
    """Copies the members, and the filter, to the folder of an ensemble."""
    for number, member in zip(manifest.members, members, strict=True):
        _copy(member, folder / stored.MEMBERS / number)
    for judge in judges:
        _copy(judge, folder / stored.FILTER_FOLDER)
    stored.write_ensemble(folder, manifest)


def _check_request(rule: RuleRequest, models: Sequence[str]) -> None:
    """Refuses too few models, and a threshold for a filter that has its own."""
    if rule.name == "meta" and rule.threshold is not None:
        raise UsageError(
            "the argument threshold is for the rule weighted, but meta was asked for; leave it "
            "out, for the filter has its own"
        )
    if len(models) < rule.kind.least:
        raise UsageError(
            f"{plural(len(models), 'model')} given; give at least {rule.kind.least}, names or "
            "folders"
        )


def _copy(folder: Path, place: Path) -> None:
    # hidden files are not part of a model
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns(".*"))


def _undamaged(name: str) -> Path:
    """Returns the folder of one model after a check of its files."""
    folder = find_model(name)
    if is_pack(folder):
        Pack.open(folder)
    elif not stored.is_ensemble(folder):
        check_files(folder, read_manifest(folder))
    return folder


def _types_by_model(members: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    described = enumerate(map(_describe, members), start=1)
    return {f"model {at} ({own})": types for at, (own, types) in described}


def _describe(folder: Path) -> tuple[str, tuple[str, ...]]:
    """Returns the name of a model, and the types that it gives out."""
    if is_pack(folder):
        pack = read_pack(folder)
        return pack.name, tuple(filter(None, pack.types))
    if stored.is_ensemble(folder):
        ensemble = stored.read_ensemble(folder)
        return ensemble.name, ensemble.types
    manifest = read_manifest(folder)
    return manifest.name, tuple(
        kind for kind in manifest.types if kind not in (manifest.decision.apart or ())
    )


def _undamaged_filter(name: str) -> Path:
    folder = model_folder(Path(name).expanduser())
    check_files(folder, read_filter_manifest(folder), name=FILTER)
    return folder


def _manifest(
    request: RuleRequest,
    members: Sequence[Path],
    judges: Sequence[Path],
    *,
    types: Sequence[str],
    name: str,
    flat: bool,
) -> stored.EnsembleManifest:
    described = [file_sha256(description_file(folder)) for folder in (*members, *judges)]
    try:
        manifest = stored.EnsembleManifest(
            name=name,
            fascicle=VERSION,
            types=tuple(types),
            rule=request.name,
            k=request.k or 0,
            weights=tuple(map(str, request.weights or ())),
            share=str(HALF if request.threshold is None else request.threshold),
            output="flat" if flat else "nested",
            members=tuple(f"{at:02d}" for at in range(1, len(members) + 1)),
            described=tuple(described),
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    request.rule().check(len(members))
    for at, sha in enumerate(described[: len(members)]):
        if sha in described[:at]:
            first = described.index(sha) + 1
            raise UsageError(
                f"models {first} and {at + 1} are the same, and a model has one vote; give it once"
            )
    return manifest


def _check_types(
    used: Mapping[str, Sequence[str]], judges: Sequence[Path], *, agree: bool
) -> list[str]:
    """Refuses different names for one type. Types of models cannot be renamed, so the message
    does not advise it.
    """
    try:
        notes = check_types(used, agree=agree) if len(used) > 1 else []
        for judge in judges:
            predicted = {name for types in used.values() for name in types}
            notes += check_filter_types(predicted, read_filter_manifest(judge).types)
    except InputError as error:
        sentence = str(error).partition("; ")[0]
        raise InputError(
            f"{sentence}; train models with one name for each type, or give distinct_types=True"
        ) from None
    return [note.partition("; ")[0] for note in notes]


class Options(Overwrite):
    """Options of ``fascicle ensemble``.

    In Python: ``fascicle.verbs.ensemble.ensemble(["runs/mine", "biomed"], "both", "union")``

    Attributes:
        files: names of shipped models, or model folders.
        output: the folder to write; the models are copied into it.
        k: for kofn: number of models that must agree.
        weights: for weighted: one number for each model, in their order.
        filter: for meta: the run folder of a filter, or its export.
        flat: keep only the mentions with the most support among those that overlap.
        name: name of the ensemble, and of the source of its mentions; default: name of the folder.
        distinct_types: treat types with similar names as different types.
    """

    rule: stored.RuleName = option(
        "RULE", choices=tuple(RULES), help=f"{', '.join(RULES)}; see fascicle combine --help"
    )
    files: list[str] = option("MODEL *", reads)
    output: str | None = option("-o --output DIR", writes)
    k: int | None = option("--k K", positive)
    weights: str | None = option("--weights W,W,...")
    threshold: str | None = option(
        "--threshold SHARE",
        help=f"for weighted: the share of all weights that must be exceeded; default: {HALF}",
    )
    filter: str | None = option("--filter FOLDER", reads)
    flat: bool = option("--flat")
    name: str | None = option("--name NAME")
    distinct_types: bool = option("--distinct-types")


def run(args: Options) -> int:
    """Saves the ensemble; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    saved = call(ensemble, args, models=args.files, folder=args.output, rule=rule_of(args))
    say_notes(saved.notes)
    manifest = saved.manifest
    size = sum(file.stat().st_size for file in saved.folder.rglob("*") if file.is_file())
    sys.stdout.write(
        f"{saved.folder}: {manifest.name}, {manifest.rule} of "
        f"{plural(len(manifest.members), 'model')}, "
        f"{manifest.output} output, types {', '.join(manifest.types)}, {size / 1e6:.1f} MB\n"
    )
    return 0
