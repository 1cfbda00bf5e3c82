"""The report that pictures are drawn from: whole ones are read, others refused with what is
wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Mention
from fascicle.errors import FormatError, InputError
from fascicle.evaluation.report import ReportSettings, build_report
from fascicle.evaluation.reports.plots.report_plots import load_report
from fascicle.evaluation.scoring.inputs import score_system

TEXT = "aspirin for pain"
GOLD = (Mention(((0, 7),), "Chemical"), Mention(((12, 16),), "Disease"))
SAID = (
    Mention(((0, 7),), "Disease", score=0.8, source="m"),
    Mention(((12, 16),), "Disease", score=0.4, source="m"),
    Mention(((8, 11),), "Gene", score=0.1, source="m"),
)


def report_of(
    *said: tuple[Mention, ...], gold: tuple[Mention, ...] = GOLD, documents: int = 2
) -> dict[str, Any]:
    texts = [Document(id=str(i), text=TEXT, mentions=gold) for i in range(documents)]
    systems = [
        score_system(f"s{i}", texts, predicted={d.id: one for d in texts})
        for i, one in enumerate(said)
    ]
    return build_report(texts, systems, settings=ReportSettings(resamples=10))


def written(path: Path, value: Any) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "value",
    [
        report_of(SAID, SAID[:1]),
        report_of(SAID, (), gold=()),
        report_of((), (), gold=()),
        report_of((Mention(((0, 7),), "Chemical", source="m"),), documents=1),
    ],
    ids=["usual", "no gold", "nothing at all", "no scores"],
)
def test_whatever_evaluate_writes_is_read(tmp_path: Path, value: dict[str, Any]) -> None:
    assert load_report(written(tmp_path / "r.json", value)) == value
    for one in value["systems"]:  # written before types had intervals
        for row in one["scores"]["rules"]["strict"]["types"].values():
            row.pop("f1_interval")
    load_report(written(tmp_path / "r.json", value))


def strict(report: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = report["systems"][0]["scores"]["rules"]["strict"]
    return found


def emptied(report: dict[str, Any], *path: str | int) -> None:
    """Takes out what stands at the end of a path."""
    *parents, last = path
    for key in parents:
        report = report[key]  # type: ignore[index]
    del report[last]  # type: ignore[arg-type]


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no systems": (lambda r: r.update(systems=[]), "length >= 1"),
    "no calibration": (
        lambda r: emptied(r, "systems", 0, "calibration"),
        "missing required field `calibration`",
    ),
    "no curve": (
        lambda r: emptied(r, "systems", 1, "calibration", "reliability"),
        "has no curves, and no reason",
    ),
    "no class": (
        lambda r: emptied(r, "systems", 0, "errors", "classes", "missed"),
        "'missed' is missing",
    ),
    "no attribute": (
        lambda r: emptied(r, "systems", 1, "buckets", "length"),
        "the buckets of 'length' of 's1' are not",
    ),
    "fewer buckets": (
        lambda r: r["systems"][1]["buckets"]["length"].pop(),
        "the buckets of 'length' of 's1' are not",
    ),
    "no gold": (lambda r: emptied(r, "gold"), "missing required field `gold`"),
    "F1 in percent": (lambda r: strict(r)["micro"].update(f1=83.2), "<= 1.0"),
    "F1 without reason": (
        lambda r: strict(r)["micro"].update(f1=None),
        "the F1 is null without a reason",
    ),
    "interval without reason": (
        lambda r: r["systems"][0]["scores"].update(micro_f1_interval=None),
        "the reason that",
    ),
    "type not scored": (
        lambda r: emptied(strict(r), "types", "Chemical"),
        "is confused, but no type of the scores",
    ),
    "negative count": (lambda r: strict(r)["types"]["Disease"].update(tp=-1), ">= 0"),
    "bin without precision": (
        lambda r: [
            row.update(precision=None) for row in r["systems"][0]["calibration"]["reliability"]
        ],
        "a bin with mentions has no mean score or no precision",
    ),
    "point without recall": (
        lambda r: r["systems"][0]["calibration"]["precision_recall"][0].update(recall=None),
        "a recall is null without a reason",
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_lacks_parts_is_refused(
    tmp_path: Path, change: tuple[Callable[[dict[str, Any]], Any], str]
) -> None:
    value = report_of(SAID, SAID[:1])
    change[0](value)
    with pytest.raises(FormatError, match=re.escape(change[1])) as raised:
        load_report(written(tmp_path / "r.json", value))
    assert "is incomplete or was changed" in str(raised.value)
    assert "--report FILE.json writes one" in str(raised.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<!DOCTYPE html>", "not a report as JSON"),
        (b'{"fascicle_report":1', "not a report as JSON"),
        (b"\xff\xfe", "not a report as JSON"),
        (b"[" * 9999, "not a report as JSON"),
        (b'{"fascicle_report": NaN}', "not a report as JSON"),
        (b"[1]", "no key fascicle_report"),
        (b'{"micro": {"f1": 0.5}}', "no key fascicle_report"),
        (b'{"fascicle_report": 2}', "a report of version 2; this release reads version 1"),
        (b'{"fascicle_report": 1}', "incomplete"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=said):
        load_report(str(path))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.json"):
        with pytest.raises(InputError, match="cannot be read"):
            load_report(str(path))
