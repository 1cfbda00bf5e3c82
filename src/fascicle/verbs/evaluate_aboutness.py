"""``fascicle evaluate --aboutness``: the order of concepts against headings of MEDLINE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from fascicle.core.document import Document
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.reports.table import UNDEFINED, ruled_rows
from fascicle.evaluation.scoring.scores import check_documents
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.evaluation.uncertainty.intervals import Interval, draw_weights
from fascicle.formats.account import EventCounts
from fascicle.graph.aboutness import (
    FIRST,
    Topics,
    area_under_curve,
    choose_weights,
    major_headings,
    precision_at,
    rank_scores,
    read_topics,
)
from fascicle.graph.concepts import WEIGHTS
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit, say
from fascicle.verbs.options import first_given
from fascicle.verbs.shared import read_request
from fascicle.verbs.systems import prediction_requests
from fascicle.verbs.tasks import evaluate as scoring

_NO_MEANING: Final = (
    "report train train_where unreachable_for model distributions threads device interval types "
    "map gold_column pred_column links linker pack prefix at_least pipeline facts agreement "
    "ontology relations source"
)
_RESAMPLES: Final = 1000
_LEVEL: Final = 0.95
_HEADER: Final = ("order", "AUC", f"P@{FIRST}")


class ScoredOrder(msgspec.Struct, frozen=True, kw_only=True):
    """How well one order of concepts agrees with the major headings.

    Attributes:
        name: of the order.
        area: mean area under the ROC curve of the documents, with its bootstrap interval.
        precision: mean share of major headings among the first concepts, in the same way.
    """

    name: str
    area: Interval
    precision: Interval


class Aboutness(msgspec.Struct, frozen=True, kw_only=True):
    """Orders of concepts on one half of the citations; weights were chosen on the other half.

    Attributes:
        chosen_on: number of citations of the other half.
        scored: number of citations.
        left_out: citations without both a major heading and another one among their concepts.
        headings: number of major headings of all citations.
        linked: those of them that a mention is linked to.
        missing: number of citations without predictions; none of their headings is linked.
        weights: section -> weight, as chosen.
        orders: each with its scores.
    """

    chosen_on: int
    scored: int
    left_out: int
    headings: int
    linked: int
    missing: int
    weights: Mapping[str, float]
    orders: tuple[ScoredOrder, ...]


def evaluate_aboutness(
    gold: scoring.SystemInput,
    predictions: scoring.SystemInput,
    *,
    seed: int = 0,
    allow_missing: bool = False,
    events: EventCounts | None = None,
) -> Aboutness:
    """Scores the order of the concepts of documents against their major MeSH headings.

    Args:
        gold: citations of MEDLINE in XML, or documents that have kept their headings in ``meta``.
        predictions: the same documents with links.
        seed: of the bootstrap over documents.
        allow_missing: citations without predictions count as without concepts.
        events: counts the events of documents.

    Raises:
        InputError: a file cannot be read, a citation has no predictions, or fewer than two
            citations have a major heading and another one among their concepts.
    """
    events = events or EventCounts()
    citations = scoring.open_gold(gold, events=events)
    headings = {each.id: major_headings(each) for each in citations.documents}
    documents = scoring.open_gold(predictions, events=events).documents
    predicted = [each.id for each in documents if each.id in headings]
    missing = check_documents(headings, predicted, allow_missing=allow_missing)
    unlinked = (Document(id=identifier, text="") for identifier in missing)
    topics = list(read_topics([*documents, *unlinked], headings))
    ranked = [each for each in topics if each.is_ranked]
    if len(ranked) < 2:
        raise InputError(
            f"{citations.path}: {plural(len(ranked), 'citation')} with both a major MeSH heading "
            "and another one among the concepts; give two at least, as MEDLINE in XML, and the "
            "output of fascicle run or annotate with links to MESH"
        )
    weights = choose_weights(ranked[::2])
    scored = ranked[1::2]
    linked = sum(sum(each.is_major) for each in topics)
    return Aboutness(
        chosen_on=len(ranked) - len(scored),
        scored=len(scored),
        left_out=len(topics) - len(ranked),
        headings=linked + sum(each.missing for each in topics),
        linked=linked,
        missing=len(missing),
        weights=weights,
        orders=tuple(
            _order(name, scored, of, seed=seed) for name, of in _orders(scored, weights).items()
        ),
    )


def _orders(
    topics: Sequence[Topics], weights: Mapping[str, float]
) -> dict[str, Mapping[str, float]]:
    sections = {name for each in topics for mentions in each.mentions for name in mentions}
    return {
        "weights": WEIGHTS,
        "weights chosen here": weights,
        "plain counts": dict.fromkeys(sections, 1.0),
        "title only": {name: float(name == "title") for name in sections},
    }


def _order(
    name: str, topics: Sequence[Topics], weights: Mapping[str, float], *, seed: int
) -> ScoredOrder:
    def mean(measure: Callable[[Sequence[float], Sequence[bool]], float]) -> Interval:
        values = np.array([measure(rank_scores(each, weights), each.is_major) for each in topics])
        drawn = draw_weights(len(values), resamples=_RESAMPLES, seed=seed)
        means = np.concatenate([block @ values / len(values) for block in drawn])
        low, high = np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        return Interval(
            estimate=float(values.mean()),
            low=float(low),
            high=float(high),
            level=_LEVEL,
            resamples=_RESAMPLES,
            seed=seed,
            undefined=0 if len(values) > 1 else _RESAMPLES,
        )

    return ScoredOrder(name=name, area=mean(area_under_curve), precision=mean(precision_at))


def run_aboutness(args: Any) -> int:
    """Scores the orders; returns the exit code."""
    if flag := first_given(args, _NO_MEANING.split()):
        option = {"--types": "--type"}.get(flag, flag)
        raise UsageError(f"{option} has no meaning with --aboutness; leave one of the two out")
    if len(args.files) != 1:
        raise UsageError(
            "--aboutness scores one PRED: a run, or a file of documents with links; name one"
        )
    tally = Tally()
    request = prediction_requests(args)[0]
    events = tally.account.events
    gold = PredictionRequest(path=args.gold, reading=read_request(args, role="gold"))
    aboutness = evaluate_aboutness(gold, request, allow_missing=args.allow_missing, events=events)
    if aboutness.missing:
        say(
            f"{args.files[0]} lacks {plural(aboutness.missing, 'citation')}; none of their "
            "headings counts as linked"
        )
    tally.say(verbose=args.verbose)
    emit(msgspec.to_builtins(aboutness), _as_text(aboutness), as_json=args.json)
    options = " ".join(f"--weight {name}={value:g}" for name, value in aboutness.weights.items())
    say(f"weights chosen on {plural(aboutness.chosen_on, 'other citation')}: {options}")
    return tally.exit_code(strict=args.strict)


def _as_text(aboutness: Aboutness) -> str:
    rows = [
        (order.name, _interval_text(order.area), _interval_text(order.precision))
        for order in aboutness.orders
    ]
    return (
        f"{ruled_rows([_HEADER, *rows])}\n"
        f"{plural(aboutness.scored, 'citation')} scored, {aboutness.left_out:,} left out; "
        f"{aboutness.linked:,} of {plural(aboutness.headings, 'major heading')} linked\n"
    )


def _interval_text(interval: Interval) -> str:
    ends = f"{interval.low:.3f} to {interval.high:.3f}"
    return f"{interval.estimate:.3f} ({UNDEFINED if interval.is_undefined else ends})"
