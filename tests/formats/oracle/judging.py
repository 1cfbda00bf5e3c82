"""What a reader gave and what it said, and how both compare with the documents that a file was made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.errors import FascicleError
from fascicle.formats import ReadReport, read
from fascicle.formats.report import SetAside

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Marked:
    """A mention as a test knows it.

    Attributes:
        spans: half-open ranges of code points.
        type: its type.
        ids: its concepts, ``PREFIX:local`` where the vocabulary is known.
    """

    spans: Spans
    type: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """A document as a test knows it; an ``id`` of ``None`` stands for any."""

    text: str
    marks: tuple[Marked, ...] = ()
    id: str | None = None


@dataclass
class Outcome:
    """What became of a file: its documents, what was said that a user sees without asking, and the error if any."""

    documents: list[Document] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    error: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether a user is told nothing."""
        return not self.said and not self.error


def mark(start: int, end: int, type: str, *ids: str) -> Marked:
    """A mention of one part."""
    return Marked(spans=((start, end),), type=type, ids=ids)


def outcome(path: Path, format: str, *, options: Any = None) -> Outcome:
    """Reads a file, as the commands do: bad documents are set aside."""
    found = Outcome()
    report = ReadReport(aside=SetAside(keep_going=True))
    try:
        found.documents.extend(read(path, format=format, options=options, report=report))
    except FascicleError as error:
        found.error = str(error)
    found.said.update({f"{kind} {code}": count for (kind, code), count in report.events.items() if kind != "note"})
    found.said.update({"mended tags": report.repairs} if report.repairs else {})
    found.said.update({"set aside": report.aside.count} if report.aside.count else {})
    return found


def spelled(link: Link) -> str:
    """The concept of a link as one text."""
    if link.curie or not link.ontology or ":" in link.id:
        return link.curie or link.id
    return f"{link.ontology}:{link.id}"


def seen(document: Document) -> Page:
    """What a test compares of a document."""
    return Page(id=document.id, text=document.text, marks=tuple(map(_seen, document.mentions)))


def differences(wanted: Iterable[Page], found: Iterable[Document]) -> list[str]:
    """Where two corpora differ, a line for each; empty if they are the same."""
    mine, its = list(wanted), list(map(seen, found))
    if len(mine) != len(its):
        return [f"{len(mine)} documents were written and {len(its)} read"]
    return [line for one, other in zip(mine, its, strict=True) for line in _differences(one, other)]


def _seen(mention: Mention) -> Marked:
    return Marked(spans=mention.spans, type=mention.type, ids=tuple(map(spelled, mention.links)))


def _differences(wanted: Page, found: Page) -> list[str]:
    said = []
    if wanted.id is not None and wanted.id != found.id:
        said.append(f"id {wanted.id!r} became {found.id!r}")
    if wanted.text != found.text:
        said.append(f"text {wanted.text!r} became {found.text!r}")
    missing = Counter(map(_sorted, wanted.marks)) - Counter(map(_sorted, found.marks))
    extra = Counter(map(_sorted, found.marks)) - Counter(map(_sorted, wanted.marks))
    if missing or extra:
        said.append(f"{wanted.id}: mentions {sorted(map(str, missing))} became {sorted(map(str, extra))}")
    return said


def _sorted(mark: Marked) -> Marked:
    return Marked(spans=mark.spans, type=mark.type, ids=tuple(sorted(map(str.casefold, mark.ids))))
