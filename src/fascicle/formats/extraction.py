"""Texts extracted from mark-up and from packages: the characters of elements, documents made of
sections, zips of XML.

Files of Word and Excel are such zips, opened with care and read by a package of the extra
``office``.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from fascicle.core.document import Event, Section
from fascicle.core.files.elements import refuse_entities
from fascicle.core.files.source import MAX_FILE, Source
from fascicle.errors import FascicleError, FormatError
from fascicle.text.raised import Level, Line, level_of

_STRICT: Final = re.compile(rb"""(?<==["'])http://purl\.oclc\.org/ooxml/(\w+)/""")
_AGAIN: Final = "open it in its program, and save it again"
# Name of an error of a package -> what is wrong with the file, and what to do.
_FAULTS: Final = MappingProxyType(
    {
        "TypeNotFoundError": (
            "has a type that TypeSystem.xml beside it does not have",
            "put the TypeSystem.xml of the same export there",
        ),
    }
)
# elements that change the level of their text, or may do so
RAISING: Final = frozenset({"sup", "xref", "ref"})
# types of links to references and notes
_REFERENCES: Final = ("bibr", "fn", "table-fn", "foot", "note")
_KINDS: Final = (
    ("introduction", re.compile(r"introduc|background")),
    ("objective", re.compile(r"^(?:objectives?|aims?|purpose|goals?)\b")),
    (
        "methods",
        re.compile(
            r"method|materials|experimental procedure|experimental section|patients and"
            r"|study design"
        ),
    ),
    ("results", re.compile(r"results|findings")),
    ("discussion", re.compile(r"discussion")),
    ("conclusions", re.compile(r"conclusion|concluding|summary|interpretation")),
    ("cases", re.compile(r"^cases?\b")),
    ("abbreviations", re.compile(r"abbreviation|glossary")),
    ("supplement", re.compile(r"supplement|supporting information|additional (?:file|data)")),
    (
        "acknowledgements",
        re.compile(r"acknowledg|funding|author.{0,3} contribution|competing|conflicts? of"),
    ),
)


def collapse(text: str) -> str:
    """Replaces each run of blanks, tabs and line ends by one blank, and removes those at both
    ends.
    """
    for blank in "\t\r\n":
        text = text.replace(blank, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text.strip(" ")


def element_text(element: Element | None) -> str:
    """Returns the characters of an element and of all in it; super- and subscripts stay in the
    line.
    """
    return "" if element is None else collapse("".join(_all(element)))


def has_text(element: Element) -> bool:
    """True if `element_text` is not empty."""
    return any(text.strip(" \t\r\n") for text in _all(element))


def _all(element: Element) -> Iterator[str]:
    # of MathML: the formula again, in another language
    if local_name(element.tag) in ("annotation", "annotation-xml"):
        return
    yield element.text or ""
    for child in element:
        yield from _all(child)
        yield child.tail or ""


def shown_text(element: Element | None, line: Line) -> str:
    """Returns the characters of an element as `element_text` does, without the marks of citations
    and notes.

    Args:
        element: any element.
        line: what builds the text and counts the marks.
    """
    if element is None:
        return ""
    if not len(element):
        return collapse(element.text or "")
    _add(element, line, Level.PLAIN)
    return collapse(line.take())


def _add(element: Element, line: Line, level: Level) -> None:
    if local_name(element.tag) in ("annotation", "annotation-xml"):
        return
    line.add(element.text, level)
    for child in element:
        _add(child, line, level_in(child, level) if child.tag in RAISING else level)
        line.add(child.tail, level)


def level_in(element: Element, around: Level) -> Level:
    """Returns the level of the text in an element of JATS, MEDLINE or TEI.

    Args:
        element: what holds the text.
        around: the level of the text around the element.
    """
    name = local_name(element.tag)
    if name not in RAISING:
        return around
    if name == "sup":
        return level_of(is_raised=True, is_link=False, around=around)
    is_reference = element.get("ref-type", element.get("type", "")) in _REFERENCES
    is_link = is_reference or around is Level.RAISED or _is_raised_alone(element)
    return level_of(is_raised=False, is_link=is_link, around=around)


def _is_raised_alone(element: Element) -> bool:
    """True if all text of an element is raised."""
    return (
        len(element) > 0
        and not (element.text or "").strip()
        and all(child.tag == "sup" for child in element)
    )


def local_name(tag: str) -> str:
    """Returns the name of an element without its namespace prefix."""
    return tag.rpartition(":")[2]


def part_kind(title: str) -> str:
    """Returns the kind of a part of an article from its title or its type; empty if it is not
    known.
    """
    heading = title.lower().strip(" .:0123456789")
    return next((kind for kind, pattern in _KINDS if pattern.search(heading)), "")


def unread_fields(
    parent: Element, *, opened: Collection[str], is_read: Callable[[Element], bool]
) -> Iterator[str]:
    """Yields the names of elements with text that a reader does not read; of nested ones only the
    outer name.

    Args:
        parent: whose children are looked at.
        opened: names of the elements whose children are looked at in their place.
        is_read: whether an element is read.
    """
    for child in parent:
        # as `local_name`, which would be called for every element
        name = child.tag.rpartition(":")[2]
        if name in opened:
            yield from unread_fields(child, opened=opened, is_read=is_read)
        elif not is_read(child) and any(map(str.strip, child.itertext())):
            yield name


def field_note(names: Sequence[str], *, step: str) -> tuple[Event, ...]:
    """Returns an event about fields of a citation that are neither in the text nor in ``meta``;
    none without fields.
    """
    message = f"these fields are not read: {', '.join(names)}"
    # Nearly every file has some, such as the authors, and no text or mention is lost.
    return (
        (Event(step=step, kind="note", code="fields-left-out", message=message),) if names else ()
    )


class Part(NamedTuple):
    """A part of a text, and the section that it becomes; ``attributes`` are those of the
    section.
    """

    name: str
    text: str
    attributes: tuple[tuple[str, str], ...] = ()


def join_sections(
    parts: Iterable[tuple[str, str] | Part], *, between: str
) -> tuple[str, tuple[Section, ...]]:
    """Joins parts to one text, and returns it with its sections.

    Args:
        parts: of the text, or name and text of each; those without text are left out.
        between: what stands between two parts.
    """
    filled = [Part(*part) for part in parts if part[1]]
    sections, start = [], 0
    for name, text, attributes in filled:
        sections.append(Section(start, start + len(text), name, attributes))
        start += len(text) + len(between)
    return between.join(part.text for part in filled), tuple(sections)


def read_all_bytes(source: Source) -> io.BytesIO:
    """Returns the bytes of a file that has to be read as a whole.

    Raises:
        InputError: the file cannot be opened.
        FormatError: it is empty, or has more than `MAX_FILE` bytes.
    """
    with source.open() as stream:
        data = stream.read(MAX_FILE + 1)
    if not data:
        raise FormatError("the file is empty; save it again", at=source.path, code="empty")
    if len(data) > MAX_FILE:
        raise FormatError(
            f"the file has more than {MAX_FILE:,} bytes; split it", at=source.path, code="too-large"
        )
    return io.BytesIO(data)


def read_zip_package(source: Source) -> io.BytesIO:
    """Returns the bytes of a zip of XML that declares no entities and unpacks to at most `MAX_FILE`
    bytes.

    Names that ECMA-376 calls strict become the usual ones, which the packages that read such files
    know.

    Raises:
        FormatError: no such zip, or one that is damaged; see also `read_all_bytes`.
    """
    content, usual = read_all_bytes(source), io.BytesIO()
    is_strict = False
    with (
        package_errors(source),
        zipfile.ZipFile(content) as package,
        zipfile.ZipFile(usual, "w") as rewritten,
    ):
        if sum(member.file_size for member in package.infolist()) > MAX_FILE:
            raise FormatError(
                f"the file unpacks to more than {MAX_FILE:,} bytes",
                at=source.path,
                code="too-large",
            )
        for name in package.namelist():
            part = package.read(name)
            refuse_entities(part, source, is_xml=name.lower().endswith((".xml", ".rels")))
            is_strict = is_strict or _STRICT.search(part) is not None
        for name in package.namelist() if is_strict else ():
            rewritten.writestr(
                name,
                _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", package.read(name)),
            )
    result = usual if is_strict else content
    result.seek(0)
    return result


@contextmanager
def package_errors(source: Source) -> Iterator[None]:
    """Returns a context for the work of a package that reads a file; what it raises becomes a
    `FormatError`.
    """
    try:
        yield
    except (FascicleError, ImportError, MemoryError):
        raise
    except Exception as error:
        what, advice = _FAULTS.get(
            type(error).__name__, ("is damaged, or protected by a password", _AGAIN)
        )
        message = f"the file {what} ({type(error).__name__}: {error}); {advice}"
        raise FormatError(message, at=source.path, code="damaged") from None
