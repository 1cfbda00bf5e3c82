"""A report on links as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fascicle.core.html import Html, join, short, tag, user
from fascicle.reports.links import LinkTable, example, link_tables, percent, told
from fascicle.reports.page.html import UNDEFINED, Section, Table, paragraphs
from fascicle.reports.page.page import shell


def links_page(report: Mapping[str, Any]) -> str:
    """The report of `evaluation.links.report.links_report` as one HTML page; see `page.page`."""
    names = ", ".join(short(one["name"]) for one in report["systems"])
    top = (tag("h1", "Evaluation of links"), tag("p", told(report), class_="lede"))
    return shell(f"Evaluation of links of {names}", top, list(_sections(report)))


def _sections(report: Mapping[str, Any]) -> Iterator[Section]:
    for one in link_tables(report):
        yield Section(anchor=one.anchor, title=one.title, body=_table(one))
    for at, system in enumerate(report["systems"]):
        parts = [Section(anchor=f"system-{at}-reliability", title="Probabilities", body=_reliability(system))]
        if system["examples"]:
            parts.append(Section(anchor=f"system-{at}-examples", title="Examples of errors", body=_examples(system)))
        yield Section(anchor=f"system-{at}", title=f"System {system['name']}", parts=tuple(parts))


def _table(one: LinkTable) -> Html:
    several = len(one.systems) > 1
    groups = [("", 1), *((user(name), len(one.columns)) for name in one.systems)] if several else []
    table = Table(one.head, *(column for _ in range(max(1, len(one.systems))) for column in one.columns), groups=groups)
    for label, cells in one.rows:
        table.add(user(label), *cells)
    return table.html(means=one.means, label=one.title)


def _reliability(system: Mapping[str, Any]) -> Html:
    if system["figures"]["calibration_error"]["value"] is None:
        return paragraphs("No answer has a probability.")
    table = Table("probability", "answers", "mean probability", "precision")
    for row in system["reliability"]:
        shown = (UNDEFINED if row[name] is None else percent(row[name]) for name in ("mean_score", "precision"))
        table.add(f"{row['low']:.1f} to {row['high']:.1f}", f"{row['count']:,}", *shown)
    means = (("precision", "of these answers, in percent; where it equals the mean, probabilities tell the truth"),)
    return table.html(means=means, label="reliability")


def _examples(system: Mapping[str, Any]) -> Html:
    parts: list[Html] = []
    for error, rows in system["examples"].items():
        parts += [tag("h4", error), tag("ul", *(tag("li", user(example(row))) for row in rows))]
    return join(*parts)
