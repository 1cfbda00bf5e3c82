"""The documents that a recipe names."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, Protocol

from fascicle.core.document import Document
from fascicle.errors import InputError, RecipeError, UsageError
from fascicle.files.tree import is_there
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, pairs, read_file
from fascicle.formats.sources import source_sha256
from fascicle.formats.unread import with_fields
from fascicle.settings.folders.best import is_unfinished
from fascicle.settings.recipes.corpora import CorpusSettings, ReadingOfCorpus
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus_types import Chosen, choose_types

Part = Literal["train", "dev", "test"]
# What the sentences of readers call a setting, and what a recipe does.
_KEYS: Final = MappingProxyType(
    {
        "format=NAME": 'format = "NAME" in [PLACE]',
        "format=jsonl": 'format = "jsonl" in [PLACE]',
        "format=records": 'format = "records" in [PLACE]',
        "encoding=NAME": 'encoding = "NAME" in [PLACE]',
        'labels="': 'labels = "',
        "bare=True": "bare_tags = true",
        "=VALUE": "",
    }
)
_MODELS: Final = ("model.start", "teacher.model")
_NAMES: Final = MappingProxyType({"vectors.path": "vectors"})


class NamesFiles(Protocol):
    """A recipe of any kind."""

    def files(self) -> dict[str, str]:
        """The paths of all data that decide a run, each by the key that names it."""
        ...


def check_data(recipe: NamesFiles) -> None:
    """Looks whether the data that a recipe names are there.

    Raises:
        InputError: a file is not.
    """
    for key, path in recipe.files().items():
        if not is_there(path):
            raise InputError(f"{key} of the recipe is {path}, which does not exist; correct the path")
        if key in _MODELS and is_unfinished(Path(path)):
            raise InputError(
                f"{key} of the recipe is {path}, a training run that has not ended; finish it, or give its model so "
                f"far, {Path(path) / 'best'}"
            )


def read_part(corpus: CorpusSettings, part: Part, *, report: ReadReport | None = None) -> list[Document]:
    """Reads one part of a corpus.

    Args:
        corpus: where it is and how to read it.
        part: which.
        report: receives what was repaired or lost.

    Returns:
        Its documents, with the types that the recipe wants; none where it names no file.

    Raises:
        RecipeError: a setting that the format of the file does not have.
        InputError: see ``formats.files.read``.
    """
    return read_chosen(corpus, part, report=report).documents


def read_chosen(corpus: CorpusSettings, part: Part, *, report: ReadReport | None = None) -> Chosen:
    """As ``read_part``, with what was left out or renamed."""
    path: str = getattr(corpus, part)
    documents = read_with(corpus, path, part, report=report) if path else []
    return choose_types(documents, corpus.types or None)


def read_with(
    corpus: ReadingOfCorpus, path: str, part: Part, *, place: str = "corpus", report: ReadReport | None = None
) -> list[Document]:
    """Reads one file or folder as a recipe says.

    Args:
        corpus: how to read it.
        path: of the file or folder.
        part: which part it is.
        place: of the corpus in the recipe.
        report: receives what was repaired or lost.

    Raises:
        RecipeError: a setting that the format of the file does not have.
        InputError: see ``formats.files.read``.
    """
    request = reading_of_part(corpus, part, place=place)
    try:
        return list(read_file(path, request, report=report))
    except UsageError as error:
        raise RecipeError(f"in [{place}], {with_keys(str(error), place)}") from None
    except InputError as error:
        raise error.saying(with_keys(str(error), place)) from None


def reading_of_part(corpus: ReadingOfCorpus, part: Part, *, place: str = "corpus") -> ReadRequest:
    """The request that a recipe makes for one part of its corpus.

    Args:
        corpus: how to read it.
        part: which.
        place: of the corpus in the recipe.

    Raises:
        RecipeError: a value of ``fields`` or ``where`` that is no ``NAME=VALUE``.
    """
    where = (corpus.where.replace("{part}", part),) if corpus.where else ()
    try:
        return ReadRequest(
            format=corpus.format,
            encoding=corpus.encoding,
            documents=_unless_auto(corpus.documents),
            columns=corpus.columns,
            shape=_unless_auto(corpus.shape),
            labels=corpus.labels or "",
            bare_tags=corpus.bare_tags is True,
            fields=pairs(corpus.fields, key=f"{place}.fields", example="text=body"),
            where=pairs(where, key=f"{place}.where", example="split=test"),
        )
    except UsageError as error:
        raise RecipeError(str(error)) from None


def with_keys(text: str, place: str) -> str:
    """A sentence of a reader with the keys of a recipe in the place of arguments of functions.

    Args:
        text: the sentence.
        place: of the corpus in the recipe, e.g. ``"corpus"``.
    """
    listed = with_fields(text, lambda pairs: f"fields = {json.dumps([f'{part}={field}' for part, field in pairs])}")
    for argument, key in _KEYS.items():
        listed = re.sub(rf"\b{re.escape(argument)}", key.replace("PLACE", place), listed)
    return listed


def _unless_auto(value: str) -> str:
    return "" if value == "auto" else value


def data_name(key: str) -> str:
    """What data are called beside their hash: a part of the corpus ``"train"``, another file by its key in a recipe."""
    return _NAMES.get(key, key.removeprefix("corpus."))


def dev_sha256(recipe: Recipe) -> str:
    """Hash of the data on which a recogniser is chosen: of dev, or of all parts that have one."""
    if recipe.corpus:
        return source_sha256(recipe.corpus.dev)
    listed = "".join(f"{name} {source_sha256(part.dev)}\n" for name, part in recipe.corpora().items() if part.dev)
    return hashlib.sha256(listed.encode("utf-8")).hexdigest()
