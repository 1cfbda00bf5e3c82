"""``fascicle evaluate``: predictions against gold."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fascicle.commands.columns import Columns, add_columns, columns_of
from fascicle.commands.console import Tally, with_progress
from fascicle.commands.inputs import INPUT_FORMATS, add_reading_details, reading_of
from fascicle.commands.parsing import Once, add_json, add_overwrite, add_strict, add_types, natural, types_of
from fascicle.commands.places import reads, writes
from fascicle.commands.probed import add_model, model_of
from fascicle.commands.saying import say
from fascicle.commands.scored import REPORTS, check_report, predictions_of
from fascicle.errors import UsageError
from fascicle.evaluation.headline import Headline, headline_of
from fascicle.evaluation.scoring.figures import figures_row, undefined_numbers
from fascicle.evaluation.scoring.inputs import drawn_unit
from fascicle.evaluation.scoring.systems import Scored
from fascicle.files.atomic import output
from fascicle.formats.requests import pairs
from fascicle.reports.table import systems_table, table
from fascicle.systems.model import ModelRequest
from fascicle.systems.predictions import PREDICTIONS, PredictionRequest
from fascicle.tasks.evaluate import Evaluation, evaluate

if TYPE_CHECKING:
    from fascicle.tasks.report import ReportRequest


BUCKETS = ("fixed", "quantiles")
UNITS = ("sentence", "document")


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("gold", type=reads, metavar="GOLD", help="a corpus in any format")
    parser.add_argument(
        "files",
        nargs="*",
        type=reads,
        metavar="PRED",
        help="prediction files (JSON Lines or TSV) or corpora, one for each system",
    )
    parser.add_argument("--source", metavar="NAME", help="whose mentions of PRED are scored, if there are several")
    parser.add_argument(
        "--allow-missing", action="store_true", help="gold documents that PRED lacks count as without predictions"
    )
    parser.add_argument(
        "--by-type", action=argparse.BooleanOptionalAction, default=True, help="a line per entity type; default: yes"
    )
    add_types(parser)
    parser.add_argument("--interval", action="store_true", help="95%% bootstrap intervals of micro P, R, F1, macro F1")
    parser.add_argument(
        "--agreement", action="store_true", help="GOLD and PRED are two annotators: F1 of mentions, kappa of words"
    )
    add_json(parser, what="the scores")
    add_strict(parser)
    _add_links(parser)
    _add_report(parser)
    add_model(parser)
    add_overwrite(parser)
    group = parser.add_argument_group("reading")
    group.add_argument("--gold-format", choices=INPUT_FORMATS, default="auto", help="default: auto")
    group.add_argument(
        "--pred-format", choices=INPUT_FORMATS.with_more(PREDICTIONS), default="auto", help="default: auto"
    )
    add_reading_details(group)
    add_columns(group)


def _add_links(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("links")
    group.add_argument(
        "--links", action="store_true", help="score the concepts of mentions in place of the mentions, with intervals"
    )
    group.add_argument(
        "--linker",
        action="append",
        type=reads,
        metavar="LINKER",
        help="with --links: a folder that fascicle linker fit wrote, or the name of a shipped linker, which links the "
        "mentions of GOLD; may be repeated, as in fascicle link",
    )
    group.add_argument(
        "--ontology", action=Once, default="", metavar="PREFIX", help="with --linker: give links in this vocabulary"
    )
    group.add_argument(
        "--pack",
        type=reads,
        action="append",
        default=[],
        metavar="PACK",
        help="with --links: the vocabulary, a folder that fascicle index build wrote; explains errors; not needed "
        "with --linker; may be repeated",
    )
    group.add_argument(
        "--prefix",
        action="append",
        default=[],
        metavar="TYPE=PREFIX",
        help="with --links: identifiers of mentions of TYPE without a prefix have this one (Disease=MESH); may be "
        "repeated",
    )


def _add_report(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "report", "scores, subsets, buckets, errors with examples, calibration, in a file"
    )
    group.add_argument(
        "--report",
        type=writes,
        metavar="FILE",
        help=f"where; its suffix decides: {', '.join(REPORTS)}; .html is one page with examples to filter and, with "
        "fascicle[plots], pictures",
    )
    group.add_argument(
        "--train",
        type=reads,
        metavar="PATH",
        help="the training corpus: report which mentions it contains",
    )
    group.add_argument("--train-format", choices=INPUT_FORMATS, default="auto", help="default: auto")
    group.add_argument(
        "--train-where", action="append", default=[], metavar="FIELD=VALUE", help="as --where, for the training corpus"
    )
    group.add_argument(
        "--unreachable-for",
        type=reads,
        action="append",
        default=[],
        metavar="MODEL",
        help="report how much of the gold no model like this one can find: a model folder or name; may be repeated",
    )
    group.add_argument(
        "--buckets",
        choices=BUCKETS,
        default="fixed",
        help="intervals: fixed (of the papers), or quantiles of the gold",
    )
    group.add_argument(
        "--text-unit", choices=UNITS, default="sentence", help="a text of the buckets; default: sentence"
    )
    group.add_argument("--examples", type=natural, default=5, metavar="N", help="of each class of errors; default: 5")


def run(args: argparse.Namespace) -> int:
    """Scores; returns the exit code."""
    if args.agreement:
        from fascicle.commands.agreement import run_agreement  # late: scores need none of it

        return run_agreement(args)
    if args.links:
        from fascicle.commands.evaluate_links import run_links  # late: scores of mentions need none of it

        return run_links(args)
    if given := [name for name in ("linker", "ontology", "pack", "prefix") if getattr(args, name)]:
        raise UsageError(f"--{given[0]} is about links; give --links too")
    columns = columns_of(args)
    systems, wanted = systems_of(args, columns), report_of(args)
    gold = PredictionRequest(path=args.gold, reading=reading_of(args, role="gold"))
    if columns is not None:
        gold = replace(gold, reading=columns.gold_request(gold.reading))
    tally = Tally()
    events, watch = tally.account.events, partial(with_progress, quiet=False)
    found = evaluate(gold, systems, types=types_of(args), allow_missing=args.allow_missing, events=events, watch=watch)
    report, notes = None, list(found.notes)
    if wanted is not None:
        from fascicle.tasks.report import report_on

        report = report_on(found, wanted, events=events)
        notes += report.notes
    if args.verbose:
        for line in found.gold.reading.lines():
            say(line)
    tally.say()
    headlines = _headlines(found.systems, notes) if args.interval else None
    if report is not None:
        text, lacking = report.text(Path(args.report).suffix)
        notes += [lacking] if lacking else []
        with output(args.report, overwrite=args.overwrite) as stream:
            stream.write(text.encode())
    for note in notes:
        say(f"note: {note}")
    if args.json:
        sys.stdout.write(_as_json(found.systems, headlines))
    else:
        sys.stdout.write(_as_text(found, headlines, by_type=args.by_type))
    return tally.exit_code(strict=args.strict)


def systems_of(args: argparse.Namespace, columns: Columns | None) -> list[PredictionRequest | ModelRequest]:
    """The systems that are scored: files, columns of the gold file, and a model.

    Raises:
        UsageError: nothing to score, or options that need a model and have none.
        OutputError: the place of the distributions file cannot be written.
    """
    if not args.files and args.model is None and columns is None:
        raise UsageError(
            "no PRED was given to score; name prediction files, or a model with --model, or, if GOLD holds the "
            "predictions in a column of its own, --gold-column and --pred-column"
        )
    model = model_of(args)
    found: list[PredictionRequest | ModelRequest] = list(predictions_of(args))
    if columns is not None:
        read = columns.predicted_requests(reading_of(args, role="pred"), args.gold)
        found += [
            PredictionRequest(path=args.gold, reading=reading, source=args.source or "", name=name)
            for name, reading in read.items()
        ]
    return [*found, *([model] if model is not None else [])]


def report_of(args: argparse.Namespace) -> ReportRequest | None:
    """What ``--report`` asks for; refuses early what would fail after long work.

    Raises:
        UsageError: options of a report without one, or a name that does not tell its format.
        OutputError: the file exists.
    """
    if args.report is None:
        given = [name for name in ("train", "train_where", "unreachable_for") if getattr(args, name)]
        if given:
            raise UsageError(f"--{given[0].replace('_', '-')} says more in a report only; give --report FILE too")
        return None
    if args.train_where and not args.train:
        raise UsageError("--train-where is about the training corpus; give --train PATH too")
    check_report(args.report, overwrite=args.overwrite)
    from fascicle.evaluation.report import ReportSettings  # not needed to score, nor by other commands
    from fascicle.tasks.report import ReportRequest, is_of_one_kind

    where = pairs(args.train_where, key="--train-where FIELD=VALUE", example="split=train")
    own = [args.model] if args.model and is_of_one_kind(args.model) else []
    return ReportRequest(
        settings=ReportSettings(unit=args.text_unit, cutting=args.buckets, examples=args.examples),
        train=args.train or "",
        train_reading=replace(reading_of(args, role="train"), where=where),
        unreachable_for=(*args.unreachable_for, *own),
    )


def _headlines(systems: Sequence[Scored], notes: list[str]) -> dict[str, Headline]:
    """The intervals of each system, by name."""
    found = {one.name: headline_of(one.drawn) for one in systems}
    for reason in dict.fromkeys(one.undefined.get("micro_f1") for one in found.values()):
        if reason is not None:
            notes.append(f"no interval, for {reason}")
    if any(one.drawn is not one.strict for one in systems):
        notes.append("there is only one document, so intervals come from drawing its sentences")
    return found


def _as_json(systems: Sequence[Scored], headlines: Mapping[str, Headline] | None) -> str:
    values = [_value(one, headlines) for one in systems]
    named = [{"name": one.name} | value for one, value in zip(systems, values, strict=True)]
    return json.dumps(values[0] if len(systems) == 1 else {"systems": named}, ensure_ascii=False) + "\n"


def _as_text(found: Evaluation, headlines: Mapping[str, Headline] | None, *, by_type: bool) -> str:
    unit = drawn_unit(found.gold.documents)
    if len(found.systems) > 1:
        return systems_table(found.systems, headlines=headlines, by_type=by_type, unit=unit)
    (one,) = found.systems
    headline = (headlines or {}).get(one.name)
    return table(one.strict, headline=headline, by_type=by_type, others=one.others, unit=unit)


def _value(one: Scored, headlines: Mapping[str, Headline] | None) -> dict[str, Any]:
    """A system for ``--json``; strict numbers follow the zero rule, and it is said which of them are undefined."""
    value = one.strict.as_dict() | {"rules": {scores.rule: figures_row(scores.counts) for scores in one.others}}
    undefined = undefined_numbers(one.strict)
    if headlines is not None:
        intervals = headlines[one.name].as_dict()
        reasons = intervals.pop("undefined", {})
        undefined |= {"intervals": reasons} if reasons else {}
        value |= intervals
    return value | ({"undefined": undefined} if undefined else {})
