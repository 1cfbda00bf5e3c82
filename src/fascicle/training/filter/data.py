"""Training data of a filter: examples, in parts that share no document, and batches of them.

The examples come from the predictions of other systems: run folders, with every epoch, and any prediction files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from msgspec import UNSET

from fascicle.core.arrays import Ints
from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.files.source import stem
from fascicle.core.names import near_hint, near_names
from fascicle.core.wording import counted
from fascicle.errors import InputError
from fascicle.evaluation.systems.predictions import PredictionRequest, read_predictions
from fascicle.formats.requests import ReadRequest
from fascicle.formats.sources import source_sha256
from fascicle.models.filter import NAME
from fascicle.runtime.combination.examples import Example, examples
from fascicle.settings.folders.described import file_sha256
from fascicle.settings.recipes.filter import FilterRecipe, FilterSettings
from fascicle.text.marked import Marked, pad_marked
from fascicle.training.engine.loop import Taught
from fascicle.training.recogniser.data import shuffled

Predicted = Mapping[str, Sequence[Mention]]
_EPOCH: Final = re.compile(r"dev-(?:epoch|step)-([0-9]+)\.tsv(?:\.gz)?")
_CHOSEN: Final = ("dev.tsv", "dev.tsv.gz")
ROWS: Final = ("union", "half", "kept")  # names of further rows of scores on the threshold documents


@dataclass(frozen=True, kw_only=True)
class Member:
    """System whose predictions a filter learns from, with its predictions.

    Attributes:
        name: of its folder or file, with a number if several have the same name.
        files: that were read, those of epochs first.
        wrong: predictions that negatives are taken from, one mapping for each file.
        chosen: predictions of its chosen model; ``None`` for cross-fitted predictions.
    """

    name: str
    files: tuple[Path, ...]
    wrong: tuple[Predicted, ...]
    chosen: Predicted | None = None

    def types(self) -> set[str]:
        """Returns the types of all its predictions."""
        return {mention.type for said in self.wrong for mentions in said.values() for mention in mentions}

    @property
    def sha256(self) -> str:
        """Hash of the contents of all files, in order."""
        return _sha256(self.files)


def member_sha256(path: Path, recipe: FilterRecipe) -> str:
    """Returns the hash of a member without reading its predictions: see ``Member.sha256``.

    Raises:
        InputError: a folder that holds no complete run.
    """
    return _sha256(_files_of(path, recipe)[0] if path.is_dir() else (path,))


def _sha256(files: Sequence[Path]) -> str:
    return hashlib.sha256("".join(map(file_sha256, files)).encode()).hexdigest()


def read_members(
    recipe: FilterRecipe, *, dev: Sequence[Document], train: Sequence[Document]
) -> tuple[list[Member], list[Member]]:
    """Reads the members of a recipe: those on dev, and the cross-fitted ones on train.

    Args:
        recipe: that names the members.
        dev: development documents.
        train: training documents.

    Raises:
        InputError: a missing member, a run without epochs or of other data, predictions for other documents or texts,
            or names of types that the gold does not have.
    """
    on_dev = _named_apart([_of_path(path, recipe, dev) for path in recipe.members.dev])
    on_train = [_of_file(Path(path), train, part="train") for path in recipe.members.train]
    types = {mention.type for document in (*train, *dev) for mention in document.layer(GOLD)}
    for member in (*on_dev, *on_train):
        _check_types(member, types, chosen=recipe.corpus.types is not UNSET)
    return on_dev, on_train


def _named_apart(members: Sequence[Member]) -> list[Member]:
    """Returns the members with distinct names, none of which is a name reserved for another row of scores."""
    taken, found = set(ROWS), list[Member]()
    for member in members:
        name, number = member.name, 2
        while name in taken:
            name, number = f"{member.name} ({number})", number + 1
        taken.add(name)
        found.append(replace(member, name=name))
    return found


def _of_path(path: str, recipe: FilterRecipe, dev: Sequence[Document]) -> Member:
    place = Path(path)
    if place.is_file():
        return _of_file(place, dev, part="dev")
    if not place.is_dir():
        raise InputError(f"the member {place} does not exist; give a run folder or a prediction file")
    return _of_run(place, recipe, dev)


def _of_file(path: Path, documents: Sequence[Document], *, part: str) -> Member:
    if path.is_dir():
        raise InputError(f"{path} is a folder; cross-fitted predictions on train are files, for run folders hold none")
    found = _predicted(path, documents, part=part)
    return Member(name=stem(str(path)), files=(path,), wrong=(found,), chosen=found if part == "dev" else None)


def _files_of(folder: Path, recipe: FilterRecipe) -> tuple[tuple[Path, ...], Path]:
    """Returns the prediction files of a run: all that are read, those of epochs first; and that of the chosen model."""
    place = folder / "predictions" if (folder / "predictions").is_dir() else folder
    epochs = sorted((int(found[1]), path) for path in place.iterdir() if (found := _EPOCH.fullmatch(path.name)))
    chosen = next((place / name for name in _CHOSEN if (place / name).is_file()), None)
    if not epochs:
        raise InputError(f"{folder} holds no predictions of epochs (dev-epoch-01.tsv ...); give the folder of a run")
    if chosen is None:
        raise InputError(f"the run in {folder} has no dev.tsv, so it is not complete; finish it with resume=True")
    settings = recipe.members
    kept = {"all": epochs, "last": epochs[-settings.last :], "best": []}[settings.epochs]
    return (*(path for _, path in kept), chosen), chosen


def _of_run(folder: Path, recipe: FilterRecipe, dev: Sequence[Document]) -> Member:
    files, chosen = _files_of(folder, recipe)
    _check_data(folder, recipe)
    best = _predicted(chosen, dev, part="dev")
    wrong = (*(_predicted(path, dev, part="dev") for path in files[:-1]), best)
    if recipe.members.epochs == "last":
        wrong = wrong[:-1]
    return Member(name=folder.name, files=files, wrong=wrong, chosen=best)


def _check_data(folder: Path, recipe: FilterRecipe) -> None:
    """Refuses a run that was scored on other dev data, where its offsets mean nothing; a TSV does not show that."""
    path = folder / "run.json"
    if not path.is_file():
        return
    try:
        data = json.loads(path.read_text(encoding="utf-8"))["data"]
        said = data["dev"]["sha256"] if "dev" in data else None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InputError(f"{path} is damaged ({error!r}); give another run, or its prediction files") from None
    if said is None:
        raise InputError(
            f"the run in {folder} was trained on several parts, so its development data are not those of "
            f"{recipe.corpus.dev}; give runs of this corpus, or files of predictions for it"
        )
    if said != source_sha256(recipe.corpus.dev):
        raise InputError(
            f"the run in {folder} chose on other development data than {recipe.corpus.dev}; give runs of this corpus"
        )


def _predicted(path: Path, documents: Sequence[Document], *, part: str) -> Predicted:
    """Reads the predictions of one file, for documents of this corpus and inside their texts."""
    found = read_predictions(PredictionRequest(path=str(path), reading=ReadRequest(format="predictions")))
    found.check(documents, only=f"the documents of {part}")
    return found.mentions


def _check_types(member: Member, types: set[str], *, chosen: bool) -> None:
    """Refuses a system with other type names, because all of its mentions would be learnt as wrong.

    Args:
        member: a system.
        types: of the gold.
        chosen: whether the recipe chooses or renames types of the corpus; then an unknown type is likely another name.
    """
    used = member.types()
    folded = {name.casefold() for name in types}
    other = sorted(used - types)
    same = [name for name in other if name.casefold() in folded or near_names(name, types - used)]
    if other and (chosen or same or not used & types):
        name = (same or other)[0]
        raise InputError(
            f"{member.name} has the type {name!r}, but the types of the gold are {', '.join(sorted(types))}"
            f"{near_hint(name, types)}; rename it in the predictions, or leave the system out"
        )


_FEWEST = 3  # documents of dev: one to learn from, one to choose the epoch on, one to choose the threshold on


@dataclass(frozen=True, kw_only=True)
class Split:
    """Documents of one part of the corpus, divided by use; no document has two uses.

    Attributes:
        learn: ids of documents to train on.
        held_out: ids of documents on which the epoch is chosen.
        threshold: ids of documents on which the threshold is chosen.
    """

    learn: tuple[str, ...]
    held_out: tuple[str, ...]
    threshold: tuple[str, ...] = ()


def split_documents(identifiers: Sequence[str], settings: FilterSettings, *, seed: int, dev: bool) -> Split:
    """Divides the documents randomly; their order does not matter.

    Args:
        identifiers: of the documents of train or of dev.
        settings: with the shares.
        seed: of the run.
        dev: whether they are of dev; the threshold is chosen on a share of dev.

    Raises:
        InputError: too few documents of dev.
    """
    if dev and len(identifiers) < _FEWEST:
        raise InputError(
            f"dev has {counted(len(identifiers), 'document')}, but a filter needs {_FEWEST} or more: to learn "
            "from, to choose the epoch on, and to choose the threshold on; give more, or smaller documents"
        )
    ordered = sorted(identifiers)
    order = [ordered[at] for at in np.random.default_rng((seed, int(dev), 3)).permutation(len(ordered))]
    wanted = settings.threshold_part if dev and settings.threshold != "half" else 0.0
    least, apart = int(dev), int(wanted > 0)
    held = min(_share(settings.held_out, len(order), least=least), len(order) - least - apart)  # one is left
    chosen = min(_share(wanted, len(order), least=apart), len(order) - held - least)
    return Split(
        learn=tuple(sorted(order[held + chosen :])),
        held_out=tuple(sorted(order[:held])),
        threshold=tuple(sorted(order[held : held + chosen])),
    )


def _share(share: float, count: int, *, least: int) -> int:
    return max(least, round(share * count))


@dataclass(frozen=True, kw_only=True)
class FilterExamples:
    """Documents and examples for a filter, before they are converted to pieces.

    Attributes:
        documents: of train and of dev, by id.
        splits: of both.
        examples: of both, those of the threshold part left out.
    """

    documents: Mapping[str, Mapping[str, Document]]
    splits: Mapping[str, Split]
    examples: Mapping[str, Sequence[Example]]

    def of(self, use: str) -> tuple[list[Document], list[list[Example]]]:
        """Returns the documents of one use, ``"learn"`` or ``"held_out"``, with their examples.

        Args:
            use: a field of ``Split``.
        """
        documents, found = [], []
        for part, split in self.splits.items():
            by_document: dict[str, list[Example]] = {identifier: [] for identifier in getattr(split, use)}
            for example in self.examples[part]:
                if example.document in by_document:
                    by_document[example.document].append(example)
            documents += [self.documents[part][identifier] for identifier in by_document]
            found += list(by_document.values())
        return documents, found


def gather(
    recipe: FilterRecipe,
    *,
    train: Sequence[Document],
    dev: Sequence[Document],
    members: tuple[Sequence[Member], Sequence[Member]],
) -> FilterExamples:
    """Builds the examples of both parts and divides their documents.

    Args:
        recipe: of the filter.
        train: training documents with gold.
        dev: development documents with gold.
        members: on dev, and cross-fitted on train.

    Raises:
        InputError: too few documents of dev.
    """
    parts = {"train": (train, members[1]), "dev": (dev, members[0])}
    splits = {
        name: split_documents([d.id for d in documents], recipe.filter, seed=recipe.seed, dev=name == "dev")
        for name, (documents, _) in parts.items()
    }
    found = {}
    for name, (documents, systems) in parts.items():
        apart = set(splits[name].threshold)
        gold = {d.id: d.layer(GOLD) for d in documents if d.id not in apart}
        found[name] = examples(gold, [said for system in systems for said in system.wrong])
    documents_by_id = {name: {d.id: d for d in documents} for name, (documents, _) in parts.items()}
    return FilterExamples(documents=documents_by_id, splits=splits, examples=found)


@dataclass(frozen=True, kw_only=True)
class FilterSet:
    """Training data of a filter in batches (see ``training.engine.loop.Batches``).

    Attributes:
        inputs: marked mentions.
        labels: 1 for correct, 0 for incorrect, ``[n]``.
        pad: id of the padding piece.
        positives: at most so many correct inputs for each incorrect one; 0 for all.
    """

    inputs: Sequence[Marked]
    labels: Ints
    pad: int
    positives: int = 0

    def __post_init__(self) -> None:
        """Refuses data with a single class.

        Raises:
            InputError: nothing is correct, or nothing incorrect.
        """
        correct = int(self.labels.sum())
        if not correct:
            raise InputError("the documents to learn from hold no gold mention, so the filter has no correct example")
        if correct == len(self.labels):
            raise InputError(
                "the members made no mistake in the documents to learn from, so the filter has no incorrect example; "
                'give predictions of earlier epochs (members.epochs = "all"), of more systems, or cross-fitted ones'
            )

    def batches(self, *, size: int, seed: int, epoch: int, hidden: float = 0.0) -> Iterator[Taught]:
        """Yields one epoch of batches, the same for the same arguments.

        Args:
            size: inputs in a batch.
            seed: determines, with ``epoch``, the order and the drawn correct inputs.
            epoch: from 0.
            hidden: must be 0.

        Yields:
            ``input_ids`` and ``attention_mask``, and the labels.
        """
        assert not hidden, "recipes of filters hide no pieces"
        drawn = self._drawn(np.random.default_rng((seed, epoch, 4)))
        lengths = [len(self.inputs[i].ids) for i in drawn.tolist()]
        for chosen in shuffled(lengths, size=size, seed=(seed, epoch)):
            rows = drawn[chosen]
            batch = pad_marked([self.inputs[i].ids for i in rows.tolist()], pad=self.pad)
            yield {n: torch.from_numpy(a) for n, a in batch.items()}, {NAME: torch.from_numpy(self.labels[rows])}

    def count(self, size: int) -> int:
        """Returns the number of batches in an epoch."""
        return -(-(self._correct + len(self.labels) - int(self.labels.sum())) // size)

    @property
    def _correct(self) -> int:
        """Number of correct inputs in an epoch."""
        correct = int(self.labels.sum())
        return min(correct, self.positives * (len(self.labels) - correct)) if self.positives else correct

    def _drawn(self, chance: np.random.Generator) -> Ints:
        """Returns the inputs of an epoch: all incorrect ones, and as many correct ones as the settings require."""
        correct, incorrect = np.flatnonzero(self.labels), np.flatnonzero(self.labels == 0)
        if self._correct < len(correct):
            correct = chance.choice(correct, size=self._correct, replace=False)
        return np.sort(np.concatenate([correct, incorrect])).astype(np.int64)
