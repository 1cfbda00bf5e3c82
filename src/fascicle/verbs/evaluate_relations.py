"""``fascicle evaluate --relations``: scores the relations of documents."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from fascicle.errors import InputError, UsageError
from fascicle.evaluation.reports.table import HEADER, counts_line, ruled_rows
from fascicle.evaluation.scoring.inputs import check_texts
from fascicle.evaluation.scoring.relations import score_relations
from fascicle.evaluation.scoring.scores import Scores, figures_row
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit
from fascicle.verbs.options import first_given
from fascicle.verbs.shared import read_request
from fascicle.verbs.systems import prediction_requests
from fascicle.verbs.tasks import evaluate as scoring

_NO_MEANING: Final = (
    "report train train_where unreachable_for model distributions threads interval types "
    "gold_column pred_column links linker pack prefix at_least pipeline facts agreement ontology "
    "map aboutness"
)


def run_relations(args: Any) -> int:
    """Scores the relations; returns the exit code."""
    _check(args)
    requests = prediction_requests(args)
    scoring.refuse_stdin_twice(args.gold, *requests)
    tally = Tally()
    gold_request = PredictionRequest(path=args.gold, reading=read_request(args, role="gold"))
    gold = scoring.open_gold(gold_request, events=tally.account.events)
    names = scoring.system_names([request.path for request in requests])
    values, texts = [], []
    for name, request in zip(names, requests, strict=True):
        system = scoring.open_gold(request, events=tally.account.events)
        strict, ends = _compare(
            gold, system, source=request.source, allow_missing=args.allow_missing
        )
        values.append({"name": name, **strict.as_dict(), "ends": figures_row(ends.counts)})
        texts.append(f"{name}\n{_as_text(strict, ends, by_type=args.by_type)}\n")
    tally.say(verbose=args.verbose)
    emit({"systems": values}, "\n".join(texts), as_json=args.json)
    return tally.exit_code(strict=args.strict)


def _check(args: Any) -> None:
    if flag := first_given(args, _NO_MEANING.split()):
        option = {"--types": "--type"}.get(flag, flag)
        raise UsageError(f"{option} has no meaning with --relations; leave one of the two out")
    if not args.files:
        raise UsageError("no PRED was given to score; name files with documents and relations")


def _compare(
    gold: scoring.Gold, system: scoring.Gold, *, source: str, allow_missing: bool
) -> tuple[Scores, Scores]:
    """Returns the strict scores, and those of the ends alone."""
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
    return strict, compare(ends_only=True)


def _as_text(strict: Scores, ends: Scores, *, by_type: bool) -> str:
    types = strict.by_type.items() if by_type else ()
    lines = [counts_line(name or "without a type", counts) for name, counts in types]
    averages = counts_line("micro", strict.counts), counts_line("ends alone", ends.counts)
    return ruled_rows([HEADER, *lines, *averages])
