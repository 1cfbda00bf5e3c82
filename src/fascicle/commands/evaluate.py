"""``fascicle evaluate``: predictions against gold."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from fascicle.commands.columns import add_columns, check_columns, read_columns, read_gold
from fascicle.commands.console import Tally, say
from fascicle.commands.inputs import INPUT_FORMATS, add_reading_details, read_file
from fascicle.commands.parsing import add_json, add_overwrite, add_strict, natural
from fascicle.commands.places import reads, writes
from fascicle.commands.predicted import Predicted, names_of, on_gold, read_predicted
from fascicle.commands.probed import add_model, check_model, run_model
from fascicle.commands.systems import PREDICTIONS
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import InputError, MissingExtraError, UsageError
from fascicle.evaluation.headline import Headline, headline_of
from fascicle.evaluation.scoring.figures import figures_row, undefined_numbers
from fascicle.evaluation.scoring.inputs import check_offsets, check_texts, drawn_unit
from fascicle.evaluation.scoring.systems import System, score_system
from fascicle.files.atomic import check_target, output
from fascicle.files.source import STDIN
from fascicle.formats.report import ReadReport
from fascicle.loading import find_model
from fascicle.reports.table import systems_table, table
from fascicle.settings.recipes.ensemble import is_ensemble

if TYPE_CHECKING:
    from fascicle.evaluation.breakdown.lexicon import Lexicon

HELP = "score predictions against gold: precision, recall, F1, and where and why a system fails"


BUCKETS = ("fixed", "quantiles")
UNITS = ("sentence", "document")


def _as_markdown(report: Mapping[str, Any]) -> str:
    from fascicle.reports.markdown import markdown

    return markdown(report)


def _as_json(report: Mapping[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _as_page(report: Mapping[str, Any]) -> str:
    from fascicle.reports.page.page import page
    from fascicle.reports.plots.report_pictures import report_pictures

    try:
        return page(report, pictures=report_pictures(report))
    except MissingExtraError as error:
        say(f"note: the page has no pictures: {error}")
        return page(report, notice=f"This page has tables only, no pictures: {error}")


# Suffix of the file of --report -> how the value of `build_report` is written.
REPORTS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = MappingProxyType(
    {".html": _as_page, ".md": _as_markdown, ".json": _as_json}
)


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
    parser.add_argument("--interval", action="store_true", help="95%% bootstrap intervals of micro P, R, F1, macro F1")
    parser.add_argument(
        "--agreement", action="store_true", help="GOLD and PRED are two annotators: F1 of mentions, kappa of words"
    )
    add_json(parser, what="the scores")
    add_strict(parser)
    _add_report(parser)
    add_model(parser)
    add_overwrite(parser)
    group = parser.add_argument_group("reading")
    group.add_argument("--gold-format", choices=INPUT_FORMATS, default="auto", help="default: auto")
    group.add_argument("--pred-format", choices=(*INPUT_FORMATS, *PREDICTIONS), default="auto", help="default: auto")
    add_reading_details(group)
    add_columns(group)


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
        "--train", type=reads, metavar="PATH", help="the training corpus, for what was seen, and how often"
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
        help="a model folder, or a name: how much of the gold no model of its kind can find; may be repeated",
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
    check_columns(args)
    check_model(args)
    writer, named = _report_writer(args), _named(args)
    tally = Tally()
    report = ReadReport()
    gold = list(tally.observe(read_gold(args, report)))
    read = {
        name: (path, on_gold(read_predicted(path, args, tally=tally), gold, path=path, gold_path=args.gold))
        for name, path in named
    }
    read |= read_columns(args, tally=tally)
    read |= run_model(args, gold, taken=list(read), tally=tally)
    systems = [_scored(name, gold, path=path, predicted=said, args=args) for name, (path, said) in read.items()]
    training = _training(args, tally) if writer is not None else None
    if args.verbose:
        for line in report.lines():
            say(line)
    tally.say()
    for one in systems:
        path, said = read[one.name]
        _say_notes(one, said, path=path)
    headlines = _headlines(systems) if args.interval else None
    if writer is not None:
        text = writer(_report(gold, systems, training=training, args=args))
        with output(args.report, overwrite=args.overwrite) as stream:
            stream.write(text.encode())
    sys.stdout.write(_shown(systems, headlines, args, unit=drawn_unit(gold)))
    return tally.exit_code(strict=args.strict)


def _report_writer(args: argparse.Namespace) -> Callable[[Mapping[str, Any]], str] | None:
    """How the report is written; refuses early what would fail after long work."""
    if args.report is None:
        given = [name for name in ("train", "train_where", "unreachable_for") if getattr(args, name)]
        if given:
            raise UsageError(f"--{given[0].replace('_', '-')} says more in a report only; give --report FILE too")
        return None
    if args.train_where and not args.train:
        raise UsageError("--train-where is about the training corpus; give --train PATH too")
    suffix = Path(args.report).suffix
    if suffix not in REPORTS:
        raise UsageError(
            f"the report {args.report} was asked for; its name must end with {' or '.join(REPORTS)}, which decides "
            "what it is"
        )
    check_target(args.report, overwrite=args.overwrite)
    return REPORTS[suffix]


def _named(args: argparse.Namespace) -> list[tuple[str, str]]:
    """The systems: name and path."""
    if [args.gold, *args.files].count(STDIN) > 1:
        raise UsageError("standard input (-) was given twice; it can be read once")
    return list(zip(names_of(args.files), args.files, strict=True))


def _scored(
    name: str, gold: Sequence[Document], *, path: str, predicted: Predicted, args: argparse.Namespace
) -> System:
    allow = args.allow_missing or not predicted.lists_all
    try:
        check_texts(gold, predicted.hashes, texts=predicted.texts)
        check_offsets(gold, predicted.mentions)
        return score_system(name, gold, predicted=predicted.mentions, allow_missing=allow)
    except InputError as error:
        raise InputError(f"{path}: {error}" if len(args.files) > 1 else str(error)) from None


def _report(
    gold: Sequence[Document], systems: Sequence[System], *, training: Lexicon | None, args: argparse.Namespace
) -> dict[str, Any]:
    from fascicle.evaluation.report import Settings, build_report  # not needed to score, nor by other commands

    settings = Settings(unit=args.text_unit, cutting=args.buckets, examples=args.examples)
    return build_report(gold, systems, training=training, settings=settings, unreachable=_unreachable(gold, args))


def _unreachable(gold: Sequence[Document], args: argparse.Namespace) -> list[dict[str, Any]]:
    scored = [args.model] if args.model and not is_ensemble(find_model(args.model)) else []
    models = list(dict.fromkeys([*args.unreachable_for, *scored]))
    if not models:
        return []
    from fascicle.commands.reachable import unreachable_part  # late, for it reads tokenizers

    return unreachable_part(models, gold)


def _training(args: argparse.Namespace, tally: Tally) -> Lexicon | None:
    if not args.train:
        return None
    from fascicle.evaluation.breakdown.lexicon import lexicon

    of_training = argparse.Namespace(**vars(args) | {"where": args.train_where})
    found = lexicon(tally.observe(read_file(args.train, of_training, format_name=args.train_format)))
    if not found.mentions:
        say(f"note: {args.train} holds no gold mention, so nothing of it was seen in training")
    return found


def _headlines(systems: Sequence[System]) -> dict[str, Headline]:
    """The intervals of each system, by name."""
    found = {one.name: headline_of(one.drawn) for one in systems}
    for reason in dict.fromkeys(one.undefined.get("micro_f1") for one in found.values()):
        if reason is not None:
            say(f"note: no interval, for {reason}")
    if any(one.drawn is not one.strict for one in systems):
        say("note: there is only one document, so intervals come from drawing its sentences")
    return found


def _say_notes(one: System, predicted: Predicted, *, path: str) -> None:
    scores = one.strict
    if scores.missing and not predicted.lists_all:
        say(
            f"note: {path} names {len(predicted.mentions):,} of {counted(len(scores.by_document), 'document')}; a TSV "
            f"cannot list documents without mentions, so the other {len(scores.missing):,} counted as such"
        )
    elif scores.missing:
        say(f"note: {path} lacks {counted(len(scores.missing), 'document')}; nothing counts as found in them")
    if predicted.matched:
        say(f"note: {path}: {predicted.matched}")
    if predicted.mentions and not any(predicted.hashes.values()):
        say(f"note: {path} does not say on which texts it was made, so that was not checked")
    if predicted.called_gold:
        say(f"note: {path} calls all its mentions gold; they were taken for the predictions")
    if scores.duplicates_gold or scores.duplicates_predicted:
        say(
            f"note: {scores.duplicates_gold:,} gold and {scores.duplicates_predicted:,} predicted mentions are there "
            "more than once and count once"
        )
    if not scores.counts.support:
        say("note: the gold holds no mention, so recall is undefined")
    if not scores.counts.predicted:
        say(f"note: {path} holds no mention, so precision is undefined")
    _say_types(one, path=path)


def _say_types(one: System, *, path: str) -> None:
    """Types that one side lacks, which a spelling may be the reason of."""
    by_type = one.strict.by_type
    gold_only = {name: counts.support for name, counts in by_type.items() if not counts.predicted}
    predicted_only = {name: counts.predicted for name, counts in by_type.items() if not counts.support}
    if not one.strict.counts.support or not one.strict.counts.predicted:
        return
    for where, found, others in (("the gold", gold_only, predicted_only), (path, predicted_only, gold_only)):
        if found:
            listed = ", ".join(f"{name!r} ({count:,})" for name, count in list(found.items())[:5])
            more = f" and {len(found) - 5:,} more" if len(found) > 5 else ""
            alike = {name for name in found for other in others if name.casefold() == other.casefold()}
            hint = "; types must be spelt alike" if alike else ""
            say(f"note: in {where} only: mentions of {listed}{more}{hint}")


def _shown(
    systems: Sequence[System], headlines: Mapping[str, Headline] | None, args: argparse.Namespace, *, unit: str
) -> str:
    if args.json:
        values = [_value(one, headlines) for one in systems]
        named = [{"name": one.name} | value for one, value in zip(systems, values, strict=True)]
        return json.dumps(values[0] if len(systems) == 1 else {"systems": named}, ensure_ascii=False) + "\n"
    if len(systems) > 1:
        return systems_table(systems, headlines=headlines, by_type=args.by_type, unit=unit)
    (one,) = systems
    headline = (headlines or {}).get(one.name)
    return table(one.strict, headline=headline, by_type=args.by_type, others=one.others, unit=unit)


def _value(one: System, headlines: Mapping[str, Headline] | None) -> dict[str, Any]:
    """A system for ``--json``; strict numbers follow the zero rule, and it is said which of them are undefined."""
    value = one.strict.as_dict() | {"rules": {scores.rule: figures_row(scores.counts) for scores in one.others}}
    undefined = undefined_numbers(one.strict)
    if headlines is not None:
        intervals = headlines[one.name].as_dict()
        reasons = intervals.pop("undefined", {})
        undefined |= {"intervals": reasons} if reasons else {}
        value |= intervals
    return value | ({"undefined": undefined} if undefined else {})
