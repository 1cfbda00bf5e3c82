"""Identity of a run: the hash of a recipe over everything that affects its numbers, and nothing
else.

Left out are the name of the recipe, the paths of its data, and every default value, so that a
setting that a later release adds changes no hash. Put in are the contents of corpora, dictionaries
and descriptions of types, as hashes, and the seed. The encoder counts by its name and revision, not
by its files. A changed *default* changes the meaning of recipes that do not set it. The hash treats
the precision ``"bf16"`` as ``"auto"``, and ignores the processor: the results state which
arithmetic was used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from fascicle.errors import OutputError, RecipeError
from fascicle.formats.sources import source_sha256
from fascicle.settings.recipes.any import KINDS, AnyRecipe, recipe_kind
from fascicle.settings.recipes.filter import FilterRecipe
from fascicle.training.corpus import check_data, data_name
from fascicle.training.filter.members import member_sha256

VERSION: Final = 1


def recipe_hash(recipe: AnyRecipe, data: Mapping[str, str]) -> str:
    """Returns the identity of a run, in hexadecimal.

    Args:
        recipe: with its seed.
        data: sha256 of all data that the recipe names, see ``data_hashes``.
    """
    values = changed_values(recipe)
    if values.get("training", {}).get("precision") == "bf16":
        del values["training"]["precision"]
        values = {key: value for key, value in values.items() if key != "training" or value}
    for key in recipe.places():
        _take_out(values, key.split("."))
    settings = {key: value for key, value in values.items() if key not in ("name", "seed")}
    content = {"version": VERSION, "recipe": settings, "seed": recipe.seed, "data": dict(data)}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _take_out(values: dict[str, Any], path: Sequence[str]) -> None:
    """Removes a path of a recipe from its values; for a list of paths, the first one removes
    all.
    """
    first, *rest = path
    if rest and isinstance(values.get(first), dict):
        _take_out(values[first], rest)
    else:
        values.pop(first, None)


def data_hashes(recipe: AnyRecipe, cache: dict[str, str] | None = None) -> dict[str, str]:
    """Returns hashes of all data that affect a run, named as in its ``run.json``: ``"train"``,
    ``"distant.core"``.

    Args:
        recipe: with absolute paths.
        cache: path -> hash of files that were read before; new ones are added, so that a grid reads
            each file once.

    Raises:
        InputError: a file does not exist or cannot be read.
    """
    check_data(recipe)
    cache = {} if cache is None else cache
    hashes = {}
    for key, path in recipe.files().items():
        if isinstance(recipe, FilterRecipe) and key.startswith("members."):
            hashes[key] = member_sha256(Path(path), recipe)
        elif key != "corpus.test" or not isinstance(recipe, FilterRecipe):  # it reads no test part
            hashes[data_name(key)] = (
                cache[path] if path in cache else cache.setdefault(path, source_sha256(path))
            )
    return hashes


def changed_values(recipe: AnyRecipe) -> dict[str, Any]:
    """Returns the values of a recipe that differ from the defaults, in the form of a recipe
    file.
    """
    return _as_in_a_file(_changed(recipe, default=None))


def all_values(recipe: AnyRecipe) -> dict[str, Any]:
    """Returns every value of a recipe in the form of a recipe file, with absolute paths cut to
    their last name.
    """
    values: dict[str, Any] = _as_in_a_file(msgspec.to_builtins(recipe))
    return {key: _without_folders(value) for key, value in values.items()}


def read_run_recipe(folder: Path) -> AnyRecipe:
    """Reads the resolved recipe of a run folder.

    Raises:
        OutputError: it is damaged, or of a release whose settings this one does not know.
    """
    path = folder / "recipe.json"
    try:
        values = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        return msgspec.convert(values, KINDS[recipe_kind(values)])
    except (OSError, msgspec.MsgspecError, RecursionError, RecipeError) as error:
        raise OutputError(
            f"the run folder {folder} holds no recipe that this release can read ({error}); move "
            "it away, or give another folder for the runs"
        ) from None


def _changed(value: msgspec.Struct, *, default: object) -> dict[str, Any]:
    """Returns the fields of a structure that differ from their defaults, and its tag unless that
    is the default.
    """
    tag, result = value.__struct_config__.tag, dict[str, Any]()
    if tag is not None and type(value) is not type(default):
        result[str(value.__struct_config__.tag_field)] = tag
    for field in _fields(type(value)):
        current, usual = getattr(value, field.name), _default(field)
        if current != usual:
            result[field.name] = _plain(current, default=usual)
    return result


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _default(field: msgspec.structs.FieldInfo) -> object:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def _plain(value: object, *, default: object) -> Any:
    match value:
        case msgspec.Struct():
            return _changed(value, default=default)
        case Mapping():
            return {str(key): _plain(inner, default=None) for key, inner in value.items()}
        case tuple() | list():
            return [_plain(inner, default=None) for inner in value]
        case _:
            return value


def _as_in_a_file(values: dict[str, Any]) -> dict[str, Any]:
    """Moves the settings of a head beside the others of its table, as in a recipe file."""
    with_head = {"model", "bundle"}  # and not "parts", one of which may be named "head"
    return {
        key: _with_head_beside(table) if key in with_head and isinstance(table, dict) else table
        for key, table in values.items()
    }


def _with_head_beside(table: dict[str, Any]) -> dict[str, Any]:
    head = table.get("head", {})
    return {key: value for key, value in table.items() if key != "head"} | head


def _without_folders(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_folders(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_without_folders(inner) for inner in value]
        case str() if Path(value).is_absolute():
            return Path(value).name
        case _:
            return value


State = Literal["done", "complete", "interrupted", "new", "waiting", "unable"]


def conflict_message(folder: Path) -> str:
    """Returns the message for a run folder with another recipe or other data."""
    return (
        f"{folder} holds a run of another recipe or of other data than the grid says; move it "
        "away, or give another runs=FOLDER"
    )


def find_run_state(folder: Path, recipe: AnyRecipe, *, own: str) -> State:
    """Determines the state of a run folder; compares its recipe and data hashes with those of the
    recipe.

    Raises:
        OutputError: it is damaged.
    """
    if not (folder / "recipe.json").exists():
        return "new"
    try:
        stored = read_run_recipe(folder)
    except OutputError:
        return "unable"
    facts = json_object(folder / "run.json").get("data")
    # A run that was killed before it had read its corpora has used no data, and will use the
    # current ones.
    data = {name: of["sha256"] for name, of in facts.items()} if facts else data_hashes(recipe)
    if recipe_hash(stored, data) != own:
        return "unable"
    return "complete" if (folder / "scores.json").exists() else "interrupted"


def last_epoch(folder: Path) -> int:
    """Returns the last complete epoch of a run folder; 0 before the first."""
    return max((int(line.get("epoch", 0)) for line in read_metrics(folder)), default=0)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Reads the lines of ``metrics.jsonl`` of a run folder.

    Raises:
        OutputError: it is damaged.
    """
    path = folder / "metrics.jsonl"
    return _objects(path, path.read_bytes().splitlines()) if path.exists() else []


def json_object(path: Path) -> dict[str, Any]:
    """Reads the object in a JSON file of a run folder; empty if the file does not exist.

    Raises:
        OutputError: it holds anything else.
    """
    return _objects(path, [path.read_bytes()])[0] if path.exists() else {}


def _objects(path: Path, texts: Iterable[bytes]) -> list[dict[str, Any]]:
    """Parses the JSON objects of a file of a run folder.

    Raises:
        OutputError: it holds anything else.
    """
    try:
        return [msgspec.json.decode(text, type=dict[str, Any]) for text in texts]
    except msgspec.MsgspecError:
        raise OutputError(
            f"the run folder {path.parent} is damaged: {path.name} is not JSON; move the folder "
            "away to train the run again"
        ) from None
