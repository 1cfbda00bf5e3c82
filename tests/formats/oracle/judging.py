"""What a reader gave and what it said, and how both compare with the documents that a file was
made from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.core.effects import is_silent
from fascicle.core.mention import Link, Mention
from fascicle.errors import FascicleError
from fascicle.formats import ReadReport, read
from fascicle.formats.report import FailedDocuments

Spans = tuple[tuple[int, int], ...]
_OBO: Final = "http://purl.obolibrary.org/obo/"
# Texts of the oracle have "<b>" and "&amp;" on purpose. Readers that have no markup of their own
# leave them as they are and count them, with or without a fault, so that this says nothing of
# whether a file is read as it is meant.
_OF_THE_TEXT: Final = "repair markup-kept"
_UNDERSCORE: Final = re.compile("([A-Za-z]+)_([A-Za-z]?[0-9]+)")


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
    """What became of a file: its documents, what was said that a user sees without asking, and
    the error if any.
    """

    documents: list[Document] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    error: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether a user is told nothing."""
        return not self.said and not self.error


def mark(start: int, end: int, kind: str, *ids: str) -> Marked:
    """A mention of one part."""
    return Marked(spans=((start, end),), type=kind, ids=ids)


def outcome(path: Path, name: str, *, options: Any = None) -> Outcome:
    """Reads a file in the format of a name, as the commands do: bad documents are set aside."""
    found = Outcome()
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    try:
        found.documents.extend(read(path, format=name, options=options, report=report))
    except FascicleError as error:
        found.error = str(error)
    found.said.update(
        {
            f"{kind} {code}": count
            for (kind, code), count in report.events.items()
            if not is_silent(kind, code)
        }
    )
    found.said.pop(_OF_THE_TEXT, None)
    found.said.update(f"set aside: {sentence}" for sentence in report.aside.sentences)
    return found


def spelled(link: Link) -> str:
    """The concept of a link as one text, in one of the forms that mean the same."""
    bare = link.curie or link.id.removeprefix(_OBO)
    if match := _UNDERSCORE.fullmatch(bare):
        return f"{match[1]}:{match[2]}"
    return bare if ":" in bare or not link.ontology else f"{link.ontology}:{bare}"


def seen(document: Document) -> Page:
    """What a test compares of a document."""
    return Page(id=document.id, text=document.text, marks=tuple(map(_seen, document.mentions)))


def differences(
    wanted: Iterable[Page], found: Iterable[Document], *, loose: bool = False
) -> list[str]:
    """Where two corpora differ, a line for each; blanks do not count if ``loose``."""
    as_is = bare if loose else replace
    mine, its = [as_is(one) for one in wanted], [as_is(seen(one)) for one in found]
    if len(mine) != len(its):
        return [f"{len(mine)} documents were written and {len(its)} read"]
    return [line for one, other in zip(mine, its, strict=True) for line in _differences(one, other)]


def bare(page: Page) -> Page:
    """A document whose blanks do not count: each mention stands where it stands among the other
    characters.
    """
    places = [0]
    for character in page.text:
        places.append(places[-1] + (not character.isspace()))
    marks = [
        Marked(tuple((places[start], places[end]) for start, end in one.spans), one.type, one.ids)
        for one in page.marks
    ]
    return Page("".join(page.text.split()), tuple(marks), page.id)


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
        said.append(
            f"{wanted.id}: mentions {sorted(map(str, missing))} became {sorted(map(str, extra))}"
        )
    return said


def _sorted(mark: Marked) -> Marked:
    return Marked(spans=mark.spans, type=mark.type, ids=tuple(sorted(map(str.casefold, mark.ids))))
