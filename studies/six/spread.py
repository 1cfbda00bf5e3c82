"""How much the rows of a model that ships vary with its seed: what is stored of it, and of its
further seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SEEDS: Final = "six-seeds"  # the results file of models without a decision of documents
DECIDED: Final = "six-seeds-decided"  # the one of models with all of their decision
Value = Mapping[str, Any]


def with_seed(value: Value, model: str, seed: int, found: Value) -> dict[str, Any]:
    """Results of further seeds with one more; a seed that was there is replaced."""
    systems = {**value.get("systems", {})}
    systems[model] = {**systems.get(model, {}), str(seed): found}
    return {"systems": systems}


def f1_of_seeds(value: Value, further: Value, model: str, row: str, form: str) -> list[float]:
    """Strict F1 of a row in points: of the model that ships, then of its further seeds.

    Args:
        value: results of what ships, see ``rows.py``.
        further: results of further seeds, see `with_seed`.
        model: that ships.
        row: its name.
        form: of the text, see ``rows.FORMS``.

    Returns:
        Nothing if the model was not scored on this row.
    """
    first = value.get("systems", {}).get(model, {}).get("rows", {}).get(row, {}).get(form)
    if not first:
        return []
    return [100 * first["strict"]["micro"]["f1"], *f1_of_further(further, model, row, form)]


def f1_of_further(further: Value, model: str, row: str, form: str) -> list[float]:
    """The same of further seeds alone, or of all seeds of a model that shipped before."""
    seeds = further.get("systems", {}).get(model, {})
    return [100 * seeds[seed]["rows"][row][form]["strict"] for seed in sorted(seeds, key=int)]
