"""The table of the best single models: as trained, in 8 bits, and with rules for abbreviations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from studies.common import result
from studies.tables.grids import NOT_RUN, Value, markdown, spread

NAME = "best-8-bits"
FORMS = {"whole": "as trained", "int8": "in 8 bits", "resolved": "with rules"}


def table(results: Path) -> str:
    """F1 on test by corpus and system, the mean over seeds; and F1 on dev, which the choice
    among systems rests on.
    """
    rows: dict[tuple[str, str, bool], list[Value]] = {}
    for one in result(NAME, results).get("runs", {}).values():
        rows.setdefault((one["corpus"], one["system"], one["refit"]), []).append(one)
    if not rows:
        return NOT_RUN
    head = [
        "corpus",
        "system",
        "seeds",
        *FORMS.values(),
        "95 % interval, first seed",
        "dev, with rules",
    ]
    return markdown(head, [_row(key, rows[key]) for key in sorted(rows)])


def _row(key: tuple[str, str, bool], found: Sequence[Value]) -> list[str]:
    corpus, system, refit = key
    interval = min(found, key=lambda one: one["seed"])["resolved"]["f1_interval"]
    return [
        corpus,
        f"`{system}`" + (", refit on train and dev" if refit else ""),
        str(len(found)),
        *(spread(found, form, "micro", "f1") for form in FORMS),
        f"{100 * interval['low']:.1f} to {100 * interval['high']:.1f}",
        "learnt" if refit else spread(found, "rules", "dev_f1"),
    ]
