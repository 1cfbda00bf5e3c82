"""Exported models from their folders: every file is checked, and what can be done at once is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from fascicle.errors import ModelError
from fascicle.runtime.session import OnnxSession
from fascicle.settings.folders.manifest import MANIFEST, Manifest, TokenizerFacts, check_files
from fascicle.text.pieces import PieceTokenizer

if TYPE_CHECKING:
    from fascicle.runtime.predictor import ModelPredictor

__all__ = ["open_export", "open_graph", "open_tokenizer"]


def open_export(folder: Path, manifest: Manifest, *, threads: int | None) -> ModelPredictor:
    """An exported model; the graph is opened while files are checked and read, and what decodes is imported.

    What is wrong is said in the order of these checks, whichever fails first.

    Args:
        folder: of the model.
        manifest: read from it.
        threads: of the network; all usable cores by default.

    Raises:
        ModelError: a file that is missing or damaged, or not the one that the manifest describes.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        opening = pool.submit(open_graph, folder, threads)
        check_files(folder, manifest)
        tokenizer = open_tokenizer(folder, manifest.tokenizer, name=MANIFEST)
        from fascicle.runtime.inputs import reader_of
        from fascicle.runtime.predictor import ModelPredictor

        return ModelPredictor(manifest, tokenizer, opening.result(), read=reader_of(folder, manifest))


def open_graph(folder: Path, threads: int | None) -> OnnxSession:
    """The network of an exported model or filter.

    Args:
        folder: of the model.
        threads: of the network; all usable cores by default.

    Raises:
        ModelError: no graph, or a damaged one.
    """
    return OnnxSession.open(folder / "model.onnx", threads=threads)


def open_tokenizer(folder: Path, facts: TokenizerFacts, *, name: str) -> PieceTokenizer:
    """The tokenizer of a model or filter.

    Args:
        folder: of the model.
        facts: what its description says of the tokenizer.
        name: of the file with the description.

    Raises:
        ModelError: a damaged tokenizer, or another than the one described.
    """
    tokenizer = PieceTokenizer.from_file(folder / "tokenizer.json", pad=facts.pad)
    if (tokenizer.sha256, tokenizer.prefix, tokenizer.suffix) != (facts.sha256, facts.prefix, facts.suffix):
        raise ModelError(f"the tokenizer in {folder} is not the one its {name} describes; copy the folder again")
    return tokenizer
