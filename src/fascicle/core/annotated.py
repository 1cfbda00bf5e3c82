"""A document as HTML: its text with the mentions marked, and a list of them that a screen reader can follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Final
from zlib import crc32

from fascicle.core.html import Html, faithful, join, tag
from fascicle.core.marks import Mark, marked
from fascicle.core.mention import Link, Mention, identifier_of
from fascicle.core.wording import counted

_SHADES: Final = 12  # classes t0, t1, ... of the style sheet
_SEED: Final = b"929"  # the first one with which types that are common together have different colours


def colour_of(kind: str) -> str:
    """The class of a type in the style sheet: the same in every document; some types share one."""
    return f"t{crc32(_SEED + kind.encode(errors='replace')) % _SHADES}"


def html_of(text: str, mentions: Sequence[Mention], origins: Iterable[str] = ()) -> str:
    """A text with its mentions as a fragment of HTML that brings its own style and needs no script.

    The text in it is the given one, character by character, but for what no page can hold (see
    `fascicle.core.html.faithful`), with the type of each mention behind its words. A table that opens on request lists
    the mentions with their offsets, scores, sources, links and attributes; below it stands where links are from.
    """
    return tag("style", style()) + tag("div", shown(text, mentions, origins), class_="fascicle")


@cache
def style() -> Html:
    """The style sheet of `shown`, for what lies inside an element of the class ``fascicle``."""
    return Html(resources.files("fascicle.core").joinpath("annotated.css").read_text(encoding="utf-8"))


def shown(text: str, mentions: Sequence[Mention], origins: Iterable[str] = ()) -> Html:
    """A marked text, the table of its mentions, and where their links are from, without a style."""
    if not text:
        return tag("p", "The text is empty.", class_="none")
    marks = [
        Mark(spans=m.spans, type=m.type, colour=colour_of(m.type), identifier=_identifier(m), name=_name(m))
        for m in mentions
    ]
    # The language is not known, and the direction is that of each paragraph.
    page = tag("div", marked(text, marks, written=faithful), lang="", dir="auto")
    below = (tag("p", _isolated(origin), class_="origin") for origin in origins)
    return join(page, _table(text, mentions), *below) if mentions else page


def _table(text: str, mentions: Sequence[Mention]) -> Html:
    cells = {"Mention": [mention.text_in(text) for mention in mentions]}
    cells |= {title: [made(mention) for mention in mentions] for title, made in _COLUMNS}
    kept = {title: column for title, column in cells.items() if any(column)}
    head = tag("tr", *(tag("th", title, scope="col") for title in kept))
    rows = [tag("tr", *(tag("td", _isolated(cell)) for cell in row)) for row in zip(*kept.values(), strict=True)]
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    # The keyboard moves a table that is wider than the screen.
    place = tag("div", table, class_="wide", tabindex="0", role="region", aria_label="mentions")
    return tag("details", tag("summary", counted(len(mentions), "mention")), place)


def _isolated(cell: str) -> Html:
    return tag("bdi", faithful(cell)) if cell else Html("")


def _offsets(mention: Mention) -> str:
    return ", ".join(f"{start}–{end}" for start, end in mention.spans)


def _links(links: Iterable[Link]) -> str:
    return ", ".join(f"{identifier_of(link)} {link.name}".rstrip() for link in links)


def _identifier(mention: Mention) -> str:
    return ", ".join(identifier_of(link) for link in mention.links if not link.nil)


def _name(mention: Mention) -> str:
    return ", ".join(link.name for link in mention.links if link.name)


def _attributes(mention: Mention) -> str:
    return ", ".join(f"{name} = {value}" for name, value in mention.attributes)


_COLUMNS: Final[tuple[tuple[str, Callable[[Mention], str]], ...]] = (
    ("Type", lambda mention: mention.type),
    ("Characters", _offsets),
    ("Score", lambda mention: "" if mention.score is None else repr(mention.score)),
    ("Source", lambda mention: mention.source),
    ("Links", lambda mention: _links(mention.links)),
    ("Attributes", _attributes),
)
