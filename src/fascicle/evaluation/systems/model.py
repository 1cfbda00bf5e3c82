"""A model in the place of a prediction file: what it finds in the texts of the gold, and how
probable the gold is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.files.atomic import check_target
from fascicle.errors import OutputError
from fascicle.evaluation.systems.predictions import Predictions
from fascicle.formats.account import EventCounts
from fascicle.formats.distributions import SUFFIXES, DistributionsHeader, MentionDistribution, write
from fascicle.formats.predictions import text_hash
from fascicle.loading import load_single, open_model
from fascicle.settings.base import Positive
from fascicle.settings.choices import NO_CHOICES, Choices

if TYPE_CHECKING:
    from fascicle.runtime.predictor import ModelPredictor

Watch = Callable[[Iterable[Document]], Iterator[Document]]


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """A model that is scored itself.

    Attributes:
        model: see ``loading.load``.
        threads: see there.
        distributions: file to write with the probability of each type for every gold mention; empty
            for none.
        overwrite: replace such a file.
        choices: about its mentions.
        device: where the network computes, see `fascicle.load`.
    """

    model: str
    threads: Positive | None = None
    distributions: str = ""
    overwrite: bool = False
    choices: Choices = NO_CHOICES
    device: str | None = None


def check_distributions(path: str, *, overwrite: bool) -> None:
    """Refuses a place that a distributions file cannot be written to; an empty one is none.

    Raises:
        OutputError: another name, or a file that exists.
    """
    if not path:
        return
    if not path.endswith(SUFFIXES):
        raise OutputError(
            f"the distributions file {path} was asked for; its name must end with "
            f"{' or '.join(SUFFIXES)}"
        )
    check_target(path, overwrite=overwrite)


def predict(
    request: ModelRequest, gold: Sequence[Document], *, events: EventCounts, watch: Watch = iter
) -> Predictions:
    """Lets a model predict on the texts of the gold; writes the distributions file if one was asked
    for.

    Args:
        request: the model.
        gold: documents with gold mentions, of which the model sees the texts alone.
        events: counts the events of the predictions.
        watch: documents go through it one by one, to show progress.

    Raises:
        ModelError: there is no such model.
        UsageError: an ensemble or a dictionary where probabilities are asked for, or a device that
            the model cannot use.
        OutputError: the distributions file cannot be written.
    """
    predictions = (_probe if request.distributions else _annotate)(request, gold, events, watch)
    hashes = {document.id: text_hash(document.text) for document in gold}
    return replace(predictions, hashes=hashes)


def _annotate(
    request: ModelRequest, gold: Sequence[Document], events: EventCounts, watch: Watch
) -> Predictions:
    predictor = open_model(
        request.model, request.choices, threads=request.threads, device=request.device
    )
    bare = (msgspec.structs.replace(document, mentions=(), events=()) for document in gold)
    annotated = events.observe(watch(predictor.stream(bare)))
    mentions = {document.id: document.mentions for document in annotated}
    return Predictions(name=predictor.name, path=request.model, mentions=mentions)


def _probe(
    request: ModelRequest, gold: Sequence[Document], events: EventCounts, watch: Watch
) -> Predictions:
    # late: what reads prediction files needs no network
    from fascicle.runtime.choice import with_end_rule

    single = load_single(request.model, threads=request.threads, device=request.device)
    predictor = cast("ModelPredictor", with_end_rule(single, request.choices.ends))
    if request.choices.ends != "corpus":
        predictor = predictor.hiding(predictor.apart)
    probe = _Probe(predictor=predictor, events=events)
    write(
        request.distributions,
        _header(predictor),
        probe.entries(watch(gold)),
        overwrite=request.overwrite,
    )
    return Predictions(
        name=predictor.name,
        path=request.model,
        mentions=probe.mentions,
        notes=tuple(probe.notes()),
    )


def _header(predictor: ModelPredictor) -> DistributionsHeader:
    from fascicle.runtime.decoding.kinds import probability_definition

    manifest = predictor.manifest
    return DistributionsHeader(
        model=manifest.name,
        family=manifest.answering.family,
        definition=probability_definition(manifest),
        types=manifest.types,
    )


@dataclass(kw_only=True)
class _Probe:
    """One pass over the gold: keeps the predictions of the model, but not its probabilities of
    gold mentions.
    """

    predictor: ModelPredictor
    events: EventCounts
    mentions: dict[str, Sequence[Mention]] = field(default_factory=dict)
    unreachable: Counter[str] = field(default_factory=Counter)
    total: int = 0

    def entries(self, gold: Iterable[Document]) -> Iterator[MentionDistribution]:
        """Yields every gold mention, in order."""
        for probed in self.predictor.probe(gold):
            document, patch = probed.document, probed.patch
            self.mentions[document.id] = patch.add
            for event in patch.events:
                self.events.add(event, document.id)
            answers = {(mention.type, mention.spans) for mention in patch.add}
            for answer in probed.gold:
                self.total += 1
                self.unreachable.update([answer.unreachable] if answer.unreachable else [])
                yield MentionDistribution(
                    document=document.id,
                    spans=answer.mention.spans,
                    type=answer.mention.type,
                    found=(answer.mention.type, answer.mention.spans) in answers,
                    probabilities=()
                    if answer.probabilities is None
                    else tuple(answer.probabilities.tolist()),
                    unreachable=answer.unreachable,
                )

    def notes(self) -> Iterator[str]:
        """Yields notes on the meaning of the probabilities and on the mentions that have none."""
        if self.predictor.manifest.decision.calibration:
            yield (
                "the distributions are those of the head, before calibration; which mentions "
                "are found is after it"
            )
        if self.unreachable:
            reasons = ", ".join(
                f"{reason} {count:,}" for reason, count in self.unreachable.most_common()
            )
            yield (
                f"{self.unreachable.total():,} of {self.total:,} gold mentions have no "
                f"probability, for the model cannot return them: {reasons}"
            )
