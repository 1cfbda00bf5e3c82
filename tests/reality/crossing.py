"""Documents that cross between Fascicle and a real library, and what must be the same on both
sides.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from tests.formats.oracle.drafts import Draft, Taste, drafts
from tests.formats.oracle.format import Files, Oracle
from tests.formats.oracle.hand import Hand

from fascicle.core.document import Document, Mention, Section

COUNT = int(os.environ.get("FASCICLE_REALITY_FILES", "300"))
Marks = frozenset[tuple[int, int, str]]
Seen = tuple[str, Marks]  # a text, and where which mentions are in it


def files(oracle: Oracle, folder: Path) -> Iterator[tuple[list[Draft], Path]]:
    """The documents of `COUNT` valid files of an oracle, and what is read: a file or a folder."""
    for seed in range(COUNT):
        random = Random(f"{oracle.name} {seed}")
        made = drafts(random, oracle.taste)
        written: Files = oracle.write(made, Hand("", random))
        place = folder / str(seed)
        for name, content in written.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        yield made, place / oracle.path


def made(taste: Taste, *, name: str) -> Iterator[tuple[int, list[Draft]]]:
    """`COUNT` times the documents of a file, with their numbers."""
    for seed in range(COUNT):
        yield seed, drafts(Random(f"{name} {seed}"), taste)


def text_of(draft: Draft, join: str) -> str:
    """The text of a draft."""
    return join.join(draft.parts)


def marks_of(draft: Draft, join: str) -> Marks:
    """The mentions of a draft, each from its first to its last character."""
    bases = draft.bases(join)
    spans = [(draft.spans(one, base=bases[one.part]), one.type) for one in draft.marks]
    return frozenset((found[0][0], found[-1][1], kind) for found, kind in spans)


def seen(document: Document) -> Seen:
    """What Fascicle reads."""
    return document.text, frozenset((one.start, one.end, one.type) for one in document.mentions)


def all_seen(documents: Iterable[Document]) -> list[Seen]:
    """What Fascicle reads of a file."""
    return list(map(seen, documents))


def document(
    draft: Draft, join: str, *, names: tuple[str, ...] = ("title", "abstract")
) -> Document:
    """A draft as a document of ours, with a section for each part."""
    bases = draft.bases(join)
    mentions = tuple(
        Mention(tuple(draft.spans(one, base=bases[one.part])), one.type) for one in draft.marks
    )
    sections = tuple(
        Section(base, base + len(part), name)
        for base, part, name in zip(bases, draft.parts, names, strict=False)
        if part
    )
    return Document(id=draft.id, text=text_of(draft, join), mentions=mentions, sections=sections)


def tags(draft: Draft) -> list[str]:
    """The words of a draft in IOB2."""
    found = ["O"] * len(draft.words[0])
    for one in draft.marks:
        found[one.first : one.last + 1] = [
            f"B-{one.type}",
            *[f"I-{one.type}"] * (one.last - one.first),
        ]
    return found
