"""The documents that a recipe names."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fascicle.core.document import Document
from fascicle.errors import RecipeError
from fascicle.formats.conll import ConllOptions
from fascicle.formats.detection import detect
from fascicle.formats.files import read
from fascicle.formats.jsonl import JsonlOptions
from fascicle.formats.plain import files_of
from fascicle.recipe.manifest import file_sha256
from fascicle.recipe.settings import CorpusSettings


def read_part(path: str, corpus: CorpusSettings) -> list[Document]:
    """Reads one part of a corpus.

    Args:
        path: of the part.
        corpus: how to read it.

    Raises:
        RecipeError: a setting that the format of the file does not have.
        InputError: see ``formats.files.read``.
    """
    name = corpus.format if corpus.format != "auto" else detect(path)
    if corpus.documents != "auto" and name != "conll":
        raise RecipeError(
            f'corpus.documents = "{corpus.documents}" is for column files, but {path} has the format {name}'
        )
    if corpus.where and name != "jsonl":
        raise RecipeError(f"corpus.where = {corpus.where!r} is for JSON records, but {path} has the format {name}")
    options: ConllOptions | JsonlOptions | None = None
    if name == "conll":
        options = ConllOptions(documents=corpus.documents)
    elif corpus.where:
        field, _, value = corpus.where.partition("=")
        options = JsonlOptions(where=((field, value),))
    return list(read(path, format=name, options=options))


def part_sha256(path: str) -> str:
    """Hash of a file's content, or of the names and contents of a folder's text files."""
    place = Path(path)
    if not place.is_dir():
        return file_sha256(place)
    listed = "".join(f"{file.name} {file_sha256(file)}\n" for file in files_of(place))
    return hashlib.sha256(listed.encode("utf-8")).hexdigest()
