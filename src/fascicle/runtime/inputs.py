"""Reader of the documents of a model: uses the dictionaries of its folder, if it has some."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Floats32, Ints
from fascicle.core.session import OnnxSession
from fascicle.errors import ModelError
from fascicle.settings.folders.manifest import Manifest, TypesGraph
from fascicle.settings.heads import BinderSettings
from fascicle.settings.inputs import SHAPES, InputFacts
from fascicle.settings.types import TypeDescriptions
from fascicle.text.inputs import FeatureColumns
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import DocumentReader, FeatureReader, read_documents
from fascicle.text.windows import TYPE_VECTORS

if TYPE_CHECKING:
    from fascicle.text.marked import TypeTexts


def feature_columns(facts: InputFacts) -> FeatureColumns:
    """Returns the columns of facts about a unit that a model reads."""
    return FeatureColumns(types=facts.types, shapes=bool(facts.shapes))


def make_reader(folder: Path, manifest: Manifest) -> DocumentReader:
    """Returns the reader of documents for a model.

    Args:
        folder: of the model, whose files were compared with their hashes.
        manifest: read from it.

    Raises:
        ModelError: a dictionary that is not one of those files, or has other types; case patterns
            of another release.
    """
    facts = manifest.inputs
    if not facts:
        return read_documents
    if facts.shapes not in ("", SHAPES):
        raise ModelError(
            f"the model {manifest.name} reads case patterns of the version {facts.shapes!r}; this "
            f"release knows {SHAPES}: export it again",
            file=str(folder),
            code="version",
        )
    if not facts.dictionaries:
        return FeatureReader(None, feature_columns(facts))
    # Most models have no dictionaries, and start without the modules that find names.
    from fascicle.terms.finding import open_finder

    return FeatureReader(open_finder(folder, manifest, facts), feature_columns(facts))


_TOGETHER = 32  # types that are read at a time


class _Network(Protocol):
    """Network that takes the vectors of types beside the arrays of a batch."""

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Scores one batch."""


class TypedScorer(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A network that is given the vectors of the types with each batch.

    Attributes:
        scorer: the network.
        vectors: of the types, ``[kinds, K, h]``.
    """

    scorer: _Network
    vectors: Floats32

    def run(self, inputs: Mapping[str, Ints]) -> Mapping[str, NDArray[Any]]:
        """See ``runtime.predictor.Scorer``."""
        batch: dict[str, NDArray[Any]] = {**inputs, TYPE_VECTORS: self.vectors}
        return self.scorer.run(batch)


def with_types(manifest: Manifest, types: TypeDescriptions) -> Manifest:
    """Returns the manifest of an export changed to look for other types.

    Args:
        manifest: of the export.
        types: what to look for.
    """
    name = manifest.decision.answer
    descriptions = {name: types} if name in manifest.descriptions else {}
    return msgspec.structs.replace(manifest, types=types.names, descriptions=descriptions)


def type_vectors(manifest: Manifest, tokenizer: PieceTokenizer, session: OnnxSession) -> Floats32:
    """Returns the vectors of the types of an export, ``[kinds, K, h]``.

    Args:
        manifest: with a graph of types, and what is said of the types.
        tokenizer: of the model.
        session: of that graph.

    Raises:
        RecipeError: a type lacks what the model reads, or the encoder cannot read it.
    """
    from fascicle.text.marked import TypeTokenizer, tokenise_types

    head = cast("BinderSettings", manifest.answering)  # no other head has such a graph
    graph = manifest.types_graph
    assert isinstance(graph, TypesGraph)
    reader = TypeTokenizer(tokenizer=tokenizer, longest=graph.longest, origin=manifest.encoder)
    texts = tokenise_types(
        head, manifest.types, manifest.descriptions.get(manifest.decision.answer), reader=reader
    )
    parts = [
        session.run(_rows(texts, start))[TYPE_VECTORS]
        for start in range(0, len(texts.counts), _TOGETHER)
    ]
    vectors: Floats32 = np.concatenate(parts, axis=1)
    return vectors


def _rows(texts: TypeTexts, start: int) -> dict[str, Ints]:
    """Returns the texts of some types that are read at inference, without padding that all have."""
    first = (texts.counts.cumsum() - texts.counts)[start : start + _TOGETHER]
    rows = (first[:, None] + np.arange(texts.at_rest)).ravel()
    mask = texts.mask[rows]
    width = int(mask.sum(axis=1).max())
    return {
        "input_ids": texts.ids[rows, :width],
        "attention_mask": mask[:, :width],
        "place": texts.place[rows],
    }
