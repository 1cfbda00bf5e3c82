"""A training run: from a recipe to a folder that holds everything it gave.

::

    RUN/recipe.json         the resolved recipe
    RUN/run.json            versions, machine, hashes of the data, entity types, what the model cannot represent
    RUN/metrics.jsonl       one line each time that dev was scored: after every epoch, or every few steps
    RUN/predictions/        dev-epoch-01.tsv ... or dev-step-000050.tsv ..., dev.tsv, test.tsv: text-free
    RUN/best/               the chosen model; of a bundle, that of the answering head
    RUN/best-HEAD/          of a bundle, the model that is best for its other head; so for predictions: dev.HEAD.tsv ...
    RUN/state/              what ``resume`` needs; removed at the end
    RUN/scores.json         the chosen model on dev and test
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import torch

from fascicle.errors import OutputError, RecipeError
from fascicle.formats.atomic import atomic_text_writer
from fascicle.models.encoder import load_pretrained
from fascicle.recipe.base import Settings
from fascicle.recipe.settings import Recipe
from fascicle.recipe.types import read_types
from fascicle.text.segment import SEGMENTERS
from fascicle.train.data import TrainingSet
from fascicle.train.distant import weak_labels
from fascicle.train.environment import describe_environment
from fascicle.train.events import Note, RunEvent
from fascicle.train.loop import Trainer
from fascicle.train.parts import Parts, read_parts, representable
from fascicle.train.precision import slow_precision
from fascicle.train.prepare import check_encoder, prepare
from fascicle.train.session import Session, write_json
from fascicle.train.start import Start, check_apart, unless_begun
from fascicle.train.state import restore_state

_NAMES = MappingProxyType(
    {f"distant.{name}": "the dictionary" for name in ("core", "full")}
    | {"exclude": "the exclusion list"}
    | {f"{table}.types": "the description of the types" for table in ("model", "bundle")}
)


def run_recipe(recipe: Recipe, folder: Path, *, resume: bool = False) -> Iterator[RunEvent]:
    """Trains, scores on dev after every epoch or every few steps, keeps the chosen model, scores it on test.

    Args:
        recipe: what to do.
        folder: of the run; must not exist, unless ``resume``.
        resume: go on where dev was scored last in an interrupted run of the same recipe: after its last complete epoch,
            or after a step.

    Yields:
        Events, in order; the last one is ``Finished``.

    Raises:
        OutputError: the folder exists, or holds no run of this recipe that could be resumed.
        InputError: corpus or dictionary cannot be read, or the corpus holds no mentions.
        RecipeError: the recipe does not fit encoder or corpus, or its descriptions of types do not.
    """
    check_run_folder(folder, recipe, resume=resume)
    check_apart(folder, recipe.files())
    with unless_begun(folder, sign="metrics.jsonl") as start:
        yield from _run(recipe, start, resume=resume)


def _run(recipe: Recipe, start: Start, *, resume: bool) -> Iterator[RunEvent]:
    folder = start.folder
    _check_names(recipe)
    for key, path in recipe.files().items():
        if key.endswith(".types"):
            read_types(path)  # what is wrong with it is said before a corpus is read
    started = time.perf_counter()
    parts = read_parts(recipe.corpus, weak_labels(recipe))
    pretrained = load_pretrained(recipe.model.encoder, revision=recipe.model.revision)
    check_encoder(recipe, pretrained)
    torch.manual_seed(recipe.seed)
    prepared = prepare(recipe, parts, pretrained)
    start_folder(start, recipe, resume=resume)
    manifest, model, data = prepared.manifest, prepared.model, prepared.data
    yield from (Note(text=text) for text in (*prepared.notes, *_untrained(recipe)))
    for text in (*parts.notes, *representable(parts, data, recipe, pretrained.tokenizer)):
        yield Note(text=text)
    facts = parts.facts(recipe)
    if resume:
        check_same_data(folder, facts)
    trainer = Trainer(model, data, recipe.training, seed=recipe.seed)
    write_json(folder / "run.json", _facts(recipe, parts, data, facts) | {"precision": trainer.precision})
    if text := slow_precision(trainer.device, recipe.training):
        yield Note(text=text)
    session = Session(
        folder=folder, recipe=recipe, manifest=manifest, tokenizer=pretrained.tokenizer, model=model, parts=parts
    )
    if resume and (folder / "state").exists():
        restore_state(folder / "state", trainer)
        session.rewind(epoch=trainer.epoch, step=trainer.step)
        by_steps = recipe.training.validate_every_steps
        yield Note(text=f"resumed after {f'step {trainer.step}' if by_steps else f'epoch {trainer.epoch}'}")
    elif resume and session.is_trained(trainer):
        trainer.epoch, trainer.step = recipe.training.epochs, trainer.steps
        yield Note(text="all epochs are there; only the end of the run is made again")
    elif resume and (folder / "metrics.jsonl").exists():
        yield Note(text=f"{folder / 'state'} is not there to go on from: training begins again at the first epoch")
    yield from session.train(trainer)
    yield session.finish(time.perf_counter() - started)


def check_run_folder(folder: Path, recipe: Settings, *, resume: bool) -> None:
    """Refuses a folder that holds anything but the run to resume.

    Args:
        folder: of the run.
        recipe: of the run.
        resume: whether it is to go on.

    Raises:
        OutputError: see ``run_recipe``.
    """
    if not folder.exists():
        if resume:
            raise OutputError(f"there is no run at {folder} to resume; name its folder with -o")
        return
    if not resume:
        raise OutputError(f"the run folder {folder} exists already; choose another, or continue it with resume=True")
    resolved = folder / "recipe.json"
    if not resolved.is_file():
        raise OutputError(f"{folder} holds no run to resume; choose another folder")
    if not _is_of(resolved, recipe):
        raise OutputError(f"the run in {folder} was started from another recipe; resume it with its own")
    if (folder / "scores.json").exists():
        raise OutputError(f"the run in {folder} is complete; choose another folder for a new one")


def _is_of(resolved: Path, recipe: Settings) -> bool:
    """Whether a run has this recipe; settings that came later stand at their defaults in those of earlier releases."""
    try:
        return msgspec.json.decode(resolved.read_bytes(), type=type(recipe)) == recipe
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


def start_folder(start: Start, recipe: Settings, *, resume: bool) -> None:
    """Makes the folder of a run and writes its recipe.

    Args:
        start: of the folder.
        recipe: of the run.
        resume: whether the folder may be there.

    Raises:
        OutputError: it is there, or the place cannot be written.
    """
    start.make(resume=resume)
    (start.folder / "predictions").mkdir(exist_ok=True)
    with atomic_text_writer(start.folder / "recipe.json", overwrite=True) as stream:
        stream.write(recipe_text(recipe))


def recipe_text(recipe: Settings) -> str:
    """The content of ``recipe.json``, by which the run of a recipe is known."""
    return msgspec.json.format(msgspec.json.encode(recipe)).decode("utf-8")


def _untrained(recipe: Recipe) -> Iterator[str]:
    """A sentence where the head that answers takes no part in the loss."""
    if recipe.weights()[recipe.answer()] == 0:
        yield (
            f"the head {recipe.answer()!r} answers and has the weight 0: it learns nothing, and its scores are chance; "
            "set bundle.answer to the other head, or another bundle.weight"
        )


def _check_names(recipe: Recipe) -> None:
    """Refuses names of parts that this release does not have."""
    given = recipe.reading.segmenter
    if given not in SEGMENTERS:
        allowed = ", ".join(map(repr, SEGMENTERS))
        raise RecipeError(f"reading.segmenter = {given!r} is not allowed: allowed are {allowed}")


def check_same_data(folder: Path, facts: Mapping[str, Any]) -> None:
    """Refuses to go on with other data than the run began with.

    Args:
        folder: of the run.
        facts: name of the data -> what is known of them, with ``sha256``.

    Raises:
        OutputError: their hashes differ.
    """
    path = folder / "run.json"
    before = json.loads(path.read_text(encoding="utf-8"))["data"] if path.is_file() else facts
    then, now = ({name: of["sha256"] for name, of in data.items()} for data in (before, facts))
    other = {name for name in then | now if then.get(name) != now.get(name)}
    if other:
        what = sorted({_name_of(name) for name in other})
        verb = "has" if len(what) == 1 else "have"
        raise OutputError(f"{' and '.join(what)} {verb} changed since the run in {folder} began; start a new run")


def _name_of(data: str) -> str:
    """What a user calls some data."""
    return "predictions of members" if data.startswith("members.") else _NAMES.get(data, "the corpus")


def _facts(recipe: Recipe, parts: Parts, data: TrainingSet, of_data: dict[str, Any]) -> dict[str, Any]:
    return {
        "recipe": recipe.name,
        "seed": recipe.seed,
        "types": parts.types,
        "data": of_data,
        "not_representable": {name: dict(reasons) for name, reasons in data.lost.items()},
        "windows": len(data.windows),
        "environment": describe_environment(),
    }
