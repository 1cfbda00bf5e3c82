"""Whether the scores of the mentions can be trusted, on the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fascicle.core.marks import Html, escape, isolated_name, join, tag
from fascicle.core.page.template import PageSection, paragraphs
from fascicle.evaluation.report_parts import CalibrationPart, Report
from fascicle.evaluation.reports.page.html import CALIBRATION, Pictures, ScoreTable, figure
from fascicle.evaluation.reports.rows import add_bins, add_calibrated_types, add_thresholds

_THRESHOLDS: Final = (
    "If only mentions with at least this score were kept. Chosen on these documents, they hold for "
    "these: choose on development data what is to be used."
)
_CURVE: Final = (
    "Precision and recall if only the mentions above a score were kept, for every score: curves "
    "further up and to the right are better. At the left, where few mentions are kept, precision "
    "jumps and may lie outside the picture. A curve ends where the predictions of the file end."
)


def calibration_section(report: Report, pictures: Pictures) -> PageSection:
    """Builds the calibration section, with all systems side by side."""
    table = ScoreTable(
        "system", "scores", "calibration error", "Brier score", "average precision", "temperature"
    )
    for system in report["systems"]:
        value = system["calibration"]
        if isinstance(reason := value.get("undefined"), str):
            table.add(isolated_name(system["name"]), *[table.because(reason)] * 5)
            continue
        table.add(
            isolated_name(system["name"]),
            f"{value['predicted']:,}",
            table.share(value, "expected_calibration_error"),
            _number(table, value, "brier_score"),
            table.share(value, "average_precision"),
            _temperature(table, value),
        )
    intro = (
        "A score is well calibrated if, of the mentions with a score near 0.8, 80 % are right. "
        "Then a threshold does what one expects of it."
    )
    body = join(
        paragraphs(intro),
        table.html(means=CALIBRATION, label="calibration"),
        figure(pictures, "precision-recall", caption=_CURVE),
    )
    return PageSection(anchor="calibration", title="Can the scores be trusted?", body=body)


def _number(table: ScoreTable, value: Mapping[str, Any], name: str) -> Html:
    return (
        table.because(value["undefined"][name])
        if value[name] is None
        else escape(f"{value[name]:.4f}")
    )


def _temperature(table: ScoreTable, value: Mapping[str, Any]) -> Html:
    fit = value["temperature"]
    if fit is None or fit["at_bound"]:
        return table.because(
            "no temperature fits these scores" if fit else value["undefined"]["temperature"]
        )
    return escape(f"{fit['temperature']:.3f}")


def system_calibration(report: Report, at: int, pictures: Pictures) -> PageSection:
    """Builds the calibration section of one system."""
    value = report["systems"][at]["calibration"]
    anchor = f"system-{at}-calibration"
    if isinstance(reason := value.get("undefined"), str):
        body = tag("p", "Undefined: ", isolated_name(reason), ".", class_="nothing")
        return PageSection(anchor=anchor, title="Calibration", body=body)
    caption = (
        "Precision of the mentions in each interval of the score. On the dashed line, scores "
        "tell the truth; below it, "
        "the system is too sure. The bars show how many mentions have such scores."
    )
    drawn = figure(pictures, f"reliability-{at}", caption=caption)
    parts = [
        tag("div", _bins(value), drawn, class_="beside"),
        tag("h4", "Thresholds"),
        paragraphs(_THRESHOLDS),
        _cuts(value),
    ]
    if len(value["types"]) > 1:
        parts += [tag("h4", "By type"), _types(value)]
    return PageSection(anchor=anchor, title="Calibration", body=join(*parts))


def _bins(value: CalibrationPart) -> Html:
    table = ScoreTable("score", "mentions", "mean score", "precision")
    add_bins(table, value)
    means = (
        ("mentions", "predicted, with a score in the interval"),
        ("mean score", "of these, in percent"),
        ("precision", "the share of them that is right"),
    )
    return table.html(means=means, label="reliability")


def _cuts(value: CalibrationPart) -> Html:
    table = ScoreTable("wanted", "threshold", "precision", "recall")
    add_thresholds(table, value)
    means = (
        ("best F1", "the threshold with the highest F1"),
        ("precision 0.9", "the lowest threshold at which 90 % of what is kept is right"),
    )
    return table.html(means=means, label="thresholds")


def _types(value: CalibrationPart) -> Html:
    table = ScoreTable("type", "predicted", "calibration error", "average precision")
    add_calibrated_types(table, value)
    means = [pair for pair in CALIBRATION if pair[0] in ("calibration error", "average precision")]
    return table.html(means=means, label="calibration by type")
