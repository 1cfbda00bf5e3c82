"""Examples of errors in their context, as cards that can be filtered by system, class, type and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fascicle.core.marks import Html, Mark, join, marked, short, tag, user
from fascicle.evaluation.report_parts import Report
from fascicle.evaluation.reports.page.html import Section
from fascicle.evaluation.reports.page.words import CLASSES

_HOW: Final = (
    "Errors as they stand in the texts; of each class those first that the system was surest of. Every example shows "
    "its text twice: with the gold mentions (solid lines) and with the predicted ones (dashed lines). A mention has a "
    "line below its words and its type behind them; one inside another has its line nearer to the text. The pieces of "
    "a discontinuous mention are joined by a dotted line and numbered. ✓: the other side has the same mention; ✗: it "
    "has not. The mention with a frame around its type is the error, the other one in bold what it is compared with."
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
    cards = [
        [
            _Card(system=at, kind=kind, value=value)
            for kind, listed in one["errors"]["examples"].items()
            for value in listed
        ]
        for at, one in enumerate(report["systems"])
    ]
    types = sorted({type_ for of_system in cards for card in of_system for type_ in card.types})
    total = sum(map(len, cards))
    if not total:
        return Section(
            anchor="examples",
            title="Examples",
            body=tag("p", "There are none: no error was made, or none was asked for."),
        )
    places = {type_: str(at) for at, type_ in enumerate(types)}
    parts = [
        Section(anchor=f"examples-{at}", title=names[at], body=_of_system(at, of_system, places))
        for at, of_system in enumerate(cards)
    ]
    kinds = [kind for kind in CLASSES if any(card.kind == kind for of_system in cards for card in of_system)]
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
        tag("label", "Words", tag("input", type="search", id="filter-words", placeholder="in text, types or document")),
        tag("button", "Show all", type="reset"),
        said,
        id="filters",
        class_="filters",
        hidden=True,
        role="search",
        aria_label="Filter the examples",
    )


def _choice(name: str, title: str, options: Sequence[tuple[str, str]], every: str) -> Html:
    listed = [tag("option", every, value=""), *(tag("option", short(shown), value=value) for value, shown in options)]
    return tag("label", title, tag("select", *listed, id=f"filter-{name}"))


def _of_system(at: int, cards: Sequence[_Card], places: Mapping[str, str]) -> Html:
    if not cards:
        return tag("p", "No example: this system made no error.")
    groups = []
    for kind in CLASSES:
        of_kind = [card for card in cards if card.kind == kind]
        if of_kind:
            title, means = CLASSES[kind]
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
    where = join("document ", user(value["document"]), *(f" · {one}" for one in score))
    around = value.get("around", {}).get("more", 0)
    more = [tag("p", f"{around:,} more mentions of this text are not marked.", class_="means")] if around else []
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
    mention, partner = _named(value["mention"]), value["partner"]
    if value["side"] == "fp":
        if partner is None:
            return join("Predicted ", mention, "; the gold has nothing there.")
        found = ", which was also found" if value["partner_right"] else ""
        return join("Predicted ", mention, "; the gold has ", _named(partner), f"{found}.")
    if partner is None:
        return join("Not found: ", mention, "; nothing was predicted there.")
    right = ", which is right" if value["partner_right"] else ""
    return join("Not found: ", mention, "; predicted was ", _named(partner), f"{right}.")


def _named(mention: Mapping[str, Any]) -> Html:
    return join(tag("b", user(mention["type"])), " “", user(mention["text"]), "”")


def _line(value: Mapping[str, Any], side: str) -> Html:
    """Returns the text of an example with the mentions of one side."""
    own = "predicted" if value["side"] == "fp" else "gold"
    chosen, focus = (value["mention"], "mention") if side == own else (value["partner"], "partner")
    around = value.get("around", {}).get(side)
    listed: Sequence[Mapping[str, Any]] = around if around is not None else [chosen] if chosen else []
    start = value["context_start"]
    marks = []
    for one in listed:
        is_chosen = chosen is not None and (one["type"], one["spans"]) == (chosen["type"], chosen["spans"])
        spans = tuple((low - start, high - start) for low, high in one["spans"])
        marks.append(Mark(spans=spans, type=one["type"], right=one.get("right"), focus=focus if is_chosen else ""))
    return marked(value["context"], marks)
