"""Errors on the page: their classes, types predicted for others, and words at wrong boundaries."""

from __future__ import annotations

from operator import add

from fascicle.core.marks import Html, escape, isolated_name, join, tag
from fascicle.core.page.template import PageSection, paragraphs
from fascicle.evaluation.report_parts import Errors, Report
from fascicle.evaluation.reports.page.html import (
    CLASSES,
    RATES,
    SCORES,
    Pictures,
    ScoreTable,
    figure,
)


def errors_section(report: Report) -> PageSection:
    """Builds the section on the classes of errors of all systems, and their rates."""
    intro = (
        "Every false positive (FP, predicted in error) and every false negative (FN, not found) is "
        "in exactly one class, by what it touches on the other side."
    )
    rates = PageSection(
        anchor="error-rates", title="Type errors and boundary errors", body=_rates(report)
    )
    body = join(paragraphs(intro), _classes(report))
    return PageSection(anchor="errors", title="What goes wrong?", body=body, parts=(rates,))


def _classes(report: Report) -> Html:
    systems = report["systems"]
    groups = [("", 1), *((isolated_name(system["name"]), 2) for system in systems)]
    table = ScoreTable(
        "class", *("FP", "FN") * len(systems), groups=groups if len(systems) > 1 else ()
    )
    totals = [0] * (2 * len(systems))
    for kind, (title, means) in CLASSES.items():
        rows = [system["errors"]["classes"][kind] for system in systems]
        counts = [row[side] for row in rows for side in ("fp", "fn")]
        totals = list(map(add, totals, counts))
        table.add(join(title, tag("small", means)), *map(_count, counts))
    table.add(tag("strong", "all"), *(tag("strong", f"{total:,}") for total in totals))
    sides = [("FP", SCORES["FP"]), ("FN", SCORES["FN"])]
    return table.html(means=sides, label="classes of errors")


def _count(number: int) -> Html:
    return escape(f"{number:,}") if number else tag("span", "0", class_="zero")


def _rates(report: Report) -> Html:
    table = ScoreTable(
        "system",
        "errors",
        "type errors",
        "TE-Rate",
        "boundary errors",
        "BE-Rate",
        "BE-Rate, same type",
    )
    for system in report["systems"]:
        rates, narrow = system["errors"]["rates"], system["errors"]["rates_same_type"]
        table.add(
            isolated_name(system["name"]),
            f"{rates['errors']:,}",
            f"{rates['type_errors']:,}",
            table.share(rates, "type_rate"),
            f"{rates['boundary_errors']:,}",
            table.share(rates, "boundary_rate"),
            table.share(narrow, "boundary_rate"),
        )
    intro = (
        "The rates as the paper on bundling counts them. They are shares of the errors: a system "
        "with fewer errors can have higher rates, so read the counts beside them."
    )
    return join(paragraphs(intro), table.html(means=RATES, label="type and boundary errors"))


def system_errors(report: Report, at: int, pictures: Pictures) -> PageSection:
    """Builds the section on the errors of one system."""
    errors = report["systems"][at]["errors"]
    caption = (
        "Every prediction by what it is (column) and what the gold has there (row). In the "
        "diagonal the right ones, and after + those of the right type at other characters. The "
        "lowest row holds predictions where the gold has nothing, the last column gold mentions "
        "where nothing was predicted. Darker is more of the row."
    )
    parts = [join(tag("h4", "By type"), _by_type(errors))]
    drawn = figure(pictures, f"confusion-{at}", caption=caption)
    confused = _confusions(errors)
    if drawn or confused:
        parts.append(
            join(tag("h4", "Types taken for others"), tag("div", drawn, confused, class_="beside"))
        )
    if errors["boundary_words"]:
        parts.append(join(tag("h4", "Words at wrong boundaries"), _boundary_words(errors)))
    return PageSection(anchor=f"system-{at}-errors", title="Errors", body=join(*parts))


def _by_type(errors: Errors) -> Html:
    classes = {kind: row for kind, row in errors["classes"].items() if row["fp"] or row["fn"]}
    if not classes:
        return paragraphs("No error: everything was found, and nothing in error.")
    types = sorted({type_ for row in classes.values() for type_ in row["types"]})
    table = ScoreTable("type", *(CLASSES[kind][0] for kind in classes), "all")
    for type_ in types:
        counts = [row["types"].get(type_, (0, 0)) for row in classes.values()]
        totals = tuple(map(sum, zip(*counts, strict=True)))
        table.add(isolated_name(type_), *(_pair(*count) for count in counts), _pair(*totals))
    beside = sum(row["beside_right"] for row in classes.values())
    intro = "FP / FN of each class. " + (
        f"{beside:,} of the errors touch a mention that was found, as where a second prediction "
        "stands beside a right one."
        if beside
        else "No error touches a mention that was found."
    )
    return join(paragraphs(intro), table.html(label="errors by type and class"))


def _pair(fp: int, fn: int) -> Html:
    return escape(f"{fp:,} / {fn:,}") if fp or fn else _count(0)


def _confusions(errors: Errors) -> Html:
    if not errors["confusions"]:
        return paragraphs("No type was taken for another.")
    table = ScoreTable(
        "gold type", "taken for", "same characters", "overlapping", "beside a found one", texts=2
    )
    for row in errors["confusions"]:
        numbers = (_count(row[name]) for name in ("same_span", "overlapping", "beside_right"))
        table.add(isolated_name(row["gold"]), isolated_name(row["predicted"]), *numbers)
    more = (
        f"{errors['more_confusions']:,} rarer pairs are left out."
        if errors["more_confusions"]
        else ""
    )
    means = (
        ("same characters", "only the type is wrong"),
        ("overlapping", "other characters, too"),
        ("beside a found one", "of both, those where the gold mention was found as well"),
    )
    return tag("div", table.html(means=means, label="types taken for others"), paragraphs(more))


def _boundary_words(errors: Errors) -> Html:
    table = ScoreTable("words", "side", "the prediction", "count", texts=3)
    for row in errors["boundary_words"]:
        change = {"added": "has them in excess", "left out": "lacks them"}[row["change"]]
        table.add(isolated_name(row["words"]), row["side"], change, f"{row['count']:,}")
    intro = (
        "The words between the boundary of a prediction and that of its gold mention, most "
        "frequent first: rules of "
        "annotation that the system has not learnt, or that the gold does not keep to."
    )
    means = (("side", "of the mention on which they stand"), ("count", "how often"))
    return join(paragraphs(intro), table.html(means=means, label="words at wrong boundaries"))
