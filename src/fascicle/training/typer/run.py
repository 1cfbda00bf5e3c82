"""Span typer runs of the engine: from a recipe to a run folder.

::

    RUN/recipe.json      the resolved recipe
    RUN/run.json         versions, machine, hashes of the data, entity types, counts of the training
    spans RUN/metrics.jsonl    one line per update: the sum of the cross-entropies, and their mean
    over the taught spans RUN/model/           the model after the last update
    RUN/state/           state for ``resume``; removed at the end
    RUN/scores.json      the model on dev and test
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch.optim import Optimizer

from fascicle.core.document import GOLD, Document
from fascicle.core.files.atomic import rewritable_folder
from fascicle.core.wording import plural
from fascicle.errors import OutputError
from fascicle.evaluation.scoring.typing import TypeLookup, fit_lookup
from fascicle.models.nn.span_reader import count_loss
from fascicle.models.nn.tensors import TensorDict
from fascicle.models.span_typer import SpanTyper, TyperModel, WordVocabulary, save_typer
from fascicle.settings.folders.described import file_sha256
from fascicle.settings.recipes.typer import SpanTyperSettings, TyperManifest, TyperRecipe
from fascicle.text.segment import SurfaceReader, segmenter
from fascicle.text.vectors import StaticVectors, cache_folder, read_vectors
from fascicle.training.corpus import data_facts
from fascicle.training.engine.events import Ended, KeptModel, Line, Point, Selection
from fascicle.training.engine.loop import EpochDone, Loop, StepDone, finite_loss
from fascicle.training.engine.run import Facts, PointResult, Trainee
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.typer.data import TrainingSpans, TyperData, training_pairs, typer_data
from fascicle.training.typer.scores import TyperScores, score_typer
from fascicle.version import VERSION

_EVERY: Final = 50  # updates between two states for resuming


@dataclass(frozen=True, kw_only=True)
class UpdateDone(StepDone):
    """Event: one step of the optimiser; its loss is a sum (the expected sum where negatives are
    drawn).

    Attributes:
        mean: the loss over the number of spans that are taught.
    """

    mean: float


@dataclass(frozen=True, kw_only=True)
class TyperFinished(Ended):
    """Event: the end of a run.

    Attributes:
        seconds: of training alone, by the clock.
        cpu_seconds: of training alone, of the processor: the same on a busy machine.
        parts: scores of dev and test, as far as the recipe names them.
    """

    seconds: float
    cpu_seconds: float
    parts: dict[str, TyperScores]

    def as_dict(self) -> dict[str, Any]:
        """See ``Ended``."""
        scores = {part: scores.as_dict() for part, scores in self.parts.items()}
        return {"training_seconds": self.seconds, "cpu_seconds": self.cpu_seconds, **scores}


class TyperLoop(Loop):
    """Training loop of a span typer: each step of Adam has the gradient of the sum over all
    mentions (§3 of the paper).

    It is one epoch of many updates. It differs from ``loop.Trainer`` in that losses are sums, not
    means over batches.
    """

    model: SpanTyper

    def __init__(
        self, network: SpanTyper, data: TyperData, settings: SpanTyperSettings, *, seed: int
    ) -> None:
        """Prepares training.

        Args:
            network: to train in place; its vectors stay as they are.
            data: of its types.
            settings: of the training.
            seed: of the random draws.
        """
        self.model = network
        self.device = network.vectors.device
        self.optimizer: Optimizer = torch.optim.Adam(
            network.parameters(), lr=settings.learning_rate
        )
        self.epochs = 1
        self.steps = self.steps_per_epoch = settings.updates
        self.seconds, self.cpu_seconds = 0.0, 0.0
        self._data = data
        self._settings = settings
        self._share = data.balance if settings.balance else 1.0
        self._chance = np.random.default_rng(seed)

    def run(self) -> Iterator[StepDone | EpochDone]:
        """Trains to the last update."""
        taught = self._data.taught.weighed(self._share).to(self.device)
        self.model.train()
        while self.step < self.steps:
            started, before = time.perf_counter(), time.process_time()
            event = self._update(taught)
            self.seconds += time.perf_counter() - started
            self.cpu_seconds += time.process_time() - before
            yield event
        if self.epoch == 0:
            self.epoch = 1
            yield EpochDone(epoch=1)

    def _update(self, taught: TrainingSpans) -> UpdateDone:
        self.optimizer.zero_grad(set_to_none=True)
        loss = count_loss(self.model(taught.rows, taught.batch), taught.counts)
        loss.backward()  # type: ignore[no-untyped-call]
        total, weight = loss.item(), float(taught.counts.sum())
        pool = self._data.pool
        drawn = pool.drawn(self._settings.negatives, self._chance) if pool is not None else None
        if drawn is not None:
            drawn = drawn.weighed(self._share).to(self.device)
            loss = count_loss(self.model(drawn.rows, drawn.batch), drawn.counts)
            loss.backward()  # type: ignore[no-untyped-call]
            total, weight = total + loss.item(), weight + float(drawn.counts.sum())
        self.optimizer.step()
        self.step += 1
        finite_loss(total, step=self.step)
        return UpdateDone(step=self.step, loss=total, mean=total / weight)

    def trained(self) -> SpanTyper:
        """Returns the network for use: without the log of its weight in the logit of "no
        mention".
        """
        if self._settings.balance:
            with torch.no_grad():
                self.model.classify.bias[-1] -= math.log(self._share)
        return self.model.eval()

    def extra_state(self) -> tuple[TensorDict, dict[str, Any]]:
        """Returns the state of the random generator, and the time that was spent."""
        spent = {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        return {}, {"chance": self._chance.bit_generator.state, **spent}

    def take_extra_state(self, tensors: TensorDict, numbers: dict[str, Any]) -> None:
        """Restores ``extra_state``."""
        del tensors
        self._chance.bit_generator.state = numbers["chance"]
        self.seconds, self.cpu_seconds = numbers["seconds"], numbers["cpu_seconds"]


def prepare_typer(
    recipe: TyperRecipe, folder: Path, before: Mapping[str, Any], *, device: str = "cpu"
) -> TyperTrainee:
    """Reads the data of a recipe and builds its network.

    Args:
        recipe: of the run.
        folder: of the run.
        before: content of ``run.json`` of the same run; not used.
        device: of torch.

    Raises:
        InputError: corpus or vectors cannot be read, or there is nothing to learn in them.
        OutputError: the mapped copy of the vectors cannot be written.
    """
    del before
    parts = read_parts(recipe.corpus)
    documents = {"train": parts.train, "dev": parts.dev, "test": parts.test}
    vectors = _open_vectors(recipe)
    vocabulary = WordVocabulary(vectors.words, lowercase=recipe.vectors.lowercase)
    data = typer_data(parts.train, vocabulary, recipe.typer)
    rules = segmenter(recipe.typer.segmenter)
    # refuses a mention without a word early
    training_pairs(SurfaceReader(document, rules) for document in (*parts.dev, *parts.test))
    network = _build_network(recipe, vectors, classes=len(data.types) + recipe.typer.nothing)
    return TyperTrainee(
        folder=folder,
        loop=TyperLoop(network.to(device), data, recipe.typer, seed=recipe.seed),
        manifest=_manifest(recipe, vectors, data),
        vocabulary=vocabulary,
        documents=documents,
        lookup=fit_lookup(data.pairs),
        facts=_facts(recipe, documents, data, notes=(*parts.notes, *_notes_of(vectors, data))),
    )


def _build_network(recipe: TyperRecipe, vectors: StaticVectors, *, classes: int) -> SpanTyper:
    """Builds a fresh network; seeds torch."""
    torch.manual_seed(recipe.seed)
    table = torch.from_numpy(np.concatenate([vectors.matrix, vectors.unknown[None]]))
    return SpanTyper(table, hidden=recipe.typer.hidden, classes=classes)


@dataclass(kw_only=True, eq=False)
class TyperTrainee(Trainee):
    """Trainee: a span typer; no choice is made on dev, and the final model counts; see
    `prepare_typer`.
    """

    folder: Path
    loop: TyperLoop
    manifest: TyperManifest
    vocabulary: WordVocabulary
    documents: Mapping[str, Sequence[Document]]
    lookup: TypeLookup
    facts: Facts
    choice = Selection(every=_EVERY)

    def judge(self, point: Point) -> PointResult:
        """Reports the losses, without scoring."""
        events = [event for event in point.events if isinstance(event, UpdateDone)]
        lines = [{"update": event.step, "loss": event.loss, "mean": event.mean} for event in events]
        return PointResult(lines=lines, figures=f"mean loss {events[-1].mean:.4f}")

    def keep(self, place: Path, model: KeptModel) -> None:
        """Raises an error, since no model is kept before the end."""
        raise AssertionError(model.folder)

    def finish(self, lines: Sequence[Line]) -> Iterator[Ended]:
        """Writes the model and scores it."""
        model = TyperModel(self.loop.trained(), self.vocabulary, self.manifest)
        with rewritable_folder(self.folder / "model", kind="typer") as place:
            save_typer(place, model)
        parts = {
            part: score_typer(model, documents, self.lookup)
            for part, documents in self.documents.items()
            if part != "train" and any(document.layer(GOLD) for document in documents)
        }
        yield TyperFinished(
            folder=self.folder,
            seconds=self.loop.seconds,
            cpu_seconds=self.loop.cpu_seconds,
            parts=parts,
        )


def _open_vectors(recipe: TyperRecipe) -> StaticVectors:
    """Opens the vectors that a recipe names."""
    settings = recipe.vectors
    beside = cache_folder(settings.path)
    cache = None if settings.cache == "none" else Path(settings.cache) if settings.cache else beside
    try:
        return read_vectors(settings.path, dimension=settings.dimension or None, cache=cache)
    except OutputError as error:
        raise OutputError(f'{error} with vectors.cache ("none" keeps no mapped copy)') from None


def _notes_of(vectors: StaticVectors, data: TyperData) -> list[str]:
    """Returns notes for the user before training starts."""
    facts = data.facts
    notes = vectors.report.sentences()
    if not vectors.unknown_word:
        notes.append(
            "the vectors have no row for unknown words: the mean of all rows stands for them"
        )
    if unknown := facts["words_without_vector"]:
        share = unknown / facts["words_in_mentions"]
        notes.append(
            f"{unknown:,} of {plural(facts['words_in_mentions'], 'word')} in mentions "
            f"({share:.1%}) have no vector"
        )
    if facts["discontinuous"]:
        notes.append(
            f"{plural(facts['discontinuous'], 'mention')} of several fragments, each of which is "
            "taught as its own span"
        )
    if missed := facts.get("never_found"):
        notes.append(
            f"{missed:,} of {plural(facts['mentions'], 'mention')} can be typed, but never found: "
            "they are discontinuous, longer than width, go beyond their sentence, or cut a word"
        )
    return notes


def _facts(
    recipe: TyperRecipe,
    documents: Mapping[str, Sequence[Document]],
    data: TyperData,
    *,
    notes: Iterable[str],
) -> Facts:
    files = data_facts(
        recipe, {part: {"documents": len(of_part)} for part, of_part in documents.items()}
    )
    return Facts(
        data=files,
        more={
            "types": data.types,
            "taught": data.facts,
            "steps": recipe.typer.updates,
        },
        notes=notes,
    )


def _manifest(recipe: TyperRecipe, vectors: StaticVectors, data: TyperData) -> TyperManifest:
    return TyperManifest(
        name=recipe.name,
        fascicle=VERSION,
        types=data.types,
        settings=recipe.typer,
        dimension=vectors.dimension,
        lowercase=recipe.vectors.lowercase,
        vectors=file_sha256(Path(recipe.vectors.path)),
        unknown=vectors.unknown_word,
    )
