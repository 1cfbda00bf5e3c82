"""An evaluation as one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fascicle.core.marks import Html, isolated_name, join, shorten_name, tag
from fascicle.core.page.template import PageSection, paragraphs, render_page
from fascicle.core.wording import plural
from fascicle.evaluation.report_parts import Report
from fascicle.evaluation.reports.links import LinkTable, describe, describe_scored, link_tables
from fascicle.evaluation.reports.markdown_table import percent
from fascicle.evaluation.reports.page.buckets import buckets_section
from fascicle.evaluation.reports.page.calibration import calibration_section, system_calibration
from fascicle.evaluation.reports.page.errors import errors_section, system_errors
from fascicle.evaluation.reports.page.examples import examples_section
from fascicle.evaluation.reports.page.html import Pictures, ScoreTable
from fascicle.evaluation.reports.page.scores import (
    headline,
    reach_section,
    rules_section,
    subsets_section,
    summary_section,
    types_section,
)

_NOTHING: Final[Pictures] = {}


def page(report: Report, *, pictures: Pictures | None = None, notice: str = "") -> str:
    """Returns the report of ``fascicle.evaluation.report.build_report`` as one HTML page.

    All of the page can be read without its script, which only filters the examples. The same report
    and pictures give the same characters.

    Args:
        report: the value.
        pictures: by name, as ``plots.report_pictures.report_pictures`` makes them; without them the
            page has only tables.
        notice: what is to be said at the top, such as why there are no pictures.
    """
    names = ", ".join(shorten_name(system["name"]) for system in report["systems"])
    notices = [
        tag("p", system, class_="notice")
        for system in (*report.get("remarks", ()), notice)
        if system
    ]
    top = (tag("h1", "Evaluation"), headline(report), _lede(report), *notices)
    return render_page(f"Evaluation of {names}", top, _sections(report, pictures or _NOTHING))


def _sections(report: Report, pictures: Pictures) -> list[PageSection]:
    sections = [
        summary_section(report, pictures),
        types_section(report, pictures),
        errors_section(report),
        examples_section(report),
        rules_section(report),
        subsets_section(report),
        *([reach_section(report)] if report["unreachable"] else []),
        buckets_section(report, pictures),
        calibration_section(report, pictures),
    ]
    for number, system in enumerate(report["systems"]):
        parts = (
            system_errors(report, number, pictures),
            system_calibration(report, number, pictures),
        )
        sections.append(
            PageSection(anchor=f"system-{number}", title=f"System {system['name']}", parts=parts)
        )
    return sections


def _lede(report: Report) -> Html:
    """Builds the opening paragraph of the page, which describes what was compared."""
    gold, training = report["gold"], report["gold"]["training"]
    systems = [tag("strong", isolated_name(system["name"])) for system in report["systems"]]
    size = (
        f" on {gold['documents']:,} {'sentences' if gold['unit'] == 'sentence' else 'documents'} "
        f"with {plural(gold['mentions'], 'gold mention')} of {plural(len(gold['types']), 'type')} "
        f"({gold['discontinuous']:,} discontinuous). "
    )
    coverage = (
        "No training corpus was given, so nothing is said about what was seen in training."
        if training is None
        else (
            f"The training corpus has {plural(training['documents'], 'document')} with "
            f"{plural(training['mentions'], 'mention')}."
        )
    )
    return tag("p", join(*systems, by=", "), size, coverage, class_="lede")


def links_page(report: Mapping[str, Any]) -> str:
    """Returns the report of `evaluation.link_report.links_report` as one HTML page; see
    `page.page`.
    """
    names = ", ".join(shorten_name(system["name"]) for system in report["systems"])
    top = (tag("h1", "Evaluation of links"), tag("p", describe_scored(report), class_="lede"))
    return render_page(f"Evaluation of links of {names}", top, list(_link_sections(report)))


def _link_sections(report: Mapping[str, Any]) -> Iterator[PageSection]:
    for table in link_tables(report):
        yield PageSection(anchor=table.anchor, title=table.title, body=_table(table))
    for at, system in enumerate(report["systems"]):
        parts = [
            PageSection(
                anchor=f"system-{at}-reliability", title="Probabilities", body=_reliability(system)
            )
        ]
        if system["examples"]:
            parts.append(
                PageSection(
                    anchor=f"system-{at}-examples",
                    title="Examples of errors",
                    body=_examples(system),
                )
            )
        yield PageSection(
            anchor=f"system-{at}", title=f"System {system['name']}", parts=tuple(parts)
        )


def _table(link_table: LinkTable) -> Html:
    several = len(link_table.systems) > 1
    groups = (
        [("", 1), *((isolated_name(name), len(link_table.columns)) for name in link_table.systems)]
        if several
        else []
    )
    table = ScoreTable(
        link_table.head,
        *(column for _ in range(max(1, len(link_table.systems))) for column in link_table.columns),
        groups=groups,
    )
    for label, cells in link_table.rows:
        table.add(isolated_name(label), *cells)
    return table.html(means=link_table.means, label=link_table.title)


def _reliability(system: Mapping[str, Any]) -> Html:
    if system["figures"]["calibration_error"]["value"] is None:
        return paragraphs("No answer has a probability.")
    table = ScoreTable("probability", "answers", "mean probability", "precision")
    for row in system["reliability"]:
        shares = map(percent, (row["mean_score"], row["precision"]))
        table.add(f"{row['low']:.1f} to {row['high']:.1f}", f"{row['count']:,}", *shares)
    means = (
        (
            "precision",
            "of these answers, in percent; where it equals the mean, probabilities tell the truth",
        ),
    )
    return table.html(means=means, label="reliability")


def _examples(system: Mapping[str, Any]) -> Html:
    parts: list[Html] = []
    for error, rows in system["examples"].items():
        parts += [
            tag("h4", error),
            tag("ul", *(tag("li", isolated_name(describe(row))) for row in rows)),
        ]
    return join(*parts)
