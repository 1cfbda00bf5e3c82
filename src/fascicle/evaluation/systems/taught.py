"""Texts on which a scored model was trained: its scores there say little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from fascicle.core.document import Document
from fascicle.core.wording import plural
from fascicle.errors import FascicleError
from fascicle.runtime.places import find_model, is_shipped
from fascicle.settings.recipes.ensemble import MEMBERS, is_ensemble
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.segment import segmenter
from fascicle.text.taught import TAUGHT, sentence_hashes, unpack_hashes

_TEMPLATE: Final = (
    "{model} was trained on {count} of the {texts} of {path}, so its scores on them are too high; "
    "compare systems on texts on which none of them was trained"
)


def training_hashes(source: Path) -> frozenset[int] | None:
    """Returns hashes of the training texts of a model, or of the members of an ensemble;
    ``None`` without a list.
    """
    if is_ensemble(source):
        members = [training_hashes(place) for place in sorted((source / MEMBERS).iterdir())]
        lists = [hashes for hashes in members if hashes is not None]
        return frozenset().union(*lists) if lists else None
    return unpack_hashes((source / TAUGHT).read_bytes()) if (source / TAUGHT).is_file() else None


def notes_on_training(
    documents: Iterable[Document],
    *,
    path: str,
    models: Iterable[str] = (),
    sources: Iterable[str] = (),
) -> Iterator[str]:
    """Yields a sentence for each model that was trained on some of the documents.

    Args:
        documents: of the gold; a text counts if it has a long sentence of the training texts.
        path: of the gold.
        models: names or folders; what lists no training texts is passed over.
        sources: of predicted mentions; those of shipped models count.
    """
    names = dict.fromkeys([*models, *filter(is_shipped, sources)])
    hashes_by_model = {
        folder: hashes
        for folder in map(_folder, names)
        if folder and (hashes := training_hashes(folder))
    }
    if not hashes_by_model:
        return
    cuts = segmenter(ReadingSettings().segmenter).sentences
    texts = [sentence_hashes(hashes_of_text, cuts) for hashes_of_text in documents]
    for folder, hashes in hashes_by_model.items():
        if count := sum(not hashes.isdisjoint(hashes_of_text) for hashes_of_text in texts):
            model, of_all = folder.name, plural(len(texts), "text")
            yield _TEMPLATE.format(model=model, count=f"{count:,}", texts=of_all, path=path)


def as_documents(texts: Mapping[str, str]) -> Iterator[Document]:
    """Yields documents of texts by their ids."""
    return (Document(id=name, text=text) for name, text in texts.items())


def _folder(model: str) -> Path | None:
    """Returns the folder of a model; ``None`` for a dictionary, a plug-in and whatever else has
    no folder.
    """
    try:
        return find_model(model)
    except FascicleError:
        return None
