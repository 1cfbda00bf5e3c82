"""Opening exports: their graphs, their tokenizers, and the predictors that they make, without
torch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from fascicle.core.files.intact import check_files
from fascicle.core.session import OnnxSession, load_onnxruntime
from fascicle.errors import ModelError, RecipeError
from fascicle.settings.folders.manifest import MANIFEST, TYPES_GRAPH, Manifest
from fascicle.settings.inputs import TokenizerFacts
from fascicle.settings.types import read_types

if TYPE_CHECKING:
    from fascicle.runtime.predictor import ModelPredictor
    from fascicle.text.pieces import PieceTokenizer


def open_export(
    folder: Path, manifest: Manifest, threads: int | None, *, device: str | None = None
) -> ModelPredictor:
    """Returns an exported model: its graph is opened while its files are checked and its tokenizer
    is read.

    What is wrong is said in the order of these checks, whichever fails first.
    """
    load_onnxruntime()  # by this thread, since nothing else goes on meanwhile
    opening = _Beside(lambda: open_graph(folder, threads, device=device))
    try:
        check_files(folder, manifest)
        tokenizer = read_tokenizer(folder, manifest.tokenizer)
        from fascicle.runtime.inputs import make_reader
        from fascicle.runtime.predictor import ModelPredictor

        return ModelPredictor(
            manifest, tokenizer, opening.result(), read=make_reader(folder, manifest)
        )
    finally:
        opening.join()


class _Beside(Thread):
    """Opening of a graph in a thread of its own; pools of threads take long to import."""

    def __init__(self, work: Callable[[], OnnxSession]) -> None:
        super().__init__()
        self._work = work
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._made = self._work()
        except BaseException as error:  # for the thread that asks
            self._error = error

    def result(self) -> OnnxSession:
        """Waits for the graph, and returns it, or raises the error."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._made


def open_typed(
    folder: Path,
    manifest: Manifest,
    tokenizer: PieceTokenizer,
    types: str | os.PathLike[str] | None,
    threads: int | None,
    *,
    device: str | None = None,
) -> ModelPredictor:
    """Returns an export that reads about types, of its own or of a file."""
    from fascicle.runtime.inputs import TypedScorer, make_reader, type_vectors, with_types
    from fascicle.runtime.predictor import ModelPredictor

    if types is not None:
        manifest = with_types(manifest, read_types(types))
    try:
        vectors = type_vectors(
            manifest, tokenizer, open_graph(folder, threads, name=TYPES_GRAPH, device=device)
        )
    except RecipeError as error:
        raise RecipeError(str(error), at=str(folder if types is None else types)) from None
    scorer = TypedScorer(scorer=open_graph(folder, threads, device=device), vectors=vectors)
    return ModelPredictor(manifest, tokenizer, scorer, read=make_reader(folder, manifest))


def read_tokenizer(folder: Path, facts: TokenizerFacts, *, name: str = MANIFEST) -> PieceTokenizer:
    """Returns the tokenizer of a model folder.

    Args:
        folder: of the model.
        facts: what its description says of the tokenizer.
        name: of that description.

    Raises:
        ModelError: it is another one.
    """
    from fascicle.text.pieces import PieceTokenizer

    tokenizer = PieceTokenizer.from_file(folder / "tokenizer.json", pad=facts.pad)
    if (tokenizer.sha256, tokenizer.prefix, tokenizer.suffix) != (
        facts.sha256,
        facts.prefix,
        facts.suffix,
    ):
        raise ModelError(
            f"the tokenizer in {folder} is not the one its {name} describes; copy the folder again"
        )
    return tokenizer


def open_graph(
    folder: Path, threads: int | None, *, name: str = "model.onnx", device: str | None = None
) -> OnnxSession:
    """Returns a graph of an export."""
    return OnnxSession.open(folder / name, threads=threads, device=device)
