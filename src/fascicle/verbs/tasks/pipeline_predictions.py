"""A pipeline in the place of a prediction file or of a model: what its steps find in texts, as
one system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from fascicle.core.document import Document, Mention, Patch, unique
from fascicle.errors import InputError
from fascicle.evaluation.systems.model import ModelRequest, Watch, predict
from fascicle.evaluation.systems.predictions import Predictions
from fascicle.formats.account import EventCounts
from fascicle.formats.predictions import text_hash

if TYPE_CHECKING:
    from fascicle.pipeline.pipeline import Pipeline
    from fascicle.pipeline.runner import Result


@dataclass(frozen=True, kw_only=True)
class PipelineRequest:
    """A pipeline that is scored.

    Attributes:
        pipeline: a ``pipeline.toml``, or a folder with one.
        source: whose mentions are scored; by default those of all steps, as one system.
    """

    pipeline: str
    source: str = ""


def predict_gold_texts(
    request: ModelRequest | PipelineRequest,
    gold: Sequence[Document],
    *,
    events: EventCounts,
    watch: Watch = iter,
) -> Predictions:
    """Lets a model or a pipeline predict on the texts of the gold; see
    `evaluation.systems.model.predict`.

    Raises:
        FascicleError: it cannot be opened.
        InputError: a step fails at a document.
        UsageError: the pipeline finds mentions, but none of the source.
    """
    if isinstance(request, ModelRequest):
        return predict(request, gold, events=events, watch=watch)
    # imported here, because files are scored without one
    from fascicle.pipeline.loading import open_pipeline

    bare = (document.having(mentions=(), events=()) for document in gold)
    with open_pipeline(request.pipeline) as pipeline:
        mentions = {
            document.id: document.mentions
            for document in events.observe(watch(pipeline.stream(bare)))
        }
    predictions = Predictions(
        name=pipeline.name,
        path=request.pipeline,
        mentions=mentions,
        hashes={document.id: text_hash(document.text) for document in gold},
    )
    if request.source:
        return predictions.of_one_system(request.source)
    together = {name: _as_one(mentions, pipeline.name) for name, mentions in mentions.items()}
    return replace(predictions, mentions=together)


class PipelinePredictor:
    """Pipeline as a predictor: the mentions of all its steps are its own."""

    def __init__(self, pipeline: Pipeline) -> None:
        """Takes an open pipeline."""
        self._pipeline = pipeline
        self.name = pipeline.name
        self.fingerprint = str(sorted(pipeline.made_by().items()))
        finders = [
            getattr(step, "predictor", step) for step in pipeline.steps if "mentions" in step.gives
        ]
        self.types = tuple(
            dict.fromkeys(kind for finder in finders for kind in getattr(finder, "types", ()))
        )

    def close(self) -> None:
        """Ends the external programs of steps."""
        self._pipeline.close()

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document; see `fascicle.core.contracts.Predictor`.

        Raises:
            InputError: a step fails at a document, or finds a type that no step declares.
        """
        return [self._patch(result) for result in self._pipeline.of_batch(documents)]

    def _patch(self, result: Result) -> Patch:
        if result.document is None:
            from fascicle.pipeline.pipeline import result_error

            raise result_error(result)
        if unknown := {mention.type for mention in result.document.mentions} - set(self.types):
            raise InputError(
                f"the pipeline {self.name!r} found the type {sorted(unknown)[0]!r}, which none of "
                f"its steps declares; they declare {', '.join(self.types) or 'none'}",
                key=result.given.id,
                code="prediction",
            )
        return Patch(
            add=_as_one(result.document.mentions, self.name), events=result.document.events
        )


def _as_one(mentions: Sequence[Mention], source: str) -> tuple[Mention, ...]:
    """Returns the mentions of all layers under one source; of the same mention of several layers
    a linked one.
    """
    linked_first = sorted(mentions, key=lambda mention: not mention.links)
    return unique(msgspec.structs.replace(mention, source=source) for mention in linked_first)[0]
