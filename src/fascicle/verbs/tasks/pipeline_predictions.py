"""A pipeline in the place of a prediction file: what its steps find in the texts of the gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from fascicle.core.document import Document, Mention, unique
from fascicle.evaluation.systems.model import ModelRequest, Watch, predict
from fascicle.evaluation.systems.predictions import Predictions
from fascicle.formats.account import EventCounts
from fascicle.formats.predictions import text_hash


@dataclass(frozen=True, kw_only=True)
class PipelineRequest:
    """A pipeline that is scored.

    Attributes:
        pipeline: a ``pipeline.toml``, or a folder with one.
        source: whose mentions are scored; by default those of all steps, as one system.
    """

    pipeline: str
    source: str = ""


def predicted(
    request: ModelRequest | PipelineRequest, gold: Sequence[Document], *, events: EventCounts, watch: Watch = iter
) -> tuple[str, Predictions]:
    """Lets a model or a pipeline predict on the texts of the gold; see `evaluation.systems.model.predict`.

    Raises:
        FascicleError: it cannot be opened.
        InputError: a step fails at a document.
        UsageError: the pipeline finds mentions, but none of the source.
    """
    if isinstance(request, ModelRequest):
        return predict(request, gold, events=events, watch=watch)
    from fascicle.pipeline.loading import open_pipeline  # imported here, because files are scored without one

    bare = (document.having(mentions=(), events=()) for document in gold)
    with open_pipeline(request.pipeline) as pipeline:
        found = {one.id: one.mentions for one in events.observe(watch(pipeline.stream(bare)))}
    said = Predictions(path=request.pipeline, mentions=found, hashes={one.id: text_hash(one.text) for one in gold})
    if request.source:
        return pipeline.name, said.of_one_system(request.source)
    together = {name: _as_one(mentions, pipeline.name) for name, mentions in found.items()}
    return pipeline.name, replace(said, mentions=together)


def _as_one(mentions: Sequence[Mention], source: str) -> tuple[Mention, ...]:
    """Returns the mentions of all layers under one source; of the same mention of several layers a linked one."""
    linked_first = sorted(mentions, key=lambda one: not one.links)
    return unique(msgspec.structs.replace(one, source=source) for one in linked_first)[0]
