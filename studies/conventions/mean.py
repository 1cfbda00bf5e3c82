"""A run as it ships: its weights in a mean with those of a shipped model, under a fitted decision,
in 8 bits.

usage: python -m studies.conventions.mean RUN MODEL FITTED -o FOLDER [--share 0.5] [--keep TYPE] [--full]

RUN is a finished run; MODEL the name of a model that ships and has the same layers; FITTED a file of
``results`` with a whole decision, such as ``decision-fit-biomed@3``. ``--share`` is the share of RUN
in the mean: with 1, its weights stay as they are. A type of ``--keep`` is decided as MODEL decides
it.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import torch
from safetensors.torch import load_file, save_file

from fascicle.core.files.owned import RECORD
from fascicle.runtime.places import find_model
from fascicle.settings.decision import DocumentDecision
from fascicle.settings.folders.manifest import (
    Manifest,
    ScoreDecision,
    read_manifest,
    write_manifest,
)
from fascicle.training.starting import open_trained
from fascicle.verbs.export import export
from studies.common import result

WEIGHTS = "model.safetensors"
Tensors = dict[str, torch.Tensor]


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the export."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("model", help="that ships")
    parser.add_argument("fitted", help="a file of results, without .json")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--name", default="biomed@3", help="of the mean")
    parser.add_argument("--share", type=float, default=0.5, help="of the run, from 0 to 1")
    parser.add_argument("--keep", nargs="*", default=[], metavar="TYPE")
    parser.add_argument("--full", action="store_true", help="weights in 32 bits")
    args = parser.parse_args(argv)
    shipped = read_manifest(find_model(args.model)).decision
    with tempfile.TemporaryDirectory() as folder:
        run = averaged(args.run, args.model, share=args.share, place=Path(folder))
        manifest = decided(read_manifest(run / "best"), args.fitted)
        manifest = kept(manifest, shipped, types=args.keep)
        write_manifest(run / "best", manifest)
        export(run, args.output, int8=not args.full, name=args.name)
    (args.output / RECORD).unlink()  # it is about folders of users


def averaged(run: Path, model: str, *, share: float, place: Path) -> Path:
    """Writes a run with the mean of its weights and those of a model, and returns its folder."""
    mean = place / "run"
    shutil.copytree(run / "best", mean / "best")
    shutil.copy(run / "recipe.json", mean)
    if share == 1.0:
        return mean
    shipped = open_trained(model, key="model", use="whose weights cannot be read").model
    own = load_file(run / "best" / WEIGHTS)
    save_file(mixed(own, shipped.state_dict(), share=share), mean / "best" / WEIGHTS)
    return mean


def mixed(own: Tensors, other: Tensors, *, share: float) -> Tensors:
    """Returns the mean of the weights of two models with equal layers.

    Args:
        own: weights by name.
        other: weights by name, of the same names and shapes.
        share: of ``own``.

    Raises:
        ValueError: a name or a shape is not that of the other.
    """
    shapes = [{name: tensor.shape for name, tensor in one.items()} for one in (own, other)]
    if shapes[0] != shapes[1]:
        odd = sorted(
            name for name in {**own, **other} if shapes[0].get(name) != shapes[1].get(name)
        )
        raise ValueError(f"these weights differ in name or shape: {', '.join(odd[:3])}")
    return {name: torch.lerp(other[name], own[name].float(), share) for name in own}


def decided(manifest: Manifest, fitted: str) -> Manifest:
    """Returns what a model says of itself, with the decision of a file of results."""
    decision = msgspec.convert(result(fitted)["decision"], ScoreDecision)
    document = decision.document
    if isinstance(document, DocumentDecision):  # the texts that were its gold taught the run too
        own = msgspec.structs.replace(document, untaught=msgspec.UNSET)
        decision = msgspec.structs.replace(decision, document=own)
    return msgspec.structs.replace(manifest, decision=decision, language="English")


def kept(manifest: Manifest, other: ScoreDecision, *, types: Sequence[str]) -> Manifest:
    """Returns what a model says of itself, with some types decided as in another decision of the
    same types.
    """
    own, document = manifest.decision, manifest.decision.document
    if not isinstance(document, DocumentDecision) or not isinstance(
        other.document, DocumentDecision
    ):
        raise TypeError("both decisions must be about documents")
    limits = zip(manifest.types, own.nothing_by_type, other.nothing_by_type, strict=True)
    of_others = {name: other.document.types[name] for name in types}
    decision = msgspec.structs.replace(
        own,
        nothing_by_type=tuple(their if name in types else our for name, our, their in limits),
        document=msgspec.structs.replace(document, types={**document.types, **of_others}),
    )
    return msgspec.structs.replace(manifest, decision=decision)


if __name__ == "__main__":
    main()
