"""Grid file: recipes to run, with their seeds and machines. It is the plan of a table of results.

::

    name = "span-heads"
    compare = "softmax"                  # the system that the others are paired with; may be left
    out

    [recipe]                             # shared by all cells; a partial recipe file
    [corpora.conll04]                    # overlays, each a partial recipe
    [systems.softmax]
    [variants.rate-1e-4]
    [types]                              # descriptions of the types of a corpus, for the systems
    that read them conll04 = "../../recipes/types/conll04.toml"

    [[run]]
    corpora = ["conll04"]
    systems = ["softmax"]
    variants = ["rate-1e-4"]             # may be left out: the plain system
    seeds = [1, 2]
    tier = "cpu"                         # "smoke", "cpu" or "gpu": the machine that the run is
    meant for

    [[run]]                              # or recipe files, whose seed is replaced
    recipes = ["../../recipes/x.toml"]
    seeds = [1]
    tier = "cpu"

The recipe of a cell is ``[recipe]``, then the corpus, the system and the variant, merged table by
table; the later wins. In every text ``{seed}`` becomes the number of the seed, as in ``start =
"../runs/first/one-plain-s{seed}"``.

A cell has the name ``CORPUS-SYSTEM`` or ``CORPUS-SYSTEM-VARIANT``, its run ``NAME-sSEED``. Reading
checks every cell, before anything runs; the corpora themselves, and the variables in their paths,
matter only to runs that are started.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from fascicle.errors import RecipeError
from fascicle.settings.base import FileName, Natural, locate_error
from fascicle.settings.heads import FILE_VIEWS
from fascicle.settings.recipes.any import AnyRecipe, parse_any, resolve_paths
from fascicle.settings.recipes.strict import field_types, merge_tables, read_toml

_Tier = Literal["smoke", "cpu", "gpu"]
_TIERS: Final[tuple[_Tier, ...]] = ("smoke", "cpu", "gpu")
_REFUSED_KEYS: Final = MappingProxyType(
    {"name": "cells are named after their overlays", "seed": "seeds stand in [[run]]"}
)
_Overlay = dict[str, Any]
_Names = Annotated[tuple[str, ...], Meta(min_length=1)]


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    """Table ``[[run]]`` of a grid file."""

    corpora: _Names | None = None
    systems: _Names | None = None
    variants: _Names | None = None
    recipes: _Names | None = None
    seeds: Annotated[tuple[Natural, ...], Meta(min_length=1)]
    tier: _Tier


class _Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Content of a grid file, before its cells are built."""

    name: FileName
    compare: str = ""
    recipe: _Overlay = {}
    corpora: dict[str, _Overlay] = {}
    systems: dict[str, _Overlay] = {}
    variants: dict[str, _Overlay] = {}
    types: dict[str, str] = {}
    run: Annotated[tuple[_Block, ...], Meta(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class GridRun:
    """Run of a grid: one recipe with one seed.

    Attributes:
        recipe: named and seeded; the paths of its data are as they are written.
        origin: the file that names them.
        tier: the machine it is meant for.
        corpus: name of the overlay; empty for a recipe file, as the next two.
        system: name of the overlay.
        variant: name of the overlay; empty for the plain system.
    """

    recipe: AnyRecipe
    origin: Path
    tier: _Tier
    corpus: str = ""
    system: str = ""
    variant: str = ""

    @property
    def name(self) -> str:
        """Name of the run folder and of the results file: ``RECIPE-sSEED``."""
        return f"{self.recipe.name}-s{self.recipe.seed}"

    def resolved(self) -> AnyRecipe:
        """Returns the recipe with absolute paths of its data.

        Raises:
            RecipeError: an environment variable that is not set.
        """
        return resolve_paths(self.recipe, self.origin)


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Content of a grid file.

    Attributes:
        name: of the grid.
        path: of the file.
        compare: the system that the others are paired with; empty for none.
        runs: in the order of the file, each once.
    """

    name: str
    path: Path
    compare: str
    runs: tuple[GridRun, ...]

    @property
    def results(self) -> Path:
        """Folder of the results: ``results/NAME`` in the grid's folder, or beside it if it is
        named ``grids``.
        """
        folder = self.path.resolve().parent
        return (folder.parent if folder.name == "grids" else folder) / "results" / self.name


def read_grid(path: str | Path) -> Grid:
    """Reads a grid file, and builds and checks every recipe of it.

    Raises:
        RecipeError: one sentence with the file and the place: no such file, not TOML, an unknown
            key or name (the nearest one is given), a wrong type, an unknown recipe file, a recipe
            that is not valid, a cell that is defined twice with different contents.
    """
    path = Path(path)
    plan = _plan(read_toml(path, what="grid"), path)
    for corpus in plan.types:
        if corpus not in plan.corpora:
            raise RecipeError(f"{path}: {_unknown_name('corpus', corpus, plan.corpora)} (types)")
    if plan.compare and plan.compare not in plan.systems:
        raise RecipeError(
            f"{path}: {_unknown_name('system', plan.compare, plan.systems)} (compare)"
        )
    runs = [
        run
        for number, block in enumerate(plan.run, start=1)
        for run in _runs(plan, block, path=path, place=f"[[run]] {number}")
    ]
    once = [
        replace(run, recipe=_for_seed(run.recipe, run.recipe.seed))
        for run in _each_once(runs, path)
    ]
    return Grid(name=plan.name, path=path, compare=plan.compare, runs=tuple(once))


def _plan(values: dict[str, Any], path: Path) -> _Plan:
    """Checks names and types of everything except the recipes."""
    _refuse_keys(values, _Plan, f"{path}: ")
    blocks = values.get("run")
    for number, block in enumerate(blocks if isinstance(blocks, list) else [], start=1):
        if isinstance(block, dict):
            _refuse_keys(block, _Block, f"{path}: [[run]] {number}: ")
    overlays = _overlays(values)
    for place, overlay in overlays.items():
        if not isinstance(overlay, dict) and place != "recipe":
            raise RecipeError(
                f"{path}: {place} = {overlay!r} is not allowed: write a table of a recipe"
            )
    try:
        plan = msgspec.convert(values, _Plan)
    except msgspec.ValidationError as error:
        raise RecipeError(f"{path}: {_explain(error)}") from None
    for place, overlay in overlays.items():
        for key, reason in _REFUSED_KEYS.items():
            if key in overlay:
                raise RecipeError(
                    f"{path}: [{place}]: {key} is not allowed here, for {reason}; take it out"
                )
    return plan


def _overlays(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns all partial recipes of a grid file, by their places, unchecked."""
    overlays = {"recipe": values.get("recipe", {})}
    for kind in ("corpora", "systems", "variants"):
        tables = values.get(kind)
        if isinstance(tables, dict):
            overlays |= {f"{kind}.{name}": overlay for name, overlay in tables.items()}
    return overlays


def _refuse_keys(values: Mapping[str, Any], schema: type[msgspec.Struct], origin: str) -> None:
    allowed = field_types(schema)
    for key in values:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, n=1)
            raise RecipeError(
                f"{origin}unknown key {key}; "
                f"{f'did you mean {near[0]}?' if near else f'allowed are {_list(allowed)}'}"
            )


def _explain(error: msgspec.ValidationError) -> str:
    """Returns the message of msgspec with the place first, and with blocks counted from 1."""
    what, key = locate_error(error)
    what = re.sub(
        r"^Invalid enum value (.*)$", rf"\1 is no tier; give one of {', '.join(_TIERS)}", what
    )
    key = re.sub(r"^run\[(\d+)\]", lambda block: f"[[run]] {int(block[1]) + 1}", key)
    return f"{key}: {what[0].lower()}{what[1:]}".removeprefix(": ")


def _runs(plan: _Plan, block: _Block, *, path: Path, place: str) -> Iterator[GridRun]:
    """Yields the runs of one block."""
    if block.recipes and (block.corpora or block.systems or block.variants):
        raise RecipeError(
            f"{path}: {place}: recipes exclude corpora, systems and variants; make two [[run]] of "
            "it"
        )
    if not block.recipes and not (block.corpora and block.systems):
        raise RecipeError(
            f"{path}: {place}: a run needs corpora and systems, or recipes; give them"
        )
    cells = (
        _of_files(block, path, place)
        if block.recipes
        else _of_overlays(plan, block, path=path, place=place)
    )
    for cell in cells:
        for seed in block.seeds:
            yield replace(cell, recipe=msgspec.structs.replace(cell.recipe, seed=seed))


def _for_seed(value: Any, seed: int) -> Any:
    """Replaces ``{seed}`` by the number of the seed, in a recipe or a value in it."""
    if isinstance(value, str):
        return value.replace("{seed}", str(seed))
    if isinstance(value, tuple):
        return tuple(_for_seed(inner, seed) for inner in value)
    if isinstance(value, dict):
        return {key: _for_seed(inner, seed) for key, inner in value.items()}
    if isinstance(value, msgspec.Struct):
        values = {name: getattr(value, name) for name in value.__struct_fields__}
        changed = {
            name: new for name, old in values.items() if (new := _for_seed(old, seed)) != old
        }
        return msgspec.structs.replace(value, **changed) if changed else value
    return value


def _of_overlays(plan: _Plan, block: _Block, *, path: Path, place: str) -> Iterator[GridRun]:
    for what, names, defined in (
        ("corpus", block.corpora, plan.corpora),
        ("system", block.systems, plan.systems),
        ("variant", block.variants, plan.variants),
    ):
        for name in names or ():
            if name not in defined:
                raise RecipeError(f"{path}: {place}: {_unknown_name(what, name, defined)}")
    for corpus in block.corpora or ():
        for system in block.systems or ():
            for variant in block.variants or ("",):
                overlays = [
                    plan.corpora[corpus],
                    plan.systems[system],
                    plan.variants.get(variant, {}),
                ]
                name = "-".join(filter(None, (corpus, system, variant)))
                values = _with_descriptions(
                    merge_tables(plan.recipe, *overlays, {"name": name}), plan.types.get(corpus, "")
                )
                recipe = parse_any(values, origin=f"{path}: {name}")
                yield GridRun(
                    recipe=recipe,
                    origin=path,
                    tier=block.tier,
                    corpus=corpus,
                    system=system,
                    variant=variant,
                )


def _with_descriptions(values: dict[str, Any], types: str) -> dict[str, Any]:
    """Adds the type descriptions of a corpus to the heads of a cell that read such descriptions
    and name no file.
    """
    return {
        key: {"types": types, **value}
        if types
        and isinstance(value, dict)
        and value.get("type_view") in FILE_VIEWS
        and not value.get("instances")
        else value
        for key, value in values.items()
    }


def _of_files(block: _Block, path: Path, place: str) -> Iterator[GridRun]:
    for name in block.recipes or ():
        file = path.parent / name
        if not file.is_file():
            near = difflib.get_close_matches(
                file.name, [p.name for p in file.parent.glob("*.toml")], n=1
            )
            hint = f"did you mean {Path(name).parent / near[0]}?" if near else "correct the path"
            raise RecipeError(f"{path}: {place}: there is no recipe file {name}; {hint}")
        try:
            recipe = parse_any(read_toml(file, what="recipe"), origin=name)
        except RecipeError as error:
            raise RecipeError(f"{path}: {place}: {error}") from None
        yield GridRun(recipe=recipe, origin=file, tier=block.tier)


def _each_once(runs: Iterable[GridRun], path: Path) -> tuple[GridRun, ...]:
    """Removes repeated runs of several blocks; refuses two contents under one name."""
    cells: dict[str, GridRun] = {}
    unique: dict[str, GridRun] = {}
    for run in runs:
        cell = replace(run, recipe=msgspec.structs.replace(run.recipe, seed=0), tier="cpu")
        name = run.recipe.name
        if cells.setdefault(name, cell) != cell:
            raise RecipeError(
                f"{path}: the cell {name} is defined twice with different contents; rename one of "
                "the two"
            )
        first = unique.setdefault(run.name, run)
        if first.tier != run.tier:
            raise RecipeError(
                f"{path}: {run.name} is asked for in the tiers {first.tier} and {run.tier}; choose "
                "one"
            )
    return tuple(unique.values())


def _unknown_name(what: str, name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.5)
    return (
        f"there is no {what} {name!r}; "
        f"{f'did you mean {near[0]!r}?' if near else f'defined are {_list(names)}'}"
    )


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
