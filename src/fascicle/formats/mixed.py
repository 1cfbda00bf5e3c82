"""Text out of mark-up: the characters of elements without their tags, and documents of parts that are sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from fascicle.core.document import Section

_BLANKS: Final = re.compile("[ \t\r\n]+")
_KINDS: Final = (
    ("introduction", re.compile(r"introduc|background")),
    ("objective", re.compile(r"^(?:objectives?|aims?|purpose|goals?)\b")),
    ("methods", re.compile(r"method|materials|experimental procedure|experimental section|patients and|study design")),
    ("results", re.compile(r"results|findings")),
    ("discussion", re.compile(r"discussion")),
    ("conclusions", re.compile(r"conclusion|concluding|summary|interpretation")),
    ("cases", re.compile(r"^cases?\b")),
    ("abbreviations", re.compile(r"abbreviation|glossary")),
    ("supplement", re.compile(r"supplement|supporting information|additional (?:file|data)")),
    ("acknowledgements", re.compile(r"acknowledg|funding|author.{0,3} contribution|competing|conflicts? of")),
)


def collapsed(text: str) -> str:
    """The text with one blank for each run of blanks, tabs and line ends, and none at its ends."""
    return _BLANKS.sub(" ", text).strip(" ")


def characters(element: Element | None) -> str:
    """The characters of an element and of all in it; those of super- and subscripts stand in the line."""
    return "" if element is None else collapsed("".join(_all(element)))


def _all(element: Element) -> Iterator[str]:
    if local(element.tag) in ("annotation", "annotation-xml"):  # of MathML: the formula again, in another language
        return
    yield element.text or ""
    for child in element:
        yield from _all(child)
        yield child.tail or ""


def local(tag: str) -> str:
    """The name of an element without its prefix."""
    return tag.rpartition(":")[2]


def kind_of(title: str) -> str:
    """What a part of an article is, told by its title or its type; empty if they do not tell it."""
    said = title.lower().strip(" .:0123456789")
    return next((kind for kind, pattern in _KINDS if pattern.search(said)), "")


def unread_fields(parent: Element, *, opened: Collection[str], is_read: Callable[[Element], bool]) -> Iterator[str]:
    """The names of the elements with a text that a reader does not read; the outer ones where they lie in each other.

    Args:
        parent: whose children are looked at.
        opened: names of the elements whose children are looked at in their place.
        is_read: whether an element is read.
    """
    for child in parent:
        name = local(child.tag)
        if name in opened:
            yield from unread_fields(child, opened=opened, is_read=is_read)
        elif not is_read(child) and any(map(str.strip, child.itertext())):
            yield name


def put_together(parts: Iterable[tuple[str, str]], *, between: str) -> tuple[str, tuple[Section, ...]]:
    """One text of parts, and its sections.

    Args:
        parts: name and text of each; those without text are left out.
        between: what stands between two parts.
    """
    filled: Sequence[tuple[str, str]] = [(name, text) for name, text in parts if text]
    sections, start = [], 0
    for name, text in filled:
        sections.append(Section(start, start + len(text), name))
        start += len(text) + len(between)
    return between.join(text for _, text in filled), tuple(sections)
