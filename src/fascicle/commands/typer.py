"""``fascicle typer``: the span typer, which says of which type given spans are."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, Final

from fascicle.commands import train
from fascicle.commands.console import Tally, needs_extra, say
from fascicle.commands.inputs import (
    INPUT_FORMATS,
    Input,
    add_reading,
    add_reading_details,
    paths_of,
    read_file,
    read_inputs,
)
from fascicle.commands.outputs import format_of
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
from fascicle.commands.predicted import Predicted, read_predicted
from fascicle.commands.probed import add_distributions, check_distributions
from fascicle.commands.systems import PREDICTIONS
from fascicle.commands.typing_text import typing_text
from fascicle.core.document import Document, Patch
from fascicle.core.wording import counted
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.inputs import check_texts
from fascicle.evaluation.scoring.typing import fit_lookup
from fascicle.files.atomic import check_target
from fascicle.files.source import suffix
from fascicle.formats.distributions import Header
from fascicle.formats.distributions import write as write_distributions
from fascicle.formats.predictions import Prediction, text_hash, write

if TYPE_CHECKING:
    from fascicle.models.span_typer import TyperModel

HELP = "type given spans with a light model of static vectors: train it, score it, re-type predictions"
_OUTPUTS: Final = ("tsv", "csv", "predictions", "jsonl")


def configure(parser: Parser) -> None:
    """Adds the commands."""
    parser.set_defaults(run=_no_command)
    commands = commands_of(parser, dest="typer_command")
    training = add_command(commands, "train", help_text="the same as fascicle train, which trains every kind of recipe")
    training.set_defaults(run=run_train)
    train.add_options(training)
    predict = add_command(
        commands, "predict", help_text="write predictions: given spans with new types, or mentions found"
    )
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
    predict.add_argument("--pred-format", choices=(*INPUT_FORMATS, *PREDICTIONS), default="auto", help="of PRED")
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
    if suffix(args.output) and format_of(args.output) not in _OUTPUTS:
        raise UsageError(f"{args.output} is no name of a prediction file; name it .tsv, .csv or .jsonl")
    check_target(args.output, overwrite=args.overwrite)
    model, tally = _opened(args), Tally()
    documents = _documents(args, tally)
    if args.spans is None:
        patches = model.predict(documents)
    else:
        patches = model.retype(documents, _proposed(args, documents, tally).mentions)
    for document, patch in zip(documents, patches, strict=True):
        for event in patch.events:
            tally.add(event, document.id)
    write(args.output, map(_prediction, documents, patches), overwrite=args.overwrite)
    tally.account.written, tally.account.mentions = len(patches), sum(len(patch.add) for patch in patches)
    tally.say(verbose=args.verbose)
    tally.close(args.output)
    return tally.exit_code(strict=args.strict)


def run_score(args: argparse.Namespace) -> int:
    """Scores; returns the exit code."""
    check_distributions(args)
    model, tally = _opened(args), Tally()
    with needs_extra("train"):
        from fascicle.text.segment import segmenter
        from fascicle.training.typer.scores import distributions_of, given_mentions, score_typer, training_pairs
    training, gold = (
        list(tally.observe(read_file(path, args, format_name=args.input_format))) for path in (args.train, args.gold)
    )
    lookup = fit_lookup(training_pairs(training, segmenter(model.manifest.settings.segmenter)))
    if not any(document.layer("gold") for document in gold):
        raise InputError(f"{args.gold} holds no gold mention, so there is nothing to type; give annotated text")
    given = given_mentions(model, gold)
    scores = score_typer(model, gold, lookup, given=given)
    if args.distributions is not None:
        header = Header(model=model.manifest.name, family="span-typer", definition="softmax", types=model.types)
        write_distributions(args.distributions, header, distributions_of(given, model.types), overwrite=args.overwrite)
    sys.stdout.write(json.dumps(scores.as_dict()) + "\n" if args.json else typing_text(scores))
    tally.say(verbose=args.verbose)
    return tally.exit_code(strict=args.strict)


def _opened(args: argparse.Namespace) -> TyperModel:
    with needs_extra("train"):
        from fascicle.models.span_typer import load_typer
        from fascicle.training.engine.environment import use_threads
    use_threads(args.threads)
    return load_typer(args.model)


def _documents(args: argparse.Namespace, tally: Tally) -> list[Document]:
    paths = paths_of(args.files, format_name=args.input_format)
    account = tally.account
    found = read_inputs([Input(name=path) for path in paths], args, report=account.reading)
    documents = list(tally.observe(document for _, document in found))
    account.read = len(documents)
    if not documents:
        account.refuse_nothing()
    return documents


def _proposed(args: argparse.Namespace, documents: list[Document], tally: Tally) -> Predicted:
    """The spans to type, of texts that are known to be the same."""
    predicted = read_predicted(args.spans, args, tally=tally)
    check_texts(documents, predicted.hashes, texts=predicted.texts)
    others = sorted(predicted.mentions.keys() - {document.id for document in documents})
    if others:
        raise InputError(
            f"{args.spans} holds predictions for {counted(len(others), 'document')} not among the texts (the first is "
            f"{others[0]!r}); give the texts that they were made on"
        )
    return predicted


def _prediction(document: Document, patch: Patch) -> Prediction:
    return Prediction(
        id=document.id,
        sha256=text_hash(document.text),
        mentions=tuple(sorted(patch.add, key=lambda m: (m.start, -m.end, m.type, m.spans))),
        events=patch.events,
    )


def _no_command(args: Any) -> int:
    raise UsageError("typer needs a command of its own: train, predict or score; see fascicle typer --help")
