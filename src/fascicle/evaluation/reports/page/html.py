"""Parts of the page of a report: figures, sections and tables."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.marks import Html, escape, isolated_name, join, tag
from fascicle.evaluation.reports.markdown_table import UNDEFINED, percent

_NOTHING: Final = Html("")


def points(value: float) -> str:
    """Formats a difference of shares in points, with its sign; no difference has none."""
    text = f"{100 * value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "\u2212")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Content of the place of a picture.

    Attributes:
        svg: the picture, an ``<svg>`` element; empty if there is none.
        missing: why there is none.
        notes: what else is to be said about it, a sentence each.
    """

    svg: str = ""
    missing: str = ""
    notes: tuple[str, ...] = ()


Pictures = Mapping[str, Picture]


def figure(pictures: Pictures, name: str, *, caption: str) -> Html:
    """Returns a picture with a caption, or the reason why there is none; nothing if it is not known
    at all.

    Args:
        pictures: by name.
        name: which; also what keeps the ids inside it apart from those of the other pictures.
        caption: what it shows, and how to read it; `Html` or text.
    """
    picture = pictures.get(name)
    if picture is None:
        return _NOTHING
    if not picture.svg:
        return tag("p", f"No picture: {picture.missing}.", class_="nothing")
    notes = [join(" ", note) for note in picture.notes]
    return tag(
        "figure",
        tag("div", Html(_alone(picture.svg, name)), class_="drawing"),
        tag("figcaption", caption, *notes),
        class_="picture",
    )


def _alone(svg: str, name: str) -> str:
    """Returns an element whose ids and styles cannot touch other pictures of the page."""
    svg = re.sub(
        r"<!--.*?-->|<style[^>]*>.*?</style>|\sxmlns(?::\w+)?=\"[^\"]*\"", "", svg, flags=re.DOTALL
    )
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
    cleaned = re.sub(
        r'\sid="([^"]+)"', lambda f: f' id="{name}-{f[1]}"' if f[1] in used else "", svg
    )
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", cleaned)


@dataclass(frozen=True, kw_only=True)
class PageSection:
    """A part of the page that the contents list names.

    Attributes:
        anchor: its id.
        title: its heading.
        body: what stands below the heading.
        parts: those one level down.
    """

    anchor: str
    title: str
    body: Html = _NOTHING
    parts: tuple[PageSection, ...] = ()

    def html(self, *, level: int = 2) -> Html:
        """Returns the section with its heading and its parts."""
        heading = tag(f"h{level}", isolated_name(self.title))
        inner = [part.html(level=level + 1) for part in self.parts]
        return tag("section", heading, self.body, *inner, id=self.anchor)

    def entry(self) -> Html:
        """Returns the line of the contents list, with those of the parts below it."""
        link = tag("a", isolated_name(self.title), href=f"#{self.anchor}")
        return tag(
            "li",
            link,
            tag("ol", *(part.entry() for part in self.parts)) if self.parts else Html(""),
        )


class PageTable:
    """Table with notes below it on what its columns mean and why cells are undefined."""

    def __init__(
        self, *header: str, texts: int = 1, groups: Iterable[tuple[str, int]] = ()
    ) -> None:
        """Begins with the header.

        Args:
            header: of each column.
            texts: how many columns at the left are text; the others are numbers.
            groups: titles above the header, each with the number of columns that it is over.
        """
        self._texts = texts
        self._labels = _labels(header, groups := tuple(groups))
        self._head = [self._row("th", header)]
        spans = [
            tag("th" if title else "td", title, colspan=width, class_="group")
            for title, width in groups
        ]
        if spans:
            self._head.insert(0, tag("tr", *spans))
        self._body: list[Html] = []
        self._reasons: dict[str, None] = {}

    def _row(self, kind: str, cells: Iterable[str]) -> Html:
        formatted = []
        for column, cell in enumerate(cells):
            is_name = column == 0 and kind == "td"
            scope = {"scope": "row"} if is_name else {"scope": "col"} if kind == "th" else {}
            looks = (
                "text" if column < self._texts else "number named" if "<bdi" in cell else "number"
            )
            label = {"data_label": self._labels[column]} if kind == "td" and column else {}
            formatted.append(tag("th" if is_name else kind, cell, class_=looks, **scope, **label))
        return tag("tr", *formatted)

    def name(self, text: str) -> Html:
        """Formats a name, whatever the direction of its script."""
        return isolated_name(text)

    def add(self, *cells: str) -> None:
        """Adds a row."""
        self._body.append(self._row("td", cells))

    def share(self, row: Mapping[str, Any], name: str, *, best: float | None = None) -> Html:
        """Formats a share in percent, strong if it is the best; if undefined, the reason is kept
        for the notes.
        """
        value = row[name]
        if value is None:
            reasons = row.get("undefined", {})
            return self.because(reasons if isinstance(reasons, str) else reasons.get(name, ""))
        return tag("strong", percent(value)) if value == best else escape(percent(value))

    def because(self, reason: str) -> Html:
        """Returns an undefined cell."""
        if reason:
            self._reasons[reason] = None
        return tag("abbr", UNDEFINED, title=f"undefined: {reason}" if reason else "undefined")

    def html(self, *, means: Iterable[tuple[str, str]] = (), label: str = "") -> Html:
        """Returns the table.

        Args:
            means: column (or several) and what it means, shown below.
            label: what the table holds, for readers who cannot see it.
        """
        inner = tag("table", tag("thead", *self._head), tag("tbody", *self._body))
        # The place around a table takes the keyboard, so that one wider than the screen can be
        # moved without a mouse.
        place = tag(
            "div", inner, class_="wide", tabindex="0", role="group", aria_label=label or "table"
        )
        meanings = [join(tag("b", name), ": ", meaning) for name, meaning in means]
        below = [tag("p", join(*meanings, by=" · "), class_="means")] if meanings else []
        if self._reasons:
            below.append(
                tag("p", f"{UNDEFINED} is undefined: {'; '.join(self._reasons)}.", class_="means")
            )
        return join(tag("div", place, *below, class_="table"))


def _labels(header: Sequence[str], groups: Sequence[tuple[str, int]]) -> list[str]:
    """Returns the label of each column, with its group: shown beside the cells on a screen too
    narrow for columns.
    """
    above = [_bare(title) for title, width in groups for _ in range(width)]
    titles = [_bare(cell) for cell in header]
    return [
        f"{group} {name}".strip()
        for group, name in zip(above or [""] * len(titles), titles, strict=True)
    ]


def _bare(cell: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", cell)) if isinstance(cell, Html) else cell


def paragraphs(*texts: str) -> Html:
    """Formats each text as a paragraph; empty ones are left out."""
    return join(*(tag("p", text) for text in texts if text))


MENTION: Final = (
    ("mention", "a piece of a text that names something, such as a disease, with its type"),
    ("gold", "the mentions that people marked in these documents, taken for the truth"),
    ("predicted", "the mentions that a system found in them"),
    (
        "F1",
        "one number for how good a system is, from 0 (nothing right) to 100 (all found, nothing "
        "in error)",
    ),
)
SCORES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "TP": "true positives, predicted mentions that are right",
        "FP": "false positives, predicted mentions that are not in the gold",
        "FN": "false negatives, gold mentions that were not found",
        "P": "precision, the share of the predicted mentions that are right: TP / (TP + FP)",
        "R": "recall, the share of the gold mentions that were found: TP / (TP + FN)",
        "F1": "the harmonic mean of both: 2 TP / (2 TP + FP + FN)",
        "macro F1": "the mean of the F1 of the types, so that rare types count as much as "
        "frequent ones",
        "small numbers": "where the number above fell in 95 of 100 draws of documents "
        "(bootstrap): the narrower, the "
        "surer",
    }
)
RULES_MEAN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "strict": "the same type and the same characters; all other numbers of this page are "
        "strict",
        "start": "the same type and the same first character",
        "end": "the same type and the same last character",
        "loose": "the same type, and at least one character in common",
        "span": "the same characters, whatever the types",
        "type": "the same type, wherever they stand in the document",
    }
)
SUBSETS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "seen": (
            "seen in training",
            "the training corpus has a mention with the same words and type",
        ),
        "unseen": ("not seen in training", "it has none"),
        "outermost": ("outermost", "not inside another mention"),
        "inner": ("inside another", "all its characters belong to another mention that has more"),
        "nested": ("nested", "inside another, or with another inside"),
        "same_span": ("same span", "there is a mention of another type over the same characters"),
        "continuous": ("continuous", "of one piece"),
        "discontinuous": (
            "discontinuous",
            "of several pieces, as “left … ventricle” in “left and right ventricle”",
        ),
    }
)
CLASSES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "type": ("wrong type", "the right characters, but another type"),
        "merged": ("merged", "one prediction over several gold mentions of its type"),
        "split": ("split", "several predictions inside one gold mention of their type"),
        "boundary-left": (
            "wrong left boundary",
            "the right type, but it begins too early or too late",
        ),
        "boundary-right": (
            "wrong right boundary",
            "the right type, but it ends too early or too late",
        ),
        "boundary-both": (
            "both boundaries wrong",
            "the right type, but it begins and ends at other places",
        ),
        "boundary-inside": (
            "wrong pieces",
            "begins and ends right, but the pieces between are others",
        ),
        "boundary-and-type": (
            "wrong boundary and type",
            "touches a mention of another type at other characters",
        ),
        "spurious": ("spurious", "predicted where the gold has no mention at all"),
        "missed": ("missed", "in the gold where the system predicted nothing at all"),
    }
)
RATES: Final = (
    ("errors", "FP and FN together"),
    ("type errors", "FP with the characters of a gold mention of another type"),
    ("TE-Rate", "their share of the errors"),
    ("boundary errors", "other FP that touch a gold mention"),
    ("BE-Rate", "their share of the errors"),
    ("BE-Rate, same type", "if only gold mentions of the same type count"),
)
CALIBRATION: Final = (
    ("scores", "predicted mentions, each with its score from 0 to 1"),
    (
        "calibration error",
        "mean distance between how sure a score is and how often it is right; 0 is best",
    ),
    ("Brier score", "mean squared distance of score and truth (1 right, 0 wrong); 0 is best"),
    ("average precision", "area under the precision-recall curve; 100 is best"),
    ("temperature", "above 1: the scores are too sure of themselves; below 1: not sure enough"),
)
