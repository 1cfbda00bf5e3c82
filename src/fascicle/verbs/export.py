"""Command ``fascicle export``: exports a trained model to a folder that needs no torch."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from fascicle.core.arguments import AnyPath, validate_arguments, validate_documents
from fascicle.core.document import Document
from fascicle.core.files.atomic import check_folder
from fascicle.core.files.tree import path_exists
from fascicle.errors import InputError, UsageError
from fascicle.formats.files import read
from fascicle.runtime.places import find_model
from fascicle.settings.base import check_model_name
from fascicle.settings.folders.best import description_file
from fascicle.settings.folders.described import FILTER, RELATIONS
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.recipes.corpora import CorpusSettings, PartSettings
from fascicle.settings.recipes.filter import FilterManifest
from fascicle.settings.recipes.relations import RelationManifest
from fascicle.verbs.console import explain_missing_extra
from fascicle.verbs.messages import say
from fascicle.verbs.options import OVERWRITE, call, option, reads, writes


class _Named(msgspec.Struct):
    """Fields of ``recipe.json`` that are needed here, of any release."""

    corpus: CorpusSettings | UnsetType = UNSET
    parts: dict[str, PartSettings] = {}


@validate_arguments
def export(
    model: AnyPath,
    folder: AnyPath,
    *,
    int8: bool = False,
    sample: AnyPath | Iterable[Document] | None = None,
    name: str | None = None,
    types_encoder: bool = False,
    overwrite: bool = False,
) -> Manifest | FilterManifest | RelationManifest:
    """Exports a trained model, filter or finder of relations; needs the extra ``train``.

    Args:
        model: a run folder, or the model folder in it.
        folder: to write.
        int8: 8-bit weights: smaller and faster, but slightly less accurate.
        sample: texts to measure 8-bit activations on, as a file in any format or as documents; for
            a filter or a finder of relations with gold mentions. By default the training part of
            the recipe of the run.
        name: name of the exported model and source of its mentions.
        types_encoder: also export the encoder of type descriptions, so that the folder can look for
            other types.
        overwrite: replace a folder that was exported before.

    Returns:
        The manifest of the folder.

    Raises:
        UsageError: a name that no model may have, no sample for 8-bit weights, or an encoder of
            types that the model does not have.
        ModelError: there is no such model.
        InputError: the sample cannot be read.
        OutputError: the folder exists.
        MissingExtraError: torch is not installed.
    """
    try:
        check_model_name(name or "")
    except ValueError as error:
        raise UsageError(f"the argument name: {error}") from None
    source, target = find_model(model), Path(folder)
    from fascicle.models.export.folders import export_filter, export_model, export_relations

    kind = _kind_of(source, types_encoder=types_encoder)
    check_folder(target, kind=kind, overwrite=overwrite)
    texts = _sample(source, sample) if int8 else []
    if kind != "model":
        write = export_filter if kind == "filter" else export_relations
        return write(source, target, sample=texts, int8=int8, name=name, overwrite=overwrite)
    return export_model(
        source,
        target,
        sample=texts,
        int8=int8,
        name=name,
        types_encoder=types_encoder,
        overwrite=overwrite,
    )


def _kind_of(source: Path, *, types_encoder: bool) -> str:
    """Returns whether a folder has a model, a filter or a finder of relations."""
    kind = {FILTER: "filter", RELATIONS: "relations"}.get(description_file(source).name, "model")
    if kind != "model" and types_encoder:
        raise UsageError(
            f"{source} is no recogniser, and reads about no types; leave out the argument "
            "types_encoder"
        )
    return kind


def _sample(folder: Path, sample: AnyPath | Iterable[Document] | None) -> list[Document]:
    """Returns texts to measure activations on: the given ones, or the training documents of the
    model's run.
    """
    if isinstance(sample, str | os.PathLike):
        return list(read(os.fspath(sample)))
    if sample is not None:
        documents = list(validate_documents(sample, name="sample"))
        if not documents:
            raise UsageError(
                "the sample has no document; give texts like those that the model will read"
            )
        return documents
    recipes = [p for p in (folder / "recipe.json", folder.parent / "recipe.json") if p.is_file()]
    if not recipes:
        raise UsageError(
            f"{folder} is not in a run folder that names its corpus; give sample texts with "
            "sample=FILE"
        )
    try:
        paths = msgspec.json.decode(recipes[0].read_bytes(), type=_Named)
        if not (paths.corpus or paths.parts):
            raise ValueError("it names no corpus")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(
            f"{recipes[0]} is damaged ({error}); give sample texts with sample=FILE"
        ) from None
    return _of_recipe(paths)


def _of_recipe(paths: _Named) -> list[Document]:
    """Reads the training documents of a recipe as its run read them."""
    from fascicle.training.several import read_corpus, training_documents

    trains = (
        [paths.corpus.train]
        if paths.corpus
        else [path for part in paths.parts.values() for path in part.trains]
    )
    for path in trains:
        if not path_exists(path):
            raise InputError(
                f"the training corpus {path} is not there any more; give texts with sample=FILE"
            )
    if paths.corpus:
        return training_documents(paths.corpus)
    # Taken in turns from the corpora, because only the first ones are read.
    turns = zip_longest(*(read_corpus(name, part).train for name, part in paths.parts.items()))
    return [document for turn in turns for document in turn if document is not None]


class Options:
    """Options of ``fascicle export``.

    In Python: ``fascicle.export("runs/mine", "mine", int8=True)``

    Attributes:
        model: the run folder of a model, filter or finder of relations, or the model folder in it.
        output: the folder to write.
        int8: write 8-bit weights, which are smaller and faster, but slightly less accurate.
        sample: with --int8: texts for measuring activations, in any format; for a filter or a
            finder of relations, they need gold mentions; default: the training part in the recipe
            of the run.
        name: name of the exported model, and of the source of its mentions; default: the old name.
        types_encoder: also export the encoder of types of a bi-encoder; annotate --types needs it.
        json: print the description of the model as JSON.
    """

    model: str = option("RUN_OR_MODEL", reads)
    output: str | None = option("-o --output DIR", writes)
    int8: bool = option("--int8")
    sample: str | None = option("--calibrate FILE", reads)
    name: str | None = option("--name NAME")
    types_encoder: bool = option("--types-encoder")
    overwrite: bool = OVERWRITE
    json: bool = option("--json")


def run(args: Options) -> int:
    """Exports the model; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    target = Path(args.output)
    with explain_missing_extra("train"):
        manifest = call(export, args, folder=target)
    if args.int8 and isinstance(manifest, Manifest) and manifest.decision.calibration:
        say(
            f"note: {manifest.name} was calibrated with its weights in full; fit the scores of "
            f"{target} again"
        )
    if args.json:
        sys.stdout.write(msgspec.json.encode(manifest).decode() + "\n")
        return 0
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    sys.stdout.write(
        f"{target}: {manifest.name}, types {', '.join(manifest.types)}, {size / 1e6:.1f} MB\n"
    )
    return 0
