"""Resolution of the name of a model: a shipped one, a folder, term packs, or a plug-in of
another package.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import fascicle.plugins as plugins
from fascicle.core.arguments import AnyPath, to_path_list
from fascicle.errors import ModelError, UsageError
from fascicle.settings.folders.best import model_folder
from fascicle.settings.folders.shipped import find_shipped_model, shipped_models, shipped_versions
from fascicle.settings.folders.vocabularies import find_pack, is_pack, shipped_packs

ZERO_SHOT: Final = ("gliner", "gliner2")  # programs, and extras


def pack_folders(model: AnyPath | Sequence[AnyPath]) -> list[Path]:
    """Returns the folders of the term packs that `load` opens; none for another model.

    Raises:
        UsageError: several models, not all of which are packs, or none.
    """
    models = [model] if isinstance(model, str | os.PathLike) else list(model)
    if not models:
        raise UsageError("no model was given; name one, or several term packs")
    other_models = [name for name in models if shipped_versions(name) or not is_pack(name)]
    if other_models and len(models) > 1:
        raise UsageError(
            f"{len(models)} models were given, and {other_models[0]} is not a term pack; "
            "several packs are used as one, and an ensemble joins models"
        )
    return [] if other_models else [find_pack(name) for name in models]


def is_plugin(model: AnyPath) -> bool:
    """True if `load` takes a predictor of another package: the name of a plug-in, no shipped
    model and no path.
    """
    is_model = shipped_versions(model) or Path(model).expanduser().exists()
    return not is_model and str(model) in plugins.plugin_names("predictors")


def split_zero_shot(model: object) -> tuple[str, str] | None:
    """Returns program and model of a name such as ``gliner:NAME``; ``None`` for any other."""
    program, colon, name = str(model).partition(":")
    return (program, name) if colon and name and program in ZERO_SHOT else None


def types_argument(
    types: AnyPath | Sequence[AnyPath] | None,
) -> str | tuple[str, ...]:
    """Returns the path of a file of types, or words for them."""
    if types is None or isinstance(types, str | os.PathLike):
        return os.fspath(types or "")
    return to_path_list(types, name="types")


def types_file(types: AnyPath | Sequence[AnyPath] | None, *, model: object) -> AnyPath | None:
    """Returns the path of a file of types.

    Raises:
        UsageError: words for them.
    """
    if types is None or isinstance(types, str | os.PathLike):
        return types
    raise UsageError(
        f"types in words are for zero-shot models (gliner:NAME), and {model} is none; give the "
        "path of a TOML file of types, or leave them out"
    )


def is_shipped(name: AnyPath) -> bool:
    """True for the name of a model or pack inside the package, with or without version."""
    return bool(shipped_versions(name)) or any(
        name in (pack, pack.partition("@")[0]) for pack in shipped_packs()
    )


def from_anywhere(name: str) -> str:
    """Returns what opens the same from any folder: a whole path, or the name of what is shipped
    or a plug-in.
    """
    if zero_shot := split_zero_shot(name):
        return f"{zero_shot[0]}:{from_anywhere(zero_shot[1])}"
    place = Path(name).expanduser()
    return str(place.resolve()) if place.exists() and not is_shipped(name) else name


def find_model(model: AnyPath) -> Path:
    """Returns the folder of a model: a shipped model, else an existing path, else a model of
    another package.

    ``./NAME`` is always a path.

    A run folder stands for the model that the run kept.

    Raises:
        ModelError: none of these; the message lists the shipped models and the nearest name.
    """
    path = find_pack(model)
    if shipped := find_shipped_model(model):
        return shipped
    if path.is_dir():
        return model_folder(path)
    if path.is_file():
        raise ModelError(
            f"{path} is a file; give the model folder that it belongs to, or save a list of names "
            "as CSV",
            file=str(path),
        )
    if str(model) in plugins.plugin_names(plugins.MODELS):
        return model_folder(plugins.model_folder(str(model)))
    names = shipped_models()
    plugin_models = (*plugins.plugin_names(plugins.MODELS), *plugins.plugin_names("predictors"))
    candidates = [*names, *(n.partition("@")[0] for n in names), *plugin_models]
    near = difflib.get_close_matches(str(model), candidates, n=1)
    known = f"shipped are {', '.join(names)}; or " if names else ""
    advice = f"did you mean {near[0]!r}?" if near else f"{known}give a model folder"
    raise ModelError(
        f"there is no model {str(model)!r}; {advice}", key=str(model), code="not-found"
    )


def path_to_load(folder: AnyPath) -> str:
    """Returns the path that opens the model in a folder: ``./NAME`` where NAME alone is a
    shipped model.
    """
    name = os.fspath(folder)
    return f"{os.curdir}{os.sep}{name}" if shipped_versions(name) else name
