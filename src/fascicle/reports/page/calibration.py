"""Calibration on the page: whether the scores of systems tell how often they are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fascicle.core.html import Html, join, tag, text, user
from fascicle.evaluation.report_parts import Report
from fascicle.reports.page import words as page_words
from fascicle.reports.page.html import Pictures, Section, Table, figure, paragraphs

_THRESHOLDS: Final = (
    "If only mentions with at least this score were kept. Chosen on these documents, they hold for these: choose on "
    "development data what is to be used."
)
_CURVE: Final = (
    "Precision and recall if only the mentions above a score were kept, for every score: curves further up and to the "
    "right are better. At the left, where few mentions are kept, precision jumps and may lie outside the picture. A "
    "curve ends where the predictions of the file end."
)


def calibration_section(report: Report, pictures: Pictures) -> Section:
    """All systems side by side."""
    table = Table("system", "scores", "calibration error", "Brier score", "average precision", "temperature")
    for one in report["systems"]:
        value = one["calibration"]
        if isinstance(reason := value.get("undefined"), str):
            table.add(user(one["name"]), *[table.because(reason)] * 5)
            continue
        table.add(
            user(one["name"]),
            f"{value['predicted']:,}",
            table.share(value, "expected_calibration_error"),
            _number(table, value, "brier_score"),
            table.share(value, "average_precision"),
            _temperature(table, value),
        )
    told = (
        "A score is well calibrated if, of the mentions with a score near 0.8, 80 % are right. Then a threshold does "
        "what one expects of it."
    )
    body = join(
        paragraphs(told),
        table.html(means=page_words.CALIBRATION, label="calibration"),
        figure(pictures, "precision-recall", caption=_CURVE),
    )
    return Section(anchor="calibration", title="Can the scores be trusted?", body=body)


def _number(table: Table, value: Mapping[str, Any], name: str) -> Html:
    if value[name] is None:
        return table.because(value["undefined"][name])
    return text(f"{value[name]:.4f}")


def _temperature(table: Table, value: Mapping[str, Any]) -> Html:
    found = value["temperature"]
    if found is None:
        return table.because(value["undefined"]["temperature"])
    return (
        table.because("no temperature fits these scores") if found["at_bound"] else text(f"{found['temperature']:.3f}")
    )


def system_calibration(report: Report, at: int, pictures: Pictures) -> Section:
    """The scores of one system."""
    value = report["systems"][at]["calibration"]
    anchor = f"system-{at}-calibration"
    if isinstance(reason := value.get("undefined"), str):
        body = tag("p", "Undefined: ", user(reason), ".", class_="nothing")
        return Section(anchor=anchor, title="Calibration", body=body)
    caption = (
        "Precision of the mentions in each interval of the score. On the dashed line, scores tell the truth; below it, "
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
    return Section(anchor=anchor, title="Calibration", body=join(*parts))


def _bins(value: Mapping[str, Any]) -> Html:
    table = Table("score", "mentions", "mean score", "precision")
    for at, one in enumerate(value["reliability"]):
        label = f"{'[' if at == 0 else '('}{one['low']:.4g}, {one['high']:.4g}]"
        row = one | {"undefined": "no mention has such a score"}
        table.add(label, f"{one['count']:,}", table.share(row, "mean_score"), table.share(row, "precision"))
    means = (
        ("mentions", "predicted, with a score in the interval"),
        ("mean score", "of these, in percent"),
        ("precision", "the share of them that is right"),
    )
    return table.html(means=means, label="reliability")


def _cuts(value: Mapping[str, Any]) -> Html:
    table = Table("wanted", "threshold", "precision", "recall")
    for row in value["thresholds"]:
        if row["threshold"] is None:
            table.add(row["for"], *(table.because(row["undefined"]) for _ in range(3)))
            continue
        table.add(row["for"], f"{row['threshold']:.4g}", table.share(row, "precision"), table.share(row, "recall"))
    means = (
        ("best F1", "the threshold with the highest F1"),
        ("precision 0.9", "the lowest threshold at which 90 % of what is kept is right"),
    )
    return table.html(means=means, label="thresholds")


def _types(value: Mapping[str, Any]) -> Html:
    table = Table("type", "predicted", "calibration error", "average precision")
    for name, row in value["types"].items():
        numbers = (table.share(row, number) for number in ("expected_calibration_error", "average_precision"))
        table.add(user(name), f"{row['predicted']:,}", *numbers)
    means = [pair for pair in page_words.CALIBRATION if pair[0] in ("calibration error", "average precision")]
    return table.html(means=means, label="calibration by type")
