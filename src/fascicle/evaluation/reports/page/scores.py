"""The first part of the page: how good the systems are, by rule, by type, and on parts of the gold.

Also what of the gold is out of reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fascicle.core.marks import Html, isolated_name, join, tag
from fascicle.core.page.template import PageSection, paragraphs
from fascicle.core.wording import plural
from fascicle.evaluation.report import explain_intervals, undefined_notes
from fascicle.evaluation.report_parts import Report
from fascicle.evaluation.reports.markdown_table import percent
from fascicle.evaluation.reports.page.html import (
    MENTION,
    RULES_MEAN,
    SCORES,
    SUBSETS,
    Pictures,
    ScoreTable,
    figure,
    points,
)
from fascicle.evaluation.reports.rows import add_rules, add_subsets, add_types, best_value, types_of
from fascicle.evaluation.scoring.rules import RULES, TITLES
from fascicle.evaluation.uncertainty.intervals import HEADLINE

_LEVEL: Final = 0.05
_COUNTS: Final = ("gold", "predicted", "tp", "fp", "fn")
_TESTS_MEAN: Final = (
    ("difference", "F1 of the system less that of the other, in points; above 0 it is better"),
    ("95 % interval", "of the difference, when both are scored on the same draws of documents"),
    (
        "p",
        "how often two equally good systems would differ as much by chance (approximate "
        "randomisation)",
    ),
    ("corrected p", "the same, raised for the number of comparisons made here (Holm)"),
    (
        "beyond chance?",
        "yes if the corrected p is below 0.05; “not shown” does not mean that they are equal",
    ),
)


def summary_section(report: Report, pictures: Pictures) -> PageSection:
    """Builds the section with the strict scores and the tests of differences between systems."""
    caption = (
        "Strict F1 of each system with its 95 % interval. Where intervals overlap, a difference "
        "can still be real: the comparison on the same documents tells."
    )
    drawn = paragraphs(explain_intervals(report["gold"]))
    body = join(
        _summary_table(report),
        drawn,
        figure(pictures, "f1", caption=caption),
        _remarks(report),
        _words(),
    )
    parts = (
        PageSection(
            anchor="differences", title="Is the difference real?", body=_differences(report)
        ),
    )
    return PageSection(
        anchor="summary", title="How good?", body=body, parts=parts if report["differences"] else ()
    )


def headline(report: Report) -> Html:
    """Describes the most important results of the page in sentences."""
    systems = [
        (system["scores"]["rules"]["strict"]["micro"]["f1"], system) for system in report["systems"]
    ]
    rated = [(f1, system) for f1, system in systems if f1 is not None]
    if not rated:
        return tag(
            "p",
            "F1 is undefined: there is no gold mention and nothing was predicted.",
            class_="headline",
        )
    f1, top = max(rated, key=lambda pair: pair[0])
    micro = top["scores"]["rules"]["strict"]["micro"]
    also = " has the highest strict F1" if len(systems) > 1 else " has a strict F1"
    recall_text = (
        f" It found {micro['tp']:,} of {plural(micro['gold'], 'gold mention')}, and "
        if micro["gold"]
        else " "
    )
    wrong = f"{micro['fp']:,} of its {micro['predicted']:,} predictions are wrong."
    wrong = wrong if micro["predicted"] else "it predicted nothing."
    examples = any(
        examples_
        for system in report["systems"]
        for examples_ in system["errors"]["examples"].values()
    )
    more = (
        [" ", tag("a", "See the errors in their texts", href="#examples"), "."] if examples else []
    )
    return tag(
        "p",
        tag("strong", isolated_name(top["name"])),
        f"{also} of ",
        tag("strong", percent(f1)),
        f".{recall_text}{wrong}",
        *more,
        class_="headline",
    )


def _summary_table(report: Report) -> Html:
    table = ScoreTable("system", "F1", "P", "R", "macro F1", "gold", "predicted", "TP", "FP", "FN")
    strict = [system["scores"]["rules"]["strict"] for system in report["systems"]]
    top = best_value(rows["micro"]["f1"] for rows in strict)
    for system, rows in zip(report["systems"], strict, strict=True):
        scores, micro = system["scores"], rows["micro"]
        table.add(
            isolated_name(system["name"]),
            _sure(table, scores, "micro_f1", best=top),
            *(
                _sure(table, scores, name)
                for name in ("micro_precision", "micro_recall", "macro_f1")
            ),
            *(f"{micro[name]:,}" for name in _COUNTS),
        )
    return table.html(means=SCORES.items(), label="strict scores")


def _sure(
    table: ScoreTable, scores: Mapping[str, Any], name: str, *, best: float | None = None
) -> Html:
    """Formats a headline number above its interval."""
    average, number = name.split("_")
    row, interval = scores["rules"]["strict"][average], scores[f"{name}_interval"]
    number_text = table.share(row, number, best=best)
    if row[number] is None:
        return number_text
    if interval is None:
        return join(
            number_text, " ", tag("small", table.because(scores["undefined"][f"{name}_interval"]))
        )
    return join(
        number_text, " ", tag("small", f"{percent(interval['low'])} to {percent(interval['high'])}")
    )


def _words() -> Html:
    """Lists the words that a reader must know for the page."""
    words = [join(tag("dt", word), tag("dd", means)) for word, means in MENTION]
    note = (
        "All scores are percentages unless it is said otherwise. Of several systems the best is "
        "bold."
    )
    return join(tag("dl", *words, class_="words"), tag("p", note))


def _remarks(report: Report) -> Html:
    items = list(_remark_items(report))
    return tag("ul", *(tag("li", item) for item in items), class_="remarks") if items else Html("")


def _remark_items(report: Report) -> Iterator[Html]:
    for system in report["systems"]:
        scores: Mapping[str, Any] = system["scores"]
        name = isolated_name(system["name"])
        intervals = {number: scores[f"{number}_interval"] for number in HEADLINE}
        for sentence in undefined_notes(intervals, report["gold"]["drawn"]):
            yield join(name, f": {sentence}")
        for key, where in (
            ("gold_only_types", "the gold"),
            ("predicted_only_types", "the predictions"),
        ):
            if scores[key]:
                types = join(*(isolated_name(type_) for type_ in scores[key]), by=", ")
                yield join(
                    name,
                    f": types in {where} only: ",
                    types,
                    ". Types must be spelt alike to match.",
                )
        if scores["missing_documents"]:
            missing = (
                f"{plural(scores['missing_documents'], 'document')} without predictions; nothing "
                "counts as found in them."
            )
            yield join(name, ": ", missing)
        if any(scores["duplicates"].values()):
            gold, predicted = (f"{scores['duplicates'][side]:,}" for side in ("gold", "predicted"))
            yield join(
                name,
                f": counted once though there more often: {gold} gold, {predicted} predicted "
                "mentions.",
            )


def _differences(report: Report) -> Html:
    table = ScoreTable(
        "system",
        "less",
        "difference of F1",
        "95 % interval",
        "p",
        "corrected p",
        "beyond chance?",
        texts=2,
    )
    remarks: list[Html] = []
    for row in report["differences"]:
        name, test = isolated_name(row["system"]), row["test"]
        sentences = undefined_notes({"difference": test["f1_interval"]}, report["gold"]["drawn"])
        remarks += [tag("li", name, f": {sentence}") for sentence in sentences]
        f1 = row["f1"]["strict"]
        gap = points(f1) if f1 is not None else table.because(row["f1"]["undefined"]["strict"])
        table.add(name, isolated_name(row["baseline"]), gap, *_test_cells(table, test))
    intro = (
        "Two systems were scored on the same documents, so their difference can be surer than "
        "each score alone."
    )
    return join(
        paragraphs(intro),
        table.html(means=_TESTS_MEAN, label="differences between systems"),
        tag("ul", *remarks, class_="remarks") if remarks else Html(""),
    )


def _test_cells(table: ScoreTable, test: Mapping[str, Any]) -> list[str]:
    """Formats interval, p-values and verdict of a test of two systems."""
    interval = test["f1_interval"]
    if interval is None:
        return [table.because(test["undefined"]["f1_interval"])] * 4
    return [
        f"{points(interval['low'])} to {points(interval['high'])}",
        f"{test['p_value']:.3f}",
        f"{test['p_holm']:.3f}",
        "yes" if test["p_holm"] < _LEVEL else "not shown",
    ]


def rules_section(report: Report) -> PageSection:
    """Builds the section with micro F1 under each rule of matching."""
    table = ScoreTable("system", *(TITLES[rule] for rule in RULES))
    add_rules(table, report["systems"])
    intro = (
        "F1 if a predicted and a gold mention count as the same under other rules than the strict "
        "one. The gap from strict to loose is what wrong boundaries cost; the gap from strict to "
        "span only is what wrong types cost."
    )
    means = [(TITLES[rule], RULES_MEAN[rule]) for rule in RULES]
    body = join(paragraphs(intro), table.html(means=means, label="F1 under each rule"))
    return PageSection(anchor="rules", title="Other rules of matching", body=body)


def types_section(report: Report, pictures: Pictures) -> PageSection:
    """Scores per type."""
    systems = report["systems"]
    if not types_of(systems):
        nothing = paragraphs("There is no mention, so there is no type.")
        return PageSection(anchor="types", title="Types", body=nothing)
    names = ("P", "R", "F1", "loose F1")
    groups = [("", 2), *((isolated_name(system["name"]), len(names)) for system in systems)]
    table = ScoreTable(
        "type", "gold", *names * len(systems), groups=groups if len(systems) > 1 else ()
    )
    add_types(table, report)
    means = [
        ("gold", "gold mentions of the type"),
        *((name, SCORES[name].partition(":")[0]) for name in names[:3]),
        ("loose F1", "F1 if a character in common is enough"),
    ]
    intro = "The same scores for the mentions of each type alone."
    caption = "Strict F1 of each system with its 95 % interval, by type."
    drawn = figure(pictures, "f1-types", caption=caption)
    body = join(paragraphs(intro), table.html(means=means, label="types"), drawn)
    return PageSection(anchor="types", title="Types", body=body)


def subsets_section(report: Report) -> PageSection:
    """Builds the section with recall on parts of the gold."""
    systems = report["systems"]
    names = (isolated_name(system["name"]) for system in systems)
    table = ScoreTable("gold mentions that are", "gold", *names)
    titles = ((name, join(title, tag("small", means))) for name, (title, means) in SUBSETS.items())
    add_subsets(table, systems, titles)
    intro = (
        "Recall, the share that was found, of parts of the gold. Only recall: a wrong "
        "prediction belongs to no part."
    )
    means = [
        ("gold", "how many there are"),
        ("other columns", "the recall of each system, in percent"),
    ]
    body = join(paragraphs(intro), table.html(means=means, label="recall of parts of the gold"))
    return PageSection(anchor="subsets", title="Which mentions are found?", body=body)


_MEANS: Final = (
    (
        "out of reach",
        "gold mentions that no model with these units, windows, width, decoding and types can "
        "return",
    ),
    ("highest recall", "what is left to be found, if nothing else were missed"),
)


def reach_section(report: Report) -> PageSection:
    """Builds the section on how much of the gold each model cannot return, by reason."""
    table = ScoreTable("model", "gold", "out of reach", "highest recall")
    reasons = ScoreTable("model", "reason", "mentions", "what it means")
    for model in report["unreachable"]:
        counts = (f"{model[name]:,}" for name in ("gold", "unreachable"))
        table.add(
            isolated_name(f"{model['model']} ({model['family']})"),
            *counts,
            table.share(model, "recall_ceiling"),
        )
        for name, row in model["reasons"].items():
            reasons.add(isolated_name(model["model"]), name, f"{row['count']:,}", row["means"])
    intro = (
        "Some gold mentions cannot be found by a model of a kind, however well it is trained. "
        "They count as missed."
    )
    some = any(model["reasons"] for model in report["unreachable"])
    body = join(
        paragraphs(intro),
        table.html(means=_MEANS, label="gold out of reach"),
        reasons.html(label="reasons") if some else tag("p", "All of the gold is in reach."),
    )
    return PageSection(anchor="reach", title="What can be found at all?", body=body)
