"""Everything about some systems on one gold, as one value that JSON can hold: what reports are
written from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.evaluation.breakdown.attributes import ATTRIBUTES, Ruler
from fascicle.evaluation.breakdown.buckets import (
    Bucket,
    Bucketing,
    Cutting,
    boundary_words,
    class_table,
    confusions,
    error_examples,
    f1_differences,
)
from fascicle.evaluation.breakdown.errors import Mistake, error_rates, find_mistakes
from fascicle.evaluation.breakdown.layout import Lexicon, TextUnit
from fascicle.evaluation.calibration.fitting import fit_temperature
from fascicle.evaluation.calibration.reliability import (
    JudgedMentions,
    best_threshold,
    brier_score,
    expected_calibration_error,
    judged,
    precision_recall,
    reliability_curve,
    threshold_for,
)
from fascicle.evaluation.report_parts import (
    SCHEMA,
    Attribute,
    Bin,
    Calibration,
    Errors,
    Gold,
    Report,
    System,
)
from fascicle.evaluation.report_parts import Scores as ScoresPart
from fascicle.evaluation.scoring.inputs import ScoredSystem, layers, resampling_unit, text_unit
from fascicle.evaluation.scoring.rules import SUBSETS, subset_recall
from fascicle.evaluation.scoring.scores import (
    IN_ONE_DOCUMENT,
    ONE_DOCUMENT,
    Scores,
    figures,
    figures_row,
    macro_row,
    no_interval,
)
from fascicle.evaluation.uncertainty.intervals import HEADLINE, Interval, bootstrap, bootstrap_types
from fascicle.evaluation.uncertainty.significance import paired_tests

TITLES: Final[Mapping[str, str]] = {
    "micro_precision": "micro P",
    "micro_recall": "micro R",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "difference": "the difference",
}
BUCKETS_UNCORRECTED: Final = (
    "Differences in single buckets are not corrected for many "
    "comparisons: among so many, some are large by chance."
)
_NEVER: Final = "it is undefined in every draw of documents"


@dataclass(frozen=True, kw_only=True)
class Headline:
    """Intervals of the headline numbers, all over the same draws.

    Attributes:
        intervals: name of a number, see ``intervals.HEADLINE`` -> interval.
        undefined: name -> why there is none.
    """

    intervals: Mapping[str, Interval]
    undefined: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """``"NAME_interval"`` for each number, ``None`` where ``"undefined"`` says why; ready
        for JSON.
        """
        found = {name: self.intervals.get(name) for name in HEADLINE}
        value: dict[str, Any] = {
            f"{name}_interval": one and one.as_dict() for name, one in found.items()
        }
        reasons = {f"{name}_interval": why for name, why in self.undefined.items()}
        return value | ({"undefined": reasons} if reasons else {})


def headline_intervals(drawn: Scores, *, resamples: int = 1000) -> Headline:
    """Returns the intervals of the headline numbers of some scores.

    Args:
        drawn: scores by what is drawn, see ``scoring.inputs.score_by_unit``.
        resamples: number of draws.
    """
    reasons = {name: no_interval(drawn, name) for name in HEADLINE}
    found = {} if all(reasons.values()) else bootstrap(drawn, resamples=resamples)
    never = {name for name, one in found.items() if one.undefined == one.resamples}
    reasons = {name: why or (_NEVER if name in never else "") for name, why in reasons.items()}
    return Headline(
        intervals={name: one for name, one in found.items() if not reasons[name]},
        undefined={name: why for name, why in reasons.items() if why},
    )


def undefined_notes(intervals: Mapping[str, Mapping[str, Any] | None], unit: str) -> list[str]:
    """Yields a sentence for each number that is undefined in some draws.

    Args:
        intervals: name, or ``"difference"`` -> interval as it stands in JSON.
        unit: what is drawn.
    """
    return [
        f"{TITLES[name]} is undefined in {one['undefined']:,} of the "
        f"{plural(one['resamples'], 'draw')} of "
        f"{unit}s, which are left out of its interval."
        for name, one in intervals.items()
        if one is not None and one["undefined"]
    ]


def explain_intervals(gold: Mapping[str, Any]) -> str:
    """Explains what the intervals were drawn over, if not documents; empty otherwise.

    Args:
        gold: of a report, with its ``unit`` and what is ``drawn``.
    """
    if gold["unit"] == "sentence":
        return "Every document is one sentence, so intervals come from drawing sentences."
    if gold["drawn"] == "sentence":
        return "There is only one document, so intervals come from drawing its sentences."
    return ""


_WANTED: Final = (0.8, 0.9, 0.95)  # precision
_MOST_CONFUSIONS: Final = 30


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """Settings of a report.

    Attributes:
        unit: what a text is, for text length, densities and unknown words.
        cutting: into which intervals attributes are cut.
        examples: of each class and side.
        resamples: draws of the bootstrap.
    """

    unit: TextUnit = "sentence"
    cutting: Cutting = "fixed"
    examples: int = 5
    resamples: int = 1000


def build_report(
    documents: Sequence[Document],
    systems: Sequence[ScoredSystem],
    *,
    training: Lexicon | None = None,
    settings: ReportSettings | None = None,
    unreachable: Sequence[dict[str, Any]] = (),
) -> Report:
    """Analyses systems.

    Args:
        documents: with gold mentions.
        systems: scored on these documents, at least one; differences are to the first.
        training: what the training documents say; without it, what needs them is undefined, with
            that reason.
        settings: the usual ones by default.
        unreachable: of kinds of models, what gold none of the kind can find, see
            `count_unreachable`.

    Returns:
        A value of dictionaries, lists, strings and numbers, without NaN: a number that is undefined
        is ``None``, and the key ``"undefined"`` beside it says why.
    """
    chosen = settings or ReportSettings()
    gold = layers(documents)
    ruler = Ruler(documents, training=training, unit=chosen.unit)
    bucketing = Bucketing(gold, ruler, cutting=chosen.cutting)
    counted = [bucketing.count(one.predicted) for one in systems]
    found = [find_mistakes(gold, one.predicted) for one in systems]
    tests = paired_tests(systems, resamples=chosen.resamples)
    by_id = {document.id: document for document in documents}
    parts: list[System] = [
        {
            "name": one.name,
            "scores": scores_part(one, resamples=chosen.resamples),
            "subsets": _subsets(documents, one, training),
            "buckets": {
                name: [bucket.as_dict() for bucket in row] for name, row in buckets.items()
            },
            "errors": _errors(wrong, by_id, at_most=chosen.examples, predicted=one.predicted),
            "calibration": _calibration_part(gold, one.predicted),
        }
        for one, buckets, wrong in zip(systems, counted, found, strict=True)
    ]
    return {
        "fascicle_report": SCHEMA,
        "gold": _gold(documents, systems[0].strict, training),
        "unreachable": list(unreachable),
        "text_unit": chosen.unit,
        "intervals": chosen.cutting,
        "attributes": _attributes(bucketing, counted),
        "systems": parts,
        "differences": [
            {
                "system": one.name,
                "baseline": systems[0].name,
                "f1": _differences(one, systems[0]),
                "test": test,
                "buckets": f1_differences(buckets, counted[0]),
                "error_rates": _rate_differences(wrong, found[0]),
            }
            for one, buckets, wrong, test in zip(
                systems[1:], counted[1:], found[1:], tests, strict=True
            )
        ],
    }


def scores_part(one: ScoredSystem, *, resamples: int = 1000) -> ScoresPart:
    """Returns the scores of a system under every rule, with the intervals of the strict ones."""
    strict = one.strict
    rules: dict[str, dict[str, Any]] = {
        rule: {
            "micro": figures_row(scores.counts),
            "macro": macro_row(scores),
            "types": {name: figures_row(counts) for name, counts in scores.by_type.items()},
        }
        for rule, scores in one.scores.items()
    }
    sure = bootstrap_types(one.drawn, resamples=resamples) if one.drawn.by_document else {}
    for name, row in rules["strict"]["types"].items():
        row["f1_interval"] = sure[name].as_dict() if name in sure else None
        if name not in sure:
            why = IN_ONE_DOCUMENT if len(one.drawn.by_document) > 1 else ONE_DOCUMENT
            row["undefined"] = row.get("undefined", {}) | {"f1_interval": why}
    found: dict[str, Any] = {
        "rules": rules,
        **headline_intervals(one.drawn, resamples=resamples).as_dict(),
        "gold_only_types": [
            name for name, counts in strict.by_type.items() if not counts.predicted
        ],
        "predicted_only_types": [
            name for name, counts in strict.by_type.items() if not counts.support
        ],
        "missing_documents": len(strict.missing),
        "duplicates": {"gold": strict.duplicates_gold, "predicted": strict.duplicates_predicted},
    }
    return cast(ScoresPart, found)


def _calibration_part(
    gold: Mapping[str, Sequence[Mention]], predicted: Mapping[str, Sequence[Mention]]
) -> Calibration:
    """Returns the calibration of a system, over all and per type, or the reason for none under
    ``"undefined"``.
    """
    try:
        data = judged(gold, predicted)
    except InputError as error:
        return {"undefined": str(error)}
    types = {name: _calibration(data.of_type(name)) for name in sorted({*data.types, *data.gold})}
    return {**_calibration(data), "types": types, "thresholds": _thresholds(data)}


def _calibration(data: JudgedMentions) -> Calibration:
    curve = precision_recall(data.scores, data.right, gold=sum(data.gold.values()))
    reliable = reliability_curve(data.scores, data.right)
    value: Calibration = {
        "predicted": len(data.scores),
        "gold": curve.gold,
        "expected_calibration_error": expected_calibration_error(reliable),
        "brier_score": brier_score(data.scores, data.right),
        "average_precision": curve.average_precision,
        "temperature": fit_temperature(data).as_dict() if len(data.scores) else None,
        "reliability": [cast(Bin, asdict(one)) for one in reliable],
        "precision_recall": curve.thinned(),
    }
    reasons = {}
    if not len(data.scores):
        names = ("expected_calibration_error", "brier_score", "temperature")
        reasons = dict.fromkeys(names, "nothing was predicted")
    if curve.recall is None:
        reasons["average_precision"] = "there is no gold mention"
    return value | ({"undefined": reasons} if reasons else {})


def _thresholds(data: JudgedMentions) -> list[dict[str, Any]]:
    """Returns the thresholds for the best F1 and for some precisions, or the reason why there is
    none.
    """
    curve = precision_recall(data.scores, data.right, gold=sum(data.gold.values()))
    rows: list[dict[str, Any]] = []
    for wanted in (None, *_WANTED):
        name = "best F1" if wanted is None else f"precision {wanted:g}"
        try:
            found = (
                best_threshold(curve) if wanted is None else threshold_for(curve, precision=wanted)
            )
            rows.append({"for": name} | asdict(found))
        except InputError as error:
            rows.append({"for": name, "threshold": None, "undefined": str(error)})
    return rows


def _gold(documents: Sequence[Document], strict: Scores, training: Lexicon | None) -> Gold:
    value: Gold = {
        "documents": len(documents),
        "unit": text_unit(documents),
        "drawn": resampling_unit(documents),
        "characters": sum(len(document.text) for document in documents),
        "mentions": strict.counts.support,
        "types": {
            name: counts.support for name, counts in strict.by_type.items() if counts.support
        },
        "discontinuous": sum(
            len(m.spans) > 1 for document in documents for m in document.layer(GOLD)
        ),
        "training": None
        if training is None
        else {"documents": training.documents, "mentions": training.mentions},
    }
    return (
        value
        if training is not None
        else value | {"undefined": {"training": "no training corpus was given"}}
    )


def _attributes(
    bucketing: Bucketing, counted: Sequence[Mapping[str, tuple[Bucket, ...]]]
) -> dict[str, Attribute]:
    """Returns each attribute with its intervals, and which of these are empty for all systems."""
    value: dict[str, Attribute] = {}
    for name, attribute in ATTRIBUTES.items():
        value[name] = {"title": attribute.title, "means": attribute.means}
        if name in bucketing.undefined:
            value[name]["undefined"] = bucketing.undefined[name]
            continue
        ranges = bucketing.ranges[name]
        value[name]["intervals"] = [one.label for one in ranges]
        value[name]["of_the_paper"] = attribute.paper and ranges == attribute.ranges
        value[name]["empty"] = [
            one.label
            for at, one in enumerate(ranges)
            if all(row[name][at].is_empty for row in counted)
        ]
    return value


def _subsets(
    documents: Sequence[Document], one: ScoredSystem, training: Lexicon | None
) -> dict[str, Any]:
    known = None if training is None else training.surfaces
    found = subset_recall(documents, one.predicted, known=known)
    value: dict[str, Any] = {}
    for name in SUBSETS:
        if name not in found:
            value[name] = {
                "gold": None,
                "found": None,
                "recall": None,
                "undefined": "no training corpus was given",
            }
            continue
        value[name] = found[name].as_dict()
        if found[name].recall is None:
            value[name] = value[name] | {"undefined": "there is no such gold mention"}
    return value


def _errors(
    found: Sequence[Mistake],
    documents: Mapping[str, Document],
    *,
    at_most: int,
    predicted: Mapping[str, Sequence[Mention]],
) -> Errors:
    texts = {identifier: document.text for identifier, document in documents.items()}
    confused = confusions(found)
    return {
        "classes": class_table(found),
        "rates": error_rates(found),
        "rates_same_type": error_rates(found, same_type=True),
        "confusions": confused[:_MOST_CONFUSIONS],
        "more_confusions": max(0, len(confused) - _MOST_CONFUSIONS),
        "boundary_words": boundary_words(found, texts),
        "examples": error_examples(found, documents, at_most=at_most, predicted=predicted),
    }


def _differences(of: ScoredSystem, baseline: ScoredSystem) -> dict[str, Any]:
    """Computes micro F1 of one system minus micro F1 of another under each rule."""
    pair = (
        {rule: figures(scores.counts).f1 for rule, scores in one.scores.items()}
        for one in (of, baseline)
    )
    return _less(*pair, why="the F1 of one of the two is undefined")


def _rate_differences(of: Sequence[Mistake], baseline: Sequence[Mistake]) -> dict[str, Any]:
    """Computes TE-Rate and BE-Rate of one system minus those of another: a row of
    *bundling-learning*, Table 7.
    """
    rates = [error_rates(found) for found in (of, baseline)]
    pair = ({name: one[name] for name in ("type_rate", "boundary_rate")} for one in rates)
    return _less(*pair, why="one of the two has no error")


def _less(
    of: Mapping[Any, float | None], baseline: Mapping[Any, float | None], *, why: str
) -> dict[str, Any]:
    pairs = {name: (first, baseline[name]) for name, first in of.items()}
    value: dict[str, Any] = {
        name: None if a is None or b is None else a - b for name, (a, b) in pairs.items()
    }
    missing = [name for name, number in value.items() if number is None]
    return value | ({"undefined": dict.fromkeys(missing, why)} if missing else {})
