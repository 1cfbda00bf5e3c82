"""A training run of a filter: from a recipe and the predictions of other systems to a folder.

::

    RUN/recipe.json         the resolved recipe
    RUN/run.json            versions, machine, hashes of data and predictions, sizes of the training set
    RUN/split.json          ids of the documents of each part
    RUN/metrics.jsonl       one line per epoch
    RUN/best/               the chosen filter, with its threshold
    RUN/state/              what ``resume`` needs; removed at the end
    RUN/scores.json         how held-out examples were judged, and what is kept on the threshold documents
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fascicle import __version__
from fascicle.core.document import GOLD, Mention
from fascicle.core.wording import counted
from fascicle.errors import RecipeError
from fascicle.models.encoder import Pretrained, load_pretrained
from fascicle.models.filter import Fresh, fresh_filter
from fascicle.recipe.filter import FilterManifest, FilterRecipe
from fascicle.recipe.manifest import TokenizerFacts
from fascicle.text.marked import Form, Marked, candidates_of, encode_candidates
from fascicle.train.corpus import part_sha256
from fascicle.train.environment import describe_environment
from fascicle.train.events import Note
from fascicle.train.filter_data import FilterSet, Material, gather
from fascicle.train.filter_events import FilterEvent
from fascicle.train.filter_members import Member, read_members
from fascicle.train.filter_session import Exam, FilterSession
from fascicle.train.loop import Trainer
from fascicle.train.parts import Parts, read_parts
from fascicle.train.precision import slow_precision
from fascicle.train.run import check_run_folder, check_same_data, start_folder
from fascicle.train.session import write_json
from fascicle.train.start import Start, check_apart, unless_begun
from fascicle.train.state import restore_state

Members = tuple[list[Member], list[Member]]
Inputs = tuple[list[Marked], np.ndarray[Any, np.dtype[np.int64]]]


def run_filter(recipe: FilterRecipe, folder: Path, *, resume: bool = False) -> Iterator[FilterEvent]:
    """Trains a filter, judges held-out examples after every epoch, keeps the best, chooses its threshold.

    Args:
        recipe: what to do.
        folder: of the run; must not exist, unless ``resume``.
        resume: go on after the last complete epoch of an interrupted run of the same recipe.

    Yields:
        Events, in order; the last one is ``FilterFinished``.

    Raises:
        OutputError: the folder exists, or holds no run of this recipe that could be resumed.
        InputError: the corpus or the members cannot be used; see ``train.filter_members``.
        RecipeError: the recipe does not fit the encoder.
        ModelError: the tokenizer has a marker already.
    """
    check_run_folder(folder, recipe, resume=resume)
    check_apart(folder, recipe.files())
    with unless_begun(folder, sign="metrics.jsonl") as start:
        yield from _run(recipe, start, resume=resume)


def _run(recipe: FilterRecipe, start: Start, *, resume: bool) -> Iterator[FilterEvent]:
    folder, started = start.folder, time.perf_counter()
    parts = read_parts(recipe.corpus)
    members = read_members(recipe, dev=parts.dev, train=parts.train)
    material = gather(recipe, train=parts.train, dev=parts.dev, members=members)
    pretrained = load_pretrained(
        recipe.model.encoder, revision=recipe.model.revision, pooler=recipe.model.pool == "cls"
    )
    _check_length(recipe, pretrained)
    torch.manual_seed(recipe.seed)
    weights = (recipe.filter.incorrect_weight, recipe.filter.correct_weight)
    fresh = fresh_filter(pretrained, recipe.model, weights=weights)
    manifest = _manifest(recipe, parts, fresh)
    learn, held = (_inputs(material, use, manifest, fresh) for use in ("learn", "held_out"))
    data = FilterSet(inputs=learn[0], labels=learn[1], pad=fresh.tokenizer.pad, positives=recipe.filter.positives)
    facts = _data_facts(recipe, parts, members)
    if resume:
        check_same_data(folder, facts)
    start_folder(start, recipe, resume=resume)
    trainer = Trainer(fresh.model, data, recipe.training, seed=recipe.seed)
    write_json(folder / "run.json", _run_facts(recipe, data, held, facts) | {"precision": trainer.precision})
    if text := slow_precision(trainer.device, recipe.training):
        yield Note(text=text)
    write_json(folder / "split.json", _split_facts(material))
    yield from (
        Note(text=text)
        for text in (*parts.notes, *fresh.notes, *_strange(parts, members), *_notes(recipe, data, held, material))
    )
    threshold = [material.documents["dev"][identifier] for identifier in material.splits["dev"].threshold]
    exam = Exam(inputs=held[0], labels=held[1], documents=threshold, members=members[0])
    session = FilterSession(folder=folder, recipe=recipe, manifest=manifest, tokenizer=fresh.tokenizer, exam=exam)
    if resume:
        yield from _resumed(folder, session, trainer)
    yield from session.train(trainer)
    yield from session.finish(time.perf_counter() - started)


def _resumed(folder: Path, session: FilterSession, trainer: Trainer) -> Iterator[FilterEvent]:
    """Puts the trainer to where the run was interrupted."""
    if (folder / "state").exists():
        restore_state(folder / "state", trainer)
        session.rewind(trainer.epoch)
        yield Note(text=f"resumed after epoch {trainer.epoch}")
    elif session.is_trained():
        trainer.epoch = trainer.settings.epochs
        yield Note(text="all epochs are there; only the end of the run is made again")
    elif (folder / "metrics.jsonl").exists():
        yield Note(text=f"{folder / 'state'} is not there to go on from: training begins again at the first epoch")


def _check_length(recipe: FilterRecipe, pretrained: Pretrained) -> None:
    if recipe.reading.max_length > pretrained.encoder.longest:
        raise RecipeError(
            f"reading.max_length = {recipe.reading.max_length} is more than the "
            f"{counted(pretrained.encoder.longest, 'piece')} that {recipe.model.encoder} reads; lower it (longer "
            "texts are cropped around the mention)"
        )
    if recipe.model.pool == "cls" and not pretrained.tokenizer.prefix:
        raise RecipeError(
            f'model.pool = "cls" needs a special token before a text, which {recipe.model.encoder} does not have; use '
            '"mean"'
        )


def _manifest(recipe: FilterRecipe, parts: Parts, fresh: Fresh) -> FilterManifest:
    tokenizer = fresh.tokenizer
    return FilterManifest(
        name=recipe.name,
        fascicle=__version__,
        runtime="torch",
        types=parts.types,
        marker_ids=fresh.marker_ids,
        model=recipe.model,
        reading=recipe.reading,
        tokenizer=TokenizerFacts(
            sha256=tokenizer.sha256, prefix=tokenizer.prefix, suffix=tokenizer.suffix, pad=tokenizer.pad
        ),
    )


def _inputs(material: Material, use: str, manifest: FilterManifest, fresh: Fresh) -> Inputs:
    """What the network reads of the examples of one use, and their labels."""
    documents, found = material.of(use)
    reading = manifest.reading
    candidates = [
        candidate
        for document, examples in zip(documents, found, strict=True)
        for candidate in candidates_of(document, _mentions(examples), unit=reading.unit, segmenter=reading.segmenter)
    ]
    start, end = manifest.marker_ids
    form = Form(start=start, end=end, max_length=reading.max_length)
    labels = [int(example.correct) for examples in found for example in examples]
    return encode_candidates(candidates, fresh.tokenizer, form=form), np.array(labels, dtype=np.int64)


def _mentions(examples: Sequence[Any]) -> list[Mention]:
    return [example.mention for example in examples]


def _data_facts(recipe: FilterRecipe, parts: Parts, members: Members) -> dict[str, dict[str, Any]]:
    """Hashes of everything that decides the run, beside the recipe."""
    found: dict[str, dict[str, Any]] = {
        name: {"sha256": part_sha256(path), "documents": len(documents)}
        for name, path, documents in (
            ("train", recipe.corpus.train, parts.train),
            ("dev", recipe.corpus.dev, parts.dev),
        )
    }
    if recipe.corpus.exclude:
        found["exclude"] = {"sha256": part_sha256(recipe.corpus.exclude)}
    for part, listed in zip(("dev", "train"), members, strict=True):
        for at, member in enumerate(listed):
            found[f"members.{part}.{at}"] = {"sha256": member.sha256, "name": member.name, "files": len(member.wrong)}
    return found


def _run_facts(recipe: FilterRecipe, data: FilterSet, held: Inputs, facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "recipe": recipe.name,
        "seed": recipe.seed,
        "data": facts,
        "examples": {"learn": _sizes(data.labels), "held_out": _sizes(held[1])},
        "steps": -(-data.count(recipe.training.batch_size) // recipe.training.accumulation) * recipe.training.epochs,
        "environment": describe_environment(),
    }


def _split_facts(material: Material) -> dict[str, Any]:
    uses = ("learn", "held_out", "threshold")
    return {name: {use: list(getattr(split, use)) for use in uses} for name, split in material.splits.items()}


def _sizes(labels: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, int]:
    correct = int(labels.sum())
    return {"correct": correct, "incorrect": len(labels) - correct}


def _strange(parts: Parts, members: tuple[list[Member], list[Member]]) -> Iterator[str]:
    gold = {mention.type for document in (*parts.train, *parts.dev) for mention in document.layer(GOLD)}
    for member in chain(*members):
        if strange := sorted(member.types() - gold):
            yield (
                f"{member.name} predicts what the gold never has, and all of it is learnt as incorrect: "
                f"{', '.join(strange)}"
            )


def _notes(recipe: FilterRecipe, data: FilterSet, held: Inputs, material: Material) -> Iterator[str]:
    if recipe.corpus.test:
        yield "corpus.test is not read: a filter is chosen on dev; filter predictions on test with combine meta"
    for name, labels in (("to learn", data.labels), ("held out", held[1])):
        sizes = _sizes(labels)
        yield f"examples {name}: {sizes['correct']:,} correct, {sizes['incorrect']:,} incorrect"
    per_epoch = data.count(1)
    if per_epoch < len(data.labels):
        yield f"{per_epoch:,} of {len(data.labels):,} examples are read in an epoch, the correct ones drawn anew"
    threshold = len(material.splits["dev"].threshold)
    if threshold:
        yield f"documents of dev that only the threshold is chosen on: {threshold:,}"
    lost = Counter({"cropped": 0, "cut": 0})
    for one in (*data.inputs, *held[0]):
        lost.update(cropped=one.cropped, cut=one.cut)
    if lost["cropped"]:
        yield f"examples read without some of the text around the mention: {lost['cropped']:,}"
    if lost["cut"]:
        yield f"examples whose mention or type is too long, so that pieces of it are left out: {lost['cut']:,}"
