"""Predictors, steps, readers, writers, models, vocabularies and packs of other packages, found by
their entry points.

A package lists its objects in its ``pyproject.toml``, under
``[project.entry-points."fascicle.readers"]`` and likewise for the other groups. An object meets the
protocol of its group in `fascicle.core.contracts`; a class is called without arguments to make the
object. No entry point is looked up or imported before a name is requested that Fascicle itself does
not have. So a broken plug-in is an error only where it is used.

A model or a term pack is named as ``PACKAGE:FOLDER``, a folder inside the package. No code of such
a package runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from fascicle.core.contracts import Predictor, Reader, Step, VocabularyReader, Writer
from fascicle.core.mention import GOLD
from fascicle.core.wording import shorten
from fascicle.errors import MissingExtraError, PluginError, RecipeError
from fascicle.settings.folders.offered import folder_of_package

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS: Final[Mapping[str, type[Any]]] = MappingProxyType(
    {
        **{"predictors": Predictor, "steps": Step, "readers": Reader, "writers": Writer},
        "vocabularies": VocabularyReader,
    }
)


MODELS: Final = "models"  # the group of model folders
_FOLDERS: Final = {MODELS: "model", "packs": "term pack"}  # group -> what is in its folders
_ALL: Final = (*GROUPS, *_FOLDERS)


def _are_texts(value: Any) -> bool:
    return (
        isinstance(value, Collection)
        and not isinstance(value, str)
        and all(isinstance(text, str) for text in value)
    )


def _are_suffixes(value: Any) -> bool:
    return _are_texts(value) and all(
        suffix.startswith(".") and suffix == suffix.lower() for suffix in value
    )


# Allowed values of each part of a protocol. They are checked early: a text in place of a tuple
# would be read as its letters, and wrong suffixes would stop the reading of files that do not
# concern the plug-in.
_SHAPES: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = MappingProxyType(
    {
        **dict.fromkeys(("predict", "run", "read", "encode"), (callable, "a method")),
        **dict.fromkeys(("needs", "gives", "drops", "holds"), (_are_texts, "a frozenset of texts")),
        **dict.fromkeys(("start", "end"), (lambda value: isinstance(value, bytes), "bytes")),
        "name": (
            lambda value: isinstance(value, str) and value not in ("", GOLD),
            f"a text other than {GOLD!r}",
        ),
        "fingerprint": (lambda value: isinstance(value, str), "a text"),
        "types": (_are_texts, "a tuple of texts"),
        "suffixes": (
            _are_suffixes,
            "a tuple of texts in lower case that begin with a dot, such as ('.mu',)",
        ),
    }
)


class _Plugin(NamedTuple):
    """One entry point of another package.

    Attributes:
        group: one of `GROUPS`, or an unknown one by mistake.
        name: name of the plug-in.
        package: its package, with the version.
        problem: reason why it cannot be used, in one sentence; empty if it can.
    """

    group: str
    name: str
    package: str
    problem: str = ""


def plugin_names(group: str) -> tuple[str, ...]:
    """Returns the names of the plug-ins of a group, sorted, without importing them."""
    return tuple(dict.fromkeys(entry.name for entry in _entries(group)))


def load_step(name: str) -> Step:
    """Loads a step of another package; see `load`."""
    return cast(Step, load_plugin("steps", name))


def load_plugin(group: str, name: str, *, make: Callable[[Any], Any] | None = None) -> Any:
    """Imports a plug-in and makes its object.

    Args:
        group: one of `GROUPS`.
        name: one of `plugin_names`.
        make: makes the object of what the entry point names; by default a class is called without
            arguments, unless it has ``Settings``: then the class itself is checked.

    Raises:
        PluginError: no package or several packages have a plug-in of this name, or it cannot be
            imported, or a part of its protocol is missing or has a wrong value.
        RecipeError: its settings are not allowed.
        MissingExtraError: it needs a package that is not installed.
    """
    entry = _entry(group, name)
    try:
        loaded = entry.load()
        plugin = (make or _make)(loaded)
        has = {part: getattr(plugin, part) for part in _parts(group) if hasattr(plugin, part)}
    except (MissingExtraError, RecipeError):
        raise
    except (Exception, SystemExit) as error:
        why = f"cannot be loaded ({type(error).__name__}: {error})"
        raise PluginError(
            f"{_title(entry, group)} {why}; update or remove that package", key=name
        ) from error
    if lacks := [part for part in _parts(group) if part not in has]:
        raise PluginError(
            f"{_title(entry, group)} lacks {', '.join(lacks)}, which a {GROUPS[group].__name__} "
            "must have; update or remove that package",
            key=name,
        )
    for part, value in has.items():
        fits, allowed = _SHAPES[part]
        if not fits(value):
            raise PluginError(
                f"{_title(entry, group)} has {shorten(repr(value))} as its {part}, which must be "
                f"{allowed}; correct it, or remove that package",
                key=name,
            )
    return plugin


def _make(loaded: Any) -> Any:
    return loaded() if isinstance(loaded, type) and not hasattr(loaded, "Settings") else loaded


def model_folder(name: str) -> Path:
    """Returns the model folder of another package; see `_folder`."""
    return _folder(MODELS, name)


def _folder(group: str, name: str) -> Path:
    """Returns a folder of another package.

    Raises:
        PluginError: there is none of this name, or several packages have one, or the folder is not
            there.
    """
    entry = _entry(group, name)
    folder = folder_of_package(entry.value)
    if folder is None:
        why = f"names {entry.value!r}, which is not the folder of a {_FOLDERS[group]} in a package"
        raise PluginError(f"{_title(entry, group)} {why}; update or remove that package", key=name)
    return folder


def plugin_package(group: str, name: str) -> str:
    """Returns the package of a plug-in, with its version.

    Raises:
        PluginError: no package or several packages have a plug-in of this name.
    """
    return _package(_entry(group, name))


def plugins(own: Mapping[str, Collection[str]]) -> list[_Plugin]:
    """Loads all plug-ins, and returns them with their problems; those of unknown groups are last.

    Args:
        own: group -> names of Fascicle's own objects, which hide plug-ins of the same name.
    """
    installed = [
        _tried(group, entry, own.get(group, ())) for group in _ALL for entry in _entries(group)
    ]
    return installed + [_astray(entry) for entry in _strays()]


def _strays() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    known = {f"fascicle.{group}" for group in _ALL}
    groups = sorted(
        group
        for group in entry_points().groups
        if group.startswith("fascicle.") and group not in known
    )
    return [entry for group in groups for entry in entry_points(group=group)]


def _astray(entry: EntryPoint) -> _Plugin:
    group = entry.group.removeprefix("fascicle.")
    listing = ", ".join(f"fascicle.{group}" for group in _ALL)
    problem = (
        f"{_title(entry, group)} is in the group {entry.group}, which does not exist; "
        f"choose one of {listing}"
    )
    return _Plugin(group=group, name=entry.name, package=_package(entry), problem=problem)


def _tried(group: str, entry: EntryPoint, own: Collection[str]) -> _Plugin:
    problem = ""
    if entry.name in own:
        problem = (
            f"{_title(entry, group)} is hidden by that of Fascicle, which has the same "
            "name; rename it"
        )
    else:
        try:
            _folder(group, entry.name) if group in _FOLDERS else load_plugin(group, entry.name)
        except PluginError as error:
            problem = str(error)
    return _Plugin(group=group, name=entry.name, package=_package(entry), problem=problem)


def _entry(group: str, name: str) -> EntryPoint:
    matches = [entry for entry in _entries(group) if entry.name == name]
    if not matches:
        raise PluginError(
            f"no installed package has {_singular(group)} called {name!r}; install one that has",
            key=name,
        )
    if len(matches) > 1:
        packages = " and ".join(sorted(map(_package, matches)))
        raise PluginError(
            f"{packages} both have {_singular(group)} called {name!r}; remove one of the packages",
            key=name,
        )
    return matches[0]


def _entries(group: str) -> tuple[EntryPoint, ...]:
    return _find(group, tuple(sys.path))


@lru_cache
def _find(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Returns the entry points of a group; cached for each search path, since they may be
    requested for each file.
    """
    # imported late: it takes milliseconds, and few runs need it
    from importlib.metadata import entry_points

    return tuple(
        sorted(
            entry_points(group=f"fascicle.{group}"), key=lambda entry: (entry.name, _package(entry))
        )
    )


def _parts(group: str) -> list[str]:
    return sorted(part for part in vars(GROUPS[group]) if not part.startswith("_"))


def _singular(group: str) -> str:
    return f"a {singular(group)}"


def singular(group: str) -> str:
    """Returns the name of one object of a group, such as ``"reader"``."""
    return f"{group.removesuffix('ies')}y" if group.endswith("ies") else group.removesuffix("s")


def _title(entry: EntryPoint, group: str) -> str:
    return f"the {singular(group)} {entry.name!r} of {_package(entry)}"


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.module
