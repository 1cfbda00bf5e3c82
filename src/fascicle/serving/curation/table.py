"""Decisions as a table for people: a row for each mention, decided or open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.core.mention import Mention, display_identifier
from fascicle.formats.context import CONTEXT, context_of
from fascicle.formats.row_tables import open_rows
from fascicle.serving.curation.decisions import ADDED, Decided, Item

OPEN: Final = "open"  # decision about a mention that nobody has decided about
_TEXTS: Final = (
    *("document", "mention", "type", "concept", "decision", "curator", "date", "note"),
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
    document, notes = decided.document, _notes(decided)
    around = context_of(document)
    dates = {step.number: step.at for step in decided.steps}
    for item in decided.items:
        mention = item.now or item.origin
        assert mention is not None
        key = _name(mention if item.origin is None else item.origin)
        cells = {
            "document": document.id,
            "mention": mention.text_in(document.text),
            "type": mention.type,
            "concept": _concepts(mention),
            "start": mention.start,
            "end": mention.end,
            "date": dates.get(item.number, ""),
            "note": notes.get(key, ""),
            "document_note": notes.get("", ""),
            **dict(zip(CONTEXT, around(mention), strict=True)),
            **_decision(item, document.text),
        }
        yield [cells[column] for column in COLUMNS]


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


def _notes(decided: Decided) -> Mapping[str, str]:
    """Returns the notes of a document: key of a mention as JSON, or empty for the document."""
    added = {
        edit.item: _name(edit.after.mention)
        for step in decided.steps
        for edit in step.edits
        if edit.after is not None and edit.item.startswith(ADDED)
    }
    return {
        added.get(remark.item, remark.item): remark.note
        for remark in decided.remarks
        if remark.note
    }


def _name(mention: Mention) -> str:
    return msgspec.json.encode(mention.key).decode()


def _concepts(mention: Mention) -> str:
    return "|".join(map(display_identifier, mention.links))


def _mention_text(mention: Mention, text: str) -> str:
    facts = ", ".join(filter(None, (mention.type, _concepts(mention))))
    return f"{mention.text_in(text)} ({facts})"
