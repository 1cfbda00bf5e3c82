"""Decisions as a table for people: a row for each mention, decided or open; in a project, for what
is reviewed and for each curator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.document import GOLD
from fascicle.core.mention import Mention, MentionKey, display_identifier
from fascicle.formats.context import CONTEXT, context_of
from fascicle.formats.row_tables import open_rows
from fascicle.serving.curation.decisions import ADDED, Decided, Item, key_of
from fascicle.serving.curation.versions import REVIEWED

OPEN: Final = "open"  # decision about a mention that nobody has decided about
_REVIEWED: Final = "reviewed"  # version
_SENTENCE: Final = 1_000  # characters of a sentence in a row
_TEXTS: Final = (
    *("document", "version", "mention", "type", "concept", "decision", "curator", "date", "note"),
    *("predicted", *CONTEXT, "document_note"),
)
COLUMNS: Final = MappingProxyType(
    {**dict.fromkeys(_TEXTS, str), "start": int, "end": int, "source": str, "score": float}
)


def write_decisions(
    decided: Iterable[Decided], path: str, *, overwrite: bool = False
) -> tuple[int, int]:
    """Writes all decisions, also those about documents that are not finished.

    Args:
        decided: documents with what was decided.
        path: of the table, see `fascicle.formats.row_tables.open_rows`.
        overwrite: replace an existing file.

    Returns:
        The numbers of documents and of rows.

    Raises:
        UsageError: the name is not that of a table.
        OutputError: the file exists, or the place cannot be written.
        MissingExtraError: the package for the kind of file is not installed.
    """
    documents = count = 0
    with open_rows(path, COLUMNS, overwrite=overwrite) as add:
        for document in decided:
            documents += 1
            for row in _rows(document):
                add(row)
                count += 1
    return documents, count


def _rows(decided: Decided) -> Iterator[Sequence[Any]]:
    """Yields the rows of a document; one without mentions has a row if there is a note on it."""
    notes, version = _notes(decided), decided.version
    shared = {
        "document": decided.document.id,
        "version": version or ("" if version is None else _REVIEWED),
        "document_note": notes.get("", ""),
    }
    rows = list(_mention_cells(decided, notes)) or ([{}] if shared["document_note"] else [])
    for cells in rows:
        yield [(shared | cells).get(column) for column in COLUMNS]
    for each in decided.compared:
        yield from _rows(each)


def _mention_cells(
    decided: Decided, notes: Mapping[MentionKey | str, str]
) -> Iterator[dict[str, Any]]:
    around, text = context_of(decided.document, longest=_SENTENCE), decided.document.text
    dates = {step.number: step.at for step in decided.steps}
    for item in decided.items:
        mention = item.now or item.origin
        assert mention is not None
        yield {
            "mention": mention.text_in(text),
            "type": mention.type,
            "concept": _concepts(mention),
            "start": mention.start,
            "end": mention.end,
            "date": dates.get(item.number, ""),
            "note": next(filter(None, map(notes.get, _keys(item, decided.version))), ""),
            **dict(zip(CONTEXT, around(mention), strict=True)),
            **_decision(item, text),
        }


def _decision(item: Item, text: str) -> dict[str, Any]:
    """Returns the cells on what was decided, and on what the model said."""
    origin = item.origin
    return {
        "decision": item.verdict or OPEN,
        "curator": item.who,
        "predicted": _mention_text(origin, text) if origin and item.verdict == "changed" else "",
        "source": "" if origin is None else origin.source,
        "score": None if origin is None else origin.score,
    }


def _notes(decided: Decided) -> Mapping[MentionKey | str, str]:
    """Returns the notes of a version with who wrote them: by the key of the mention, or empty for
    the document.
    """
    steps = [
        step for step in decided.steps if decided.version != REVIEWED or step.version == REVIEWED
    ]
    added = {
        key_of(edit.item): edit.after.mention.key
        for step in steps
        for edit in step.edits
        if edit.after is not None and edit.item.startswith(ADDED)
    }
    notes = {}
    for step in steps:
        if step.remark is not None and step.remark.note is not None:
            key, note = step.remark.item and key_of(step.remark.item), step.remark.note
            notes[added.get(key, key)] = f"{step.who}: {note}" if note else ""
    return notes


def _keys(item: Item, version: str | None) -> Iterator[MentionKey]:
    """Yields the keys under which notes about an item are stored; reviewers write them about the
    mentions that are gold for curators.
    """
    mentions = [mention for mention in (item.origin, item.now) if mention is not None]
    yield mentions[0].key
    if version == REVIEWED:
        yield from ((GOLD, mention.type, mention.spans) for mention in mentions)


def _concepts(mention: Mention) -> str:
    return "|".join("NIL" if link.nil else display_identifier(link) for link in mention.links)


def _mention_text(mention: Mention, text: str) -> str:
    facts = ", ".join(filter(None, (mention.type, _concepts(mention))))
    return f"{mention.text_in(text)} ({facts})"
