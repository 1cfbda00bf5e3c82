"""What the systems before a filter predicted: run folders, with every epoch, and prediction
files of anybody.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from msgspec import UNSET

from fascicle.core.document import Document, MentionsById
from fascicle.core.files.source import stem
from fascicle.core.wording import near_hint, near_names
from fascicle.errors import InputError
from fascicle.evaluation.systems.predictions import PredictionRequest, read_predictions
from fascicle.formats.requests import ReadRequest
from fascicle.formats.sources import source_sha256
from fascicle.settings.folders.described import file_sha256
from fascicle.settings.recipes.filter import FilterRecipe
from fascicle.training.corpus import gold_types

_EPOCH: Final = re.compile(r"dev-(?:epoch|step)-([0-9]+)\.tsv(?:\.gz)?")


_CHOSEN: Final = ("dev.tsv", "dev.tsv.gz")


# names of further rows of scores on the threshold documents
ROWS: Final = ("union", "half", "kept")


@dataclass(frozen=True, kw_only=True)
class Member:
    """System whose predictions a filter learns from, with its predictions.

    Attributes:
        name: of its folder or file, with a number if several have the same name.
        files: the files that were read, those of epochs first.
        wrong: predictions that negatives are taken from, one mapping for each file.
        best: predictions of its chosen model; ``None`` for cross-fitted predictions.
    """

    name: str
    files: tuple[Path, ...]
    wrong: tuple[MentionsById, ...]
    best: MentionsById | None = None

    def types(self) -> set[str]:
        """Returns the types of all its predictions."""
        return {
            mention.type
            for predictions in self.wrong
            for mentions in predictions.values()
            for mention in mentions
        }

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
        recipe: the recipe that names the members.
        dev: development documents.
        train: training documents.

    Raises:
        InputError: a missing member, a run without epochs or of other data, predictions for other
            documents or texts, or names of types that the gold does not have.
    """
    on_dev = _with_distinct_names([_read_member(path, recipe, dev) for path in recipe.members.dev])
    on_train = [_read_file(Path(path), train, part="train") for path in recipe.members.train]
    types = gold_types([*train, *dev])
    for member in (*on_dev, *on_train):
        _check_types(member, types, selected=recipe.corpus.types is not UNSET)
    return on_dev, on_train


def _with_distinct_names(members: Sequence[Member]) -> list[Member]:
    """Returns the members with distinct names, none of which is a name reserved for another row
    of scores.
    """
    names, renamed = set(ROWS), list[Member]()
    for member in members:
        name, number = member.name, 2
        while name in names:
            name, number = f"{member.name} ({number})", number + 1
        names.add(name)
        renamed.append(replace(member, name=name))
    return renamed


def _read_member(path: str, recipe: FilterRecipe, dev: Sequence[Document]) -> Member:
    place = Path(path)
    if place.is_file():
        return _read_file(place, dev, part="dev")
    if not place.is_dir():
        raise InputError(
            f"the member {place} does not exist; give a run folder or a prediction file"
        )
    return _read_run(place, recipe, dev)


def _read_file(path: Path, documents: Sequence[Document], *, part: str) -> Member:
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; cross-fitted predictions on train are files, for run folders "
            "hold none"
        )
    predictions = _read_predictions(path, documents, part=part)
    return Member(
        name=stem(str(path)),
        files=(path,),
        wrong=(predictions,),
        best=predictions if part == "dev" else None,
    )


def _files_of(folder: Path, recipe: FilterRecipe) -> tuple[tuple[Path, ...], Path]:
    """Returns the prediction files of a run: all that are read, those of epochs first; and that
    of the chosen model.
    """
    place = folder / "predictions" if (folder / "predictions").is_dir() else folder
    epochs = sorted(
        (int(match[1]), path) for path in place.iterdir() if (match := _EPOCH.fullmatch(path.name))
    )
    best = next((place / name for name in _CHOSEN if (place / name).is_file()), None)
    if not epochs:
        raise InputError(
            f"{folder} holds no predictions of epochs (dev-epoch-01.tsv ...); give the folder of a "
            "run"
        )
    if best is None:
        raise InputError(
            f"the run in {folder} has no dev.tsv, so it is not complete; finish it with resume=True"
        )
    settings = recipe.members
    selected = {"all": epochs, "last": epochs[-settings.last :], "best": []}[settings.epochs]
    return (*(path for _, path in selected), best), best


def _read_run(folder: Path, recipe: FilterRecipe, dev: Sequence[Document]) -> Member:
    files, best_file = _files_of(folder, recipe)
    _check_data(folder, recipe)
    best = _read_predictions(best_file, dev, part="dev")
    wrong = (*(_read_predictions(path, dev, part="dev") for path in files[:-1]), best)
    if recipe.members.epochs == "last":
        wrong = wrong[:-1]
    return Member(name=folder.name, files=files, wrong=wrong, best=best)


def _check_data(folder: Path, recipe: FilterRecipe) -> None:
    """Refuses a run that was scored on other dev data, where its offsets mean nothing; a TSV
    does not show that.
    """
    path = folder / "run.json"
    if not path.is_file():
        return
    try:
        data = json.loads(path.read_text(encoding="utf-8"))["data"]
        digest = data["dev"]["sha256"] if "dev" in data else None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InputError(
            f"{path} is damaged ({error!r}); give another run, or its prediction files"
        ) from None
    if digest is None:
        raise InputError(
            f"the run in {folder} was trained on several parts, so its development data are not "
            f"those of {recipe.corpus.dev}; give runs of this corpus, or files of predictions for "
            "it"
        )
    if digest != source_sha256(recipe.corpus.dev):
        raise InputError(
            f"the run in {folder} chose on other development data than {recipe.corpus.dev}; give "
            "runs of this corpus"
        )


def _read_predictions(path: Path, documents: Sequence[Document], *, part: str) -> MentionsById:
    """Reads the predictions of one file, for documents of this corpus and inside their texts."""
    predictions = read_predictions(
        PredictionRequest(path=str(path), reading=ReadRequest(format="predictions"))
    )
    predictions.check(documents, only=f"the documents of {part}")
    return predictions.mentions


def _check_types(member: Member, types: set[str], *, selected: bool) -> None:
    """Refuses a system with other type names, because all of its mentions would be learnt as wrong.

    Args:
        member: a system.
        types: of the gold.
        selected: whether the recipe chooses or renames types of the corpus; then an unknown type is
            likely another name.
    """
    used = member.types()
    folded = {name.casefold() for name in types}
    other = sorted(used - types)
    same = [name for name in other if name.casefold() in folded or near_names(name, types - used)]
    if other and (selected or same or not used & types):
        name = (same or other)[0]
        raise InputError(
            f"{member.name} has the type {name!r}, but the types of the gold are "
            f"{', '.join(sorted(types))}{near_hint(name, types)}; rename it in the predictions, or "
            "leave the system out"
        )
