"""Predictions are scored against gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from fascicle.core.arguments import checked
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.systems import Scored, score_system
from fascicle.files.source import STDIN, stem, telling_folders
from fascicle.formats.account import EventCounts
from fascicle.systems.matching import on_documents_of
from fascicle.systems.model import ModelRequest, Watch, predict
from fascicle.systems.predictions import PredictionRequest, Predictions
from fascicle.tasks.given import Given, Gold, each_of, gold_of, path_of, predictions_of, refuse_stdin_twice
from fascicle.tasks.scored_types import Types, scored_types

Systems = Given | ModelRequest | Iterable[Given | ModelRequest]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Systems scored on one gold.

    Attributes:
        gold: the documents.
        systems: each with its scores under every rule of matching.
        predictions: name of a system -> what it says of these documents.
    """

    gold: Gold
    systems: tuple[Scored, ...]
    predictions: Mapping[str, Predictions]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the scores must know."""
        return tuple(note for one in self.systems for note in _notes(one, self.predictions[one.name]))


@checked
def evaluate(
    gold: Given,
    predictions: Systems,
    *,
    types: Types = (),
    allow_missing: bool = False,
    events: EventCounts | None = None,
    watch: Watch = iter,
) -> Evaluation:
    """Scores one or several systems against gold.

    Args:
        gold: a corpus in any format, or documents with gold mentions.
        predictions: of each system its file (predictions, or a corpus in any format), its documents, or a model that
            predicts now.
        types: the types of the gold that are scored, or type of the gold -> the name that the systems have for it; by
            default all. Other types count on neither side.
        allow_missing: gold documents that a system does not list count as without predictions.
        events: counts the events of documents.
        watch: documents that a model reads go through it one by one, to show progress.

    Returns:
        The scores.

    Raises:
        UsageError: standard input twice, or a source that a file does not have.
        InputError: a file cannot be read, predictions were made on other texts than those of the gold, or the gold has
            no mention of a type.
        ModelError: there is no such model.
    """
    events, scored_only = events or EventCounts(), scored_types(types)
    systems = each_of(predictions)
    if not systems:
        raise UsageError("no predictions were given; give those of at least one system")
    files = [one for one in systems if not isinstance(one, ModelRequest)]
    refuse_stdin_twice(gold, *files)
    read = gold_of(gold, events=events)
    read = replace(read, documents=scored_only.of_gold(read.documents, path=read.path))
    reference = read.predictions()
    found: dict[str, Predictions] = {}
    for name, given in zip(_names(files), files, strict=True):
        found[name] = on_documents_of(reference, predictions_of(given, events=events))
    for model in systems:
        if isinstance(model, ModelRequest):
            name, said = predict(model, read.documents, events=events, watch=watch)
            found[name if name not in found else f"{name} (model)"] = said
    found = {name: scored_only.of_predictions(said) for name, said in found.items()}
    scored = tuple(
        _scored(name, read.documents, said, allow_missing=allow_missing, several=len(files) > 1)
        for name, said in found.items()
    )
    return Evaluation(gold=read, systems=scored, predictions=found)


def names_of(paths: Sequence[str]) -> list[str]:
    """Short names for the systems of some files, no two the same: with a folder or a number where need be."""
    short = ["standard input" if path == STDIN else stem(path) for path in paths]
    counts, folders = Counter(short), telling_folders(paths, short)
    longer = [
        name if counts[name] == 1 or path == STDIN else f"{folder}/{FilePath(path).name}"
        for name, folder, path in zip(short, folders, paths, strict=True)
    ]
    seen: Counter[str] = Counter()
    names = []
    for name in longer:
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names


def _names(files: Sequence[Given]) -> list[str]:
    chosen = [one.name if isinstance(one, PredictionRequest) else "" for one in files]
    return [own or made for own, made in zip(chosen, names_of([path_of(one) for one in files]), strict=True)]


def _scored(
    name: str, gold: Sequence[Document], predictions: Predictions, *, allow_missing: bool, several: bool
) -> Scored:
    try:
        predictions.check(gold, named=False)
        allow = allow_missing or not predictions.lists_all
        return score_system(name, gold, predicted=predictions.mentions, allow_missing=allow)
    except InputError as error:
        raise InputError(f"{predictions.path}: {error}" if several else str(error)) from None


def _notes(one: Scored, predictions: Predictions) -> Iterator[str]:
    scores, path = one.strict, predictions.path
    yield from predictions.notes
    if scores.missing and not predictions.lists_all:
        yield (
            f"{path} names {len(predictions.mentions):,} of {counted(len(scores.by_document), 'document')}; a TSV "
            f"cannot list documents without mentions, so the other {len(scores.missing):,} counted as such"
        )
    elif scores.missing:
        yield f"{path} lacks {counted(len(scores.missing), 'document')}; nothing counts as found in them"
    if predictions.matched:
        yield f"{path}: {predictions.matched}"
    if predictions.mentions and not predictions.hashes:
        yield f"{path} does not say on which texts it was made, so that was not checked"
    if predictions.is_called_gold:
        yield f"{path} calls all its mentions gold; they were taken for the predictions"
    if scores.duplicates_gold or scores.duplicates_predicted:
        yield (
            f"{scores.duplicates_gold:,} gold and {scores.duplicates_predicted:,} predicted mentions are there more "
            "than once and count once"
        )
    if not scores.counts.support:
        yield "the gold holds no mention, so recall is undefined"
    if not scores.counts.predicted:
        yield f"{path} holds no mention, so precision is undefined"
    yield from _notes_on_types(one, path=path)


def _notes_on_types(one: Scored, *, path: str) -> Iterator[str]:
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
            yield f"in {where} only: mentions of {listed}{more}{hint}"
