"""The documents that a recipe names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, Protocol

from fascicle.core.document import Document
from fascicle.errors import InputError, RecipeError
from fascicle.files.tree import is_there
from fascicle.formats.brat import content_sha256, holds_annotation
from fascicle.formats.conll import ConllOptions, parse_columns
from fascicle.formats.detection import detect
from fascicle.formats.files import read
from fascicle.formats.jsonl import JsonlOptions
from fascicle.formats.plain import files_of
from fascicle.formats.report import ReadReport
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


def _read(corpus: CorpusSettings, part: Part, report: ReadReport | None) -> list[Document]:
    path: str = getattr(corpus, part)
    if not path:
        return []
    name = corpus.format if corpus.format != "auto" else detect(path)
    _check_settings(corpus, name, path)
    options: ConllOptions | JsonlOptions | None = None
    if name == "conll":
        columns = parse_columns(corpus.columns) if corpus.columns else (0, (-1,))
        options = ConllOptions(token_column=columns[0], tag_columns=columns[1], documents=corpus.documents)
    elif name == "jsonl":
        where = (corpus.where.replace("{part}", part),) if corpus.where else ()
        options = JsonlOptions(shape=corpus.shape, fields=_pairs("fields", corpus.fields), where=_pairs("where", where))
    return list(read(path, format=name, options=options, encoding=corpus.encoding, report=report))


def _check_settings(corpus: CorpusSettings, name: str, path: str) -> None:
    """Refuses settings that say nothing about this format."""
    of_format = {"documents": "conll", "columns": "conll", "where": "jsonl", "shape": "jsonl", "fields": "jsonl"}
    defaults = {"documents": "auto", "columns": "", "where": "", "shape": "auto", "fields": ()}
    for key, wanted in of_format.items():
        given = getattr(corpus, key)
        if given != defaults[key] and name != wanted:
            raise RecipeError(f"corpus.{key} = {given!r} is for the format {wanted}, but {path} has the format {name}")


def _pairs(key: str, given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    for text in given:
        if "=" not in text:
            raise RecipeError(f"corpus.{key} = {text!r} is not allowed: write NAME=VALUE")
    split = (text.partition("=") for text in given)
    return tuple((name, value) for name, _, value in split)


def part_sha256(path: str) -> str:
    """Hash of a file's content, or of the names and contents of a folder's text files (of brat: annotation too)."""
    if holds_annotation(path):
        return content_sha256(path)
    place = Path(path)
    if not place.is_dir():
        return file_sha256(place)
    listed = "".join(f"{file.name} {file_sha256(file)}\n" for file in files_of(place))
    return hashlib.sha256(listed.encode("utf-8")).hexdigest()


def data_name(key: str) -> str:
    """What data are called beside their hash: a part of the corpus ``"train"``, another file by its key in a recipe."""
    return _NAMES.get(key, key.removeprefix("corpus."))
