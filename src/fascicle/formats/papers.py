"""Records of papers, one for each paper, as S2ORC, CORD-19 and OpenAlex distribute them.

They are described at https://github.com/allenai/s2orc (the older ones with ``body_text``, as in
CORD-19), https://api.semanticscholar.org/api-docs/datasets (``content``) and
https://docs.openalex.org/api-entities/works/work-object (``abstract_inverted_index``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Section
from fascicle.core.mention import PlacedSpans

BODY: Final = "body-text"  # names of the shapes
CONTENT: Final = "s2orc"
WORK: Final = "openalex"
# kinds of annotation that are parts of a text, with the names of their sections
_SECTIONS: Final = {
    "title": "title",
    "abstract": "abstract",
    "sectionheader": "heading",
    "paragraph": "paragraph",
}
_MOST: Final = 1_000_000  # words of an abstract


class _Text(msgspec.Struct, frozen=True):
    text: str


class _Metadata(msgspec.Struct, frozen=True):
    title: str | None = ""


class _Paper(msgspec.Struct, frozen=True):
    body_text: tuple[_Text, ...]
    metadata: _Metadata = _Metadata()
    abstract: tuple[_Text, ...] | str | None = ()


class _Range(msgspec.Struct, frozen=True):
    start: int
    end: int


class _Content(msgspec.Struct, frozen=True):
    text: str
    annotations: dict[str, str | None] = {}


def parts_of_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns title, abstract and paragraphs of a record with ``body_text``.

    Raises:
        ValueError: a part has another form.
    """
    paper = msgspec.convert(record, _Paper)
    abstract = paper.abstract or ""
    return {
        "title": paper.metadata.title or "",
        "abstract": abstract if isinstance(abstract, str) else [part.text for part in abstract],
        "paragraphs": [part.text for part in paper.body_text],
    }


def parts_of_work(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns title and abstract of a work of OpenAlex, whose abstract has the places of each
    word.

    Raises:
        ValueError: a part has another form.
    """
    places = msgspec.convert(record["abstract_inverted_index"], dict[str, list[int]])
    words = {at: word for word, numbers in places.items() for at in numbers}
    if len(words) > _MOST:
        raise ValueError(f"an abstract has at most {_MOST:,} words, and this one {len(words):,}")
    abstract = " ".join(words[at] for at in sorted(words))
    return {"title": record.get("title") or "", "abstract": abstract, "paragraphs": []}


PARTS: Final = MappingProxyType({BODY: parts_of_paper, WORK: parts_of_work})


def from_content(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document of a record of S2ORC with a whole text and the places of its parts.

    Raises:
        ValueError: a part has another form, or is outside of the text.
    """
    content = msgspec.convert(record["content"], _Content)
    placed, sections = PlacedSpans(()), list[Section]()
    for start, end, name in chain.from_iterable(
        _ranges(content.annotations.get(kind), name) for kind, name in _SECTIONS.items()
    ):
        if not 0 <= start <= end <= len(content.text):
            raise ValueError(
                f"the {name} {start}..{end} is not in the text of {len(content.text)} characters"
            )
        if start < end and not placed.overlapping((start, end)):
            placed.add((start, end))
            sections.append(Section(start, end, name))
    ordered = tuple(sorted(sections, key=lambda section: section.start))
    return Document(id=identifier, text=content.text, sections=ordered or None, meta=meta)


def _ranges(encoded: str | None, name: str) -> Iterator[tuple[int, int, str]]:
    """Yields the parts of one kind, which are JSON in a text."""
    for part in msgspec.json.decode(encoded, type=list[_Range]) if encoded else ():
        yield part.start, part.end, name
