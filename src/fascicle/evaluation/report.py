"""Everything about some systems on one gold, as one value that JSON can hold: what reports are
written from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from fascicle.core.document import GOLD, Document, MentionsById
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
    BinPart,
    BucketLine,
    CalibrationPart,
    Errors,
    GoldPart,
    Report,
    ScoresPart,
    SystemPart,
)
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
        intervals = {name: self.intervals.get(name) for name in HEADLINE}
        value: dict[str, Any] = {
            f"{name}_interval": interval and interval.as_dict()
            for name, interval in intervals.items()
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
    intervals = {} if all(reasons.values()) else bootstrap(drawn, resamples=resamples)
    undefined = {name for name, interval in intervals.items() if interval.is_undefined}
    reasons = {name: why or (_NEVER if name in undefined else "") for name, why in reasons.items()}
    return Headline(
        intervals={name: interval for name, interval in intervals.items() if not reasons[name]},
        undefined={name: why for name, why in reasons.items() if why},
    )


def undefined_notes(intervals: Mapping[str, Mapping[str, Any] | None], unit: str) -> list[str]:
    """Yields a sentence for each number that is undefined in some draws.

    Args:
        intervals: name, or ``"difference"`` -> interval as it stands in JSON.
        unit: what is drawn.
    """
    return [
        f"{TITLES[name]} is undefined in {interval['undefined']:,} of the "
        f"{plural(interval['resamples'], 'draw')} of {unit}s, which are left out of its interval."
        for name, interval in intervals.items()
        if interval is not None and interval["undefined"]
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


@dataclass(frozen=True, kw_only=True)
class _Analysis:
    """A system, its counts in the buckets of each attribute, and its mistakes."""

    system: ScoredSystem
    buckets: Mapping[str, tuple[Bucket, ...]]
    mistakes: Sequence[Mistake]


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
    settings = settings or ReportSettings()
    gold = layers(documents)
    ruler = Ruler(documents, training=training, unit=settings.unit)
    bucketing = Bucketing(gold, ruler, cutting=settings.cutting)
    analyses = [
        _Analysis(
            system=system,
            buckets=bucketing.count(system.predicted),
            mistakes=find_mistakes(gold, system.predicted),
        )
        for system in systems
    ]
    return {
        "fascicle_report": SCHEMA,
        "gold": _gold(documents, systems[0].strict, training),
        "unreachable": list(unreachable),
        "text_unit": settings.unit,
        "intervals": settings.cutting,
        "attributes": _attributes(bucketing, [analysis.buckets for analysis in analyses]),
        "systems": [_system_part(analysis, documents, training, settings) for analysis in analyses],
        "differences": _difference_parts(analyses, resamples=settings.resamples),
    }


def _system_part(
    analysis: _Analysis,
    documents: Sequence[Document],
    training: Lexicon | None,
    settings: ReportSettings,
) -> SystemPart:
    system = analysis.system
    return {
        "name": system.name,
        "scores": scores_part(system, resamples=settings.resamples),
        "subsets": _subsets(documents, system, training),
        "buckets": {name: _bucket_lines(row) for name, row in analysis.buckets.items()},
        "errors": _errors(analysis, documents, at_most=settings.examples),
        "calibration": _calibration_part(layers(documents), system.predicted),
    }


def _bucket_lines(buckets: Iterable[Bucket]) -> list[BucketLine]:
    return [bucket.as_dict() for bucket in buckets]


def _is_empty(bucket: Bucket) -> bool:
    return bucket.is_empty


def _difference_parts(analyses: Sequence[_Analysis], *, resamples: int) -> list[dict[str, Any]]:
    """Returns how each system differs from the first."""
    baseline, *further = analyses
    tests = paired_tests([analysis.system for analysis in analyses], resamples=resamples)
    return [
        _difference_part(analysis, baseline, test)
        for analysis, test in zip(further, tests, strict=True)
    ]


def _difference_part(analysis: _Analysis, baseline: _Analysis, test: Any) -> dict[str, Any]:
    return {
        "system": analysis.system.name,
        "baseline": baseline.system.name,
        "f1": _differences(analysis.system, baseline.system),
        "test": test,
        "buckets": f1_differences(analysis.buckets, baseline.buckets),
        "error_rates": _rate_differences(analysis.mistakes, baseline.mistakes),
    }


def scores_part(system: ScoredSystem, *, resamples: int = 1000) -> ScoresPart:
    """Returns the scores of a system under every rule, with the intervals of the strict ones."""
    strict = system.strict
    rules = {rule: _rule_part(scores) for rule, scores in system.scores.items()}
    _add_intervals(rules["strict"]["types"], system.drawn, resamples=resamples)
    by_type = strict.by_type.items()
    part: dict[str, Any] = {
        "rules": rules,
        **headline_intervals(system.drawn, resamples=resamples).as_dict(),
        "gold_only_types": [name for name, counts in by_type if not counts.predicted],
        "predicted_only_types": [name for name, counts in by_type if not counts.support],
        "missing_documents": len(strict.missing),
        "duplicates": {"gold": strict.duplicates_gold, "predicted": strict.duplicates_predicted},
    }
    return cast(ScoresPart, part)


def _rule_part(scores: Scores) -> dict[str, Any]:
    return {
        "micro": figures_row(scores.counts),
        "macro": macro_row(scores),
        "types": {name: figures_row(counts) for name, counts in scores.by_type.items()},
    }


def _add_intervals(rows: Mapping[str, dict[str, Any]], drawn: Scores, *, resamples: int) -> None:
    """Adds to the row of each type the interval of its F1, or why there is none."""
    intervals = bootstrap_types(drawn, resamples=resamples) if drawn.by_document else {}
    for name, row in rows.items():
        row["f1_interval"] = intervals[name].as_dict() if name in intervals else None
        if name not in intervals:
            why = IN_ONE_DOCUMENT if len(drawn.by_document) > 1 else ONE_DOCUMENT
            row["undefined"] = row.get("undefined", {}) | {"f1_interval": why}


def _calibration_part(gold: MentionsById, predicted: MentionsById) -> CalibrationPart:
    """Returns the calibration of a system, over all and per type, or the reason for none under
    ``"undefined"``.
    """
    try:
        data = judged(gold, predicted)
    except InputError as error:
        return {"undefined": str(error)}
    types = {name: _calibration(data.of_type(name)) for name in sorted({*data.types, *data.gold})}
    return {**_calibration(data), "types": types, "thresholds": _thresholds(data)}


def _calibration(data: JudgedMentions) -> CalibrationPart:
    curve = precision_recall(data.scores, data.right, gold=sum(data.gold.values()))
    reliable = reliability_curve(data.scores, data.right)
    value: CalibrationPart = {
        "predicted": len(data.scores),
        "gold": curve.gold,
        "expected_calibration_error": expected_calibration_error(reliable),
        "brier_score": brier_score(data.scores, data.right),
        "average_precision": curve.average_precision,
        "temperature": fit_temperature(data).as_dict() if len(data.scores) else None,
        "reliability": [cast(BinPart, asdict(interval)) for interval in reliable],
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
    for precision in (None, *_WANTED):
        name = "best F1" if precision is None else f"precision {precision:g}"
        try:
            threshold = (
                best_threshold(curve)
                if precision is None
                else threshold_for(curve, precision=precision)
            )
            rows.append({"for": name} | asdict(threshold))
        except InputError as error:
            rows.append({"for": name, "threshold": None, "undefined": str(error)})
    return rows


def _gold(documents: Sequence[Document], strict: Scores, training: Lexicon | None) -> GoldPart:
    value: GoldPart = {
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
        value[name]["intervals"] = [interval.label for interval in ranges]
        value[name]["of_the_paper"] = attribute.paper and ranges == attribute.ranges
        buckets = zip(*(row[name] for row in counted), strict=True)
        value[name]["empty"] = [row[0].range.label for row in buckets if all(map(_is_empty, row))]
    return value


def _subsets(
    documents: Sequence[Document], system: ScoredSystem, training: Lexicon | None
) -> dict[str, Any]:
    surfaces = None if training is None else training.surfaces
    recalls = subset_recall(documents, system.predicted, known=surfaces)
    value: dict[str, Any] = {}
    for name in SUBSETS:
        if name not in recalls:
            value[name] = {
                "gold": None,
                "found": None,
                "recall": None,
                "undefined": "no training corpus was given",
            }
            continue
        value[name] = recalls[name].as_dict()
        if recalls[name].recall is None:
            value[name] = value[name] | {"undefined": "there is no such gold mention"}
    return value


def _errors(analysis: _Analysis, documents: Sequence[Document], *, at_most: int) -> Errors:
    mistakes = analysis.mistakes
    by_id = {document.id: document for document in documents}
    texts = {document.id: document.text for document in documents}
    confused = confusions(mistakes)
    return {
        "classes": class_table(mistakes),
        "rates": error_rates(mistakes),
        "rates_same_type": error_rates(mistakes, same_type=True),
        "confusions": confused[:_MOST_CONFUSIONS],
        "more_confusions": max(0, len(confused) - _MOST_CONFUSIONS),
        "boundary_words": boundary_words(mistakes, texts),
        "examples": error_examples(
            mistakes, by_id, at_most=at_most, predicted=analysis.system.predicted
        ),
    }


def _differences(of: ScoredSystem, baseline: ScoredSystem) -> dict[str, Any]:
    """Computes micro F1 of one system minus micro F1 of another under each rule."""
    return _less(
        _f1_by_rule(of), _f1_by_rule(baseline), why="the F1 of one of the two is undefined"
    )


def _f1_by_rule(system: ScoredSystem) -> dict[str, float | None]:
    return {rule: figures(scores.counts).f1 for rule, scores in system.scores.items()}


def _rate_differences(of: Sequence[Mistake], baseline: Sequence[Mistake]) -> dict[str, Any]:
    """Computes TE-Rate and BE-Rate of one system minus those of another: a row of
    *bundling-learning*, Table 7.
    """
    first, second = error_rates(of), error_rates(baseline)
    names = ("type_rate", "boundary_rate")
    return _less({name: first[name] for name in names}, second, why="one of the two has no error")


def _less(
    of: Mapping[Any, float | None], baseline: Mapping[Any, Any], *, why: str
) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, first in of.items():
        second = baseline[name]
        value[name] = None if first is None or second is None else first - second
    missing = [name for name, number in value.items() if number is None]
    return value | ({"undefined": dict.fromkeys(missing, why)} if missing else {})
