"""Errors as they stand in the texts, on the page, with filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from fascicle.core.marks import (
    Html,
    Mark,
    isolated_name,
    join,
    mark_mentions,
    shorten_name,
    tag,
)
from fascicle.core.page.template import PageSection
from fascicle.evaluation.report_parts import Report, SystemPart
from fascicle.evaluation.reports.page.html import CLASSES

_HOW: Final = (
    "Errors as they stand in the texts; of each class those first that the system was surest of. "
    "Every example shows its text twice: with the gold mentions (solid lines) and with the "
    "predicted ones (dashed lines). A mention has a line below its words and its type behind them; "
    "one inside another has its line nearer to the text. The pieces of a discontinuous mention are "
    "joined by a dotted line and numbered. ✓: the other side has the same mention; ✗: it has not. "
    "The mention with a frame around its type is the error, the other one in bold what it is "
    "compared with."
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


def examples_section(report: Report) -> PageSection:
    """Builds the section with the examples of all systems, and its filters."""
    names = [system["name"] for system in report["systems"]]
    by_system = [list(_cards(at, system)) for at, system in enumerate(report["systems"])]
    cards = list(chain.from_iterable(by_system))
    if not cards:
        none = tag("p", "There are none: no error was made, or none was asked for.")
        return PageSection(anchor="examples", title="Examples", body=none)
    types = sorted(frozenset().union(*(card.types for card in cards)))
    places = {type_: str(at) for at, type_ in enumerate(types)}
    parts = [
        PageSection(anchor=f"examples-{at}", title=names[at], body=_of_system(at, own, places))
        for at, own in enumerate(by_system)
    ]
    shown_kinds = {card.kind for card in cards}
    kinds = [kind for kind in CLASSES if kind in shown_kinds]
    body = join(tag("p", _HOW), _filters(names, kinds, types, len(cards)))
    return PageSection(anchor="examples", title="Examples", body=body, parts=tuple(parts))


def _cards(number: int, system: SystemPart) -> Iterator[_Card]:
    for kind, examples in system["errors"]["examples"].items():
        for example in examples:
            yield _Card(system=number, kind=kind, value=example)


def _filters(names: Sequence[str], kinds: Sequence[str], types: Sequence[str], total: int) -> Html:
    """Builds the filters, which stay hidden until their script shows them."""
    titles = [(kind, CLASSES[kind][0]) for kind in kinds]
    words = tag("input", type="search", id="filter-words", placeholder="in text, types or document")
    return tag(
        "form",
        _choice("system", "System", _number_names(names), "all systems"),
        _choice("class", "Error class", titles, "all classes"),
        _choice("type", "Type", _number_names(types), "all types"),
        tag("label", "Words", words),
        tag("button", "Show all", type="reset"),
        tag("output", f"{total:,} of {total:,} examples", id="shown", aria_live="polite"),
        id="filters",
        class_="filters",
        hidden=True,
        role="search",
        aria_label="Filter the examples",
    )


def _number_names(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(str(number), name) for number, name in enumerate(names)]


def _choice(name: str, title: str, options: Sequence[tuple[str, str]], every: str) -> Html:
    choices = [
        tag("option", every, value=""),
        *(tag("option", shorten_name(label), value=value) for value, label in options),
    ]
    return tag("label", title, tag("select", *choices, id=f"filter-{name}"))


def _of_system(at: int, cards: Sequence[_Card], places: Mapping[str, str]) -> Html:
    if not cards:
        return tag("p", "No example: this system made no error.")
    groups = []
    for kind, (title, means) in CLASSES.items():
        of_kind = [card for card in cards if card.kind == kind]
        if of_kind:
            heading = tag("h4", title, " ", tag("small", means))
            articles = [_card(card, places) for card in of_kind]
            groups.append(tag("div", heading, *articles, class_="kind", id=f"examples-{at}-{kind}"))
    return join(*groups)


def _card(card: _Card, places: Mapping[str, str]) -> Html:
    value = card.value
    lines = [
        tag("div", tag("span", side, class_="side"), _line(value, side), class_=f"said {side}")
        for side in ("gold", "predicted")
    ]
    score = [] if value["score"] is None else [f"score {value['score']:.3f}"]
    where = join(
        "document ", isolated_name(value["document"]), *(f" · {score_text}" for score_text in score)
    )
    around = value.get("around", {}).get("more", 0)
    more = (
        [tag("p", f"{around:,} more mentions of this text are not marked.", class_="means")]
        if around
        else []
    )
    return tag(
        "article",
        tag("p", _describe(value), class_="told"),
        *lines,
        tag("p", where, class_="where"),
        *more,
        class_="example",
        data_system=str(card.system),
        data_class=card.kind,
        data_types=" ".join(sorted(places[type_] for type_ in card.types)),
    )


def _describe(value: Mapping[str, Any]) -> Html:
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
        return join(begin, _quote(value["mention"]), nothing)
    end = f"{right if value['partner_right'] else ''}."
    return join(begin, _quote(value["mention"]), there, _quote(value["partner"]), end)


def _quote(mention: Mapping[str, Any]) -> Html:
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
