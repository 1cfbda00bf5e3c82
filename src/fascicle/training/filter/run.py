"""Filter runs of the engine: from a recipe and the predictions of other systems to a filter.

::

    RUN/recipe.json         the resolved recipe
    RUN/run.json            versions, machine, hashes of data and predictions, size of train
    RUN/split.json          ids of the documents of each part
    RUN/metrics.jsonl       one line an epoch
    RUN/best/               the chosen filter, with its threshold
    RUN/state/              state for ``resume``; removed at the end
    RUN/scores.json         decisions on held-out examples, and scores of the kept mentions on the
                            threshold documents
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch

from fascicle.core.arrays import Ints, int_array
from fascicle.core.files.atomic import rewritable_folder
from fascicle.core.wording import plural
from fascicle.errors import RecipeError
from fascicle.formats.sources import source_sha256
from fascicle.models.encoder import Pretrained, load_pretrained
from fascicle.models.filter import UntrainedFilter, load_filter_model, make_filter, save_filter
from fascicle.models.model import TorchScorer
from fascicle.runtime.filter import MentionFilter
from fascicle.settings.recipes.filter import FilterManifest, FilterRecipe
from fascicle.text.marked import (
    EncodedMention,
    InputForm,
    MarkedMention,
    encode_candidates,
    make_candidates,
)
from fascicle.training.corpus import Parts, count_mentions, data_name, gold_types
from fascicle.training.engine.events import Ended, KeptModel, Line, Note, Point, Selection
from fascicle.training.engine.loop import Trainer
from fascicle.training.engine.run import Facts, PointResult, Trainee
from fascicle.training.filter.data import FilterExamples, FilterSet, gather
from fascicle.training.filter.judging import (
    Confusion,
    FilterFinished,
    HeldOutData,
    fit_threshold,
    kept_f1,
)
from fascicle.training.filter.members import Member, read_members
from fascicle.training.recogniser.parts import read_parts
from fascicle.version import VERSION

_BEST = "best"
_Inputs = tuple[list[EncodedMention], Ints]


def prepare_filter(recipe: FilterRecipe, folder: Path, before: Mapping[str, Any]) -> _FilterTrainee:
    """Reads the data of a recipe, and builds its filter and its examples.

    Args:
        recipe: of the run.
        folder: of the run.
        before: content of ``run.json`` of the same run; empty if the run is new.

    Raises:
        InputError: the corpus or the members cannot be used; see ``training.filter.data``.
        RecipeError: the recipe does not fit the encoder.
        ModelError: the tokenizer has a marker already.
    """
    sources = _read_sources(recipe)
    fresh = _build_filter(recipe)
    manifest = _manifest(recipe, sources.parts, fresh)
    inputs, labels = _inputs(sources.material, "learn", manifest, fresh)
    data = FilterSet(
        inputs=inputs, labels=labels, pad=fresh.tokenizer.pad, positives=recipe.filter.positives
    )
    held_out = _inputs(sources.material, "held_out", manifest, fresh)
    exam = _held_out_data(recipe, sources, inputs=held_out)
    trainer = Trainer(fresh.model, data, recipe.training, seed=recipe.seed)
    trainer.settle_precision(before.get("precision"))
    return _FilterTrainee(
        folder=folder,
        recipe=recipe,
        manifest=manifest,
        fresh=fresh,
        exam=exam,
        loop=trainer,
        facts=_facts(recipe, sources, fresh, data, exam, trainer),
    )


def _facts(
    recipe: FilterRecipe,
    sources: _Sources,
    fresh: UntrainedFilter,
    data: FilterSet,
    exam: HeldOutData,
    trainer: Trainer,
) -> Facts:
    notes = [*trainer.notes(), *sources.parts.notes, *fresh.notes, *sources.notes()]
    return Facts(
        data=_data_facts(recipe, sources),
        more={
            "examples": {"learn": _sizes(data.labels), "held_out": _sizes(exam.labels)},
            **trainer.facts(),
        },
        notes=[*notes, *_notes(recipe, data, exam)],
        files={"split.json": {n: asdict(split) for n, split in sources.material.splits.items()}},
    )


@dataclass(frozen=True, kw_only=True)
class _Sources:
    """Data of a filter.

    Attributes:
        parts: the corpus.
        dev: predictions of the members on dev.
        train: cross-fitted predictions on train.
        material: examples that they give.
    """

    parts: Parts
    dev: Sequence[Member]
    train: Sequence[Member]
    material: FilterExamples

    def notes(self) -> Iterator[str]:
        """Yields notes on members that predict types which the gold never has."""
        gold = gold_types([*self.parts.train, *self.parts.dev])
        for member in (*self.dev, *self.train):
            if strange := sorted(member.types() - gold):
                yield (
                    f"{member.name} predicts what the gold never has, and all of it is learnt as "
                    f"incorrect: {', '.join(strange)}"
                )


def _read_sources(recipe: FilterRecipe) -> _Sources:
    parts = read_parts(recipe.corpus)
    members = read_members(recipe, dev=parts.dev, train=parts.train)
    material = gather(recipe, train=parts.train, dev=parts.dev, members=members)
    return _Sources(parts=parts, dev=members[0], train=members[1], material=material)


def _build_filter(recipe: FilterRecipe) -> UntrainedFilter:
    """Opens the encoder of a recipe and adds the layers of a filter; seeds torch."""
    pretrained = load_pretrained(
        recipe.model.encoder, revision=recipe.model.revision, pooler=recipe.model.pool == "cls"
    )
    _check_length(recipe, pretrained)
    torch.manual_seed(recipe.seed)
    weights = (recipe.filter.incorrect_weight, recipe.filter.correct_weight)
    return make_filter(pretrained, recipe.model, weights=weights)


def _held_out_data(recipe: FilterRecipe, sources: _Sources, *, inputs: _Inputs) -> HeldOutData:
    """Returns the documents and examples of dev on which the filter is scored.

    Raises:
        RecipeError: the epoch is to be chosen by kept mentions, and no document has any.
    """
    split, documents = sources.material.splits["dev"], sources.material.documents["dev"]
    held_out = [documents[identifier] for identifier in split.held_out]
    if recipe.filter.select == "kept-f1" and not count_mentions(held_out):
        raise RecipeError(
            'filter.select = "kept-f1" needs a gold mention in the held-out documents of dev, '
            'which have none; raise filter.held_out, or choose "accuracy"'
        )
    return HeldOutData(
        inputs=inputs[0],
        labels=inputs[1],
        held_out=held_out,
        documents=[documents[identifier] for identifier in split.threshold],
        members=sources.dev,
    )


@dataclass(kw_only=True, eq=False)
class _FilterTrainee(Trainee):
    """Trainee: a filter, scored on held-out examples, with its threshold chosen at the end; see
    `prepare_filter`.
    """

    folder: Path
    recipe: FilterRecipe
    manifest: FilterManifest
    fresh: UntrainedFilter
    exam: HeldOutData
    loop: Trainer
    facts: Facts

    def __post_init__(self) -> None:
        """Sets the criterion by which the epoch is chosen."""
        aim, training = self.recipe.filter.select, self.recipe.training
        best = KeptModel(folder=_BEST, merit=lambda line: float(line["held_out"][aim]))
        self.choice = Selection.of(
            training, best, aim=f"{aim} on held-out documents for {training.patience_epochs} epochs"
        )

    def judge(self, point: Point) -> PointResult:
        """Scores the held-out examples."""
        scorer = TorchScorer(model=self.fresh.model.eval(), bf16=self.loop.bf16)
        judge = MentionFilter(self.manifest, self.fresh.tokenizer, scorer)
        verdict = Confusion.of(judge.probabilities(self.exam.inputs), self.exam.labels)
        scores = verdict.as_dict()
        figures = f"held-out accuracy {100 * verdict.accuracy:.2f} F1 {100 * verdict.f1:.2f}"
        if self.recipe.filter.select == "kept-f1":
            scores["kept-f1"] = kept_f1(judge, self.exam)
            figures += f", F1 of what is kept {100 * scores['kept-f1']:.2f}"
        return PointResult(lines=[point.line(held_out=scores)], figures=figures)

    def keep(self, place: Path, model: KeptModel) -> None:
        """Writes the folder of the filter."""
        save_filter(place, self.fresh.model, manifest=self.manifest, tokenizer=self.fresh.tokenizer)

    def finish(self, lines: Sequence[Line]) -> Iterator[Note | Ended]:
        """Chooses the threshold for the best epoch."""
        (best,) = lines
        model = load_filter_model(self.folder / _BEST, self.manifest)
        judge = MentionFilter(self.manifest, self.fresh.tokenizer, TorchScorer(model=model))
        facts, scores, note = fit_threshold(judge, self.exam, self.recipe)
        if note:
            yield Note(text=note)
        manifest = msgspec.structs.replace(self.manifest, threshold=facts)
        with rewritable_folder(self.folder / _BEST, kind="run") as place:
            save_filter(place, model, manifest=manifest, tokenizer=self.fresh.tokenizer)
        yield FilterFinished(
            folder=self.folder,
            epoch=best["epoch"],
            held_out=Confusion(
                **{name: best["held_out"][name] for name in ("tp", "fp", "fn", "tn")}
            ),
            threshold=facts,
            scores=scores,
        )


def _check_length(recipe: FilterRecipe, pretrained: Pretrained) -> None:
    if recipe.reading.max_length > pretrained.encoder.longest:
        raise RecipeError(
            f"reading.max_length = {recipe.reading.max_length} is more than the "
            f"{plural(pretrained.encoder.longest, 'piece')} that {recipe.model.encoder} reads; "
            "lower it (longer texts are cropped around the mention)"
        )
    if recipe.model.pool == "cls" and not pretrained.tokenizer.prefix:
        raise RecipeError(
            'model.pool = "cls" needs a special token before a text, which '
            f"{recipe.model.encoder} does not have; use "
            '"mean"'
        )


def _manifest(recipe: FilterRecipe, parts: Parts, fresh: UntrainedFilter) -> FilterManifest:
    return FilterManifest(
        name=recipe.name,
        fascicle=VERSION,
        runtime="torch",
        types=parts.types,
        marker_ids=fresh.marker_ids,
        model=recipe.model,
        reading=recipe.reading,
        tokenizer=fresh.tokenizer.facts,
    )


def _inputs(
    material: FilterExamples, use: str, manifest: FilterManifest, fresh: UntrainedFilter
) -> _Inputs:
    """Returns the inputs of the network for the examples of one use, and their labels."""
    documents, groups = material.of(use)
    reading = manifest.reading
    candidates = list[MarkedMention]()
    for document, examples in zip(documents, groups, strict=True):
        mentions = [example.mention for example in examples]
        candidates += make_candidates(
            document, mentions, unit=reading.unit, segmenter=reading.segmenter
        )
    start, end = manifest.marker_ids
    form = InputForm(start=start, end=end, max_length=reading.max_length)
    labels = [int(example.correct) for examples in groups for example in examples]
    return encode_candidates(candidates, fresh.tokenizer, form=form), int_array(labels)


def _data_facts(recipe: FilterRecipe, sources: _Sources) -> dict[str, dict[str, Any]]:
    """Returns hashes of everything that affects the run, beside the recipe."""
    facts: dict[str, dict[str, Any]] = {
        name: {"sha256": source_sha256(path), "documents": len(documents)}
        for name, path, documents in (
            ("train", recipe.corpus.train, sources.parts.train),
            ("dev", recipe.corpus.dev, sources.parts.dev),
        )
    }
    files = recipe.corpus.files()
    for key in files.keys() & {"corpus.exclude", "corpus.labels"}:
        facts[data_name(key)] = {"sha256": source_sha256(files[key])}
    for part, members in (("dev", sources.dev), ("train", sources.train)):
        for at, member in enumerate(members):
            facts[f"members.{part}.{at}"] = {
                "sha256": member.sha256,
                "name": member.name,
                "files": len(member.wrong),
            }
    return facts


def _sizes(labels: Ints) -> dict[str, int]:
    correct = int(labels.sum())
    return {"correct": correct, "incorrect": len(labels) - correct}


def _notes(recipe: FilterRecipe, data: FilterSet, exam: HeldOutData) -> Iterator[str]:
    if recipe.corpus.test:
        yield (
            "corpus.test is not read: a filter is chosen on dev; filter predictions on test with "
            "combine meta"
        )
    for name, labels in (("to learn", data.labels), ("held out", exam.labels)):
        sizes = _sizes(labels)
        yield f"examples {name}: {sizes['correct']:,} correct, {sizes['incorrect']:,} incorrect"
    per_epoch = data.count(1)
    if per_epoch < len(data.labels):
        yield (
            f"{per_epoch:,} of {len(data.labels):,} examples are read in an epoch, the correct "
            "ones drawn anew"
        )
    if exam.documents:
        yield f"documents of dev that only the threshold is chosen on: {len(exam.documents):,}"
    examples = [*data.inputs, *exam.inputs]
    if cropped := sum(example.cropped for example in examples):
        yield f"examples read without some of the text around the mention: {cropped:,}"
    if cut := sum(example.cut for example in examples):
        yield (
            "examples whose mention or type is too long, so that pieces of it are left out: "
            f"{cut:,}"
        )
