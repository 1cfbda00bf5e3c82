"""Given spans get types of a span typer, and the typer is scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fascicle.core.document import GOLD, Document, Patch
from fascicle.errors import InputError
from fascicle.evaluate.typing import fit_lookup
from fascicle.formats.account import Account, EventCounts
from fascicle.formats.distributions import Header, write
from fascicle.formats.predictions import Prediction, text_hash
from fascicle.formats.requests import Input, ReadRequest, paths_of, read_inputs
from fascicle.loading import load_typer
from fascicle.systems.model import check_distributions
from fascicle.systems.predictions import PredictionRequest, read_system
from fascicle.tasks.given import GoldRequest, gold_of
from fascicle.text.segment import segmenter

if TYPE_CHECKING:
    from fascicle.train.typer_scores import TyperScores


@dataclass(frozen=True, kw_only=True)
class TypingRequest:
    """What a span typer types.

    Attributes:
        model: folder of the typer, or of the run that made it.
        files: texts: files, folders, zips.
        reading: how they are read.
        spans: predictions whose spans are typed; without them, the typer tries spans one by one.
        threads: CPU threads; all usable cores by default.
    """

    model: str
    files: Sequence[str]
    reading: ReadRequest = field(default_factory=ReadRequest)
    spans: PredictionRequest | None = None
    threads: int | None = None


def type_spans(request: TypingRequest, *, account: Account | None = None) -> list[Prediction]:
    """Types spans of texts.

    Args:
        request: the typer, the texts, and their spans.
        account: counts documents and events, and sets aside what cannot be read.

    Returns:
        A prediction for each text, in order.

    Raises:
        ModelError: there is no such typer, or it cannot find spans and none were given.
        InputError: nothing can be read, or spans of other texts.
        MissingExtraError: torch is not installed.
    """
    account = account or Account()
    model = load_typer(request.model, threads=request.threads)
    documents = _documents(request, account)
    if request.spans is None:
        patches = model.predict(documents)
    else:
        spans = read_system(request.spans, events=account.events)
        spans.check(documents, only="the texts")
        patches = model.retype(documents, spans.mentions)
    for document, patch in zip(documents, patches, strict=True):
        for event in patch.events:
            account.events.add(event, document.id)
    return [_prediction(document, patch) for document, patch in zip(documents, patches, strict=True)]


def _documents(request: TypingRequest, account: Account) -> list[Document]:
    inputs = [Input(name=path) for path in paths_of(request.files, request.reading)]
    found = read_inputs(inputs, request.reading, report=account.reading)
    documents = list(account.events.observe(document for _, document in found))
    account.read = len(documents)
    if not documents:
        account.refuse_nothing()
    return documents


def _prediction(document: Document, patch: Patch) -> Prediction:
    return Prediction(
        id=document.id,
        sha256=text_hash(document.text),
        mentions=tuple(sorted(patch.add, key=lambda m: (m.start, -m.end, m.type, m.spans))),
        events=patch.events,
    )


@dataclass(frozen=True, kw_only=True)
class TyperScoreRequest:
    """On what a span typer is scored.

    Attributes:
        model: folder of the typer, or of the run that made it.
        gold: documents with gold mentions.
        train: the training corpus, which the baselines need.
        threads: CPU threads; all usable cores by default.
        distributions: file to write with the probability of each type for every gold mention; empty for none.
        overwrite: replace such a file.
    """

    model: str
    gold: GoldRequest
    train: GoldRequest
    threads: int | None = None
    distributions: str = ""
    overwrite: bool = False


def score_types(request: TyperScoreRequest, *, events: EventCounts | None = None) -> TyperScores:
    """Scores the types that a span typer gives to gold mentions, beside two baselines.

    Args:
        request: the typer and the corpora.
        events: counts the events of documents.

    Raises:
        ModelError: there is no such typer.
        InputError: the corpora cannot be read, or hold no gold mention.
        OutputError: the distributions file cannot be written.
        MissingExtraError: torch is not installed.
    """
    check_distributions(request.distributions, overwrite=request.overwrite)
    model = load_typer(request.model, threads=request.threads)
    from fascicle.train.typer_scores import distributions_of, given_mentions, score_typer, training_pairs

    events = events or EventCounts()
    training, gold = (gold_of(one, events=events).documents for one in (request.train, request.gold))
    lookup = fit_lookup(training_pairs(training, segmenter(model.manifest.settings.segmenter)))
    if not any(document.layer(GOLD) for document in gold):
        raise InputError(f"{request.gold.path} holds no gold mention, so there is nothing to type; give annotated text")
    given = given_mentions(model, gold)
    scores = score_typer(model, gold, lookup, given=given)
    if request.distributions:
        header = Header(model=model.manifest.name, family="span-typer", definition="softmax", types=model.types)
        entries = distributions_of(given, model.types)
        write(request.distributions, header, entries, overwrite=request.overwrite)
    return scores
