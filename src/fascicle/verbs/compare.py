"""Command ``fascicle compare``: compares several systems on gold, and tries every combination of
them.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Final

from fascicle.core.arguments import validate_arguments
from fascicle.core.files.atomic import atomic_text_writer, check_target
from fascicle.core.files.encodings import AUTO
from fascicle.core.results import TableRow, Tabular
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.comparison.comparing import Cells, Comparison, make_cells
from fascicle.evaluation.comparison.comparing import compare as compared
from fascicle.evaluation.comparison.search import (
    MOST,
    Chosen,
    Floors,
    SearchResult,
    as_dict,
    choose,
    search,
)
from fascicle.evaluation.reports.comparison_table import as_markdown, as_text, make_sections
from fascicle.evaluation.scoring.scores import counts_row, rates_text
from fascicle.evaluation.systems import several
from fascicle.evaluation.systems.model import ModelRequest, predict
from fascicle.evaluation.systems.predictions import PredictionRequest, Predictions
from fascicle.evaluation.systems.taught import as_documents, notes_on_training
from fascicle.formats.account import EventCounts
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.runtime.combination.align import System, some_documents
from fascicle.runtime.combination.rules import Rule
from fascicle.runtime.combination.type_names import check_types
from fascicle.settings.base import Natural, Positive
from fascicle.verbs.combine import OFFSETS, systems_of
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit, say_notes
from fascicle.verbs.options import OVERWRITE, STRICT, call, natural, option, positive, reads, writes
from fascicle.verbs.shared import TYPES, input_format, read_request, type_mapping
from fascicle.verbs.systems import SYSTEM_FORMATS, SystemOptions, files_of
from fascicle.verbs.tasks.evaluate import File, as_request, read_systems
from fascicle.verbs.tasks.scored import THE_GOLD, Types, scored_types


@dataclass(frozen=True, kw_only=True)
class CompareSettings:
    """Settings of a comparison.

    Attributes:
        floors: recall that the most precise combination must have, and precision of the one with
            the best recall.
        search: score every subset of the systems under every rule.
        resamples: bootstrap draws, and shuffles.
        seed: of the random numbers.
        allow_missing: gold documents that a system does not list count as without predictions.
    """

    floors: Floors = field(default_factory=Floors)
    search: bool = True
    resamples: Positive = 1000
    seed: Natural = 0
    allow_missing: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class Compared(Tabular):
    """Result of a comparison.

    Attributes:
        comparison: mentions that each system finds and the others do not.
        choices: the best combinations; ``None`` where none were tried.
        given: the systems and their files, in order.
        systems: the same with the type names of the comparison.
        notes: sentences for the reader.
    """

    comparison: Comparison
    choices: SearchResult | None
    given: Sequence[several.SystemOfFile]
    systems: Sequence[System]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Returns the rates of each system in one line."""
        rows = self.comparison.rows
        lines = [f"{row.name}: {rates_text(row.measured.counts)}" for row in rows]
        return f"<Compared on {plural(self.comparison.documents, 'document')}; {'; '.join(lines)}>"

    def table(self) -> list[TableRow]:
        """Returns the figures of each system, as shares, and the mentions that it alone has."""
        return [
            {
                "system": row.name,
                **counts_row(row.measured.counts),
                "right_alone": row.unique_true,
                "wrong_alone": row.unique_false,
            }
            for row in self.comparison.rows
        ]


@validate_arguments
def compare(
    gold: File,
    systems: several.Systems = (),
    settings: CompareSettings | None = None,
    *,
    models: Sequence[str] = (),
    types: Types = (),
    events: EventCounts | None = None,
) -> Compared:
    """Compares several systems, and finds the best combination.

    Args:
        gold: a corpus in any format, or a prediction file that holds the gold.
        systems: prediction files, or corpora in any format.
        settings: of the comparison.
        models: models that predict on the texts of the gold now, as further systems.
        types: the types that are scored, or type of the gold -> its name in the systems; all by
            default.
        events: counts the events of documents.

    Raises:
        UsageError: fewer than two systems, or too many to try all combinations.
        InputError: a file cannot be read, has other texts than the gold, or has a different name
            for one type.
    """
    options = settings or CompareSettings()
    systems, scored_only = several.to_systems_request(systems), scored_types(types)
    several.check_given_once(models)
    reference = several.read_gold(as_request(gold), events=events)
    read = _read_files(systems, models, reference, events)
    if options.search:
        _check_count(len(read) + len(models))
    named = replace(reference, name=THE_GOLD)
    if models:  # bad options end before the work of models
        (right,), _ = several.rename_types(systems, (), named)
        scored_only.of_systems(right, (), path=reference.path)
        read += _predict(models, as_request(gold), reference, read, events)
    (right, *renamed), notes = several.rename_types(systems, read, named)
    right, *scored = scored_only.of_systems(right, renamed, path=reference.path)
    if not systems.distinct_types:
        notes += _check_types(right, scored, notes)
    cells = make_cells(right, scored, allow_missing=options.allow_missing)
    drawn = cells.drawn(resamples=options.resamples, seed=options.seed)
    comparison, choices = compared(cells, drawn, seed=options.seed, unit=reference.unit), None
    if options.search:
        choices = choose(
            cells, drawn, search(cells, drawn), floors=options.floors, seed=options.seed
        )
    notes += _notes(reference, read, cells, comparison)
    texts = as_documents(reference.texts()) if reference.texts else ()
    notes += notes_on_training(texts, path=reference.path, models=models, sources=_sources(renamed))
    return Compared(
        comparison=comparison, choices=choices, given=read, systems=renamed, notes=tuple(notes)
    )


def _check_count(systems: int) -> None:
    if systems > MOST:
        raise UsageError(
            f"all subsets of {systems} systems are too many to try; give at most {MOST} systems, "
            "or search=False"
        )


def _read_files(
    systems: several.SystemsRequest,
    models: Sequence[str],
    reference: Predictions,
    events: EventCounts | None,
) -> list[several.SystemOfFile]:
    """Reads the files of systems; two models need none."""
    if not systems.paths and len(models) > 1:
        return []
    least = 1 if models else 2
    return read_systems(systems, gold=reference, least=least, events=events)


def _predict(
    models: Sequence[str],
    gold: PredictionRequest,
    reference: Predictions,
    others: Sequence[several.SystemOfFile],
    events: EventCounts | None,
) -> list[several.SystemOfFile]:
    """Lets models predict on the texts of the gold."""
    if reference.texts is None:
        raise InputError(
            f"{gold.path} has no texts that a model could read; give an annotated corpus as the "
            "gold, or predictions in place of models"
        )
    documents, answers = list(read_file(gold.path, gold.reading)), list[several.SystemOfFile]()
    for model in models:
        answer = predict(ModelRequest(model=model), documents, events=events or EventCounts())
        name = several.free_name(answer.name, (each.system for each in [*others, *answers]))
        system = replace(answer, name=name)
        answers.append(several.SystemOfFile(system=system, path=model, aliases=(model,)))
    return answers


def _notes(
    gold: Predictions,
    systems: Sequence[several.SystemOfFile],
    cells: Cells,
    comparison: Comparison,
) -> Iterator[str]:
    yield from gold.notes
    yield from several.notes_on_files(systems)
    yield from _missing(cells)
    yield from _all_wrong(comparison)


def _check_types(gold: System, systems: Sequence[System], notes: Sequence[str]) -> list[str]:
    """Refuses a system without any type of the gold, and type names that differ only in
    spelling.
    """
    several.check_type_names((gold, *systems), notes, agree=False)
    return [
        note
        for system in systems
        for note in several.check_type_names((gold, system), notes, agree=True)
    ]


def _sources(systems: Sequence[System]) -> set[str]:
    return {
        mention.source
        for system in systems
        for mentions in system.mentions.values()
        for mention in mentions
    }


def _all_wrong(comparison: Comparison) -> Iterator[str]:
    for row in comparison.rows:
        if row.measured.counts.fp and not row.measured.counts.tp:
            yield f"{row.name} has no mention of the gold; {OFFSETS}"


def _missing(cells: Cells) -> Iterator[str]:
    for name, documents in cells.missing.items():
        yield f"{name} does not list {some_documents(documents)}; nothing counts as found in them"
    if cells.duplicates:
        yield (
            "mentions that one side has more than once, beyond the first: "
            f"{cells.duplicates:,}; they count once"
        )


_OUT: Final = "combined.tsv"
_ALSO_OF_MODELS: Final = ("auto", "predictions")  # formats


_SEARCH: Final = f"score every subset of up to {MOST} systems under every rule; default: yes"


class Options(SystemOptions):
    """Options of ``fascicle compare``.

    In Python: ``fascicle.compare("gold.tsv", ["one.jsonl", "two.jsonl"])``

    Attributes:
        gold: a corpus in any format; use development data if you choose by the result.
        files: prediction files (JSON Lines or TSV), or corpora in any format.
        model: a model folder, a term pack, a dictionary, or the name of a shipped model, which
            predicts on the texts of GOLD; may be repeated.
        output: also write the report to this file, as Markdown.
        json: print everything as JSON, with all combinations.
        recall_floor: lowest recall of the combination with the best precision; default: the recall
            of the best system.
        precision_floor: lowest precision of the combination with the best recall; default: the
            precision of the best system.
        resamples: number of bootstrap samples, and of shuffles; default: 1000.
        seed: seed of the random numbers; default: 0.
        allow_missing: count gold documents that are missing in a PRED as documents without
            predictions.
        gold_format: format of GOLD; default: auto.
    """

    gold: str = option("GOLD", reads)
    files: list[str] = option("PRED *", reads)
    model: list[str] = option("--model MODEL ...", reads)
    types: list[str] = TYPES
    output: str | None = option("-o --output REPORT.md", writes)
    json: bool = option("--json")
    recall_floor: float | None = option("--recall-floor SHARE", float)
    precision_floor: float | None = option("--precision-floor SHARE", float)
    search: bool = option(
        "--search", action=argparse.BooleanOptionalAction, default=True, help=_SEARCH
    )
    resamples: int = option("--resamples N", positive, default=1000)
    seed: int = option("--seed N", natural, default=0)
    allow_missing: bool = option("--allow-missing")
    overwrite: bool = OVERWRITE
    strict: bool = STRICT
    gold_format: str = input_format("--gold-format", choices=SYSTEM_FORMATS)


def run(args: Options) -> int:
    """Runs the comparison; returns the exit code."""
    floors = Floors(recall=args.recall_floor, precision=args.precision_floor)
    settings = call(CompareSettings, args, floors=floors)
    if args.output is not None:
        check_target(args.output, overwrite=args.overwrite)
    _check_formats(args)
    tally, systems = Tally(), systems_of(args, files_of(args))
    gold = PredictionRequest(path=args.gold, reading=read_request(args, role="gold"))
    compared = compare(
        gold,
        systems,
        settings,
        models=args.model,
        types=type_mapping(args),
        events=tally.account.events,
    )
    models = _predicting(args, compared)
    commands = [
        _command(choice.chosen, compared, systems, settings, models=models)
        for choice in (compared.choices.choices if compared.choices else ())
    ]
    sections = make_sections(compared.comparison, compared.choices, commands=commands)
    if args.output is not None:
        report = as_markdown(f"Systems compared on {args.gold}", sections, notes=compared.notes)
        with atomic_text_writer(args.output, overwrite=args.overwrite) as stream:
            stream.write(report)
    tally.say(verbose=args.verbose)
    say_notes(compared.notes)
    emit(
        as_dict(compared.comparison, compared.choices, commands=commands),
        as_text(sections),
        as_json=args.json,
    )
    return tally.exit_code(strict=args.strict)


def _command(
    choice: Chosen | None,
    compared: Compared,
    systems: several.SystemsRequest,
    settings: CompareSettings,
    *,
    models: Mapping[str, _Predicting],
) -> str:
    """Returns the command that makes this combination of these files; empty where none was
    chosen.

    Args:
        choice: the combination.
        compared: with it.
        systems: the files.
        settings: of the comparison.
        models: model -> how its predictions are written.
    """
    if choice is None:
        return ""
    rule, members = choice.candidate.rule, choice.candidate.members
    files = [compared.given[member] for member in members]
    paths = [models[file.path].file if file.path in models else file.path for file in files]
    words = ["fascicle", "combine", rule.name, *dict.fromkeys(paths)]
    words += [word for file in files if file.source for word in ("--source", file.source)]
    words += _options_of_rule(rule)
    words += ["--missing", "empty"] * settings.allow_missing
    predicting = [models[file.path] for file in files if file.path in models]
    types = {system.name: system.types() for system in map(compared.systems.__getitem__, members)}
    types |= {prediction.name: prediction.types for prediction in predicting}
    words += ["--distinct-types"] * (systems.distinct_types or not _types_agree(types, rule))
    words += ["--map", systems.map] if systems.map else []
    if len(predicting) < len(files):
        words += _options_of(systems.reading, documents=any(file.system.lengths for file in files))
    return " && ".join(
        [*(prediction.command for prediction in predicting), shlex.join([*words, "-o", _OUT])]
    )


def _options_of_rule(rule: Rule) -> list[str]:
    words = ["--k", str(rule.votes)] if rule.name == "kofn" else []
    if rule.weights:
        words += ["--weights", ",".join(str(float(weight)) for weight in rule.weights)]
    return words


@dataclass(frozen=True, kw_only=True)
class _Predicting:
    """Predictions of a model for a printed command.

    Attributes:
        name: of the system.
        types: of its mentions, as the comparison names them.
        file: that they are written to.
        command: that writes it.
    """

    name: str
    types: set[str]
    file: str
    command: str


def _predicting(args: Options, compared: Compared) -> dict[str, _Predicting]:
    """Returns for each model how its predictions are written, with the scored types alone."""
    names, scored = several.read_map(args.map or "", compared.given), type_mapping(args)
    reading = _options_of(read_request(args, role="gold"), documents=True)
    predicting: dict[str, _Predicting] = {}
    for of_model, renamed in zip(compared.given, compared.systems, strict=True):
        model, types = of_model.path, renamed.types()
        if model not in args.model:
            continue
        file = _free_file(renamed.name, [other.file for other in predicting.values()])
        words = ["fascicle", "annotate", args.gold, "--model", model, "--no-link", "-o", file]
        if compared.choices and args.map:
            several.check_tables(args.map, of_model, file)
        if scored:
            types &= set(scored.values())
            words += _only(of_model.system, types, names.of(renamed.name))
        predicting[model] = _Predicting(
            name=renamed.name, types=types, file=file, command=shlex.join([*words, *reading])
        )
    return predicting


def _only(system: System, types: Collection[str], new_names: Mapping[str, str]) -> list[str]:
    """Returns the option that leaves a model only the types that get some names."""
    own = sorted(kind for kind in system.types() if new_names.get(kind, kind) in types)
    return ["--only", ",".join(own)] if own else []


def _free_file(name: str, reserved: Collection[str]) -> str:
    """Returns a file for the predictions of a system, which neither exists nor is reserved."""
    endings = chain([""], (f"-{number}" for number in count(2)))
    files = (f"{Path(name).name}{ending}.predictions.jsonl" for ending in endings)
    return next(file for file in files if file not in reserved and not Path(file).exists())


def _check_formats(args: Options) -> None:
    """Refuses a format of PRED that is none of the predictions of models, for one command of
    ``combine`` reads both.
    """
    if args.model and args.files and args.search and args.input_format not in _ALSO_OF_MODELS:
        raise UsageError(
            f"--input-format {args.input_format} was given with --model, whose predictions the "
            "printed commands write as predictions; leave --input-format out, so that the format "
            "of each file is detected, or give --no-search, which prints no command"
        )


def _types_agree(types: Mapping[str, Collection[str]], rule: Rule) -> bool:
    """True if ``fascicle combine`` would accept the types of these systems without gold."""
    try:
        check_types(types, agree=rule.is_vote)
    except InputError:
        return False
    return True


def _options_of(reading: ReadRequest, *, documents: bool) -> list[str]:
    """Returns the given options on the reading of files, as text.

    Args:
        reading: request with their values.
        documents: whether any file holds documents; prediction files have no such options.
    """
    words = [] if reading.format == "auto" else ["--input-format", reading.format]
    words += [] if reading.encoding == AUTO else ["--encoding", reading.encoding]
    if not documents:
        return words
    words += ["--bare-tags"] if reading.bare_tags else []
    for name in ("documents", "columns", "shape", "labels"):
        words += [f"--{name}", getattr(reading, name)] if getattr(reading, name) else []
    for flag, pairs in (("--field", reading.fields), ("--where", reading.where)):
        words += [word for name, value in pairs for word in (flag, f"{name}={value}")]
    return words
