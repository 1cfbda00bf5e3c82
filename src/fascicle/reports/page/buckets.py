"""Buckets on the page: F1 by what mentions are and where they stand, and where systems differ."""

from __future__ import annotations

from fascicle.core.html import Html, join, tag, text, user
from fascicle.evaluation.headline import BUCKETS_UNCORRECTED
from fascicle.evaluation.report_parts import Report
from fascicle.reports.page.html import Pictures, Section, Table, best, figure, paragraphs, points


def buckets_section(report: Report, pictures: Pictures) -> Section:
    """A table and a picture for each attribute, below the heat maps of the differences."""
    told = (
        "Strict F1 where mentions are parted by one property at a time: the harder buckets show where a system fails. "
        "The counts of the buckets of a property add up to those of the whole. Where a bucket has no gold mention, an "
        "F1 of 0 says only that something was predicted in it, and it is not drawn. A text is a "
        f"{report['text_unit']}."
    )
    how = {
        "fixed": "The intervals are fixed ones, where there are any those of the paper.",
        "quantiles": "The intervals are cut so that each holds about equally many gold mentions.",
    }
    parts = tuple(
        Section(anchor=f"bucket-{name}", title=attribute["title"].capitalize(), body=_attribute(report, name, pictures))
        for name, attribute in report["attributes"].items()
    )
    caution = BUCKETS_UNCORRECTED if report["differences"] else ""
    body = join(paragraphs(told, how.get(report["intervals"], ""), caution), _heat(report, pictures))
    return Section(anchor="buckets", title="Where does it fail?", body=body, parts=parts)


def _heat(report: Report, pictures: Pictures) -> Html:
    drawn = [
        figure(
            pictures,
            f"differences-{at}",
            caption=join(
                "F1 of ", user(row["system"]), " less that of ", user(row["baseline"]), ", in points, in each bucket. ",
                "Blue: ", user(row["system"]), " is better; orange, bold, with a hatched edge: worse. ",
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
    return join(means, tag("div", tag("div", _table(report, name), paragraphs(empty)), drawn, class_="beside"))


def _table(report: Report, name: str) -> Html:
    systems, differences = report["systems"], report["differences"]
    several = len(systems) > 1
    shown = ("f1",) if several else ("precision", "recall", "f1")
    header = [user(one["name"]) for one in systems] if several else ["P", "R", "F1"]
    lesser = [user(row["system"]) for row in differences]
    groups = [("", 2), ("F1", len(header)), ("F1 less the first", len(lesser))] if several else []
    table = Table("interval", "gold", *header, *lesser, groups=groups)
    for at, bucket in enumerate(systems[0]["buckets"][name]):
        rows = [one["buckets"][name][at] for one in systems]
        top = best(row["f1"] for row in rows)
        cells = [table.share(row, number, best=top) for row in rows for number in shown]
        for gap in (row["buckets"][name][at] for row in differences):
            cells.append(table.because("the F1 of one of the two is undefined") if gap is None else text(points(gap)))
        table.add(bucket["interval"], f"{bucket['gold']:,}", *cells)
    means = [("gold", "gold mentions in the bucket")]
    means += [("F1 less the first", "in points")] if several else []
    return table.html(means=means, label=f"F1 by {name.replace('_', ' ')}")
