"""Scores predictions against gold (``fascicle evaluate``)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

from fascicle.core.arguments import AnyPath, validate_arguments, validate_documents
from fascicle.core.document import GOLD, Document
from fascicle.core.files.source import STDIN, distinguishing_folders, stem
from fascicle.core.results import TableRow, Tabular
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.facts import all_facts, gold_facts
from fascicle.evaluation.scoring.inputs import ScoredSystem, note_on_gold, score_system
from fascicle.evaluation.scoring.scores import MicroRates, Rates, Scores, rates_text
from fascicle.evaluation.systems import several
from fascicle.evaluation.systems.alignment import align_to_documents
from fascicle.evaluation.systems.model import ModelRequest, Watch
from fascicle.evaluation.systems.predictions import (
    PredictionRequest,
    Predictions,
    collect,
    read_predictions,
    read_system,
)
from fascicle.evaluation.systems.taught import notes_on_training
from fascicle.formats.account import EventCounts
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import read_file
from fascicle.text.taught import Cuts, sentence_hashes
from fascicle.verbs.tasks.pipeline_predictions import PipelineRequest, predict_gold_texts
from fascicle.verbs.tasks.scored import THE_GOLD, ScoredNames, Types, scored_types

File = AnyPath | PredictionRequest
Runnable = ModelRequest | PipelineRequest
SystemInput = File | Iterable[Document]


@dataclass(frozen=True, kw_only=True)
class Gold:
    """Documents with gold mentions.

    Attributes:
        documents: all of them.
        path: of their file, for error messages.
        reading: detected format of the file.
    """

    documents: Sequence[Document]
    path: str = "the gold"
    reading: ReadReport = field(default_factory=ReadReport)

    def predictions(self) -> Predictions:
        """Returns the mentions of all sources."""
        return collect(self.documents, path=self.path)


def as_list(systems: Any) -> list[Any]:
    """Returns a list of the inputs of several systems: files, requests or documents; a single
    one becomes a list.
    """
    if isinstance(systems, str | os.PathLike | PredictionRequest | Runnable):
        return [systems]
    each = list(systems)
    return [each] if each and isinstance(each[0], Document) else each


def input_path(item: object) -> str:
    """Returns the path of an input; a placeholder name for documents."""
    if isinstance(item, PredictionRequest):
        return item.path
    return os.fspath(item) if isinstance(item, str | os.PathLike) else "the predictions"


def as_request(file: File) -> PredictionRequest:
    """Returns the request for a file, with default options if only its path was given."""
    return file if isinstance(file, PredictionRequest) else PredictionRequest(path=os.fspath(file))


def refuse_stdin_twice(*items: object) -> None:
    """Refuses standard input for two inputs.

    Raises:
        UsageError: two inputs are standard input.
    """
    if [input_path(file) for file in items].count(STDIN) > 1:
        raise UsageError("standard input (-) was given twice; it can be read once")


def open_gold(corpus: SystemInput, *, events: EventCounts) -> Gold:
    """Reads the gold, unless it was given as documents.

    Args:
        corpus: documents, or their file, which is no prediction file, or the folder of a complete
            run.
        events: counts the events of documents.

    Raises:
        InputError: the file cannot be read, or there is no document.
    """
    if isinstance(corpus, str | os.PathLike | PredictionRequest):
        request, report = as_request(corpus), ReadReport()
        files = (
            read_file(part, request.reading, report=report) for part in _parts_of(request.path)
        )
        documents = list(events.observe(chain.from_iterable(files)))
        for key, count, first in report.mended():
            events.count(key, count, first)
        return Gold(documents=documents, path=request.path, reading=report)
    documents = list(events.observe(validate_documents(corpus, name="gold")))
    if not documents:
        raise InputError("the gold has no document; give at least one")
    return Gold(documents=documents)


def open_predictions(system: SystemInput, *, events: EventCounts) -> Predictions:
    """Reads the predictions of one system, unless they were given as documents.

    Args:
        system: documents with mentions of one system, or the file of its predictions, or the folder
            of a complete run.
        events: counts the events of documents.

    Raises:
        UsageError: a source that the file does not have, or options of another format.
        InputError: the file cannot be read, the run is not complete, or there are mentions of
            several sources, none of which was chosen.
    """
    if isinstance(system, str | os.PathLike | PredictionRequest):
        request = as_request(system)
        if _parts_of(request.path) == [request.path]:
            return read_system(request, events=events)
        return _read_run_or_file(request, events=events).of_one_system(request.source)
    documents = validate_documents(system, name="predictions")
    return collect(
        events.observe(documents), path="the predictions", formats=frozenset({"jsonl"})
    ).of_one_system()


def _read_run_or_file(
    request: PredictionRequest, *, events: EventCounts | None = None
) -> Predictions:
    """Reads predictions as `read_predictions` does, also those in the folder of a complete run."""
    parts = _parts_of(request.path)
    if parts == [request.path]:
        return read_predictions(request, events=events)
    of_run = chain.from_iterable(read_file(part, request.reading) for part in parts)
    return collect(
        of_run if events is None else events.observe(of_run),
        path=request.path,
        formats=frozenset({"jsonl"}),
    )


read_systems: Final = partial(several.read_systems, reader=_read_run_or_file)


def _parts_of(path: str) -> list[str]:
    # imported here, because most files are no run
    from fascicle.pipeline.running.parts import expand_runs

    return expand_runs([path])


def check_no_training_text(
    documents: Sequence[Document],
    taught: frozenset[int] | None,
    *,
    path: str,
    model: str,
    cuts: Cuts,
) -> None:
    """Refuses texts with a sentence that a model was trained on.

    Args:
        documents: of a file.
        taught: hashes, see ``systems.taught.training_hashes``.
        path: of the file.
        model: its name.
        cuts: cuts a text into sentences as the model does.

    Raises:
        InputError: a sentence is among the training texts.
    """
    identifiers = [
        document.id
        for document in documents
        if taught and not taught.isdisjoint(sentence_hashes(document, cuts))
    ]
    if identifiers:
        raise InputError(
            f"{path} holds {plural(len(identifiers), 'text')} on which {model} was trained, the "
            f"first is {identifiers[0]!r}; leave {'it' if len(identifiers) == 1 else 'them'} out, "
            "because training texts cannot be used for choices",
            file=path,
        )


_Systems = SystemInput | Runnable | Iterable[SystemInput | Runnable]


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation(MicroRates, Tabular):
    """Scores of systems on one gold.

    Attributes:
        gold: the documents.
        systems: each with its scores under every rule of matching.
        predictions: name of a system -> its predictions for these documents.
        remarks: sentences about the map of types, and about models that were trained on some of the
            documents.
        scored: names of what is scored.
        typed: the documents with the types that are scored, even where facts are.
    """

    gold: Gold
    systems: tuple[ScoredSystem, ...]
    predictions: Mapping[str, Predictions]
    remarks: tuple[str, ...] = ()
    scored: ScoredNames
    typed: Sequence[Document] = field(repr=False)

    def __repr__(self) -> str:
        """Returns the strict rates of each system in one line."""
        lines = [f"{system.name}: {rates_text(system.strict.counts)}" for system in self.systems]
        return f"<Evaluation of {plural(len(self.gold.documents), 'document')}; {'; '.join(lines)}>"

    def __getitem__(self, name: str) -> Scores:
        """Returns the strict scores of a system."""
        names = {system.name: system.strict for system in self.systems}
        if name not in names:
            raise UsageError(f"there is no system {name!r}; there are {', '.join(names)}")
        return names[name]

    @property
    def micro(self) -> Rates:
        """Strict rates of the sums over all types, of the only system.

        Raises:
            UsageError: there are several.
        """
        if len(self.systems) > 1:
            names = ", ".join(system.name for system in self.systems)
            raise UsageError(f"these are scores of several systems; name one of {names} in []")
        return self.systems[0].strict.micro

    def table(self) -> list[TableRow]:
        """Returns the strict figures of each system: of each type and of all, as shares."""
        return [
            {"system": system.name, **row}
            for system in self.systems
            for row in system.strict.table()
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the reader of the scores."""
        notes = (
            note
            for system in self.systems
            for note in _notes(system, self.predictions[system.name])
        )
        return (*note_on_gold(self.gold.documents, self.gold.path), *self.remarks, *notes)


@validate_arguments
def evaluate(  # noqa: PLR0913
    gold: SystemInput,
    predictions: _Systems,
    *,
    types: Types = (),
    map: str = "",  # noqa: A002
    facts: bool = False,
    allow_missing: bool = False,
    events: EventCounts | None = None,
    watch: Watch = iter,
) -> Evaluation:
    """Scores one or several systems against gold.

    Args:
        gold: a corpus in any format, or documents with gold mentions.
        predictions: of each system its file (predictions, or a corpus in any format), the folder
            of its run, its documents, or a model or pipeline that predicts now.
        types: the types that are scored, or type of the gold -> its name in the systems; all by
            default.
        map: path of a TOML file with other names for types of the gold and the systems, see
            `fascicle.runtime.combination.type_names.parse_map`; the gold is the system
            ``"the gold"``.
        facts: score facts of mentions, such as ``negated``, in place of types; see
            `fascicle.evaluation.scoring.facts`.
        allow_missing: gold documents that a system does not list count as without predictions.
        events: counts the events of documents.
        watch: wraps the documents that a model reads, to show progress.

    Returns:
        The scores.

    Raises:
        UsageError: standard input twice, or a source that a file does not have.
        InputError: a file cannot be read, predictions were made on other texts than those of the
            gold, or the gold has no mention of a type.
        ModelError: there is no such model.
    """
    events, scored_only = events or EventCounts(), scored_types(types)
    systems = as_list(predictions)
    if not systems:
        raise UsageError("no predictions were given; give those of at least one system")
    files = [system for system in systems if not isinstance(system, Runnable)]
    refuse_stdin_twice(gold, *files)
    if map:
        _refuse_distributions(systems)
    right = open_gold(gold, events=events)
    original = right
    scored = ScoredNames(map=several.read_map(map), types=scored_only, facts=facts)
    documents: Sequence[Document] = several.rename_gold(right.documents, scored.map.of(THE_GOLD))
    typed = scored_only.of_gold(documents, path=right.path)
    right = replace(right, documents=gold_facts(typed) if facts else typed)
    answers = _read_files(files, right, events=events)
    models = (system for system in systems if isinstance(system, Runnable))
    for answer in (predict_gold_texts(each, typed, events=events, watch=watch) for each in models):
        answers.append(replace(answer, name=several.free_name(answer.name, answers)))
    answers, remarks = _renamed(answers, original, map)
    answers = [_scored_part(answer, scored) for answer in answers]
    score = partial(
        _scored, gold=right.documents, allow_missing=allow_missing, several=len(files) > 1
    )
    return Evaluation(
        gold=right,
        systems=tuple(score(answer) for answer in answers),
        predictions={answer.name: answer for answer in answers},
        remarks=(*remarks, *_notes_on_training(right, systems, answers)),
        scored=scored,
        typed=typed,
    )


def _scored_part(predictions: Predictions, scored: ScoredNames) -> Predictions:
    """Returns the types of predictions that are scored, or their facts in place of types."""
    own = scored.types.of_predictions(predictions)
    return replace(own, mentions=all_facts(own.mentions)) if scored.facts else own


def _refuse_distributions(systems: Sequence[object]) -> None:
    if any(isinstance(system, ModelRequest) and system.distributions for system in systems):
        raise UsageError(
            "map=FILE was given for distributions, which have the types as the model names them; "
            "leave map=FILE out, and give types of the gold with other names as GOLDNAME=NAME"
        )


def _renamed(
    answers: Sequence[Predictions], gold: Gold, path: str
) -> tuple[list[Predictions], list[str]]:
    """Returns predictions with the names of a map, and remarks about its lines."""
    if not path:
        return list(answers), []
    right = replace(gold.predictions().of(GOLD), name=THE_GOLD)
    aliases = several.names_of([answer.path for answer in answers])
    systems = [
        several.SystemOfFile(system=answer, path=answer.path, aliases=(answer.name, *names))
        for answer, names in zip(answers, aliases, strict=True)
    ]
    request = several.SystemsRequest(paths=(), map=path)
    (_, *renamed), remarks = several.rename_types(request, systems, right)
    return [
        replace(answer, mentions=system.mentions)
        for answer, system in zip(answers, renamed, strict=True)
    ], remarks


def system_names(paths: Sequence[str]) -> list[str]:
    """Returns short, distinct names for the systems of some files, with a folder or a number
    where needed.
    """
    short = ["standard input" if path == STDIN else stem(path) for path in paths]
    counts, folders = Counter(short), distinguishing_folders(paths, short)
    longer = [
        name if counts[name] == 1 or path == STDIN else f"{folder}/{Path(path).name}"
        for name, folder, path in zip(short, folders, paths, strict=True)
    ]
    return _numbered(longer)


def _numbered(names: Iterable[str]) -> list[str]:
    """Returns the names, each with a number if it was there before."""
    occurrences: Counter[str] = Counter()
    distinct = []
    for name in names:
        occurrences[name] += 1
        distinct.append(name if occurrences[name] == 1 else f"{name}#{occurrences[name]}")
    return distinct


def _read_files(
    files: Sequence[SystemInput], gold: Gold, *, events: EventCounts
) -> list[Predictions]:
    """Returns the predictions of files and documents for the gold, each with a name of its own."""
    reference = gold.predictions()
    names = _numbered(
        (file.name if isinstance(file, PredictionRequest) else "") or default
        for default, file in zip(system_names([*map(input_path, files)]), files, strict=True)
    )
    return [
        replace(align_to_documents(reference, open_predictions(file, events=events)), name=name)
        for name, file in zip(names, files, strict=True)
    ]


def _notes_on_training(
    gold: Gold, systems: Sequence[object], answers: Sequence[Predictions]
) -> Iterator[str]:
    models = [system.model for system in systems if isinstance(system, ModelRequest)]
    sources = [source for answer in answers for source in sorted(answer.sources)]
    yield from notes_on_training(gold.documents, path=gold.path, models=models, sources=sources)


def _scored(
    predictions: Predictions, *, gold: Sequence[Document], allow_missing: bool, several: bool
) -> ScoredSystem:
    try:
        predictions.check(gold, named=False)
        allow = allow_missing or not predictions.lists_all
        return score_system(
            predictions.name, gold, predicted=predictions.mentions, allow_missing=allow
        )
    except InputError as error:
        raise InputError(f"{predictions.path}: {error}" if several else str(error)) from None


def _notes(system: ScoredSystem, predictions: Predictions) -> Iterator[str]:
    scores, path = system.strict, predictions.path
    yield from predictions.notes
    if scores.missing and not predictions.lists_all:
        yield (
            f"{path} names {len(predictions.mentions):,} of "
            f"{plural(len(scores.by_document), 'document')}; a table cannot list documents without "
            f"mentions, so the other {len(scores.missing):,} counted as such"
        )
    elif scores.missing:
        yield (
            f"{path} lacks {plural(len(scores.missing), 'document')}; nothing counts as found "
            "in them"
        )
    if predictions.matched:
        yield f"{path}: {predictions.matched}"
    if predictions.mentions and not (predictions.hashes or predictions.stated):
        yield f"{path} does not say on which texts it was made, so that was not checked"
    if predictions.is_called_gold:
        yield f"{path} calls all its mentions gold; they were taken for the predictions"
    if scores.duplicates_gold or scores.duplicates_predicted:
        yield (
            f"{scores.duplicates_gold:,} gold and {scores.duplicates_predicted:,} predicted "
            "mentions are there more than once and count once"
        )
    if not scores.counts.support:
        yield "the gold holds no mention, so recall is undefined"
    if not scores.counts.predicted:
        yield f"{path} holds no mention, so precision is undefined"
    yield from _notes_on_types(system, path=path)


def _notes_on_types(system: ScoredSystem, *, path: str) -> Iterator[str]:
    """Yields notes on types that one side lacks, perhaps because of their spelling."""
    by_type = system.strict.by_type
    gold_only = {name: counts.support for name, counts in by_type.items() if not counts.predicted}
    predicted_only = {
        name: counts.predicted for name, counts in by_type.items() if not counts.support
    }
    if not system.strict.counts.support or not system.strict.counts.predicted:
        return
    for where, counts, other_types in (
        ("the gold", gold_only, predicted_only),
        (path, predicted_only, gold_only),
    ):
        if counts:
            listing = ", ".join(f"{name!r} ({count:,})" for name, count in list(counts.items())[:5])
            more = f" and {len(counts) - 5:,} more" if len(counts) > 5 else ""
            alike = {
                name
                for name in counts
                for other in other_types
                if name.casefold() == other.casefold()
            }
            hint = "; types must be spelt alike" if alike else ""
            yield f"in {where} only: mentions of {listing}{more}{hint}"
