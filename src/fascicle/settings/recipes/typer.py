"""Recipes and model files of the span typer, which reads the words of single spans and has no
encoder of pieces.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from fascicle.errors import ModelError
from fascicle.settings.base import Name, Natural, Positive, RecipeBase, Settings
from fascicle.settings.folders.described import (
    TYPER,
    Wording,
    file_sha256,
    read_description,
    write_hashed,
)
from fascicle.settings.recipes.corpora import CorpusSettings

WEIGHTS: Final = "model.safetensors"
WORDS: Final = "words.json"
_FORMAT: Final = 1
_WORDING: Final = Wording(
    broken="is not the file of a span typer", repair="copy the folder again", renew="train it again"
)


class TyperCorpus(CorpusSettings, frozen=True, kw_only=True):
    """The corpus; see ``CorpusSettings``. No choice is made on dev, so it may be left out."""

    dev: str = ""


class VectorSettings(Settings, frozen=True, kw_only=True):
    """Static vectors of words.

    Attributes:
        path: a GloVe or word2vec text file; ``$NAME`` is an environment variable.
        dimension: required dimension; 0 for any.
        cache: folder for the copy that is mapped into memory; empty for one beside the file,
            ``"none"`` for none.
        lowercase: look words up in lower case.
    """

    path: Name
    dimension: Natural = 0
    cache: str = ""
    lowercase: bool = False


class SpanTyperSettings(Settings, frozen=True, kw_only=True):
    """The network and its training; the defaults are those of *span-level-strategy*, Table 1 and
    the authors' program.

    Attributes:
        hidden: states of the LSTM in each direction.
        updates: steps of Adam, each with the gradient of all training mentions.
        learning_rate: learning rate of Adam.
        nothing: learn a class for spans that are no mention, so that the model can find mentions by
            trying all spans.
        width: with ``nothing``: most words in a span that is tried.
        negatives: with ``nothing``: number of places of spans that are drawn anew for each update
            from all places whose words are never a mention; 0 for all of them.
        balance: with ``nothing``: "no mention", the class of nearly all spans, weighs in the loss
            as much as all mentions together. Its logit is corrected afterwards, so that
            probabilities are those of the plain loss.
        decoding: with ``nothing``: ``"nested"`` (every span is decided alone) or ``"greedy"``
            (without overlaps).
        segmenter: words and sentences of text that has none.
    """

    hidden: Annotated[int, Meta(ge=1, le=4096)] = 200
    updates: Positive = 600
    learning_rate: Annotated[float, Meta(gt=0.0, le=1.0)] = 1e-3
    nothing: bool = False
    width: Annotated[int, Meta(ge=1, le=64)] = 8
    negatives: Natural = 20_000
    balance: bool = False
    decoding: Literal["nested", "greedy"] = "nested"
    segmenter: Name = "rules@1"

    def __post_init__(self) -> None:
        """Refuses settings without effect."""
        if not self.nothing:
            self._refuse_changed("nothing = false", "width", "negatives", "balance", "decoding")


class TyperRecipe(RecipeBase, frozen=True, kw_only=True):
    """The recipe of a span typer; see ``RecipeBase``."""

    corpus: TyperCorpus
    vectors: VectorSettings
    typer: SpanTyperSettings = SpanTyperSettings()

    def files(self) -> dict[str, str]:
        """Returns the paths of all data that determine a run, by their keys in the recipe, e.g.
        ``"vectors.path"``.
        """
        return self.corpus.files() | {"vectors.path": self.vectors.path}

    def places(self) -> dict[str, str]:
        """Returns all paths (see ``RecipeBase``), with the folder for the mapped copy of the
        vectors.
        """
        cache = self.vectors.cache
        return self.files() | ({"vectors.cache": cache} if cache not in ("", "none") else {})


class TyperManifest(Settings, frozen=True, kw_only=True):
    """The content of ``typer.json``.

    Attributes:
        format: version of this structure.
        name: of the model; becomes the source of its mentions.
        fascicle: version that wrote it.
        types: in the order of the classes; a class "no mention", where there is one, follows them.
        settings: of the network.
        dimension: of the vectors.
        lowercase: whether words are looked up in lower case.
        vectors: sha256 of the file that the vectors came from.
        unknown: the word whose vector stands for unknown words; empty for the mean of all vectors.
        files: sha256 of every other file of the folder.
    """

    format: int = _FORMAT
    name: str
    fascicle: str
    types: tuple[str, ...]
    settings: SpanTyperSettings
    dimension: Positive
    lowercase: bool = False
    vectors: str = ""
    unknown: str = ""
    files: dict[str, str] = msgspec.field(default_factory=dict)


def read_typer_manifest(folder: Path) -> TyperManifest:
    """Reads ``typer.json`` and compares the hashes of all files.

    Raises:
        ModelError: no span typer, a damaged one, or one of another version.
    """
    path = folder / TYPER
    missing = f"{folder} holds no span typer ({TYPER}); give the model folder of one"
    manifest = read_description(path, TyperManifest, _WORDING, format=_FORMAT, missing=missing)
    if set(manifest.files) != {WEIGHTS, WORDS}:
        raise ModelError(
            f"{path} does not list {WEIGHTS} and {WORDS}; copy the folder again", file=str(path)
        )
    for name, expected in manifest.files.items():
        if not (folder / name).is_file() or file_sha256(folder / name) != expected:
            raise ModelError(
                f"{folder / name} is missing or damaged: its hash is not the one in {TYPER}; "
                "copy it again",
                code="damaged",
            )
    return manifest


def write_typer_manifest(folder: Path, manifest: TyperManifest) -> TyperManifest:
    """Writes ``typer.json`` with the hashes of the other files; returns its content."""
    return write_hashed(folder / TYPER, manifest, (WEIGHTS, WORDS))
