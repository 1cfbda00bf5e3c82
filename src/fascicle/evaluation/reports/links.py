"""Tables of a report on links: in plain text and Markdown here, on a page in ``page.page``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.wording import plural
from fascicle.evaluation.link_scores import ALONE, CALIBRATION
from fascicle.evaluation.reports.markdown_table import MarkdownTable, escaped
from fascicle.evaluation.reports.table import UNDEFINED, percent, ruled_rows

# Figure -> its title, and what it means.
_TITLES: Final = MappingProxyType(
    {
        "recall@1": ("recall@1", "mentions whose concepts are ranked first"),
        "recall@5": ("recall@5", "mentions whose concepts are among the first 5 candidates"),
        "recall@20": ("recall@20", "mentions whose concepts are among the first 20 candidates"),
        "half": (
            "half right",
            "mentions of which some of the concepts are ranked first, but not all, or others too",
        ),
        "ceiling": ("ceiling", "mentions whose concepts are all in the vocabulary"),
        "precision": (
            "precision",
            "of the mentions that got concepts, those that got exactly the concepts of the gold",
        ),
        "recall": (
            "recall",
            "of the mentions with concepts in the gold, those that got exactly these",
        ),
        "f1": (
            "F1",
            "the harmonic mean of precision and recall; a mention that one side does not have is "
            "wrong",
        ),
        "concept_precision": (
            "concept P",
            "of the concepts that documents got, those that the gold has there",
        ),
        "concept_recall": (
            "concept R",
            "of the concepts that documents have in the gold, those that they got",
        ),
        "concept_f1": (
            "concept F1",
            "the harmonic mean of both; each concept counts once in a document",
        ),
        "nil_precision": (
            "NIL precision",
            "of the mentions that got no concept, those that have none in the vocabulary",
        ),
        "nil_recall": (
            "NIL recall",
            "of the mentions that have no concept in the vocabulary, those that got none",
        ),
        CALIBRATION: (
            "calibration error",
            "mean distance of probabilities from the share that is right, in ten ranges",
        ),
    }
)
_ERRORS: Final = MappingProxyType(
    {
        "not recognised": "the system does not have the mention",
        "no such mention": "the gold does not have the mention",
        "not in the vocabulary": "a concept of the gold is not in the pack",
        "no concept": "the gold says that no concept fits",
        "composite": "the gold or the system has several concepts",
        "no answer": "the system gave no concept",
        "wrong species": "a concept of another species",
        "too general": "a concept above the right one",
        "too specific": "a concept below the right one",
        "ambiguous abbreviation": "an abbreviation, taken for another concept",
        "other concept": "any other",
    }
)
_SUBSETS: Final = MappingProxyType(
    {
        "seen_surfaces": "words seen in training",
        "unseen_surfaces": "words not seen",
        "seen_concepts": "concepts seen in training",
        "unseen_concepts": "concepts not seen",
    }
)


@dataclass(frozen=True, kw_only=True)
class LinkTable:
    """A table with some columns for each system.

    Attributes:
        anchor: a short name.
        title: of the table.
        head: what the rows are.
        columns: of each system.
        systems: their names; empty for a table that is not about systems.
        rows: what each is, and its cells.
        means: what rows or columns mean.
    """

    anchor: str
    title: str
    head: str
    columns: tuple[str, ...]
    systems: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    means: tuple[tuple[str, str], ...] = field(default=())


def link_tables(report: Mapping[str, Any]) -> list[LinkTable]:
    """Returns the tables of a report of `evaluation.link_report.links_report`; those without
    rows are left out.
    """
    tables = [
        _figures(report),
        _types(report),
        _subsets(report),
        _tiers(report),
        _errors(report),
        _differences(report),
    ]
    return [table for table in tables if table.rows]


def links_text(report: Mapping[str, Any]) -> str:
    """Formats the report for a terminal."""
    parts = [
        ruled_rows([_header(table), *([label, *cells] for label, cells in table.rows)])
        for table in link_tables(report)
    ]
    return "\n\n".join([*parts, describe_scored(report)]) + "\n"


def links_markdown(report: Mapping[str, Any]) -> str:
    """Formats the report as a Markdown page."""
    parts = ["# Evaluation of links", describe_scored(report)]
    for link_table in link_tables(report):
        table = MarkdownTable(*(escaped(cell) for cell in _header(link_table)))
        for label, cells in link_table.rows:
            table.add(escaped(label), *cells)
        means = [f"- {escaped(name)}: {meaning}" for name, meaning in link_table.means]
        parts += [f"## {link_table.title}", table.text(), "\n".join(means)]
    for system in report["systems"]:
        for error, rows in system["examples"].items():
            parts += [
                f"### {error}, by {escaped(system['name'])}",
                "\n".join(f"- {escaped(describe(r))}" for r in rows),
            ]
    return "\n\n".join(part for part in parts if part) + "\n"


def describe_scored(report: Mapping[str, Any]) -> str:
    """Describes what was scored, in sentences."""
    gold = report["gold"]
    none = (
        f", {gold['without_concept']:,} of them without a concept"
        if gold["without_concept"]
        else ""
    )
    return (
        f"{plural(gold['mentions'], 'linked mention')} of {plural(gold['concepts'], 'concept')} in "
        f"{plural(gold['documents'], 'document')}{none}; shares in percent, with 95 % intervals by "
        f"bootstrap over documents; {UNDEFINED} is undefined."
    )


def describe(row: Mapping[str, Any]) -> str:
    """Describes a wrong link in one line."""
    score = "" if row["score"] is None else f", with {row['score']:.3f}"
    tier = f" ({row['tier']}{score})" if row["answer"] else ""
    return (
        f"{row['type']} “{row['surface']}” in {row['document']} at {row['start']:,}: gold "
        f"{_names(row['gold'])}; answer {_names(row['answer'])}{tier}"
    )


def _names(concepts: Sequence[Mapping[str, str]]) -> str:
    names = []
    for concept in concepts:
        more = ", ".join(part for part in (concept["label"], concept["taxon"]) if part)
        names.append(f"{concept['curie']} ({more})" if more else concept["curie"])
    return " and ".join(names) or "none"


def _table(
    report: Mapping[str, Any],
    rows: Iterable[tuple[str, str]],
    cells: Callable[[Mapping[str, Any], str], Iterable[str]],
    **facts: Any,
) -> LinkTable:
    """Makes a table of all systems.

    Args:
        report: with the systems.
        rows: title and key of each.
        cells: a system and a key -> what stands in its columns.
        facts: the other fields of the table.
    """
    systems = report["systems"]
    lines = []
    for title, key in rows:
        lines.append((title, tuple(cell for system in systems for cell in cells(system, key))))
    names = tuple(system["name"] for system in systems)
    return LinkTable(systems=names, rows=tuple(lines), **facts)


def _figures(report: Mapping[str, Any]) -> LinkTable:
    defined = {
        name
        for system in report["systems"]
        for name, row in system["figures"].items()
        if row["value"] is not None
    }
    return _table(
        report,
        [(title, name) for name, (title, _) in _TITLES.items() if name in defined],
        lambda system, name: _sure(system["figures"].get(name)),
        anchor="figures",
        title="How good?",
        head="figure",
        columns=("%", "interval", "of"),
        means=(
            *_TITLES.values(),
            ("of", "how many mentions, or concepts, it is a share of; F1: of both sides together"),
        ),
    )


def _sure(row: Mapping[str, Any] | None) -> tuple[str, str, str]:
    if row is None or row["value"] is None:
        return (UNDEFINED,) * 3
    interval = row["interval"]
    interval_text = (
        f"{percent(interval['low'])} to {percent(interval['high'])}" if interval else UNDEFINED
    )
    return percent(row["value"]), interval_text, f"{row['whole']:,}" if "whole" in row else ""


def _types(report: Mapping[str, Any]) -> LinkTable:
    names = ("recall@1", "ceiling", "f1", "concept_f1")
    types = report["gold"]["types"]
    return _table(
        report,
        [(kind, kind) for kind in types if len(types) > 1],
        lambda system, kind: (_value(system["types"][kind], name) for name in names),
        anchor="types",
        title="Types",
        head="type",
        columns=tuple(_TITLES[name][0] for name in names),
    )


def _subsets(report: Mapping[str, Any]) -> LinkTable:
    names = ("recall@1", "ceiling")
    common = set(_SUBSETS).intersection(*(system["subsets"] for system in report["systems"]))
    return _table(
        report,
        [(title, name) for name, title in _SUBSETS.items() if name in common],
        lambda system, name: (
            *(_value(system["subsets"][name], figure) for figure in names),
            f"{system['subsets'][name]['recall@1']['whole']:,}",
        ),
        anchor="subsets",
        title="Seen and unseen",
        head="mentions",
        columns=(*names, "of"),
        means=(
            (
                "seen",
                "the training corpus has a mention of the type with these words, or all these "
                "concepts",
            ),
        ),
    )


def _tiers(report: Mapping[str, Any]) -> LinkTable:
    names = ("precision", "coverage")
    nothing: Mapping[str, Any] = dict.fromkeys(names)
    return _table(
        report,
        dict.fromkeys((tier, tier) for system in report["systems"] for tier in system["tiers"]),
        lambda system, tier: (percent(system["tiers"].get(tier, nothing)[name]) for name in names),
        anchor="tiers",
        title="Tiers",
        head="tier",
        columns=names,
        means=(
            ("precision", "of the links of the tier, those that are exactly right"),
            ("coverage", "of the mentions of the gold, those that got a link of the tier"),
            (ALONE.removeprefix(", "), "no other candidate has the same tier"),
        ),
    )


def _errors(report: Mapping[str, Any]) -> LinkTable:
    names = ("wrong", "among")
    nothing: Mapping[str, int] = dict.fromkeys(names, 0)
    errors = frozenset().union(*(system["errors"] for system in report["systems"]))
    return _table(
        report,
        [(error, error) for error in _ERRORS if error in errors],
        lambda system, error: (f"{system['errors'].get(error, nothing)[name]:,}" for name in names),
        anchor="errors",
        title="What goes wrong?",
        head="answers that are wrong",
        columns=names,
        means=(
            *_ERRORS.items(),
            ("among", "of these, those whose concepts of the gold are among the candidates"),
        ),
    )


def _differences(report: Mapping[str, Any]) -> LinkTable:
    return LinkTable(
        anchor="differences",
        title="Is the difference real?",
        head="system less another",
        columns=("points", "interval", "p", "corrected p"),
        systems=(),
        rows=tuple(
            (
                f"{row['system']} less {row['baseline']}: {_TITLES[row['figure']][0]}",
                _difference(row["difference"]),
            )
            for row in report["differences"]
        ),
        means=(
            (
                "points",
                "above 0 the system is better; interval: when both are scored on the same draws "
                "of documents",
            ),
            (
                "p",
                "how often two equally good systems would differ as much by chance (approximate "
                "randomisation)",
            ),
            ("corrected p", "the same, raised for the number of comparisons made here (Holm)"),
        ),
    )


def _difference(value: Mapping[str, Any] | None) -> tuple[str, ...]:
    if value is None:
        return (UNDEFINED,) * 4
    points = [f"{100 * value[end]:+.2f}" for end in ("estimate", "low", "high")]
    return (
        points[0],
        f"{points[1]} to {points[2]}",
        f"{value['p_value']:.3f}",
        f"{value['p_holm']:.3f}",
    )


def _value(row: Mapping[str, Any], name: str) -> str:
    return percent(row[name]["value"])


def _header(table: LinkTable) -> list[str]:
    """Returns the names of columns, behind those of systems where there are several."""
    if len(table.systems) < 2:
        return [table.head, *table.columns]
    return [
        table.head,
        *(f"{system} {column}" for system in table.systems for column in table.columns),
    ]
