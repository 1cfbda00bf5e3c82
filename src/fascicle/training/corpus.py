"""The documents that a recipe names."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, Protocol

from fascicle.core.document import Document
from fascicle.errors import InputError, RecipeError, UsageError
from fascicle.files.tree import is_there
from fascicle.formats.brat import content_sha256, holds_annotation
from fascicle.formats.plain import files_of
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, pairs, read_file
from fascicle.settings.folders.best import described_by, model_folder
from fascicle.settings.folders.manifest import file_sha256
from fascicle.settings.recipes.recogniser import CorpusSettings
from fascicle.training.corpus_types import Chosen, choose_types

Part = Literal["train", "dev", "test"]
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
    return choose_types(_read(corpus, part, report), corpus.types or None)


def reading_of_part(corpus: CorpusSettings, part: Part) -> ReadRequest:
    """The request that a recipe makes for one part of its corpus.

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
            fields=pairs(corpus.fields, key="corpus.fields", example="text=body"),
            where=pairs(where, key="corpus.where", example="split=test"),
        )
    except UsageError as error:
        raise RecipeError(str(error)) from None


def _read(corpus: CorpusSettings, part: Part, report: ReadReport | None) -> list[Document]:
    path: str = getattr(corpus, part)
    if not path:
        return []
    request = reading_of_part(corpus, part)
    try:
        documents = read_file(path, request, report=report)
    except UsageError as error:
        raise RecipeError(f"in [corpus], {error}") from None
    return list(documents)


def _unless_auto(value: str) -> str:
    return "" if value == "auto" else value


def part_sha256(path: str) -> str:
    """Hash of a file's content, or of the names and contents of a folder's text files (of brat: annotation too).

    Of the folder of a model it is that of the file in it which holds the hashes of all others.
    """
    place = Path(path)
    model = described_by(model_folder(place))
    if model.is_file():
        return file_sha256(model)
    if holds_annotation(path):
        return content_sha256(path)
    if not place.is_dir():
        return file_sha256(place)
    listed = "".join(f"{file.name} {file_sha256(file)}\n" for file in files_of(place))
    return hashlib.sha256(listed.encode("utf-8")).hexdigest()


def data_name(key: str) -> str:
    """What data are called beside their hash: a part of the corpus ``"train"``, another file by its key in a recipe."""
    return _NAMES.get(key, key.removeprefix("corpus."))
