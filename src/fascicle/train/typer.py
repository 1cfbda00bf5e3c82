"""Training of a span typer: from its recipe to a run folder.

::

    RUN/recipe.json      the resolved recipe
    RUN/run.json         versions, machine, hashes of the data, entity types, what the training text teaches
    RUN/metrics.jsonl    one line per update: the sum of the cross-entropies, and their mean over what is taught
    RUN/model/           the model after the last update
    RUN/scores.json      the model on dev and test
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from fascicle import __version__
from fascicle.core.document import GOLD, Document
from fascicle.core.wording import counted
from fascicle.errors import InputError, OutputError
from fascicle.evaluate.typing import fit_lookup
from fascicle.formats.atomic import atomic_folder, atomic_text_writer
from fascicle.formats.tree import is_there
from fascicle.models.span_typer import SpanTyper, TyperModel, Vocabulary, save_typer
from fascicle.nn.span_reader import count_loss
from fascicle.recipe.manifest import file_sha256
from fascicle.recipe.typer import SpanTyperSettings, TyperManifest, TyperRecipe
from fascicle.text.segment import segmenter
from fascicle.train.corpus import part_sha256
from fascicle.train.environment import describe_environment
from fascicle.train.events import Note
from fascicle.train.parts import read_parts
from fascicle.train.start import Start, unless_begun
from fascicle.train.typer_data import TyperData, typer_data
from fascicle.train.typer_scores import TyperScores, score_typer, training_pairs
from fascicle.vectors.files import cache_beside, read_vectors
from fascicle.vectors.table import StaticVectors


@dataclass(frozen=True, kw_only=True)
class UpdateDone:
    """One step of the optimiser.

    Attributes:
        update: its number, from 1.
        loss: sum of the cross-entropies before it (where negatives are drawn: what it is expected to be).
        mean: the same over the number of spans that are taught.
    """

    update: int
    loss: float
    mean: float


@dataclass(frozen=True, kw_only=True)
class TyperFinished:
    """The end of a run.

    Attributes:
        folder: of the run.
        seconds: of training alone, by the clock.
        cpu_seconds: of training alone, of the processor: the same on a busy machine.
        parts: scores of dev and test, as far as the recipe names them.
    """

    folder: Path
    seconds: float
    cpu_seconds: float
    parts: dict[str, TyperScores]

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        scores = {part: scores.as_dict() for part, scores in self.parts.items()}
        return {"folder": str(self.folder), "training_seconds": self.seconds, "cpu_seconds": self.cpu_seconds, **scores}


def train_typer(network: SpanTyper, data: TyperData, settings: SpanTyperSettings, *, seed: int) -> Iterator[UpdateDone]:
    """Trains in place: each step of Adam has the gradient of the sum over all mentions (§3 of the paper).

    Args:
        network: to train; its vectors stay as they are.
        data: of its types.
        settings: of the training.
        seed: of what is drawn.
    """
    device = network.vectors.device
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    share = data.balance if settings.balance else 1.0
    taught, chance = data.taught.weighed(share).to(device), np.random.default_rng(seed)
    network.train()
    for update in range(1, settings.updates + 1):
        optimiser.zero_grad(set_to_none=True)
        loss = count_loss(network(taught.rows, taught.batch), taught.counts)
        loss.backward()  # type: ignore[no-untyped-call]
        total, weight = loss.item(), float(taught.counts.sum())
        drawn = data.pool.drawn(settings.negatives, chance) if data.pool is not None else None
        if drawn is not None:
            drawn = drawn.weighed(share).to(device)
            loss = count_loss(network(drawn.rows, drawn.batch), drawn.counts)
            loss.backward()  # type: ignore[no-untyped-call]
            total, weight = total + loss.item(), weight + float(drawn.counts.sum())
        optimiser.step()
        yield UpdateDone(update=update, loss=total, mean=total / weight)
    if settings.balance:  # the weight shifts what the logit tends to by its log
        with torch.no_grad():
            network.classify.bias[-1] -= math.log(share)
    network.eval()


def run_typer(recipe: TyperRecipe, folder: Path, *, device: str = "cpu") -> Iterator[Note | UpdateDone | TyperFinished]:
    """Trains and scores a span typer.

    Args:
        recipe: what to do.
        folder: of the run; must not exist.
        device: where to compute.

    Yields:
        Events, in order; the last one is ``TyperFinished``.

    Raises:
        OutputError: the folder exists, or cannot be made.
        InputError: corpus or vectors cannot be read, or there is nothing to learn in them.
    """
    with unless_begun(folder, sign="model") as start:
        yield from _run(recipe, start, device=device)


def _run(recipe: TyperRecipe, start: Start, *, device: str) -> Iterator[Note | UpdateDone | TyperFinished]:
    folder = start.folder
    documents, notes = _documents(recipe)
    if folder.exists():
        raise OutputError(f"the run folder {folder} exists already; choose another")
    vectors = open_vectors(recipe)
    vocabulary = Vocabulary(vectors.words, lowercase=recipe.vectors.lowercase)
    data = typer_data(documents["train"], vocabulary, recipe.typer)
    for part in ("dev", "test"):
        training_pairs(documents[part], segmenter(recipe.typer.segmenter))  # refuses a mention without a word now
    start.make()
    with atomic_text_writer(folder / "recipe.json") as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(recipe)).decode("utf-8"))
    yield from (Note(text=text) for text in (*notes, *notes_of(vectors, data)))
    with atomic_text_writer(folder / "run.json") as stream:
        stream.write(json.dumps(_run_facts(recipe, documents, data), indent=1) + "\n")
    torch.manual_seed(recipe.seed)
    table = torch.from_numpy(np.concatenate([vectors.matrix, vectors.unknown[None]]))
    network = SpanTyper(table, hidden=recipe.typer.hidden, classes=len(data.types) + recipe.typer.nothing).to(device)
    started, before = time.perf_counter(), time.process_time()
    with (folder / "metrics.jsonl").open("w", encoding="utf-8") as stream:
        for event in train_typer(network, data, recipe.typer, seed=recipe.seed):
            stream.write(json.dumps({"update": event.update, "loss": event.loss, "mean": event.mean}) + "\n")
            yield event
    seconds, spent = time.perf_counter() - started, time.process_time() - before
    model = TyperModel(network, vocabulary, _manifest(recipe, vectors, data))
    with atomic_folder(folder / "model", kind="typer") as place:
        save_typer(place, model)
    lookup = fit_lookup(data.pairs)
    parts = {part: score_typer(model, documents[part], lookup) for part in ("dev", "test") if has_gold(documents[part])}
    finished = TyperFinished(folder=folder, seconds=seconds, cpu_seconds=spent, parts=parts)
    with atomic_text_writer(folder / "scores.json") as stream:
        stream.write(json.dumps(finished.as_dict(), indent=1) + "\n")
    yield finished


def has_gold(documents: Iterable[Document]) -> bool:
    """Whether there is a mention to score on."""
    return any(document.layer(GOLD) for document in documents)


def use_threads(count: int) -> None:
    """Limits the CPU threads of everything that is computed from now on."""
    torch.set_num_threads(count)


def open_vectors(recipe: TyperRecipe) -> StaticVectors:
    """The vectors that a recipe names."""
    settings = recipe.vectors
    beside = cache_beside(settings.path)
    cache = None if settings.cache == "none" else Path(settings.cache) if settings.cache else beside
    try:
        return read_vectors(settings.path, dimension=settings.dimension or None, cache=cache)
    except OutputError as error:
        raise OutputError(f'{error} with vectors.cache ("none" keeps no mapped copy)') from None


def notes_of(vectors: StaticVectors, data: TyperData) -> list[str]:
    """What a user should know before training starts."""
    facts = data.facts
    found = vectors.report.sentences()
    if not vectors.unknown_word:
        found.append("the vectors have no row for unknown words: the mean of all rows stands for them")
    if unknown := facts["words_without_vector"]:
        share = unknown / facts["words_in_mentions"]
        found.append(
            f"{unknown:,} of {counted(facts['words_in_mentions'], 'word')} in mentions ({share:.1%}) have no vector"
        )
    if facts["discontinuous"]:
        found.append(
            f"{counted(facts['discontinuous'], 'mention')} of several fragments, each of which is "
            "taught as its own span"
        )
    if lost := facts.get("never_found"):
        found.append(
            f"{lost:,} of {counted(facts['mentions'], 'mention')} can be typed, but never found: they are "
            "discontinuous, longer than width, go beyond their sentence, or cut a word"
        )
    return found


def _documents(recipe: TyperRecipe) -> tuple[dict[str, list[Document]], tuple[str, ...]]:
    """The parts of the corpus, and what reading repaired or left out."""
    for key, path in recipe.corpus.files().items():
        if not is_there(path):
            raise InputError(f"{key} of the recipe is {path}, which does not exist; correct the path")
    parts = read_parts(recipe.corpus)
    return {"train": parts.train, "dev": parts.dev, "test": parts.test}, parts.notes


def _run_facts(recipe: TyperRecipe, documents: Mapping[str, Sequence[Document]], data: TyperData) -> dict[str, Any]:
    hashes = {part: part_sha256(getattr(recipe.corpus, part)) for part, given in documents.items() if given}
    return {
        "recipe": recipe.name,
        "seed": recipe.seed,
        "types": data.types,
        "taught": data.facts,
        "data": {part: {"sha256": value, "documents": len(documents[part])} for part, value in hashes.items()},
        "vectors": {"sha256": file_sha256(Path(recipe.vectors.path))},
        "environment": describe_environment(),
    }


def _manifest(recipe: TyperRecipe, vectors: StaticVectors, data: TyperData) -> TyperManifest:
    return TyperManifest(
        name=recipe.name,
        fascicle=__version__,
        types=data.types,
        settings=recipe.typer,
        dimension=vectors.dimension,
        lowercase=recipe.vectors.lowercase,
        vectors=file_sha256(Path(recipe.vectors.path)),
        unknown=vectors.unknown_word,
    )
