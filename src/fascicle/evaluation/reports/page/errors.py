"""Errors on the page: their classes, types predicted for others, and words at wrong boundaries.

Also whether the scores of the mentions can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fascicle.core.marks import (
    Html,
    Mark,
    escape,
    isolated_name,
    join,
    mark_mentions,
    shorten_name,
    tag,
)
from fascicle.evaluation.report_parts import Errors, Report
from fascicle.evaluation.reports.page.html import (
    CALIBRATION,
    CLASSES,
    RATES,
    SCORES,
    Pictures,
    Section,
    Table,
    figure,
    paragraphs,
)


def errors_section(report: Report) -> Section:
    """Builds the section on the classes of errors of all systems, and their rates."""
    told = (
        "Every false positive (FP, predicted in error) and every false negative (FN, not found) "
        "is in exactly one "
        "class, by what it touches on the other side."
    )
    rates = Section(
        anchor="error-rates", title="Type errors and boundary errors", body=_rates(report)
    )
    body = join(paragraphs(told), _classes(report))
    return Section(anchor="errors", title="What goes wrong?", body=body, parts=(rates,))


def _classes(report: Report) -> Html:
    systems = report["systems"]
    groups = (
        [("", 1), *((isolated_name(one["name"]), 2) for one in systems)] if len(systems) > 1 else []
    )
    table = Table("class", *(side for _ in systems for side in ("FP", "FN")), groups=groups)
    for kind, (title, means) in CLASSES.items():
        rows = [one["errors"]["classes"][kind] for one in systems]
        table.add(
            join(title, tag("small", means)),
            *(_count(row[side]) for row in rows for side in ("fp", "fn")),
        )
    totals = [
        sum(row[side] for row in one["errors"]["classes"].values())
        for one in systems
        for side in ("fp", "fn")
    ]
    table.add(tag("strong", "all"), *(tag("strong", f"{total:,}") for total in totals))
    means_ = [("FP", SCORES["FP"]), ("FN", SCORES["FN"])]
    return table.html(means=means_, label="classes of errors")


def _count(number: int) -> Html:
    return escape(f"{number:,}") if number else tag("span", "0", class_="zero")


def _rates(report: Report) -> Html:
    table = Table(
        "system",
        "errors",
        "type errors",
        "TE-Rate",
        "boundary errors",
        "BE-Rate",
        "BE-Rate, same type",
    )
    for one in report["systems"]:
        rates, narrow = one["errors"]["rates"], one["errors"]["rates_same_type"]
        table.add(
            isolated_name(one["name"]),
            f"{rates['errors']:,}",
            f"{rates['type_errors']:,}",
            table.share(rates, "type_rate"),
            f"{rates['boundary_errors']:,}",
            table.share(rates, "boundary_rate"),
            table.share(narrow, "boundary_rate"),
        )
    told = (
        "The rates as the paper on bundling counts them. They are shares of the errors: a system "
        "with fewer errors can "
        "have higher rates, so read the counts beside them."
    )
    return join(paragraphs(told), table.html(means=RATES, label="type and boundary errors"))


def system_errors(report: Report, at: int, pictures: Pictures) -> Section:
    """Builds the section on the errors of one system."""
    errors = report["systems"][at]["errors"]
    caption = (
        "Every prediction by what it is (column) and what the gold has there (row). In the "
        "diagonal the right ones, "
        "and after + those of the right type at other characters. The lowest row holds "
        "predictions where the gold has "
        "nothing, the last column gold mentions where nothing was predicted. Darker is more of "
        "the row."
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
    return Section(anchor=f"system-{at}-errors", title="Errors", body=join(*parts))


def _by_type(errors: Errors) -> Html:
    classes = {kind: row for kind, row in errors["classes"].items() if row["fp"] or row["fn"]}
    if not classes:
        return paragraphs("No error: everything was found, and nothing in error.")
    types = sorted({type_ for row in classes.values() for type_ in row["types"]})
    table = Table("type", *(CLASSES[kind][0] for kind in classes), "all")
    for type_ in types:
        counts = [row["types"].get(type_, (0, 0)) for row in classes.values()]
        totals = tuple(map(sum, zip(*counts, strict=True)))
        table.add(isolated_name(type_), *(_both(*count) for count in counts), _both(*totals))
    beside = sum(row["beside_right"] for row in classes.values())
    told = "FP / FN of each class. " + (
        f"{beside:,} of the errors touch a mention that was found, as where a second prediction "
        "stands beside a right "
        "one."
        if beside
        else "No error touches a mention that was found."
    )
    return join(paragraphs(told), table.html(label="errors by type and class"))


def _both(fp: int, fn: int) -> Html:
    return escape(f"{fp:,} / {fn:,}") if fp or fn else _count(0)


def _confusions(errors: Errors) -> Html:
    if not errors["confusions"]:
        return paragraphs("No type was taken for another.")
    table = Table(
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
    table = Table("words", "side", "the prediction", "count", texts=3)
    for row in errors["boundary_words"]:
        told = {"added": "has them in excess", "left out": "lacks them"}[row["change"]]
        table.add(isolated_name(row["words"]), row["side"], told, f"{row['count']:,}")
    told_ = (
        "The words between the boundary of a prediction and that of its gold mention, most "
        "frequent first: rules of "
        "annotation that the system has not learnt, or that the gold does not keep to."
    )
    means = (("side", "of the mention on which they stand"), ("count", "how often"))
    return join(paragraphs(told_), table.html(means=means, label="words at wrong boundaries"))


_THRESHOLDS: Final = (
    "If only mentions with at least this score were kept. Chosen on these documents, they hold "
    "for these: choose on "
    "development data what is to be used."
)
_CURVE: Final = (
    "Precision and recall if only the mentions above a score were kept, for every score: curves "
    "further up and to the "
    "right are better. At the left, where few mentions are kept, precision jumps and may lie "
    "outside the picture. A "
    "curve ends where the predictions of the file end."
)


def calibration_section(report: Report, pictures: Pictures) -> Section:
    """Builds the calibration section, with all systems side by side."""
    table = Table(
        "system", "scores", "calibration error", "Brier score", "average precision", "temperature"
    )
    for one in report["systems"]:
        value = one["calibration"]
        if isinstance(reason := value.get("undefined"), str):
            table.add(isolated_name(one["name"]), *[table.because(reason)] * 5)
            continue
        table.add(
            isolated_name(one["name"]),
            f"{value['predicted']:,}",
            table.share(value, "expected_calibration_error"),
            _number(table, value, "brier_score"),
            table.share(value, "average_precision"),
            _temperature(table, value),
        )
    told = (
        "A score is well calibrated if, of the mentions with a score near 0.8, 80 % are right. "
        "Then a threshold does "
        "what one expects of it."
    )
    body = join(
        paragraphs(told),
        table.html(means=CALIBRATION, label="calibration"),
        figure(pictures, "precision-recall", caption=_CURVE),
    )
    return Section(anchor="calibration", title="Can the scores be trusted?", body=body)


def _number(table: Table, value: Mapping[str, Any], name: str) -> Html:
    return (
        table.because(value["undefined"][name])
        if value[name] is None
        else escape(f"{value[name]:.4f}")
    )


def _temperature(table: Table, value: Mapping[str, Any]) -> Html:
    found = value["temperature"]
    if found is None or found["at_bound"]:
        return table.because(
            "no temperature fits these scores" if found else value["undefined"]["temperature"]
        )
    return escape(f"{found['temperature']:.3f}")


def system_calibration(report: Report, at: int, pictures: Pictures) -> Section:
    """Builds the calibration section of one system."""
    value = report["systems"][at]["calibration"]
    anchor = f"system-{at}-calibration"
    if isinstance(reason := value.get("undefined"), str):
        body = tag("p", "Undefined: ", isolated_name(reason), ".", class_="nothing")
        return Section(anchor=anchor, title="Calibration", body=body)
    caption = (
        "Precision of the mentions in each interval of the score. On the dashed line, scores "
        "tell the truth; below it, "
        "the system is too sure. The bars show how many mentions have such scores."
    )
    drawn = figure(pictures, f"reliability-{at}", caption=caption)
    parts = [
        tag("div", _bins(value), drawn, class_="beside"),
        tag("h4", "Thresholds"),
        paragraphs(_THRESHOLDS),
        _cuts(value),
    ]
    if len(value["types"]) > 1:
        parts += [tag("h4", "By type"), _types(value)]
    return Section(anchor=anchor, title="Calibration", body=join(*parts))


def _bins(value: Mapping[str, Any]) -> Html:
    table = Table("score", "mentions", "mean score", "precision")
    for at, one in enumerate(value["reliability"]):
        label = f"{'[' if at == 0 else '('}{one['low']:.4g}, {one['high']:.4g}]"
        row = one | {"undefined": "no mention has such a score"}
        table.add(
            label,
            f"{one['count']:,}",
            table.share(row, "mean_score"),
            table.share(row, "precision"),
        )
    means = (
        ("mentions", "predicted, with a score in the interval"),
        ("mean score", "of these, in percent"),
        ("precision", "the share of them that is right"),
    )
    return table.html(means=means, label="reliability")


def _cuts(value: Mapping[str, Any]) -> Html:
    table = Table("wanted", "threshold", "precision", "recall")
    for row in value["thresholds"]:
        if row["threshold"] is None:
            table.add(row["for"], *[table.because(row["undefined"])] * 3)
            continue
        table.add(
            row["for"],
            f"{row['threshold']:.4g}",
            table.share(row, "precision"),
            table.share(row, "recall"),
        )
    means = (
        ("best F1", "the threshold with the highest F1"),
        ("precision 0.9", "the lowest threshold at which 90 % of what is kept is right"),
    )
    return table.html(means=means, label="thresholds")


def _types(value: Mapping[str, Any]) -> Html:
    table = Table("type", "predicted", "calibration error", "average precision")
    for name, row in value["types"].items():
        numbers = (
            table.share(row, number)
            for number in ("expected_calibration_error", "average_precision")
        )
        table.add(isolated_name(name), f"{row['predicted']:,}", *numbers)
    means = [pair for pair in CALIBRATION if pair[0] in ("calibration error", "average precision")]
    return table.html(means=means, label="calibration by type")


_HOW: Final = (
    "Errors as they stand in the texts; of each class those first that the system was surest of. "
    "Every example shows "
    "its text twice: with the gold mentions (solid lines) and with the predicted ones (dashed "
    "lines). A mention has a "
    "line below its words and its type behind them; one inside another has its line nearer to "
    "the text. The pieces of "
    "a discontinuous mention are joined by a dotted line and numbered. ✓: the other side has the "
    "same mention; ✗: it "
    "has not. The mention with a frame around its type is the error, the other one in bold what "
    "it is compared with."
)


@dataclass(frozen=True, kw_only=True)
class _Card:
    """An example and where it belongs."""

    system: int
    kind: str
    value: Mapping[str, Any]

    @property
    def types(self) -> set[str]:
        partner = self.value["partner"]
        return {self.value["mention"]["type"]} | (set() if partner is None else {partner["type"]})


def examples_section(report: Report) -> Section:
    """Builds the section with the examples of all systems, and its filters."""
    names = [one["name"] for one in report["systems"]]
    listed = [one["errors"]["examples"].items() for one in report["systems"]]
    cards = [
        [_Card(system=at, kind=kind, value=value) for kind, values in of_system for value in values]
        for at, of_system in enumerate(listed)
    ]
    types = sorted({type_ for of_system in cards for card in of_system for type_ in card.types})
    total = sum(map(len, cards))
    if not total:
        none = tag("p", "There are none: no error was made, or none was asked for.")
        return Section(anchor="examples", title="Examples", body=none)
    places = {type_: str(at) for at, type_ in enumerate(types)}
    parts = [
        Section(anchor=f"examples-{at}", title=names[at], body=_of_system(at, of_system, places))
        for at, of_system in enumerate(cards)
    ]
    kinds = [
        kind
        for kind in CLASSES
        if any(card.kind == kind for of_system in cards for card in of_system)
    ]
    body = join(tag("p", _HOW), _filters(names, kinds, types, total))
    return Section(anchor="examples", title="Examples", body=body, parts=tuple(parts))


def _filters(names: Sequence[str], kinds: Sequence[str], types: Sequence[str], total: int) -> Html:
    """Builds the filters, which stay hidden until their script shows them."""
    numbered = [[(str(at), name) for at, name in enumerate(listed)] for listed in (names, types)]
    titles = [(kind, CLASSES[kind][0]) for kind in kinds]
    said = tag("output", f"{total:,} of {total:,} examples", id="shown", aria_live="polite")
    return tag(
        "form",
        _choice("system", "System", numbered[0], "all systems"),
        _choice("class", "Error class", titles, "all classes"),
        _choice("type", "Type", numbered[1], "all types"),
        tag(
            "label",
            "Words",
            tag(
                "input", type="search", id="filter-words", placeholder="in text, types or document"
            ),
        ),
        tag("button", "Show all", type="reset"),
        said,
        id="filters",
        class_="filters",
        hidden=True,
        role="search",
        aria_label="Filter the examples",
    )


def _choice(name: str, title: str, options: Sequence[tuple[str, str]], every: str) -> Html:
    listed = [
        tag("option", every, value=""),
        *(tag("option", shorten_name(shown), value=value) for value, shown in options),
    ]
    return tag("label", title, tag("select", *listed, id=f"filter-{name}"))


def _of_system(at: int, cards: Sequence[_Card], places: Mapping[str, str]) -> Html:
    if not cards:
        return tag("p", "No example: this system made no error.")
    groups = []
    for kind, (title, means) in CLASSES.items():
        of_kind = [card for card in cards if card.kind == kind]
        if of_kind:
            heading = tag("h4", title, " ", tag("small", means))
            shown = [_card(card, places) for card in of_kind]
            groups.append(tag("div", heading, *shown, class_="kind", id=f"examples-{at}-{kind}"))
    return join(*groups)


def _card(card: _Card, places: Mapping[str, str]) -> Html:
    value = card.value
    lines = [
        tag("div", tag("span", side, class_="side"), _line(value, side), class_=f"said {side}")
        for side in ("gold", "predicted")
    ]
    score = [] if value["score"] is None else [f"score {value['score']:.3f}"]
    where = join("document ", isolated_name(value["document"]), *(f" · {one}" for one in score))
    around = value.get("around", {}).get("more", 0)
    more = (
        [tag("p", f"{around:,} more mentions of this text are not marked.", class_="means")]
        if around
        else []
    )
    return tag(
        "article",
        tag("p", _told(value), class_="told"),
        *lines,
        tag("p", where, class_="where"),
        *more,
        class_="example",
        data_system=str(card.system),
        data_class=card.kind,
        data_types=" ".join(sorted(places[type_] for type_ in card.types)),
    )


def _told(value: Mapping[str, Any]) -> Html:
    """Describes an error in a sentence."""
    begin, nothing, there, right = {
        "fp": (
            "Predicted ",
            "; the gold has nothing there.",
            "; the gold has ",
            ", which was also found",
        ),
        "fn": (
            "Not found: ",
            "; nothing was predicted there.",
            "; predicted was ",
            ", which is right",
        ),
    }[value["side"]]
    if value["partner"] is None:
        return join(begin, _named(value["mention"]), nothing)
    end = f"{right if value['partner_right'] else ''}."
    return join(begin, _named(value["mention"]), there, _named(value["partner"]), end)


def _named(mention: Mapping[str, Any]) -> Html:
    return join(tag("b", isolated_name(mention["type"])), " “", isolated_name(mention["text"]), "”")


def _line(value: Mapping[str, Any], side: str) -> Html:
    """Returns the text of an example with the mentions of one side."""
    own = "predicted" if value["side"] == "fp" else "gold"
    chosen, focus = (value["mention"], "mention") if side == own else (value["partner"], "partner")
    around = value.get("around", {}).get(side)
    listed: Sequence[Mapping[str, Any]] = (
        around if around is not None else [chosen] if chosen else []
    )
    start = value["context_start"]
    marks = []
    for one in listed:
        is_chosen = chosen is not None and (one["type"], one["spans"]) == (
            chosen["type"],
            chosen["spans"],
        )
        spans = tuple((low - start, high - start) for low, high in one["spans"])
        marks.append(
            Mark(
                spans=spans,
                type=one["type"],
                right=one.get("right"),
                focus=focus if is_chosen else "",
            )
        )
    return mark_mentions(value["context"], marks)
