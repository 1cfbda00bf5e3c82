"""``load``: a name or a folder -> a predictor. The one place that knows the runtime and, lazily, torch models."""

from __future__ import annotations

import difflib
import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from fascicle.errors import MissingExtraError, ModelError, UsageError
from fascicle.recipe.heads import BinderSettings
from fascicle.recipe.manifest import Manifest, check_files, read_manifest
from fascicle.recipe.types import TypeDescriptions, read_types

if TYPE_CHECKING:
    from fascicle.models.checkpoint import TorchScorer
    from fascicle.runtime.predictor import ModelPredictor, Scorer
    from fascicle.text.pieces import PieceTokenizer

DEFAULT_MODEL = "bc5cdr"


def shipped_models() -> tuple[str, ...]:
    """Names of the models inside the package, each with its version, e.g. ``"bc5cdr@1"``."""
    return tuple(sorted(p.parent.name for p in _assets().glob("*/model.json")))


def load(
    model: str | os.PathLike[str] = DEFAULT_MODEL,
    *,
    threads: int | None = None,
    types: str | os.PathLike[str] | None = None,
) -> ModelPredictor:
    """Loads a model.

    Args:
        model: the name of a shipped model, with or without version (the newest is taken), a folder of
            ``fascicle export``, or the ``best`` folder of a training run (that one needs the extra ``train``).
        threads: CPU threads of the network; all usable cores by default. The tokenizer uses all cores, unless the
            environment variable ``RAYON_NUM_THREADS`` says otherwise.

        types: a TOML file that describes types (see ``recipe/types.py``) to look for in place of those that the model
            was trained on; for a model of the family ``binder``, in a folder of a training run.

    Returns:
        A predictor with ``annotate(texts)`` and ``predict(documents)``.

    Raises:
        ModelError: there is no such model, or its folder is damaged, foreign, or of another version.
        MissingExtraError: a torch model, but torch is not installed.
        UsageError: types for a model that cannot take others.
        RecipeError: the file of types cannot be read, or the model cannot read what it says.
    """
    from fascicle.runtime.predictor import ModelPredictor
    from fascicle.text.pieces import PieceTokenizer

    folder = find_model(model)
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    tokenizer = PieceTokenizer.from_file(folder / "tokenizer.json", pad=manifest.tokenizer.pad)
    facts = manifest.tokenizer
    if (tokenizer.sha256, tokenizer.prefix, tokenizer.suffix) != (facts.sha256, facts.prefix, facts.suffix):
        raise ModelError(f"the tokenizer in {folder} is not the one its model.json describes; copy the folder again")
    if types is not None:
        _refuse_types(folder, manifest)
        return _retyped(folder, manifest, tokenizer, read_types(types), threads)
    scorer = _onnx(folder, threads) if manifest.runtime == "onnx" else _torch(folder, manifest, threads)
    return ModelPredictor(manifest, tokenizer, scorer)


def find_model(model: str | os.PathLike[str]) -> Path:
    """The folder of a model: a shipped model of that name, else an existing path (``./NAME`` is always a path).

    Raises:
        ModelError: neither; the message lists the shipped models and the nearest name.
    """
    path = Path(model).expanduser()
    names = shipped_models()
    versions = [n for n in names if n == str(model) or n.partition("@")[0] == str(model)]
    if versions:
        return _assets() / max(versions, key=lambda n: int(n.partition("@")[2]))
    if path.is_dir():
        return path
    if path.is_file():
        raise ModelError(f"{path} is a file; give the model folder that it belongs to")
    near = difflib.get_close_matches(str(model), [*names, *(n.partition("@")[0] for n in names)], n=1)
    shipped = f"shipped are {', '.join(names)}; or " if names else ""
    advice = f"did you mean {near[0]!r}?" if near else f"{shipped}give a model folder"
    raise ModelError(f"there is no model {str(model)!r}; {advice}")


def _onnx(folder: Path, threads: int | None) -> Scorer:
    from fascicle.runtime.session import OnnxSession

    return OnnxSession.open(folder / "model.onnx", threads=threads)


def _refuse_types(folder: Path, manifest: Manifest) -> None:
    """Refuses other types for a model whose types are part of its weights, or that cannot read."""
    head = manifest.answering
    if not isinstance(head, BinderSettings):
        reason = f"its family is {head.family!r}, which learns its types as labels; only 'binder' reads about them"
    elif head.type_view == "atomic":
        reason = 'it was trained with type_view = "atomic" and reads nothing about types; train with another view'
    elif head.thresholds == "global":
        reason = 'it was trained with thresholds = "global", which are learnt type by type; train with "dynamic"'
    elif manifest.runtime == "onnx":
        reason = "an export holds no more than the vectors of its own types; give the folder of the training run"
    elif manifest.decision.calibration:
        reason = "its scores were calibrated for its own types; give the folder that it was calibrated from"
    else:
        return
    raise UsageError(f"{folder} cannot look for other types: {reason}")


def _retyped(
    folder: Path, manifest: Manifest, tokenizer: PieceTokenizer, types: TypeDescriptions, threads: int | None
) -> ModelPredictor:
    from fascicle.runtime.predictor import ModelPredictor

    scorer = _torch(folder, manifest, threads)
    from fascicle.models.checkpoint import with_types

    manifest = with_types(scorer.model, manifest, types=types, tokenizer=tokenizer)
    return ModelPredictor(manifest, tokenizer, scorer)


def _torch(folder: Path, manifest: Manifest, threads: int | None) -> TorchScorer:
    try:
        import torch

        from fascicle.models.checkpoint import TorchScorer, load_model
    except ModuleNotFoundError as error:
        raise MissingExtraError("train", error.name or "torch") from None
    if threads is not None:
        torch.set_num_threads(threads)
    return TorchScorer(model=load_model(folder, manifest))


def _assets() -> Path:
    return Path(str(resources.files("fascicle"))) / "assets"
