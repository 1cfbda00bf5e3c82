"""Table of what thirty documents of one's own add."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean
from types import MappingProxyType
from typing import Any, Final

from studies.common import result
from studies.tables.grids import MISSING, markdown

_CORPORA: Final[Mapping[str, str]] = MappingProxyType(
    {"ncbi": "NCBI disease", "cellfinder": "CellFinder", "dimb-re": "DiMB-RE"}
)
_ARMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "minilm": "MiniLM, the thirty documents",
        "further": "`biomed`, the thirty documents",
        "beside": "`biomed`, these and its own labels",
        "as it is": "`biomed` as it is",
    }
)


def further() -> str:
    """Strict F1 of each arm and corpus, its difference to others, and what is forgotten."""
    rows = [
        _line(corpus, arm, found)
        for corpus in _CORPORA
        for arm in _ARMS
        for found in [result("further").get("rows", {}).get(f"{corpus}: {arm}")]
        if found
    ]
    head = (
        "texts",
        "model",
        "F1 (95 %)",
        "seeds",
        "less MiniLM",
        "less `biomed`",
        "F1 on BioRED",
        "minutes of one core",
    )
    return markdown(head, rows) if rows else MISSING


def _line(corpus: str, arm: str, row: Mapping[str, Any]) -> list[str]:
    interval = row["interval"]
    return [
        _CORPORA[corpus],
        _ARMS[arm],
        f"{100 * mean(row['f1']):.1f} ({100 * interval['low']:.1f} to {100 * interval['high']:.1f})",
        "" if arm == "as it is" else str(len(row["f1"])),
        *(_less(row.get(name)) for name in ("less_minilm", "less_shipped")),
        f"{100 * row['kept_f1']:.1f}",
        f"{60 * row['hours']:.0f}" if "hours" in row else "",
    ]


def _less(one: Mapping[str, float] | None) -> str:
    if not one or one["low"] == one["high"] == 0.0:
        return ""
    return f"{100 * one['estimate']:+.1f} ({100 * one['low']:+.1f} to {100 * one['high']:+.1f})"
