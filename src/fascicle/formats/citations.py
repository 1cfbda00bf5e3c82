"""Citations as PubMed and reference managers export them: .nbib, .ris, and the "Abstract" text of PubMed.

The tags of .nbib are in https://www.nlm.nih.gov/bsd/mms/medlineelements.html, those of RIS in
https://en.wikipedia.org/wiki/RIS_(file_format). The text of a document is the title and the abstract, with a line end
between two parts, as in `fascicle.formats.medline`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.core.document import Document, Event
from fascicle.core.files.source import Line, Source, read_lines_or_errors
from fascicle.errors import FormatError, Place
from fascicle.formats.extraction import Part, collapse, field_note, join_sections, part_kind
from fascicle.formats.handlers import Reader
from fascicle.formats.report import ReadReport

_STEP: Final = "citations"
_Fields = dict[str, list[str]]


_LINE: Final = re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) *- ?(.*)")  # a tag and its value
_FIRST: Final = re.compile(r"(?:PMID|TY  )- ")  # of a citation
_LAST: Final = "ER"


@dataclass(frozen=True, kw_only=True)
class _Tags:
    """Tags of a kind of export; of several tags for one part the first that a citation has is read.

    Attributes:
        between: what stands between title and abstract.
        title: tags of the title.
        abstract: tags of the abstract.
        id: tags of the id.
        meta: tags of other facts.
    """

    title: tuple[str, ...]
    abstract: tuple[str, ...]
    id: tuple[str, ...]
    meta: Mapping[str, tuple[str, ...]]
    between: str = "\n"  # as in MEDLINE


_NBIB: Final = _Tags(
    title=("TI", "BTI", "TT"),
    abstract=("AB",),
    id=("PMID",),
    meta=MappingProxyType(
        {
            **{"doi": ("LID", "AID"), "pmc": ("PMC",), "journal": ("JT", "TA"), "year": ("DP",), "language": ("LA",)},
            **{"publication-types": ("PT",), "mesh-names": ("MH",), "chemical-names": ("RN",), "keywords": ("OT",)},
        }
    ),
)
_RIS: Final = _Tags(
    between="\n\n",  # many titles have no full stop: a line end alone ends no sentence
    title=("TI", "T1", "CT"),
    abstract=("AB", "N2"),
    id=("AN", "DO", "ID"),
    meta=MappingProxyType(
        {
            **{"doi": ("DO",), "journal": ("JF", "JO", "T2", "JA"), "year": ("PY", "Y1"), "language": ("LA",)},
            **{"publication-types": ("TY",), "keywords": ("KW",)},
        }
    ),
)
_DOI: Final = re.compile(r"\b10\.\d{4,}/\S+")
_YEAR: Final = re.compile(r"\d{4}")
_NUMBERED: Final = re.compile(r"(\d+)\. \S")
_LABEL: Final = re.compile(r"([A-Z][A-Z ,/&()'-]{2,80}): ")
_NAME: Final = r"[^\d.,;:]{1,60}? [A-Z-]{1,5}(?: (?:Jr|Sr|1st|2nd|3rd|\dth))?(?:\((?:\d+|#)\))*"
_AUTHORS: Final = re.compile(rf"(?:\[No authors listed\]|{_NAME}(?:, {_NAME})*(?:, et al|; [^.]+)*)\.?")
# Parts of the text of PubMed that are neither title nor abstract.
_OTHER: Final = re.compile(
    r"\[Article in |Author information:|Collaborators?:|Comment (?:in|on)\b|(?:Erratum|Update|Republished|Retraction|"
    r"Expression of concern|Corrected and republished|Summary for patients|Reprint) (?:in|of|from|for)\b|Copyright\b|"
    r"\(c\) |©|Published by |Conflict of interest statement:|DOI:|PMCID:|PMID:"
)
_IDS: Final = re.compile(r"^(DOI|PMCID|PMID): *(\S+)", re.M)
_DASHES: Final = re.compile(r"(?<=\w)-\n(?!(?:and|or|to)\b)")


def looks_like_citations(lines: Sequence[str]) -> bool:
    """True if the lines at the beginning of a file are those of a citation; of the text of PubMed, with its PMID."""
    filled = [line for line in lines if line.strip()]
    if not filled or _FIRST.match(filled[0]):
        return bool(filled)
    return filled[0].startswith("1. ") and any(line.startswith("PMID: ") for line in filled)


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the citations of a file.

    The id is the PMID; in RIS the accession number, else the DOI, else the number of the reference.

    Args:
        source: the file.
        options: none.
        report: a citation that cannot be read is set aside.

    Raises:
        FormatError: a line before the first citation, or a citation of PubMed without a PMID.
    """
    numbered = read_lines_or_errors(source)
    begun = next(((number, line) for number, line in numbered if not isinstance(line, str) or line.strip()), None)
    if begun is None:
        return
    given = chain((begun,), numbered)
    first = begun[1] if isinstance(begun[1], str) else ""
    found = _of_text(source, given) if _NUMBERED.match(first) else _of_tags(source, given, first)
    for number, document in enumerate(found, 1):
        with report.aside.one():
            if isinstance(document, FormatError):
                raise document
            yield document if document.id else msgspec.structs.replace(document, id=f"{source.name}:{number}")


def _of_tags(source: Source, lines: Iterable[tuple[int, Line]], first: str) -> Iterator[Document | FormatError]:
    tags = _RIS if first.startswith("TY") else _NBIB
    place, fields, current = Place(source.path, 1), _Fields(), ""
    for number, line in lines:
        if isinstance(line, FormatError):
            yield line
            continue
        if _FIRST.match(line):
            yield from _made(fields, tags, place)
            place, fields, current = Place(source.path, number), {}, ""
        found = _LINE.fullmatch(line)
        if found and (tags is _NBIB or len(found[1]) == 2):
            current = found[1]
            fields.setdefault(current, []).append(found[2])
        elif current and line.strip():
            fields[current][-1] += f" {line.strip()}"
        elif line.strip():
            what = "a citation begins with PMID- in a file .nbib and with TY  - in a file .ris"
            yield FormatError(f"the line belongs to no citation; {what}", at=Place(source.path, number))
        if current == _LAST:
            yield from _made(fields, tags, place)
            fields, current = {}, ""
    yield from _made(fields, tags, place)


def _made(fields: _Fields, tags: _Tags, place: Place) -> Iterator[Document | FormatError]:
    """Yields the document of the fields of a citation, or the error; nothing if there are no fields."""
    if not fields:
        return

    def of(names: Iterable[str]) -> list[str]:
        return next((fields[name] for name in names if any(fields.get(name, ()))), [])

    title, abstract = (collapse(" ".join(of(names))) for names in (tags.title, tags.abstract))
    identifier = collapse(of(tags.id)[0]) if of(tags.id) else ""
    if not identifier and tags is _NBIB:
        yield FormatError("a citation has no PMID; fetch the file again", at=place)
        return
    used = {*tags.title, *tags.abstract, *tags.id, *chain.from_iterable(tags.meta.values()), _LAST}
    facts = {name: _fact(name, of(names)) for name, names in tags.meta.items()}
    facts["doi"] = next(filter(None, (_fact("doi", fields.get(name, ())) for name in tags.meta["doi"])), "")
    note = field_note(sorted(fields.keys() - used), step=_STEP)
    parts = [("title", title), ("abstract", abstract)]
    yield _document(identifier, parts, facts, place, between=tags.between, events=note)


def _fact(name: str, values: Sequence[str]) -> str:
    joined = "|".join(map(collapse, values))
    pattern = {"doi": _DOI, "year": _YEAR}.get(name)
    if pattern is None:
        return joined
    found = pattern.search(joined)
    return found[0] if found else ""


def _document(
    identifier: str,
    parts: Iterable[tuple[str, str] | Part],
    facts: Mapping[str, str],
    place: Place,
    *,
    between: str = _NBIB.between,
    events: tuple[Event, ...] = (),
) -> Document | FormatError:
    text, sections = join_sections(parts, between=between)
    meta = {name: value for name, value in facts.items() if value}
    try:
        return Document(id=identifier, text=text, sections=sections, meta=meta, events=events)
    except ValueError as error:
        return FormatError(str(error), at=place)


def _of_text(source: Source, lines: Iterable[tuple[int, Line]]) -> Iterator[Document | FormatError]:
    """Yields the citations of the text of PubMed; they are numbered, so a number in an abstract begins none."""
    place, held, wanted = Place(source.path, 1), list[str](), 1
    for number, line in lines:
        if isinstance(line, FormatError):
            yield line
            continue
        found = _NUMBERED.match(line)
        is_first = found is not None and int(found[1][:9]) == wanted
        if is_first and not any(held[-1:]):
            if held:
                yield _of_blocks(held, place)
            place, held, wanted = Place(source.path, number), [], wanted + 1
        held.append(line.rstrip())
    yield _of_blocks(held, place)


def _of_blocks(lines: Sequence[str], place: Place) -> Document | FormatError:
    citation, *blocks = [one.strip("\n") for one in re.split(r"\n{2,}", "\n".join(lines).strip("\n"))]
    ids = {name: value for block in blocks for name, value in _IDS.findall(block)}
    if "PMID" not in ids:
        return FormatError("a citation has no PMID; fetch the file again", at=place)
    title, *others = [one for one in blocks if not _OTHER.match(one)] or [""]
    if others and _AUTHORS.fullmatch(_unwrapped(others[0])):
        del others[0]
    year = _YEAR.search(citation.partition(". ")[2])
    facts = {"doi": ids.get("DOI", ""), "pmc": ids.get("PMCID", ""), "year": year[0] if year else ""}
    parts = [Part("title", _unwrapped(title)), *(part for one in others for part in _labelled(one))]
    return _document(ids["PMID"], parts, facts, place)


def _labelled(block: str) -> Iterator[Part]:
    """Yields the parts of an abstract: each begins with a line that has a label in capitals (``METHODS: ``)."""
    starts = [0, *(found.start() + 1 for found in re.finditer(rf"\n(?={_LABEL.pattern})", block))]
    for start, end in zip(starts, [*starts[1:], len(block)], strict=True):
        found = _LABEL.match(block, start)
        kind = part_kind(found[1]) if found else ""
        facts = (("Label", found[1]),) if found else ()
        yield Part(f"abstract-{kind}" if kind else "abstract", _unwrapped(block[start:end]), facts)


def _unwrapped(block: str) -> str:
    """Returns the text of lines that were cut at blanks and after hyphens."""
    return collapse(_DASHES.sub("-", block.strip("\n")))


READER: Final = Reader(read=read)
