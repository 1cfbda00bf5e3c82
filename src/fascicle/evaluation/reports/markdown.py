"""A report as Markdown: the numbers of ``fascicle.evaluation.report`` in tables, with a sentence
on what each means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from fascicle.core.wording import plural
from fascicle.evaluation.report import BUCKETS_UNCORRECTED, explain_intervals, undefined_notes
from fascicle.evaluation.report_parts import Errors, Report
from fascicle.evaluation.scoring.rules import RULES, TITLES
from fascicle.evaluation.uncertainty.intervals import HEADLINE

UNDEFINED: Final = "–"
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|#~$&])")
_RULES_MEAN: Final = (
    "Micro F1 under each rule of matching, one to one: *strict* wants the same type and spans, "
    "*start only* and *end "
    "only* the same type and that boundary, *loose* the same type and a character in common, "
    "*span only* the same "
    "spans of whatever type, *type only* the same type anywhere in the document."
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
        for one in report["systems"]
        for part in _system(one, several=len(report["systems"]) > 1)
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """Escapes text for Markdown and HTML, on one line, so that it is shown unchanged."""
    return (
        _SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("\\&", "&amp;").replace("\\<", "&lt;")
    )


def percent(value: float | None) -> str:
    """Returns a share in percent with two decimals."""
    return UNDEFINED if value is None else f"{100 * value:.2f}"


class Table:
    """Table that collects the reasons why some of its cells are undefined."""

    def __init__(self, *header: str) -> None:
        """Begins with a header; its first column is text, the others are numbers."""
        self._rows = [list(header), [":--", *["--:"] * (len(header) - 1)]]
        self._reasons: dict[str, None] = {}

    def add(self, *cells: str) -> None:
        """Adds a row."""
        self._rows.append(list(cells))

    def cell(self, row: Mapping[str, Any], name: str) -> str:
        """Formats a number of a row in percent; if it is undefined, the reason is kept for the
        notes.
        """
        if row[name] is None:
            reasons = row.get("undefined", {})
            self._reasons[reasons if isinstance(reasons, str) else reasons.get(name, "")] = None
        return percent(row[name])

    def because(self, reason: str) -> str:
        """Returns an undefined cell."""
        self._reasons[reason] = None
        return UNDEFINED

    def text(self) -> str:
        """Returns the table, and below it the reasons."""
        lines = ["| " + " | ".join(row) + " |" for row in self._rows]
        reasons = [reason for reason in self._reasons if reason]
        if reasons:
            lines += [
                "",
                f"{UNDEFINED} is undefined: {'; '.join(escaped(reason) for reason in reasons)}.",
            ]
        return "\n".join(lines)


def _head(report: Report) -> str:
    gold = report["gold"]
    training = gold["training"]
    lines = [
        "# Evaluation",
        "",
        f"{len(report['systems'])} {'system' if len(report['systems']) == 1 else 'systems'} on "
        f"{gold['documents']:,} "
        f"documents with {plural(gold['mentions'], 'gold mention')} ({gold['discontinuous']:,} "
        "discontinuous) of "
        f"{plural(len(gold['types']), 'type')}.",
        "No training corpus was given, so nothing is said about what was seen in training."
        if training is None
        else f"Training: {plural(training['documents'], 'document')} with "
        f"{plural(training['mentions'], 'mention')}.",
        "All scores are percentages over sets of (document, type, spans).",
    ]
    if told := explain_intervals(gold):
        lines.append(told)
    lines += [f"\n**{escaped(remark)}.**" for remark in report.get("remarks", ())]
    return "\n".join(lines)


def _summary(report: Report) -> str:
    table = Table("system", "P", "R", "F1", "macro F1", "gold", "predicted", "TP", "FP", "FN")
    for one in report["systems"]:
        strict = one["scores"]["rules"]["strict"]
        rates = (_with_interval(table, one["scores"], name) for name in HEADLINE)
        numbers = (f"{strict['micro'][name]:,}" for name in ("gold", "predicted", "tp", "fp", "fn"))
        table.add(escaped(one["name"]), *rates, *numbers)
    told = "In brackets the 95 % interval, by bootstrap."
    return "\n".join(
        ["## Strict scores", "", table.text(), "", told, "", *_tests(report), *_remarks(report)]
    )


def _with_interval(table: Table, scores: Mapping[str, Any], name: str) -> str:
    """Returns a headline number with its interval in brackets."""
    average, number = name.split("_")
    row, interval = scores["rules"]["strict"][average], scores[f"{name}_interval"]
    shown = table.cell(row, number)
    if row[number] is None:
        return shown
    if interval is None:
        return f"{shown} [{table.because(scores['undefined'][f'{name}_interval'])}]"
    return f"{shown} [{percent(interval['low'])}, {percent(interval['high'])}]"


def _tests(report: Report) -> list[str]:
    """Returns the differences to the first system, with their paired intervals and tests."""
    if not report["differences"]:
        return []
    table = Table("system", "less", "F1", "95 % interval, paired", "p", "corrected p")
    remarks: list[str] = []
    for one in report["differences"]:
        test, f1 = one["test"], one["f1"]
        interval, why = test["f1_interval"], test.get("undefined", {})
        if interval:
            ends = f"{100 * interval['low']:+.2f} to {100 * interval['high']:+.2f}"
            cells = [ends, f"{test['p_value']:.3f}", f"{test['p_holm']:.3f}"]
        else:
            cells = [table.because(why[name]) for name in ("f1_interval", "p_value", "p_holm")]
        strict = f1["strict"]
        shown = UNDEFINED if strict is None else f"{100 * strict:+.2f}"
        table.add(escaped(one["system"]), escaped(one["baseline"]), shown, *cells)
        remarks += [
            f"- {escaped(one['system'])}: {sentence}"
            for sentence in undefined_notes({"difference": interval}, report["gold"]["drawn"])
        ]
    said = "p is of approximate randomisation; corrected by Holm for the number of systems."
    return [table.text(), "", said, "", *remarks]


def _remarks(report: Report) -> list[str]:
    said = []
    for one in report["systems"]:
        scores: Mapping[str, Any] = one["scores"]
        name = escaped(one["name"])
        intervals = {number: scores[f"{number}_interval"] for number in HEADLINE}
        said += [
            f"- {name}: {sentence}"
            for sentence in undefined_notes(intervals, report["gold"]["drawn"])
        ]
        for key, where in (
            ("gold_only_types", "the gold"),
            ("predicted_only_types", "the predictions"),
        ):
            if scores[key]:
                said.append(
                    f"- {name}: types in {where} only: {', '.join(map(escaped, scores[key]))}."
                )
        if scores["missing_documents"]:
            said.append(
                f"- {name}: {plural(scores['missing_documents'], 'document')} without "
                "predictions; nothing "
                "counts as found in them."
            )
        if any(scores["duplicates"].values()):
            said.append(
                f"- {name}: counted once though there more often: "
                f"{scores['duplicates']['gold']:,} gold and "
                f"{scores['duplicates']['predicted']:,} predicted mentions."
            )
    return said


def _rules(report: Report) -> str:
    table = Table("system", *(TITLES[rule] for rule in RULES))
    for one in report["systems"]:
        rows = one["scores"]["rules"]
        table.add(escaped(one["name"]), *(table.cell(rows[rule]["micro"], "f1") for rule in RULES))
    return "\n".join(["## Other rules of matching", "", _RULES_MEAN, "", table.text()])


def _types(report: Report) -> str:
    names = [escaped(one["name"]) for one in report["systems"]]
    header = (
        [f"{title} {name}" for name in names for title in ("P", "R", "F1", "loose F1")]
        if len(names) > 1
        else []
    )
    table = Table("type", "gold", *(header or ("P", "R", "F1", "loose F1")))
    types = sorted(
        {t for one in report["systems"] for t in one["scores"]["rules"]["strict"]["types"]}
    )
    for type_ in types:
        cells = []
        for one in report["systems"]:
            strict, loose = (
                one["scores"]["rules"][rule]["types"].get(type_) for rule in ("strict", "loose")
            )
            if strict is None or loose is None:
                cells += [table.because("neither the gold nor this system has the type")] * 4
                continue
            cells += [table.cell(strict, name) for name in ("precision", "recall", "f1")] + [
                table.cell(loose, "f1")
            ]
        table.add(escaped(type_), f"{report['gold']['types'].get(type_, 0):,}", *cells)
    return "\n".join(["## Types", "", table.text()]) if types else ""


def _subsets(report: Report) -> str:
    table = Table(
        "gold mentions", "gold", *(f"recall {escaped(one['name'])}" for one in report["systems"])
    )
    for name, title in _SUBSET_TITLES:
        rows = [one["subsets"][name] for one in report["systems"]]
        gold = rows[0]["gold"]
        table.add(
            title,
            UNDEFINED if gold is None else f"{gold:,}",
            *(table.cell(row, "recall") for row in rows),
        )
    return "\n".join(["## Subsets of the gold", "", "Strict recall.", "", table.text()])


def _unreachable(report: Report) -> str:
    if not report["unreachable"]:
        return ""
    table = Table("model", "gold", "out of reach", "highest recall")
    for one in report["unreachable"]:
        counts = (f"{one[name]:,}" for name in ("gold", "unreachable"))
        table.add(
            f"{escaped(one['model'])} ({one['family']})", *counts, table.cell(one, "recall_ceiling")
        )
    said = [
        f"- {escaped(one['model'])}: {row['count']:,} {name}: {row['means']}."
        for one in report["unreachable"]
        for name, row in one["reasons"].items()
    ]
    means = (
        "Gold mentions that no model with these units, windows, width, decoding and types "
        "can return exactly."
    )
    return "\n".join(["## Gold out of reach", "", means, "", table.text(), "", *said])


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
    first, *others = report["systems"]
    named = (
        [f"F1 {escaped(one['name'])}" for one in report["systems"]] if others else ["P", "R", "F1"]
    )
    table = Table(
        "interval",
        "gold",
        *named,
        *(f"{escaped(o['name'])} less {escaped(first['name'])}" for o in others),
    )
    for at, bucket in enumerate(first["buckets"][name]):
        rows = [one["buckets"][name][at] for one in report["systems"]]
        shown = ["f1"] if others else ["precision", "recall", "f1"]
        cells = [table.cell(row, number) for row in rows for number in shown]
        gaps = [difference["buckets"][name][at] for difference in report["differences"]]
        cells += [UNDEFINED if gap is None else f"{100 * gap:+.2f}" for gap in gaps]
        table.add(bucket["interval"], f"{bucket['gold']:,}", *cells)
    return table.text()


def _system(one: Mapping[str, Any], *, several: bool) -> Iterable[str]:
    of = f" of {escaped(one['name'])}" if several else ""
    yield "\n".join([f"## Errors{of}", "", _classes(one["errors"]), "", _rates(one["errors"])])
    yield _confusions(one["errors"])
    yield _boundary_words(one["errors"])
    yield _examples(one["errors"])
    yield f"## Calibration{of}\n\n{_calibration(one['calibration'])}"


def _classes(errors: Errors) -> str:
    table = Table("class", "false positives", "false negatives", "beside a mention that was found")
    for name, row in errors["classes"].items():
        table.add(name, f"{row['fp']:,}", f"{row['fn']:,}", f"{row['beside_right']:,}")
    totals = (
        sum(row[side] for row in errors["classes"].values())
        for side in ("fp", "fn", "beside_right")
    )
    table.add("all", *(f"{total:,}" for total in totals))
    return table.text()


def _rates(errors: Errors) -> str:
    rates = errors["rates"]
    if rates["type_rate"] is None:
        return f"TE-Rate and BE-Rate are undefined: {rates['undefined']}."
    return (
        f"As *bundling-learning* counts them, of {plural(rates['errors'], 'error')} (FP + FN): "
        f"{rates['type_errors']:,} type errors, TE-Rate {percent(rates['type_rate'])}, and "
        f"{rates['boundary_errors']:,} boundary errors, BE-Rate "
        f"{percent(rates['boundary_rate'])} "
        f"({percent(errors['rates_same_type']['boundary_rate'])} with a gold mention "
        "of the same type). These are shares of the errors: a system with fewer errors can have "
        "higher rates."
    )


def _confusions(errors: Errors) -> str:
    if not errors["confusions"]:
        return ""
    table = Table(
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
    table = Table("words", "side", "prediction", "count")
    for row in errors["boundary_words"]:
        told = {"added": "has them", "left out": "lacks them"}[row["change"]]
        table.add(escaped(row["words"]), row["side"], told, f"{row['count']:,}")
    return "\n".join(["### Words at wrong boundaries", "", table.text()])


def _examples(errors: Errors) -> str:
    lines = []
    for kind, listed in errors["examples"].items():
        lines += ["", f"#### {kind}", "", *(f"- {_example(example)}" for example in listed)]
    return "\n".join(["### Examples, the surest first", *lines]) if lines else ""


def _example(example: Mapping[str, Any]) -> str:
    own, partner = ("predicted", "gold") if example["side"] == "fp" else ("gold", "predicted")
    mention, other = example["mention"], example["partner"]
    score = "" if example["score"] is None else f", score {example['score']:.3f}"
    against = (
        ""
        if other is None
        else f"; {partner} {_named(other)}{' (right)' if example['partner_right'] else ''}"
    )
    marked = _marked(example["context"], mention["spans"], start=example["context_start"])
    return (
        f"{own} {_named(mention)}{against}{score}, in {escaped(example['document'])}: … {marked} …"
    )


def _named(mention: Mapping[str, Any]) -> str:
    return f"{escaped(mention['type'])} “{escaped(mention['text'])}”"


def _marked(context: str, spans: Sequence[Sequence[int]], *, start: int) -> str:
    """Marks the mention in its context in bold; white space would end bold text, so words are
    marked one by one.
    """
    parts, at = [], 0
    for low, high in spans:
        low, high = min(low - start, len(context)), min(high - start, len(context))
        inside = context[low:high]
        edge = inside[: len(inside) - len(inside.lstrip())], inside[len(inside.rstrip()) :]
        core = escaped(inside)
        parts += [_kept(context[at:low] + edge[0]), f"**{core}**" if core else "", edge[1] and " "]
        at = high
    return "".join([*parts, _kept(context[at:])]).strip()


def _kept(text: str) -> str:
    """Escaped, with one space where white space was at an end."""
    if not text.strip():
        return " " if text else ""
    return (" " if text[0].isspace() else "") + escaped(text) + (" " if text[-1].isspace() else "")


def _calibration(value: Mapping[str, Any]) -> str:
    if isinstance(reason := value.get("undefined"), str):
        return f"Undefined: {escaped(reason)}."
    ece, brier, ap = (
        value[name] for name in ("expected_calibration_error", "brier_score", "average_precision")
    )
    lines = [
        f"{plural(value['predicted'], 'score')}: expected calibration error {percent(ece)} %, "
        "Brier score "
        f"{brier:.4f}, average precision {percent(ap)} %. {_temperature(value['temperature'])}",
        "",
    ]
    bins = Table("score", "mentions", "mean score", "precision")
    for at, one in enumerate(value["reliability"]):
        label = f"{'[' if at == 0 else '('}{one['low']:.4g}, {one['high']:.4g}]"
        row = one | {"undefined": "no mention has such a score"}
        bins.add(
            label, f"{one['count']:,}", bins.cell(row, "mean_score"), bins.cell(row, "precision")
        )
    types = Table("type", "predicted", "calibration error", "average precision")
    for name, row in value["types"].items():
        numbers = (
            types.cell(row, number)
            for number in ("expected_calibration_error", "average_precision")
        )
        types.add(escaped(name), f"{row['predicted']:,}", *numbers)
    cuts = Table("wanted", "threshold", "precision", "recall")
    for row in value["thresholds"]:
        if row["threshold"] is None:
            cuts.add(row["for"], cuts.because(row["undefined"]), UNDEFINED, UNDEFINED)
        else:
            cuts.add(
                row["for"],
                f"{row['threshold']:.4g}",
                percent(row["precision"]),
                percent(row["recall"]),
            )
    told = (
        "Thresholds chosen on these documents hold for these; choose on development data what "
        "is to be used."
    )
    return "\n".join([*lines, bins.text(), "", types.text(), "", cuts.text(), "", told])


def _temperature(value: Mapping[str, Any]) -> str:
    if value["at_bound"]:
        return "No temperature fits these scores."
    word = "too sure" if value["temperature"] > 1 else "not too sure"
    return (
        f"The temperature that fits these documents best is {value['temperature']:.3f}: the "
        f"scores are {word}."
    )
