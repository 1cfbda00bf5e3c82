"""Where the systems fail, on the page: F1 in the buckets of each attribute."""

from __future__ import annotations

from fascicle.core.marks import Html, escape, isolated_name, join, tag
from fascicle.core.page.template import PageSection, paragraphs
from fascicle.evaluation.report import BUCKETS_UNCORRECTED
from fascicle.evaluation.report_parts import Report
from fascicle.evaluation.reports.page.html import Pictures, ScoreTable, figure, points
from fascicle.evaluation.reports.rows import best_value


def buckets_section(report: Report, pictures: Pictures) -> PageSection:
    """Builds the section with a table and a picture for each attribute, below the heat maps of
    differences.
    """
    intro = (
        "Strict F1 where mentions are parted by one property at a time: the harder buckets show "
        "where a system fails. The counts of the buckets of a property add up to those of the "
        "whole. Where a bucket has no gold mention, an F1 of 0 says only that something was "
        f"predicted in it, and it is not drawn. A text is a {report['text_unit']}."
    )
    how = {
        "fixed": "The intervals are fixed ones, where there are any those of the paper.",
        "quantiles": "The intervals are cut so that each holds about equally many gold mentions.",
    }
    parts = tuple(
        PageSection(
            anchor=f"bucket-{name}",
            title=attribute["title"].capitalize(),
            body=_attribute(report, name, pictures),
        )
        for name, attribute in report["attributes"].items()
    )
    caution = BUCKETS_UNCORRECTED if report["differences"] else ""
    body = join(
        paragraphs(intro, how.get(report["intervals"], ""), caution), _heat(report, pictures)
    )
    return PageSection(anchor="buckets", title="Where does it fail?", body=body, parts=parts)


def _heat(report: Report, pictures: Pictures) -> Html:
    drawn = [
        figure(
            pictures,
            f"differences-{at}",
            caption=join(
                "F1 of ", isolated_name(row["system"]),
                " less that of ", isolated_name(row["baseline"]),
                ", in points, in each bucket. ",
                "Blue: ", isolated_name(row["system"]),
                " is better; orange, bold, with a hatched edge: worse. ",
                "Below each number its interval.",
            ),
        )
        for at, row in enumerate(report["differences"], start=1)
    ]  # fmt: skip
    return tag("div", *drawn, class_="pictures") if any(drawn) else Html("")


def _attribute(report: Report, name: str, pictures: Pictures) -> Html:
    attribute = report["attributes"][name]
    means = tag("p", f"{attribute['means'][:1].upper()}{attribute['means'][1:]}.")
    if "undefined" in attribute:
        return join(means, tag("p", f"Undefined: {attribute['undefined']}.", class_="nothing"))
    empty = f"Without any mention: {', '.join(attribute['empty'])}." if attribute["empty"] else ""
    caption = "F1 in each bucket; the bars are the share of the gold mentions in it."
    drawn = figure(pictures, f"bucket-{name}", caption=caption)
    return join(
        means,
        tag("div", tag("div", _table(report, name), paragraphs(empty)), drawn, class_="beside"),
    )


def _table(report: Report, name: str) -> Html:
    systems, differences = report["systems"], report["differences"]
    several = len(systems) > 1
    numbers = ("f1",) if several else ("precision", "recall", "f1")
    table = _several_table(report) if several else ScoreTable("interval", "gold", "P", "R", "F1")
    for at, bucket in enumerate(systems[0]["buckets"][name]):
        rows = [system["buckets"][name][at] for system in systems]
        best = best_value(row["f1"] for row in rows)
        cells = [table.share(row, number, best=best) for row in rows for number in numbers]
        cells += [_gap(table, row["buckets"][name][at]) for row in differences]
        table.add(bucket["interval"], f"{bucket['gold']:,}", *cells)
    means = [("gold", "gold mentions in the bucket")]
    means += [("F1 less the first", "in points")] if several else []
    return table.html(means=means, label=f"F1 by {name.replace('_', ' ')}")


def _several_table(report: Report) -> ScoreTable:
    """Begins a table with F1 of each system, and its differences to the first."""
    names = [isolated_name(system["name"]) for system in report["systems"]]
    lesser = [isolated_name(row["system"]) for row in report["differences"]]
    groups = [("", 2), ("F1", len(names)), ("F1 less the first", len(lesser))]
    return ScoreTable("interval", "gold", *names, *lesser, groups=groups)


def _gap(table: ScoreTable, gap: float | None) -> Html:
    if gap is None:
        return table.because("the F1 of one of the two is undefined")
    return escape(points(gap))
