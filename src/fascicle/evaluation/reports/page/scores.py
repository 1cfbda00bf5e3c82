"""The first part of the page: how good the systems are, by rule, by type, and on parts of the gold.

Also where they fail, by bucket, and what of the gold is out of reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fascicle.core.marks import Html, escape, isolated_name, join, tag
from fascicle.core.wording import plural
from fascicle.evaluation.report import BUCKETS_UNCORRECTED, explain_intervals, undefined_notes
from fascicle.evaluation.report_parts import Report
from fascicle.evaluation.reports.markdown import percent
from fascicle.evaluation.reports.page.html import (
    MENTION,
    RULES_MEAN,
    SCORES,
    SUBSETS,
    Pictures,
    Section,
    Table,
    best_value,
    figure,
    paragraphs,
    points,
)
from fascicle.evaluation.scoring.rules import RULES, TITLES
from fascicle.evaluation.uncertainty.intervals import HEADLINE

_LEVEL: Final = 0.05
_COUNTS: Final = ("gold", "predicted", "tp", "fp", "fn")


def summary_section(report: Report, pictures: Pictures) -> Section:
    """Builds the section with the strict scores and the tests of differences between systems."""
    caption = (
        "Strict F1 of each system with its 95 % interval. Where intervals overlap, a difference "
        "can still be real: the "
        "comparison on the same documents tells."
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
        Section(anchor="differences", title="Is the difference real?", body=_differences(report)),
    )
    return Section(
        anchor="summary", title="How good?", body=body, parts=parts if report["differences"] else ()
    )


def headline(report: Report) -> Html:
    """Describes the most important results of the page in sentences."""
    known = [(one["scores"]["rules"]["strict"]["micro"]["f1"], one) for one in report["systems"]]
    rated = [(f1, one) for f1, one in known if f1 is not None]
    if not rated:
        return tag(
            "p",
            "F1 is undefined: there is no gold mention and nothing was predicted.",
            class_="headline",
        )
    f1, top = max(rated, key=lambda pair: pair[0])
    micro = top["scores"]["rules"]["strict"]["micro"]
    also = " has the highest strict F1" if len(known) > 1 else " has a strict F1"
    found = (
        f" It found {micro['tp']:,} of {plural(micro['gold'], 'gold mention')}, and "
        if micro["gold"]
        else " "
    )
    wrong = f"{micro['fp']:,} of its {micro['predicted']:,} predictions are wrong."
    wrong = wrong if micro["predicted"] else "it predicted nothing."
    examples = any(
        listed for one in report["systems"] for listed in one["errors"]["examples"].values()
    )
    more = (
        [" ", tag("a", "See the errors in their texts", href="#examples"), "."] if examples else []
    )
    return tag(
        "p",
        tag("strong", isolated_name(top["name"])),
        f"{also} of ",
        tag("strong", percent(f1)),
        f".{found}{wrong}",
        *more,
        class_="headline",
    )


def _summary_table(report: Report) -> Html:
    table = Table("system", "F1", "P", "R", "macro F1", "gold", "predicted", "TP", "FP", "FN")
    strict = [one["scores"]["rules"]["strict"] for one in report["systems"]]
    top = best_value(rows["micro"]["f1"] for rows in strict)
    for one, rows in zip(report["systems"], strict, strict=True):
        scores, micro = one["scores"], rows["micro"]
        table.add(
            isolated_name(one["name"]),
            _sure(table, scores, "micro_f1", best=top),
            *(
                _sure(table, scores, name)
                for name in ("micro_precision", "micro_recall", "macro_f1")
            ),
            *(f"{micro[name]:,}" for name in _COUNTS),
        )
    return table.html(means=SCORES.items(), label="strict scores")


def _sure(table: Table, scores: Mapping[str, Any], name: str, *, best: float | None = None) -> Html:
    """Formats a headline number above its interval."""
    average, number = name.split("_")
    row, interval = scores["rules"]["strict"][average], scores[f"{name}_interval"]
    shown = table.share(row, number, best=best)
    if row[number] is None:
        return shown
    if interval is None:
        return join(
            shown, " ", tag("small", table.because(scores["undefined"][f"{name}_interval"]))
        )
    return join(
        shown, " ", tag("small", f"{percent(interval['low'])} to {percent(interval['high'])}")
    )


def _words() -> Html:
    """Lists the words that a reader must know for the page."""
    words = [join(tag("dt", word), tag("dd", means)) for word, means in MENTION]
    told = (
        "All scores are percentages unless it is said otherwise. Of several systems the best is "
        "bold."
    )
    return join(tag("dl", *words, class_="words"), tag("p", told))


def _remarks(report: Report) -> Html:
    said = list(_said(report))
    return tag("ul", *(tag("li", one) for one in said), class_="remarks") if said else Html("")


def _said(report: Report) -> Iterator[Html]:
    for one in report["systems"]:
        scores: Mapping[str, Any] = one["scores"]
        name = isolated_name(one["name"])
        intervals = {number: scores[f"{number}_interval"] for number in HEADLINE}
        for sentence in undefined_notes(intervals, report["gold"]["drawn"]):
            yield join(name, f": {sentence}")
        for key, where in (
            ("gold_only_types", "the gold"),
            ("predicted_only_types", "the predictions"),
        ):
            if scores[key]:
                listed = join(*(isolated_name(type_) for type_ in scores[key]), by=", ")
                yield join(
                    name,
                    f": types in {where} only: ",
                    listed,
                    ". Types must be spelt alike to match.",
                )
        if scores["missing_documents"]:
            missing = (
                f"{plural(scores['missing_documents'], 'document')} without predictions; nothing "
                "counts "
                "as found in them."
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
    table = Table(
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
        test, f1 = row["test"], row["f1"]["strict"]
        sentences = undefined_notes({"difference": test["f1_interval"]}, report["gold"]["drawn"])
        remarks += [
            tag("li", isolated_name(row["system"]), f": {sentence}") for sentence in sentences
        ]
        names = (isolated_name(row["system"]), isolated_name(row["baseline"]))
        shown = points(f1) if f1 is not None else table.because(row["f1"]["undefined"]["strict"])
        if test["f1_interval"] is None:
            reason = test["undefined"]["f1_interval"]
            table.add(*names, shown, *(table.because(reason) for _ in range(4)))
            continue
        low, high = (points(test["f1_interval"][end]) for end in ("low", "high"))
        verdict = "yes" if test["p_holm"] < _LEVEL else "not shown"
        table.add(
            *names,
            shown,
            f"{low} to {high}",
            f"{test['p_value']:.3f}",
            f"{test['p_holm']:.3f}",
            verdict,
        )
    means = (
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
    told = (
        "Two systems were scored on the same documents, so their difference can be surer than "
        "each score alone."
    )
    listed = tag("ul", *remarks, class_="remarks") if remarks else Html("")
    return join(
        paragraphs(told), table.html(means=means, label="differences between systems"), listed
    )


def rules_section(report: Report) -> Section:
    """Builds the section with micro F1 under each rule of matching."""
    table = Table("system", *(TITLES[rule] for rule in RULES))
    columns = {
        rule: [one["scores"]["rules"][rule]["micro"]["f1"] for one in report["systems"]]
        for rule in RULES
    }
    for one in report["systems"]:
        rows = one["scores"]["rules"]
        cells = (
            table.share(rows[rule]["micro"], "f1", best=best_value(columns[rule])) for rule in RULES
        )
        table.add(isolated_name(one["name"]), *cells)
    told = (
        "F1 if a predicted and a gold mention count as the same under other rules than the strict "
        "one. The gap from "
        "strict to loose is what wrong boundaries cost; the gap from strict to span only is what "
        "wrong types cost."
    )
    means = [(TITLES[rule], RULES_MEAN[rule]) for rule in RULES]
    body = join(paragraphs(told), table.html(means=means, label="F1 under each rule"))
    return Section(anchor="rules", title="Other rules of matching", body=body)


def types_section(report: Report, pictures: Pictures) -> Section:
    """Scores per type."""
    systems = report["systems"]
    names = ("P", "R", "F1", "loose F1")
    groups = (
        [("", 2), *((isolated_name(one["name"]), len(names)) for one in systems)]
        if len(systems) > 1
        else []
    )
    table = Table("type", "gold", *(name for _ in systems for name in names), groups=groups)
    types = sorted({t for one in systems for t in one["scores"]["rules"]["strict"]["types"]})
    if not types:
        return Section(
            anchor="types",
            title="Types",
            body=paragraphs("There is no mention, so there is no type."),
        )
    for type_ in types:
        rows = [
            [one["scores"]["rules"][rule]["types"].get(type_) for rule in ("strict", "loose")]
            for one in systems
        ]
        top = best_value(strict["f1"] for strict, _ in rows if strict is not None)
        cells: list[Html] = []
        for strict, loose in rows:
            if strict is None or loose is None:
                cells += [table.because("neither the gold nor this system has the type")] * len(
                    names
                )
                continue
            cells += [table.share(strict, name) for name in ("precision", "recall")]
            cells += [table.share(strict, "f1", best=top), table.share(loose, "f1")]
        table.add(isolated_name(type_), f"{report['gold']['types'].get(type_, 0):,}", *cells)
    means = [(name, SCORES[name].partition(":")[0]) for name in ("P", "R", "F1")]
    means = [
        ("gold", "gold mentions of the type"),
        *means,
        ("loose F1", "F1 if a character in common is enough"),
    ]
    told = "The same scores for the mentions of each type alone."
    drawn = figure(
        pictures, "f1-types", caption="Strict F1 of each system with its 95 % interval, by type."
    )
    body = join(paragraphs(told), table.html(means=means, label="types"), drawn)
    return Section(anchor="types", title="Types", body=body)


def subsets_section(report: Report) -> Section:
    """Builds the section with recall on parts of the gold."""
    systems = report["systems"]
    table = Table(
        "gold mentions that are", "gold", *(isolated_name(one["name"]) for one in systems)
    )
    for name, (title, means) in SUBSETS.items():
        rows = [one["subsets"][name] for one in systems]
        gold, top = rows[0]["gold"], best_value(row["recall"] for row in rows)
        shown = table.because(rows[0]["undefined"]) if gold is None else f"{gold:,}"
        table.add(
            join(title, tag("small", means)),
            shown,
            *(table.share(row, "recall", best=top) for row in rows),
        )
    told = (
        "Recall, the share that was found, of parts of the gold. Only recall: a wrong "
        "prediction belongs to no part."
    )
    means_ = [
        ("gold", "how many there are"),
        ("other columns", "the recall of each system, in percent"),
    ]
    body = join(paragraphs(told), table.html(means=means_, label="recall of parts of the gold"))
    return Section(anchor="subsets", title="Which mentions are found?", body=body)


def buckets_section(report: Report, pictures: Pictures) -> Section:
    """Builds the section with a table and a picture for each attribute, below the heat maps of
    differences.
    """
    told = (
        "Strict F1 where mentions are parted by one property at a time: the harder buckets show "
        "where a system fails. "
        "The counts of the buckets of a property add up to those of the whole. Where a bucket has "
        "no gold mention, an "
        "F1 of 0 says only that something was predicted in it, and it is not drawn. A text is a "
        f"{report['text_unit']}."
    )
    how = {
        "fixed": "The intervals are fixed ones, where there are any those of the paper.",
        "quantiles": "The intervals are cut so that each holds about equally many gold mentions.",
    }
    parts = tuple(
        Section(
            anchor=f"bucket-{name}",
            title=attribute["title"].capitalize(),
            body=_attribute(report, name, pictures),
        )
        for name, attribute in report["attributes"].items()
    )
    caution = BUCKETS_UNCORRECTED if report["differences"] else ""
    body = join(
        paragraphs(told, how.get(report["intervals"], ""), caution), _heat(report, pictures)
    )
    return Section(anchor="buckets", title="Where does it fail?", body=body, parts=parts)


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
    shown = ("f1",) if several else ("precision", "recall", "f1")
    header = [isolated_name(one["name"]) for one in systems] if several else ["P", "R", "F1"]
    lesser = [isolated_name(row["system"]) for row in differences]
    groups = [("", 2), ("F1", len(header)), ("F1 less the first", len(lesser))] if several else []
    table = Table("interval", "gold", *header, *lesser, groups=groups)
    for at, bucket in enumerate(systems[0]["buckets"][name]):
        rows = [one["buckets"][name][at] for one in systems]
        top = best_value(row["f1"] for row in rows)
        cells = [table.share(row, number, best=top) for row in rows for number in shown]
        for gap in (row["buckets"][name][at] for row in differences):
            cells.append(
                table.because("the F1 of one of the two is undefined")
                if gap is None
                else escape(points(gap))
            )
        table.add(bucket["interval"], f"{bucket['gold']:,}", *cells)
    means = [("gold", "gold mentions in the bucket")]
    means += [("F1 less the first", "in points")] if several else []
    return table.html(means=means, label=f"F1 by {name.replace('_', ' ')}")


_MEANS: Final = (
    (
        "out of reach",
        "gold mentions that no model with these units, windows, width, decoding and types can "
        "return",
    ),
    ("highest recall", "what is left to be found, if nothing else were missed"),
)


def reach_section(report: Report) -> Section:
    """Builds the section on how much of the gold each model cannot return, by reason."""
    table = Table("model", "gold", "out of reach", "highest recall")
    reasons = Table("model", "reason", "mentions", "what it means")
    for one in report["unreachable"]:
        counts = (f"{one[name]:,}" for name in ("gold", "unreachable"))
        table.add(
            isolated_name(f"{one['model']} ({one['family']})"),
            *counts,
            table.share(one, "recall_ceiling"),
        )
        for name, row in one["reasons"].items():
            reasons.add(isolated_name(one["model"]), name, f"{row['count']:,}", row["means"])
    told = (
        "Some gold mentions cannot be found by a model of a kind, however well it is trained. "
        "They count as missed."
    )
    some = any(one["reasons"] for one in report["unreachable"])
    body = join(
        paragraphs(told),
        table.html(means=_MEANS, label="gold out of reach"),
        reasons.html(label="reasons") if some else tag("p", "All of the gold is in reach."),
    )
    return Section(anchor="reach", title="What can be found at all?", body=body)
