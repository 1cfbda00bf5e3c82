"""``fascicle evaluate --relations``: scores the relations of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from fascicle.errors import InputError, UsageError
from fascicle.evaluation.breakdown.relation_errors import count_relation_errors
from fascicle.evaluation.report import headline_intervals
from fascicle.evaluation.reports.table import (
    HEADER,
    counts_line,
    interval_notes,
    percent,
    ruled_rows,
)
from fascicle.evaluation.scoring.inputs import check_texts
from fascicle.evaluation.scoring.relations import compared_relations, score_relations
from fascicle.evaluation.scoring.scores import Scores, figures_row
from fascicle.evaluation.systems.alignment import on_texts_of, placed_by_characters
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit, say_notes
from fascicle.verbs.options import first_given
from fascicle.verbs.shared import read_request
from fascicle.verbs.systems import prediction_requests
from fascicle.verbs.tasks import evaluate as scoring

_NO_MEANING: Final = (
    "report train train_where unreachable_for model distributions threads device types "
    "gold_column pred_column links linker pack prefix at_least pipeline facts agreement ontology "
    "map aboutness"
)


_NOVELTY: Final = "novel"  # of relations in BioRED
_TITLES: Final = {"ends": "ends alone", "novelty": "with novelty"}


def run_relations(args: Any) -> int:
    """Scores the relations; returns the exit code."""
    _check(args)
    tally = Tally()
    values, texts = _score_systems(args, tally)
    tally.say(verbose=args.verbose)
    emit({"systems": values}, "\n".join(texts), as_json=args.json)
    return tally.exit_code(strict=args.strict)


def _score_systems(args: Any, tally: Tally) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns the scores of each system for JSON and as text."""
    requests = prediction_requests(args)
    scoring.refuse_stdin_twice(args.gold, *requests)
    gold_request = PredictionRequest(path=args.gold, reading=read_request(args, role="gold"))
    gold = scoring.open_gold(gold_request, events=tally.account.events)
    names = scoring.system_names([request.path for request in requests])
    values, texts, scored = [], [], dict[str, Scores]()
    for name, request in zip(names, requests, strict=True):
        system = _aligned(gold, scoring.open_gold(request, events=tally.account.events))
        scored[name], further = _compare(
            gold, system, source=request.source, allow_missing=args.allow_missing
        )
        value, text = _answer(scored, further, by_type=args.by_type, interval=args.interval)
        errors = _errors(gold, system, request.source)
        values.append({**value, "errors": errors})
        texts.append(text + _errors_text(errors))
    return values, texts


def _check(args: Any) -> None:
    if flag := first_given(args, _NO_MEANING.split()):
        option = {"--types": "--type"}.get(flag, flag)
        raise UsageError(f"{option} has no meaning with --relations; leave one of the two out")
    if not args.files:
        raise UsageError("no PRED was given to score; name files with documents and relations")


def _aligned(gold: scoring.Gold, system: scoring.Gold) -> scoring.Gold:
    documents = on_texts_of(gold.documents, system.documents)
    moved = sum(a is not b for a, b in zip(documents, system.documents, strict=True))
    if moved:
        say_notes([f"{system.path}: {placed_by_characters(moved)}"])
    return replace(system, documents=documents)


def _compare(
    gold: scoring.Gold, system: scoring.Gold, *, source: str, allow_missing: bool
) -> tuple[Scores, dict[str, Scores]]:
    """Returns the strict scores, and others by their keys in JSON."""
    check_texts(gold.documents, system.predictions().of_one_system(source).hashes)
    compare = partial(
        score_relations,
        gold.documents,
        system.documents,
        source=source,
        allow_missing=allow_missing,
    )
    strict = compare()
    if not strict.counts.support:
        raise InputError(
            f"{gold.path} has no gold relations to score; give documents with relations, in a "
            "format that holds them, such as jsonl"
        )
    further = {"ends": compare(ends_only=True)}
    relations = (relation for document in gold.documents for relation in document.relations)
    if any(_NOVELTY in dict(relation.attributes) for relation in relations):
        further["novelty"] = compare(attributes=(_NOVELTY,))
    return strict, further


def _answer(
    scored: Mapping[str, Scores], further: Mapping[str, Scores], *, by_type: bool, interval: bool
) -> tuple[dict[str, Any], str]:
    """Returns the scores of the last system for JSON and as text; ``further`` are its own, too."""
    name, strict = [*scored.items()][-1]
    more, lines = _intervals(scored) if interval else ({}, [])
    rows = {key: figures_row(scores.counts) for key, scores in further.items()}
    table = _as_text(strict, further, by_type=by_type)
    text = "".join(f"{line}\n" for line in (name, table, *lines))
    return {"name": name, **strict.as_dict(), **rows, **more}, text


def _intervals(scored: Mapping[str, Scores]) -> tuple[dict[str, Any], list[str]]:
    """Returns the intervals of the last system, and its difference to the first one, for JSON and
    as lines.
    """
    (first, *_), strict = scored, [*scored.values()][-1]
    headline = headline_intervals(strict)
    value = headline.as_dict()
    if not headline.intervals:
        return value, [f"No interval, for {headline.undefined['micro_f1']}."]
    lines = interval_notes(headline)
    if len(scored) > 1:
        difference = bootstrap_difference(strict, scored[first])
        value["difference"] = {"from": first, **difference.as_dict()}
        ends = f"{percent(difference.low)} to {percent(difference.high)}"
        lines.append(
            f"F1 is {100 * difference.estimate:+.2f} from that of {first} ({ends}, "
            f"p = {difference.p_value:.3f})."
        )
    return value, lines


def _errors(
    gold: scoring.Gold, system: scoring.Gold, source: str
) -> Mapping[str, Mapping[str, int]]:
    return count_relation_errors(
        compared_relations(gold.documents, system.documents, source=source)
    )


def _errors_text(errors: Mapping[str, Mapping[str, int]]) -> str:
    """Returns the numbers of wrong and missed relations of each class; empty without errors."""
    lines = (("wrong", _numbers(errors, "fp")), ("missed", _numbers(errors, "fn")))
    return "".join(f"{title}: {text}\n" for title, text in lines if text)


def _numbers(errors: Mapping[str, Mapping[str, int]], side: str) -> str:
    return ", ".join(f"{name} {row[side]:,}" for name, row in errors.items() if row[side])


def _as_text(strict: Scores, further: Mapping[str, Scores], *, by_type: bool) -> str:
    types = strict.by_type.items() if by_type else ()
    lines = [counts_line(name or "without a type", counts) for name, counts in types]
    rows = {"micro": strict, **{_TITLES[key]: scores for key, scores in further.items()}}
    averages = [counts_line(name, scores.counts) for name, scores in rows.items()]
    return ruled_rows([HEADER, *lines, *averages])
