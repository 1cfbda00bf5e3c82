"""``fascicle typer``: the span typer, which says of which type given spans are."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from fascicle.commands import train
from fascicle.commands.console import Tally
from fascicle.commands.inputs import INPUT_FORMATS, add_reading, add_reading_details, reading_of
from fascicle.commands.outputs import predicting_of
from fascicle.commands.parsing import (
    Parser,
    add_command,
    add_json,
    add_overwrite,
    add_strict,
    add_threads,
    commands_of,
)
from fascicle.commands.places import reads, writes
from fascicle.commands.probed import add_distributions
from fascicle.commands.saying import say
from fascicle.commands.typing_text import typing_text
from fascicle.errors import UsageError
from fascicle.formats.outputs import write_predictions
from fascicle.systems.predictions import PREDICTIONS, PredictionRequest
from fascicle.tasks.typing import score_types, type_spans


def configure(parser: Parser) -> None:
    """Adds the commands."""
    parser.set_defaults(run=_no_command)
    commands = commands_of(parser, dest="typer_command")
    training = add_command(commands, "train", help_text="the same as fascicle train, which trains every kind of recipe")
    training.set_defaults(run=run_train)
    train.add_options(training)
    predict = add_command(commands, "predict", help_text="predict types of given spans, or find mentions")
    predict.set_defaults(run=run_predict)
    predict.add_argument("model", type=reads, metavar="MODEL", help="a model folder: RUN/model")
    predict.add_argument("files", nargs="*", type=reads, metavar="PATH", help="the texts: files, folders, zips")
    predict.add_argument(
        "-o", "--output", type=writes, required=True, help="a prediction file: .tsv, .csv, else JSON Lines"
    )
    predict.add_argument(
        "--spans",
        type=reads,
        metavar="PRED",
        help="predictions whose spans are typed; without them, spans are tried one by one",
    )
    predict.add_argument("--pred-format", choices=INPUT_FORMATS.with_more(PREDICTIONS), default="auto", help="of PRED")
    predict.add_argument("--source", metavar="NAME", help="whose mentions of PRED, if there are several")
    _add_common(predict)
    add_overwrite(predict)
    add_reading(predict)
    score = add_command(commands, "score", help_text="typing accuracy on given mentions, beside two baselines")
    score.set_defaults(run=run_score)
    score.add_argument("model", type=reads, metavar="MODEL", help="a model folder: RUN/model")
    score.add_argument("gold", type=reads, metavar="GOLD", help="a corpus in any format")
    score.add_argument(
        "--train", type=reads, required=True, metavar="PATH", help="the training corpus, which the baselines need"
    )
    score.add_argument("--input-format", choices=INPUT_FORMATS, default="auto", help="of both; default: auto")
    add_distributions(score)
    add_overwrite(score)
    _add_common(score)
    add_json(score, what="the scores")
    add_reading_details(score.add_argument_group("reading"))


def _add_common(parser: argparse.ArgumentParser) -> None:
    add_threads(parser)
    add_strict(parser)


def run_train(args: argparse.Namespace) -> int:
    """Trains as ``fascicle train`` does; returns the exit code."""
    say("note: fascicle typer train is another name of fascicle train")
    return train.run(args)


def run_predict(args: argparse.Namespace) -> int:
    """Predicts; returns the exit code."""
    writing = predicting_of(args)
    writing.check()
    tally = Tally()
    account = tally.account
    spans, reading = spans_of(args), reading_of(args)
    predictions = type_spans(
        args.model, args.files, spans=spans, reading=reading, threads=args.threads, account=account
    )
    report = account.open_report()
    passing = account.passing(predictions, report)
    write_predictions(passing, writing, report=report)
    account.add(report)
    tally.say(verbose=args.verbose)
    tally.close(args.output)
    return tally.exit_code(strict=args.strict)


def spans_of(args: argparse.Namespace) -> PredictionRequest | None:
    """The predictions whose spans are typed."""
    if args.spans is None:
        return None
    return PredictionRequest(path=args.spans, reading=reading_of(args, role="pred"), source=args.source or "")


def run_score(args: argparse.Namespace) -> int:
    """Scores; returns the exit code."""
    gold, train = (PredictionRequest(path=path, reading=reading_of(args)) for path in (args.gold, args.train))
    tally, place = Tally(), args.distributions or ""
    events = tally.account.events
    scores = score_types(
        args.model,
        gold,
        train,
        threads=args.threads,
        distributions=place,
        overwrite=args.overwrite,
        events=events,
    )
    sys.stdout.write(json.dumps(scores.as_dict()) + "\n" if args.json else typing_text(scores))
    tally.say(verbose=args.verbose)
    return tally.exit_code(strict=args.strict)


def _no_command(args: Any) -> int:
    raise UsageError("typer needs a command of its own: train, predict or score; see fascicle typer --help")
