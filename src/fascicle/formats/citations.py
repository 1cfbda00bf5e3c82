"""Citations in lines with tags, as PubMed and reference managers export them, and the "Abstract"
text of PubMed.

The text of a document is the title and the abstract, with a line end between two parts, as in
`fascicle.formats.medline`. The tags are in `fascicle.formats.citation_tags`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

import msgspec

from fascicle.core.document import Document, Event
from fascicle.core.files.source import Line, Source, read_lines_or_errors
from fascicle.core.wording import plural, shorten
from fascicle.errors import FormatError, Place
from fascicle.formats.citation_tags import NBIB, ONCE, RIS_TYPE, Tags, tags_at
from fascicle.formats.extraction import Part, collapse, field_note, join_sections, part_kind
from fascicle.formats.handlers import FormatReader
from fascicle.formats.inline import read_markup
from fascicle.formats.report import ReadReport
from fascicle.text import raised

_STEP: Final = "citations"
_Fields = dict[str, list[str]]


_FIRST_FORM: Final = (
    "a citation begins with PMID- or PMC - in a file .nbib, with TY  - in a file .ris, with PT in "
    "a file of Web of Science and with %0 in a file .enw"
)
_HEAD: Final = 1000  # lines before the first citation; Ovid, JSTOR and Scopus write some
_DOI: Final = re.compile(r"\b10\.\d{4,}/\S+")
_YEAR: Final = re.compile(r"\d{4}")
_NUMBERED: Final = re.compile(r"(\d+)\. \S")
_LABEL: Final = re.compile(r"([A-Z][A-Z ,/&()'-]{2,80}): ")
_CAPITALS: Final = "".join(filter(str.isupper, map(chr, range(0x600))))
# Surnames may begin with small words (`van der Berg AB`), but only sentences have these in them.
_OF_SENTENCES: Final = "was|were|is|are|and|or|of|with|for|the|on|by|from|to|in(?! d)|an(?! d)|not"
_LETTER: Final = r"[^\s\d.,;:]"
_NAME: Final = (
    rf"(?:St\. )?(?:(?!(?:{_OF_SENTENCES})\b){_LETTER}{{1,40}} ){{0,8}}?"
    rf"{_LETTER}{{0,40}}?[{_CAPITALS}]{_LETTER}{{0,40}} "
    rf"[{_CAPITALS}-]{{1,5}}(?!\w)(?: (?:Jr|Sr|1st|2nd|3rd|\dth))?(?:\((?:\d+|#)\))*"
)
_OF_GROUPS: Final = (
    r"Collaborat\w+|Group|Consorti\w+|Investigators?|Network|Committee|Initiative|Team|Society|"
    "Trialists"
)
_WORD: Final = rf"(?:[{_CAPITALS}\d(][^\s.,;:]*|and|of|the|for|in|on|to|with|de|et)"
_GROUP: Final = rf"(?:{_WORD} ){{1,20}}(?:{_OF_GROUPS})(?:\(\d+\))*"
_ALONE: Final = rf"[{_CAPITALS}][^\W\d_]{{1,30}}(?:\(\d+\))*"
_LEADING: Final = rf"(?:{_WORD} ){{0,20}}(?:{_WORD}|(?i:{_OF_GROUPS}|trial|study)); "
_AUTHORS: Final = re.compile(
    rf"(?:{_LEADING})?(?:{_ALONE}, )*(?:{_NAME}|{_GROUP})"
    rf"(?:, (?:{_NAME}|{_GROUP}|{_ALONE}))*+(?:, et al|; [^.;]+)*\.?"
)
_NO_AUTHORS: Final = "[No authors listed]"
_INFORMATION: Final = "Author information:"
# Parts of the text of PubMed that are neither title nor abstract.
_OTHER: Final = re.compile(
    r"\[Article in |Author information:|Collaborators?:|Comment (?:in|on)\b|(?:Erratum|Update"
    r"|Republished|Retraction|"
    r"Expression of concern|Corrected and republished|Summary for patients|Reprint) (?:in|of"
    r"|from|for)\b|Copyright\b|"
    r"\(c\) |©|Published by |Conflict of interest statement:|DOI:|PMCID:|PMID:"
)
_IDS: Final = re.compile(r"^(DOI|PMCID|PMID): *(\S+)", re.M)
_DASHES: Final = re.compile(r"(?<=\w)-\n(?!(?:and|or|to)\b)")


def looks_like_citations(lines: Sequence[str]) -> bool:
    """True if the lines at the beginning of a file are those of a citation; of the text of PubMed,
    with its PMID.

    RIS may begin with other lines, as Ovid, JSTOR and Scopus write it.
    """
    filled = [line for line in lines if line.strip()]
    if not filled or tags_at(filled[0]) or any(map(RIS_TYPE.fullmatch, filled)):
        return bool(filled)
    return filled[0].startswith("1. ") and any(line.startswith("PMID: ") for line in filled)


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the citations of a file.

    The id is the PMID, else that of PMC, else the DOI; in RIS the accession number, else the DOI,
    else the number of the reference.

    Args:
        source: the file.
        options: none.
        report: a citation that cannot be read is set aside.

    Raises:
        FormatError: a file without citations, or a citation of PubMed without an id.
    """
    numbered = read_lines_or_errors(source)
    begun = next(
        ((number, line) for number, line in numbered if not isinstance(line, str) or line.strip()),
        None,
    )
    if begun is None:
        return
    head, tags = _head(chain((begun,), numbered))
    lines = chain(head, numbered)
    if tags is None and isinstance(begun[1], str) and not _NUMBERED.match(begun[1]):
        raise FormatError(
            f"the file holds no citation; {_FIRST_FORM}", at=Place(source.path, begun[0])
        )
    citations = _of_text(source, lines) if tags is None else _of_tags(source, lines, tags)
    for number, document in enumerate(citations, 1):
        with report.aside.one():
            if isinstance(document, FormatError):
                raise document
            yield (
                document
                if document.id
                else msgspec.structs.replace(document, id=f"{source.name}:{number}")
            )


def _head(lines: Iterable[tuple[int, Line]]) -> tuple[list[tuple[int, Line]], Tags | None]:
    """Returns the lines up to the first citation, and its tags; no tags if no line is one of
    them.
    """
    head = []
    for number, line in islice(lines, _HEAD):
        head.append((number, line))
        if isinstance(line, str) and (tags := tags_at(line)):
            return head, tags
    return head, None


class _Outside:
    """Counts the lines that belong to no citation."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def add(self, number: int, line: str) -> None:
        """Counts a line, unless it is empty."""
        if line.strip():
            self.count += 1
            self.first = self.first or f"the first is line {number}, {shorten(line.strip())!r}"

    def note(self) -> tuple[Event, ...]:
        """Returns the event that names their number; none without such lines."""
        message = f"{plural(self.count, 'line')} between the citations left out; {self.first}"
        event = Event(step=_STEP, kind="note", code="lines-left-out", message=message)
        return (event,) if self.count else ()


def _of_tags(
    source: Source, lines: Iterable[tuple[int, Line]], tags: Tags
) -> Iterator[Document | FormatError]:
    """Yields the citations of lines with tags; the last one has the event about lines that
    belong to none.
    """
    outside, last = _Outside(), None
    for citation in _split(source, lines, tags, outside):
        document = (
            citation if isinstance(citation, FormatError) else _make_document(*citation, tags)
        )
        if last is not None:
            yield last
        last = document if isinstance(document, Document) else None
        if isinstance(document, FormatError):
            yield document
    if last is not None:
        yield last.with_events(*outside.note())


def _split(
    source: Source, lines: Iterable[tuple[int, Line]], tags: Tags, outside: _Outside
) -> Iterator[tuple[Place, _Fields] | FormatError]:
    """Yields the fields of each citation, with its place.

    RIS has its citations between TY and ER (https://en.wikipedia.org/wiki/RIS_(file_format)), and
    Web of Science between PT and ER; in .enw each begins with %0. In .nbib an empty line ends a
    citation, and so does a second PMID or PMC; PMC writes its own id before the PMID.
    """
    place, fields, tag = Place(source.path, 1), _Fields(), ""
    for number, line in lines:
        if isinstance(line, FormatError):
            yield line
            continue
        match = _match_tag(line, tags, is_open=bool(fields))
        begins = match and _begins(match[1], fields, tags)
        ends = _ends(line, match, tags)
        if fields and (begins or ends):
            yield place, fields
            fields = {}
        if ends:
            continue
        if begins:
            place = Place(source.path, number)
        if match and (begins or fields):
            tag = match[1]
            fields.setdefault(tag, []).append(match[2] or "")
        elif fields and line.strip():
            _go_on(fields[tag], line.strip(), is_list=tag == tags.listed)
        elif not (match and match[1] in tags.frame):
            outside.add(number, line)
    if fields:
        yield place, fields


def _match_tag(line: str, tags: Tags, *, is_open: bool) -> re.Match[str] | None:
    match = tags.line.fullmatch(line)
    is_end = match and match[1] == tags.last
    # An end has no value: with one, it is a line of a text, as of a receptor.
    return None if match and is_end and is_open and (match[2] or "").strip() else match


def _ends(line: str, match: re.Match[str] | None, tags: Tags) -> bool:
    if not tags.begin:
        return not line.strip()
    return match is not None and match[1] == tags.last


def _begins(tag: str, fields: _Fields, tags: Tags) -> bool:
    """True if a tag begins a citation; ``fields`` are those of the citation before, if that has
    not ended.
    """
    return tag == tags.begin if tags.begin else not fields or (tag in ONCE and tag in fields)


def _go_on(values: list[str], line: str, *, is_list: bool) -> None:
    """Adds a line without a tag to the values of the tag before it."""
    if is_list:
        values.append(line)
    else:
        values[-1] += f" {line}"


class _Values:
    """Values of the fields of a citation, and the tags that were read."""

    def __init__(self, fields: _Fields, tags: Tags) -> None:
        self._fields, self._tags = fields, tags
        self._read: set[str] = set()

    def get(self, names: Iterable[str], kind: str = "") -> str:
        """Returns the value of the first tag that has one, see `fact_text`; empty if none has."""
        for name in names:
            own_kind = "doi" if name in self._tags.meta["doi"] else kind
            if name in self._fields and (value := fact_text(own_kind, self._fields[name])):
                self._read.add(name)
                return value
        return ""

    def unread(self) -> list[str]:
        """Returns the other tags whose values are not those of a tag that was read."""
        values = {collapse(value) for name in self._read for value in self._fields[name]} | {""}
        return [
            name
            for name in sorted(self._fields.keys() - self._read)
            if not values.issuperset(map(collapse, self._fields[name]))
        ]


def _make_document(place: Place, fields: _Fields, tags: Tags) -> Document | FormatError:
    """Returns the document of the fields of a citation, or the error."""
    values, line = _Values(fields, tags), raised.Line()
    title, abstract = (
        read_markup(values.get(names, "text"), line) for names in (tags.title, tags.abstract)
    )
    identifier = values.get(tags.id, "text")
    if not identifier and tags is NBIB:
        return FormatError(
            "a citation has no PMID, no id of PMC and no DOI; fetch the file again", at=place
        )
    facts = {name: values.get(names, name) for name, names in tags.meta.items()}
    parts = [("title", title), ("abstract", abstract)]
    events = (*field_note(values.unread(), step=_STEP), *line.events(_STEP))
    return _document(identifier, parts, facts, place, between=tags.between, events=events)


def fact_text(kind: str, values: Sequence[str]) -> str:
    """Returns values as one text: a DOI, a year, running text, or several with ``|`` between
    them.
    """
    text = (" " if kind == "text" else "|").join(filter(None, map(collapse, values)))
    pattern = {"doi": _DOI, "year": _YEAR}.get(kind)
    if pattern is None:
        return text
    match = pattern.search(text)
    return match[0] if match else ""


def _document(
    identifier: str,
    parts: Iterable[tuple[str, str] | Part],
    facts: Mapping[str, str],
    place: Place,
    *,
    between: str = NBIB.between,
    events: tuple[Event, ...] = (),
) -> Document | FormatError:
    text, sections = join_sections(parts, between=between)
    meta = {name: value for name, value in facts.items() if value}
    try:
        return Document(id=identifier, text=text, sections=sections, meta=meta, events=events)
    except ValueError as error:
        return FormatError(str(error), at=place)


def _of_text(source: Source, lines: Iterable[tuple[int, Line]]) -> Iterator[Document | FormatError]:
    """Yields the citations of the text of PubMed; they are numbered, so a number in an abstract
    begins none.
    """
    place, block, expected = Place(source.path, 1), list[str](), 1
    for number, line in lines:
        if isinstance(line, FormatError):
            yield line
            continue
        match = _NUMBERED.match(line)
        is_first = match is not None and int(match[1][:9]) == expected
        if is_first and not any(block[-1:]):
            if block:
                yield _of_blocks(block, place)
            place, block, expected = Place(source.path, number), [], expected + 1
        block.append(line.rstrip())
    yield _of_blocks(block, place)


def _of_blocks(lines: Sequence[str], place: Place) -> Document | FormatError:
    citation, *blocks = [
        block.strip("\n") for block in re.split(r"\n{2,}", "\n".join(lines).strip("\n"))
    ]
    ids = {name: value for block in blocks for name, value in _IDS.findall(block)}
    if "PMID" not in ids:
        return FormatError("a citation has no PMID; fetch the file again", at=place)
    title, paragraphs, authors = _title_and_abstract(blocks)
    year = _YEAR.search(citation.partition(". ")[2])
    facts = {
        "doi": ids.get("DOI", ""),
        "pmc": ids.get("PMCID", ""),
        "year": year[0] if year else "",
    }
    parts = [
        Part("title", _unwrap(title)),
        *(part for block in paragraphs for part in _abstract_parts(block)),
    ]
    notes = field_note([f"authors ({shorten(names)!r})" for names in authors], step=_STEP)
    return _document(ids["PMID"], parts, facts, place, events=notes)


def _title_and_abstract(blocks: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str]]:
    """Returns the title, the paragraphs of the abstract, and the one that is taken for authors.

    The title stands first, whatever its words are. Then come the authors, and after them what is
    known about them; only if that stands there, it is sure who the authors are.
    """
    title, *rest = ["", *blocks] if _IDS.match(blocks[0]) else blocks
    for place, block in enumerate(rest):
        if block.startswith(_INFORMATION):
            return title, [block for block in rest[place:] if not _OTHER.match(block)], ()
    paragraphs = [block for block in rest if not _OTHER.match(block)]
    first = _unwrap(paragraphs[0]) if paragraphs else ""
    if first.removesuffix(".") == _NO_AUTHORS:
        return title, paragraphs[1:], ()
    authors = [first] if _AUTHORS.fullmatch(first) else []
    return title, paragraphs[len(authors) :], authors


def _abstract_parts(block: str) -> Iterator[Part]:
    """Yields the parts of an abstract: each begins with a line that has a label in capitals
    (``METHODS: ``).
    """
    starts = [0, *(match.start() + 1 for match in re.finditer(rf"\n(?={_LABEL.pattern})", block))]
    for start, end in zip(starts, [*starts[1:], len(block)], strict=True):
        match = _LABEL.match(block, start)
        kind = part_kind(match[1]) if match else ""
        facts = (("Label", match[1]),) if match else ()
        yield Part(f"abstract-{kind}" if kind else "abstract", _unwrap(block[start:end]), facts)


def _unwrap(block: str) -> str:
    """Returns the text of lines that were cut at blanks and after hyphens."""
    return collapse(_DASHES.sub("-", block.strip("\n")))


READER: Final = FormatReader(read=read)
