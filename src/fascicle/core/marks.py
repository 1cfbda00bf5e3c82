"""HTML of a text with its mentions underlined: nested lines below the words, and the type after
each mention.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Final
from zlib import crc32

from fascicle.core.mention import AMBIGUOUS, Fragments, Mention, Relation, Span, display_identifier
from fascicle.core.wording import plural

# Characters that HTML cannot hold (controls, lone surrogates), and those that change the direction
# of the text around.
FORBIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_LONGEST: Final = 160  # characters of a name
_VOID: Final = frozenset({"br", "meta", "input"})
_PICTURES: Final = 0x2400  # of control characters: U+2401 is the picture of U+0001
_SPACE, _DELETE, _UNKNOWN = 0x20, 0x7F, "\ufffd"


class Html(str):
    """HTML that can be put into a page as it is; any other string is text."""

    __slots__ = ()


def escape_controls(value: str) -> str:
    """Replaces characters that a page or terminal cannot or must not show by their codes."""
    return FORBIDDEN.sub(_code, _TURNING.sub(_code, value))


def escape(value: str) -> Html:
    """Escapes text from users or files for HTML."""
    return Html(html.escape(escape_controls(value)))


def escape_exactly(value: str, *, forbidden: re.Pattern[str] = FORBIDDEN) -> Html:
    """Escapes text for HTML so that a browser returns each of its characters at its position.

    A character that HTML cannot hold is shown as another single character: the picture of a control
    character (``␀``), or U+FFFD where Unicode has none.

    Args:
        value: the text.
        forbidden: characters that the page, or other markup, cannot hold.
    """
    return Html(
        html.escape(forbidden.sub(lambda match: picture_of(match[0]), value)).replace("\r", "&#13;")
    )


def picture_of(sign: str) -> str:
    """Returns the symbol for a control character; U+FFFD for one without a symbol."""
    code = ord(sign)
    return "␡" if code == _DELETE else chr(_PICTURES + code) if code < _SPACE else _UNKNOWN


def _code(match: re.Match[str]) -> str:
    return f"[U+{ord(match[0]):04X}]"


def tag(name: str, /, *children: str, **attributes: str | bool | int) -> Html:
    """Returns an HTML element.

    Args:
        name: name of the element.
        children: text, which is escaped, or `Html`.
        attributes: attributes by name; ``class_`` and ``data_x`` are written as ``class`` and
            ``data-x``; ``True`` is an attribute without a value, ``False`` leaves it out.
    """
    parts = [name]
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(attribute)
        elif value is not False:
            parts.append(f'{attribute}="{escape(str(value))}"')
    opened = f"<{' '.join(parts)}>"
    return Html(opened if name in _VOID else f"{opened}{join(*children)}</{name}>")


def join(*children: str, by: str = "") -> Html:
    """Joins children; those that are no `Html` are escaped."""
    return Html(by.join(child if isinstance(child, Html) else escape(child) for child in children))


def shorten_name(value: str) -> str:
    """Shortens a name to at most 160 characters."""
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"


def isolated_name(value: str) -> Html:
    """Returns a word or name as an element of isolated text direction; a shortened one has its
    full form as title.
    """
    short = shorten_name(value)
    return tag("bdi", short) if short == value else tag("bdi", short, title=value)


_RIGHT: Final = "✓"
_WRONG: Final = "✗"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A mention to mark in the text.

    Attributes:
        spans: ranges of characters in the text; parts outside the text are cut off.
        type: entity type of the mention.
        right: true if the other side of a comparison has the same mention; ``None`` if unknown.
        focus: ``"mention"`` for the mention that the text is shown for, ``"partner"`` for its
            counterpart on the other side; else empty.
        colour: class of its colour in the style sheet; empty for none.
        identifier: identifier of the linked concept; empty without a link.
        name: name of the linked concept, which is shown when the pointer is over the type.
    """

    spans: Fragments
    type: str
    right: bool | None = None
    focus: str = ""
    colour: str = ""
    identifier: str = ""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class _Placed:
    """A mark with its fragments inside the text, and the number of lines between its own line
    and the text.
    """

    mark: Mark
    spans: tuple[Span, ...]
    lane: int = 0
    number: int  # number among the discontinuous mentions, from 1; 0 for others

    @property
    def hull(self) -> Span:
        return self.spans[0][0], self.spans[-1][1]


def mark_mentions(
    text: str, marks: Sequence[Mark], *, escape_text: Callable[[str], Html] = escape
) -> Html:
    """Returns HTML of a text with its mentions marked.

    A mention has a line below its words; the line of a nested mention is nearer to the text. The
    fragments of a discontinuous mention have a dotted line between them, and tags that number the
    mention and its parts.

    Args:
        text: the text.
        marks: the mentions, in any order.
        escape_text: function that turns a part of the text into HTML.

    Returns:
        The text, whose words and their order are unchanged, with tags between them.
    """
    placed = _lanes(_inside(text, marks), len(text))
    cuts = sorted(
        {0, len(text), *(end for placement in placed for span in placement.spans for end in span)}
    )
    parts: list[Html] = []
    for (start, end), over in zip(pairwise(cuts), _over(placed, cuts), strict=True):
        parts.append(_lined(escape_text(text[start:end]), over, start))
        ending = [
            _tag(placement, end)
            for placement in over
            if any(span[1] == end for span in placement.spans)
        ]
        # The line of a mention that continues is also drawn below the tags.
        parts.append(
            _lined(join(*ending), [placement for placement in over if placement.hull[1] > end], end)
        )
    deepest = max((placement.lane for placement in placed), default=-1)
    return tag("span", *parts, class_="marked", style=f"--lanes:{deepest + 1}")


def _inside(text: str, marks: Sequence[Mark]) -> list[_Placed]:
    """Returns the marks, cut to the text, short ones first."""
    placed: list[_Placed] = []
    discontinuous = 0
    for mark in sorted(marks, key=lambda m: (m.spans[-1][1] - m.spans[0][0], m.spans, m.type)):
        spans = tuple(
            (max(a, 0), min(b, len(text))) for a, b in mark.spans if b > 0 and a < len(text)
        )
        if spans:
            discontinuous += len(mark.spans) > 1
            number = discontinuous if len(mark.spans) > 1 else 0
            placed.append(_Placed(mark=mark, spans=spans, number=number))
    return placed


def _lanes(without_lanes: Sequence[_Placed], length: int) -> list[_Placed]:
    """Assigns lines: short mentions next to the text, longer ones that overlap them below."""
    placed, deep = [], [0] * length  # for each character, the number of lines below it
    for placement in without_lanes:
        low, high = placement.hull
        lane = max(deep[low:high])
        deep[low:high] = [lane + 1] * (high - low)
        placed.append(replace(placement, lane=lane))
    return placed


def _over(placed: Sequence[_Placed], cuts: Sequence[int]) -> Iterator[list[_Placed]]:
    """Yields, for each stretch between two cuts, the mentions that cover it, in the order of the
    list.
    """
    begin: defaultdict[int, list[int]] = defaultdict(list)
    finish: defaultdict[int, list[int]] = defaultdict(list)
    for at, placement in enumerate(placed):
        begin[placement.hull[0]].append(at)
        finish[placement.hull[1]].append(at)
    reaching: set[int] = set()
    for cut in cuts[:-1]:
        reaching = (reaching - set(finish[cut])) | set(begin[cut])
        yield [placed[at] for at in sorted(reaching)]


def _lined(inner: Html, over: Sequence[_Placed], at: int) -> Html:
    """Puts the lines of some mentions below words or tags, as they are at one character."""
    if not inner:
        return inner
    for placement in over:
        inside = any(low <= at < high for low, high in placement.spans)
        names = [
            "line" if inside else "gap",
            placement.mark.focus if inside else "",
            placement.mark.colour,
        ]
        inner = tag(
            "span", inner, class_=" ".join(filter(None, names)), style=f"--lane:{placement.lane}"
        )
    return inner


def _tag(placement: _Placed, end: int) -> Html:
    """Returns the label after a fragment: type, right or wrong, and the number of the mention
    and of its part.
    """
    mark = placement.mark
    sign = "" if mark.right is None else f"\u00a0{_RIGHT if mark.right else _WRONG}"
    part = ""
    if placement.number:
        at = next(i for i, span in enumerate(mark.spans, start=1) if span[1] >= end)
        part = f" #{placement.number}, part {at} of {len(mark.spans)}"
    linked = (
        join(" ", tag("span", isolated_name(mark.identifier), class_="id"))
        if mark.identifier
        else ""
    )
    description = join(isolated_name(mark.type), linked, part, sign)
    classes = " ".join(filter(None, ("tag", mark.focus, mark.colour)))
    return tag("span", description, class_=classes, title=mark.name or False)


_SHADES: Final = 12  # classes t0, t1, ... of the style sheet
# the first seed with which common combinations of types have different colours
_SEED: Final = b"929"


def colour_class(kind: str) -> str:
    """Returns the style sheet class of a type: the same in every document; some types share one."""
    return f"t{crc32(_SEED + kind.encode(errors='replace')) % _SHADES}"


def html_fragment(
    text: str,
    mentions: Sequence[Mention],
    origins: Iterable[str] = (),
    relations: Sequence[Relation] = (),
) -> str:
    """Returns a text with its mentions as a fragment of HTML that includes its style and needs no
    script.

    The text in it is the given one, character by character, except characters that HTML cannot hold
    (see `escape_exactly`), with the type of each mention after its words. Tables that open on
    request list the mentions with their offsets, scores, sources, links and attributes, and the
    relations; the origins of the links are listed below them.
    """
    return tag("style", read_style_sheet()) + tag(
        "div", view_html(text, mentions, origins, relations), class_="fascicle"
    )


@cache
def read_style_sheet() -> Html:
    """Reads the style sheet of `shown`, for content of an element of the class ``fascicle``."""
    return Html(
        resources.files("fascicle.core").joinpath("annotated.css").read_text(encoding="utf-8")
    )


def view_html(
    text: str,
    mentions: Sequence[Mention],
    origins: Iterable[str] = (),
    relations: Sequence[Relation] = (),
) -> Html:
    """Returns HTML of a marked text, the tables of its mentions and relations, and the origins of
    their links, without a style.
    """
    if not text:
        return tag("p", "The text is empty.", class_="none")
    marks = [
        Mark(
            spans=m.spans,
            type=m.type,
            colour=colour_class(m.type),
            identifier=_identifier(m),
            name=_name(m),
        )
        for m in mentions
    ]
    # The language is unknown; the direction is determined for each paragraph.
    page = tag("div", mark_mentions(text, marks, escape_text=escape_exactly), lang="", dir="auto")
    shown = origins if mentions else ()
    below = (tag("p", _isolated(origin), class_="origin") for origin in shown)
    cells = {"Mention": [mention.text_in(text) for mention in mentions]}
    cells |= {title: [make(mention) for mention in mentions] for title, make in _COLUMNS}
    related = _table("relation", _relation_cells(text, relations))
    return join(page, _table("mention", cells), related, *below)


def _relation_cells(text: str, relations: Sequence[Relation]) -> dict[str, Sequence[str]]:
    rows = [relation_facts(relation, text) for relation in relations]
    return dict(zip(_OF_RELATION, zip(*rows, strict=True), strict=False))


def relation_facts(relation: Relation, text: str) -> tuple[str, str, str]:
    """Returns the cells of a relation in a text: its type, its mentions and its attributes."""
    ends = []
    for role, (_, kind, spans) in relation.arguments:
        mention = Mention(spans, kind)
        name = f"{role}: " if role else ""
        ends.append(f"{name}{mention.text_in(text)} ({mention.start}–{mention.end})")
    return relation.type, ", ".join(ends), _equations(relation.attributes)


def _table(noun: str, cells: Mapping[str, Sequence[str]]) -> Html:
    """Returns the table of mentions or relations; empty if there are none."""
    columns = {title: column for title, column in cells.items() if any(column)}
    if not columns:
        return Html("")
    number = len(next(iter(columns.values())))
    head = tag("tr", *(tag("th", title, scope="col") for title in columns))
    rows = [
        tag("tr", *(tag("td", _isolated(cell)) for cell in row))
        for row in zip(*columns.values(), strict=True)
    ]
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    # So that a table wider than the screen can be scrolled by keyboard.
    place = tag("div", table, class_="wide", tabindex="0", role="group", aria_label=f"{noun}s")
    return tag("details", tag("summary", plural(number, noun)), place)


def mention_facts(mention: Mention) -> str:
    """Returns the text of the cells of a mention behind its type."""
    return " ".join(make(mention) for _, make in _COLUMNS[1:])


def _equations(attributes: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in attributes)


def _isolated(cell: str) -> Html:
    return tag("bdi", escape_exactly(cell)) if cell else Html("")


def _identifier(mention: Mention) -> str:
    return _between(mention).join(
        display_identifier(link) for link in mention.links if not link.nil
    )


def _name(mention: Mention) -> str:
    return _between(mention).join(link.name for link in mention.links if link.name)


def _between(mention: Mention) -> str:
    return " or " if any(link.tier == AMBIGUOUS for link in mention.links) else ", "


_COLUMNS: Final[tuple[tuple[str, Callable[[Mention], str]], ...]] = (
    ("Type", lambda mention: mention.type),
    ("Characters", lambda mention: ", ".join(f"{start}–{end}" for start, end in mention.spans)),
    ("Score", lambda mention: "" if mention.score is None else repr(mention.score)),
    ("Source", lambda mention: mention.source),
    (
        "Links",
        lambda mention: ", ".join(
            f"{display_identifier(link)} {link.name}".rstrip()
            for link in mention.links
            if not link.nil
        ),
    ),
    ("Attributes", lambda mention: _equations(mention.attributes)),
)
_OF_RELATION: Final = ("Relation", "Mentions", "Attributes")
