"""Everything about the links of some systems on one gold, as one value that JSON can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from fascicle.evaluation.uncertainty.significance import holm_correction

_SCHEMA: Final = 1
_OF_CANDIDATES: Final = ("recall@5", "recall@20")
_OF_SUBSETS: Final = ("recall@1", *_OF_CANDIDATES, "recall", "ceiling")
_NOTHING: Final = "there is nothing to count"
_LONGEST: Final = 300  # characters of a surface in an example
_KEPT: Final[dict[str, Callable[[LinkCase], bool]]] = {
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
    found = [score_links(one.cases, documents, concepts) for one in systems]
    gold = [case for case in systems[0].cases if case.where != "spurious"]
    kinds = sorted({case.type for case in gold})
    return {
        "fascicle_links": _SCHEMA,
        "gold": {
            "documents": len(documents),
            "mentions": len(gold),
            "without_concept": sum(not case.gold for case in gold),
            "types": {kind: sum(case.type == kind for case in gold) for kind in kinds},
            "concepts": len({one for case in gold for one in case.gold}),
        },
        "systems": [
            {
                "name": one.name,
                "figures": _figures(one, scores, resamples),
                "types": {
                    kind: _brief(one, documents, concepts, partial(_has_type, kind))
                    for kind in kinds
                },
                "subsets": {
                    name: _brief(one, documents, concepts, kept, only=_OF_SUBSETS)
                    for name, kept in (_KEPT.items() if is_trained else ())
                },
                "tiers": _tiers(scores),
                "reliability": [asdict(one) for one in curve_of_bins(scores.bins.sum(axis=0))],
                "errors": {error: count._asdict() for error, count in scores.errors.items()},
                "examples": _examples(one.cases, concepts, examples),
            }
            for one, scores in zip(systems, found, strict=True)
        ],
        "differences": _differences(systems, found, resamples),
    }


def _figures(system: LinkSystem, scores: LinkScores, resamples: int) -> dict[str, Any]:
    """Returns the figures of a system with their intervals."""
    sure = link_intervals(scores, resamples=resamples) if scores.documents else {}
    found = {
        name: _figure(scores, name)
        for name in FIGURES
        if system.has_candidates or name not in _OF_CANDIDATES
    }
    error = scores.calibration_error
    found[CALIBRATION] = {"value": error} | (
        {} if error is not None else {"undefined": "no answer has a probability"}
    )
    for name, row in found.items():
        row["interval"] = sure[name].as_dict() if name in sure else None
    return found


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
    kept: Callable[[LinkCase], bool],
    *,
    only: Sequence[str] = FIGURES,
) -> dict[str, Any]:
    """Returns the figures of some cases alone, without intervals."""
    scores = score_links(filter(kept, system.cases), documents, concepts)
    return {
        name: _figure(scores, name)
        for name in only
        if system.has_candidates or name not in _OF_CANDIDATES
    }


def _tiers(scores: LinkScores) -> dict[str, dict[str, Any]]:
    """Returns the precision of the links of each tier, and the share of mentions that have one."""
    found = {}
    for tier, table in scores.tiers.items():
        right, answered, mentions = table.sum(axis=0).tolist()
        coverage = answered / mentions if mentions else None
        found[tier] = {
            "right": right,
            "answered": answered,
            "precision": right / answered,
            "coverage": coverage,
        }
    return found


def _examples(
    cases: Sequence[LinkCase], concepts: KnowsConcepts, most: int
) -> dict[str, list[dict[str, Any]]]:
    """Selects the first examples of each class of errors, each surface once."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for case in cases:
        error = link_error(case, concepts)
        if (
            error is None
            or len(found.setdefault(error, {})) >= most
            or case.surface in found[error]
        ):
            continue
        found[error][case.surface] = {
            "document": case.document,
            "start": case.start,
            "type": case.type,
            "surface": case.surface[:_LONGEST],
            "gold": [_named(one, concepts) for one in sorted(case.gold)],
            "answer": [_named(one, concepts) for one in sorted(case.answer)],
            "score": case.score,
            "tier": case.tier,
        }
    return {error: list(rows.values()) for error, rows in found.items()}


def _named(curie: str, concepts: KnowsConcepts) -> dict[str, str]:
    return {"curie": curie, "label": concepts.label(curie), "taxon": concepts.taxon(curie)}


def _differences(
    systems: Sequence[LinkSystem], found: Sequence[LinkScores], resamples: int
) -> list[dict[str, Any]]:
    """Compares each further system with the first, by measure, with tests corrected for their
    number (Holm).
    """
    rows = list(_rows(systems, found, resamples))
    tested = [row for row in rows if row["difference"] is not None]
    for row, p_value in zip(
        tested, holm_correction([row["difference"]["p_value"] for row in tested]), strict=True
    ):
        row["difference"]["p_holm"] = p_value
    return rows


def _rows(
    systems: Sequence[LinkSystem], found: Sequence[LinkScores], resamples: int
) -> Iterator[dict[str, Any]]:
    for system, scores in zip(systems[1:], found[1:], strict=True):
        for name in COMPARED:
            row: dict[str, Any] = {
                "system": system.name,
                "baseline": systems[0].name,
                "figure": name,
            }
            if scores.value(name) is None or found[0].value(name) is None:
                yield row | {"difference": None, "undefined": _NOTHING}
            else:
                yield row | {
                    "difference": link_difference(
                        scores, found[0], name, resamples=resamples
                    ).as_dict()
                }
