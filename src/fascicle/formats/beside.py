"""Texts written beside a result that only refers to them: those of PDFs and other files that hold no plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_writer
from fascicle.core.files.source import STDIN

EXTRACTED: Final = MappingProxyType({"text": "extracted"})  # `Document.meta` of a text that no file holds
FOLDER: Final = ".texts"
_NOT_IN_NAMES: Final = re.compile(r'[%/\\:*?"<>|\x00-\x1f]|^\.')
Said = TypeVar("Said")


def texts_beside(documents: Iterable[Said], path: str, *, overwrite: bool) -> Iterator[Said]:
    """Streams documents, and writes each extracted text to ``NAME.texts/ID.txt`` beside the file ``NAME.csv``.

    Args:
        documents: any.
        path: of the file; nothing is written beside standard output or a device.
        overwrite: replace another text of this name.

    Raises:
        OutputError: there is another text of this name, or the place cannot be written.
    """
    target = Path(path)
    is_file = path != STDIN and (target.is_file() or not target.exists())
    folder = target.with_name(target.name.removesuffix(".gz")).with_suffix(FOLDER)
    for document in documents:
        if is_file and isinstance(document, Document) and EXTRACTED.items() <= document.meta.items():
            _write(folder, document, overwrite=overwrite)
        yield document


def _write(folder: Path, document: Document, *, overwrite: bool) -> None:
    folder.mkdir(exist_ok=True)
    name = _NOT_IN_NAMES.sub(lambda found: f"%{ord(found[0]):02X}", document.id)
    place, content = folder / f"{name}.txt", document.text.encode()
    if place.is_file() and place.read_bytes() == content:
        return
    with atomic_writer(place, overwrite=overwrite) as stream:
        stream.write(content)
