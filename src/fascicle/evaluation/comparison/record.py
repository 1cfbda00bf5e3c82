"""A comparison for a program: everything, ready for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fascicle.evaluation.comparison.choice import Choice, Choices
from fascicle.evaluation.comparison.comparing import LEVEL, Comparison, Measured
from fascicle.evaluation.comparison.search import Candidate


def as_dict(comparison: Comparison, choices: Choices | None = None, *, commands: Sequence[str] = ()) -> dict[str, Any]:
    """What `fascicle.reports.comparison_table.sections_of` shows, with names in full and with all combinations.

    Args:
        comparison: of the systems.
        choices: of the combinations; ``None`` leaves them out.
        commands: for each choice of a combination the command that makes it, in the order of ``choices``.
    """
    names = [row.name for row in comparison.rows]
    value: dict[str, Any] = {
        "documents": comparison.documents,
        "gold": comparison.gold,
        "level": LEVEL,
        "resamples": comparison.resamples,
        "seed": comparison.seed,
        "systems": [
            {
                "name": row.name,
                **_measured_dict(row.measured),
                "unique_true": row.unique_true,
                "unique_false": row.unique_false,
                "types": {name: vars(counts) | vars(counts.rates()) for name, counts in row.by_type.items()},
            }
            for row in comparison.rows
        ],
        "union": _measured_dict(comparison.union),
        "intersection": _measured_dict(comparison.intersection),
        "oracle_f1": comparison.oracle_f1,
        "pairs": [vars(pair) | {"difference": vars(pair.difference)} for pair in comparison.pairs],
        "misses_found_by": _matrix_dict(names, comparison.found_by),
        "false_alarms_avoided_by": _matrix_dict(names, comparison.avoided_by),
        "types": {
            name: {"union": vars(counts) | vars(counts.rates()), "unique_true": dict(zip(names, unique, strict=True))}
            for (name, counts), unique in zip(comparison.types.items(), comparison.unique_by_type.values(), strict=True)
        },
    }
    if choices is not None:
        value["combinations"] = [_candidate_dict(one, names) for one in choices.candidates]
        value["best_single"] = names[choices.single]
        value["best"] = [
            _choice_dict(choice, names, command) for choice, command in zip(choices.choices, commands, strict=True)
        ]
    return value


def _measured_dict(found: Measured) -> dict[str, Any]:
    counts = found.counts
    return {
        **{
            name: {"estimate": interval.estimate, "low": interval.low, "high": interval.high}
            for name, interval in (("precision", found.precision), ("recall", found.recall), ("f1", found.f1))
        },
        **vars(counts),
        "predicted": counts.predicted,
    }


def _matrix_dict(names: Sequence[str], numbers: Sequence[Sequence[int]]) -> dict[str, dict[str, int]]:
    return {name: dict(zip(names, row, strict=True)) for name, row in zip(names, numbers, strict=True)}


def _candidate_dict(one: Candidate, names: Sequence[str]) -> dict[str, Any]:
    low, high = one.f1_interval
    return {
        "rule": one.rule.name,
        **({"k": one.rule.votes} if one.rule.name == "kofn" else {}),
        **({"weights": [float(weight) for weight in one.rule.weights]} if one.rule.weights else {}),
        "systems": [names[member] for member in one.members],
        "precision": one.precision,
        "recall": one.recall,
        "f1": one.f1,
        "f1_low": low,
        "f1_high": high,
        **vars(one.counts),
        "repeats": one.repeats,
    }


def _choice_dict(choice: Choice, names: Sequence[str], command: str) -> dict[str, Any]:
    value: dict[str, Any] = {"aim": choice.aim, "floor": choice.floor, "combination": None}
    if choice.chosen is not None:
        value["combination"] = _candidate_dict(choice.chosen.candidate, names)
        value["gain_over_best_single"] = vars(choice.chosen.gain)
        value["command"] = command
    return value
