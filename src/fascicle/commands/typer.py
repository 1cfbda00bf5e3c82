"""``fascicle typer``: the span typer, which says of which type given spans are."""

from __future__ import annotations

import json
import sys

from fascicle.commands import shared, train
from fascicle.commands.console import Tally
from fascicle.commands.options import OVERWRITE, STRICT, THREADS, Overwrite, Strict, Threads, called, option
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.commands.systems import DISTRIBUTIONS, SYSTEM_FORMATS
from fascicle.commands.typing_text import typing_text
from fascicle.formats.outputs import write_predictions
from fascicle.systems.predictions import PredictionRequest
from fascicle.tasks.typing import score_types, type_spans


class Train(train.Options):
    """The same as fascicle train, which trains every kind of recipe.

    In Python: ``fascicle.train("typer.toml", "runs/typer")``
    """


class Predict(Threads, Strict, Overwrite, shared.Reading):
    """Predict types of given spans, or find mentions.

    In Python: ``fascicle.tasks.typing.type_spans("runs/typer", "texts/")``

    Attributes:
        model: a model folder: RUN/model.
        files: the texts: files, folders, zips.
        output: a prediction file: .tsv, .csv, else JSON Lines.
        spans: predictions whose spans are typed; without them, spans are tried one by one.
        pred_format: of PRED.
        source: whose mentions of PRED, if there are several.
    """

    model: str = option("MODEL", reads)
    files: list[str] = option("PATH *", reads)
    output: str = option("-o --output OUTPUT", writes, required=True)
    spans: str | None = option("--spans PRED", reads)
    pred_format: str = shared.input_format("--pred-format", choices=SYSTEM_FORMATS)
    source: str | None = option("--source NAME")


class Score(shared.ReadingDetails):
    """Typing accuracy on given mentions, beside two baselines.

    In Python: ``fascicle.tasks.typing.score_types("runs/typer", "gold.tsv", "train.tsv")``

    Attributes:
        model: a model folder: RUN/model.
        gold: a corpus in any format.
        train: the training corpus, which the baselines need.
        input_format: of both; default: auto.
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


def run_train(args: Train) -> int:
    """Trains as ``fascicle train`` does; returns the exit code."""
    say("note: fascicle typer train is another name of fascicle train")
    return train.run(args)


def run_predict(args: Predict) -> int:
    """Predicts; returns the exit code."""
    writing = shared.predicting_of(args)
    writing.check()
    tally = Tally()
    account = tally.account
    spans, reading = spans_of(args), shared.reading_of(args)
    predictions = called(type_spans, args, spans=spans, reading=reading, account=account)
    report = account.open_report()
    passing = account.passing(predictions, report)
    write_predictions(passing, writing, report=report)
    account.add(report)
    tally.say(verbose=args.verbose)
    tally.close(args.output)
    return tally.exit_code(strict=args.strict)


def spans_of(args: Predict) -> PredictionRequest | None:
    """The predictions whose spans are typed."""
    if args.spans is None:
        return None
    return PredictionRequest(path=args.spans, reading=shared.reading_of(args, role="pred"), source=args.source or "")


def run_score(args: Score) -> int:
    """Scores; returns the exit code."""
    gold, train = (PredictionRequest(path=path, reading=shared.reading_of(args)) for path in (args.gold, args.train))
    tally = Tally()
    scores = called(score_types, args, gold=gold, train=train, events=tally.account.events)
    sys.stdout.write(json.dumps(scores.as_dict()) + "\n" if args.json else typing_text(scores))
    tally.say(verbose=args.verbose)
    return tally.exit_code(strict=args.strict)


COMMANDS = {
    "train": (Train, run_train),
    "predict": (Predict, run_predict),
    "score": (Score, run_score),
}
