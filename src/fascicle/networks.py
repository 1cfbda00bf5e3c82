"""Loads networks that judge mentions: filters, finders of relations and span typers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fascicle.core.arguments import AnyPath
from fascicle.core.files.intact import check_files
from fascicle.errors import MissingExtraError
from fascicle.settings.folders.best import model_folder
from fascicle.settings.folders.described import FILTER, RELATIONS

if TYPE_CHECKING:
    from fascicle.models.span_typer import TyperModel
    from fascicle.runtime.filter import MentionFilter
    from fascicle.runtime.relations import RelationFinder
    from fascicle.settings.recipes.filter import FilterManifest
    from fascicle.settings.recipes.relations import RelationManifest
    from fascicle.text.pieces import PieceTokenizer


def load_filter(
    folder: AnyPath, *, threads: int | None = None, device: str | None = None
) -> MentionFilter:
    """Loads a filter over the mentions of other systems.

    Args:
        folder: folder of a run of ``fascicle train`` with a recipe of a filter, the ``best`` folder
            in it (both need the extra ``train``), or an export.
        threads: CPU threads of the network; all usable cores by default.
        device: see `load`.

    Returns:
        A filter with ``judge(documents, mentions)``.

    Raises:
        ModelError: there is no filter, or its folder is damaged or of another version.
        MissingExtraError: a filter of torch, but torch is not installed.
        UsageError: a device on which the filter cannot run.
    """
    from fascicle.runtime.filter import MentionFilter
    from fascicle.settings.recipes.filter import read_filter_manifest

    place = model_folder(Path(folder).expanduser())
    manifest = read_filter_manifest(place)
    return MentionFilter(manifest, *_open_network(place, manifest, FILTER, threads, device))


def _open_network(
    place: Path,
    manifest: FilterManifest | RelationManifest,
    name: str,
    threads: int | None,
    device: str | None,
) -> tuple[PieceTokenizer, Any]:
    """Returns the tokenizer and the network of a filter or a finder of relations.

    Args:
        place: its folder.
        manifest: its description.
        name: of the file of the description.
        threads: of the network.
        device: of the network.
    """
    from fascicle.runtime.opening import open_graph, read_tokenizer

    check_files(place, manifest, name=name)
    tokenizer = read_tokenizer(place, manifest.tokenizer, name=name)
    if manifest.runtime == "onnx":
        return tokenizer, open_graph(place, threads, device=device)
    with needs_torch(threads):
        from fascicle.models.filter import load_filter_model
        from fascicle.models.model import TorchScorer, find_device
        from fascicle.models.relations import load_relation_model
    load_network: Any = load_filter_model if name == FILTER else load_relation_model
    return tokenizer, TorchScorer(model=load_network(place, manifest).to(find_device(device)))


def load_relations(
    folder: AnyPath, *, threads: int | None = None, device: str | None = None
) -> RelationFinder:
    """Loads a finder of relations between mentions.

    Args:
        folder: as for `load_filter`, of a finder of relations.
        threads: CPU threads of the network; all usable cores by default.
        device: see `load`.

    Returns:
        A finder with ``relate(documents, mentions)``.

    Raises:
        ModelError: there is no finder, or its folder is damaged or of another version.
        MissingExtraError: a finder of torch, but torch is not installed.
        UsageError: a device on which the finder cannot run.
    """
    from fascicle.runtime.relations import RelationFinder
    from fascicle.settings.recipes.relations import read_relation_manifest

    place = model_folder(Path(folder).expanduser())
    manifest = read_relation_manifest(place)
    return RelationFinder(manifest, *_open_network(place, manifest, RELATIONS, threads, device))


def load_typer(
    folder: AnyPath, *, threads: int | None = None, device: str | None = None
) -> TyperModel:
    """Loads a span typer, which needs the extra ``train``.

    Args:
        folder: folder of a run of ``fascicle train`` with a recipe of a span typer, or of the model
            in it.
        threads: CPU threads; all usable cores by default.
        device: see `load`.

    Raises:
        ModelError: there is no span typer, or its folder is damaged.
        MissingExtraError: torch is not installed.
    """
    with needs_torch(threads):
        from fascicle.models.model import find_device
        from fascicle.models.span_typer import load_typer as typer_of
    typer = typer_of(Path(folder).expanduser())
    typer.network.to(find_device(device))
    return typer


@contextmanager
def needs_torch(threads: int | None) -> Iterator[None]:
    """Guards imports of torch models, and sets the number of threads of torch; ``None`` leaves
    it unchanged.
    """
    try:
        import torch

        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError("train", error.name or "torch") from None
    if threads is not None:
        torch.set_num_threads(threads)
