"""A report as Markdown: the numbers of ``fascicle.evaluation.report`` in tables, with a sentence
on what each means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import add
from typing import Any, Final

from fascicle.core.wording import plural
from fascicle.evaluation.report import BUCKETS_UNCORRECTED, explain_intervals, undefined_notes
from fascicle.evaluation.report_parts import Errors, Report
from fascicle.evaluation.reports.markdown_table import UNDEFINED, MarkdownTable, escaped, percent
from fascicle.evaluation.reports.rows import (
    add_bins,
    add_calibrated_types,
    add_rules,
    add_subsets,
    add_thresholds,
    add_types,
    types_of,
)
from fascicle.evaluation.scoring.rules import RULES, TITLES
from fascicle.evaluation.uncertainty.intervals import HEADLINE

_RULES_MEAN: Final = (
    "Micro F1 under each rule of matching, one to one: *strict* wants the same type and spans, "
    "*start only* and *end only* the same type and that boundary, *loose* the same type and a "
    "character in common, *span only* the same spans of whatever type, *type only* the same type "
    "anywhere in the document."
)
_SUBSET_TITLES: Final = (
    ("seen", "seen in training (string and type)"),
    ("unseen", "unseen"),
    ("outermost", "outermost"),
    ("inner", "inside another"),
    ("nested", "inside another, or around one"),
    ("same_span", "same span, several types"),
    ("continuous", "continuous"),
    ("discontinuous", "discontinuous"),
)


def markdown(report: Report) -> str:
    """Returns the report of ``fascicle.evaluation.report.build_report`` as one Markdown page."""
    parts = [_head(report), _summary(report), _rules(report), _types(report), _subsets(report)]
    parts += [_unreachable(report), _buckets(report)]
    parts += [
        part
        for system in report["systems"]
        for part in _system(system, several=len(report["systems"]) > 1)
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _head(report: Report) -> str:
    gold = report["gold"]
    training = gold["training"]
    lines = [
        "# Evaluation",
        "",
        f"{len(report['systems'])} {'system' if len(report['systems']) == 1 else 'systems'} on "
        f"{gold['documents']:,} documents with {plural(gold['mentions'], 'gold mention')} "
        f"({gold['discontinuous']:,} discontinuous) of {plural(len(gold['types']), 'type')}.",
        "No training corpus was given, so nothing is said about what was seen in training."
        if training is None
        else f"Training: {plural(training['documents'], 'document')} with "
        f"{plural(training['mentions'], 'mention')}.",
        "All scores are percentages over sets of (document, type, spans).",
    ]
    if intervals := explain_intervals(gold):
        lines.append(intervals)
    lines += [f"\n**{escaped(remark)}.**" for remark in report.get("remarks", ())]
    return "\n".join(lines)


def _summary(report: Report) -> str:
    table = MarkdownTable(
        "system", "P", "R", "F1", "macro F1", "gold", "predicted", "TP", "FP", "FN"
    )
    for system in report["systems"]:
        strict = system["scores"]["rules"]["strict"]
        rates = (_with_interval(table, system["scores"], name) for name in HEADLINE)
        numbers = (f"{strict['micro'][name]:,}" for name in ("gold", "predicted", "tp", "fp", "fn"))
        table.add(escaped(system["name"]), *rates, *numbers)
    note = "In brackets the 95 % interval, by bootstrap."
    return "\n".join(
        ["## Strict scores", "", table.text(), "", note, "", *_tests(report), *_remarks(report)]
    )


def _with_interval(table: MarkdownTable, scores: Mapping[str, Any], name: str) -> str:
    """Returns a headline number with its interval in brackets."""
    average, number = name.split("_")
    row, interval = scores["rules"]["strict"][average], scores[f"{name}_interval"]
    text = table.share(row, number)
    if row[number] is None:
        return text
    if interval is None:
        return f"{text} [{table.because(scores['undefined'][f'{name}_interval'])}]"
    return f"{text} [{percent(interval['low'])}, {percent(interval['high'])}]"


def _tests(report: Report) -> list[str]:
    """Returns the differences to the first system, with their paired intervals and tests."""
    if not report["differences"]:
        return []
    table = MarkdownTable("system", "less", "F1", "95 % interval, paired", "p", "corrected p")
    remarks: list[str] = []
    for difference in report["differences"]:
        test, f1 = difference["test"], difference["f1"]
        interval, why = test["f1_interval"], test.get("undefined", {})
        if interval:
            ends = f"{100 * interval['low']:+.2f} to {100 * interval['high']:+.2f}"
            cells = [ends, f"{test['p_value']:.3f}", f"{test['p_holm']:.3f}"]
        else:
            cells = [table.because(why[name]) for name in ("f1_interval", "p_value", "p_holm")]
        strict = f1["strict"]
        f1_text = UNDEFINED if strict is None else f"{100 * strict:+.2f}"
        table.add(escaped(difference["system"]), escaped(difference["baseline"]), f1_text, *cells)
        remarks += [
            f"- {escaped(difference['system'])}: {sentence}"
            for sentence in undefined_notes({"difference": interval}, report["gold"]["drawn"])
        ]
    note = "p is of approximate randomisation; corrected by Holm for the number of systems."
    return [table.text(), "", note, "", *remarks]


def _remarks(report: Report) -> list[str]:
    lines = []
    for system in report["systems"]:
        scores: Mapping[str, Any] = system["scores"]
        name = escaped(system["name"])
        intervals = {number: scores[f"{number}_interval"] for number in HEADLINE}
        lines += [
            f"- {name}: {sentence}"
            for sentence in undefined_notes(intervals, report["gold"]["drawn"])
        ]
        for key, where in (
            ("gold_only_types", "the gold"),
            ("predicted_only_types", "the predictions"),
        ):
            if scores[key]:
                lines.append(
                    f"- {name}: types in {where} only: {', '.join(map(escaped, scores[key]))}."
                )
        if scores["missing_documents"]:
            lines.append(
                f"- {name}: {plural(scores['missing_documents'], 'document')} without predictions; "
                "nothing counts as found in them."
            )
        if any(scores["duplicates"].values()):
            lines.append(
                f"- {name}: counted once though there more often: {scores['duplicates']['gold']:,} "
                f"gold and {scores['duplicates']['predicted']:,} predicted mentions."
            )
    return lines


def _rules(report: Report) -> str:
    table = MarkdownTable("system", *(TITLES[rule] for rule in RULES))
    add_rules(table, report["systems"])
    return "\n".join(["## Other rules of matching", "", _RULES_MEAN, "", table.text()])


def _types(report: Report) -> str:
    if not types_of(report["systems"]):
        return ""
    names = [escaped(system["name"]) for system in report["systems"]]
    numbers = ("P", "R", "F1", "loose F1")
    header = [f"{number} {name}" for name in names for number in numbers]
    table = MarkdownTable("type", "gold", *(header if len(names) > 1 else numbers))
    add_types(table, report)
    return "\n".join(["## Types", "", table.text()])


def _subsets(report: Report) -> str:
    names = (f"recall {escaped(system['name'])}" for system in report["systems"])
    table = MarkdownTable("gold mentions", "gold", *names)
    add_subsets(table, report["systems"], _SUBSET_TITLES)
    return "\n".join(["## Subsets of the gold", "", "Strict recall.", "", table.text()])


def _unreachable(report: Report) -> str:
    if not report["unreachable"]:
        return ""
    table = MarkdownTable("model", "gold", "out of reach", "highest recall")
    for model in report["unreachable"]:
        counts = (f"{model[name]:,}" for name in ("gold", "unreachable"))
        table.add(
            f"{escaped(model['model'])} ({model['family']})",
            *counts,
            table.share(model, "recall_ceiling"),
        )
    reasons = [
        f"- {escaped(model['model'])}: {row['count']:,} {name}: {row['means']}."
        for model in report["unreachable"]
        for name, row in model["reasons"].items()
    ]
    means = (
        "Gold mentions that no model with these units, windows, width, decoding and types "
        "can return exactly."
    )
    return "\n".join(["## Gold out of reach", "", means, "", table.text(), "", *reasons])


def _buckets(report: Report) -> str:
    lines = [
        "## Buckets",
        "",
        "Strict F1 where mentions are parted by what they are and where they stand. The counts "
        "of the intervals of an "
        f"attribute add up to those of the whole. A text is a {report['text_unit']}.",
        *([BUCKETS_UNCORRECTED] if report["differences"] else []),
    ]
    for name, attribute in report["attributes"].items():
        lines += [
            "",
            f"### {attribute['title'].capitalize()}",
            "",
            f"{attribute['means'].capitalize()}.",
            "",
        ]
        if "undefined" in attribute:
            lines.append(f"Undefined: {attribute['undefined']}.")
            continue
        lines.append(_bucket_table(report, name))
        if attribute["empty"]:
            lines += ["", f"Without any mention: {', '.join(attribute['empty'])}."]
    return "\n".join(lines)


def _bucket_table(report: Report, name: str) -> str:
    first, *rest = report["systems"]
    header = (
        [f"F1 {escaped(system['name'])}" for system in report["systems"]]
        if rest
        else ["P", "R", "F1"]
    )
    table = MarkdownTable(
        "interval",
        "gold",
        *header,
        *(f"{escaped(o['name'])} less {escaped(first['name'])}" for o in rest),
    )
    for at, bucket in enumerate(first["buckets"][name]):
        rows = [system["buckets"][name][at] for system in report["systems"]]
        numbers = ["f1"] if rest else ["precision", "recall", "f1"]
        cells = [table.share(row, number) for row in rows for number in numbers]
        gaps = [difference["buckets"][name][at] for difference in report["differences"]]
        cells += [UNDEFINED if gap is None else f"{100 * gap:+.2f}" for gap in gaps]
        table.add(bucket["interval"], f"{bucket['gold']:,}", *cells)
    return table.text()


def _system(system: Mapping[str, Any], *, several: bool) -> Iterable[str]:
    of = f" of {escaped(system['name'])}" if several else ""
    yield "\n".join(
        [f"## Errors{of}", "", _classes(system["errors"]), "", _rates(system["errors"])]
    )
    yield _confusions(system["errors"])
    yield _boundary_words(system["errors"])
    yield _examples(system["errors"])
    yield f"## Calibration{of}\n\n{_calibration(system['calibration'])}"


def _classes(errors: Errors) -> str:
    table = MarkdownTable(
        "class", "false positives", "false negatives", "beside a mention that was found"
    )
    totals = [0, 0, 0]
    for name, row in errors["classes"].items():
        counts = (row["fp"], row["fn"], row["beside_right"])
        totals = list(map(add, totals, counts))
        table.add(name, *(f"{count:,}" for count in counts))
    table.add("all", *(f"{total:,}" for total in totals))
    return table.text()


def _rates(errors: Errors) -> str:
    rates = errors["rates"]
    if rates["type_rate"] is None:
        return f"TE-Rate and BE-Rate are undefined: {rates['undefined']}."
    return (
        f"As *bundling-learning* counts them, of {plural(rates['errors'], 'error')} (FP + FN): "
        f"{rates['type_errors']:,} type errors, TE-Rate {percent(rates['type_rate'])}, and "
        f"{rates['boundary_errors']:,} boundary errors, BE-Rate {percent(rates['boundary_rate'])} "
        f"({percent(errors['rates_same_type']['boundary_rate'])} with a gold mention of the same "
        "type). These are shares of the errors: a system with fewer errors can have higher rates."
    )


def _confusions(errors: Errors) -> str:
    if not errors["confusions"]:
        return ""
    table = MarkdownTable(
        "gold type, taken for", "same span", "overlapping", "beside a mention that was found"
    )
    for row in errors["confusions"]:
        pair = f"{escaped(row['gold'])} → {escaped(row['predicted'])}"
        table.add(
            pair, *(f"{row[name]:,}" for name in ("same_span", "overlapping", "beside_right"))
        )
    more = (
        [f"\n{errors['more_confusions']:,} rarer pairs are left out."]
        if errors["more_confusions"]
        else []
    )
    return "\n".join(["### Types taken for others", "", table.text(), *more])


def _boundary_words(errors: Errors) -> str:
    if not errors["boundary_words"]:
        return ""
    table = MarkdownTable("words", "side", "prediction", "count")
    for row in errors["boundary_words"]:
        change = {"added": "has them", "left out": "lacks them"}[row["change"]]
        table.add(escaped(row["words"]), row["side"], change, f"{row['count']:,}")
    return "\n".join(["### Words at wrong boundaries", "", table.text()])


def _examples(errors: Errors) -> str:
    lines = []
    for kind, examples in errors["examples"].items():
        lines += ["", f"#### {kind}", "", *(f"- {_example(example)}" for example in examples)]
    return "\n".join(["### Examples, the surest first", *lines]) if lines else ""


def _example(example: Mapping[str, Any]) -> str:
    own, partner = ("predicted", "gold") if example["side"] == "fp" else ("gold", "predicted")
    mention, other = example["mention"], example["partner"]
    score = "" if example["score"] is None else f", score {example['score']:.3f}"
    against = (
        ""
        if other is None
        else f"; {partner} {_quote(other)}{' (right)' if example['partner_right'] else ''}"
    )
    context = _mark_spans(example["context"], mention["spans"], start=example["context_start"])
    return (
        f"{own} {_quote(mention)}{against}{score}, in {escaped(example['document'])}: … {context} …"
    )


def _quote(mention: Mapping[str, Any]) -> str:
    return f"{escaped(mention['type'])} “{escaped(mention['text'])}”"


def _mark_spans(context: str, spans: Sequence[Sequence[int]], *, start: int) -> str:
    """Marks the mention in its context in bold; white space would end bold text, so words are
    marked one by one.
    """
    parts, at = [], 0
    for low, high in spans:
        low, high = min(low - start, len(context)), min(high - start, len(context))
        inside = context[low:high]
        edge = inside[: len(inside) - len(inside.lstrip())], inside[len(inside.rstrip()) :]
        core = escaped(inside)
        parts += [
            _keep_space(context[at:low] + edge[0]),
            f"**{core}**" if core else "",
            edge[1] and " ",
        ]
        at = high
    return "".join([*parts, _keep_space(context[at:])]).strip()


def _keep_space(text: str) -> str:
    """Escaped, with one space where white space was at an end."""
    if not text.strip():
        return " " if text else ""
    return (" " if text[0].isspace() else "") + escaped(text) + (" " if text[-1].isspace() else "")


def _calibration(value: Mapping[str, Any]) -> str:
    if isinstance(reason := value.get("undefined"), str):
        return f"Undefined: {escaped(reason)}."
    summary = (
        f"{plural(value['predicted'], 'score')}: expected calibration error "
        f"{percent(value['expected_calibration_error'])} %, Brier score "
        f"{value['brier_score']:.4f}, average precision {percent(value['average_precision'])} %. "
        f"{_temperature(value['temperature'])}"
    )
    bins = MarkdownTable("score", "mentions", "mean score", "precision")
    add_bins(bins, value)
    types = MarkdownTable("type", "predicted", "calibration error", "average precision")
    add_calibrated_types(types, value)
    cuts = MarkdownTable("wanted", "threshold", "precision", "recall")
    add_thresholds(cuts, value)
    caution = (
        "Thresholds chosen on these documents hold for these; choose on development data what is "
        "to be used."
    )
    return "\n\n".join([summary, bins.text(), types.text(), cuts.text(), caution])


def _temperature(value: Mapping[str, Any]) -> str:
    if value["at_bound"]:
        return "No temperature fits these scores."
    word = "too sure" if value["temperature"] > 1 else "not too sure"
    return (
        f"The temperature that fits these documents best is {value['temperature']:.3f}: the "
        f"scores are {word}."
    )
