"""Articles as JSON records: a title, an abstract and the paragraphs of the body, without annotation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Section

STEP: Final = "article"
_BETWEEN: Final = "\n\n"


class _Record(msgspec.Struct):
    title: str
    paragraphs: tuple[str, ...]
    abstract: str | None = None


def document_of(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document of a record: title, abstract and paragraphs, with an empty line between two of them.

    Each is a section, named ``title``, ``abstract`` or ``paragraph``; those that are empty are left out.

    Args:
        record: with ``title`` and ``paragraphs``, perhaps with ``abstract``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a part has another form.
    """
    try:
        given = msgspec.convert(record, _Record)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"no article ({error}): an article has the fields title (a text) and paragraphs (a list of texts), and "
            "perhaps abstract (a text)"
        ) from None
    named = (("title", given.title), ("abstract", given.abstract), *(("paragraph", one) for one in given.paragraphs))
    parts = [(name, text) for name, text in named if text]
    sections, start = [], 0
    for name, text in parts:
        sections.append(Section(start, start + len(text), name))
        start += len(text) + len(_BETWEEN)
    return Document(id=identifier, text=_BETWEEN.join(text for _, text in parts), sections=tuple(sections), meta=meta)
