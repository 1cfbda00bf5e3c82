"""Command ``fascicle evaluate``: scores predictions against gold."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from fascicle.core.files.atomic import open_output
from fascicle.core.wording import near_names
from fascicle.errors import UsageError
from fascicle.evaluation.breakdown.buckets import Cutting
from fascicle.evaluation.breakdown.layout import TextUnit
from fascicle.evaluation.report import Headline, ReportSettings, headline_intervals
from fascicle.evaluation.reports.table import systems_table, table
from fascicle.evaluation.scoring.inputs import ScoredSystem, resampling_unit
from fascicle.evaluation.scoring.scores import figures_row, undefined_numbers
from fascicle.evaluation.systems.model import ModelRequest, check_distributions
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.formats.requests import parse_pairs
from fascicle.verbs import shared
from fascicle.verbs import systems as declared
from fascicle.verbs.console import Tally, with_progress
from fascicle.verbs.messages import emit, say, say_notes
from fascicle.verbs.options import (
    STRICT,
    Overwrite,
    Threads,
    call,
    first_given,
    natural,
    option,
    reads,
    writes,
)
from fascicle.verbs.tasks.evaluate import Evaluation, Runnable, evaluate
from fascicle.verbs.tasks.pipeline_predictions import PipelineRequest

if TYPE_CHECKING:
    from fascicle.formats.account import EventCounts
    from fascicle.verbs.tasks.report import EvaluationReport, GateResult, ReportRequest

_FELL_SHORT: Final = 4  # exit code
_REPORT: Final = (
    f"file of the report; its suffix sets the format: {', '.join(declared.REPORTS)}; .html is one "
    "page with examples that can be filtered; it has pictures if fascicle[plots] is installed"
)


def _types_to_write(system: ScoredSystem) -> str:
    """Returns the options that give types their names in the predictions, where no mention is
    right because all types differ; else an empty text.
    """
    by_type = system.strict.by_type
    predicted = [name for name, counts in by_type.items() if counts.predicted]
    gold = [name for name, counts in by_type.items() if counts.support]
    if not gold or not predicted or not set(gold).isdisjoint(predicted):
        return ""
    near = {name: near_names(name, predicted) for name in gold}
    lone = predicted if len(predicted) == 1 else ["NAME"]
    names = {name: (others or lone)[0] for name, others in near.items()}
    options = " ".join(f"--type {shlex.quote(f'{name}={other}')}" for name, other in names.items())
    all_named = len(predicted) == 1 or all(near.values())
    which = "" if all_named else f" ({', '.join(predicted)})"
    return f"No type of the gold is among those of {system.name}{which}; to score them: {options}\n"


class Links:
    """Options for scores of concepts.

    Attributes:
        links: score the concepts of mentions, with intervals, and not the mentions.
        linker: with --links: the linker that links the mentions of GOLD: a folder of fascicle
            linker fit, or the name of a shipped linker; may be repeated, as in fascicle link.
        ontology: with --linker: give links in this vocabulary.
        pack: with --links: the term pack that explains errors (a folder of fascicle index build);
            not needed with --linker; may be repeated.
        prefix: with --links or --at-least: the prefix for identifiers of TYPE that have none, e.g.
            Disease=MESH; may be repeated.
    """

    group = "links"
    links: bool = option("--links")
    linker: list[str] = option("--linker LINKER ...", reads)
    ontology: str = shared.ONTOLOGY
    pack: list[str] = option("--pack PACK ...", reads)
    prefix: list[str] = option("--prefix TYPE=PREFIX ...")


class ReportOptions:
    """Options of the report, which a file holds in addition to the scores.

    Attributes:
        train: the training corpus; the report then says which mentions it contains.
        train_format: format of the training corpus; default: auto.
        train_where: as --where, for the training corpus.
        unreachable_for: count the gold mentions that no model of this kind can find: a model folder
            or name; may be repeated.
        buckets: limits of the buckets: fixed, as in the published papers, or quantiles of the gold;
            default: fixed.
        text_unit: what counts as one text in buckets; default: sentence.
        examples: number of examples for each class of errors; default: 5.
    """

    group = "report"
    about = "write scores, subsets, buckets, errors with examples, and calibration to a file"
    report: str | None = option("--report FILE", writes, help=_REPORT)
    train: str | None = option("--train PATH", reads)
    train_format: str = shared.input_format("--train-format")
    train_where: list[str] = option("--train-where FIELD=VALUE ...")
    unreachable_for: list[str] = option("--unreachable-for MODEL ...", reads)
    buckets: Cutting = option("--buckets", choices=("fixed", "quantiles"), default="fixed")
    text_unit: TextUnit = option(
        "--text-unit", choices=("sentence", "document"), default="sentence"
    )
    examples: int = option("--examples N", natural, default=5)


class Model(shared.ModelChoices):
    """Options for scoring a model.

    Attributes:
        model: a model folder, a term pack, a dictionary, or the name of a shipped model or a
            plug-in; may be repeated, to compare models.
        pipeline: a pipeline.toml, or a folder with one: score the mentions of all its steps, or of
            --source.
        device: where the network of --model computes, as in annotate.
    """

    group = "model"
    about = "score a model or a pipeline itself, without a file of its predictions"
    model: list[str] = option("--model MODEL ...", reads)
    pipeline: str | None = option("--pipeline PIPELINE", reads)
    distributions: str | None = declared.DISTRIBUTIONS
    device: str | None = option("--device DEVICE")


class Formats:
    """Options for the formats of gold and predictions.

    Attributes:
        gold_format: format of GOLD; default: auto.
        pred_format: format of PRED; default: auto.
    """

    group = "reading"
    gold_format: str = shared.input_format("--gold-format")
    pred_format: str = shared.input_format("--pred-format", choices=declared.SYSTEM_FORMATS)


class Options(
    Links,
    ReportOptions,
    Model,
    Threads,
    Overwrite,
    Formats,
    shared.ReadingDetails,
    declared.Columns,
):
    """Options of ``fascicle evaluate``.

    In Python: ``fascicle.evaluate("gold.tsv", ["one.jsonl", "two.jsonl"])``
    In Python with --aboutness: ``fascicle.verbs.evaluate_aboutness.evaluate_aboutness("gold.xml",
    "found.jsonl")``
    In Python with --links: ``fascicle.evaluate_links("gold.jsonl", "found.jsonl",
    linker="linker")``

    Attributes:
        gold: a corpus in any format.
        files: prediction files (JSON Lines or TSV), corpora or folders of runs, one for each
            system.
        source: score only the mentions of this source of PRED; needed if there are several sources.
        allow_missing: count gold documents that are missing in PRED as documents without
            predictions.
        by_type: print a line for each type; default: yes.
        facts: score what is said of mentions (negated, uncertain, and so on), not their types;
            --model finds it too.
        relations: score the relations of documents: by type and ends, and by ends alone.
        aboutness: score the order of the concepts of PRED, as fascicle concepts ranks them, against
            the major MeSH headings of GOLD, which is MEDLINE in XML.
        interval: print 95% bootstrap intervals of micro precision, recall and F1, and of macro F1.
        agreement: treat GOLD and PRED as annotators, and measure their agreement: F1 of mentions,
            kappa and alpha of words.
        at_least: a minimum score in percent, for a type or for the links of a vocabulary
            (Disease.f1=80, MESH.recall=70, micro.precision=75); if it is not reached, the exit code
            is 4; may be repeated.
        json: print the scores as JSON.
    """

    gold: str = option("GOLD", reads)
    files: list[str] = option("PRED *", reads)
    source: str | None = option("--source NAME")
    allow_missing: bool = option("--allow-missing")
    by_type: bool = option("--by-type", action=argparse.BooleanOptionalAction, default=True)
    types: list[str] = shared.TYPES
    map: str | None = declared.MAP
    facts: bool = option("--facts")
    relations: bool = option("--relations")
    aboutness: bool = option("--aboutness")
    interval: bool = option("--interval")
    agreement: bool = option("--agreement")
    at_least: list[str] = option("--at-least NAME.FIGURE=X ...")
    json: bool = option("--json")
    strict: bool = STRICT


def run(args: Options) -> int:
    """Scores the predictions; returns the exit code."""
    if other := _other_scores(args):
        return other(args)
    _check_options(args)
    columns = declared.system_columns(args)
    systems, report_request, tally = _systems_of(args, columns), _report_of(args), Tally()
    evaluation = _evaluate(args, _gold_of(args, columns), systems, tally.account.events)
    gates = _gates_of(args, evaluation)
    report = _report_on(evaluation, report_request, events=tally.account.events)
    for line in evaluation.gold.reading.lines() if args.verbose else ():
        say(line)
    tally.say()
    notes = [*evaluation.notes, *(report.notes if report else ())]
    headlines = _headlines(evaluation.systems, notes) if args.interval else None
    if report and args.report is not None:
        notes += _write_report(report, args.report, overwrite=args.overwrite)
    say_notes(notes)
    verdict, code = _judge_gates(gates)
    text = _as_text(evaluation, headlines, verdict, by_type=args.by_type)
    emit(_values(evaluation.systems, headlines, gates), text, as_json=args.json)
    return code or tally.exit_code(strict=args.strict)


def _other_scores(args: Options) -> Callable[[Options], int] | None:
    """Returns what scores something else than mentions, if an option asks for it; it is imported
    then, because scores of mentions do not need it.

    Raises:
        UsageError: two options that exclude each other.
    """
    if args.relations:
        from fascicle.verbs.evaluate_relations import run_relations

        return run_relations
    if args.aboutness:
        from fascicle.verbs.evaluate_aboutness import run_aboutness

        return run_aboutness
    if args.facts and (args.links or args.agreement):
        raise UsageError("--facts was given with --links or --agreement; choose one of them")
    if args.agreement:
        from fascicle.verbs.agreement import run_agreement

        return run_agreement
    if args.links:
        from fascicle.verbs.evaluate_links import run_links

        return run_links
    return None


def _evaluate(
    args: Options,
    gold: PredictionRequest,
    systems: Sequence[PredictionRequest | Runnable],
    events: EventCounts,
) -> Evaluation:
    return call(
        evaluate,
        args,
        gold=gold,
        predictions=systems,
        types=shared.type_mapping(args),
        map=args.map or "",
        events=events,
        watch=with_progress,
    )


def _check_options(args: Options) -> None:
    """Refuses options of links without ``--links``, and gates that cannot be read."""
    names = ("linker", "ontology", "pack", *(() if args.at_least else ("prefix",)))
    if option := first_given(args, names):
        raise UsageError(f"{option} is about links; give --links too")
    _check_gates(args.at_least)


def _gold_of(args: Options, columns: declared.SomeColumns | None) -> PredictionRequest:
    reading = shared.read_request(args, role="gold")
    if columns is not None:
        reading = replace(reading, format="conll", columns=columns.gold)
    return PredictionRequest(path=args.gold, reading=reading)


def _systems_of(
    args: Options, columns: declared.SomeColumns | None
) -> list[PredictionRequest | Runnable]:
    """Returns the systems to score: files, columns of the gold file, a model and a pipeline.

    Raises:
        UsageError: nothing to score, or options that need a model and have none.
        OutputError: the place of the distributions file cannot be written.
    """
    if not args.files and not args.model and args.pipeline is None and columns is None:
        raise UsageError(
            "no PRED was given to score; name prediction files, or a model with --model, or a "
            "pipeline with --pipeline, or, if GOLD holds the predictions in a column of its own, "
            "--gold-column and --pred-column"
        )
    running: list[Runnable] = [*_models_of(args)]
    if args.pipeline is not None:
        running.append(PipelineRequest(pipeline=args.pipeline, source=args.source or ""))
    requests: list[PredictionRequest | Runnable] = list(declared.prediction_requests(args))
    if columns is not None:
        reading = replace(shared.read_request(args, role="pred"), format="conll")
        requests += [
            PredictionRequest(
                path=args.gold,
                reading=replace(reading, columns=text),
                source=args.source or "",
                name=name,
            )
            for name, text in columns.predicted.items()
        ]
    return [*requests, *running]


def _report_of(args: Options) -> ReportRequest | None:
    """Returns the request of ``--report``; checks early for errors that would appear only after
    long work.

    Raises:
        UsageError: options of a report without one, or a name that does not tell its format.
        OutputError: the file exists.
    """
    if args.report is None:
        if option := first_given(args, ("train", "train_where", "unreachable_for")):
            raise UsageError(f"{option} says more in a report only; give --report FILE too")
        return None
    if args.train_where and not args.train:
        raise UsageError("--train-where is about the training corpus; give --train PATH too")
    declared.check_report(args.report, overwrite=args.overwrite)
    from fascicle.verbs.tasks.report import ReportRequest, is_of_one_kind

    where = parse_pairs(args.train_where, key="--train-where FIELD=VALUE", example="split=train")
    own = filter(is_of_one_kind, args.model)
    return ReportRequest(
        settings=ReportSettings(unit=args.text_unit, cutting=args.buckets, examples=args.examples),
        train=args.train or "",
        train_reading=replace(shared.read_request(args, role="train"), where=where),
        unreachable_for=(*args.unreachable_for, *own),
    )


def _report_on(
    evaluation: Evaluation, request: ReportRequest | None, *, events: EventCounts
) -> EvaluationReport | None:
    if request is None:
        return None
    from fascicle.verbs.tasks.report import report_on

    return report_on(evaluation, request, events=events)


def _write_report(report: EvaluationReport, path: str, *, overwrite: bool) -> Iterator[str]:
    """Writes the report; yields a note if a part of it cannot be made."""
    text, lacking = report.text(Path(path).suffix)
    with open_output(path, overwrite=overwrite) as stream:
        stream.write(text.encode())
    if lacking:
        yield lacking


def _models_of(args: Options) -> list[ModelRequest]:
    """Returns the models of ``--model``; checks early for errors that would appear only after long
    work.

    Raises:
        UsageError: options that need a model and have none.
        OutputError: the place of the distributions file cannot be written.
    """
    choices = shared.choices_of(args, link=())
    if not args.model:
        option = first_given(args, ("distributions", "threads", "device"))
        if option := option or next((f"--{name}" for name in choices.changed), ""):
            raise UsageError(f"{option} is about a model; give --model MODEL too")
        return []
    if args.distributions and len(args.model) > 1:
        raise UsageError(
            "--distributions is for one model, but several were given; give one --model"
        )
    if args.distributions and (left_out := choices.changed.keys() - {"ends"}):
        raise UsageError(
            "--distributions are those of the model alone, with no choice but --ends; leave out "
            f"--{min(left_out)}"
        )
    check_distributions(args.distributions or "", overwrite=args.overwrite)
    choices = msgspec.structs.replace(choices, assertions=args.facts)
    return [call(ModelRequest, args, model=model, choices=choices) for model in args.model]


def _headlines(systems: Sequence[ScoredSystem], notes: list[str]) -> dict[str, Headline]:
    """Returns the intervals of each system, by name."""
    headlines = {system.name: headline_intervals(system.drawn) for system in systems}
    for reason in dict.fromkeys(system.undefined.get("micro_f1") for system in headlines.values()):
        if reason is not None:
            notes.append(f"no interval, for {reason}")
    if any(system.drawn is not system.strict for system in systems):
        notes.append("there is only one document, so intervals come from drawing its sentences")
    return headlines


def _values(
    systems: Sequence[ScoredSystem],
    headlines: Mapping[str, Headline] | None,
    gates: Sequence[GateResult],
) -> dict[str, Any]:
    values = [_value(entry, headlines) for entry in systems]
    rows = [{"name": entry.name} | value for entry, value in zip(systems, values, strict=True)]
    value = values[0] if len(systems) == 1 else {"systems": rows}
    return value | ({"gates": [entry.as_dict() for entry in gates]} if gates else {})


def _as_text(
    evaluation: Evaluation,
    headlines: Mapping[str, Headline] | None,
    verdict: str,
    *,
    by_type: bool,
) -> str:
    unit = resampling_unit(evaluation.gold.documents)
    system, *further = evaluation.systems
    if further:
        text = systems_table(evaluation.systems, headlines=headlines, by_type=by_type, unit=unit)
    else:
        headline = (headlines or {}).get(system.name)
        text = table(
            system.strict, headline=headline, by_type=by_type, others=system.others, unit=unit
        )
    return text + verdict + "".join(map(_types_to_write, evaluation.systems))


def _value(system: ScoredSystem, headlines: Mapping[str, Headline] | None) -> dict[str, Any]:
    """Returns a system for ``--json``: strict numbers follow the zero rule, and the undefined
    ones are named.
    """
    value = system.strict.as_dict() | {
        "rules": {scores.rule: figures_row(scores.counts) for scores in system.others}
    }
    undefined = undefined_numbers(system.strict)
    if headlines is not None:
        intervals = headlines[system.name].as_dict()
        reasons = intervals.pop("undefined", {})
        undefined |= {"intervals": reasons} if reasons else {}
        value |= intervals
    return value | ({"undefined": undefined} if undefined else {})


def _check_gates(texts: Sequence[str]) -> None:
    """Refuses gates of another form, before long work.

    Raises:
        UsageError: see `fascicle.verbs.tasks.report.Gate.of`.
    """
    if texts:
        from fascicle.verbs.tasks.report import Gate

        for text in texts:
            Gate.of(text)


def _gates_of(args: Any, evaluation: Any) -> list[GateResult]:
    """Returns what the systems reached at each gate; see `fascicle.verbs.tasks.report.check_gates`.

    Raises:
        UsageError: a gate about a type or vocabulary that the gold does not have.
    """
    if not args.at_least:
        return []
    # imported here, because scores do not need links
    from fascicle.verbs.tasks.report import check_gates

    return check_gates(
        evaluation,
        args.at_least,
        prefixes=dict(parse_pairs(args.prefix, key="--prefix", example="Disease=MESH")),
    )


def _judge_gates(gates: Sequence[GateResult]) -> tuple[str, int]:
    """Returns the table of the gates that were not met, with an empty line before it, and the
    exit code: 4, or 0.
    """
    if not gates:
        return "", 0
    from fascicle.verbs.tasks.report import gates_table

    return "\n" + gates_table(gates), 0 if all(gate.met for gate in gates) else _FELL_SHORT
