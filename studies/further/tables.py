"""Table of models that learnt from thirty documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.common import result
from studies.tables.grids import MISSING, markdown, with_interval

_CORPORA = {"ncbi": "NCBI disease", "cellfinder": "CellFinder", "dimb-re": "DiMB-RE"}
_ARMS = {
    "minilm": "from MiniLM",
    "further": "from `biomed`",
    "beside": "from `biomed`, with its own labels",
    "as it is": "`biomed` as it is",
}


def thirty() -> str:
    """F1 on each corpus by arm, and what is left of the six types."""
    rows = result("further").get("rows", {})
    cells = [
        _cells(rows[f"{corpus}: {arm}"], title, how)
        for corpus, title in _CORPORA.items()
        for arm, how in _ARMS.items()
        if f"{corpus}: {arm}" in rows
    ]
    head = ("texts", "training", "seeds", "F1", "95 % interval", "to MiniLM", "to `biomed`")
    return markdown((*head, "six types on BioRED"), cells) if cells else MISSING


def _cells(row: Mapping[str, Any], title: str, how: str) -> list[str]:
    interval = row["interval"]
    trained, minilm = "less_minilm" in row, row.get("less_minilm")
    return [
        title,
        how,
        str(len(row["f1"])) if trained else "",
        f"{100 * sum(row['f1']) / len(row['f1']):.1f}",
        f"{100 * interval['low']:.1f} to {100 * interval['high']:.1f}",
        with_interval(minilm) if minilm and not how.endswith("MiniLM") else "",
        with_interval(row["less_shipped"]) if trained else "",
        f"{100 * row['kept_f1']:.1f}",
    ]
