"""One HTML page of sections and tables that needs nothing else: no network, no other file, no
script to be read.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final

from fascicle.core.marks import Html, isolated_name, join, tag

_NOTHING: Final = Html("")


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
            tag("ol", *(part.entry() for part in self.parts)) if self.parts else _NOTHING,
        )


def render_page(title: str, top: Sequence[Html], sections: Sequence[PageSection]) -> str:
    """Returns a page of sections, with its contents, its looks and its script.

    The page refers to nothing outside itself and allows only its own script to run, whatever stands
    in the texts.

    Args:
        title: of the window.
        top: what stands above the contents.
        sections: at least one.
    """
    script = _file("page.js")
    contents = tag("ol", *(section.entry() for section in sections))
    body = tag(
        "body",
        tag("a", "To the numbers", href=f"#{sections[0].anchor}", class_="skip"),
        tag("header", *top),
        tag(
            "nav",
            tag("details", tag("summary", "Contents"), contents, open=True),
            aria_label="Contents",
            id="contents",
        ),
        tag("main", *(section.html() for section in sections)),
        tag("script", Html(script)),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Html(_file("page.css"))),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _file(name: str) -> str:
    return resources.files("fascicle.core.page").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """Returns the content policy: nothing may be loaded, and only the script of the page may
    run.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src "
        f"'sha256-{digest}'; base-uri 'none'"
    )


class PageTable:
    """Table with notes below it."""

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

    def add(self, *cells: str) -> None:
        """Adds a row."""
        self._body.append(self._row("td", cells))

    def notes(self) -> str:
        """Returns what is shown below the table and its meanings."""
        return ""

    def html(self, *, means: Iterable[tuple[str, str]] = (), label: str = "") -> Html:
        """Returns the table, or "None." if it has no rows.

        Args:
            means: column (or several) and what it means, shown below.
            label: what the table holds, for readers who cannot see it.
        """
        if not self._body:
            return tag("p", "None.", class_="nothing")
        inner = tag("table", tag("thead", *self._head), tag("tbody", *self._body))
        # The place around a table takes the keyboard, so that one wider than the screen can be
        # moved without a mouse.
        place = tag(
            "div", inner, class_="wide", tabindex="0", role="group", aria_label=label or "table"
        )
        meanings = join(*(join(tag("b", name), ": ", meaning) for name, meaning in means), by=" · ")
        below = [tag("p", note, class_="means") for note in (meanings, self.notes()) if note]
        return tag("div", place, *below, class_="table")


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
