"""Settings of a pipeline: the file ``pipeline.toml``, with one table for each step."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, field

from fascicle.errors import RecipeError
from fascicle.settings.base import FileName, Name, Positive, Settings
from fascicle.settings.choices import Composition
from fascicle.settings.recipes.strict import convert_values, read_toml, resolve_path
from fascicle.settings.steps import STEPS, RecogniserStep, StepSettings

_PIPELINE: Final = "pipeline.toml"


class KnownAnswer(Settings, frozen=True, kw_only=True):
    """A text whose mentions are known; loading the pipeline ends with it.

    Attributes:
        text: the text.
        find: mentions that there must be, each as ``WORDS/TYPE``; there may be others.
    """

    text: Name
    find: tuple[Annotated[str, Meta(pattern="^.+/[^/]+$")], ...]


class Limits(Settings, frozen=True, kw_only=True):
    """What one batch and one worker may cost.

    Attributes:
        batch: characters of text that go through a step together; a longer document goes alone.
        longest: characters of a document; a longer one fails before any step reads it. By default
            there is no limit.
        seconds: wall time of a step for a batch, ...
        seconds_per_million: ... and in addition for each million characters of it.
        start: seconds that a worker has to load the pipeline.
        memory: MiB of its own that a worker may hold; what is mapped from files does not count.
        recycle: a worker is replaced after so many million characters, ...
        growth: ... or when it holds so many MiB more than after its first shard.
        failures: documents in a row that a step may fail at before the run is ended: then the step
            is at fault.
    """

    batch: Positive = 131_072
    longest: Positive | None = None
    seconds: Annotated[float, Meta(gt=0, le=86_400)] = 60.0
    seconds_per_million: Annotated[float, Meta(ge=0, le=86_400)] = 3_600.0
    start: Annotated[float, Meta(gt=0, le=86_400)] = 600.0
    memory: Positive = 4_096
    recycle: Positive = 500
    growth: Positive = 1_024
    failures: Positive = 100


class Shards(Settings, frozen=True, kw_only=True):
    """Upper limits of what is committed together.

    The first shards of a run are smaller, see `fascicle.pipeline.running.plan`.

    Attributes:
        characters: of text in a shard, unless one document is longer.
        documents: in a shard.
    """

    characters: Positive = 4_000_000
    documents: Positive = 2_000


class _Head(Settings, frozen=True, kw_only=True):
    """All of a pipeline but its steps.

    Attributes:
        name: of the pipeline.
        segmenter: what cuts texts into sentences and words, once for all steps, where documents
            have none.
        keep_cut: whether the documents keep this cut.
        given: parts that the documents of the input bring along: ``"mentions"``, ``"sections"``,
            ``"abbreviations"`` or ``"links"``.
        answers: texts with known mentions, tried when the pipeline is loaded.
        limits: what work may cost.
        shards: how much is committed together.
    """

    name: Annotated[FileName, Meta(max_length=100)] = "pipeline"
    segmenter: Name = "rules@1"
    keep_cut: bool = False
    given: tuple[Literal["mentions", "sections", "abbreviations", "links"], ...] = ()
    answers: tuple[KnownAnswer, ...] = ()
    limits: Limits = field(default_factory=Limits)
    shards: Shards = field(default_factory=Shards)


class PipelineSettings(_Head, frozen=True, kw_only=True):
    """A pipeline.

    Attributes:
        folder: of the pipeline, which relative paths begin at.
        steps: kind and settings of each (a `StepSettings` or a `RecogniserStep`), in order.
    """

    folder: str
    steps: tuple[tuple[str, Any], ...]


def read_pipeline(path: str | os.PathLike[str]) -> PipelineSettings:
    """Reads a pipeline.

    Args:
        path: path of a TOML file, or of a folder with a ``pipeline.toml``.

    Raises:
        RecipeError: no such file, not TOML, an unknown kind of step or key, a wrong type, a value
            that is not allowed, two steps with one name.
    """
    place = Path(path).expanduser()
    if place.is_dir():
        place /= _PIPELINE
    values = read_toml(place, what="pipeline")
    tables = values.pop("steps", [])
    if (
        not isinstance(tables, list)
        or not tables
        or not all(isinstance(table, dict) for table in tables)
    ):
        raise RecipeError(
            "there is no step; write a table [[steps]] with its kind for each", at=str(place)
        )
    head = convert_values(values, _Head, origin=str(place))
    steps = tuple(_step(table, number, place) for number, table in enumerate(tables, start=1))
    refuse_duplicate_steps((step.name for _, step in steps if step.name), origin=str(place))
    fields = {name: getattr(head, name) for name in _Head.__struct_fields__}
    return PipelineSettings(**fields, folder=str(place.parent.resolve()), steps=steps)


def is_pipeline(path: str | os.PathLike[str]) -> bool:
    """True for a folder with a ``pipeline.toml``, and for the path of a TOML file, also of one
    that does not exist.
    """
    place = Path(path).expanduser()
    return (place / _PIPELINE).is_file() or (place.suffix == ".toml" and not place.is_dir())


def refuse_duplicate_steps(names: Iterable[str], *, origin: str) -> None:
    """Raises an error if two steps have the same name.

    Raises:
        RecipeError: two steps have the same name.
    """
    earlier: set[str] = set()
    for name in names:
        if name in earlier:
            raise RecipeError(
                f"two steps have the name {name!r}; give each a name of its own",
                at=origin,
                key=name,
            )
        earlier.add(name)


def pipeline_toml(settings: PipelineSettings) -> str:
    """Returns a pipeline as a TOML file, with every default."""
    top, tables = [], []
    for name in _Head.__struct_fields__:
        value = getattr(settings, name)
        if isinstance(value, Settings):
            tables.append(f"\n[{name}]\n{_lines(value)}")
        else:
            top.append(f"{name} = {toml_value(msgspec.to_builtins(value))}\n")
    steps = [f'\n[[steps]]\nkind = "{kind}"\n{_lines(step)}' for kind, step in settings.steps]
    return "".join([*top, *tables, *steps])


def composition_toml(composition: Composition, *, segmenter: str) -> str:
    """Returns a model with the choices of a user as a pipeline of one step.

    Args:
        composition: the model and the choices; only those that differ from the default are written.
        segmenter: of the model.
    """
    name = Path(composition.model[0]).name.partition(".")[0].partition("@")[0]
    model = composition.model if len(composition.model) > 1 else composition.model[0]
    device = {"device": composition.device} if composition.device else {}
    step = {"kind": "recogniser", "model": model, **device, **composition.choices.changed}
    lines = [f"{key} = {toml_value(value)}\n" for key, value in step.items()]
    head = {"name": name, "segmenter": segmenter}
    top = [f"{key} = {toml_value(value)}\n" for key, value in head.items()]
    return "".join([*top, "\n[[steps]]\n", *lines])


def _step(
    table: Mapping[str, Any], number: int, path: Path
) -> tuple[str, StepSettings | RecogniserStep]:
    values = dict(table)
    kind = values.pop("kind", None)
    place = f"steps[{number}]"
    if not isinstance(kind, str) or kind not in STEPS:
        what = (
            f"{place} has no kind"
            if kind is None
            else f"{place}.kind = {kind!r} is not a kind of step"
        )
        raise RecipeError(f"{what}; allowed are {', '.join(STEPS)}", at=str(path), key=place)
    step = convert_values(values, STEPS[kind], origin=str(path), place=place)
    named_by_itself = kind in ("plugin", "process")
    changed: dict[str, Any] = {"name": step.name or ("" if named_by_itself else kind)}
    for key, file in step.places().items():
        at = partial(_place, path=path, key=f"{place}.{key}")
        changed[key] = at(file) if isinstance(file, str) else tuple(map(at, file))
    return kind, msgspec.structs.replace(step, **changed)


def _place(path_or_name: str, *, path: Path, key: str) -> str:
    """Returns a path relative to the folder of the pipeline; a name of a plug-in or of a shipped
    file is kept.
    """
    resolved = resolve_path(path_or_name, path, key=key)
    return (
        resolved
        if "/" in path_or_name or path_or_name.startswith(("$", "~")) or Path(resolved).exists()
        else path_or_name
    )


def _lines(settings: Settings) -> str:
    values = msgspec.to_builtins(settings)
    return "".join(
        f"{key} = {toml_value(value)}\n" for key, value in values.items() if value is not None
    )


def toml_value(value: Any) -> str:
    """Returns a value as TOML, on one line; tables without the keys that are ``None``."""
    if isinstance(value, dict):
        inside = ", ".join(
            f"{toml_value(key)} = {toml_value(item)}"
            for key, item in value.items()
            if item is not None
        )
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return (
        msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    )  # text, numbers and truth values are written as in JSON
