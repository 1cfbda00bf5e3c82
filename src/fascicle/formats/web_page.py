"""Pages in HTML: the text that is visible to a reader of the page.

Needs the package selectolax (extra ``html``), which reads HTML as browsers do
(https://github.com/rushter/selectolax). A block (a heading, a paragraph, an item of a list, a row
of a table) is a section of the text, and an empty line stands between two blocks. Offsets are those
of this text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, BinaryIO, Final, NamedTuple

from fascicle.core.document import Document, Event
from fascicle.core.files.encodings import AUTO, bom_encoding
from fascicle.core.files.source import STDIN, Source, read_whole_text
from fascicle.core.marks import (
    FORBIDDEN,
    escape_exactly,
    mention_facts,
    read_style_sheet,
    relation_facts,
    tag,
    view_html,
)
from fascicle.errors import FormatError, UsageError, import_extra
from fascicle.formats.extraction import collapse, join_sections
from fascicle.formats.handlers import (
    EXTRACTED,
    Encode,
    FormatReader,
    FormatWriter,
    WriteOne,
    open_frame,
)
from fascicle.formats.losses import EVERYTHING, HeldFields
from fascicle.formats.report import ReadReport, WriteReport, unread_parts
from fascicle.text.raised import Level, Line, level_of

_STEP: Final = "html"
MAX_PAGE: Final = 2**24  # characters
# elements inside one another; a parser takes time with the square of it, as the standard has it
_MAX_DEPTH: Final = 10_000
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)([^<>]*)")
# Elements without content, and those that end where the next of their kind begins.
_FLAT: Final = frozenset(
    {
        *(
            "area",
            "base",
            "br",
            "col",
            "embed",
            "hr",
            "img",
            "input",
            "link",
            "meta",
            "param",
            "source",
            "track",
            "wbr",
        ),
        *(
            "a",
            "body",
            "button",
            "colgroup",
            "dd",
            "dt",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "head",
            "html",
            "li",
        ),
        *(
            "nobr",
            "optgroup",
            "option",
            "p",
            "rp",
            "rt",
            "tbody",
            "td",
            "tfoot",
            "th",
            "thead",
            "tr",
        ),
    }
)
_BETWEEN: Final = "\n\n"
_HEAD: Final = 1024  # bytes in which a page names its encoding, as the standard of HTML has it
_CHARSET: Final = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)""", re.I)
_WESTERN: Final = frozenset(
    {"iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii"}
)  # Windows-1252 for browsers
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_SUPER: Final = re.compile(r"vertical-align\s*:\s*(?:super|text-top)", re.I)
# Place in a page that a link leads to, if it is a reference or a note, perhaps one of a table. The
# name may be that of an author, with the year or a letter before it (`brown2003`, `rSmith`).
_REFERENCE: Final = re.compile(
    r"[a-z]+(?:_et_al)?[-_]?(?:19|20)\d\d[a-z]?$|[bcr](?-i:[A-Z])[a-z]+$|[bcr]_[a-z]+$"
    r"|[a-z]+\d{4,}c\d+$|(?:.*[-_.:])?(?:[^\W_]*(?:ref|cit|bib|note)|fn|(?:b[br]?|cr?|rf?)[-_.:]?\d)",
    re.I,
)
_PART: Final = re.compile(
    r"(?:fig|tab|tbl|sec|box|eq)(?![a-z]{3,}(?:19|20)\d\d[a-z]?$)"
    r"(?!.*(?:fn|note|(?:ref|bib|cite?)[-_.:]?\d))",
    re.I,
)
_PLACE_SIZE: Final = 200  # characters
# Class of a link to another part of the page, although it is a reference (`xref fig`).
_WITHIN: Final = re.compile(
    r"(?:^|[\s_-])(?:fig(?:ure)?|table|sec(?:tion)?|box|supp\w*)(?:$|[\s_-])", re.I
)
_CITING: Final = re.compile(
    r"(?:^|[\s_-])(?:reference|citation|cite|footnote|noteref|xref|bibr)s?(?:$|[\s_-])", re.I
)
_TEXT: Final = "-text"
_ROOT: Final = "html"
# Elements that are not part of the text -> their name in the event; empty: not reported.
_OUT: Final = MappingProxyType(
    {
        **dict.fromkeys(("script", "noscript", "template"), "scripts"),
        **dict.fromkeys(("style", "meta", "link", "base", "-comment", "!doctype"), ""),
        **dict.fromkeys(
            ("iframe", "object", "embed", "svg", "canvas", "audio", "video", "map"), "objects"
        ),
        **dict.fromkeys(("select", "textarea", "input", "datalist", "button"), "fields of forms"),
        **{"del": "deleted texts", "rt": "readings of characters", "rp": ""},
        **dict.fromkeys(
            ("annotation", "annotation-xml"), ""
        ),  # of MathML: the formula again, in another language
    }
)
_SEEN: Final = MappingProxyType(
    {"objects": " ", "fields of forms": " "}
)  # what separates the words beside it
# All other elements are on the line, as browsers have it: those of formulas, and those of no
# standard.
_BLOCKS: Final = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body caption center col colgroup dd details dialog dir "
        "div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header "
        "hgroup hr html legend li listing main menu nav noframes ol optgroup option p plaintext "
        "pre search section summary table tbody tfoot thead title tr ul xmp",
    )
)
_KINDS: Final = MappingProxyType(
    {
        "title": "title",
        **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
        **dict.fromkeys(("caption", "figcaption"), "caption"),
        **dict.fromkeys(
            ("nav", "header", "footer", "aside", "pre", "table"), ""
        ),  # after themselves
    }
)
_MARKS: Final = MappingProxyType({"br": "\n", "td": "\t", "th": "\t"})


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a page; its id is the name of the file.

    Args:
        source: the file. If its encoding is ``"auto"``, the page declares its encoding.
        options: none.
        report: not used.

    Raises:
        FormatError: a page that is too large, or one that Fascicle wrote for reading.
        MissingExtraError: selectolax is not installed.
    """
    text = read_whole_text(_declared(source))
    if not text:
        yield Document(id=source.name, text="")
        return
    root = _parse(text, source.path)
    blocks = _Blocks()
    blocks.walk(root)
    content, sections = join_sections(blocks.blocks, between=_BETWEEN)
    language = root.attributes.get("lang") if root is not None else None
    meta = {**EXTRACTED, **({"language": language} if language else {})}
    yield Document(
        id=source.name, text=content, sections=sections, meta=meta, events=tuple(blocks.events())
    )


def _parse(text: str, path: str) -> Any:
    """Returns the root of a page, if it is not too large and was not written by Fascicle."""
    if len(text) > MAX_PAGE:
        message = f"the page has more than {MAX_PAGE:,} characters; save its text first"
        raise FormatError(message, at=path, code="too-large")
    if _depth(text) > _MAX_DEPTH:
        message = (
            f"elements of the page are nested more than {_MAX_DEPTH:,} deep; save its text first"
        )
        raise FormatError(message, at=path, code="too-large")
    selectolax = import_extra("selectolax.lexbor", extra="html", package="selectolax")
    tree = selectolax.LexborHTMLParser(text)
    if tree.body is not None and "fascicle" in (tree.body.attributes.get("class") or "").split():
        raise FormatError(
            "the page was written by Fascicle, and holds the names of types among its texts; read "
            "the documents that it was made of",
            at=path,
        )
    return tree.root


def _depth(text: str) -> int:
    """Returns about how many elements stand inside one another; pages with few tags are not
    counted.
    """
    if text.count("<") <= _MAX_DEPTH:
        return 0
    opened, depth, deepest = Counter[str](), 0, 0
    for end, name, rest in _TAG.findall(text):
        kind = name.lower()
        if kind in _FLAT or (opened["script"] + opened["style"] and not end):
            continue
        if end and opened[kind]:
            opened[kind] -= 1
            depth -= 1
        elif not end and not (rest.endswith("/") and opened["svg"] + opened["math"]):
            opened[kind] += 1
            depth += 1
            deepest = max(deepest, depth)
    return deepest


def _declared(source: Source) -> Source:
    """Returns the source with the encoding declared in the page, unless the user or a byte order
    mark sets another.
    """
    if source.encoding != AUTO or source.path == STDIN:
        return source
    with source.open() as stream:
        head = stream.read(_HEAD)
    match = _CHARSET.search(head)
    if match is None or bom_encoding(head):
        return source
    name = match[1].decode("ascii").lower()
    try:
        return replace(source, encoding="cp1252" if name in _WESTERN else name, meter=None)
    except UsageError:
        return source  # an unknown encoding


class _Inside(NamedTuple):
    """What the content of an element is: the kind of its block, and the level of its text."""

    kind: str
    level: Level = Level.PLAIN


def _is_reference(link: str) -> bool:
    """True if a link leads to a reference or a note."""
    place = link.rpartition("#")[2][:_PLACE_SIZE] if "#" in link else ""
    return not _PART.match(place) and _REFERENCE.match(place) is not None


def _level(tag: str, attributes: Mapping[str, str | None], around: Level) -> Level:
    """Returns the level of the text in an element on the line."""
    names = " ".join(attributes.get(name) or "" for name in ("class", "role", "epub:type"))
    is_link = not _WITHIN.search(names) and (
        _is_reference(attributes.get("href") or "") or _CITING.search(names)
    )
    is_raised = (
        tag == "sup" or _SUPER.search(attributes.get("style") or "") or "superscript" in names
    )
    return level_of(is_raised=bool(is_raised), is_link=bool(is_link), around=around)


@dataclass(kw_only=True)
class _Blocks:
    """Builder that divides a page into blocks.

    Attributes:
        blocks: kind and text of each block, in the order of the page.
        left_out: what was left out, and how often.
    """

    blocks: list[tuple[str, str]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    _line: Line = field(default_factory=Line)
    _text: list[str] = field(default_factory=list)  # of the block so far

    def walk(self, root: Any) -> None:
        """Adds all elements, one after the other; works for any depth of nesting."""
        around: list[tuple[Any, _Inside]] = []
        node, inside = root, _Inside("body")
        while node is not None:
            into = self._begin(node, inside)
            if into is not None and node.child is not None:
                around.append((node, inside))
                node, inside = node.child, into
                continue
            if into is not None:
                self._finish(node, into.kind)
            while node.next is None and around:
                kind, (node, inside) = inside.kind, around.pop()
                self._finish(node, kind)
            node = node.next
        self._end("body")

    def _begin(self, node: Any, inside: _Inside) -> _Inside | None:
        """Starts a node and returns what its content is; ``None`` if it is left out."""
        tag, kind = node.tag, inside.kind
        if tag == _TEXT:
            self._line.add(node.text_content, inside.level)
            return None
        if tag is None or tag in _OUT or tag.startswith(("-", "!", "?")):
            what = _OUT.get(tag or "", "")
            self.left_out[what] += 1
            self._line.add(_SEEN.get(what))
            return None
        attributes = node.attributes
        if "hidden" in attributes or _HIDDEN.search(attributes.get("style") or ""):
            self.left_out["hidden parts"] += 1
            return None
        if tag == "img":
            self.left_out["descriptions of pictures"] += bool(attributes.get("alt"))
            self._line.add(" ")
        if tag not in _BLOCKS:
            return (
                _Inside(kind, _level(tag, attributes, inside.level))
                if attributes or tag == "sup"
                else inside
            )
        self._end(kind)
        return _Inside(_KINDS.get(tag, kind) or tag)

    def _finish(self, node: Any, kind: str) -> None:
        if mark := _MARKS.get(node.tag):
            self._add(kind)
            self._text.append(mark)
        elif node.tag in _BLOCKS:
            self._end(kind)

    def _add(self, kind: str) -> None:
        """Adds the line so far to the block; a line ends at a break and at the end of a cell."""
        text = self._line.take()
        self._text.append(text if kind == "pre" else collapse(text))

    def _end(self, kind: str) -> None:
        self._add(kind)
        text = "".join(self._text).strip("\r\n" if kind == "pre" else "\n\t")
        self._text.clear()
        if text:
            self.blocks.append((kind, text))

    def events(self) -> Iterator[Event]:
        """Yields events for the parts and marks that were left out."""
        yield from self._line.events(_STEP)
        yield from unread_parts(self.left_out, step=_STEP)


READER: Final = FormatReader(read=read, may_be_empty=True)


_LACKING: Final = {
    "sections",
    "section-attributes",
    "sentences",
    "words",
    "abbreviations",
    "meta",
    "changes",
}
_HOLDS: Final = HeldFields(
    format="HTML", fields=EVERYTHING - _LACKING - {"link-scores", "link-tiers", "nil-links"}
)
_PAGE_HEAD: Final = (
    tag("meta", charset="utf-8"),
    tag(
        "meta",
        http_equiv="Content-Security-Policy",
        content="default-src 'none'; style-src 'unsafe-inline'",
    ),
    tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
    tag("title", "Annotated texts"),
)


def _encode(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as an article of the page."""
    names = " ".join([document.id, *(mention.type for mention in document.mentions)])
    names.encode()  # a lone surrogate in a name is an error, as in every other format
    related = [relation_facts(relation, document.text) for relation in document.relations]
    facts = "".join([*map(mention_facts, document.mentions), *chain.from_iterable(related)])
    if unheld := len(FORBIDDEN.findall(document.text + names + facts)):
        report.lose("control-characters", document, count=unheld)
    name = tag("h2", tag("bdi", escape_exactly(document.id)))
    view = view_html(document.text, document.mentions, document.origins, document.relations)
    return f"{tag('article', name, view)}\n".encode()


def _into_page(stream: BinaryIO, encode: Encode) -> AbstractContextManager[WriteOne]:
    """Opens a page of articles."""
    head = tag("head", *_PAGE_HEAD, tag("style", read_style_sheet()))
    title = tag("h1", "Annotated texts")
    opened = f'<!DOCTYPE html>\n<html lang="en">{head}<body class="fascicle"><main>{title}\n'
    return open_frame(stream, encode, head=opened.encode(), tail=b"</main></body></html>\n")


WRITER: Final = FormatWriter(holds=_HOLDS, encoder=lambda _: _encode, into=_into_page)
