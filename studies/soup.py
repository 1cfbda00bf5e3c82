"""The mean of several trained models (a *model soup*, Wortsman et al. 2022): one model, at the cost
of one.

It works for runs that started from the same weights, heads included, and so ended near each other:
runs of one seed whose recipes differ in training only. Whether it pays is for development data to
say.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
from safetensors.torch import load_file, save_file

from fascicle.core.files.atomic import atomic_folder
from fascicle.core.files.intact import check_files
from fascicle.errors import ModelError
from fascicle.models.heads.contract import put_weights
from fascicle.models.model import WEIGHTS, load_model
from fascicle.settings.folders.manifest import Manifest, read_manifest, write_manifest


def average_models(folders: Sequence[Path], target: Path, *, overwrite: bool = False) -> Manifest:
    """Writes the model whose every weight is the mean over the given models.

    Args:
        folders: model folders of torch, at least one; the first gives everything but the weights.
        target: folder to write.
        overwrite: replace an existing folder.

    Returns:
        The manifest as written.

    Raises:
        ModelError: models of different types, heads, ways of reading, tokenizers or shapes.
        OutputError: the target exists.
    """
    manifests = [read_manifest(folder) for folder in folders]
    for folder, manifest in zip(folders, manifests, strict=True):
        check_files(folder, manifest)
        if _kind(manifest) != _kind(manifests[0]):
            raise ModelError(
                f"{folder} and {folders[0]} are models of different kinds, which have no mean"
            )
    members = [load_file(folder / WEIGHTS) for folder in folders]
    shapes = [{name: tensor.shape for name, tensor in member.items()} for member in members]
    if any(s != shapes[0] for s in shapes):
        raise ModelError(
            f"the weights in {folders[0]} and the others have different shapes, which have no mean"
        )
    with atomic_folder(target, kind="model", overwrite=overwrite) as place:
        for name in manifests[0].files:
            shutil.copy2(folders[0] / name, place / name)
        # What a model keeps beside its weights, as the vectors of types, is not the mean of
        # several: it is made again.
        model = load_model(folders[0], manifests[0])
        names = [name for name, _ in model.named_parameters()]
        put_weights(
            model,
            {n: sum((m[n] for m in members[1:]), members[0][n]) / len(members) for n in names},
        )
        save_file(
            {name: t.clone().contiguous() for name, t in model.state_dict().items()},
            place / WEIGHTS,
        )
        # Scores of the mean are others than those that a calibration of the first was fitted on.
        decision = msgspec.structs.replace(manifests[0].decision, calibration=msgspec.UNSET)
        return write_manifest(place, msgspec.structs.replace(manifests[0], decision=decision))


def _kind(manifest: Manifest) -> tuple[object, ...]:
    names = (
        "runtime",
        "types",
        "heads",
        "reading",
        "tokenizer",
        "encoder",
        "descriptions",
        "inputs",
    )
    return tuple(getattr(manifest, name) for name in names)
