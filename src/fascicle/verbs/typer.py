"""Command ``fascicle typer``: trains and applies the span typer, which predicts the type of
given spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.document import GOLD, Document, Patch
from fascicle.errors import InputError
from fascicle.evaluation.scoring.typing import fit_lookup
from fascicle.evaluation.systems.model import check_distributions
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.formats.account import Account, EventCounts
from fascicle.formats.distributions import DistributionsHeader, write
from fascicle.formats.outputs import write_predictions
from fascicle.formats.predictions import Prediction, text_hash
from fascicle.formats.requests import ReadRequest, read_all_documents
from fascicle.loading import load_typer
from fascicle.settings.base import Positive
from fascicle.verbs import shared, train
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit, say
from fascicle.verbs.options import (
    OVERWRITE,
    STRICT,
    THREADS,
    Overwrite,
    Strict,
    Threads,
    call,
    option,
    reads,
    writes,
)
from fascicle.verbs.systems import DISTRIBUTIONS, SYSTEM_FORMATS
from fascicle.verbs.tasks.evaluate import SystemInput, input_path, open_gold, open_predictions
from fascicle.verbs.train import typing_text

if TYPE_CHECKING:
    from fascicle.training.typer.scores import TyperScores


@validate_arguments
def type_spans(
    model: AnyPath,
    files: Paths,
    *,
    spans: SystemInput | None = None,
    reading: ReadRequest | None = None,
    threads: Positive | None = None,
    account: Account | None = None,
) -> list[Prediction]:
    """Types spans of texts.

    Args:
        model: folder of a span typer, or of the run that made it.
        files: texts: files, folders, zips.
        spans: predictions whose spans are typed; without them, the typer tries spans one by one.
        reading: format and options of the files.
        threads: CPU threads; all usable cores by default.
        account: counts documents and events, and sets aside unreadable documents.

    Returns:
        A prediction for each text, in order.

    Raises:
        ModelError: there is no such typer.
        UsageError: the typer cannot find spans, and none were given.
        InputError: nothing can be read, or spans of other texts.
        MissingExtraError: torch is not installed.
    """
    account = account or Account()
    typer = load_typer(model, threads=threads)
    documents = _documents(to_path_list(files), reading or ReadRequest(), account)
    if spans is None:
        patches = typer.predict(documents)
    else:
        proposed = open_predictions(spans, events=account.events)
        proposed.check(documents, only="the texts")
        patches = typer.retype(documents, proposed.mentions)
    for document, patch in zip(documents, patches, strict=True):
        for event in patch.events:
            account.events.add(event, document.id)
    return [
        _prediction(document, patch) for document, patch in zip(documents, patches, strict=True)
    ]


def _documents(files: Sequence[str], reading: ReadRequest, account: Account) -> list[Document]:
    documents = list(
        account.events.observe(read_all_documents(files, reading, report=account.reading))
    )
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


@validate_arguments
def score_types(
    model: AnyPath,
    gold: SystemInput,
    train: SystemInput,
    *,
    threads: Positive | None = None,
    distributions: str = "",
    overwrite: bool = False,
    events: EventCounts | None = None,
) -> TyperScores:
    """Scores the types that a span typer gives to gold mentions, beside two baselines.

    Args:
        model: folder of the typer, or of the run that made it.
        gold: documents with gold mentions.
        train: the training corpus, which the baselines need.
        threads: CPU threads; all usable cores by default.
        distributions: file to write with the probability of each type for every gold mention; empty
            for none.
        overwrite: replace such a file.
        events: counts the events of documents.

    Raises:
        ModelError: there is no such typer.
        InputError: the corpora cannot be read, or hold no gold mention.
        OutputError: the distributions file cannot be written.
        MissingExtraError: torch is not installed.
    """
    check_distributions(distributions, overwrite=overwrite)
    typer = load_typer(model, threads=threads)
    from fascicle.training.typer.data import training_pairs
    from fascicle.training.typer.scores import given_mentions, score_typer, to_distributions

    events = events or EventCounts()
    training, right = (open_gold(path, events=events).documents for path in (train, gold))
    lookup = fit_lookup(training_pairs(map(typer.reader, training)))
    if not any(document.layer(GOLD) for document in right):
        raise InputError(
            f"{input_path(gold)} holds no gold mention, so there is nothing to type; give "
            "annotated text"
        )
    mentions = given_mentions(typer, right)
    if distributions:
        header = DistributionsHeader(
            model=typer.manifest.name, family="span-typer", definition="softmax", types=typer.types
        )
        write(distributions, header, to_distributions(mentions, typer.types), overwrite=overwrite)
    return score_typer(typer, right, lookup, mentions=mentions)


class Train(train.Options):
    """The same as fascicle train, which trains every kind of recipe.

    In Python: ``fascicle.train("typer.toml", "runs/typer")``
    """


class Predict(Threads, Strict, Overwrite, shared.ReadingOptions):
    """Predict types of given spans, or find mentions.

    In Python: ``fascicle.verbs.typer.type_spans("runs/typer", "texts/")``

    Attributes:
        model: a model folder: RUN/model.
        files: the texts: files, folders, zips.
        output: the prediction file: .tsv, .csv, else JSON Lines.
        spans: predictions whose spans get types; without them, the model tries all spans.
        pred_format: format of PRED; default: auto.
        source: use only the mentions of this source of PRED; needed if there are several sources.
    """

    model: str = option("MODEL", reads)
    files: list[str] = option("PATH *", reads)
    output: str = option("-o --output OUTPUT", writes, required=True)
    spans: str | None = option("--spans PRED", reads)
    pred_format: str = shared.input_format("--pred-format", choices=SYSTEM_FORMATS)
    source: str | None = option("--source NAME")


class Score(shared.ReadingDetails):
    """Compute the typing accuracy on given mentions, of the model and of two baselines.

    In Python: ``fascicle.verbs.typer.score_types("runs/typer", "gold.tsv", "train.tsv")``

    Attributes:
        model: a model folder: RUN/model.
        gold: a corpus in any format.
        train: the training corpus, which the baselines need.
        input_format: format of GOLD and of the training corpus; default: auto.
        json: print the scores as JSON.
    """

    model: str = option("MODEL", reads)
    gold: str = option("GOLD", reads)
    train: str = option("--train PATH", reads, required=True)
    input_format: str = shared.input_format("--input-format")
    distributions: str | None = DISTRIBUTIONS
    overwrite: bool = OVERWRITE
    threads: int | None = THREADS
    strict: bool = STRICT
    json: bool = option("--json")


def _run_train(args: Train) -> int:
    """Trains as ``fascicle train`` does; returns the exit code."""
    say("note: fascicle typer train is another name of fascicle train")
    return train.run(args)


def _run_predict(args: Predict) -> int:
    """Predicts types or mentions; returns the exit code."""
    writing = shared.predictions_request(args)
    writing.check()
    tally = Tally()
    account = tally.account
    spans, reading = _spans_of(args), shared.read_request(args)
    predictions = call(type_spans, args, spans=spans, reading=reading, account=account)
    report = account.open_report()
    passing = account.passing(predictions, report)
    write_predictions(passing, writing, report=report)
    account.add(report)
    return tally.end(args.output, verbose=args.verbose, strict=args.strict)


def _spans_of(args: Predict) -> PredictionRequest | None:
    """Returns the predictions whose spans are typed."""
    if args.spans is None:
        return None
    return PredictionRequest(
        path=args.spans, reading=shared.read_request(args, role="pred"), source=args.source or ""
    )


def _run_score(args: Score) -> int:
    """Scores the types; returns the exit code."""
    gold, train = (
        PredictionRequest(path=path, reading=shared.read_request(args))
        for path in (args.gold, args.train)
    )
    tally = Tally()
    scores = call(score_types, args, gold=gold, train=train, events=tally.account.events)
    emit(scores.as_dict(), typing_text(scores), as_json=args.json, ensure_ascii=True)
    return tally.end(verbose=args.verbose, strict=args.strict)


COMMANDS = {
    "train": (Train, _run_train),
    "predict": (Predict, _run_predict),
    "score": (Score, _run_score),
}
