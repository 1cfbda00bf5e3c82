"""PubTator: ``id|t|title``, ``id|a|abstract``, then one line for each mention, with offsets and
concept ids.

Offsets count code points from the title, with one character between title and abstract: the text of
the document is title, one blank, abstract (only the title, if the abstract is empty). bconv and
OGER write each passage as ``id|x|text``, where x is any letter; these are lines of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from fascicle.core.document import Document, Link, Mention, Relation, Section
from fascicle.core.files.source import Line, Source, is_integer, line_text, read_lines_or_errors
from fascicle.core.mention import link_text, parse_link
from fascicle.core.wording import plural, shorten
from fascicle.errors import FormatError, Place
from fascicle.formats.brat_lines import agrees
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import FormatReader, FormatWriter, check_name
from fascicle.formats.losses import count_links, held_fields
from fascicle.formats.offset_units import AUTO
from fascicle.formats.pubtator_relations import NOT_IN_LINES, NUMBER, relation_in, relation_rows
from fascicle.formats.report import ReadReport, WriteReport

_STEP: Final = "pubtator"
RAW_ID: Final = "pubtator-id"
_NAMES: Final = "pubtator-names"
_REST: Final = "pubtator-rest"  # attribute with the columns after that of names
_TITLE: Final = "title"
_SECTIONS: Final = MappingProxyType({"t": _TITLE, "a": "abstract"})
_TEXT_LINE: Final = re.compile(r"([^|\t]+)\|([a-z])\|(.*)", re.DOTALL)
_SEPARATORS: Final = re.compile(r"[|,;+]")
_ONE_ID: Final = re.compile(
    r"(?:[A-Za-z_][A-Za-z0-9_.\-]*:)?[A-Za-z]{0,8}_?[0-9][\w.\-]*(?:\(Tax:[0-9]+\))?"
)
# as NCBI writes it; other readers take a mention with an empty column for a relation
_NO_CONCEPT: Final = "-"
_SHORT: Final = 64  # characters of a column of ids that is kept
NO_ID: Final = frozenset({"", _NO_CONCEPT, "-1"})


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a PubTator file.

    Links hold the ids as in the file; a CURIE is divided into its vocabulary and the id. A
    composite id (parts joined by ``|``, ``,``, ``;`` or ``+``) becomes several links if each part
    looks like an id, so the variants of tmVar (``c|SUB|A|123|T``) stay whole; the attribute
    ``pubtator-id`` keeps the column where the links do not. Relations between concepts have no
    arguments; their columns are attributes, with the names of BioRED in BioC.

    Args:
        source: the file.
        options: none.
        report: a bad line sets its document aside, which ends before a blank line or the next
            title.

    Raises:
        FormatError: a line that is none of the four kinds, or that belongs to another document.
    """
    for block in _blocks(source):
        with report.aside.one():
            yield _document(block)


def _blocks(source: Source) -> Iterator[_Block]:
    block = _Block(path=source.path)
    for number, line in read_lines_or_errors(source):
        if isinstance(line, str) and not line.strip():
            if block.begun:
                yield block
            block = _Block(path=source.path)
            continue
        match = _TEXT_LINE.fullmatch(line) if isinstance(line, str) else None
        if match and not block.allows(match):
            match = None
        if match and block.begun and block.is_other(match):
            yield block
            block = _Block(path=source.path)
        block.take(line, match, number)
    if block.begun:
        yield block


@dataclass(kw_only=True)
class _Block:
    """Lines of one document."""

    path: str
    identifier: str = ""
    texts: list[tuple[str, str]] = field(default_factory=list)
    rows: list[tuple[int, int, list[str]]] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    first: int = 0
    error: FormatError | None = None

    @property
    def begun(self) -> bool:
        """True if there was a line, valid or not."""
        return bool(self.identifier) or self.error is not None

    def place(self, number: int) -> Place:
        """Returns the place of a line."""
        return Place(self.path, number)

    @property
    def has_passages(self) -> bool:
        """True if a line of the text is neither title nor abstract."""
        return any(kind not in _SECTIONS for kind, _ in self.texts)

    def allows(self, match: re.Match[str]) -> bool:
        """True if a line of text can stand here; passages of a document stand together."""
        return match[2] in _SECTIONS or not self.begun or self.continues(match)

    def continues(self, match: re.Match[str]) -> bool:
        """True if the passages of this document can go on with a line."""
        return not self.rows and match[1].strip() == self.identifier

    def is_other(self, match: re.Match[str]) -> bool:
        """True if a title or abstract belongs to another document."""
        if match[2] == "t" and not (self.has_passages and self.continues(match)):
            return True
        # The bad line may have been the title of the next document; its abstract alone is not a
        # document.
        return self.error is None and match[1].strip() != self.identifier

    def take(self, line: Line, match: re.Match[str] | None, number: int) -> None:
        """Adds a line; the first error is kept, and the lines after it are ignored."""
        if self.error is not None:
            return
        self.first = self.first or number
        try:
            if match:
                self.take_text(match, number)
            else:
                self.take_row(line_text(line).split("\t"), number)
        except FormatError as error:
            self.error = error

    def take_text(self, match: re.Match[str], number: int) -> None:
        identifier, kind, text = match[1].strip(), match[2], match[3]
        if not identifier:
            raise FormatError(
                f"a title or abstract without a document id; the line must be id|{kind}|text",
                at=self.place(number),
            )
        if kind in _SECTIONS and not self.has_passages and kind in dict(self.texts):
            message = (
                f"document {identifier} has two |{kind}| lines; put a blank line between documents"
            )
            raise FormatError(message, at=self.place(number))
        self.identifier = identifier
        self.texts.append((kind, text))

    def take_row(self, columns: list[str], number: int) -> None:
        if len(columns) >= 4 and self.identifier and columns[0].strip() != self.identifier:
            raise FormatError(
                f"a row of document {columns[0].strip()!r} stands among those of document "
                f"{self.identifier!r}; put it below its own title and abstract",
                at=self.place(number),
            )
        if len(columns) < 4 or not self.identifier:
            owner = f"of document {self.identifier}" if self.identifier else "before any title line"
            raise FormatError(
                f"{len(columns)} TAB-separated column(s) {owner}; allowed are id|t|title, "
                "id|a|abstract, mentions (id, start, end, text, type, concept id) and relations "
                "(id, type, id1, id2)",
                at=self.place(number),
            )
        if not NUMBER.fullmatch(columns[1]):
            self.relations.append(relation_in(columns))
            return
        if len(columns) < 5 or not all(map(is_integer, columns[1:3])) or not columns[4].strip():
            raise FormatError(
                f"a mention needs the columns id, start, end, text, type and perhaps a concept id; "
                f"found {plural(len(columns), 'column')}, start {shorten(columns[1])!r}, end "
                f"{shorten(columns[2])!r}",
                at=self.place(number),
            )
        self.rows.append((int(columns[1]), int(columns[2]), columns))


def _document(block: _Block) -> Document:
    if block.error is not None:
        raise block.error
    texts = block.texts if block.has_passages else _title_and_abstract(dict(block.texts))
    text = ("\n" if block.has_passages else " ").join(text for _, text in texts)
    # A TAB of the text is a blank in a column.
    collector = MentionCollector(
        text, step=_STEP, unit=AUTO, agrees=lambda beside, spans: agrees(beside, text, spans)
    )
    for start, end, columns in block.rows:
        links, attributes = parse_links(columns)
        collector.add(
            [(start, end)],
            columns[4].strip(),
            expected=columns[3],
            links=links,
            attributes=attributes,
        )
    return collector.document(
        block.identifier,
        at=block.place(block.first),
        sections=_sections_of(texts),
        relations=tuple(block.relations),
    )


def _title_and_abstract(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the two lines in the order of the text, without an empty abstract."""
    title, abstract = texts.get("t", ""), texts.get("a", "")
    return [("t", title), ("a", abstract)] if abstract else [("t", title)]


def _sections_of(texts: Iterable[tuple[str, str]]) -> tuple[Section, ...]:
    """Returns the sections of a document with these lines of text."""
    sections: list[Section] = []
    start = 0
    for kind, text in texts:
        if text and kind in _SECTIONS:
            sections.append(Section(start, start + len(text), _SECTIONS[kind]))
        start += len(text) + 1
    return tuple(sections)


def parse_links(columns: Sequence[str]) -> tuple[tuple[Link, ...], tuple[tuple[str, str], ...]]:
    """Returns the links and attributes in the columns of a mention."""
    raw = columns[5] if len(columns) > 5 else ""
    links, attributes = parse_ids(raw)
    if len(columns) > 6 and columns[6]:
        attributes = (*attributes, (_NAMES, columns[6]))
    if any(columns[7:]):
        attributes = (*attributes, (_REST, "\t".join(columns[7:])))
    return links, attributes


def parse_ids(raw: str) -> tuple[tuple[Link, ...], tuple[tuple[str, str], ...]]:
    """Returns the links of a column, and the column itself where they do not hold it."""
    return (_known_ids if len(raw) <= _SHORT else _parse_ids)(raw)


def _parse_ids(raw: str) -> tuple[tuple[Link, ...], tuple[tuple[str, str], ...]]:
    ids = _split_ids(raw.strip())
    is_held = raw in ("|".join(ids), _NO_CONCEPT)
    return tuple(map(_link, ids)), () if is_held else ((RAW_ID, raw),)


_known_ids = lru_cache(maxsize=2**14)(_parse_ids)  # a file names the same concepts again


def _split_ids(column: str) -> list[str]:
    """Returns the parts of a column, each once, if all of them look like ids; else the column."""
    if column in NO_ID:
        return []
    parts = [part for part in map(str.strip, _SEPARATORS.split(column)) if part not in NO_ID]
    if parts and all(map(_ONE_ID.fullmatch, parts)):
        return list(dict.fromkeys(parts))
    return [column]


def _link(identifier: str) -> Link:
    if ":" in identifier and not _SEPARATORS.search(identifier):
        return parse_link(identifier)
    return Link(id=identifier)


READER: Final = FormatReader(read=read)


_HOLDS: Final = held_fields(
    "PubTator",
    "ids text-between-words mentions nested",
    partly="sections links link-ontologies link-curies attributes relations",
)
_LINE_BREAK: Final = re.compile(r"\r\n|[\r\n]")
_NOT_IN_COLUMNS: Final = re.compile(r"[\t\r\n\0]")


def _encode(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as lines.

    The section ``title`` is the title; a document without one is all title. Line breaks and NUL in
    the text become blanks (offsets stay), which is counted; so are other sections, and links,
    attributes and relations that a line cannot hold.

    Raises:
        InputError: an id or a type that would break the lines.
    """
    identifier = check_name(document.id, what="the document id", forbidden="|")
    if count := len(_LINE_BREAK.findall(document.text)):
        report.lose("line-breaks", document, count=count)
    if count := document.text.count("\0"):
        report.lose("nul", document, count=count)

    text = NOT_IN_LINES.sub(" ", document.text)
    end = _title_end(document)
    title, abstract = text[:end], text[end + 1 :]
    bare = {Section(part.start, part.end, part.name) for part in document.sections or ()}
    if not bare <= set(_sections_of([("t", title), ("a", abstract)])):
        report.lose("sections", document)
    rows = [f"{identifier}|t|{title}", f"{identifier}|a|{abstract}"]
    rows += ["\t".join(_columns(mention, document, text, report)) for mention in document.mentions]
    rows += relation_rows(document, report)
    return ("\n".join(rows) + "\n\n").encode()


def _title_end(document: Document) -> int:
    """Returns the end of the title; the character there is not written, because readers insert a
    blank.
    """
    sections = document.sections or ()
    titles = [section.end for section in sections if section.name == _TITLE and section.start == 0]
    if not titles:
        return len(document.text)
    end, length = titles[0], len(document.text)
    return end if end < length - 1 and document.text[end] in " \r\n" else length


def _columns(mention: Mention, document: Document, text: str, report: WriteReport) -> list[str]:
    kind = check_name(mention.type, what=f"the type of a mention of document {document.id!r},")
    words = text[mention.start : mention.end].replace("\t", " ")
    columns = [document.id, str(mention.start), str(mention.end), words, kind, *_facts(mention)]
    if not (mention.links or mention.attributes):
        return columns
    links, attributes = parse_links(columns)
    count_links(mention, links, document, report)
    if count := sum(attribute not in attributes for attribute in mention.attributes):
        report.lose("attributes", document, mention, count=count)
    return columns


def _facts(mention: Mention) -> list[str]:
    """Returns the column of concept ids, and those of names and of all else, if there are any."""
    attributes = dict(mention.attributes)
    names, rest = attributes.get(_NAMES, ""), attributes.get(_REST, "")
    columns = [
        concept_column(mention) or _NO_CONCEPT,
        "" if _NOT_IN_COLUMNS.search(names) else names,
        *([] if NOT_IN_LINES.search(rest) else rest.split("\t")),
    ]
    while not columns[-1]:
        columns.pop()
    return columns


def concept_column(mention: Mention) -> str:
    """Returns the concept ids of a mention in one column: as it was read, unless the links have
    changed since.
    """
    ids = [link_text(link) for link in mention.links]
    concept = "|".join(name for name in ids if not _NOT_IN_COLUMNS.search(name))
    raw = dict(mention.attributes).get(RAW_ID, concept)
    if (
        not _NOT_IN_COLUMNS.search(raw)
        and [link_text(link) for link in parse_links(["", "", "", "", "", raw])[0]] == ids
    ):
        return raw
    return concept


WRITER: Final = FormatWriter(holds=_HOLDS, encoder=lambda _: _encode)
