"""Everything about the links of some systems on one gold, as one value that JSON can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final

from fascicle.evaluation.calibration.reliability import curve_of_bins
from fascicle.evaluation.link_scores import (
    CALIBRATION,
    COMPARED,
    FIGURES,
    KnowsConcepts,
    LinkCase,
    LinkScores,
    link_difference,
    link_error,
    link_intervals,
    score_links,
)
from fascicle.evaluation.scoring.scores import ONE_DOCUMENT
from fascicle.evaluation.uncertainty.significance import holm_correction

_SCHEMA: Final = 1
_OF_CANDIDATES: Final = ("recall@5", "recall@20")
_OF_SUBSETS: Final = ("recall@1", *_OF_CANDIDATES, "recall", "ceiling")
_NOTHING: Final = "there is nothing to count"
_LONGEST: Final = 300  # characters of a surface in an example
_SUBSETS: Final[dict[str, Callable[[LinkCase], bool]]] = {
    "seen_surfaces": lambda case: case.seen_surface,
    "unseen_surfaces": lambda case: not case.seen_surface,
    "seen_concepts": lambda case: case.seen_concepts,
    "unseen_concepts": lambda case: not case.seen_concepts,
}


@dataclass(frozen=True, kw_only=True)
class LinkSystem:
    """Links of one system for the mentions of the gold.

    Attributes:
        name: of the system.
        cases: one for each mention.
        has_candidates: whether the cases have candidates behind the first.
    """

    name: str
    cases: Sequence[LinkCase] = field(repr=False)
    has_candidates: bool = False


def _details_of(scores: LinkScores) -> dict[str, Any]:
    """Returns tiers, reliability and classes of errors of a system."""
    return {
        "tiers": _tiers(scores),
        "reliability": list(map(asdict, curve_of_bins(scores.bins.sum(axis=0)))),
        "errors": {error: count._asdict() for error, count in scores.errors.items()},
    }


def links_report(
    systems: Sequence[LinkSystem],
    *,
    documents: Sequence[str],
    concepts: KnowsConcepts,
    is_trained: bool = False,
    examples: int = 5,
    resamples: int = 1000,
) -> dict[str, Any]:
    """Analyses links.

    Args:
        systems: on the same gold, at least one; differences are to the first.
        documents: ids of all documents of the gold.
        concepts: of the vocabulary.
        is_trained: whether the cases say what a training corpus has.
        examples: of each class of errors.
        resamples: draws of the bootstrap, and shuffles.

    Returns:
        A value of dictionaries, lists, strings and numbers, without NaN: a figure that is undefined
        is ``None``, and the key ``"undefined"`` beside it says why.
    """
    gold = _gold_part(systems[0].cases, len(documents))
    all_scores = [score_links(system.cases, documents, concepts) for system in systems]
    subsets = _SUBSETS if is_trained else {}
    parts = []
    for system, scores in zip(systems, all_scores, strict=True):
        brief = partial(_brief, system, documents, concepts)
        parts.append(
            {
                "name": system.name,
                "figures": _figures(system, scores, resamples),
                "types": {name: brief(partial(_has_type, name)) for name in gold["types"]},
                "subsets": {
                    name: brief(subset, only=_OF_SUBSETS) for name, subset in subsets.items()
                },
                **_details_of(scores),
                "examples": _examples(system.cases, concepts, examples),
            }
        )
    return {
        "fascicle_links": _SCHEMA,
        "gold": gold,
        "systems": parts,
        "differences": _differences(systems, all_scores, resamples),
    }


def _gold_part(cases: Iterable[LinkCase], documents: int) -> dict[str, Any]:
    gold = [case for case in cases if case.where != "spurious"]
    types = Counter(case.type for case in gold)
    return {
        "documents": documents,
        "mentions": len(gold),
        "without_concept": sum(not case.gold for case in gold),
        "types": dict(sorted(types.items())),
        "concepts": len(frozenset().union(*(case.gold for case in gold))),
    }


def _figures(system: LinkSystem, scores: LinkScores, resamples: int) -> dict[str, Any]:
    """Returns the figures of a system with their intervals."""
    intervals = link_intervals(scores, resamples=resamples) if len(scores.documents) > 1 else {}
    figures = {
        name: _figure(scores, name)
        for name in FIGURES
        if system.has_candidates or name not in _OF_CANDIDATES
    }
    error = scores.calibration_error
    figures[CALIBRATION] = {"value": error} | (
        {} if error is not None else {"undefined": "no answer has a probability"}
    )
    for name, row in figures.items():
        row["interval"] = intervals[name].as_dict() if name in intervals else None
    return figures


def _figure(scores: LinkScores, name: str) -> dict[str, Any]:
    part, whole = scores.counts(name)
    value: dict[str, Any] = {"part": part, "whole": whole, "value": scores.value(name)}
    return value if whole else value | {"undefined": _NOTHING}


def _has_type(type_name: str, case: LinkCase) -> bool:
    return case.type == type_name


def _brief(
    system: LinkSystem,
    documents: Sequence[str],
    concepts: KnowsConcepts,
    condition: Callable[[LinkCase], bool],
    *,
    only: Sequence[str] = FIGURES,
) -> dict[str, Any]:
    """Returns the figures of some cases alone, without intervals."""
    scores = score_links(filter(condition, system.cases), documents, concepts)
    return {
        name: _figure(scores, name)
        for name in only
        if system.has_candidates or name not in _OF_CANDIDATES
    }


def _tiers(scores: LinkScores) -> dict[str, dict[str, Any]]:
    """Returns the precision of the links of each tier, and the share of mentions that have one."""
    tiers = {}
    for tier, table in scores.tiers.items():
        right, answered, mentions = table.sum(axis=0).tolist()
        coverage = answered / mentions if mentions else None
        tiers[tier] = {
            "right": right,
            "answered": answered,
            "precision": right / answered,
            "coverage": coverage,
        }
    return tiers


def _examples(
    cases: Sequence[LinkCase], concepts: KnowsConcepts, most: int
) -> dict[str, list[dict[str, Any]]]:
    """Selects the first examples of each class of errors, each surface once."""
    examples: dict[str, dict[str, dict[str, Any]]] = {}
    for case in cases:
        error = link_error(case, concepts)
        if (
            error is None
            or len(examples.setdefault(error, {})) >= most
            or case.surface in examples[error]
        ):
            continue
        examples[error][case.surface] = {
            "document": case.document,
            "start": case.start,
            "type": case.type,
            "surface": case.surface[:_LONGEST],
            "gold": [_describe_concept(curie, concepts) for curie in sorted(case.gold)],
            "answer": [_describe_concept(curie, concepts) for curie in sorted(case.answer)],
            "score": case.score,
            "tier": case.tier,
        }
    return {error: list(rows.values()) for error, rows in examples.items()}


def _describe_concept(curie: str, concepts: KnowsConcepts) -> dict[str, str]:
    return {"curie": curie, "label": concepts.label(curie), "taxon": concepts.taxon(curie)}


def _differences(
    systems: Sequence[LinkSystem], scores: Sequence[LinkScores], resamples: int
) -> list[dict[str, Any]]:
    """Compares each further system with the first, by measure, with tests corrected for their
    number (Holm).
    """
    rows = list(_rows(systems, scores, resamples))
    tested = [row for row in rows if row["difference"] is not None]
    for row, p_value in zip(
        tested, holm_correction([row["difference"]["p_value"] for row in tested]), strict=True
    ):
        row["difference"]["p_holm"] = p_value
    return rows


def _rows(
    systems: Sequence[LinkSystem], all_scores: Sequence[LinkScores], resamples: int
) -> Iterator[dict[str, Any]]:
    for system, scores in zip(systems[1:], all_scores[1:], strict=True):
        for name in COMPARED:
            row: dict[str, Any] = {
                "system": system.name,
                "baseline": systems[0].name,
                "figure": name,
            }
            if scores.value(name) is None or all_scores[0].value(name) is None:
                yield row | {"difference": None, "undefined": _NOTHING}
            elif len(scores.documents) == 1:
                yield row | {"difference": None, "undefined": ONE_DOCUMENT}
            else:
                yield row | {
                    "difference": link_difference(
                        scores, all_scores[0], name, resamples=resamples
                    ).as_dict()
                }
